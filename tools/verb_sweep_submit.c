/* windtunnel sweep submit: an array of workers for Slurm. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"
#include "tools/sweep_options.h"
#include "tools/verbs.h"

enum { TASKS_MAX = 100000, TASKS_DEFAULT = 32 };
#define SCRIPT_FILE "sweep.sbatch"
#define LOGS_FOLDER "logs"

struct submission {
    const struct args *args;
    const char *folder; /* absolute */
    char program[PATH_MAX];
    int64_t tasks, jobs;
};

/* ---- the script ---- */

/* A word of a shell. */
static void write_word(struct buffer *out, const char *word)
{
    buffer_char(out, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'')
            buffer_string(out, "'\\''");
        else
            buffer_char(out, *word);
    buffer_char(out, '\'');
}

static void write_option(const struct submission *submission, const char *name, struct buffer *out)
{
    const char *value = args_string(submission->args, name);
    if (value == NULL)
        return;
    buffer_format(out, " --%s ", name);
    write_word(out, value);
}

static void write_script(const struct submission *submission, struct buffer *out)
{
    size_t count;
    const char *const *more = args_list(submission->args, "sbatch", &count);
    buffer_string(out, "#!/bin/sh\n"
                       "#SBATCH --job-name=windtunnel-sweep\n");
    buffer_format(out, "#SBATCH --array=0-%lld\n", (long long)submission->tasks - 1);
    buffer_format(out, "#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=%lld\n", (long long)submission->jobs);
    buffer_string(out, "#SBATCH --requeue\n"
                       "#SBATCH --open-mode=append\n"
                       "#SBATCH --signal=B:TERM@30\n");
    buffer_format(out, "#SBATCH --output=\"%s/" LOGS_FOLDER "/%%a.log\"\n", submission->folder);
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "#SBATCH %s\n", more[i]);
    buffer_string(out, "exec ");
    write_word(out, submission->program);
    buffer_string(out, " sweep work ");
    write_word(out, submission->folder);
    buffer_format(out, " --shards %lld --jobs %lld --quiet", (long long)submission->tasks, (long long)submission->jobs);
    write_option(submission, "timeout", out);
    write_option(submission, "memory", out);
    write_option(submission, "paths", out);
    if (args_flag(submission->args, "retry"))
        buffer_string(out, " --retry");
    buffer_char(out, '\n');
}

static struct error check_text(const char *what, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r' || *c == '"' || *c == '%' || *c == '\\')
            return error_new(ERROR_USAGE, "%s must hold no line end, '\"', '%%' or '\\' for sbatch: '%s'", what, text);
    return ERROR_OK;
}

/* ---- sbatch ---- */

static struct error call_sbatch(const char *script)
{
    extern char **environ;
    char program[] = "sbatch";
    char *path = mem_copy_text(script);
    char *arguments[] = {program, path, NULL};
    pid_t pid;
    int status = 0;
    const int failure = posix_spawnp(&pid, program, NULL, NULL, arguments, environ);
    mem_free(path);
    if (failure != 0) {
        struct error error = error_io("start", program, failure);
        error_set_hint(&error, "is Slurm installed? --dry-run prints the script");
        return error;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_io("wait for", program, errno);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_new(ERROR_IO, "sbatch refused %s", script);
    return ERROR_OK;
}

static struct error write_and_submit(const struct submission *submission, const struct buffer *script)
{
    struct output *output;
    struct buffer path = {0};
    buffer_format(&path, "%s/" LOGS_FOLDER, submission->folder);
    struct error error = output_make_folder(buffer_c_string(&path));
    if (!error_is(error))
        error = output_open_inside(&output, submission->folder, SCRIPT_FILE, OUTPUT_PLAIN);
    if (!error_is(error)) {
        buffer_bytes(output_buffer(output), script->bytes, script->length);
        error = output_commit(&output);
    }
    path.length = 0;
    buffer_format(&path, "%s/" SCRIPT_FILE, submission->folder);
    if (!error_is(error))
        error = call_sbatch(buffer_c_string(&path));
    buffer_release(&path);
    return error;
}

/* ---- the verb ---- */

static struct error prepare(struct submission *submission)
{
    const struct args *args = submission->args;
    struct sweep_work_options work = {0};
    struct sweep_plan plan;
    size_t count;
    const char *const *more = args_list(args, "sbatch", &count);
    const ssize_t length = readlink("/proc/self/exe", submission->program, sizeof submission->program - 1);
    if (!args_flag(args, "slurm"))
        return error_new(ERROR_USAGE, "'--slurm' is missing: the only system that jobs are submitted to");
    if (length <= 0)
        return error_io("find", "this program", errno);
    submission->program[length] = '\0';
    TRY(sweep_read_work_options(args, 1, &work)); /* checked before they are passed on */
    submission->jobs = (int64_t)work.worker_count;
    TRY(check_text("the folder", submission->folder));
    for (size_t i = 0; i < count; i++)
        if (strchr(more[i], '\n') != NULL)
            return error_new(ERROR_USAGE, "'--sbatch' must hold no line end");
    TRY(sweep_plan_read(&plan, submission->folder));
    const int64_t runs = (int64_t)plan.distinct_count;
    sweep_plan_release(&plan);
    return args_int64(args, "tasks", 1, TASKS_MAX, runs < TASKS_DEFAULT ? runs : TASKS_DEFAULT, &submission->tasks);
}

int verb_sweep_submit(const struct args *args)
{
    struct buffer script = {0};
    char *folder = realpath(args_operand(args, 0), NULL);
    struct submission submission = {.args = args, .folder = folder != NULL ? folder : args_operand(args, 0)};
    struct error error = prepare(&submission);
    if (!error_is(error)) {
        write_script(&submission, &script);
        if (!args_flag(args, "dry-run"))
            error = write_and_submit(&submission, &script);
    }
    free(folder);
    if (!error_is(error) && args_flag(args, "dry-run"))
        return tool_print(&script);
    buffer_release(&script);
    return error_is(error) ? tool_fail(&error) : 0;
}
