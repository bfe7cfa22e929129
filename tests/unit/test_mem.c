/* tests/unit/test_mem.c -- checked allocation, growing arrays, arenas. */
#include "tests/support/test.h"
#include <signal.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/* Without it the address sanitizer dies where the system's malloc returns NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static jmp_buf exhausted_jump;
static size_t exhausted_bytes;

static void on_exhausted(size_t bytes)
{
    exhausted_bytes = bytes;
    longjmp(exhausted_jump, 1);
}

/* The statement calls the handler; it does not return. */
#define ASSERT_EXHAUSTED(statement)                                                                                    \
    do {                                                                                                               \
        mem_on_exhausted(on_exhausted);                                                                                \
        if (setjmp(exhausted_jump) == 0) {                                                                             \
            statement;                                                                                                 \
            fail_msg("not exhausted: " #statement);                                                                    \
        }                                                                                                              \
        mem_on_exhausted(NULL);                                                                                        \
    } while (0)

static bool is_zero(const void *block, size_t bytes)
{
    const unsigned char *at = block;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return false;
    return true;
}

TEST(test_empty_blocks_are_unique)
{
    void *a = mem_alloc(0);
    void *b = mem_zalloc(0, 8);
    void *c = mem_resize(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(b, c);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(NULL);
}

TEST(test_zalloc_and_resize_keep_contents)
{
    uint32_t *words = mem_zalloc(100, sizeof *words);
    assert_true(is_zero(words, 100 * sizeof *words));
    for (uint32_t i = 0; i < 100; i++)
        words[i] = i * 7;
    words = mem_resize(words, 100000, sizeof *words);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(words[i], i * 7);
    words = mem_resize(words, 1, sizeof *words);
    words = mem_resize(words, 0, sizeof *words);
    assert_non_null(words);
    mem_free(words);
    char *copy = mem_copy_text("gang");
    assert_string_equal(copy, "gang");
    mem_free(copy);
}

TEST(test_overflow_and_refusal_are_exhaustion)
{
    struct arena arena = {0};
    size_t capacity = 0;
    volatile size_t huge = SIZE_MAX / 2; /* volatile: the compiler must not judge the sizes */
    ASSERT_EXHAUSTED(mem_alloc(huge));
    assert_int_equal(exhausted_bytes, SIZE_MAX / 2);
    ASSERT_EXHAUSTED(mem_zalloc(huge, 1));
    ASSERT_EXHAUSTED(mem_zalloc(huge, 4));
    assert_int_equal(exhausted_bytes, SIZE_MAX); /* no such number */
    ASSERT_EXHAUSTED(mem_resize(NULL, huge, 3));
    ASSERT_EXHAUSTED(mem_grow(NULL, &capacity, huge, 16));
    assert_int_equal(capacity, 0);
    ASSERT_EXHAUSTED(arena_alloc(&arena, SIZE_MAX));
    ASSERT_EXHAUSTED(arena_alloc(&arena, SIZE_MAX - alignof(max_align_t)));
    ASSERT_EXHAUSTED(arena_alloc_many(&arena, huge, 16));
    assert_null(arena.blocks);
}

TEST(test_without_a_handler_it_aborts)
{
    volatile size_t huge = SIZE_MAX / 2;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL); /* cmocka's own handler would go on with the next test */
        free(mem_zalloc(huge, 4));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(test_grow_doubles_and_zeroes)
{
    uint64_t *array = NULL;
    size_t capacity = 0;
    size_t moved_count = 0;
    for (size_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        MEM_GROW(array, capacity, i + 1);
        assert_true(capacity > i);
        if (capacity != before) {
            moved_count++;
            assert_true(before == 0 || capacity == 2 * before);
            assert_true(is_zero(array + before, (capacity - before) * sizeof *array));
        }
        array[i] = i + 1;
    }
    assert_in_range(moved_count, 1, 17);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(array[i], i + 1);
    size_t before = capacity;
    MEM_GROW(array, capacity, 10 * before); /* more than twice: just what is needed */
    assert_int_equal(capacity, 10 * before);
    assert_true(is_zero(array + before, 9 * before * sizeof *array));
    uint64_t *same = array;
    MEM_GROW(array, capacity, 5);
    assert_ptr_equal(array, same);
    mem_free(array);
}

/* Blocks of many sizes are aligned, zero, apart, and keep what is written into them. */
static void fill_and_check(struct arena *arena, size_t round)
{
    enum { BLOCKS = 300 };
    static unsigned char *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        sizes[i] = (i * i * 7 + round) % 3000 + (i % 97 == 5 ? 100000 : 0);
        blocks[i] = arena_alloc(arena, sizes[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        assert_true(is_zero(blocks[i], sizes[i]));
        memset(blocks[i], (int)(i % 255) + 1, sizes[i]);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(blocks[i][j], i % 255 + 1);
}

TEST(test_arena_blocks_are_zero_even_after_reset)
{
    struct arena arena = {0};
    arena_reset(&arena); /* empty: nothing to do */
    for (size_t round = 0; round < 5; round++) {
        fill_and_check(&arena, round);
        arena_reset(&arena);
        assert_non_null(arena.blocks);
    }
    arena_release(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.used_bytes, 0);
    fill_and_check(&arena, 9); /* usable again */
    arena_release(&arena);
    arena_release(&arena);
}

TEST(test_arena_settles_in_one_block)
{
    struct arena arena = {0};
    for (int i = 0; i < 1000; i++)
        arena_alloc(&arena, (size_t)(i % 50) * 20); /* grows over several blocks */
    arena_reset(&arena);
    const struct arena_block *kept = arena.blocks;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            arena_alloc(&arena, (size_t)(i % 50) * 20);
        assert_ptr_equal(arena.blocks, kept); /* no new block was needed */
        arena_reset(&arena);
        assert_ptr_equal(arena.blocks, kept);
    }
    arena_release(&arena);
}

TEST(test_arena_empty_requests_and_copies)
{
    struct arena arena = {0};
    void *a = arena_alloc(&arena, 0);
    void *b = arena_alloc_array(&arena, 0, uint64_t);
    assert_non_null(a);
    assert_ptr_not_equal(a, b);
    assert_string_equal(arena_copy(&arena, (struct text){"gangster", 4}), "gang");
    assert_string_equal(arena_copy(&arena, (struct text){NULL, 0}), "");
    arena_release(&arena);
}
