#include "tests/support/json_edits.h"

#include <string.h>

#include "base/buffer.h"

const char *const json_edit_names[] = {"dropped", "added", "numbers", "texts", "lists"};

/* Numbers at usual limits. */
static const char *const numbers[] = {"-9223372036854775808",
                                      "-2147483649",
                                      "-2147483648",
                                      "-101",
                                      "-2",
                                      "-1",
                                      "0",
                                      "1",
                                      "2",
                                      "3",
                                      "7",
                                      "8",
                                      "9",
                                      "15",
                                      "16",
                                      "17",
                                      "31",
                                      "32",
                                      "33",
                                      "63",
                                      "64",
                                      "65",
                                      "99",
                                      "100",
                                      "101",
                                      "127",
                                      "128",
                                      "255",
                                      "256",
                                      "257",
                                      "999",
                                      "1000",
                                      "1001",
                                      "4095",
                                      "4096",
                                      "4097",
                                      "65534",
                                      "65535",
                                      "65536",
                                      "1000000",
                                      "1000001",
                                      "2147483647",
                                      "2147483648",
                                      "4294967294",
                                      "4294967295",
                                      "4294967296",
                                      "1000000000000",
                                      "9223372036854775806",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "0.5",
                                      "0.0004",
                                      "1.0005",
                                      "1e3",
                                      "true",
                                      "\"1\"",
                                      "null"};

/* The text with another content between `from` and `to`. */
static void edit_to(const struct json_edits *edits, enum json_edit edit, const char *from, const char *to,
                    const char *instead)
{
    struct buffer text = {0};
    buffer_bytes(&text, edits->text, (size_t)(from - edits->text));
    buffer_string(&text, instead);
    buffer_string(&text, to);
    edits->judge(edits->self, edit, buffer_c_string(&text));
    buffer_release(&text);
}

static const char *end_of_text(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static void drop(const struct json_edits *edits, enum json_edit edit, const char *from, const char *to)
{
    const bool is_followed = *to == ',';
    edit_to(edits, edit, from - (!is_followed && from[-1] == ','), to + is_followed, "");
}

static const char *edit_value(const struct json_edits *edits, const char *at);

static const char *edit_object(const struct json_edits *edits, const char *at)
{
    edit_to(edits, JSON_EDIT_ADD, at + 1, at + 1, "\"zz\":0,");
    while (*at != '}') {
        const char *key = at + 1;
        at = edit_value(edits, end_of_text(key) + 1);
        drop(edits, JSON_EDIT_DROP, key, at);
    }
    return at + 1;
}

static const char *edit_list(const struct json_edits *edits, const char *at)
{
    const char *first = at + 1;
    while (*at != ']') {
        const char *item = at + 1;
        if (*item == ']')
            return item + 1;
        struct buffer twice = {0};
        at = edit_value(edits, item);
        buffer_bytes(&twice, item, (size_t)(at - item));
        buffer_char(&twice, ',');
        edit_to(edits, JSON_EDIT_LIST, item, item, buffer_c_string(&twice));
        drop(edits, JSON_EDIT_LIST, item, at);
        buffer_release(&twice);
    }
    edit_to(edits, JSON_EDIT_LIST, first, at, "");
    return at + 1;
}

static const char *edit_value(const struct json_edits *edits, const char *at)
{
    if (*at == '{')
        return edit_object(edits, at);
    if (*at == '[')
        return edit_list(edits, at);
    if (*at == '"') {
        const char *end = end_of_text(at);
        edit_to(edits, JSON_EDIT_TEXT, at, end, "\"\"");
        edit_to(edits, JSON_EDIT_TEXT, at, end, "\"zz\"");
        edit_to(edits, JSON_EDIT_TEXT, at, end, "7");
        edit_to(edits, JSON_EDIT_TEXT, at + 1, at + 1, "0");
        edit_to(edits, JSON_EDIT_TEXT, end - 1, end - 1, "0");
        return end;
    }
    const char *end = at + strcspn(at, ",]}");
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        edit_to(edits, JSON_EDIT_NUMBER, at, end, numbers[n]);
    return end;
}

void json_edits_all(const struct json_edits *edits)
{
    edit_value(edits, edits->text);
}
