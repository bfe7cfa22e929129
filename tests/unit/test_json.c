/* tests/unit/test_json.c -- reading JSON: values, ranges, unknown keys, and the reports about them. */
#include "tests/support/test.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"

/* A document that is open for reading. */
struct fixture {
    struct json_doc *doc;
    struct error error;
    struct json_value root;
    struct json_object object;
};

static void open_text(struct fixture *fixture, const char *text)
{
    *fixture = (struct fixture){0};
    struct error error = json_doc_parse(&fixture->doc, "f.json", text_of(text), ERROR_CONFIG);
    assert_false(error_is(error));
    fixture->root = json_doc_root(fixture->doc, &fixture->error);
    json_object_open(&fixture->object, &fixture->root);
}

static void close_good(struct fixture *fixture)
{
    json_object_close(&fixture->object);
    assert_string_equal(error_message(&fixture->error), "");
    assert_false(error_is(fixture->error));
    json_doc_free(fixture->doc);
}

/* The sticky error reads exactly so. */
static void close_bad(struct fixture *fixture, const char *expected)
{
    json_object_close(&fixture->object);
    assert_true(error_is(fixture->error));
    assert_int_equal(fixture->error.kind, ERROR_CONFIG);
    char *report = error_text_new(&fixture->error);
    assert_string_equal(report, expected);
    free(report);
    error_release(&fixture->error);
    json_doc_free(fixture->doc);
}

TEST(test_values)
{
    static const char *const orders[] = {"fifo", "priority", NULL};
    struct fixture f;
    open_text(&f, "\xef\xbb\xbf{\"i\": -5, \"whole\": 8.0, \"e\": 1e3, \"r\": 0.25, \"n\": 7, \"t\": true, "
                  "\"f\": false, \"s\": \"h\\u00e9\", \"null\": null, \"order\": \"priority\", "
                  "\"$comment\": [\"anything\"]}");
    assert_int_equal(json_get_int(&f.object, "i", -10, 10, 1), -5);
    assert_int_equal(json_get_int(&f.object, "whole", 0, 10, 1), 8);
    assert_int_equal(json_get_int(&f.object, "e", 0, 1000, 1), 1000);
    assert_true(json_get_real(&f.object, "r", 0, 1, 9) == 0.25);
    assert_true(json_get_real(&f.object, "n", 0, 10, 9) == 7.0);
    assert_true(json_get_bool(&f.object, "t", false));
    assert_false(json_get_bool(&f.object, "f", true));
    assert_string_equal(json_get_string(&f.object, "s", ""), "h\xc3\xa9");
    assert_int_equal(json_get_choice(&f.object, "order", orders, 0), 1);
    assert_false(json_has(&f.object, "null"));
    assert_true(json_has(&f.object, "t"));
    assert_int_equal(json_get_int(&f.object, "null", 0, 1, 42), 42);
    assert_int_equal(json_get_int(&f.object, "absent", 0, 1, 43), 43);
    assert_true(json_get_bool(&f.object, "absent", true));
    assert_null(json_get_string(&f.object, "absent", NULL));
    assert_int_equal(json_get_choice(&f.object, "absent", orders, -1), -1);
    assert_null(json_member(&f.object, "null").node);
    assert_null(json_member(&f.object, "absent").node);
    assert_int_equal(json_get_duration(&f.object, "absent", 5), 5);
    close_good(&f);
}

static int64_t scaled(const char *number, int64_t scale)
{
    struct fixture f;
    char text[128];
    snprintf(text, sizeof text, "{\"x\": %s}", number);
    open_text(&f, text);
    int64_t value = json_get_scaled(&f.object, "x", scale, INT64_MIN, INT64_MAX, -77);
    close_good(&f);
    return value;
}

