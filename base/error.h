/* base/error.h -- errors as values.
 *
 * Two kinds of trouble exist.  A bug is an assertion.  Bad input or a failing
 * world is a `struct error`, returned by value and never ignored.  No error is
 * two zero words, so success costs a register test.
 *
 * Law: an error that was created is either returned, shown or released, once.
 * Nothing below tools/ prints it.  Detail that cannot be allocated is left out;
 * the kind always survives.
 *
 *   struct error load(const char *path)
 *   {
 *       TRY(file_open(path));
 *       if (bad)
 *           return error_at(ERROR_DATA, path, 14, 22, "'gpus' must be ...");
 *       return ERROR_OK;
 *   }
 *
 * It does not: log, exit, or carry a stack trace.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum error_kind {
    ERROR_NONE = 0,
    ERROR_USAGE,    /* the command line; exit status 2 */
    ERROR_CONFIG,   /* a scenario, cluster, policy; exit status 2 */
    ERROR_DATA,     /* a trace or record; exit status 3 */
    ERROR_IO,       /* a file, disk or stream; exit status 4 */
    ERROR_INTERNAL, /* a violated law of Windtunnel, or too little memory; exit status 5 */
};

struct error_detail; /* message, place, excerpt, hint */

struct error {
    enum error_kind kind;
    struct error_detail *detail; /* owned; NULL if none or out of memory */
};

#define ERROR_OK   ((struct error){ERROR_NONE, NULL})
#define MUST_CHECK __attribute__((warn_unused_result))
/* Compilers treat branches with a call of such a function as unlikely. */
#define RARE                                   __attribute__((cold))
#define LIKE_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))

/* Leave the enclosing function with the error of `expression`, if there is one. */
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        struct error try_error_ = (expression);                                                                        \
        if (error_is(try_error_))                                                                                      \
            return try_error_;                                                                                         \
    } while (0)

static inline bool error_is(struct error error)
{
    return __builtin_expect(error.kind != ERROR_NONE, false);
}

/* An error without a place in a text. */
struct error error_new(enum error_kind kind, const char *format, ...) RARE MUST_CHECK LIKE_PRINTF(2, 3);

/* An error at `file`, `line` and `column` (both from 1, columns in bytes; 0: unknown, left out). */
struct error error_at(enum error_kind kind, const char *file, size_t line, size_t column, const char *format,
                      ...) RARE MUST_CHECK LIKE_PRINTF(5, 6);

/* An ERROR_IO for `path` with the text of `errno_value`: "cannot <verb> PATH: <reason>".  ENOMEM: ERROR_INTERNAL. */
struct error error_io(const char *verb, const char *path, int errno_value) RARE MUST_CHECK;

/* Add to an error; each replaces what was set before.  All texts are copied.
 * excerpt: the source line without newline, `span` >= 1 columns are underlined from the error's column.
 * where: a JSON pointer or other logical place.  hint: what to do about it. */
void error_set_excerpt(struct error *error, const char *line_text, size_t length, size_t span);
void error_set_where(struct error *error, const char *where);
void error_set_hint(struct error *error, const char *format, ...) LIKE_PRINTF(2, 3);

/* Hint at the name that the word may be a misspelling of (text_nearest).  False: none is near, and nothing is set.
 * names: NULL-terminated. */
bool error_hint_nearest(struct error *error, struct text word, const char *const *names);

/* Move the error's place down by `lines`, the line at which its text begins in the file.  Without a line nothing
 * changes. */
void error_move_down(struct error *error, size_t lines);

/* The message alone (borrowed; "" if memory for the detail ran out). */
const char *error_message(const struct error *error);

/* The hint alone, as the message; "": there is none. */
const char *error_hint(const struct error *error);

/* The whole report as the tools print it, lines ended by '\n', starting with "error: ".
 * Caller frees with free(); NULL only if memory ran out. */
char *error_text_new(const struct error *error);

/* As error_text_new for a warning: it starts with "warning: ". */
char *error_warning_new(const struct error *error);

/* "FILE:LINE:COLUMN: message; hint" in one line without a line end, for tables; otherwise as error_text_new. */
char *error_line_new(const struct error *error);

/* The exit status that belongs to a kind (see enum). */
int error_exit_status(enum error_kind kind);

/* Free the detail; the error becomes ERROR_OK. */
void error_release(struct error *error);

#endif
