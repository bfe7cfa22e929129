/* studies/divergence/divergence.h -- the first decision in which two runs differ: who did what, and why.
 *
 * Both scenarios are run here, with listeners, and no files.  Side A is run as a whole, side B until its first decision
 * that A has not made then.  Both are then run again up to that time, to ask the schedulers why.
 *
 * Words: decisions differ if their lines in events.jsonl.zst do (policies/wire.h), the number of the decision apart.
 * What the inputs bring (jobs, ends, nodes) are facts; where the inputs differ, facts may differ before any decision.
 *
 *   struct divergence divergence;
 *   TRY(divergence_find(&a, &b, NULL, &divergence));
 *   divergence_text(&divergence, "fifo", "windtunnel", &out);
 *   divergence_release(&divergence);
 *
 * Laws
 *  - All decisions before it are the same on both sides, at the same times.
 *  - A side that does not decide what the other one does is asked after its own cycle of that time; the reason is that
 *    of `windtunnel explain --at`.
 *  - Memory: that of one run, and two trails (studies/divergence/trail.h).
 *
 * It does not: compare results, or say what the difference leads to.
 */
#ifndef STUDIES_DIVERGENCE_DIVERGENCE_H
#define STUDIES_DIVERGENCE_DIVERGENCE_H

#include "base/buffer.h"
#include "sim/scenario/scenario.h"
#include "studies/divergence/named_job.h"
#include "studies/divergence/trail.h"

enum { SIDE_A, SIDE_B, SIDE_COUNT };

/* What a side decided for a job at that time. */
struct divergence_act {
    uint64_t number; /* of the decision in its run, from 1; 0: nothing was decided */
    enum decision_kind kind;
    bool is_partial;
    job_id for_job;    /* EVICT: the preemptor; JOB_NONE */
    const char *place; /* "n[0-7]:0-7"; "": it names no pieces */
    enum reason reason;
    time_ns grace;
    enum source source;
    const char *line; /* as in events.jsonl.zst */
};

/* A job on one side, after the cycle. */
struct divergence_view {
    bool is_known; /* it was submitted there by then; else the fields below are 0 */
    uint8_t state; /* enum job_end_state */
    struct divergence_act act;
    uint32_t evictions_for_it; /* decided at that time */
    bool is_explained;         /* it waits, and: */
    enum reason code;
    const char *needs; /* what must change, as in `windtunnel explain` */
};

struct divergence_job {
    struct named_job is;
    struct divergence_view on[SIDE_COUNT];
};

/* The jobs of the first decisions that differ, and their preemptors. */
enum { DIVERGENCE_JOBS_MAX = 4 };

struct divergence {
    bool is_stopped; /* by the flag: nothing is known */

    /* The first fact that differs, if it comes before the first decision that does. */
    bool has_fact;
    time_ns fact_at;
    const char *fact_line[SIDE_COUNT]; /* as in events.jsonl.zst; "": the side has no such fact then */

    bool has_decision;
    time_ns at;
    uint64_t same_count;         /* cycles with decisions before, the same on both sides */
    uint64_t number[SIDE_COUNT]; /* of the first decision that differs; 0: the side decides nothing more then */
    struct divergence_job jobs[DIVERGENCE_JOBS_MAX];
    uint32_t job_count;

    struct arena arena; /* owns all texts */
};

struct divergence_options {
    const volatile sig_atomic_t *stop; /* as in struct engine_config; NULL: none */
    size_t marks_max;                  /* of each trail, even; fewer cost more runs; 0: TRAIL_MARKS_MAX */
};

/* options NULL: the defaults.  On error nothing needs to be released. */
struct error divergence_find(const struct scenario_options *a, const struct scenario_options *b,
                             const struct divergence_options *options, struct divergence *out) MUST_CHECK;
void divergence_release(struct divergence *divergence);

/* Some lines for people; a, b: what to call the sides. */
void divergence_text(const struct divergence *divergence, const char *a, const char *b, struct buffer *out);

/* One JSON object, without a newline behind it: {"fact": {"at_s", "lines": [A, B]}, "at_s", "same_cycles",
 * "decisions": [A, B], "jobs": [{"id", "job", "queue", "class", "gpus", "sides": [A, B]}]}; null: nothing differs, or
 * it is not known. */
void divergence_json(const struct divergence *divergence, const char *a, const char *b, struct buffer *out);

#endif
