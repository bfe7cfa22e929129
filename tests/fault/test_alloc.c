/* Every allocation of a run fails in turn: the run says so and ends, or carries on as if nothing were; it never
 * crashes, and never leaves a file under its final name that is not whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"
#include "tools/verbs.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#ifndef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 1
#endif

#if HAS_OWN_MALLOC
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t bytes);

/* The allocations of this process from the moment it counts, and those that fail.  Volatile: the compiler takes malloc
 * for one that reads nothing of ours. */
static volatile bool is_counting;
static volatile long allocation_count;
static volatile long failing_first = -1, failing_last = -1;

static bool must_fail(void)
{
    if (!is_counting)
        return false;
    long number = allocation_count++;
    return number >= failing_first && number <= failing_last;
}

void *malloc(size_t bytes)
{
    return must_fail() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t bytes)
{
    return must_fail() ? NULL : __libc_realloc(block, bytes);
}

/* The plots cost a hundred times the run, and a page without them is whole: gnuplot is not to be had here. */
int access(const char *path, int mode)
{
    return strstr(path, "gnuplot") != NULL ? -1 : faccessat(AT_FDCWD, path, mode, 0);
}

/* ---- one run ---- */

enum { FILE_PAGE = 3, FILE_RESULT, FILE_COUNT };
enum { RUNS_SMALL = 1500 };

static const char *const file_names[FILE_COUNT] = {"jobs.csv.zst", "attempts.csv.zst", "timeline.csv.zst",
                                                   "report.html", "result.json"};

static const char cluster_text[] =
    "{\"name\": \"four\", \"pools\": [{\"name\": \"h100\", \"nodes\": 4, \"gpus_per_node\": 8,"
    " \"gpu_model\": \"h100-80gb\"}]}";
static const char trace_text[] = "job_id,submit_s,duration_s,gpus,queue,user\n"
                                 "a,0,60,8,red,ann\n"
                                 "b,10,600,32,blue,bob\n"
                                 "c,20,600,33,blue,bob\n";
static const char scenario_text[] = "{\"cluster\": \"four.json\", \"workload\": {\"trace\": \"jobs.csv\"},"
                                    " \"policy\": {\"preset\": \"windtunnel\"}}";

static void on_exhausted(size_t bytes)
{
    (void)bytes;
    _exit(5);
}

/* The whole of `windtunnel run SCENARIO --out record` in this process; how many allocations it took goes to `pipe_fd`.
 */
static void run_and_exit(const char *scenario, const char *folder, int pipe_fd)
{
    static char out_option[] = "--out", set_option[] = "--set", set[] = "world.end=1h";
    char *arguments[] = {mem_copy_text(scenario), out_option, mem_copy_text(folder), set_option, set, NULL};
    int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(99);
    mem_on_exhausted(on_exhausted);
    json_set_alloc_funcs(mem_alloc, mem_free);
    tool_set_arguments(arguments);
    is_counting = true;
    struct args *args;
    struct error error = args_parse(&args, &verb_run, 5, arguments);
    int status = error_is(error) ? tool_fail(&error) : verb_run.run(args);
    is_counting = false;
    long count = allocation_count;
    if (write(pipe_fd, &count, sizeof count) != sizeof count)
        _exit(99);
    _exit(status);
}

/* Run with the allocations first..last failing; its wait status, and the number of allocations if it came to an end. */
static int run_child(const char *scenario, const char *folder, long first, long last, long *count)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        failing_first = first;
        failing_last = last;
        run_and_exit(scenario, folder, ends[1]);
    }
    close(ends[1]);
    *count = 0;
    if (read(ends[0], count, sizeof *count) != sizeof *count)
        *count = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* ---- what it left ---- */

static const char *file_path(const char *folder, int which)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, file_names[which]);
    return path;
}

