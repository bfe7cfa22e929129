/* The settings in which two scenarios differ: paths as --set has them, and none is passed over. */
#include <jansson.h>

#include "tests/support/test.h"

#include "base/buffer.h"
#include "base/random.h"
#include "studies/comparison/settings.h"

static void assert_lines(const char *base, const char *side, const char *expected)
{
    struct settings settings;
    struct buffer out = {0};
    settings_compare(&settings, base, side);
    for (size_t i = 0; i < settings.count; i++) {
        const struct setting *setting = &settings.list[i];
        buffer_format(&out, "%s: %s -> %s\n", setting->path, setting->base != NULL ? setting->base : "-",
                      setting->side != NULL ? setting->side : "-");
    }
    assert_string_equal(buffer_c_string(&out), expected);
    buffer_release(&out);
    settings_release(&settings);
}

TEST(test_elements_are_named_as_set_names_them)
{
    assert_lines("{\"queues\": [{\"name\": \"a\", \"quota_gpus\": 48}, {\"name\": \"b\", \"quota_gpus\": 16}]}",
                 "{\"queues\": [{\"name\": \"a\", \"quota_gpus\": 32}, {\"name\": \"b\", \"quota_gpus\": 16}]}",
                 "queues.a.quota_gpus: 48 -> 32\n");
    assert_lines("{\"queues\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}",
                 "{\"queues\": [{\"name\": \"b\"}, {\"name\": \"a\"}]}", "queues: [\"a\", \"b\"] -> [\"b\", \"a\"]\n");
    assert_lines("{\"queues\": [{\"name\": \"a\"}]}", "{\"queues\": [{\"name\": \"a\"}, {\"name\": \"$comment\"}]}",
                 "queues.$comment: - -> {\"name\": \"$comment\"}\n");
    assert_lines("{\"policy\": {\"order\": [\"priority\", \"fifo\"]}}", "{\"policy\": {\"order\": [\"fifo\"]}}",
                 "policy.order: [\"priority\", \"fifo\"] -> [\"fifo\"]\n");
    assert_lines("{\"world\": {\"end\": \"2d\"}}", "{\"world\": {\"sample_s\": 60}}",
                 "world.end: \"2d\" -> -\nworld.sample_s: - -> 60\n");
    assert_lines("{\"x\": [{\"a\": 1}, {\"a\": 2}]}", "{\"x\": [{\"a\": 1}, {\"a\": 3}]}", "x.1.a: 2 -> 3\n");
}

TEST(test_what_no_run_depends_on_is_left_out)
{
    assert_lines("{\"name\": \"a\", \"seed\": 1, \"policy\": {\"name\": \"p\"}, \"world\": {\"$comment\": \"x\"}}",
                 "{\"title\": \"b\", \"seed\": 2, \"policy\": {\"summary\": \"q\"}, \"world\": {}}", "");
    assert_lines("{\"world\": {\"name\": 1}}", "{\"world\": {\"name\": 2}}", "world.name: 1 -> 2\n");
}

/* ---- Law: without a line, what is left of both is equal. ---- */

enum { TRIALS = 2000, DEPTH_MAX = 3, MEMBERS_MAX = 4 };

static json_t *random_value(struct random_stream *random, int depth)
{
    static const char *const keys[] = {"name", "seed", "policy", "queues", "$comment", "summary"};
    const uint32_t kind = depth == DEPTH_MAX ? random_below(random, 2) : depth == 0 ? 2 : random_below(random, 4);
    if (kind == 0)
        return json_integer((json_int_t)random_below(random, 3));
    if (kind == 1)
        return json_string(random_below(random, 2) == 0 ? "a" : "b");
    json_t *value = kind == 2 ? json_object() : json_array();
    for (uint32_t i = random_below(random, MEMBERS_MAX); i > 0; i--)
        if (kind == 2)
            json_object_set_new(value, keys[random_below(random, 6)], random_value(random, depth + 1));
        else
            json_array_append_new(value, random_value(random, depth + 1));
    return value;
}

/* at: the member of the scenario; "": the scenario itself; "deeper": below a member. */
static void strip(json_t *value, const char *at)
{
    json_t *member;
    const char *key;
    size_t i;
    if (json_is_object(value)) {
        json_object_del(value, "$comment");
        for (const char *const *name = (const char *const[]){"seed", "title", "name", NULL}; *name != NULL; name++)
            if (at[0] == '\0')
                json_object_del(value, *name);
        for (const char *const *name = (const char *const[]){"name", "summary", "guarantees", NULL}; *name != NULL;
             name++)
            if (strcmp(at, "policy") == 0)
                json_object_del(value, *name);
    }
    json_object_foreach(value, key, member)
    {
        strip(member, at[0] == '\0' ? key : "deeper");
    }
    json_array_foreach(value, i, member)
    {
        strip(member, "deeper");
    }
}

TEST(test_without_a_line_nothing_else_differs)
{
    size_t equal = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        struct random_stream random;
        random_stream_init(&random, seed, "settings", 0);
        json_t *base = random_value(&random, 0), *side = random_value(&random, 0);
        char *a = json_dumps(base, 0), *b = json_dumps(side, 0);
        struct settings settings;
        settings_compare(&settings, a, b);
        strip(base, "");
        strip(side, "");
        if ((settings.count == 0) != (json_equal(base, side) != 0))
            fail_msg("seed %llu: %zu lines of %s and %s", (unsigned long long)seed, settings.count, a, b);
        equal += settings.count == 0;
        settings_release(&settings);
        free(a);
        free(b);
        json_decref(base);
        json_decref(side);
    }
    assert_true(equal > 20 && equal < TRIALS - 20);
}
