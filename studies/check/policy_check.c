#include "studies/check/policy_check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/worker_pool.h"
#include "studies/check/check_cases.h"

enum { ROUND = 16, SMALLER_RUNS_MAX = 200 };

/* ---- One world, in a process of its own ---- */

struct round { /* the tasks of one pool */
    struct policy_check *check;
    size_t first;                    /* index of the world of task 0 */
    const struct check_world *given; /* play this one instead */
    struct check_verdict verdicts[ROUND];
};

static struct error play(void *self, size_t task, struct buffer *out)
{
    struct round *round = self;
    struct check_verdict verdict;
    struct check_world world;
    if (round->given != NULL) {
        TRY(check_world_play(round->given, &round->check->subject, round->check->scratch, &verdict));
    } else {
        check_world_make(&world, &round->check->subject, round->check->options->seed, round->first + task);
        struct error error = check_world_play(&world, &round->check->subject, round->check->scratch, &verdict);
        check_world_release(&world);
        TRY(error);
    }
    buffer_bytes(out, &verdict, sizeof verdict);
    return ERROR_OK;
}

/* What a process said before it failed, without the word "error: ", else how it failed. */
static void describe(const struct worker_result *result, char what[LAW_TEXT_BYTES])
{
    const char *at = strstr(result->said, "error: ");
    at = at != NULL ? at + strlen("error: ") : result->failure;
    const int length = (int)strcspn(at, "\n");
    snprintf(what, LAW_TEXT_BYTES, "%.*s", length < LAW_TEXT_BYTES ? length : LAW_TEXT_BYTES - 1, at);
}

static void on_done(void *self, const struct worker_result *result)
{
    struct round *round = self;
    struct check_verdict *verdict = &round->verdicts[result->index];
    if (result->is_done && result->bytes.length == sizeof *verdict) {
        memcpy(verdict, result->bytes.at, sizeof *verdict);
        return;
    }
    *verdict = (struct check_verdict){.broken = CHECK_ANSWERS, .is_legal = true};
    describe(result, verdict->what);
}

static struct error play_round(struct round *round, size_t count)
{
    const struct worker_pool pool = {.task_count = count,
                                     .worker_count = round->check->options->worker_count,
                                     .run = play,
                                     .on_done = on_done,
                                     .self = round,
                                     .stop = round->check->options->stop};
    return worker_pool_run(&pool);
}

static bool is_stopped(const struct policy_check *check)
{
    return check->options->stop != NULL && *check->options->stop != 0;
}

/* ---- All worlds ---- */

static void name_world(const struct policy_check *check, size_t index, char name[80])
{
    struct check_world world;
    check_world_make(&world, &check->subject, check->options->seed, index);
    if (world.is_made_by_hand)
        snprintf(name, 80, "case '%s'", world.name);
    else
        snprintf(name, 80, "%s world of seed %llu", world.name, (unsigned long long)world.seed);
    check_world_release(&world);
}

static void count(struct policy_check *check, const struct check_verdict *verdict, size_t index)
{
    if (!verdict->is_legal) {
        check->unsuited_count++;
        return;
    }
    check->played_count++;
    for (int law = 0; law < CHECK_LAW_COUNT; law++)
        check->seen[law] += verdict->seen[law];
    if (verdict->broken == CHECK_LAW_COUNT)
        return;
    struct check_finding *finding = &check->findings[verdict->broken];
    if (finding->broken_count++ > 0)
        return;
    finding->index = index;
    memcpy(finding->what, verdict->what, sizeof finding->what);
    name_world(check, index, finding->world);
}

static struct error play_all(struct policy_check *check)
{
    static struct round round; /* large */
    size_t first = 0;
    while (first < check->total_count && !is_stopped(check) && !check->is_given_up) {
        const size_t left = check->total_count - first, until_random = check_case_count - first;
        size_t task_count = left < ROUND ? left : ROUND;
        if (first < check_case_count && task_count > until_random)
            task_count = until_random;
        round = (struct round){.check = check, .first = first};
        TRY(play_round(&round, task_count));
        for (size_t t = 0; t < task_count && !is_stopped(check); t++)
            count(check, &round.verdicts[t], first + t);
        first += task_count;
        check->is_given_up = check->findings[CHECK_ANSWERS].broken_count > 0 && first < check->total_count;
        if (check->options->on_progress != NULL)
            check->options->on_progress(check->options->progress_self, first, check->total_count);
    }
    return ERROR_OK;
}

/* ---- Making a scenario smaller ---- */

static uint32_t line_count(const struct buffer *jobs)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < jobs->length; i++)
        lines += jobs->bytes[i] == '\n';
    return lines;
}

/* The lines but `count` of them from `first` on. */
static void leave_out(const struct buffer *jobs, uint32_t first, uint32_t count, struct buffer *out)
{
    uint32_t line = 0;
    for (size_t i = 0; i < jobs->length; i++) {
        if (line < first || line >= first + count)
            buffer_char(out, jobs->bytes[i]);
        line += jobs->bytes[i] == '\n';
    }
}

static struct error breaks(struct policy_check *check, const struct check_world *world, enum check_law law,
                           struct check_finding *finding, bool *does)
{
    static struct round round;
    round = (struct round){.check = check, .given = world};
    TRY(play_round(&round, 1));
    *does = !is_stopped(check) && round.verdicts[0].is_legal && round.verdicts[0].broken == law;
    if (*does)
        memcpy(finding->what, round.verdicts[0].what, sizeof finding->what);
    return ERROR_OK;
}

