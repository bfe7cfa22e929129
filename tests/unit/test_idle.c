/* Jobs that hold GPUs and leave them idle: measured, told, evicted (policies/idle/idle.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policies/idle/idles.h"
#include "policies/policy_config.h"
#include "tests/support/sched_case.h"

#define MINUTE SECONDS(60)

static const struct idle_config terms = {.threshold_milli = 50, .window = 3 * MINUTE};

static bool note(struct idle_spell *spell, int since, int until, uint16_t milli)
{
    const struct observation seen = {.since = since * MINUTE, .until = until * MINUTE, .sm_active_milli = milli};
    return idle_note(&terms, spell, &seen);
}

/* ---- The rules alone ---- */

static void threshold_and_hysteresis(void **state)
{
    (void)state;
    struct idle_spell spell = IDLE_SPELL_NEW;
    note(&spell, 0, 1, 50); /* at the threshold: not idle */
    assert_int_equal(spell.idle, 0);
    note(&spell, 1, 2, 49);
    assert_int_equal(spell.idle, MINUTE);
    assert_false(note(&spell, 2, 3, 99)); /* an idle job stays idle below 100 */
    assert_int_equal(spell.idle, 2 * MINUTE);
    assert_true(note(&spell, 3, 4, 100));
    assert_int_equal(spell.idle, 0);
    assert_false(note(&spell, 4, 5, 99)); /* an active one is not idle above the threshold */
    assert_int_equal(spell.idle, 0);
}

static void missing_and_overlapping_windows(void **state)
{
    (void)state;
    struct idle_spell spell = IDLE_SPELL_NEW;
    note(&spell, 0, 1, 0);
    note(&spell, 100, 101, 0); /* nobody measured for 99 minutes: that time is not idle */
    assert_int_equal(spell.idle, 2 * MINUTE);
    note(&spell, 100, 102, 0); /* a minute of it counts already */
    assert_int_equal(spell.idle, 3 * MINUTE);
    note(&spell, 50, 60, 1000); /* late, and older than what is known */
    assert_int_equal(spell.idle, 3 * MINUTE);
}

static void steps_and_back_off(void **state)
{
    (void)state;
    struct idle_spell spell = {.idle = 3 * MINUTE, .told = TIME_NEVER};
    assert_int_equal(idle_step(&idle_reclaim, &terms, &spell, 0), IDLE_TELLS);
    spell.told = spell.idle;
    assert_int_equal(idle_step(&idle_reclaim, &terms, &spell, 0), IDLE_WAITS); /* grace 0, but no new measurement */
    spell.idle++;
    assert_int_equal(idle_step(&idle_reclaim, &terms, &spell, 0), IDLE_ACTS);
    assert_int_equal(idle_step(&idle_tell, &terms, &spell, 0), IDLE_WAITS);
    const struct idle_config graced = {.grace = MINUTE, .rest = MINUTE};
    assert_int_equal(idle_grace(&idle_reclaim, &graced, 3), 8 * MINUTE);
    assert_int_equal(idle_grace(&idle_reclaim, &graced, IDLE_STRIKES_MAX), TIME_NEVER);
    assert_int_equal(idle_grace(&idle_tell, &graced, 0), TIME_NEVER);
    assert_int_equal(idle_rest(&graced, 3), 4 * MINUTE);
    assert_int_equal(idle_rest(&terms, 1), SECONDS(1));
}

/* ---- In the scheduler ---- */

#define POLICY(rest)                                                                                                   \
    "{'blocking': 'skip', 'preemption': {'policy': 'checkpoint', 'grace_s': 30}, 'idle': {'policy': " rest             \
    ", 'window_s': 180, 'grace_s': 120, 'rest_s': 600}}"

static struct job notebook(job_id id, uint16_t gpus)
{
    struct job job = sched_case_job(id, 1, gpus, 50);
    job.class = JOB_INTERACTIVE;
    job.is_preemptible = true;
    job.checkpoint.duration = SECONDS(10);
    return job;
}

