/* tests/unit/test_names.c -- names as dense ids. */
#include "tests/support/test.h"
#include <stdio.h>
#include <string.h>

#include "base/names.h"

TEST(test_ids_are_dense_and_in_order)
{
    struct names *names = names_new();
    assert_int_equal(names_count(names), 0);
    assert_int_equal(names_find(names, TEXT("a")), NAMES_NONE);
    assert_int_equal(names_add(names, TEXT("vision")), 0);
    assert_int_equal(names_add(names, TEXT("speech")), 1);
    assert_int_equal(names_add(names, TEXT("vision")), 0);
    assert_int_equal(names_add(names, TEXT("")), 2);
    assert_int_equal(names_add(names, (struct text){NULL, 0}), 2);
    assert_int_equal(names_count(names), 3);
    assert_int_equal(names_find(names, TEXT("speech")), 1);
    assert_int_equal(names_find(names, TEXT("speec")), NAMES_NONE);
    assert_int_equal(names_count(names), 3); /* finding adds nothing */
    assert_string_equal(names_text(names, 0), "vision");
    assert_string_equal(names_text(names, 2), "");
    names_free(names);
    names_free(NULL);
}

/* The caller's bytes may change; a name borrowed early stays. */
TEST(test_texts_are_copied_and_stable)
{
    struct names *names = names_new();
    char line[] = "team-0,team-1";
    uint32_t id = names_add(names, (struct text){line, 6});
    const char *borrowed = names_text(names, id);
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 10000; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "user%d", i);
        names_add(names, (struct text){name, (size_t)length});
    }
    assert_ptr_equal(names_text(names, id), borrowed);
    assert_string_equal(borrowed, "team-0");
    names_free(names);
}

TEST(test_many_names)
{
    enum { NAMES = 200000 };
    struct names *names = names_new();
    char name[32];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            int length = snprintf(name, sizeof name, "q%u/%u", i % 7, i);
            assert_int_equal(names_add(names, (struct text){name, (size_t)length}), i);
        }
        assert_int_equal(names_count(names), NAMES);
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        int length = snprintf(name, sizeof name, "q%u/%u", i % 7, i);
        assert_int_equal(names_find(names, (struct text){name, (size_t)length}), i);
        assert_string_equal(names_text(names, i), name);
        length = snprintf(name, sizeof name, "q%u/%u", (i + 1) % 7, i);
        assert_int_equal(names_find(names, (struct text){name, (size_t)length}), NAMES_NONE);
    }
    names_free(names);
}
