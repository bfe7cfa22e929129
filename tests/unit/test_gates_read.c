/* Gates as read: bounds with their units, what is refused and where, files and scenarios, sides. */
#include <math.h>

#include "tests/support/test.h"

#include "reports/gates.h"
#include "tests/support/json_text.h"

static struct error read_file(const char *quoted, struct arena *arena, struct gates *out)
{
    char *text = json_text_new(quoted);
    struct error error = gates_of_file("gates.json", text_of(text), arena, out);
    free(text);
    return error;
}

TEST(test_bounds_have_units)
{
    struct arena arena = {0};
    struct gates gates;
    struct error error =
        read_file("{'gates': [{'metric': 'queue_time_p95_s', 'class': 'training', 'max_increase': '5%'},\n"
                  "  {'metric': 'queue_time_p95_s', 'max_increase': '10m', 'max_decrease': '-90s', 'max': '1h'},\n"
                  "  {'metric': 'allocation_ratio', 'max_decrease': 0.01, 'min': 0.7, 'side': 'new'},\n"
                  "  {'metric': 'preemptions', 'max_increase': '-2.5 %'}]}",
                  &arena, &gates);
    assert_false(error_is(error));
    assert_int_equal(gates.count, 7);
    const struct gate *g = gates.gates;
    assert_string_equal(g[0].of.metric, "queue_time_p95_s");
    assert_string_equal(g[0].of.cut, "class");
    assert_string_equal(g[0].of.key, "training");
    assert_true(g[0].is_relative && g[0].amount == 0.05 && g[0].bound == GATE_MAX_INCREASE && g[0].side == NULL);
    assert_true(g[0].better == BETTER_LOWER && g[0].line == 1 && g[0].column == 12);
    assert_string_equal(g[0].file, "gates.json");
    assert_true(!g[1].is_relative && g[1].amount == 600 && g[1].bound == GATE_MAX_INCREASE);
    assert_true(!g[2].is_relative && g[2].amount == -90 && g[2].bound == GATE_MAX_DECREASE);
    assert_true(g[3].amount == 3600 && g[3].bound == GATE_MAX && g[3].line == 2);
    assert_true(g[4].amount == 0.01 && g[4].bound == GATE_MAX_DECREASE && strcmp(g[4].side, "new") == 0);
    assert_true(g[5].amount == 0.7 && g[5].bound == GATE_MIN && strcmp(g[5].side, "new") == 0);
    assert_true(g[6].is_relative && g[6].amount == -0.025);
    error = read_file("[{'metric': 'cost_usd', 'max_increase': 0}]", &arena, &gates);
    assert_false(error_is(error));
    assert_true(gates.count == 1 && gates.gates[0].amount == 0 && !gates.gates[0].is_relative);
    /* From 5 % to 1 % less. */
    error = read_file("[{'metric': 'cost_usd', 'max_increase': '-1%', 'max_decrease': '5%'}]", &arena, &gates);
    assert_false(error_is(error));
    assert_int_equal(gates.count, 2);
    arena_release(&arena);
}

struct refused {
    const char *text, *place, *message, *hint;
};

static const struct refused refusals[] = {
    {"[{'metric': 'queue_time_p59_s', 'max': 1}]", "gates.json:1:13", "there is no metric 'queue_time_p59_s'",
     "did you mean 'queue_time_p50_s'?"},
    {"[{'max': 1}]", "gates.json:1:2", "metric", NULL},
    {"[\n {'metric': 'cost_usd'}]", "gates.json:2:2",
     "a gate has a bound: 'max_increase', 'max_decrease', 'max' or 'min'", NULL},
    {"[{'metric': 'cost_usd', 'max_increase': '10m'}]", "gates.json:1:41",
     "'max_increase' must be a part of the base's value such as \"5%\", or a number in the metric's unit", NULL},
    {"[{'metric': 'queue_time_p95_s', 'max_decrease': 'ten'}]", "gates.json:1:49",
     "'max_decrease' must be a part of the base's value such as \"5%\", or a duration such as 90 or \"15m\"", NULL},
    {"[{'metric': 'queue_time_p95_s', 'max_increase': true}]", "gates.json:1:49", "'max_increase' must be", NULL},
    {"[{'metric': 'queue_time_p95_s', 'max_increase': '%'}]", "gates.json:1:49", "'max_increase' must be", NULL},
    {"[{'metric': 'queue_time_p95_s', 'max_increase': 'nan%'}]", "gates.json:1:49", "'max_increase' must be", NULL},
    {"[{'metric': 'queue_time_p95_s', 'max': '5%'}]", "gates.json:1:40", "'max' must be a duration", NULL},
    {"[{'metric': 'queue_time_p95_s', 'max': 1, 'min': 2}]", "gates.json:1:2", "'max' is below 'min'", NULL},
    {"[{'metric': 'cost_usd', 'max_increase': '-5%', 'max_decrease': '2%'}]", "gates.json:1:2",
     "no change is within both 'max_increase' and 'max_decrease'", NULL},
    {"[{'metric': 'cost_usd', 'max_increase': '5%', 'side': ''}]", "gates.json:1:55", "'side' is the name of a side",
     NULL},
    {"[{'metric': 'cost_usd', 'max_increse': '5%'}]", "gates.json:1:25", "max_increse", "did you mean 'max_increase'"},
    {"[{'metric': 'cost_usd', 'max': 5, 'max_increse': '5%'}]", "gates.json:1:35", "max_increse",
     "did you mean 'max_increase'"},
    {"[{'metric': 'allocation_ratio', 'class': 'training', 'min': 1}]", "gates.json:1:13",
     "'allocation_ratio' is of the whole run only: it has no cuts", NULL},
    {"{'gate': []}", "gates.json:1:1", "gates", NULL},
    {"{'gates': 5}", "gates.json:1:11", "gates", NULL},
    {"[5]", "gates.json:1:2", "", NULL},
    {"[", "gates.json:1:", "", NULL},
};