/* Measure job 0 in the minute before, then run a cycle. */
static void measure(struct sched_case *c, int minute, uint16_t milli)
{
    const struct observation seen = {
        .since = (minute - 1) * MINUTE, .until = minute * MINUTE, .sm_active_milli = milli};
    sched_job_observed(c->sched, 0, &seen, minute * MINUTE);
    sched_case_start(c, minute * MINUTE);
}

static void open_with_waiting(struct sched_case *c, const char *policy)
{
    sched_case_open(c, cluster_uniform_new(1, 4), queue_table_new(), policy);
    sched_case_submit(c, notebook(0, 4), 0);
    sched_case_start(c, 0);
    sched_case_submit(c, sched_case_job(1, 1, 4, 50), 0);
    sched_case_cycle(c, 0);
}

static const struct decision *only(const struct sched_case *c, enum decision_kind kind)
{
    assert_int_equal(sched_case_count(c, kind), 1);
    for (size_t i = 0; i < c->count; i++)
        if (c->decisions[i].kind == kind)
            return &c->decisions[i];
    return NULL;
}

static void told_first_then_evicted_then_rests(void **state)
{
    (void)state;
    struct sched_case c;
    open_with_waiting(&c, POLICY("'reclaim'"));
    for (int minute = 1; minute <= 2; minute++) {
        measure(&c, minute, 20);
        assert_int_equal(c.count, 0);
    }
    measure(&c, 3, 20);
    const struct decision *told = only(&c, DECISION_NOTIFY);
    assert_int_equal(told->job, 0);
    assert_int_equal(told->reason, REASON_IDLE);
    assert_int_equal(told->grace, SECONDS(120));
    assert_int_equal(told->piece_count, 0);
    measure(&c, 4, 20);
    assert_int_equal(c.count, 0); /* told once, and the grace is not over */
    measure(&c, 5, 20);
    const struct decision *evict = only(&c, DECISION_EVICT);
    assert_int_equal(evict->reason, REASON_IDLE);
    assert_int_equal(evict->grace, SECONDS(30));
    assert_int_equal(evict->for_job, JOB_NONE);
    sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_SAVED, 5 * MINUTE + SECONDS(10));
    sched_case_start(&c, 5 * MINUTE + SECONDS(10));
    assert_int_equal(only(&c, DECISION_START)->job, 1); /* it came later, and is behind in the order */
    assert_int_equal(sched_why(c.sched, 0), REASON_IDLE);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, 6 * MINUTE);
    sched_case_start(&c, 6 * MINUTE);
    assert_int_equal(c.count, 0); /* the GPUs are free, but it rests */
    const time_ns rested = 15 * MINUTE + SECONDS(10);
    assert_int_equal(c.wake_at, rested);
    assert_int_equal(sched_case_start(&c, rested), 1);
    sched_case_close(&c);
}

static void active_again_within_the_grace(void **state)
{
    (void)state;
    struct sched_case c;
    open_with_waiting(&c, POLICY("'reclaim'"));
    for (int minute = 1; minute <= 4; minute++)
        measure(&c, minute, 0);
    measure(&c, 5, 500);
    for (int minute = 6; minute <= 7; minute++) {
        measure(&c, minute, 0);
        assert_int_equal(c.count, 0);
    }
    measure(&c, 8, 0);
    only(&c, DECISION_NOTIFY); /* a new idle time: told anew */
    sched_case_close(&c);
}

static void missing_measurements_are_not_idle(void **state)
{
    (void)state;
    struct sched_case c;
    open_with_waiting(&c, POLICY("'reclaim'"));
    measure(&c, 1, 0);
    measure(&c, 2, 0);
    sched_case_cycle(&c, 60 * MINUTE);
    assert_int_equal(c.count, 0);
    measure(&c, 61, 0);
    only(&c, DECISION_NOTIFY);
    sched_case_close(&c);
}

