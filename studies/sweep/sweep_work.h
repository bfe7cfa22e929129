/* studies/sweep/sweep_work.h -- makes the runs of a plan that are not recorded yet, or a share of them.
 *
 *   struct sweep_work_options options = {.folder = "out/sweep", .version = VERSION, .worker_count = 2, ...};
 *   struct sweep_tally tally;
 *   TRY(sweep_work(&options, &tally));
 *
 * Each run has a process of its own (base/worker_pool.h), whose time and memory may be limited.  This process keeps
 * what comes back (studies/sweep/sweep_books.h).  Share i of n has the runs i, i + n, i + 2n, ... of the plan; it may
 * be made by any process on any machine that sees the folder and the inputs, at any time, again or twice at once.
 *
 * Law: a run that crashes, runs out of memory or takes too long is a recorded failure of that run alone.  A run that is
 * recorded as done is not made again.  A failed one is made again if it was killed from outside, or if `retries`.  What
 * ends this process, be it SIGKILL, a signal that sets `stop` or a full disk, loses only the runs that were not
 * recorded.
 */
#ifndef STUDIES_SWEEP_SWEEP_WORK_H
#define STUDIES_SWEEP_SWEEP_WORK_H

#include <signal.h>

#include "studies/sweep/sweep_books.h"

struct sweep_work_options {
    const char *version;      /* of Windtunnel; must be that of the plan */
    const char *folder;       /* of the plan */
    const char *paths_folder; /* to which the paths of traces and plug-ins are relative; NULL: as the plan says */
    size_t share_index, share_count; /* 0, 1: all runs */
    size_t worker_count;             /* runs at the same time */
    bool is_bound;                   /* bind each run to a core */
    int64_t timeout_ns;              /* real time that a run may take; 0: any */
    uint64_t memory_bytes;           /* address space that a run may use; 0: any */
    bool retries;                    /* make failed runs again */
    const volatile sig_atomic_t *stop;
    void (*on_progress)(void *self, size_t done, size_t total); /* some times a second; NULL: nothing to do */
    void *progress_self;
};

/* Counts of distinct runs of the share. */
struct sweep_tally {
    size_t known;              /* recorded before */
    size_t total;              /* that this call was to make */
    size_t counts[RUN_STATES]; /* runs that this call made, by what became of them */
};

/* An error is one of this process: no plan, changed inputs, a full disk; *tally counts what was recorded before. */
struct error sweep_work(const struct sweep_work_options *options, struct sweep_tally *tally) MUST_CHECK;

#endif
