/* studies/comparison/comparison.h -- several sides with the same jobs and chance: which is better?  Do gates hold?
 *
 * A side is a scenario that is run with each seed, a record that exists, or a baseline.  The first side is the base;
 * each of the others is a candidate and is compared with the base, seed by seed.
 *
 *   struct comparison comparison;
 *   struct error error = comparison_run(&comparison, &options);
 *   if (!error_is(error))
 *       comparison_write(&comparison, COMPARISON_TEXT, &show, &out);       (studies/comparison_show/comparison_show.h)
 *   comparison_release(&comparison);                            (on error too)
 *
 * Seeds: the base's own, and those after it.  With gates and `is_sequential`, 5 seeds are run, then 10, 20 and so on up
 * to `seed_count` as long as a gate is inconclusive; see reports/statistics/looks.h.  Records have the seed that they
 * have.
 *
 * Replays: where no side has a random part, each is shaken by a little with each seed (studies/run/replay_shake.h), and
 * run once as it is beside that.  With `is_unshaken`, one seed, a record among the sides or a fork it is run once as it
 * is, and its values decide: they say nothing but of this replay.
 *
 * Or all sides go on from one moment of a record, each under its own policy: the record is replayed once, and each side
 * goes on in a child of this process (studies/run/fork.h).
 *
 * Law: the result depends on the sides, the seeds and the gates only, not on the number of workers.  A run that fails
 * is left out on both sides of its pair, and told.
 *
 * Law: a candidate with a run that fails by what it runs, not for lack of a file, a process or memory, has failed if
 * the base has runs and none of them failed: it is no matter of doubt.  So has one that hangs: when the time is up,
 * its run with the first seed goes on, and has had four times the time that the base's took.  A run that has not begun
 * does not hang.  tests/cli/compare.sh checks it.
 *
 * It does not: print, or choose the exit status.
 */
#ifndef STUDIES_COMPARISON_COMPARISON_H
#define STUDIES_COMPARISON_COMPARISON_H

#include <signal.h>

#include "reports/difference.h"
#include "reports/gates.h"
#include "reports/long_run.h"
#include "reports/values.h"
#include "sim/scenario/scenario.h"
#include "studies/run/fork.h"
#include "studies/run/replay_place.h"
#include "studies/run/rerun.h"

enum {
    COMPARISON_SIDES_MAX = 16,
    COMPARISON_SEEDS_MAX = 1000,
    COMPARISON_SEEDS_SEQUENTIAL = 40, /* the last look */
    COMPARISON_SEEDS_PLAIN = 5,       /* if is_sequential, but there are no gates */
    COMPARISON_TIME_IS_UP = 1000,     /* a value of `stop` that is no signal */
};

/* A side; just one of record, baseline and scenario. */
struct comparison_side_options {
    const char *name;                /* distinct */
    const char *record;              /* a folder; NULL: none */
    const struct baseline *baseline; /* NULL: none */
    struct scenario_options scenario;
    const char *program; /* the windtunnel that runs the scenario (studies/run/rerun.h); NULL: this one */
};

struct comparison_options {
    const char *version; /* of Windtunnel */
    const struct comparison_side_options *sides;
    size_t side_count;         /* at least 2 */
    size_t seed_count;         /* at most; 1 .. COMPARISON_SEEDS_MAX */
    bool is_sequential;        /* stop when all gates are decided; without gates run COMPARISON_SEEDS_PLAIN */
    bool is_unshaken;          /* replays are run as they are */
    size_t worker_count;       /* runs at the same time */
    const char *fork;          /* the folder of the record from which all sides go on; NULL: they begin at 0 */
    time_ns fork_at;           /* the moment */
    const struct gates *gates; /* in place of those of the scenarios; NULL: the first side that has gates gives them */
    double alpha;              /* 0.05: of the gates together; intervals of the table have the level 1 - alpha */
    bool finds_first;          /* seek the first decision in which each candidate differs from the base */
    const char *scratch;       /* an existing folder, for the records of other programs; needed if a side has one */
    /* By side: the folder for the record of its replay as it is, or else of its run with the first seed; NULL: none. */
    const char *const *records;
    const char *kept; /* the folder of runs that are not made again (studies/run/kept_runs.h); NULL: none */
    const struct proposal *proposal; /* the sides are those of a change (proposal.h), and it has more gates; NULL: no */
    const char *command;             /* that makes this comparison again, for who reads its verdict; NULL: not known */
    const volatile sig_atomic_t *stop; /* not 0: stop; COMPARISON_TIME_IS_UP: at the last look that is whole */
    time_ns (*clock)(void);            /* real time from some moment on, to tell what hangs; NULL: not known */
    /* Called when the inputs are read, before anything is made or another program starts; it may still set `records`.
     * NULL: nothing to do. */
    struct error (*on_begin)(void *self);
    void *begin_self;
    /* Some times a second; done and total: runs of this look.  NULL: nothing to do. */
    void (*on_progress)(void *self, size_t done, size_t total);
    void *progress_self;
};

enum comparison_run_state { COMPARISON_RUN_MISSING, COMPARISON_RUN_DONE, COMPARISON_RUN_FAILED };
struct proposal;