static void spared(const char *policy, struct job job, bool is_waited_for)
{
    struct sched_case c;
    sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), policy);
    sched_case_submit(&c, job, 0);
    sched_case_start(&c, 0);
    if (is_waited_for)
        sched_case_submit(&c, sched_case_job(1, 1, 4, 50), 0);
    for (int minute = 1; minute <= 60; minute++) {
        measure(&c, minute, 0);
        assert_int_equal(sched_case_count(&c, DECISION_EVICT), 0);
    }
    sched_case_close(&c);
}

static void who_is_not_evicted(void **state)
{
    (void)state;
    struct job unsaved = notebook(0, 4), firm = notebook(0, 4), training = notebook(0, 4);
    unsaved.checkpoint.duration = 0;
    firm.is_preemptible = false;
    training.class = JOB_TRAINING;
    spared(POLICY("'tell'"), notebook(0, 4), true);
    spared("{'blocking': 'skip', 'idle': 'none'}", notebook(0, 4), true);
    spared(POLICY("'reclaim'"), notebook(0, 4), false); /* nobody wants the space */
    spared(POLICY("'reclaim'"), unsaved, true);
    spared(POLICY("'reclaim'"), firm, true);
    spared(POLICY("'reclaim'"), training, true);
}

/* Evicted again and again, later each time. */
static void back_off_grows(void **state)
{
    (void)state;
    struct sched_case c;
    struct queue_table *queues = queue_table_new();
    struct job barred = sched_case_job(1, 1, 4, 40);
    barred.queue = queue_table_add(queues, TEXT("barred"), QUEUE_ROOT);
    queues->queues[barred.queue].limit[RESOURCE_GPU] = GPU_MILLI;
    sched_case_open(&c, cluster_uniform_new(1, 4), queues, POLICY("'reclaim'"));
    sched_case_submit(&c, notebook(0, 4), 0);
    sched_case_start(&c, 0);
    sched_case_submit(&c, barred, 0); /* it wants the space for ever */
    int began = 0, last = 0, evictions = 0;
    for (int minute = 1; minute <= 400 && evictions < 4; minute++) {
        measure(&c, minute, 0);
        if (sched_case_count(&c, DECISION_START) > 0)
            began = minute;
        if (sched_case_count(&c, DECISION_EVICT) == 0)
            continue;
        assert_int_equal(minute - began, 3 + (2 << evictions)); /* the window, and a grace that doubles */
        if (evictions > 0)
            assert_true(began - last >= 10 << (evictions - 1)); /* and so does the rest */
        evictions++;
        last = minute;
        sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_SAVED, minute * MINUTE);
    }
    assert_int_equal(evictions, 4);
    sched_case_close(&c);
}

static void cancelled_while_it_rests(void **state)
{
    (void)state;
    struct sched_case c;
    open_with_waiting(&c, POLICY("'reclaim'"));
    for (int minute = 1; minute <= 5; minute++)
        measure(&c, minute, 0);
    sched_job_evicted(c.sched, 0, MEMBERS_ALL, EVICT_SAVED, 5 * MINUTE);
    sched_job_cancelled(c.sched, 0, 6 * MINUTE);
    sched_case_start(&c, 6 * MINUTE);
    sched_job_ended(c.sched, 1, JOB_END_COMPLETED, false, 7 * MINUTE);
    sched_case_start(&c, 20 * MINUTE);
    assert_int_equal(c.count, 0);
    sched_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_and_hysteresis),
        cmocka_unit_test(missing_and_overlapping_windows),
        cmocka_unit_test(steps_and_back_off),
        cmocka_unit_test(told_first_then_evicted_then_rests),
        cmocka_unit_test(active_again_within_the_grace),
        cmocka_unit_test(missing_measurements_are_not_idle),
        cmocka_unit_test(who_is_not_evicted),
        cmocka_unit_test(back_off_grows),
        cmocka_unit_test(cancelled_while_it_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