/* Why there is no drawing may get lost with the message's own allocation. */
static void forget_reasons(struct buffer *page)
{
    char *at = page->bytes;
    while ((at = strstr(at, "No drawing: ")) != NULL) {
        at += strlen("No drawing: ");
        char *end = strstr(at, ". The table");
        assert_non_null(end);
        memmove(at, end, strlen(end) + 1);
    }
    page->length = strlen(page->bytes);
}

/* The file's bytes that depend neither on the host nor on memory. */
static struct buffer file_bytes(const char *folder, int which)
{
    struct buffer bytes = scratch_read(file_path(folder, which));
    const char *host = strstr(buffer_c_string(&bytes), "\n\"host\": {");
    if (which == FILE_PAGE) {
        forget_reasons(&bytes);
    } else if (which == FILE_RESULT) {
        assert_non_null(host);
        assert_int_equal(memcmp(bytes.bytes + bytes.length - 2, "}\n", 2), 0);
        bytes.length = (size_t)(host - bytes.bytes);
    }
    return bytes;
}

/* All files or none; those that are there hold what the undisturbed run wrote. */
static void check_folder(const struct buffer whole[FILE_COUNT], bool must_be_there, long first)
{
    int present = 0;
    if (scratch_exists("record")) {
        for (int f = 0; f < FILE_COUNT; f++)
            present += scratch_exists(file_path("record", f));
        if (scratch_count("record") != (size_t)present)
            fail_msg("allocation %ld failed: other files were left", first);
    }
    if (present != FILE_COUNT && (present != 0 || must_be_there))
        fail_msg("allocation %ld failed: %d of %d files", first, present, FILE_COUNT);
    for (int f = 0; f < present; f++) {
        struct buffer bytes = file_bytes("record", f);
        if (bytes.length != whole[f].length || memcmp(bytes.bytes, whole[f].bytes, bytes.length) != 0)
            fail_msg("allocation %ld failed: %s is not whole", first, file_names[f]);
        buffer_release(&bytes);
        assert_int_equal(unlink(scratch_path(file_path("record", f))), 0);
    }
}

static void check_run(const char *scenario, const char *folder, const struct buffer whole[FILE_COUNT], long first,
                      long last)
{
    long count;
    int status = run_child(scenario, folder, first, last, &count);
    if (!WIFEXITED(status))
        fail_msg("allocation %ld failed: ended by signal %d", first, WTERMSIG(status));
    int code = WEXITSTATUS(status);
    if (code != 0 && code != 4 && code != 5)
        fail_msg("allocation %ld failed: exit status %d", first, code);
    check_folder(whole, code == 0, first);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    struct buffer whole[FILE_COUNT];
    long count, unused;
    scratch_write("four.json", cluster_text, strlen(cluster_text));
    scratch_write("jobs.csv", trace_text, strlen(trace_text));
    const char *scenario = scratch_write("scenario.json", scenario_text, strlen(scenario_text));
    const char *folder = scratch_path("record");
    assert_int_equal(run_child(scenario, folder, -1, -1, &count), 0);
    assert_in_range(count, 100, 1000000);
    for (int f = 0; f < FILE_COUNT; f++)
        whole[f] = file_bytes("record", f);
    check_folder(whole, true, -1);

    long step = test_is_full() ? 1 : count / RUNS_SMALL + 1;
    for (long first = 0; first < count; first += step)
        check_run(scenario, folder, whole, first, first);
    for (long first = 0; first < count; first += 4 * step) /* from then on, memory stays out */
        check_run(scenario, folder, whole, first, INT32_MAX);
    assert_int_equal(run_child(scenario, folder, count, INT32_MAX, &unused), 0);
    check_folder(whole, true, count);
    for (int f = 0; f < FILE_COUNT; f++)
        buffer_release(&whole[f]);
    print_message("%ld allocations, one in %ld failed\n", count, step);
}
#else
static void test_every_allocation_fails(void **state)
{
    (void)state;
    print_message("skipped: the sanitizer has the allocator\n");
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
