#include "tests/support/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void json_text_requote(char *text)
{
    while ((text = strchr(text, '\'')) != NULL)
        *text = '"';
}

char *json_text_new(const char *quoted)
{
    char *text = strdup(quoted);
    assert_non_null(text);
    json_text_requote(text);
    return text;
}

void assert_json_text_equal(const char *is, const char *quoted)
{
    char *text = json_text_new(quoted);
    assert_string_equal(is, text);
    free(text);
}

struct json_doc *json_text_parse(const char *name, const char *quoted)
{
    struct json_doc *doc;
    char *text = json_text_new(quoted);
    struct error error = json_doc_parse(&doc, name, text_of(text), ERROR_CONFIG);
    if (error_is(error))
        fail_msg("%s: %s", text, error_message(&error));
    free(text);
    return doc;
}
