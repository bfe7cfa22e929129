/* tests/fault/test_verbs.c -- on a small scenario of each verb, each call that a process makes fails in turn: memory,
 * files, pipes, processes.  The answer is right, or there is one message that names the failure and an exit status that
 * is documented; nothing leaks, nothing crashes, and no file stands under its final name that is not whole. */
#include "tests/support/test.h"
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>

#include "base/input.h"
#include "base/mem.h"
#include "tests/support/failing_calls.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"

#define WINDTUNNEL_VERSION "of the tests"
#define main               windtunnel_main
#include "tools/main.c"
#undef main

enum {
    ARGUMENTS_MAX = 24,
    /* The points of a scene at which one call fails in one way, spread evenly: all at full sizes, but for allocations,
     * which are many; else one of a scene that takes long. */
    POINTS_SMALL = 2,
    ALLOCATIONS_SMALL = 4,
    ALLOCATIONS_SMALL_ALL = 50, /* of a scene that fails all at full sizes */
    ALLOCATIONS_FULL = 300,
    HANG_S = 60, /* far more than any scene takes */
    FILES_MAX = 64,
    BYTES_MAX = 4 << 20,
};

/* ---- what is run ---- */

static const char *program; /* the built windtunnel: what `run --scheduler` and `compare --rerun-base` start */

struct scene {
    const char *name;
    const char *arguments[ARGUMENTS_MAX];
    const char *input;          /* file of standard input */
    bool has_record;            /* out/rec is a record */
    bool draws;                 /* as if gnuplot were there */
    bool fails_all_allocations; /* at full sizes, one after the other */
    bool is_long;
};