/* Leave out half of the jobs, a quarter, ..., one job at a time, while the law stays broken. */
static struct error make_smaller(struct policy_check *check, struct check_world *world, enum check_law law)
{
    const double until = check->options->clock_s() + check->options->shrink_s;
    uint32_t runs = 0;
    for (uint32_t chunk = line_count(&world->jobs) / 2; chunk > 0; chunk /= 2)
        for (uint32_t first = 0; first < line_count(&world->jobs) && line_count(&world->jobs) > chunk;) {
            bool does = false;
            struct check_world less = *world;
            if (++runs > SMALLER_RUNS_MAX || is_stopped(check) || check->options->clock_s() >= until)
                return ERROR_OK;
            less.jobs = (struct buffer){0};
            leave_out(&world->jobs, first, chunk, &less.jobs);
            struct error error = breaks(check, &less, law, &check->findings[law], &does);
            struct buffer unwanted = does ? world->jobs : less.jobs;
            if (does)
                world->jobs = less.jobs;
            else
                first += chunk;
            buffer_release(&unwanted);
            TRY(error);
        }
    return ERROR_OK;
}

/* ---- Writing a scenario ---- */

static struct error write_file(const char *folder, const char *name, const char *bytes, size_t length)
{
    struct output *file;
    TRY(output_open_inside(&file, folder, name, OUTPUT_PLAIN));
    buffer_bytes(output_buffer(file), bytes, length);
    return output_commit(&file);
}

static struct error write_world(const struct policy_check *check, const struct check_world *world, const char *folder)
{
    struct scenario scenario = {0};
    struct buffer text = {0};
    struct error error = check_world_load(world, &check->subject, NULL, &scenario);
    if (!error_is(error))
        error = output_make_folder(folder);
    if (!error_is(error)) {
        buffer_format(&text, "%s\n", scenario.resolved);
        error = write_file(folder, "scenario.json", text.bytes, text.length);
    }
    if (!error_is(error))
        error = write_file(folder, "j.jsonl", world->jobs.bytes, world->jobs.length);
    buffer_release(&text);
    scenario_release(&scenario);
    return error;
}

static struct error keep(struct policy_check *check, enum check_law law)
{
    struct check_finding *finding = &check->findings[law];
    struct check_world world;
    struct buffer folder = {0};
    check_world_make(&world, &check->subject, check->options->seed, finding->index);
    struct error error = make_smaller(check, &world, law);
    finding->jobs = line_count(&world.jobs);
    buffer_format(&folder, "%s/%s", check->options->out, check_laws[law].name);
    finding->folder = mem_copy_text(buffer_c_string(&folder));
    if (!error_is(error))
        error = write_world(check, &world, finding->folder);
    buffer_release(&folder);
    check_world_release(&world);
    return error;
}

/* ---- All together ---- */

/* Read the policy once, in the first case: a policy that cannot be read is an error, and says what it claims. */
static struct error read_policy(struct policy_check *check)
{
    struct scenario scenario = {0};
    struct check_world world;
    check_world_make(&world, &check->subject, check->options->seed, 0);
    struct error error = check_world_load(&world, &check->subject, NULL, &scenario);
    if (!error_is(error)) {
        check->subject.laws |= check->subject.command != NULL ? CHECK_LAWS_OF_ALL : check_laws_of(&scenario.policy);
        snprintf(check->policy_name, sizeof check->policy_name, "%s", scenario.policy.name);
    }
    scenario_release(&scenario);
    check_world_release(&world);
    return error;
}

static struct error make_scratch(struct policy_check *check)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/windtunnel-check-XXXXXX", check->options->scratch);
    check->scratch = mem_copy_text(buffer_c_string(&path));
    buffer_release(&path);
    if (mkdtemp(check->scratch) != NULL)
        return ERROR_OK;
    mem_free(check->scratch);
    check->scratch = NULL;
    return error_new(ERROR_IO, "cannot make a folder in %s", check->options->scratch);
}

struct error policy_check_run(struct policy_check *check, const struct policy_check_options *options)
{
    *check = (struct policy_check){
        .options = options, .subject = options->subject, .total_count = check_case_count + options->world_count};
    TRY(read_policy(check));
    TRY(make_scratch(check));
    TRY(play_all(check));
    for (int law = 0; law < CHECK_LAW_COUNT && !is_stopped(check); law++)
        if (check->findings[law].broken_count > 0)
            TRY(keep(check, (enum check_law)law));
    return ERROR_OK;
}

bool policy_check_holds(const struct policy_check *check)
{
    for (int law = 0; law < CHECK_LAW_COUNT; law++)
        if (check->findings[law].broken_count > 0)
            return false;
    return true;
}

/* Processes that crashed have left their files. */
static void remove_scratch(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." are folders: they stay */
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

void policy_check_release(struct policy_check *check)
{
    for (int law = 0; law < CHECK_LAW_COUNT; law++)
        mem_free(check->findings[law].folder);
    if (check->scratch != NULL)
        remove_scratch(check->scratch);
    mem_free(check->scratch);
}
