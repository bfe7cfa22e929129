/* studies/check/law_watch.h -- a listener of a run (sim/engine/port.h) that finds the first law that is broken.
 *
 *   struct law_watch watch;
 *   law_watch_open(&watch, &options);
 *   config.listener = &watch.outside;
 *   error = engine_run(&config, &result);        an error of the listener ends the run; watch.broken says which law
 *   law_watch_end(&watch, is_whole);             laws of the end
 *   law_watch_release(&watch);
 *
 * How each law is told
 *   gang      after each cycle a job that a decision named holds its minimum, or nothing
 *   no_loop   no job is evicted for one that was evicted for it within ten cycles without a fact from outside (a
 *             submission, an end); and no job is evicted more often without such a fact than it has members, and four
 *   minimal   with one victim kept and the others gone, the preemptor would not fit on the free GPUs
 *   reclaim   each job of the owners' queue starts within a bound
 *   strict    no job starts while one with a smaller id, which may start, never did; a job below a queue with a limit
 *             holds back nobody, since jobs pass one that is beyond it (policies/queues/queues.h)
 *   starts    each job has ended at the end
 *   ends      cycles and evictions are bounded by the jobs and the simulated time
 *
 * `minimal`, `reclaim` and `starts` are told only in scenarios of a known shape (studies/worlds/shaped_scenario.h).
 * `minimal` is told where one job is a preemptor in a cycle, and moves nobody.
 */
#ifndef STUDIES_CHECK_LAW_WATCH_H
#define STUDIES_CHECK_LAW_WATCH_H

#include "sim/engine/port.h"
#include "studies/check/law_books.h"
#include "studies/check/laws.h"

enum { NO_LOOP_CYCLES = 10, LAW_TEXT_BYTES = 240 };

struct law_watch_options {
    unsigned laws; /* bits of enum check_law that are told in this scenario */
    const struct cluster *cluster;
    const struct queue_table *queues; /* as at the start */
    queue_id owner;                   /* the queue of the owners; QUEUE_NONE: there is none */
    time_ns reclaim_bound;            /* from the submission to the start */
};

struct law_watch {
    struct law_watch_options options;
    struct port_outside outside;
    struct law_books books;
    time_ns now;
    enum check_law broken; /* CHECK_LAW_COUNT: none */
    char what[LAW_TEXT_BYTES];
    uint64_t seen[CHECK_LAW_COUNT]; /* how much evidence there was for each law */
};

void law_watch_open(struct law_watch *watch, const struct law_watch_options *options);
void law_watch_end(struct law_watch *watch, bool is_whole);
void law_watch_release(struct law_watch *watch);

/* Note a broken law; the first one is kept. */
void law_watch_break(struct law_watch *watch, enum check_law law, const char *format, ...) LIKE_PRINTF(3, 4);

#endif
