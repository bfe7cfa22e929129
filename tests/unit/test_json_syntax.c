/* tests/unit/test_json_syntax.c -- texts that are no JSON: what is wrong, where, and what to do. */
#include "tests/support/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"

static char *report_new(struct text text)
{
    struct json_doc *doc;
    struct error error = json_doc_parse(&doc, "f.json", text, ERROR_DATA);
    assert_null(doc);
    assert_int_equal(error.kind, ERROR_DATA);
    char *report = error_text_new(&error);
    error_release(&error);
    return report;
}

TEST(test_whole_report)
{
    char *report = report_new(TEXT("{\n  \"a\": {\n    \"b\": [1, 2],\n    }\n}\n"));
    assert_string_equal(report, "error: f.json:3:16: a comma before '}'\n"
                                " 3 |     \"b\": [1, 2],\n"
                                "   |                ^\n"
                                "  at /a; remove the comma\n");
    free(report);
}

static const struct {
    const char *text;
    const char *place; /* line, column, message */
    const char *where; /* pointer and hint */
} cases[] = {
    {"{\n \"a\": 1,\n}", "2:8: a comma before '}'", "the root; remove the comma"},
    {"[1,2,]", "1:5: a comma before ']'", "the root; remove the comma"},
    {"{\"a\":1,\"a\":2}", "1:8: the key \"a\" stands twice in this object", "/a; keep one of them"},
    {"{\"a\":NaN}", "1:6: 'NaN' is no number that JSON knows", "/a; leave the key out, or write null"},
    {"{\"a\":1e400}", "1:6: '1e400' is too large a number", "/a"},
    {"{\"a\":99999999999999999999}", "1:6: '99999999999999999999' is too large a number", "/a"},
    {"{\"a\":1} x", "1:9: more text after the end of the JSON value", "the root"},
    {"{\"a\":1", "1:7: the text ends before the '}' that closes the '{' of line 1", "the root"},
    {"{\"a\":1\n\n", "1:7: the text ends before the '}' that closes the '{' of line 1", "the root"},
    {"{\"a\":[1,", "1:9: the text ends before the ']' that closes the '[' of line 1", "/a"},
    {"{\"a\" 1}", "1:6: a ':' is missing before '1'", "/a"},
    {"// hi\n{}", "1:1: JSON has no comments", "the root; write \"$comment\": \"...\" as a member of an object"},
    {"{\"a\": /* x */ 1}", "1:7: JSON has no comments", "/a; write \"$comment\": \"...\" as a member of an object"},
    {"{\"a\":1 // c\n}", "1:8: JSON has no comments", "/a; write \"$comment\": \"...\" as a member of an object"},
    {"{\"a\":1, # c\n}", "1:9: JSON has no comments", "the root; write \"$comment\": \"...\" as a member of an object"},
    {"{} // c", "1:4: JSON has no comments", "the root; write \"$comment\": \"...\" as a member of an object"},
    {"{\"a\": 'x'}", "1:7: strings and keys stand in double quotes", "/a; write \" in place of '"},
    {"{'a': 1}", "1:2: strings and keys stand in double quotes", "the root; write \" in place of '"},
    {"{a: 1}", "1:2: 'a' stands where a key must be", "the root; put keys in double quotes"},
    {"{\"a\":\"b\nc\"}", "1:6: this string is not closed in its line",
     "/a; put '\"' behind it; a line break within a string is written \\n"},
    {"{\"a\":\"b", "1:6: this string is not closed in its line",
     "/a; put '\"' behind it; a line break within a string is written \\n"},
    {"{\"a\":\"\\u0000\"}", "1:6: a string must not hold the character \\u0000", "/a"},
    {"{\"a\":\"\\x\"}", "1:6: invalid escape in this string", "/a"},
    {"{\"a\":01}", "1:6: '01' is no number as JSON writes them", "/a; as in 8, -0.5 or 1e3"},
    {"{\"a\":+1}", "1:6: '+1' is no number as JSON writes them", "/a; as in 8, -0.5 or 1e3"},
    {"{\"a\":.5}", "1:6: '.5' is no number as JSON writes them", "/a; as in 8, -0.5 or 1e3"},
    {"{\"a\":1.}", "1:6: '1.' is no number as JSON writes them", "/a; as in 8, -0.5 or 1e3"},
    {"{\"a\":-}", "1:6: '-' is no number as JSON writes them", "/a; as in 8, -0.5 or 1e3"},
    {"{\"a\":tru}", "1:6: 'tru' is no JSON value", "/a; did you mean 'true'?"},
    {"{\"a\":True}", "1:6: 'True' is no JSON value", "/a; did you mean 'true'?"},
    {"{\"a\":h100}", "1:6: 'h100' is no JSON value", "/a; put texts in double quotes"},
    {"", "1:1: there is no JSON here: the text is empty", "the root"},
    {"   ", "1:1: there is no JSON here: the text is empty", "the root"},
    {"[1 2]", "1:4: a ',' is missing before '2'", "/0"},
    {"{\"a\":1 \"b\":2}", "1:8: a ',' is missing before \"b\"", "/a"},
    {"{\"\xc3\xa9\":1,}", "1:8: a comma before '}'", "the root; remove the comma"},
    {"{\"a\":\"\xff\"}", "1:7: byte 0xff is not UTF-8", "/a"},
    {"{\"a\":\"\\ud800\"}", "1:6: invalid Unicode '\\uD800' in this string", "/a"},
    {"[nan]", "1:2: 'nan' is no number that JSON knows", "/0; leave the key out, or write null"},
    {"[Infinity]", "1:2: 'Infinity' is no number that JSON knows", "/0; leave the key out, or write null"},
    {"[-Infinity]", "1:2: '-Infinity' is no number that JSON knows", "/0; leave the key out, or write null"},
    {"{\"a\":1}}", "1:8: more text after the end of the JSON value", "the root"},
    {"{\"\\u0000\":1}", "1:2: a string must not hold the character \\u0000", "/\\u0000"},
    {"[\"\t\"]", "1:2: control character 0x9 in this string", "/0; a tab is written \\t"},
    {"[1,,2]", "1:4: two commas with nothing between them", "the root; remove one"},
    {"{\"a\":}", "1:6: a value is missing before '}'", "the root"},
    {"[0x10]", "1:2: '0x10' is no number as JSON writes them", "/0; as in 8, -0.5 or 1e3"},
    {"[-1e400]", "1:2: '-1e400' is too large a number", "/0"},
    {"[1\xff]", "1:3: byte 0xff is not UTF-8", "/0"},
    {"{\"a\":1,\n\"b\\u0041\":2,\"bA\":3}", "2:13: the key \"bA\" stands twice in this object",
     "/bA; keep one of them"},
    {"{\"p\":[{\"a\":1},{\"a\":[1,2}]}", "1:24: '}' cannot close the '[' of line 1", "/p/1/a"},
    {"]", "1:1: ']' stands where a value must be", "the root"},
    {"{,}", "1:2: ',' stands where a key must be", "the root"},
    {"[,]", "1:2: ',' stands where a value must be", "the root"},
    {"{\"a\",1}", "1:5: a ':' is missing before ','", "the root"},
    {"{1:2}", "1:2: '1' stands where a key must be", "the root; put keys in double quotes"},
    {"{\"a\"}", "1:5: a ':' is missing before '}'", "the root"},
    {"\"abc", "1:1: this string is not closed in its line",
     "the root; put '\"' behind it; a line break within a string is written \\n"},
    {"{\"a\":\"x\\\"", "1:6: this string is not closed in its line",
     "/a; put '\"' behind it; a line break within a string is written \\n"},
    {"{:1}", "1:2: ':' stands where a key must be", "the root"},
    {"[1:2]", "1:3: a ',' is missing before ':'", "/0"},
    {"\x1f", "1:1: '?' is no JSON value", "the root; put texts in double quotes"},
    {"{\"a\":1;\"b\":2}", "1:6: '1;' is no number as JSON writes them", "/a; as in 8, -0.5 or 1e3"},
    {"{\"p\":{\"q\":[0,1,{\"a~/b\":nul}]}}", "1:24: 'nul' is no JSON value", "/p/q/2/a~0~1b; did you mean 'null'?"},
};

