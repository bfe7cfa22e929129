/* windtunnel policy check: a policy of the user's own in many small worlds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/worker_pool.h"
#include "policies/config/presets.h"
#include "studies/check/policy_check.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"

enum { SHRINK_S = 10, SHRINK_S_MAX = 86400 };
enum { WORKERS_MAX = 1024, WORLDS = 200, WORLDS_MAX = 1000000, TIMEOUT_S = 10, TIMEOUT_S_MAX = 1000000 };
enum { STATUS_BROKEN = 10 }; /* as for other checks that fail */

static volatile sig_atomic_t caught_signal;

static void on_signal(int number)
{
    caught_signal = number;
    signal(number, SIG_DFL);
}

struct verb {
    const struct args *args;
    struct policy_check_options options;
    struct plugin_options plugins;
    char *path;                /* of the operand, whole; owned */
    const char *plugin_path;   /* the same, for an array of one */
    struct buffer policy_json; /* of a plug-in or a command */
    struct progress_line progress;
};

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void show_progress(void *self, size_t done, size_t total)
{
    progress_line_show_runs(self, done, total);
}

/* ---- What is checked ---- */

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_preset(const char *name)
{
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++)
        if (strcmp(preset->name, name) == 0)
            return true;
    return false;
}

/* The whole path, so that a scenario that is written elsewhere finds the file. */
static struct error take_path(struct verb *verb, const char *path)
{
    verb->path = realpath(path, NULL);
    return verb->path != NULL ? ERROR_OK : error_new(ERROR_IO, "cannot read %s: there is no such file", path);
}

static struct error take_plugin(struct verb *verb, const char *path)
{
    struct plugins plugins = {.timeout_s = 0};
    TRY(take_path(verb, path));
    struct error error = plugins_load(&plugins, path);
    if (!error_is(error))
        tool_plugin_policy(&verb->policy_json, plugins.set.plugins[0], verb->path);
    plugins_release(&plugins);
    verb->options.subject.policy_json = buffer_c_string(&verb->policy_json);
    return error;
}

/* The world keeps another program to the gang rule where that is claimed for it. */
static void take_command(struct verb *verb, const char *command)
{
    const bool is_gang = verb->options.subject.laws >> CHECK_GANG & 1;
    verb->options.subject.command = command;
    buffer_format(&verb->policy_json, "{\"name\": \"command\", \"guarantees\": [%s]}", is_gang ? "\"gang\"" : "");
    verb->options.subject.policy_json = buffer_c_string(&verb->policy_json);
}

static struct error take_subject(struct verb *verb)
{
    const char *named = args_operand(verb->args, 0);
    verb->options.subject.name = named;
    if (is_preset(named)) {
        verb->options.subject.policy = named;
        return ERROR_OK;
    }
    if (ends_in(named, ".json")) {
        TRY(take_path(verb, named));
        verb->options.subject.policy = verb->path;
        return ERROR_OK;
    }
    if (ends_in(named, ".so") && strchr(named, ' ') == NULL)
        return take_plugin(verb, named);
    if (strpbrk(named, "/ ") == NULL) {
        struct error error = error_new(ERROR_USAGE, "there is no policy preset '%s'", named);
        error_set_hint(&error,
                       "`windtunnel policy list` lists them; a policy file ends in .json, a plug-in in .so, and "
                       "a command holds a blank or '/'");
        return error;
    }
    take_command(verb, named);
    return ERROR_OK;
}

static struct error take_claims(struct verb *verb)
{
    size_t count;
    const char *const *claims = args_list(verb->args, "claim", &count);
    for (size_t i = 0; i < count; i++) {
        const enum check_law law = check_law_of(claims[i]);
        if (law == CHECK_LAW_COUNT || !(CHECK_LAWS_CLAIMED >> law & 1))
            return error_new(ERROR_USAGE, "'--claim' must be gang, reclaim, no_loop, minimal or strict, got '%s'",
                             claims[i]);
        verb->options.subject.laws |= 1u << law;
    }
    return ERROR_OK;
}

static struct error read_options(struct verb *verb)
{
    const struct args *args = verb->args;
    const char *scratch = getenv("TMPDIR"), *out = args_string(args, "out");
    int64_t worlds, workers, seed, timeout_s, shrink_s;
    TRY(args_int64(args, "worlds", 0, WORLDS_MAX, WORLDS, &worlds));
    TRY(args_int64(args, "seed", 0, INT64_MAX / 2, 1, &seed));
    TRY(args_int64(args, "jobs", 1, WORKERS_MAX, (int64_t)worker_core_count(), &workers));
    TRY(args_int64(args, "scheduler-timeout", 1, TIMEOUT_S_MAX, TIMEOUT_S, &timeout_s));
    TRY(args_int64(args, "shrink", 0, SHRINK_S_MAX, SHRINK_S, &shrink_s));
    verb->options = (struct policy_check_options){.seed = (uint64_t)seed,
                                                  .world_count = (size_t)worlds,
                                                  .worker_count = (size_t)workers,
                                                  .out = out != NULL ? out : "policy-check",
                                                  .scratch = scratch != NULL ? scratch : "/tmp",
                                                  .clock_s = clock_s,
                                                  .shrink_s = (double)shrink_s,
                                                  .stop = &caught_signal,
                                                  .on_progress = show_progress,
                                                  .progress_self = &verb->progress};
    verb->options.subject.timeout_ms = timeout_s * 1000;
    verb->options.subject.plugins = tool_plugin_options(args);
    verb->options.subject.sets = args_list(args, "set", &verb->options.subject.set_count);
    TRY(take_claims(verb));
    return take_subject(verb);
}

/* ---- The verb ---- */

static int show(struct verb *verb, const struct policy_check *check)
{
    struct buffer out = {0};
    if (args_flag(verb->args, "json"))
        policy_check_json(check, &out);
    else
        policy_check_text(check, &out);
    const int status = tool_print(&out);
    return status != 0 ? status : policy_check_holds(check) ? 0 : STATUS_BROKEN;
}

int verb_policy_check(const struct args *args)
{
    struct verb verb = {.args = args};
    struct policy_check found = {0};
    progress_line_begin(&verb.progress, !args_flag(args, "json"));
    struct error error = read_options(&verb);
    if (!error_is(error)) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        error = policy_check_run(&found, &verb.options);
    }
    progress_line_end(&verb.progress);
    const int status = error_is(error) ? tool_fail(&error) : show(&verb, &found);
    policy_check_release(&found);
    buffer_release(&verb.policy_json);
    free(verb.path);
    if (caught_signal != 0) {
        signal(caught_signal, SIG_DFL);
        raise(caught_signal);
    }
    return status;
}