/* Objects, arrays and lists at a key; a key that is absent opens nothing. */
TEST(test_containers_at_keys)
{
    struct fixture f;
    struct json_object inner;
    struct json_value array;
    open_text(&f, "{\"o\": {\"i\": 3}, \"a\": [1, 2], \"one\": 7, \"long\": [1, 2, 3]}");
    assert_false(json_object_at(&inner, &f.object, "absent"));
    assert_true(json_object_at(&inner, &f.object, "o"));
    assert_int_equal(json_get_int(&inner, "i", 0, 9, 0), 3);
    json_object_close(&inner);
    assert_int_equal(json_array_at(&array, &f.object, "absent", 9), 0);
    assert_int_equal(json_array_at(&array, &f.object, "a", 2), 2);
    const struct json_value one = json_member(&f.object, "one"), second = json_list_item(&array, 1);
    const struct json_value alone = json_list_item(&one, 0);
    assert_int_equal(json_list_count(&array), 2);
    assert_int_equal(json_value_int(&second, 0, 9), 2);
    assert_int_equal(json_list_count(&one), 1);
    assert_int_equal(json_value_int(&alone, 0, 9), 7);
    assert_int_equal(json_array_at(&array, &f.object, "long", 2), 0);
    assert_string_equal(error_message(&f.error), "'long' must hold at most 2, got 3");
    error_release(&f.error);
    json_doc_free(f.doc);
}

TEST(test_scaled_is_exact)
{
    assert_int_equal(scaled("0.07", 1000), 70);
    assert_int_equal(scaled("0.29", 100), 29);
    assert_int_equal(scaled("1.005", 1000), 1005);
    assert_int_equal(scaled("-0.07", 1000), -70);
    assert_int_equal(scaled("3", 1000), 3000);
    assert_int_equal(scaled("1e3", 1000), 1000000);
    assert_int_equal(scaled("0.0019", 1000), 1);   /* cut */
    assert_int_equal(scaled("-0.0019", 1000), -1); /* toward zero */
    assert_int_equal(scaled("0.0009999", 1000), 0);
    assert_int_equal(scaled("123456789.123", 1000), INT64_C(123456789123));
    assert_int_equal(scaled("4503599627.370497", 1000000), INT64_C(4503599627370497));
    assert_int_equal(scaled("0.7999999999999999", 10), 8); /* what a sum of eight 0.1 gives */
    assert_int_equal(scaled("0.30000000000000004", 10), 3);
    for (int i = 0; i < 10000; i++) {
        char number[32];
        snprintf(number, sizeof number, "%d.%03d", i / 1000, i % 1000);
        assert_int_equal(scaled(number, 1000), i);
    }
}

TEST(test_duration)
{
    struct fixture f;
    open_text(&f, "{\"a\": 90, \"b\": \"15m\", \"c\": \"14d\", \"d\": 0.3, \"e\": 0, \"f\": 1e-9}");
    assert_int_equal(json_get_duration(&f.object, "a", 1), 90 * TIME_NS_PER_S);
    assert_int_equal(json_get_duration(&f.object, "b", 1), 900 * TIME_NS_PER_S);
    assert_int_equal(json_get_duration(&f.object, "c", 1), 14 * 86400 * TIME_NS_PER_S);
    assert_int_equal(json_get_duration(&f.object, "d", 1), 300 * TIME_NS_PER_MS);
    assert_int_equal(json_get_duration(&f.object, "e", 1), 0);
    assert_int_equal(json_get_duration(&f.object, "f", 1), 1);
    close_good(&f);
    static const char *const bad[] = {"-1", "\"-1s\"", "\"\"", "\"5 m\"", "true", "1e300", "[1]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"a\": %s}", bad[i]);
        open_text(&f, text);
        assert_int_equal(json_get_duration(&f.object, "a", 6), 6);
        assert_true(error_is(f.error));
        assert_non_null(strstr(error_message(&f.error), "'a' must be a duration such as 90, \"15m\" or \"14d\", got "));
        error_release(&f.error);
        json_doc_free(f.doc);
    }
}

