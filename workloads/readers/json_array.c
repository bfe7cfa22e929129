#include "workloads/readers/json_array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct error byte_error(const struct line *line, const char *at, const char *complaint)
{
    return input_error(line->input, line->text, (struct text){at, 1}, "%s", complaint);
}

/* A byte between objects. */
static struct error between(struct json_array *array, const struct line *line, const char *at)
{
    switch (*at) {
    case ' ':
    case '\t':
    case '\r':
        return ERROR_OK;
    case '[':
        if (array->has_begun)
            return byte_error(line, at, "an object must stand here");
        array->has_begun = true;
        return ERROR_OK;
    case ']':
        if (!array->has_begun || array->has_ended)
            return byte_error(line, at, "no array is open here");
        array->has_ended = true;
        return ERROR_OK;
    case ',':
        return array->has_begun && !array->has_ended ? ERROR_OK : byte_error(line, at, "no array is open here");
    case '{':
        if (!array->has_begun || array->has_ended)
            return byte_error(line, at, "the objects must stand in one array");
        array->depth = 1;
        array->text.length = 0;
        array->first_line = input_line_number(line->input);
        array->first_column = (size_t)(at - line->text.at) + 1;
        buffer_char(&array->text, '{');
        return ERROR_OK;
    default:
        return byte_error(line, at, "an object must stand here");
    }
}

/* A byte within an object.  Only strings and brackets count; the parser judges the rest. */
static void within(struct json_array *array, char c)
{
    buffer_char(&array->text, c);
    if (array->is_in_text) {
        if (!array->is_escaped && c == '"')
            array->is_in_text = false;
        array->is_escaped = !array->is_escaped && c == '\\';
        return;
    }
    if (c == '"')
        array->is_in_text = true;
    else if (c == '{' || c == '[')
        array->depth++;
    else if (c == '}' || c == ']')
        array->depth--;
}

struct error json_array_feed(struct json_array *array, const struct line *line, struct text *rest, bool *is_whole)
{
    *is_whole = false;
    while (rest->length > 0) {
        const char *at = rest->at++;
        rest->length--;
        if (array->depth == 0) {
            TRY(between(array, line, at));
            continue;
        }
        within(array, *at);
        if (array->text.length > JSON_ARRAY_OBJECT_MAX)
            return json_array_error(array, line->input, "an object is longer than %d MiB", JSON_ARRAY_OBJECT_MAX >> 20);
        if (array->depth == 0) {
            *is_whole = true;
            return ERROR_OK;
        }
    }
    if (array->depth > 0)
        buffer_char(&array->text, '\n');
    return ERROR_OK;
}

struct error json_array_object(const struct json_array *array, const struct input *input, json_t **out)
{
    json_error_t error;
    *out = json_loadb(array->text.bytes, array->text.length, JSON_REJECT_DUPLICATES, &error);
    if (*out != NULL)
        return ERROR_OK;
    const size_t line = error.line > 0 ? (size_t)error.line : 1;
    const size_t column = error.column > 0 ? (size_t)error.column : 1;
    return error_at(ERROR_DATA, input_path(input), (size_t)array->first_line + line - 1,
                    line == 1 ? array->first_column + column - 1 : column, "%s", error.text);
}

struct error json_array_error(const struct json_array *array, const struct input *input, const char *format, ...)
{
    va_list arguments;
    char *message = NULL;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    struct error error = error_at(ERROR_DATA, input_path(input), (size_t)array->first_line, array->first_column, "%s",
                                  message != NULL ? message : "");
    free(message);
    return error;
}

struct error json_array_check_end(const struct json_array *array, const struct input *input)
{
    if (array->has_ended)
        return ERROR_OK;
    if (array->depth > 0)
        return json_array_error(array, input, "the object is not closed before the file ends");
    return error_at(ERROR_DATA, input_path(input), (size_t)input_line_number(input), 0,
                    "the array is not closed: the file was cut off");
}

void json_array_release(struct json_array *array)
{
    buffer_release(&array->text);
    *array = (struct json_array){0};
}
