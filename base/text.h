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
#include <string.h>

struct text {
    const char *at; /* borrowed, not NUL-terminated */
    size_t length;  /* bytes */
};

#define TEXT(literal) ((struct text){("" literal), sizeof(literal) - 1})
struct text text_of(const char *c_string); /* NULL: the empty text */

static inline bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

/* Inline: the length of a literal is known where it is compiled. */
static inline bool text_is(struct text a, const char *c_string)
{
    const size_t length = c_string != NULL ? strlen(c_string) : 0;
    return a.length == length && (length == 0 || memcmp(a.at, c_string, length) == 0);
}

struct text text_trim(struct text text); /* without blanks, tabs and CRs at both ends */

/* Decimal integer, optional '-', within [low, high]. */
bool text_to_int64(struct text text, int64_t low, int64_t high, int64_t *out);

/* Decimal number such as "0.25", "-1e3", times `scale` (a power of ten up to 10^9), exact: an integer, rounded toward
 * zero.  False on overflow, or if it is no number. */
bool text_to_scaled(struct text text, int64_t scale, int64_t *out);

/* Finite decimal number. */
bool text_to_double(struct text text, double *out);

/* Bytes of the well-formed UTF-8 character at the start of the text (1..4); 0 if there is none. */
size_t text_utf8_bytes(struct text text);

/* The bytes of the first character of a text that is not empty, at least 1.  *is_shown: it may go to a terminal as it
 * is; false for control characters (U+0000 to U+001F, U+007F to U+009F), which could move the cursor or change
 * settings, and for bytes that are not UTF-8. */
size_t text_shown_bytes(struct text text, bool *is_shown);

/* How many bytes at the beginning are characters of ASCII that every format takes as they are: none of & < > " ' and no
 * control character. */
size_t text_plain_bytes(struct text text);

/* What stands for the first character of a text that is not empty, in files whose format has no escape for it: the
 * character itself, or for a control character its picture (U+2400 and so on), and for bytes that are not UTF-8 the
 * replacement character U+FFFD.  *bytes: those of the text; at most 3 for each byte of it come back.  So a name cannot
 * end a line, and begins none of its own: one with a newline once made a row of a trace. */
struct text text_visible(struct text text, size_t *bytes, char room[4]);

/* Cut the piece before the next `separator` off *rest.  False if nothing was left.  "a,,b" gives "a", "", "b"; "" gives
 * one empty piece.  Start with *rest = line.  After the last piece rest->at is NULL. */
bool text_cut(struct text *rest, char separator, struct text *piece);

/* The entry of `names` (NULL-terminated) with the smallest edit distance to `word`, which must be at most a third of
 * its length; NULL: there is none.  Case does not count, a swap counts as one edit.  For "did you mean". */
const char *text_nearest(struct text word, const char *const *names);

/* Is it the path of a JSON file, where the name of something built in may stand too?  It holds '/' or ends in .json. */
bool text_is_json_path(const char *name);

#endif
