#include "tests/support/test.h"

/* Filled before main begins, in no particular order. */
static struct {
    struct CMUnitTest *tests;
    int *lines; /* rising */
    size_t count;
    CMFixtureFunction set_up, tear_down;
} group;

void test_list(const struct CMUnitTest *test, int line)
{
    size_t at = group.count++;
    group.tests = realloc(group.tests, group.count * sizeof *group.tests);
    group.lines = realloc(group.lines, group.count * sizeof *group.lines);
    if (group.tests == NULL || group.lines == NULL)
        abort();
    for (; at > 0 && group.lines[at - 1] > line; at--) {
        group.tests[at] = group.tests[at - 1];
        group.lines[at] = group.lines[at - 1];
    }
    group.tests[at] = *test;
    group.lines[at] = line;
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    group.set_up = set_up;
    group.tear_down = tear_down;
}

int test_run(void)
{
    const int failed = _cmocka_run_group_tests("tests", group.tests, group.count, group.set_up, group.tear_down);
    free(group.tests);
    free(group.lines);
    return failed;
}
