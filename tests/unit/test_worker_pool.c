/* tests/unit/test_worker_pool.c -- tasks over processes: results, all kinds of failure, a stop, nothing left behind. */
#include "tests/support/test.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/worker_pool.h"

/* ---- fork, made to fail ---- */

static int forks_before_failure = -1; /* -1: it never fails */
static bool fails_once;

pid_t fork(void);
pid_t fork(void)
{
    if (forks_before_failure == 0) {
        if (fails_once)
            forks_before_failure = -1;
        errno = EAGAIN;
        return -1;
    }
    if (forks_before_failure > 0)
        forks_before_failure--;
    return _Fork();
}

/* ---- what the parent keeps ---- */

enum { TASKS_MAX = 200 };

struct kept {
    char *bytes[TASKS_MAX], *failure[TASKS_MAX], *said[TASKS_MAX]; /* failure NULL: done */
    int status[TASKS_MAX];
    size_t calls[TASKS_MAX], call_count, stop_after;
    volatile sig_atomic_t stop;
};

static char *copy(const char *bytes, size_t length)
{
    char *text = mem_alloc(length + 1);
    if (length > 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

static void keep(void *self, const struct worker_result *result)
{
    struct kept *kept = self;
    assert_true(result->index < TASKS_MAX);
    kept->calls[result->index]++;
    kept->status[result->index] = result->status;
    kept->call_count++;
    kept->bytes[result->index] = copy(result->bytes.at, result->bytes.length);
    kept->said[result->index] = copy(result->said, strlen(result->said));
    kept->failure[result->index] = result->is_done ? NULL : copy(result->failure, strlen(result->failure));
    if (kept->call_count == kept->stop_after)
        kept->stop = SIGINT;
}

static void forget(struct kept *kept)
{
    for (size_t i = 0; i < TASKS_MAX; i++) {
        mem_free(kept->bytes[i]);
        mem_free(kept->failure[i]);
        mem_free(kept->said[i]);
    }
    *kept = (struct kept){0};
}

static size_t descriptor_count(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Run the tasks; nothing may be left behind. */
static void run(struct kept *kept, struct error (*task)(void *, size_t, struct buffer *), size_t task_count,
                size_t worker_count)
{
    const size_t descriptors = descriptor_count();
    struct worker_pool pool = {.task_count = task_count,
                               .worker_count = worker_count,
                               .run = task,
                               .on_done = keep,
                               .self = kept,
                               .stop = &kept->stop};
    struct error error = worker_pool_run(&pool);
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
    assert_int_equal(descriptor_count(), descriptors);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, dead or alive */
    assert_int_equal(errno, ECHILD);
}

/* ---- tasks ---- */

static struct error write_square(void *self, size_t index, struct buffer *out)
{
    (void)self;
    buffer_format(out, "%zu", index * index);
    return ERROR_OK;
}

TEST(test_results)
{
    static const size_t worker_counts[] = {1, 2, 7, 300};
    for (size_t w = 0; w < sizeof worker_counts / sizeof *worker_counts; w++) {
        struct kept kept = {0};
        run(&kept, write_square, TASKS_MAX, worker_counts[w]);
        for (size_t i = 0; i < TASKS_MAX; i++) {
            struct buffer expected = {0};
            write_square(NULL, i, &expected); /* as in one process */
            assert_int_equal(kept.calls[i], 1);
            assert_null(kept.failure[i]);
            assert_string_equal(kept.bytes[i], buffer_c_string(&expected));
            assert_string_equal(kept.said[i], "");
            buffer_release(&expected);
        }
        forget(&kept);
    }
}

TEST(test_no_task)
{
    struct kept kept = {0};
    run(&kept, write_square, 0, 2);
    assert_int_equal(kept.call_count, 0);
}

/* Far more than a pipe holds, from many at once. */
static struct error write_much(void *self, size_t index, struct buffer *out)
{
    (void)self;
    for (size_t i = 0; i < 300000; i++)
        buffer_format(out, "%zu,", (i * 31 + index) % 1000);
    return ERROR_OK;
}

TEST(test_much)
{
    struct kept kept = {0};
    run(&kept, write_much, 6, 3);
    for (size_t i = 0; i < 6; i++) {
        struct buffer expected = {0};
        write_much(NULL, i, &expected);
        assert_null(kept.failure[i]);
        assert_string_equal(kept.bytes[i], buffer_c_string(&expected));
        buffer_release(&expected);
    }
    forget(&kept);
}

/* Memory that a child changes is its own. */
static int touched;

static struct error touch(void *self, size_t index, struct buffer *out)
{
    (void)self;
    touched += (int)index + 1;
    buffer_int(out, touched);
    return ERROR_OK;
}

TEST(test_memory_is_apart)
{
    struct kept kept = {0};
    run(&kept, touch, 3, 1);
    assert_string_equal(kept.bytes[2], "3");
    assert_int_equal(touched, 0);
    forget(&kept);
}

static struct error read_input(void *self, size_t index, struct buffer *out)
{
    (void)self;
    (void)index;
    buffer_int(out, getchar());
    return ERROR_OK;
}

TEST(test_input_is_empty)
{
    struct kept kept = {0};
    run(&kept, read_input, 1, 1);
    assert_string_equal(kept.bytes[0], "-1");
    forget(&kept);
}

/* ---- failures ---- */

static const struct {
    const char *failure, *said;
} failures[] = {
    {NULL, ""},
    {"signal 6 (Aborted)", "before the abort"},
    {"signal 9 (Killed): killed from outside, perhaps because memory ran out", ""},
    {"exit with status 3 before the end", "a line\n"},
    {"exit with status 0 before the end", ""},
    {"trace.csv:3:7: bad number", ""},
    {"exit with status 5 before the end: out of memory (18446744073709551615 bytes wanted)",
     "error: out of memory (18446744073709551615 bytes wanted)\n"},
    {NULL, "a word"},
};
enum { FAILURE_COUNT = sizeof failures / sizeof *failures };

static void exhausted(size_t bytes)
{
    fprintf(stderr, "error: out of memory (%zu bytes wanted)\n", bytes);
    _exit(5);
}

static struct error fail_somehow(void *self, size_t index, struct buffer *out)
{
    (void)self;
    buffer_string(out, "half");
    switch (index) {
    case 1:
        fputs("before the abort", stderr);
        abort();
    case 2:
        kill(getpid(), SIGKILL);
        break;
    case 3:
        puts("a line");
        exit(3);
    case 4:
        exit(0);
    case 5:
        return error_at(ERROR_DATA, "trace.csv", 3, 7, "bad number");
    case 6:
        mem_on_exhausted(exhausted);
        mem_zalloc(SIZE_MAX, 2); /* overflows */
        break;
    case 7:
        fputs("a word", stdout);
        break;
    default:
        break;
    }
    return ERROR_OK;
}

TEST(test_failures)
{
    for (size_t workers = 1; workers <= 4; workers++) {
        struct kept kept = {0};
        run(&kept, fail_somehow, FAILURE_COUNT, workers);
        for (size_t i = 0; i < FAILURE_COUNT; i++) {
            assert_int_equal(kept.calls[i], 1);
            assert_string_equal(kept.said[i], failures[i].said);
            if (failures[i].failure == NULL) {
                assert_null(kept.failure[i]);
                assert_string_equal(kept.bytes[i], "half");
            } else {
                assert_non_null(kept.failure[i]);
                assert_string_equal(kept.failure[i], failures[i].failure);
                assert_string_equal(kept.bytes[i], "");
            }
        }
        forget(&kept);
    }
}

/* Endless talk is cut, and does not keep the others waiting. */
static struct error talk(void *self, size_t index, struct buffer *out)
{
    (void)self;
    for (int i = 0; index == 0 && i < 100000; i++)
        fputs("blah blah ", stderr);
    buffer_int(out, 7);
    return ERROR_OK;
}

TEST(test_talk)
{
    struct kept kept = {0};
    run(&kept, talk, 2, 2);
    assert_int_equal(strlen(kept.said[0]), WORKER_SAID_BYTES_MAX);
    assert_string_equal(kept.bytes[0], "7");
    assert_string_equal(kept.bytes[1], "7");
    forget(&kept);
}

/* A process that the task started holds the streams open; it is not waited for. */
static struct error leave_process(void *self, size_t index, struct buffer *out)
{
    (void)self;
    (void)index;
    if (system("sleep 30 &") != 0)
        return error_new(ERROR_INTERNAL, "no shell");
    buffer_int(out, 7);
    return ERROR_OK;
}

TEST(test_process_left)
{
    struct kept kept = {0};
    alarm(10);
    run(&kept, leave_process, 1, 1);
    alarm(0);
    assert_string_equal(kept.bytes[0], "7");
    forget(&kept);
}

/* ---- a stop ---- */

static struct error wait_or_square(void *self, size_t index, struct buffer *out)
{
    if (index >= 5)
        sleep(30);
    return write_square(self, index, out);
}

TEST(test_stop)
{
    struct kept kept = {.stop_after = 5};
    alarm(10); /* those that wait are not waited for */
    run(&kept, wait_or_square, 50, 3);
    alarm(0);
    assert_int_equal(kept.call_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_null(kept.failure[i]);
    forget(&kept);
}

static void on_signal(int number)
{
    (void)number;
}

static struct error raise_term(void *self, size_t index, struct buffer *out)
{
    if (index == 1)
        raise(SIGTERM); /* the parent's handler would let it go on */
    return write_square(self, index, out);
}

TEST(test_signal_of_a_child)
{
    struct kept kept = {0};
    signal(SIGTERM, on_signal);
    run(&kept, raise_term, 3, 2);
    signal(SIGTERM, SIG_DFL);
    assert_string_equal(kept.failure[1], "signal 15 (Terminated)");
    assert_string_equal(kept.bytes[2], "4");
    forget(&kept);
}

/* ---- no process ---- */

/* ---- slots, and how a process ended ---- */

static size_t slot_of_child; /* SIZE_MAX: on_start was not called */

static void take_slot(void *self, size_t slot)
{
    (void)self;
    slot_of_child = slot;
}

static struct error write_slot(void *self, size_t index, struct buffer *out)
{
    (void)self;
    buffer_int(out, (int64_t)slot_of_child);
    if (index == 4)
        raise(SIGALRM);
    return index == 5 ? error_new(ERROR_DATA, "bad") : ERROR_OK;
}

TEST(test_slots)
{
    struct kept kept = {0};
    slot_of_child = SIZE_MAX;
    const struct worker_pool pool = {
        .task_count = 6, .worker_count = 3, .on_start = take_slot, .run = write_slot, .on_done = keep, .self = &kept};
    struct error error = worker_pool_run(&pool);
    assert_false(error_is(error));
    bool seen[3] = {0};
    for (size_t i = 0; i < 3; i++) { /* these run at the same time, or take a slot that is free again */
        const int slot = kept.bytes[i][0] - '0';
        assert_true(slot >= 0 && slot < 3);
        seen[slot] = true;
        assert_int_equal(kept.status[i], 0);
    }
    assert_true(seen[0]);
    assert_int_equal(slot_of_child, SIZE_MAX); /* of this process nothing changed */
    assert_true(WIFSIGNALED(kept.status[4]) && WTERMSIG(kept.status[4]) == SIGALRM);
    assert_non_null(kept.failure[4]);
    assert_int_equal(kept.status[5], 0); /* it ended well, and hands back an error */
    assert_non_null(kept.failure[5]);
    forget(&kept);
}

TEST(test_no_fork)
{
    struct kept kept = {0};
    forks_before_failure = 0;
    run(&kept, write_square, 3, 2);
    forks_before_failure = -1;
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(kept.failure[i], "cannot start a process: Resource temporarily unavailable");
    assert_int_equal(kept.status[0], WORKER_NOT_STARTED);
    forget(&kept);
}

/* Where another one runs, the task waits for its end. */
TEST(test_fork_again)
{
    struct kept kept = {0};
    forks_before_failure = 1;
    fails_once = true;
    run(&kept, write_square, 5, 2);
    forks_before_failure = -1;
    fails_once = false;
    for (size_t i = 0; i < 5; i++)
        assert_null(kept.failure[i]);
    forget(&kept);
}