struct comparison_run {
    enum comparison_run_state state;
    uint64_t seed;
    enum error_kind kind; /* of a failed run's error */
    char *failure, *said; /* of a failed one: what happened, and what the run said; owned */
    bool is_at_fault;     /* of a failed one: what it runs is the cause, as far as that can be known */
    struct values values; /* of one that is done */
    bool has_chance;      /* another seed may give other values */
};

/* The first decision in which a candidate differs from the base, in the replay as it is, or else with the first seed
 * (studies/divergence/divergence.h).  All NULL: it was not sought, or the comparison was stopped before. */
struct comparison_first {
    char *text, *json; /* as divergence_text and divergence_json write it; owned */
    char *unknown;     /* why it is not known; owned */
};

/* The queue times of the same jobs in one run of each, candidate less base, as one series (reports/long_run.h). */
struct comparison_long {
    bool is_known;
    char *unknown; /* why it is not known; NULL: there are several seeds; owned */
    struct steady all, by_class[JOB_CLASS_COUNT];
};

struct comparison_side {
    const char *name;
    bool is_fixed;                  /* a record or a baseline: nothing is run */
    struct comparison_run *runs;    /* by index of the seed; owned */
    struct comparison_run replay;   /* as it is, of a comparison that is shaken; missing of a baseline */
    struct scenario_options shaken; /* of the other runs; of a comparison that is shaken */
    struct comparison_first first;
    struct comparison_long one_run; /* of a candidate */
    struct job_waits waits;         /* of its run, until `one_run` is known */
    struct rerun rerun;             /* open if another program makes the runs */
    char scenario_digest[33];       /* of the scenario but for what may differ between versions of a policy */
};

/* A metric and its values. */
struct comparison_row {
    struct metric_selector of;
    const struct metric *metric;
    double *numbers; /* by side and seed: [side * seed_count + seed]; NAN: not defined, or no run */
    double *replays; /* by side: of the replay as it is; NAN as above */
};

/* A gate for a side. */
struct comparison_verdict {
    struct gate_test test;
    struct gate_result result;
    bool is_new; /* of a gate that the base of a change does not have: it is shown, and judges nothing */
};

struct comparison {
    const struct comparison_options *options; /* borrowed */
    struct comparison_side sides[COMPARISON_SIDES_MAX];
    size_t side_count;
    uint64_t *seeds;                /* of all sides alike */
    size_t seed_capacity;           /* seeds that there may be */
    size_t seed_count;              /* seeds of the last look */
    size_t run_count, failed_count; /* finished runs, failed ones included; failed runs */
    char *blocks;     /* "weeks": the blocks of the trace that are drawn (workloads/readers/blocks.h); NULL: none */
    char *shake;      /* how the trace is shaken (workloads/readers/shake.h), in words; NULL: it is not */
    bool is_shaken;   /* replays that are shaken here, not by their scenarios */
    bool keeps_waits; /* runs hand back the queue times of their jobs */
    bool is_exact;    /* one run of each side, without chance */
    bool is_partial;  /* stopped before its end */
    bool is_same;     /* of a change that changes no run: nothing was run */
    bool is_time_up;  /* the time was up before the gates were decided; the looks that are told are whole */
    bool is_fixed;    /* all sides are records or baselines */
    size_t look, look_count; /* the last look, from 0, and how many there may be */
    double level;            /* of the intervals of the differences: 0.95; in a sequence that of the look */
    struct comparison_row *rows;
    size_t row_count;
    struct difference
        *differences[COMPARISON_SIDES_MAX]; /* by side (none for the base), row_count each, in row order */
    struct fork moment;                     /* of options->fork; else {0} */
    struct gates gates;
    struct comparison_verdict *verdicts;
    size_t verdict_count;
    size_t holding;  /* the inconclusive verdict that needs most seeds to be decided (gates_need); SIZE_MAX: none */
    char **warnings; /* one line each, without a line end */
    size_t warning_count, warning_capacity;
    size_t caveat_count;            /* the first warnings: every format says them before any difference */
    struct arena arena, look_arena; /* look_arena: rows, differences, verdicts; made anew by each look */
};

/* An error is a wrong scenario, record or gate, or that no run succeeded; a stop is none. */
struct error comparison_run(struct comparison *comparison, const struct comparison_options *options) MUST_CHECK;
void comparison_release(struct comparison *comparison);

/* GATE_PASSED too if there are no gates; GATE_FAILED if a side has failed. */
enum gate_state comparison_state(const struct comparison *comparison);

/* Has this side failed (see the law above)?  *failed: how many of its runs, of *count. */
bool comparison_side_has_failed(const struct comparison *comparison, size_t side, size_t *failed, size_t *count);

/* All runs that were asked for are done. */
bool comparison_is_complete(const struct comparison *comparison);

/* is_shaken: the replay of a side in a row. */
struct replay_place comparison_replay_place(const struct comparison *comparison, size_t row, size_t side);

/* The run of the side from which its record is, and the first decision that differs. */
const struct comparison_run *comparison_shown_run(const struct comparison *comparison, size_t side);

/* The seeds that the differences of this side are of. */
size_t comparison_pair_count(const struct comparison *comparison, size_t side);

#endif