TEST(test_what_is_refused)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct arena arena = {0};
        struct gates gates;
        struct error error = read_file(refusals[i].text, &arena, &gates);
        assert_int_equal(error.kind, ERROR_CONFIG);
        char *text = error_text_new(&error);
        if (strstr(text, refusals[i].place) == NULL || strstr(text, refusals[i].message) == NULL ||
            (refusals[i].hint != NULL && strstr(text, refusals[i].hint) == NULL))
            fail_msg("%s\nshould be refused at %s with '%s', but is:\n%s", refusals[i].text, refusals[i].place,
                     refusals[i].message, text);
        free(text);
        error_release(&error);
        arena_release(&arena);
    }
}

TEST(test_gates_of_a_scenario)
{
    struct arena arena = {0};
    struct gates gates;
    char *text =
        json_text_new("{'cluster': 'c.json', 'gates': [{'metric': 'cost_usd', 'max_increase': '1%'}], 'x': 1}");
    struct error error = gates_of_scenario("s.json", text, &arena, &gates);
    assert_false(error_is(error));
    assert_int_equal(gates.count, 1);
    assert_string_equal(gates.gates[0].file, "s.json");
    free(text);
    error = gates_of_scenario("s.json", "{}", &arena, &gates);
    assert_false(error_is(error));
    assert_int_equal(gates.count, 0);
    error = gates_of_scenario("s.json", NULL, &arena, &gates);
    assert_false(error_is(error));
    assert_int_equal(gates.count, 0);
    arena_release(&arena);
}

TEST(test_too_many_gates)
{
    struct arena arena = {0};
    struct buffer text = {0};
    struct gates gates;
    for (int i = 0; i <= GATES_MAX; i++)
        buffer_format(&text, "%s{\"metric\": \"cost_usd\", \"max\": 1}", i == 0 ? "[" : ", ");
    buffer_char(&text, ']');
    struct error error = gates_of_file("gates.json", (struct text){text.bytes, text.length}, &arena, &gates);
    assert_string_equal(error_message(&error), "at most 256 gates");
    error_release(&error);
    buffer_release(&text);
    arena_release(&arena);
}

static void assert_sides(const char *quoted, const char *message, const char *hint)
{
    static const char *const sides[] = {"main", "candidate", "other", NULL};
    struct arena arena = {0};
    struct gates gates;
    struct error error = read_file(quoted, &arena, &gates);
    assert_false(error_is(error));
    error = gates_check_sides(&gates, sides);
    if (message == NULL) {
        assert_false(error_is(error));
    } else {
        assert_int_equal(error.kind, ERROR_CONFIG);
        char *text = error_text_new(&error);
        assert_non_null(strstr(text, message));
        assert_non_null(strstr(text, hint));
        free(text);
        error_release(&error);
    }
    arena_release(&arena);
}

TEST(test_sides_must_exist)
{
    assert_sides("[{'metric': 'cost_usd', 'max': 5, 'side': 'main'}]", NULL, NULL);
    assert_sides("[{'metric': 'cost_usd', 'max_increase': 5}]", NULL, NULL);
    assert_sides("[{'metric': 'cost_usd', 'max_increase': 5, 'side': 'other'}]", NULL, NULL);
    assert_sides("[\n{'metric': 'cost_usd', 'max_increase': 5, 'side': 'canddate'}]",
                 "gates.json:2:1: the gate of 'cost_usd' is for 'canddate', which is no side",
                 "did you mean 'candidate'?");
    assert_sides("[{'metric': 'cost_usd', 'max': 5, 'side': 'xyz'}]", "which is no side",
                 "the sides are 'main', 'candidate', 'other'");
    assert_sides("[{'metric': 'cost_usd', 'max_increase': 5, 'side': 'main'}]",
                 "'max_increase' compares with 'main', so it cannot be for it", "bound this one with 'max' or 'min'");
}

TEST(test_whom_a_gate_is_for)
{
    const struct gate all = {.bound = GATE_MAX}, one = {.bound = GATE_MAX, .side = "main"};
    assert_true(gate_is_for(&all, "new", false));
    assert_false(gate_is_for(&all, "main", true));
    assert_true(gate_is_for(&one, "main", true));
    assert_false(gate_is_for(&one, "new", false));
}
