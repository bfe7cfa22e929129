/* base/text.h -- borrowed pieces of text, and numbers read from them.
 *
 * Law: a number is the whole piece or it is refused: no leading or trailing
 * blanks, no "12abc", no hex, no locale, no silent overflow, no NaN, no 1e400.
 *
 *   int64_t gpus;
 *   if (!text_to_int64(field, 0, 4096, &gpus)) ...
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *at; /* borrowed, not NUL-terminated */
    size_t length;  /* bytes */
};

#define TEXT(literal) ((struct text){("" literal), sizeof(literal) - 1})
struct text text_of(const char *c_string); /* NULL gives the empty text */
bool text_equal(struct text a, struct text b);
bool text_is(struct text a, const char *c_string);
struct text text_trim(struct text text); /* without blanks, tabs, CR at both ends */

/* Decimal integer, optional '-', within [low, high]. */
bool text_to_int64(struct text text, int64_t low, int64_t high, int64_t *out);

/* Decimal number such as "0.25", "-1e3", times `scale` (a power of ten up to 10^9), exact: the result
 * is an integer; digits finer than 1/scale are cut toward zero.  False on overflow or garbage. */
bool text_to_scaled(struct text text, int64_t scale, int64_t *out);

/* Finite decimal number. */
bool text_to_double(struct text text, double *out);

/* Bytes of the well-formed UTF-8 character at the start of the text (1..4); 0 if there is none. */
size_t text_utf8_bytes(struct text text);

/* Cut the next piece before `separator` off *rest.  False when *rest was exhausted before.
 * "a,,b" gives "a", "", "b"; "" gives one empty piece.  Start with *rest = line; when the last piece
 * is taken rest->at becomes NULL. */
bool text_cut(struct text *rest, char separator, struct text *piece);

/* The entry of `names` (NULL-terminated) nearest to `word` by edit distance, at most a third of its
 * length away; case does not count, a swap counts once; NULL if none is near.  For "did you mean". */
const char *text_nearest(struct text word, const char *const *names);

#endif