TEST(test_quoted_number)
{
    struct fixture f;
    open_text(&f, "{\n  \"pools\": {\n    \"h100\": {\n      \"gpus_per_node\": \"8\"\n    }\n  }\n}");
    struct json_value pools = json_member(&f.object, "pools");
    struct json_object pools_object, pool;
    json_object_open(&pools_object, &pools);
    struct json_value h100 = json_member(&pools_object, "h100");
    json_object_open(&pool, &h100);
    assert_int_equal(json_get_int(&pool, "gpus_per_node", 1, 16, 4), 4);
    close_bad(&f, "error: f.json:4:24: 'gpus_per_node' must be an integer from 1 to 16, got \"8\"\n"
                  " 4 |       \"gpus_per_node\": \"8\"\n"
                  "   |                        ^~~\n"
                  "  at /pools/h100/gpus_per_node; remove the quotes\n");
}

/* Each reads "x", which is bad, and must get its default. */
typedef void read_x_fn(struct json_object *object);

static void read_count(struct json_object *object)
{
    assert_int_equal(json_get_int(object, "x", 1, 16, 9), 9);
}

static void read_unsigned(struct json_object *object)
{
    assert_int_equal(json_get_int(object, "x", 0, INT64_MAX, 9), 9);
}

static void read_any_int(struct json_object *object)
{
    assert_int_equal(json_get_int(object, "x", INT64_MIN, INT64_MAX, 9), 9);
}

static void read_ratio(struct json_object *object)
{
    assert_true(json_get_real(object, "x", 0, 1, 9) == 9);
}

static void read_real_below(struct json_object *object)
{
    assert_true(json_get_real(object, "x", -DBL_MAX, 0.5, 9) == 9);
}

static void read_bool(struct json_object *object)
{
    assert_true(json_get_bool(object, "x", true));
}

static void read_string(struct json_object *object)
{
    assert_string_equal(json_get_string(object, "x", "d"), "d");
}

static void read_milli(struct json_object *object)
{
    assert_int_equal(json_get_scaled(object, "x", 1000, -1500, 8000, 9), 9);
}

static void read_order(struct json_object *object)
{
    static const char *const names[] = {"fifo", "priority", NULL};
    assert_int_equal(json_get_choice(object, "x", names, 9), 9);
}

static void read_array(struct json_object *object)
{
    struct json_value x = json_member(object, "x");
    assert_int_equal(json_array_count(&x), 0);
}

static void read_object(struct json_object *object)
{
    struct json_value x = json_member(object, "x");
    struct json_object inner;
    json_object_open(&inner, &x);
    assert_null(json_object_key(&inner, 0));
    assert_int_equal(json_get_int(&inner, "y", 0, 1, 5), 5);
    json_object_close(&inner);
}

static void assert_bad(const char *json, read_x_fn *read, const char *message, const char *hint)
{
    struct fixture f;
    char text[512];
    snprintf(text, sizeof text, "{\"x\": %s}", json);
    open_text(&f, text);
    read(&f.object);
    assert_string_equal(error_message(&f.error), message);
    char *report = error_text_new(&f.error);
    char where[256];
    snprintf(where, sizeof where, "\n  at /x%s%s\n", hint != NULL ? "; " : "", hint != NULL ? hint : "");
    assert_non_null(strstr(report, where));
    assert_non_null(strstr(report, "error: f.json:1:7: "));
    free(report);
    error_release(&f.error);
    json_doc_free(f.doc);
}

