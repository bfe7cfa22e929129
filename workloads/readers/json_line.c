#include "workloads/readers/json_line.h"

#include <jansson.h>
#include <string.h>

struct error json_line_parse(const struct line *line, json_t **out)
{
    json_error_t complaint;
    json_t *tree = json_loadb(line->text.at, line->text.length, JSON_REJECT_DUPLICATES, &complaint);
    const bool is_tree = tree != NULL;
    *out = tree;
    if (json_is_object(tree))
        return ERROR_OK;
    json_decref(tree);
    *out = NULL;
    if (is_tree)
        return input_error(line->input, line->text, (struct text){NULL, 0}, "a line must hold a JSON object");
    /* jansson's position is after the byte that it refused */
    size_t position = complaint.position > 0 ? (size_t)complaint.position - 1 : 0;
    if (position >= line->text.length)
        position = line->text.length - 1;
    return input_error(line->input, line->text, (struct text){line->text.at + position, 1}, "not JSON: %s",
                       complaint.text);
}

struct error json_line_check(const struct line *line)
{
    json_t *tree;
    TRY(json_line_parse(line, &tree));
    json_decref(tree);
    return ERROR_OK;
}

static const char *blanks_skip(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* The end of the string whose quote is at `at`. */
static const char *string_skip(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* The end of the value at `at`; the line ends after it. */
static const char *value_skip(const char *at)
{
    if (*at == '"')
        return string_skip(at);
    if (*at != '{' && *at != '[') {
        while (strchr(",]} \t\r\n", *at) == NULL)
            at++;
        return at;
    }
    int depth = 0;
    do {
        if (*at == '"') {
            at = string_skip(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (depth > 0);
    return at;
}

bool json_line_member(struct text *rest, struct text *key, struct text *value)
{
    const char *end = rest->at + rest->length;
    const char *at = blanks_skip(rest->at);
    bool is_first = *at == '{' || *at == '[';
    if (is_first || *at == ',')
        at = blanks_skip(at + 1);
    if (*at == '}' || *at == ']')
        return false;
    *key = (struct text){at, 0};
    const char *behind = value_skip(at);
    const char *next = blanks_skip(behind);
    if (*next == ':') {
        *key = (struct text){at + 1, (size_t)(behind - at) - 2};
        at = blanks_skip(next + 1);
        behind = value_skip(at);
        next = blanks_skip(behind);
    }
    *value = (struct text){at, (size_t)(behind - at)};
    *rest = (struct text){next, (size_t)(end - next)};
    return true;
}

static struct text string_decode(struct text quoted, struct arena *arena)
{
    json_t *string = json_loadb(quoted.at, quoted.length, JSON_DECODE_ANY, NULL);
    struct text decoded = {json_string_value(string), json_string_length(string)};
    decoded.at = arena_copy(arena, decoded);
    json_decref(string);
    return decoded;
}

static const char *kind_complaint(char first, enum field_kind kind)
{
    bool is_text = first == '"', is_bool = first == 't' || first == 'f';
    bool is_number = first == '-' || (first >= '0' && first <= '9');
    if (kind == FIELD_TEXT)
        return is_text ? NULL : "a string";
    if (kind == FIELD_NUMBER)
        return is_number ? NULL : "a number without quotes";
    if (kind == FIELD_BOOL)
        return is_bool ? NULL : "true or false";
    return is_number || is_text ? NULL : "a number or a string";
}

struct error json_line_field(const struct line *line, struct text value, enum field_kind kind, struct arena *arena,
                             struct field *field)
{
    field->place = value;
    field->value = (struct text){0};
    if (text_is(value, "null"))
        return ERROR_OK;
    const char *complaint = kind_complaint(value.at[0], kind);
    if (complaint != NULL) {
        field->value = value;
        return field_error(line, field, complaint);
    }
    if (value.at[0] != '"')
        field->value = value;
    else if (memchr(value.at, '\\', value.length) == NULL)
        field->value = (struct text){value.at + 1, value.length - 2};
    else
        field->value = string_decode(value, arena);
    return ERROR_OK;
}