TEST(test_cases)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *report = report_new(text_of(cases[i].text));
        char first[256];
        char last[256];
        snprintf(first, sizeof first, "error: f.json:%s\n", cases[i].place);
        snprintf(last, sizeof last, "\n  at %s\n", cases[i].where);
        bool has_first = strncmp(report, first, strlen(first)) == 0;
        bool has_last = strlen(report) > strlen(last) && strcmp(report + strlen(report) - strlen(last), last) == 0;
        if (!has_first || !has_last)
            fail_msg("%s\n%sexpected %s%s", cases[i].text, report, first, last);
        free(report);
    }
}

TEST(test_caret_spans_the_token)
{
    char *report = report_new(TEXT("{\"a\": [true, 1e400]}"));
    assert_non_null(strstr(report, "\n   |              ^~~~~\n"));
    free(report);
    report = report_new(TEXT("{\"a\":1, \"a\" : 2}"));
    assert_non_null(strstr(report, "\n   |         ^~~\n"));
    free(report);
}

TEST(test_too_deep)
{
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    char *report = report_new((struct text){text, DEPTH});
    /* 2048 is jansson's own limit */
    assert_non_null(strstr(report, "error: f.json:1:2049: brackets are nested too deep\n"));
    free(report);
    free(text);
}

/* A good text cut anywhere, and with any one byte replaced, is good or has a report with a place. */
TEST(test_every_cut_and_every_slip)
{
    static const char good[] = "{\"a\\u0041\": [1, -2.5e3, {\"b\": null}], \"\xc3\xa9\": \"x\\\"y\", "
                               "\"t\": true,\n \"o\": {}, \"l\": []}";
    static const char slips[] = "{}[],:\"'/#\\x0-.e \n\t\xff\x01";
    size_t length = sizeof good - 1;
    size_t bad_count = 0;
    for (size_t cut = 0; cut < length; cut++) {
        char *report = report_new((struct text){good, cut});
        assert_non_null(strstr(report, "error: f.json:"));
        free(report);
    }
    for (size_t at = 0; at < length; at++) {
        for (size_t slip = 0; slip < sizeof slips; slip++) { /* the NUL too */
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[at] = slips[slip];
            struct json_doc *doc;
            struct error error = json_doc_parse(&doc, "f.json", (struct text){text, length}, ERROR_DATA);
            assert_true(error_is(error) == (doc == NULL));
            if (error_is(error)) {
                char *report = error_text_new(&error);
                char *place = strstr(report, "error: f.json:");
                assert_ptr_equal(place, report);
                assert_true(report[14] >= '1' && report[14] <= '3');
                assert_true(strlen(error_message(&error)) > 5);
                free(report);
                error_release(&error);
                bad_count++;
            }
            json_doc_free(doc);
        }
    }
    assert_true(bad_count > 500);
}
