#include "studies/check/check_world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "sim/live/process.h"
#include "studies/check/check_cases.h"
#include "studies/worlds/shaped_scenario.h"

enum { STALL_STEPS = 2000, DRAWS_MAX = 50 };
#define RECLAIM_BOUND (3600 * TIME_NS_PER_S) /* besides the policy's own times */

/* ---- Making ---- */

static void make_case(struct check_world *world, const struct check_case *own)
{
    world->name = own->name;
    world->is_made_by_hand = true;
    world->laws = own->laws;
    buffer_format(&world->text,
                  "{%s'world': {'sample_s': 86400, 'stall_steps': %d}, "
                  "'workload': {'trace': 'j.jsonl', 'format': 'jsonl'}}\n",
                  own->setup, STALL_STEPS);
    buffer_string(&world->jobs, own->jobs);
    draw_requote(&world->text);
    draw_requote(&world->jobs);
}

static void take(struct check_world *world, const struct random_scenario *scenario, const char *name, unsigned laws)
{
    buffer_release(&world->text);
    buffer_release(&world->jobs);
    world->text = scenario->text;
    world->jobs = scenario->jobs;
    world->name = name;
    world->laws = laws;
}

/* Does the policy suit the cluster and the queues? */
static bool is_legal(const struct check_world *world, const struct check_subject *subject)
{
    struct scenario scenario = {0};
    struct error error = check_world_load(world, subject, NULL, &scenario);
    scenario_release(&scenario);
    const bool is_good = !error_is(error);
    error_release(&error);
    return is_good;
}

static void make_mixed(struct check_world *world, const struct check_subject *subject)
{
    const struct random_scenario_options options = {.stall_steps = STALL_STEPS, .has_faults = true};
    for (uint32_t draw = 0; draw < DRAWS_MAX; draw++) {
        struct random_scenario scenario;
        random_scenario_make(&scenario, world->seed, draw, &options);
        take(world, &scenario, "mixed", 0);
        if (is_legal(world, subject))
            return;
    }
}

void check_world_make(struct check_world *world, const struct check_subject *subject, uint64_t seed, size_t index)
{
    struct random_scenario scenario;
    *world = (struct check_world){0};
    if (index < check_case_count) {
        make_case(world, &check_cases[index]);
        return;
    }
    index -= check_case_count;
    world->seed = seed + index;
    switch (index % 4) {
    case 0:
        shaped_scenario_plain(&scenario, world->seed, STALL_STEPS);
        take(world, &scenario, "plain", 1u << CHECK_STARTS | 1u << CHECK_MINIMAL);
        break;
    case 1:
        shaped_scenario_reclaim(&scenario, world->seed, STALL_STEPS);
        take(world, &scenario, "reclaim", 1u << CHECK_RECLAIM | 1u << CHECK_MINIMAL);
        break;
    default:
        make_mixed(world, subject);
    }
}

void check_world_release(struct check_world *world)
{
    buffer_release(&world->text);
    buffer_release(&world->jobs);
}

/* ---- Loading ---- */

/* The text with the policy in it, if the subject gives one as an object. */
static void compose(const struct check_world *world, const struct check_subject *subject, struct buffer *out)
{
    if (subject->policy_json != NULL)
        buffer_format(out, "{\"policy\": %s, ", subject->policy_json);
    else
        buffer_char(out, '{');
    buffer_bytes(out, world->text.bytes + 1, world->text.length - 1);
    buffer_c_string(out);
}

struct error check_world_load(const struct check_world *world, const struct check_subject *subject,
                              const char *jobs_path, struct scenario *scenario)
{
    struct buffer text = {0}, trace = {0};
    const char **sets = mem_zalloc(subject->set_count + 1, sizeof *sets);
    compose(world, subject, &text);
    buffer_format(&trace, "workload.trace=%s", jobs_path != NULL ? jobs_path : "j.jsonl");
    for (size_t i = 0; i < subject->set_count; i++)
        sets[i] = subject->sets[i];
    sets[subject->set_count] = buffer_c_string(&trace);
    const struct scenario_options options = {.text = text.bytes,
                                             .gate = &scenario_open_gate, /* made here, with the user's policy */
                                             .policy = subject->policy,
                                             .sets = sets,
                                             .set_count = subject->set_count + 1,
                                             .plugins = subject->plugins};
    struct error error = scenario_load(scenario, &options);
    buffer_release(&text);
    buffer_release(&trace);
    mem_free(sets);
    return error;
}

/* ---- Playing ---- */

/* The time within which an owner's job starts: twice what the policy makes it wait, and an hour. */
static time_ns reclaim_bound(const struct policy_config *policy)
{
    const struct preemption_config *preempt = &policy->preempt;
    time_ns waits = time_after(time_after(preempt->delay, preempt->grace), preempt->reclaim_min_runtime);
    return time_after(time_after(waits, waits), RECLAIM_BOUND);
}