TEST(test_bad_integers)
{
    const char *unquote = "remove the quotes";
    assert_bad("17", read_count, "'x' must be an integer from 1 to 16, got 17", NULL);
    assert_bad("0", read_count, "'x' must be an integer from 1 to 16, got 0", NULL);
    assert_bad("8.5", read_count, "'x' must be an integer from 1 to 16, got 8.5", NULL);
    assert_bad("1e300", read_count, "'x' must be an integer from 1 to 16, got 1e+300", NULL);
    assert_bad("true", read_count, "'x' must be an integer from 1 to 16, got true", NULL);
    assert_bad("[8]", read_count, "'x' must be an integer from 1 to 16, got an array", NULL);
    assert_bad("{}", read_count, "'x' must be an integer from 1 to 16, got an object", NULL);
    assert_bad("\"17\"", read_count, "'x' must be an integer from 1 to 16, got \"17\"", NULL);
    assert_bad("\"08\"", read_count, "'x' must be an integer from 1 to 16, got \"08\"", NULL);
    assert_bad("\"16\"", read_count, "'x' must be an integer from 1 to 16, got \"16\"", unquote);
    assert_bad("-1", read_unsigned, "'x' must be an integer of at least 0, got -1", NULL);
    assert_bad("\"a\"", read_any_int, "'x' must be an integer, got \"a\"", NULL);
    assert_bad("\"-3\"", read_any_int, "'x' must be an integer, got \"-3\"", unquote);
    assert_bad("1e17", read_any_int, "'x' must be an integer, got 1e+17", NULL);
}

TEST(test_bad_scalars)
{
    const char *unquote = "remove the quotes";
    assert_bad("1.5", read_ratio, "'x' must be a number from 0 to 1, got 1.5", NULL);
    assert_bad("-1", read_ratio, "'x' must be a number from 0 to 1, got -1", NULL);
    assert_bad("\"0.5\"", read_ratio, "'x' must be a number from 0 to 1, got \"0.5\"", unquote);
    assert_bad("\"1.5\"", read_ratio, "'x' must be a number from 0 to 1, got \"1.5\"", NULL);
    assert_bad("false", read_ratio, "'x' must be a number from 0 to 1, got false", NULL);
    assert_bad("1", read_real_below, "'x' must be a number of at most 0.5, got 1", NULL);
    assert_bad("8.001", read_milli, "'x' must be a number from -1.5 to 8, got 8.001", NULL);
    assert_bad("1e30", read_milli, "'x' must be a number from -1.5 to 8, got 1e+30", NULL);
    assert_bad("9223372036854775807", read_milli, "'x' must be a number from -1.5 to 8, got 9223372036854775807", NULL);
    assert_bad("1", read_bool, "'x' must be true or false, got 1", NULL);
    assert_bad("\"true\"", read_bool, "'x' must be true or false, got \"true\"", unquote);
    assert_bad("5", read_string, "'x' must be a string, got 5", "put it in quotes");
    assert_bad("[]", read_string, "'x' must be a string, got an array", NULL);
    assert_bad("\"fif\"", read_order, "'x' must be one of 'fifo', 'priority'; got \"fif\"", "did you mean 'fifo'?");
    assert_bad("\"qqqq\"", read_order, "'x' must be one of 'fifo', 'priority'; got \"qqqq\"", NULL);
    assert_bad("3", read_order, "'x' must be one of 'fifo', 'priority'; got 3", NULL);
    assert_bad("3", read_array, "'x' must be an array, got 3", NULL);
    assert_bad("[3]", read_object, "'x' must be an object, got an array", NULL);
}

TEST(test_long_strings_are_cut)
{
    assert_bad("\"0123456789012345678901234567890123456789!\"", read_count,
               "'x' must be an integer from 1 to 16, got "
               "\"0123456789012345678901234567890123456789\"...",
               NULL);
    /* the two-byte letter straddles the cut and goes as a whole */
    assert_bad("\"012345678901234567890123456789012345678\xc3\xa9\"", read_count,
               "'x' must be an integer from 1 to 16, got "
               "\"012345678901234567890123456789012345678\"...",
               NULL);
}

TEST(test_unknown_key)
{
    struct fixture f;
    open_text(&f, "{\n\t\"gpus\": 8,\n\t\"gpuz\": 1,\n\t\"zzz\": 2\n}\n");
    json_get_int(&f.object, "cpus", 0, 1, 0);
    json_get_int(&f.object, "gpus", 0, 10, 0);
    close_bad(&f, "error: f.json:3:2: unknown key 'gpuz'\n"
                  " 3 |  \"gpuz\": 1,\n"
                  "   |  ^~~~~~\n"
                  "  at /gpuz; did you mean 'gpus'?\n");
    open_text(&f, "{\"a~/b\": 8}");
    json_get_int(&f.object, "cpus", 0, 1, 0);
    json_get_int(&f.object, "gpus", 0, 10, 0);
    close_bad(&f, "error: f.json:1:2: unknown key 'a~/b'\n"
                  " 1 | {\"a~/b\": 8}\n"
                  "   |  ^~~~~~\n"
                  "  at /a~0~1b; known here: 'cpus', 'gpus'\n");
}

