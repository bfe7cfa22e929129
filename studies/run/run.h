/* studies/run/run.h -- one run of a scenario: read, simulated, its metrics, and its record if one is wanted.
 *
 *   struct run run;
 *   struct error error = run_simulate(&run, &options);
 *   if (!error_is(error))
 *       error = run_commit(&run, &host);        (only if options.out is not NULL)
 *   ... run.metrics ...
 *   run_release(&run);                          (on error too)
 *
 * Law: the same options give the same metrics and the same bytes of the record, apart from `host`.  The files of the
 * record appear together, in run_commit, or not at all; a process that is killed while it replaces a record leaves one
 * without result.json.  While a run goes on, another one into the same folder is refused.
 *
 * It does not: print, read a clock, or catch signals.
 */
#ifndef STUDIES_RUN_RUN_H
#define STUDIES_RUN_RUN_H

#include "base/folder.h"
#include "base/output.h"
#include "reports/gates.h"
#include "reports/metrics.h"
#include "reports/result.h"
#include "sim/live/event_file.h"
#include "sim/live/process.h"
#include "sim/record/record_files.h"
#include "sim/scenario/scenario.h"
#include "studies/run/fork.h"

struct run_options {     /* all but `version` may be NULL, 0 or false */
    const char *version; /* of Windtunnel, for the record */
    struct scenario_options scenario;
    const char *out;                /* the record's folder; NULL: no record */
    bool has_events;                /* the record has every fact and decision too; needs `out` */
    const char *scheduler;          /* the command of another program that decides */
    struct text decisions;          /* its recorded answers, in its place (sim/live/process.h); at NULL: none */
    int64_t scheduler_timeout_ms;   /* the real time that it has for a cycle */
    bool is_checked;                /* verify the invariants at every instant */
    bool keeps_arrivals;            /* hash the arrivals, for run_result_text and the record */
    const struct record_sink *sink; /* takes the rows too, besides the metrics and the record */
    const volatile sig_atomic_t *stop;
    /* Called when the inputs are read and the files of the record are open, before another program or the first job
     * starts.  Up to then there is nothing to keep. */
    void (*on_begin)(void);
    void (*on_progress)(void *self, const struct engine_progress *progress);
    void *progress_self;
    const char *fork;             /* the folder of a record, whose scenario is taken; NULL: the run begins at 0 */
    time_ns fork_at;              /* the moment of that record at which the run begins */
    struct fork *moment;          /* the same moment, replayed already; borrowed, and used up; NULL: it is made here */
    const char *const *arguments; /* the command line, for the page; NULL-terminated; NULL: none */
};

struct run {
    const struct run_options *options; /* borrowed */
    struct scenario scenario;
    struct job_source *source; /* of a fork that of its replay */
    struct metrics *metrics;   /* complete after run_simulate */
    struct engine_result result;
    struct service_levels levels; /* in the arena */
    struct assumed_list assumed;  /* complete after run_simulate */
    struct folder *folder;        /* of the record, held until run_release; NULL without one, like the next three */
    struct record_files *files;
    struct output *page, *summary; /* report.html and result.json */
    struct event_file *events;     /* NULL without events */
    struct fork *fork, own_fork;   /* own_fork, or the moment of the options; NULL: the run begins at 0 */
    struct process *process;       /* NULL if the library decides */
    struct arena arena;
};

/* Read the scenario, open the files of the record, run to the end, compute the metrics.  A run that made no progress is
 * no error: see engine_result.stall.  On error too the caller releases *run. */
struct error run_simulate(struct run *run, const struct run_options *options) MUST_CHECK;

/* Write the record; needs `out`. */
struct error run_commit(struct run *run, const struct result_host *host) MUST_CHECK;

/* Append what result.json holds.  host NULL: {}. */
struct error run_result_text(const struct run *run, const struct result_host *host, struct buffer *out) MUST_CHECK;

/* The name of what decides: the policy, or the command. */
const char *run_policy_name(const struct run *run);

/* The service levels of a scenario, in the arena; an error has its place in the file. */
struct error run_service_levels(const struct scenario *scenario, struct arena *arena,
                                struct service_levels *out) MUST_CHECK;

/* The same of its gates, which a comparison judges by; a run reads them only to refuse what is wrong. */
struct error run_gates(const struct scenario *scenario, struct arena *arena, struct gates *out) MUST_CHECK;

void run_release(struct run *run);

#endif