static struct law_watch_options watch_options(const struct check_world *world, const struct check_subject *subject,
                                              const struct scenario *scenario, struct job_source *source)
{
    const unsigned shaped = 1u << CHECK_STARTS | 1u << CHECK_RECLAIM | 1u << CHECK_MINIMAL;
    return (struct law_watch_options){.laws = subject->laws & (world->laws | ~shaped),
                                      .cluster = scenario->cluster,
                                      .queues = job_source_queues(source),
                                      .owner = queue_table_find(job_source_queues(source), text_of(SHAPED_OWNER)),
                                      .reclaim_bound = reclaim_bound(&scenario->policy)};
}

/* A policy that a scheduler refuses for its cluster or queues. */
static bool is_refused(const struct check_subject *subject, const struct scenario *scenario, struct job_source *source)
{
    if (subject->command != NULL)
        return false;
    struct error error;
    struct sched *sched = sched_new(scenario->cluster, job_source_queues(source), &scenario->policy, &error);
    sched_free(sched);
    error_release(&error);
    return sched == NULL;
}

/* An error of the run is the fault of what decides: the world's own books, or the answers. */
static void judge(struct law_watch *watch, const struct check_subject *subject, const struct error *error)
{
    const char *message = error_message(error);
    const bool is_gang = subject->laws >> CHECK_GANG & 1 && strstr(message, "gang") != NULL; /* engine_check.c */
    law_watch_break(watch,
                    error->kind != ERROR_INTERNAL ? CHECK_ANSWERS
                    : is_gang                     ? CHECK_GANG
                                                  : CHECK_INVARIANTS,
                    "%s", message);
}

static void run(const struct check_subject *subject, const struct scenario *scenario, struct job_source *source,
                struct law_watch *watch)
{
    struct process *process = NULL;
    struct engine_result result = {0};
    struct error error = ERROR_OK;
    const struct process_options options = {.command = subject->command,
                                            .timeout_ms = subject->timeout_ms,
                                            .cluster = scenario->cluster,
                                            .queues = job_source_queues(source),
                                            .policy = text_of(scenario->policy_text),
                                            .sharing = &scenario->policy};
    if (subject->command != NULL)
        error = process_open(&process, &options);
    struct engine_config config = scenario_engine(scenario, source);
    config.decider = process != NULL ? process_decider(process) : NULL;
    config.listener = &watch->outside;
    config.is_checked = true;
    if (!error_is(error))
        error = engine_run(&config, &result);
    if (error_is(error))
        judge(watch, subject, &error);
    else if (error_is(result.stall))
        law_watch_break(watch, CHECK_ENDS, "%s", error_message(&result.stall));
    law_watch_end(watch, watch->broken == CHECK_LAW_COUNT);
    error_release(&error);
    error_release(&result.stall);
    process_close(&process);
}

/* The file of the jobs, which the run reads. */
static struct error write_jobs(const struct check_world *world, const char *path)
{
    FILE *file = fopen(path, "w");
    bool is_good = file != NULL && fwrite(world->jobs.bytes, 1, world->jobs.length, file) == world->jobs.length;
    is_good = (file == NULL || fclose(file) == 0) && is_good;
    return is_good ? ERROR_OK : error_new(ERROR_IO, "cannot write %s", path);
}

struct error check_world_play(const struct check_world *world, const struct check_subject *subject, const char *scratch,
                              struct check_verdict *verdict)
{
    char path[4096];
    struct scenario scenario = {0};
    struct job_source *source = NULL;
    *verdict = (struct check_verdict){.broken = CHECK_LAW_COUNT};
    snprintf(path, sizeof path, "%s/%ld.jsonl", scratch, (long)getpid());
    TRY(write_jobs(world, path));
    struct error error = check_world_load(world, subject, path, &scenario);
    if (!error_is(error))
        error = scenario_open(&scenario, &source);
    verdict->is_legal = !error_is(error) && !is_refused(subject, &scenario, source);
    error_release(&error);
    if (verdict->is_legal) {
        struct law_watch watch;
        const struct law_watch_options options = watch_options(world, subject, &scenario, source);
        law_watch_open(&watch, &options);
        run(subject, &scenario, source, &watch);
        verdict->broken = watch.broken;
        memcpy(verdict->what, watch.what, sizeof verdict->what);
        memcpy(verdict->seen, watch.seen, sizeof verdict->seen);
        law_watch_release(&watch);
    }
    job_source_close(source);
    scenario_release(&scenario);
    unlink(path);
    return ERROR_OK;
}