TEST(test_missing_key)
{
    struct fixture f;
    open_text(&f, "{\"pools\": [{\"name\": \"a\", \"nodes\": 1}, {\"name\": \"b\", \"node\": 2}]}");
    struct json_value pools = json_member(&f.object, "pools");
    assert_int_equal(json_array_count(&pools), 2);
    struct json_value first = json_array_item(&pools, 0);
    struct json_value second = json_array_item(&pools, 1);
    struct json_object pool;
    json_object_open(&pool, &first);
    json_need(&pool, "nodes");
    assert_false(error_is(f.error));
    json_object_open(&pool, &second);
    json_need(&pool, "nodes");
    json_need(&pool, "something else, which is too late");
    assert_int_equal(json_array_count(&pools), 0); /* nothing is read after an error */
    close_bad(&f, "error: f.json:1:39: 'nodes' is missing\n"
                  " 1 | {\"pools\": [{\"name\": \"a\", \"nodes\": 1}, {\"name\": \"b\", \"node\": 2}]}\n"
                  "   |                                       ^~~~~~~~~~~~~~~~~~~~~~~~\n"
                  "  at /pools/1; is 'node' a slip for it?\n");
    open_text(&f, "{\"a\": null}");
    json_need(&f.object, "a");
    close_bad(&f, "error: f.json:1:7: 'a' must be given, got null\n"
                  " 1 | {\"a\": null}\n"
                  "   |       ^~~~\n"
                  "  at /a\n");
}

TEST(test_arrays_of_scalars)
{
    struct fixture f;
    open_text(&f, "{\"a\": [1, 2.5, \"s\", [[7, \"q\"]]]}");
    struct json_value a = json_member(&f.object, "a");
    struct json_value items[4];
    for (size_t i = 0; i < 4; i++)
        items[i] = json_array_item(&a, i);
    assert_int_equal(json_array_count(&a), 4);
    assert_int_equal(json_value_int(&items[0], 0, 9), 1);
    assert_true(json_value_real(&items[0], 0, 9) == 1);
    assert_true(json_value_real(&items[1], 0, 9) == 2.5);
    assert_string_equal(json_value_string(&items[2]), "s");
    struct json_value row = json_array_item(&items[3], 0);
    struct json_value deep = json_array_item(&row, 1);
    assert_int_equal(json_value_int(&deep, 3, 9), 3);
    assert_string_equal(json_value_string(&items[2]), ""); /* after an error */
    close_bad(&f, "error: f.json:1:26: 'a[3][0][1]' must be an integer from 3 to 9, got \"q\"\n"
                  " 1 | {\"a\": [1, 2.5, \"s\", [[7, \"q\"]]]}\n"
                  "   |                          ^~~\n"
                  "  at /a/3/0/1\n");
    open_text(&f, "{\"a\": []}");
    a = json_member(&f.object, "a");
    struct json_value none = json_array_item(&a, 0);
    assert_null(none.node);
    json_value_int(&none, 0, 1);
    assert_string_equal(error_message(&f.error), "'a[0]' must be an integer from 0 to 1, got nothing");
    error_release(&f.error);
    json_doc_free(f.doc);
}

TEST(test_root_of_another_type)
{
    static const char *const roots[] = {"5", "\"x\"", "[1]", "null"};
    static const char *const got[] = {"5", "\"x\"", "an array", "null"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        struct fixture f;
        char expected[64];
        open_text(&f, roots[i]);
        snprintf(expected, sizeof expected, "the document must be an object, got %s", got[i]);
        assert_string_equal(error_message(&f.error), expected);
        error_release(&f.error);
        json_doc_free(f.doc);
    }
}

