/* workloads/readers/fields.h -- the named fields of one line of a trace, and values made of them.
 *
 * Law: a value is the whole field or an ERROR_DATA at the field's file, line and column.
 * A field that is empty or absent leaves *out as it was: the caller sets the default before.
 *
 *   int64_t priority = 50;
 *   TRY(field_int(&line, &fields[NATIVE_PRIORITY], INT32_MIN, INT32_MAX, &priority));
 */
#ifndef WORKLOADS_READERS_FIELDS_H
#define WORKLOADS_READERS_FIELDS_H

#include "base/error.h"
#include "base/input.h"
#include "base/text.h"
#include "base/time.h"

/* The type of a field in a format.  CSV has only texts, so only JSON lines check it. */
enum field_kind { FIELD_NUMBER, FIELD_TEXT, FIELD_NUMBER_OR_TEXT, FIELD_BOOL };

struct column {
    const char *name;
    bool is_required;
    enum field_kind kind;
};

struct field {
    const char *name;
    struct text value; /* without quotes and escapes; empty: absent */
    struct text place; /* its place in the line; at NULL: unknown */
};

struct line {
    const struct input *input;
    struct text text;
};

static inline bool field_is_set(const struct field *field)
{
    return field->value.length != 0;
}

/* The error "'NAME' must be WHAT, got ..." at the field. */
struct error field_error(const struct line *line, const struct field *field, const char *must_be) MUST_CHECK;

/* Most fields of a row are empty, which is tested where they are asked for; field_set_* read one that is not. */
struct error field_set_int(const struct line *line, const struct field *field, int64_t low, int64_t high,
                           int64_t *out) MUST_CHECK;
struct error field_set_scaled(const struct line *line, const struct field *field, int64_t scale, int64_t low,
                              int64_t high, int64_t *out) MUST_CHECK;
struct error field_set_mib(const struct line *line, const struct field *field, int64_t *out) MUST_CHECK;
struct error field_set_seconds(const struct line *line, const struct field *field, time_ns *out) MUST_CHECK;
struct error field_set_choice(const struct line *line, const struct field *field, const char *const *names,
                              int *out) MUST_CHECK;
struct error field_set_bool(const struct line *line, const struct field *field, bool *out) MUST_CHECK;
struct error field_set_utf8(const struct line *line, const struct field *field) MUST_CHECK;

static inline struct error MUST_CHECK field_int(const struct line *line, const struct field *field, int64_t low,
                                                int64_t high, int64_t *out)
{
    return field_is_set(field) ? field_set_int(line, field, low, high, out) : ERROR_OK;
}

/* A decimal times `scale`, rounded down; the bounds apply to the result. */
static inline struct error MUST_CHECK field_scaled(const struct line *line, const struct field *field, int64_t scale,
                                                   int64_t low, int64_t high, int64_t *out)
{
    return field_is_set(field) ? field_set_scaled(line, field, scale, low, high, out) : ERROR_OK;
}

/* GB (of 1024 MiB, as cluster files count them) to MiB. */
static inline struct error MUST_CHECK field_mib(const struct line *line, const struct field *field, int64_t *out)
{
    return field_is_set(field) ? field_set_mib(line, field, out) : ERROR_OK;
}

/* Seconds, not negative. */
static inline struct error MUST_CHECK field_seconds(const struct line *line, const struct field *field, time_ns *out)
{
    return field_is_set(field) ? field_set_seconds(line, field, out) : ERROR_OK;
}

/* One of `names` (NULL-terminated). */
static inline struct error MUST_CHECK field_choice(const struct line *line, const struct field *field,
                                                   const char *const *names, int *out)
{
    return field_is_set(field) ? field_set_choice(line, field, names, out) : ERROR_OK;
}

static inline struct error MUST_CHECK field_bool(const struct line *line, const struct field *field, bool *out)
{
    return field_is_set(field) ? field_set_bool(line, field, out) : ERROR_OK;
}

/* Names go into JSON and HTML, which must be UTF-8. */
static inline struct error MUST_CHECK field_utf8(const struct line *line, const struct field *field)
{
    return field_is_set(field) ? field_set_utf8(line, field) : ERROR_OK;
}

#endif
