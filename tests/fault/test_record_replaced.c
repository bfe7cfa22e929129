/* A run replaces the record of another and is killed before any of its system calls, or the call fails: what is read
 * from the folder afterwards is of the one run or of the other, or an error that says that it is no whole record.  The
 * next run into the folder succeeds and leaves nothing but its record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "reports/record_read.h"
#include "reports/values.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"
#include "tools/verbs.h"

/* ---- system calls ---- */

static volatile bool is_counting;
static volatile long call_count, chosen = -1;
static volatile int reason; /* of the failure; 0: killed instead */
static volatile bool has_no_tmpfile;

static bool must_fail(void)
{
    if (!is_counting || call_count++ != chosen)
        return false;
    if (reason == 0)
        raise(SIGKILL);
    errno = reason;
    return true;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (has_no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return must_fail() ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return must_fail() ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int file, void *bytes, size_t length)
{
    return must_fail() ? -1 : syscall(SYS_read, file, bytes, length);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    return must_fail() ? -1 : syscall(SYS_write, file, bytes, length);
}

/* The power does not fail here, and the disk is slow. */
int fsync(int file)
{
    (void)file;
    return must_fail() ? -1 : 0;
}

int flock(int file, int operation)
{
    return must_fail() ? -1 : (int)syscall(SYS_flock, file, operation);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return must_fail() ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return must_fail() ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

int unlinkat(int folder, const char *path, int flags)
{
    return must_fail() ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int close(int file)
{
    const int status = (int)syscall(SYS_close, file); /* as Linux does, whatever it returns */
    return must_fail() ? -1 : status;
}

/* The plots cost a hundred times the run, and a page without them is whole: gnuplot is not to be had here. */
int access(const char *path, int mode)
{
    return strstr(path, "gnuplot") != NULL ? -1 : faccessat(AT_FDCWD, path, mode, 0);
}

/* ---- runs ---- */

static const char cluster_text[] = "{\"name\": \"four\", \"pools\": [{\"name\": \"h100\", \"nodes\": 4,"
                                   " \"gpus_per_node\": 8, \"gpu_model\": \"h100-80gb\"}]}";
static const char trace_text[] = "job_id,submit_s,duration_s,gpus,queue,user\n"
                                 "a,0,60,8,red,ann\n"
                                 "b,10,600,32,blue,bob\n"
                                 "c,20,600,17,blue,bob\n";
static const char scenario_text[] = "{\"cluster\": \"four.json\", \"workload\": {\"trace\": \"jobs.csv\"},"
                                    " \"policy\": {\"preset\": \"windtunnel\"}}";

static const char *scenario, *folder;

struct call_fault {
    long call; /* -1: none */
    int reason;
};

/* `windtunnel run SCENARIO --out record --set ...` in a process of its own; its wait status.  calls: how many it made,
 * if it was not killed; may be NULL. */
static int run(const char *set, struct call_fault fault, long *calls)
{
    static char out_option[] = "--out", set_option[] = "--set", quiet[] = "--quiet", events[] = "--events";
    char *arguments[] = {mem_copy_text(scenario),
                         out_option,
                         mem_copy_text(folder),
                         set_option,
                         mem_copy_text(set),
                         quiet,
                         events,
                         NULL};
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
            _exit(99);
        struct args *args;
        tool_set_arguments(arguments);
        chosen = fault.call;
        reason = fault.reason;
        is_counting = true;
        struct error error = args_parse(&args, tool_verbs[0], 7, arguments);
        const int code = error_is(error) ? tool_fail(&error) : verb_run(args);
        is_counting = false;
        const long made = call_count;
        if (write(ends[1], &made, sizeof made) != sizeof made)
            _exit(99);
        _exit(code);
    }
    close(ends[1]);
    long made = 0;
    if (read(ends[0], &made, sizeof made) != sizeof made)
        made = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    for (size_t i = 0; arguments[i] != NULL; i++)
        if (i == 0 || i == 2 || i == 4)
            mem_free(arguments[i]);
    if (calls != NULL)
        *calls = made;
    return status;
}

/* ---- what is read from the folder ---- */

static void forget(struct error *error)
{
    char *text = error_text_new(error);
    if (strstr(text, "is a broken record") == NULL && strstr(text, "result.json: No such file") == NULL)
        fail_msg("the record is refused for another reason: %s", text);
    free(text);
    error_release(error);
}

/* The metrics as computed from the rows; empty: an error said that it is no record. */
static struct buffer metrics_of_rows(void)
{
    struct buffer text = {0};
    struct metrics *metrics = metrics_new();
    const struct record_sink sink = metrics_sink(metrics);
    struct error error = record_read(folder, &sink);
    if (error_is(error)) {
        forget(&error);
    } else {
        metrics_finish(metrics);
        metrics_write_json(metrics, &text);
    }
    metrics_free(metrics);
    return text;
}

struct told {
    char fingerprint[17]; /* "" : an error said that it is no record */
    struct buffer metrics;
};

static struct told read_folder(void)
{
    struct told told = {.metrics = metrics_of_rows()};
    struct values values;
    struct error error = values_read(&values, folder);
    if (error_is(error)) {
        forget(&error);
    } else {
        snprintf(told.fingerprint, sizeof told.fingerprint, "%s", values.result.manifest.fingerprint);
        values_release(&values);
    }
    return told;
}

static bool is_same(const struct told *a, const struct told *b)
{
    return strcmp(a->fingerprint, b->fingerprint) == 0 && a->metrics.length == b->metrics.length &&
           memcmp(a->metrics.bytes, b->metrics.bytes, a->metrics.length) == 0;
}

/* ---- tests ---- */

struct tally {
    long calls, old, new, none;
};

static void check(const struct told *old, const struct told *new, struct call_fault fault, struct tally *tally)
{
    struct told told = read_folder();
    if (is_same(&told, old))
        tally->old++;
    else if (is_same(&told, new))
        tally->new ++;
    else if (told.fingerprint[0] == '\0' && told.metrics.length == 0)
        tally->none++;
    else
        fail_msg("system call %ld, reason %d: the folder tells of neither run", fault.call, fault.reason);
    buffer_release(&told.metrics);
}

static void must_run(const char *set)
{
    assert_int_equal(run(set, (struct call_fault){.call = -1}, NULL), 0);
    assert_int_equal(scratch_count("record"), 6); /* the record alone, whatever was left there */
}

/* Each call in turn, or one in `step`. */
static struct tally try_all(int why, long step)
{
    struct tally tally = {0};
    must_run("world.end=1h");
    struct told old = read_folder();
    must_run("world.end=5m");
    struct told new = read_folder();
    assert_false(is_same(&old, &new));
    for (long call = 0;; call += step) {
        const struct call_fault fault = {.call = call, .reason = why};
        long made;
        must_run("world.end=1h");
        const int status = run("world.end=5m", fault, &made);
        if (why != 0 && (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 4)))
            fail_msg("system call %ld failed with %s: wait status %d", call, strerror(why), status);
        check(&old, &new, fault, &tally);
        if (WIFEXITED(status) && made <= call)
            break;
        tally.calls++;
    }
    buffer_release(&old.metrics);
    buffer_release(&new.metrics);
    return tally;
}

static void files_write(void)
{
    scratch_write("four.json", cluster_text, strlen(cluster_text));
    scratch_write("jobs.csv", trace_text, strlen(trace_text));
    scenario = mem_copy_text(scratch_write("scenario.json", scenario_text, strlen(scenario_text)));
    folder = mem_copy_text(scratch_path("record"));
}

static void test_killed_before_every_call(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        has_no_tmpfile = i == 1;
        const struct tally tally = try_all(0, 1);
        print_message("killed before each of %ld system calls: %ld old, %ld new, %ld no record\n", tally.calls,
                      tally.old, tally.new, tally.none);
        assert_true(tally.old > 10 && tally.new > 0 && tally.none > 5);
    }
    has_no_tmpfile = false;
}

static void test_every_call_fails(void **state)
{
    (void)state;
    const struct tally tally = try_all(EIO, 1);
    print_message("each of %ld system calls failed: %ld old, %ld new, %ld no record\n", tally.calls, tally.old,
                  tally.new, tally.none);
    assert_true(tally.old > 10 && tally.new > 0 && tally.none > 0);
}

static int set_up(void **state)
{
    const int status = scratch_make(state);
    if (status == 0)
        files_write();
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_before_every_call),
        cmocka_unit_test(test_every_call_fails),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