/* More keys than an object of fixed keys may have, in the order of the text. */
TEST(test_map_of_free_names)
{
    enum { COUNT = 3 * JSON_KEYS_MAX };
    struct buffer text = {0};
    buffer_char(&text, '{');
    for (int i = 0; i < COUNT; i++)
        buffer_format(&text, "%s\"k%d\": %d", i != 0 ? "," : "", COUNT - i, i);
    buffer_char(&text, '}');
    struct fixture f;
    open_text(&f, buffer_c_string(&text));
    const char *key;
    for (size_t i = 0; (key = json_object_key(&f.object, i)) != NULL; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "k%zu", COUNT - i);
        assert_string_equal(key, expected);
        assert_int_equal(json_get_int(&f.object, key, 0, COUNT, -1), i);
    }
    assert_string_equal(json_object_key(&f.object, 5), json_object_key(&f.object, 5));
    assert_string_equal(json_object_key(&f.object, 0), "k288");
    close_good(&f);
    /* a key that was not reached is unknown */
    open_text(&f, "{\"a\": 1, \"b\": 2}");
    json_object_key(&f.object, 0);
    json_object_close(&f.object);
    assert_string_equal(error_message(&f.error), "unknown key 'b'");
    error_release(&f.error);
    json_doc_free(f.doc);
    buffer_release(&text);
}

TEST(test_first_error_stays)
{
    struct fixture f;
    open_text(&f, "{\"a\": \"x\", \"b\": 5}");
    json_get_int(&f.object, "a", 0, 1, 0);
    assert_int_equal(json_get_int(&f.object, "b", 0, 9, 3), 3);
    assert_false(json_has(&f.object, "b"));
    assert_null(json_object_key(&f.object, 0));
    json_fail(&f.root, "too late");
    assert_string_equal(error_message(&f.error), "'a' must be an integer from 0 to 1, got \"x\"");
    error_release(&f.error);
    json_doc_free(f.doc);
}

/* Keys with escapes, values of many lines, CRLF, and letters of several bytes. */
TEST(test_places)
{
    struct fixture f;
    open_text(&f, "{\"\\u0061\\\"\": {\r\n \"caf\xc3\xa9\": [\r\n  1,\r\n  {\"z\": 2}]}}");
    struct json_value a = json_member(&f.object, "a\"");
    struct json_object object;
    json_object_open(&object, &a);
    struct json_value cafe = json_member(&object, "caf\xc3\xa9");
    struct json_value item = json_array_item(&cafe, 1);
    json_fail(&item, "bad %d", 5);
    close_bad(&f, "error: f.json:4:3: bad 5\n"
                  " 4 |   {\"z\": 2}]}}\n"
                  "   |   ^~~~~~~~\n"
                  "  at /a\"/caf\xc3\xa9/1\n");
    /* the same steps under another key, before and inside */
    open_text(&f, "{\"b\": {\"x\": [0, 1]}, \"a\": {\"a\": {\"x\": 2}, \"x\": [3, 4]}}");
    a = json_member(&f.object, "a");
    json_object_open(&object, &a);
    struct json_value x = json_member(&object, "x");
    item = json_array_item(&x, 1);
    json_fail(&item, "bad");
    close_bad(&f, "error: f.json:1:52: bad\n"
                  " 1 | {\"b\": {\"x\": [0, 1]}, \"a\": {\"a\": {\"x\": 2}, \"x\": [3, 4]}}\n"
                  "   |                                                    ^\n"
                  "  at /a/x/1\n");
    open_text(&f, "{\"x\": {\n\"y\": 1}, \"z\": [1]}");
    struct json_value absent = json_member(&f.object, "absent");
    json_fail(&absent, "it is needed here");
    close_bad(&f, "error: f.json:1:1: it is needed here\n"
                  " 1 | {\"x\": {\n"
                  "   | ^~~~~~~\n"
                  "  at /absent\n");
}
