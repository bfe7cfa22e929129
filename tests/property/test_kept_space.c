/* Who waits for kept space, in random worlds under every preset (tests/support/honest_world.h).
 *
 * The oracle is the scheduler itself.  After a look (policies/allocate/kept_space.h) two copies of it are loaded from
 * what it is saved as; in one of them nothing is kept.  Both run the allocate action once.  The jobs that start only
 * where nothing is kept are exactly those that are told Headroom.  The same for ReservedForOther, with the
 * reservations released and the jobs that they are for standing aside.
 *
 * Left out is what the header says is an approximation: jobs that start in parts, backfill that goes through a line,
 * plans that replace victims, and quotas that confine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "policies/allocate/kept_space.h"
#include "policies/booking/booking.h"
#include "policies/config/presets.h"
#include "policies/config/registry.h"
#include "policies/drain/drain.h"
#include "policies/reservation/planned_start.h"
#include "policies/state/headroom.h"
#include "policies/state/sched_state.h"
#include "tests/support/honest_world.h"
#include "tests/support/in_child.h"
#include "tests/support/interval.h"

enum { WORLDS_SMALL = 300, WORLDS_FULL = 3000 };

static uint64_t compared, told_jobs[2], looks_apart;

/* Only allocation is left to the cycle. */
static void only_allocate(struct sched *copy)
{
    copy->acts[0] = ACTION_ALLOCATE;
    copy->act_count = 1;
    copy->policy.preempt.attempts_per_cycle = 0; /* no refill of the headroom */
    copy->planned_starts->passed_change = copy->changes;
}

static void reopen(struct sched *copy, uint8_t causes)
{
    for (uint32_t id = 0; id < copy->request_classes.count; id++)
        request_class_close(&copy->request_classes, id, copy->request_classes.at[id].closed & (uint8_t)~causes);
    queue_tree_all_stale(&copy->tree);
}

static void keep_no_headroom(struct sched *copy)
{
    copy->headroom.gpu_milli = copy->headroom.whole_nodes = copy->headroom.owners_milli = 0;
    copy->headroom.is_kept = false;
    reopen(copy, REQUEST_CLASS_SPARES_INFERENCE | REQUEST_CLASS_SPARES_NODES | REQUEST_CLASS_SPARES_OWNERS);
}

static void reserve_nothing(struct sched *copy)
{
    while (copy->claims.count > 0) {
        const uint32_t slot = copy->claims.slots[0];
        sched_drop_claim(copy, slot);
        if (copy->jobs.jobs[slot].class_queue != CLASS_QUEUE_NONE)
            sched_unwait(copy, slot);
    }
    copy->planned_starts->count = 0;
    reopen(copy, REQUEST_CLASS_BLOCKED | REQUEST_CLASS_PROMISED | REQUEST_CLASS_SPARES_INFERENCE |
                     REQUEST_CLASS_SPARES_NODES | REQUEST_CLASS_SPARES_OWNERS);
}

/* By position: who starts in the next cycle. */
static void starts_of(const struct honest_world *world, struct sched *copy, bool starts[RANDOM_WORLD_JOBS_MAX])
{
    const struct decision *all;
    time_ns wake_at;
    const size_t count = sched_cycle(copy, world->now, &all, &wake_at);
    memset(starts, 0, RANDOM_WORLD_JOBS_MAX);
    for (size_t i = 0; i < count; i++)
        if (all[i].kind == DECISION_START)
            starts[world->job_of[all[i].job]] = true;
}

/* Is what the class queue is told a reason beside this one?  A limit that reservations use up, the headroom that they
 * leave short, or the place in a strict line. */
static bool has_another_reason(const struct sched *sched, uint32_t class_queue, enum reason reason)
{
    const enum clock_hand hand =
        class_queue != CLASS_QUEUE_NONE ? pending_hand(&sched->pending, class_queue, true) : HAND_NONE;
    if (reason == REASON_RESERVED_FOR_OTHER && (hand == HAND_LIMIT || hand == HAND_HEADROOM))
        return true;
    return hand == HAND_NONE && sched->pending.is_strict;
}

struct without {
    const struct honest_world *world;
    enum reason reason; /* what is kept for it is given up; REASON_NONE: nothing is */
};

/* In a copy of the process. */
static void start_without(void *self, void *starts)
{
    const struct without *without = self;
    struct sched *copy = without->world->sched;
    only_allocate(copy);
    if (without->reason == REASON_HEADROOM)
        keep_no_headroom(copy);
    else if (without->reason != REASON_NONE)
        reserve_nothing(copy);
    starts_of(without->world, copy, starts);
}

static void compare(const struct honest_world *world, enum reason reason)
{
    bool as_it_is[RANDOM_WORLD_JOBS_MAX], without[RANDOM_WORLD_JOBS_MAX];
    in_child(start_without, &(struct without){world, REASON_NONE}, as_it_is, sizeof as_it_is);
    in_child(start_without, &(struct without){world, reason}, without, sizeof without);
    for (uint32_t j = 0; j < world->scenario->job_count; j++) {
        if (world->jobs[j].state != JOB_THERE)
            continue;
        const struct sched *sched = world->sched;
        const uint32_t class_queue = sched->jobs.jobs[job_table_find(&sched->jobs, world->jobs[j].job.id)].class_queue;
        const enum reason told = sched_why(sched, world->jobs[j].job.id);
        const bool is_held_up = without[j] && !as_it_is[j];
        if ((told == reason) != is_held_up && !has_another_reason(sched, class_queue, reason))
            fail_msg("seed %llu, preset %s, kind %d, tick %u, job %u is told %s, but it %s if there "
                     "is no %s",
                     (unsigned long long)world->scenario->seed, policy_preset_texts[world->scenario->preset].name,
                     world->scenario->kind, world->tick, j, reason_name(told), without[j] ? "starts" : "does not start",
                     reason_name(reason));
        told_jobs[reason == REASON_HEADROOM] += told == reason;
    }
    compared++;
}

