#include "workloads/readers/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { GOT_LENGTH_MAX = 40, MUST_BE_BYTES = 200, MIB_PER_GB = 1024 };

/* A larger request is an error in the trace: 64 TiB. */
#define FIELD_MIB_MAX (INT64_C(64) << 20)

struct error field_error(const struct line *line, const struct field *field, const char *must_be)
{
    if (!field_is_set(field))
        return input_error(line->input, line->text, field->place, "'%s' must be %s, but is missing", field->name,
                           must_be);
    size_t length = field->value.length;
    return input_error(line->input, line->text, field->place, "'%s' must be %s, got \"%.*s\"%s", field->name, must_be,
                       (int)(length < GOT_LENGTH_MAX ? length : GOT_LENGTH_MAX), field->value.at,
                       length > GOT_LENGTH_MAX ? "..." : "");
}

struct error field_set_int(const struct line *line, const struct field *field, int64_t low, int64_t high, int64_t *out)
{
    if (text_to_int64(field->value, low, high, out))
        return ERROR_OK;
    char must_be[MUST_BE_BYTES];
    snprintf(must_be, sizeof must_be, "an integer from %" PRId64 " to %" PRId64, low, high);
    return field_error(line, field, must_be);
}

struct error field_set_scaled(const struct line *line, const struct field *field, int64_t scale, int64_t low,
                              int64_t high, int64_t *out)
{
    int64_t scaled;
    if (text_to_scaled(field->value, scale, &scaled) && scaled >= low && scaled <= high) {
        *out = scaled;
        return ERROR_OK;
    }
    char must_be[MUST_BE_BYTES];
    snprintf(must_be, sizeof must_be, "a number from %.9g to %.9g", (double)low / (double)scale,
             (double)high / (double)scale);
    return field_error(line, field, must_be);
}

struct error field_set_mib(const struct line *line, const struct field *field, int64_t *out)
{
    enum { SCALE = 1000000 }; /* one MiB differs from the next */
    int64_t scaled = 0;
    TRY(field_scaled(line, field, SCALE, 0, FIELD_MIB_MAX / MIB_PER_GB * SCALE, &scaled));
    *out = (scaled * MIB_PER_GB + SCALE - 1) / SCALE;
    return ERROR_OK;
}

struct error field_set_seconds(const struct line *line, const struct field *field, time_ns *out)
{
    time_ns time;
    if (!time_parse_seconds(field->value, &time) || time < 0)
        return field_error(line, field, "a number of seconds, 0 or more (at most 73 years)");
    *out = time;
    return ERROR_OK;
}

static RARE struct error choice_error(const struct line *line, const struct field *field, const char *const *names)
{
    char must_be[MUST_BE_BYTES] = "one of";
    size_t length = sizeof "one of" - 1;
    for (int i = 0; names[i] != NULL && length < sizeof must_be; i++)
        length += (size_t)snprintf(must_be + length, sizeof must_be - length, "%s %s", i == 0 ? "" : ",", names[i]);
    return field_error(line, field, must_be);
}

struct error field_set_choice(const struct line *line, const struct field *field, const char *const *names, int *out)
{
    const struct text value = field->value;
    for (int i = 0; names[i] != NULL; i++)
        if (strncmp(names[i], value.at, value.length) == 0 && names[i][value.length] == '\0') {
            *out = i;
            return ERROR_OK;
        }
    return choice_error(line, field, names);
}

struct error field_set_bool(const struct line *line, const struct field *field, bool *out)
{
    static const char *const names[] = {"false", "true", "0", "1", NULL};
    int choice = *out;
    TRY(field_choice(line, field, names, &choice));
    *out = choice % 2 != 0;
    return ERROR_OK;
}

/* Most names are: words, of which the last may overlap the one before. */
static bool is_ascii(struct text text)
{
    const char *at = text.at, *end = at + text.length;
    uint64_t all = 0, word;
    uint32_t four[2];
    if (text.length >= sizeof word) {
        memcpy(&all, end - sizeof word, sizeof word);
        for (; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
            memcpy(&word, at, sizeof word);
            all |= word;
        }
    } else if (text.length >= sizeof four[0]) {
        memcpy(&four[0], at, sizeof four[0]);
        memcpy(&four[1], end - sizeof four[0], sizeof four[0]);
        all = four[0] | four[1];
    } else {
        for (; at != end; at++)
            all |= (unsigned char)*at;
    }
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

struct error field_set_utf8(const struct line *line, const struct field *field)
{
    struct text rest = field->value;
    if (is_ascii(rest))
        return ERROR_OK;
    while (rest.length != 0) {
        size_t bytes = (unsigned char)rest.at[0] < 0x80 ? 1 : text_utf8_bytes(rest);
        if (bytes == 0)
            return field_error(line, field, "UTF-8");
        rest.at += bytes;
        rest.length -= bytes;
    }
    return ERROR_OK;
}
