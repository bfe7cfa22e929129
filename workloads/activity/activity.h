/* workloads/activity/activity.h -- the SM activity of a job over its life: a seeded, piecewise constant process.
 *
 * A plan says what the process of a kind of job is like; an activity is the process of one job.
 *
 *   busy       one level, drawn once
 *   notebook   active bursts and idle gaps in turns, the burst first; each burst has its own level, and a gap may last
 *              for ever (the notebook is abandoned)
 *   training   work and input stalls in turns, the work first; the level of work is drawn once
 *   inference  GPUs prefill for some part of an hour and decode in the rest; the part follows the hour of the day:
 *              part(h) = prefill_share x (1 + (peak - 1) cos(2 pi (h - peak_hour) / 24)).  Phases take milliseconds,
 *              so the level is the mean of both
 *
 * Laws
 *  - The process depends on (plan, seed, job) alone, and goes on only while the job runs: it is a function of the time
 *    that the job has run, in all its attempts.  An eviction halts it and changes nothing else.  Inference depends on
 *    the time of day alone.
 *  - Level 0 means idle: no SM is busy.  Bursts and work have at least level 1 of 1000.
 *  - Phases are whole milliseconds, at least one, so a process always gets on.
 *
 *   struct activity activity;
 *   activity_begin(&activity, &plan, seed, job->id);
 *   while (since < to) {
 *       time_ns span = activity_holds(&activity, since);   // the level is constant for that long
 *       ...
 *       activity_run(&activity, span);
 *   }
 *
 * Sources: that GPUs are either idle or busy at a SM activity of about Beta(mean 0.70, sd 0.12): Acme's fleet, see
 * docs/activity.md.
 *
 * It does not: know GPUs, schedulers, or what the job declares.
 */
#ifndef WORKLOADS_ACTIVITY_ACTIVITY_H
#define WORKLOADS_ACTIVITY_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/random.h"
#include "base/time.h"
#include "workloads/synth/run_time.h"

enum activity_kind { ACTIVITY_BUSY, ACTIVITY_NOTEBOOK, ACTIVITY_TRAINING, ACTIVITY_INFERENCE };
extern const char *const activity_kind_names[]; /* "busy", "notebook", "training", "inference", NULL */

/* The part of the SMs that are busy: a constant, or drawn from a beta distribution. */
struct activity_level {
    double mean, sd; /* sd 0: constant */
};

struct activity_plan {
    enum activity_kind kind;
    struct activity_level level;       /* not of inference */
    struct distribution active, quiet; /* notebook: bursts and gaps; training: work and stalls */
    double abandoned;                  /* notebook: the chance of a gap to last for ever */
    uint16_t stall_milli;              /* training: the level of a stall */
    double prefill, decode;            /* inference: levels */
    double prefill_share;              /* inference: part of the time, mean over a day */
    double peak, peak_hour;            /* inference: highest part / mean part, 1..2 */
    uint16_t hour_milli[24];           /* inference: the level by hour of the day */
};

/* Read the members of a plan in an open object, of which the caller reads others: {"kind": "notebook", "level": 0.7,
 * "level_sd": 0.12, "burst": {"distribution": "exponential", "mean": "10m"}, ...}.  Fails through the sticky error. */
void activity_plan_read(struct activity_plan *plan, struct json_object *object);

struct activity {
    const struct activity_plan *plan; /* borrowed */
    struct random_stream stream;      /* so an activity must not be copied or moved */
    time_ns left;                     /* of this phase; TIME_NEVER: it lasts for ever */
    uint16_t own_milli;               /* level of bursts or work, of the last draw */
    bool is_active;                   /* in a burst, or at work */
};

void activity_begin(struct activity *activity, const struct activity_plan *plan, uint64_t seed, uint64_t job);

/* The level now, 0..1000, and for how long it holds if the job runs on. */
uint32_t activity_level(const struct activity *activity, time_ns now);
time_ns activity_holds(const struct activity *activity, time_ns now);

/* The job has run for `span`: at most what activity_holds says. */
void activity_run(struct activity *activity, time_ns span);

#endif