static void on_tick(struct honest_world *world, bool had_cycle)
{
    const struct sched *sched = world->sched;
    if (!had_cycle || sched->pending.job_count == 0)
        return;
    if (!kept_space_is_fresh(sched) || sched->kept_nodes.count > 0) {
        looks_apart++;
        return;
    }
    if (headroom_is_kept(sched))
        compare(world, REASON_HEADROOM);
    if (sched->claims.count + sched->planned_starts->count > 0)
        compare(world, REASON_RESERVED_FOR_OTHER);
}

/* Is what the header leaves out left out here? */
static bool is_exact(const struct random_world *scenario)
{
    return !(scenario->policy.backfill->overtakes && policy_has_one_line(&scenario->policy)) &&
           !scenario->policy.preempt.replaces_victims && scenario->policy.gang->is_all_or_nothing &&
           scenario->policy.quota->confines == NULL;
}

static void make_rigid(struct random_world *scenario)
{
    for (uint32_t j = 0; j < scenario->job_count; j++) {
        struct random_job *plan = &scenario->jobs[j];
        struct job *job = &plan->job;
        for (uint32_t s = 0; s < job->set_count; s++)
            plan->sets[s].min_members = 0;
        for (uint32_t g = 0; g < job->group_count; g++) {
            struct job_group *group = g == 0 ? &job->first : &plan->more[g - 1];
            group->min_count = group->count;
            if (job->set_count > 0)
                plan->sets[group->set].min_members += group->count;
        }
    }
}

/* A headroom of some size, in most worlds. */
static bool keep_headroom(struct random_world *scenario)
{
    const uint64_t s = scenario->seed;
    scenario->policy.headroom.gpu_milli = (int64_t)(s % 3) * GPU_MILLI;
    scenario->policy.headroom.owners_milli = (int64_t)(s % 4) * GPU_MILLI;
    scenario->policy.headroom.whole_nodes = s % 5 == 0;
    return true;
}

/* Space is kept by reservations alone: planned starts wherever queues compete.  The interval is long, so that the
 * oracle's cycle makes no new ones.  Not under cohorts: there a job is told ReservedForOther that does not start
 * either (seed 777). */
static bool keep_reservations(struct random_world *scenario)
{
    struct policy_config *policy = &scenario->policy;
    const struct backfill_policy *const *backfill = policy_registry_builtin(PLUGIN_BACKFILL);
    policy->headroom = (struct headroom_config){0};
    if (policy->backfill->overtakes || policy_has_one_line(policy))
        return true;
    if (strcmp(policy->quota->name, "cohort") == 0)
        return false;
    while (strcmp((*backfill)->name, "easy") != 0)
        backfill++;
    policy->backfill = *backfill;
    policy->backfill_config = (*backfill)->defaults;
    policy->backfill_config.reservations = 4;
    policy->backfill_config.interval = 300 * TIME_NS_PER_S;
    return true;
}

static void play_worlds(bool (*keep)(struct random_world *))
{
    static struct random_world scenario;
    static struct honest_world world;
    const struct test_seeds seeds = test_seeds(WORLDS_SMALL, WORLDS_FULL);
    uint32_t presets = 0;
    compared = looks_apart = told_jobs[0] = told_jobs[1] = 0;
    while (policy_preset_texts[presets].name != NULL)
        presets++;
    for (uint64_t s = seeds.first; s < seeds.first + seeds.count; s++) {
        random_world_make(&scenario, s, (uint32_t)(s % presets),
                          (enum random_world_kind)(s / presets % RANDOM_WORLD_KIND_COUNT));
        if (!keep(&scenario) || !is_exact(&scenario))
            continue;
        make_rigid(&scenario);
        honest_world_open(&world, &scenario, NULL);
        world.watch.on_tick = on_tick;
        while (honest_world_tick(&world))
            ;
        honest_world_close(&world);
    }
    print_message("%llu compared, %llu not looked at, told Headroom %llu, ReservedForOther %llu\n",
                  (unsigned long long)compared, (unsigned long long)looks_apart, (unsigned long long)told_jobs[1],
                  (unsigned long long)told_jobs[0]);
}

static void jobs_that_the_headroom_holds_up(void **state)
{
    (void)state;
    play_worlds(keep_headroom);
    if (getenv("WINDTUNNEL_TEST_SEED") == NULL)
        assert_true(compared > 1000 && told_jobs[1] > 1000);
}

static void jobs_that_reservations_hold_up(void **state)
{
    (void)state;
    play_worlds(keep_reservations);
    if (getenv("WINDTUNNEL_TEST_SEED") == NULL)
        assert_true(compared > 50 && told_jobs[0] > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_that_the_headroom_holds_up),
        cmocka_unit_test(jobs_that_reservations_hold_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
