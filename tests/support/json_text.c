#include "tests/support/json_text.h"
#include "tests/support/test.h"

void json_text_requote(char *text)
{
    for (char quote = 0; *text != '\0'; text++) {
        if (*text == '\\' && text[1] != '\0')
            text++;
        else if (*text == quote)
            quote = 0;
        else if (quote == 0 && (*text == '"' || *text == '\''))
            quote = *text;
        if (*text == '\'' && quote != '"')
            *text = '"';
    }
}

char *json_text_new(const char *quoted)
{
    char *text = strdup(quoted);
    assert_non_null(text);
    json_text_requote(text);
    return text;
}

bool json_text_is(const char *is, const char *quoted)
{
    char *text = json_text_new(quoted);
    const bool is_equal = strcmp(is, text) == 0;
    free(text);
    return is_equal;
}

void assert_json_text_equal(const char *is, const char *quoted)
{
    char *text = json_text_new(quoted);
    assert_string_equal(is, text);
    free(text);
}

struct error json_text_read(struct json_doc **out, const char *name, const char *quoted)
{
    char *text = json_text_new(quoted);
    struct error error = json_doc_parse(out, name, text_of(text), ERROR_CONFIG);
    free(text);
    return error;
}

struct json_doc *json_text_parse(const char *name, const char *quoted)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, name, quoted);
    if (error_is(error))
        fail_msg("%s: %s", quoted, error_message(&error));
    return doc;
}
