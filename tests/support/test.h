/* tests/support/test.h -- what a test program begins with: cmocka with the headers that it wants, and tests that list
 * themselves.
 *
 *   TEST(a_gang_starts_as_a_whole)
 *   {
 *       assert_int_equal(...);
 *   }
 *
 * Law: a test that stands in a program runs, once, in the order of their lines.  Tables of tests do not exist, so none
 * is forgotten there.
 *
 * TEST_WITH has a fixture of its own; TEST_GROUP names, once in a program, what runs before its first test and after
 * its last (NULL: nothing).  `state` is what a fixture left there, as cmocka has it.  A program without a main gets
 * that of test_main.c; another main returns test_run(). */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) TEST_WITH(name, NULL, NULL)

#define TEST_WITH(name, set_up, tear_down)                                                                             \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void name##_lists_itself(void)                                                 \
    {                                                                                                                  \
        test_list(&(struct CMUnitTest){#name, name, set_up, tear_down, NULL}, __LINE__);                               \
    }                                                                                                                  \
    static void name(void **state __attribute__((unused)))

#define TEST_GROUP(set_up, tear_down)                                                                                  \
    __attribute__((constructor)) static void test_group_of_this_program(void)                                          \
    {                                                                                                                  \
        test_group(set_up, tear_down);                                                                                 \
    }

void test_list(const struct CMUnitTest *test, int line); /* copied; its name is borrowed */
void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);
int test_run(void); /* how many tests failed */

#endif