/* "PROGRAM" stands for the program's path, SCHEDULER for a command that decides. */
#define OUT "--quiet", "--out", "out/rec"
static const struct scene scenes[] = {
    {.name = "run",
     .arguments = {"run", "s.json", OUT, "--events", "--set", "world.end=1h"},
     .fails_all_allocations = true},
    {.name = "run, replaces", .arguments = {"run", "s.json", OUT, "--set", "world.end=1h"}, .has_record = true},
    {.name = "run, draws", .arguments = {"run", "s.json", OUT}, .draws = true},
    {.name = "run --scheduler", .arguments = {"run", "s.json", OUT, "--scheduler", "SCHEDULER"}},
    {.name = "compare",
     .arguments = {"compare", "--scenario", "s.json", "-p", "fifo", "-p", "windtunnel", "--seeds", "2", "--shake", "5m",
                   "--jobs", "1", "--quiet", "--out", "out/cmp", "--write", "junit=out/j.xml"},
     .is_long = true},
    {.name = "compare --save-baseline",
     .arguments = {"compare", "s.json", "--seeds", "1", "--quiet", "--save-baseline", "out/base.json"}},
    {.name = "compare records", .arguments = {"compare", "rec", "old/rec", "--write", "json=out/c.json"}},
    {.name = "compare --rerun-base",
     .arguments = {"compare", "--scenario", "s.json", "-p", "fifo", "-p", "windtunnel", "--seeds", "1", "--quiet",
                   "--no-why", "--rerun-base", "PROGRAM"},
     .is_long = true},
    {.name = "sweep plan", .arguments = {"sweep", "plan", "sweep.json", "--out", "out/sw"}},
    {.name = "sweep run",
     .arguments = {"sweep", "run", "sweep.json", "--out", "out/sw", "--jobs", "1", "--no-bind", "--quiet"}},
    {.name = "sweep merge", .arguments = {"sweep", "merge", "sw", "--out", "out/runs.csv"}},
    {.name = "sweep merge sqlite", .arguments = {"sweep", "merge", "sw", "--to", "sqlite", "--out", "out/runs.db"}},
    {.name = "sweep report", .arguments = {"sweep", "report", "sw", "--out", "out/page.html"}},
    {.name = "validate", .arguments = {"validate", "s.json"}},
    {.name = "validate-model", .arguments = {"validate-model"}},
    {.name = "validate-model --fit-fabric", .arguments = {"validate-model", "--fit-fabric", "nccl.txt"}},
    {.name = "report", .arguments = {"report", "rec", "--json"}},
    {.name = "bundle", .arguments = {"bundle", "rec", "--trust", "rec", "--out", "out/rec.json.zst"}},
    {.name = "reproduce", .arguments = {"reproduce", "old/rec.json", OUT}},
    {.name = "report --html", .arguments = {"report", "out/rec", "--html"}, .has_record = true},
    {.name = "report --figure",
     .arguments = {"report", "rec", "--figure", "timeline", "--svg", "out/timeline.svg"},
     .draws = true},
    {.name = "topology show", .arguments = {"topology", "show", "four.json"}},
    {.name = "topology mig", .arguments = {"topology", "mig", "h100"}},
    {.name = "policy list", .arguments = {"policy", "list"}},
    {.name = "policy show", .arguments = {"policy", "show", "kai"}},
    {.name = "trace info", .arguments = {"trace", "info", "jobs.csv"}},
    {.name = "trace info --html", .arguments = {"trace", "info", "jobs.csv", "--html", "out/jobs.html"}, .draws = true},
    {.name = "trace validate", .arguments = {"trace", "validate", "jobs.csv"}},
    {.name = "trace convert", .arguments = {"trace", "convert", "jobs.csv", "--out", "out/jobs.swf.zst"}},
    {.name = "trace freeze", .arguments = {"trace", "freeze", "s.json", "--out", "out/jobs.jsonl.zst"}},
    {.name = "trace fit", .arguments = {"trace", "fit", "jobs.csv", "--out", "out/fitted.json"}},
    {.name = "trace synth", .arguments = {"trace", "synth", "model.json", "--jobs", "9", "--out", "out/j.csv.zst"}},
    {.name = "trace compare",
     .arguments = {"trace", "compare", "jobs.csv", "jobs.csv", "--html", "out/two.html"},
     .draws = true},
    {.name = "case", .arguments = {"case", "case.json"}},
    {.name = "decide", .arguments = {"decide", "--describe", "out/state"}, .input = "events"},
    {.name = "decide --check", .arguments = {"decide", "rec/events.jsonl.zst", "--check"}},
    {.name = "explain", .arguments = {"explain", "s.json", "--at", "5m", "--all", "--quiet"}},
    {.name = "explain record", .arguments = {"explain", "rec", "c"}},
    {.name = "metrics", .arguments = {"metrics"}},
    {.name = "export sqlite", .arguments = {"export", "rec", "--to", "sqlite", "--out", "out/run.db"}},
    {.name = "export csv", .arguments = {"export", "rec", "--to", "csv", "--out", "out/csv"}},
    {.name = "export perfetto", .arguments = {"export", "rec", "--to", "perfetto"}},
    {.name = "schema", .arguments = {"schema", "gates"}},
    {.name = "completion", .arguments = {"completion", "bash"}},
    {.name = "help", .arguments = {"help", "--man"}},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

static const char cluster_text[] = "{'name': 'four', 'pools': [{'name': 'h100', 'nodes': 4, 'gpus_per_node': 8,"
                                   " 'gpu_model': 'h100-80gb'}]}";
static const char scenario_text[] = "{'cluster': 'four.json', 'workload': {'trace': 'jobs.csv'},"
                                    " 'policy': {'preset': 'windtunnel'}}";
static const char trace_text[] = "job_id,submit_s,duration_s,gpus,queue,user\n"
                                 "a,0,60,8,red,ann\n"
                                 "b,10,600,32,blue,bob\n"
                                 "c,20,600,32,blue,bob\n"
                                 "d,30,600,33,blue,bob\n";
static const char nccl_text[] =
    "# all_reduce_perf\n# nThread 1\n"
    "# Rank 0 Pid 1 on a device 0\n# Rank 1 Pid 2 on b device 0\n# size time algbw busbw\n"
    "1048576 100 10.5 10.5\n4194304 200 21.0 21.0\n16777216 600 28.0 28.0\n67108864 2100 32.0 32.0\n"
    "268435456 8000 33.6 33.6\n";
static const char sweep_text[] = "{'scenario': 's.json',"
                                 " 'factors': [{'path': 'policy.preset', 'values': ['fifo', 'kai']}]}";
static const char model_text[] =
    "{'workload_model': 1, 'streams': [{'name': 'a', 'arrivals': {'jobs_per_day': 50, 'days': {'factors': [1, 2]}},"
    " 'users': {'count': 3}, 'kinds': [{'gpus': 1, 'run_time': {'distribution': 'exponential', 'mean': 60}}]}]}";
/* As PLOT_OUTPUT_FILE of reports/plot_script.h. */
static const char gnuplot_text[] = "#!/bin/sh\necho '<svg><g></g></svg>' >plot.svg\n";

/* ---- one run ---- */

struct told { /* by the process at its end */
    bool is_over;
    int files_left, children_left;
    long blocks_left;
};
static struct told *told;

static int open_files(void)
{
    int count = 0;
    for (int file = 0; file < 256; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

static void take_stream(int stream, const char *path, int flags)
{
    const int file = open(path, flags, 0644);
    if (file < 0 || dup2(file, stream) < 0)
        _exit(99);
    close(file);
}

static const char *argument_of(const char *text)
{
    static char scheduler[PATH_MAX + 32];
    if (strcmp(text, "PROGRAM") == 0)
        return program;
    if (strcmp(text, "SCHEDULER") != 0)
        return text;
    snprintf(scheduler, sizeof scheduler, "exec '%s' decide 2>/dev/null", program);
    return scheduler;
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};

/* The command in this process.  Its streams are files of the folder. */
static void be_windtunnel(const struct scene *scene)
{
    char name[] = "windtunnel";
    char *arguments[ARGUMENTS_MAX + 2] = {name};
    int count = 1;
    for (; count <= ARGUMENTS_MAX && scene->arguments[count - 1] != NULL; count++)
        arguments[count] = (char *)(uintptr_t)argument_of(scene->arguments[count - 1]);
    take_stream(STDIN_FILENO, scene->input != NULL ? scene->input : "/dev/null", O_RDONLY);
    take_stream(STDOUT_FILENO, "said.out", O_WRONLY | O_CREAT | O_TRUNC);
    take_stream(STDERR_FILENO, "said.err", O_WRONLY | O_CREAT | O_TRUNC);
    failing_gnuplot = scene->draws ? scratch_path("gnuplot") : NULL;
    failing_stdout();
    for (size_t c = 0; c < sizeof crashes / sizeof crashes[0]; c++)
        signal(crashes[c], SIG_DFL); /* cmocka has handlers of its own */
    alarm(HANG_S);
    const int files = open_files();
    failing_is_on = true;
    const int status = windtunnel_main(count, arguments);
    failing_is_on = false;
    *told = (struct told){.is_over = true,
                          .files_left = open_files() - files,
                          .children_left = syscall(SYS_wait4, -1, NULL, WNOHANG, NULL) >= 0,
                          .blocks_left = failing_blocks};
    exit(status);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

static const char *const record_files[] = {"result.json", "jobs.csv.zst", "attempts.csv.zst", "timeline.csv.zst",
                                           "report.html"};

static void prepare(const struct scene *scene)
{
    char from[64], to[64];
    nftw("out", remove_one, 16, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(mkdir("out", 0755), 0);
    if (!scene->has_record)
        return;
    assert_int_equal(mkdir("out/rec", 0755), 0);
    for (size_t f = 0; f < sizeof record_files / sizeof record_files[0]; f++) {
        snprintf(from, sizeof from, "old/rec/%s", record_files[f]);
        snprintf(to, sizeof to, "out/rec/%s", record_files[f]);
        assert_int_equal(link(from, to), 0);
    }
}

/* Its wait status; what it said is in said.out and said.err. */
static int run(const struct scene *scene, struct failing_point point)
{
    int status;
    prepare(scene);
    memset(told, 0, sizeof *told);
    failing_set(point);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        be_windtunnel(scene);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static const struct failing_point no_point = {.nth = -1};

/* ---- what it left ---- */

static struct buffer file_bytes(const char *path)
{
    struct buffer bytes = {0};
    char *text;
    size_t length;
    assert_false(error_is(input_read_all(path, BYTES_MAX, &text, &length)));
    buffer_bytes(&bytes, text, length);
    buffer_c_string(&bytes);
    mem_free(text);
    return bytes;
}

struct file {
    char path[128];
    struct buffer bytes; /* without what depends on host and time */
};

struct left { /* by a run */
    struct file files[FILES_MAX];
    int count;
    struct buffer said, complaint; /* standard output and error */
};
static struct left *walked;
static struct left *old_record; /* the folder `old` */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Drop the text from each `begin` up to the `end` after it. */
static void forget(struct buffer *bytes, const char *begin, const char *end)
{
    char *at = bytes->bytes;
    while (at != NULL && (at = strstr(at, begin)) != NULL) {
        at += strlen(begin);
        char *rest = strstr(at, end);
        if (rest == NULL)
            return;
        memmove(at, rest, strlen(rest) + 1);
    }
    bytes->length = strlen(buffer_c_string(bytes));
}

static int walk(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)at;
    if (kind == FTW_D)
        return 0;
    assert_true(walked->count < FILES_MAX);
    struct file *file = &walked->files[walked->count++];
    snprintf(file->path, sizeof file->path, "%s", path);
    file->bytes = file_bytes(path);
    if (ends_with(path, "result.json"))
        forget(&file->bytes, "\"host\": {", "}\n");
    if (ends_with(path, ".html"))
        forget(&file->bytes, "No drawing: ", ". The table");
    return 0;
}

static struct left *look_at(const char *folder)
{
    struct left *left = mem_zalloc(1, sizeof *left);
    walked = left;
    assert_int_equal(nftw(folder, walk, 16, FTW_PHYS), 0);
    left->said = file_bytes("said.out");
    left->complaint = file_bytes("said.err");
    return left;
}

static void left_free(struct left *left)
{
    for (int f = 0; f < left->count; f++)
        buffer_release(&left->files[f].bytes);
    buffer_release(&left->said);
    buffer_release(&left->complaint);
    mem_free(left);
}

static const struct file *find(const struct left *left, const char *path)
{
    for (int f = 0; f < left->count; f++)
        if (strcmp(left->files[f].path, path) == 0)
            return &left->files[f];
    return NULL;
}

static bool is_equal(const struct buffer *one, const struct buffer *other)
{
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

/* ---- laws ---- */

enum outcome { RIGHT, CLEAN, BROKEN };

struct check {
    const struct scene *scene;
    struct failing_point point;
    const struct left *good, *left;
    long good_blocks;
    int good_status, status;
    bool is_told; /* the answer says what is missing, and why */
    bool is_broken;
};

static const struct file *find_in_old(const char *inside)
{
    char path[128];
    snprintf(path, sizeof path, "old%s", inside);
    return find(old_record, path);
}

/* Is it a file of the record that the run was to replace? */
static bool is_old(const struct file *file)
{
    const char *inside = strstr(file->path, "/rec/");
    const struct file *old = inside != NULL ? find_in_old(inside) : NULL;
    return old != NULL && is_equal(&file->bytes, &old->bytes);
}

static __attribute__((format(printf, 2, 3))) void broken(struct check *check, const char *format, ...)
{
    char law[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(law, sizeof law, format, arguments);
    va_end(arguments);
    check->is_broken = true;
    const char *reason = check->point.reason == FAILING_HALF ? "half" : strerrorname_np(check->point.reason);
    print_message("BROKEN %s: %s %ld%s: %s: %s\n  said: %s\n", check->scene->name, failing_names[check->point.call],
                  check->point.nth, check->point.and_after ? " and all after it" : "", reason, law,
                  check->left->complaint.bytes);
}

/* A file that differs, because a run of the comparison failed, is whole nevertheless. */
static bool has_whole_form(const struct file *file)
{
    const char *text = file->bytes.bytes;
    if (ends_with(file->path, ".json")) {
        json_t *root = json_loadb(text, file->bytes.length, 0, NULL);
        json_decref(root);
        return root != NULL;
    }
    return ends_with(file->path, ".failed") || (ends_with(file->path, ".html") && ends_with(text, "</html>\n")) ||
           (ends_with(file->path, ".xml") && ends_with(text, "</testsuites>\n"));
}

/* The folder of what has no final name yet: the next comparison there removes it. */
static bool is_temporary(const struct file *file)
{
    return strstr(file->path, "/.windtunnel-") != NULL;
}

static bool says(const struct buffer *text, const struct check *check)
{
    const char *reason = check->point.call == CALL_ALLOCATE ? "memory" : strerror(check->point.reason);
    return strcasestr(text->bytes, reason) != NULL;
}

static void check_files(struct check *check, bool must_be_there)
{
    for (int f = 0; f < check->left->count; f++) {
        const struct file *file = &check->left->files[f], *good = find(check->good, file->path);
        const bool may_differ = WEXITSTATUS(check->status) == 11 || check->is_told ||
                                (check->scene->draws && ends_with(file->path, "html")) || says(&file->bytes, check);
        if (good == NULL && !(may_differ && has_whole_form(file)) && !(is_temporary(file) && !told->is_over))
            broken(check, "%s is left", file->path);
        else if (good != NULL && !is_equal(&file->bytes, &good->bytes) && !(may_differ && has_whole_form(file)) &&
                 !(check->scene->has_record && is_old(file)))
            broken(check, "%s is not whole", file->path);
    }
    for (int f = 0; f < check->good->count && must_be_there; f++)
        if (find(check->left, check->good->files[f].path) == NULL)
            broken(check, "%s is missing", check->good->files[f].path);
    /* result.json comes last */
    if (find(check->left, "out/rec/result.json") != NULL && !check->scene->has_record)
        for (size_t f = 0; f < sizeof record_files / sizeof record_files[0]; f++) {
            char path[64];
            snprintf(path, sizeof path, "out/rec/%s", record_files[f]);
            if (find(check->left, path) == NULL)
                broken(check, "result.json is there, and %s is not", path);
        }
}

static void check_leaks(struct check *check)
{
    if (!told->is_over)
        return; /* memory ran out */
    if (told->files_left != 0)
        broken(check, "%d files stay open", told->files_left);
    if (told->children_left != 0)
        broken(check, "a process stays");
    if (told->blocks_left > check->good_blocks)
        broken(check, "%ld blocks of memory stay", told->blocks_left - check->good_blocks);
}

static int count_errors(const char *text)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "error: ")) != NULL; at++)
        count += at == text || at[-1] == '\n';
    return count;
}

static void check_message(struct check *check)
{
    const char *text = check->left->complaint.bytes;
    const int code = WEXITSTATUS(check->status), errors = count_errors(text);
    const bool is_allocation = check->point.call == CALL_ALLOCATE;
    if (check->point.reason == FAILING_HALF || check->point.reason == EINTR)
        broken(check, "fails with status %d, and nothing has failed", code);
    const bool is_of_scheduler = strstr(text, "the scheduler") != NULL;
    const bool is_of_others = is_of_scheduler || strstr(text, "no run succeeded") != NULL;
    const int documented = is_allocation || check->point.reason == ENOMEM ? 5 : 4;
    if (code != documented && code != 11 && !(code == 3 && is_of_scheduler))
        broken(check, "exit status %d, not %d", code, documented);
    /* of each run; of the scheduler itself; of each file */
    if (errors != 1 && !((code == 11 || is_of_others || check->point.and_after) && errors > 1))
        broken(check, "%d errors are told", errors);
    if (!says(&check->left->complaint, check) && strstr(text, "SQLite says 'disk I/O error'") == NULL)
        broken(check, "the message does not say what failed");
}

static enum outcome check_run(struct check *check)
{
    if (!WIFEXITED(check->status)) {
        broken(check, "ended by signal %d", WTERMSIG(check->status));
        return BROKEN;
    }
    const bool is_right = WEXITSTATUS(check->status) == check->good_status;
    if (!is_right)
        check_message(check);
    check->is_told = is_right && !is_equal(&check->left->said, &check->good->said);
    if (check->is_told && !says(&check->left->said, check))
        broken(check, "another answer");
    check_files(check, is_right);
    check_leaks(check);
    return check->is_broken ? BROKEN : is_right && !check->is_told ? RIGHT : CLEAN;
}

/* ---- all points of a scene ---- */

struct kind { /* how a call fails */
    enum failing_call call;
    int reason;
    bool and_after;
};

static const struct kind kinds[] = {
    {CALL_ALLOCATE, ENOMEM, false},   {CALL_ALLOCATE, ENOMEM, true},   {CALL_OPEN, EMFILE, false},
    {CALL_OPEN, EIO, false},          {CALL_READ, EIO, false},         {CALL_READ, EINTR, false},
    {CALL_READ, FAILING_HALF, false}, {CALL_READ, FAILING_HALF, true}, {CALL_WRITE, EIO, false},
    {CALL_WRITE, ENOSPC, true},       {CALL_WRITE, EINTR, false},      {CALL_WRITE, FAILING_HALF, false},
    {CALL_WRITE, FAILING_HALF, true}, {CALL_LINK, EIO, false},         {CALL_RENAME, EIO, false},
    {CALL_RENAME, ENOSPC, false},     {CALL_FSYNC, EIO, false},        {CALL_FSYNC, ENOSPC, true},
    {CALL_CLOSE, EIO, false},         {CALL_CLOSE, ENOSPC, false},     {CALL_MKDIR, ENOSPC, false},
    {CALL_PIPE, EMFILE, false},       {CALL_FORK, EAGAIN, false},      {CALL_FORK, EAGAIN, true},
    {CALL_SPAWN, EAGAIN, false},      {CALL_SPAWN, ENOMEM, true},      {CALL_WAIT, EINTR, false},
    {CALL_WAIT, ECHILD, true},
};

struct tally {
    long points, right, clean, broken;
};

static long step_of(const struct scene *scene, enum failing_call call, long count)
{
    const bool is_full = test_is_full(), is_allocation = call == CALL_ALLOCATE;
    long most = is_full ? count : scene->is_long ? 1 : POINTS_SMALL;
    if (is_allocation)
        most = scene->fails_all_allocations ? (is_full ? count : ALLOCATIONS_SMALL_ALL)
                                            : (is_full          ? ALLOCATIONS_FULL
                                               : scene->is_long ? 1
                                                                : ALLOCATIONS_SMALL);
    return count <= most ? 1 : (count + most - 1) / most;
}

static void fail_each(struct check check, const struct kind *kind, long count, struct tally *tally)
{
    const long step = step_of(check.scene, kind->call, count);
    for (long n = 0; n < count; n += step) {
        check.point = (struct failing_point){kind->call, n, kind->reason, kind->and_after};
        check.is_broken = false;
        check.status = run(check.scene, check.point);
        struct left *left = look_at("out");
        check.left = left;
        const enum outcome outcome = check_run(&check);
        tally->points++;
        tally->right += outcome == RIGHT;
        tally->clean += outcome == CLEAN;
        tally->broken += outcome == BROKEN;
        left_free(left);
    }
}

static void fail_all(const struct scene *scene, struct tally *all)
{
    long counts[CALL_COUNT];
    struct tally tallies[CALL_COUNT] = {{0}};
    struct check check = {.scene = scene};
    check.good_status = WEXITSTATUS(run(scene, no_point));
    for (int call = 0; call < CALL_COUNT; call++)
        counts[call] = failing_shared->counts[call];
    struct left *good = look_at("out");
    check.good = check.left = good;
    check.good_blocks = told->blocks_left;
    if (!told->is_over || check.good_status != 0)
        fail_msg("%s: without any failure, exit status %d: %s", scene->name, check.good_status, good->complaint.bytes);
    check.point = no_point;
    check.status = run(scene, no_point);
    struct left *again = look_at("out");
    check.left = again;
    if (check_run(&check) != RIGHT)
        fail_msg("%s: without any failure, two runs differ", scene->name);
    left_free(again);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        fail_each(check, &kinds[k], counts[kinds[k].call], &tallies[kinds[k].call]);
    left_free(good);
    for (int call = 0; call < CALL_COUNT; call++) {
        const struct tally *tally = &tallies[call];
        if (tally->points > 0)
            print_message("%-22s %-9s %6ld calls %6ld points %6ld right %6ld clean errors %4ld broken\n", scene->name,
                          failing_names[call], counts[call], tally->points, tally->right, tally->clean, tally->broken);
        all->points += tally->points;
        all->right += tally->right;
        all->clean += tally->clean;
        all->broken += tally->broken;
    }
}

/* ---- */

static void make_inputs(void)
{
    static const struct scene records[] = {
        {.name = "a record", .arguments = {"run", "s.json", "--quiet", "--events", "--out", "rec"}},
        {.name = "a sweep", .arguments = {"sweep", "run", "sweep.json", "--out", "sw", "--no-bind", "--quiet"}},
        {.name = "another", .arguments = {"run", "s.json", "--quiet", "--policy", "fifo", "--out", "old/rec"}},
        {.name = "a bundle", .arguments = {"bundle", "old/rec", "--trust", "old/rec", "--out", "old/rec.json"}},
    };
    struct buffer cases = file_bytes("tests/cases/order.json");
    assert_int_equal(chdir(scratch_path("")), 0);
    scratch_write("case.json", cases.bytes, cases.length);
    scratch_write_json("four.json", cluster_text);
    scratch_write_json("s.json", scenario_text);
    scratch_write_json("sweep.json", sweep_text);
    scratch_write_json("model.json", model_text);
    scratch_write("jobs.csv", trace_text, strlen(trace_text));
    scratch_write("nccl.txt", nccl_text, strlen(nccl_text));
    assert_int_equal(chmod(scratch_write("gnuplot", gnuplot_text, strlen(gnuplot_text)), 0755), 0);
    buffer_release(&cases);
    for (size_t r = 0; r < sizeof records / sizeof records[0]; r++)
        assert_int_equal(run(&records[r], no_point), 0);
    old_record = look_at("old");
    struct buffer events = file_bytes("rec/events.jsonl.zst");
    scratch_write("events", events.bytes, events.length);
    buffer_release(&events);
}

TEST(test_each_call_fails)
{
    const char *built = getenv("WINDTUNNEL"), *only = getenv("WINDTUNNEL_TEST_VERB");
    char path[PATH_MAX];
    struct tally all = {0};
    program = realpath(built != NULL ? built : "build/release/windtunnel", path);
    assert_non_null(program);
    failing_begin();
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    make_inputs();
    for (int s = 0; s < SCENES; s++)
        if (only == NULL || strcmp(only, scenes[s].name) == 0)
            fail_all(&scenes[s], &all);
    print_message("note: %ld calls of %d commands failed: %ld right answers, %ld clean errors\n", all.points, SCENES,
                  all.right, all.clean);
    assert_int_equal(all.broken, 0);
}

TEST_GROUP(scratch_make, scratch_remove)
