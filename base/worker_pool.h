/* base/worker_pool.h -- many independent tasks over many processes.
 *
 * Each task runs in a process of its own, forked from this one: it may read all that its parent has read, and what it
 * changes stays with it.  It hands back bytes.
 *
 * Law: a task that crashes, is killed, exits, runs out of memory or returns an error is a failure of that task alone.
 * Afterwards no process and no descriptor is left: a task leads a process group, which ends with it.  What a task
 * returns depends on its index and the parent's memory only, so the results are those of the same calls in one process;
 * just the order of on_done depends on the machine.
 *
 *   static struct error square(void *self, size_t index, struct buffer *out);
 *   struct worker_pool pool = {.task_count = 20, .worker_count = 2, .run = square, .on_done = keep, .self = &table};
 *   TRY(worker_pool_run(&pool));
 *
 * It does not: share memory between tasks, repeat a task, or limit its time.
 */
#ifndef BASE_WORKER_POOL_H
#define BASE_WORKER_POOL_H

#include <signal.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

struct worker_result {
    size_t index;         /* of the task */
    bool is_done;         /* false: it failed */
    struct text bytes;    /* what the task wrote into `out`; of a failed one nothing */
    enum error_kind kind; /* of a failed one: that of its error; of one that ended otherwise ERROR_INTERNAL */
    const char *failure; /* of a failed one: "signal 6 (Aborted)", "exit with status 3 before the end", or the report of
                          * its error, as error_text_new gives it but without the first word and the last newline */
    int status;          /* of its process, as waitpid gives it, or WORKER_NOT_STARTED */
    const char
        *said; /* the first WORKER_SAID_BYTES_MAX bytes that it wrote to standard output and error; "": nothing */
};             /* borrowed for the call */

enum { WORKER_SAID_BYTES_MAX = 64 << 10, WORKER_NOT_STARTED = -1 };

struct worker_pool {
    size_t task_count;   /* the tasks are 0 .. task_count - 1, and start in this order */
    size_t worker_count; /* tasks that run at the same time; at least 1 */
    /* In the child, before `run`.  slot: 0 .. worker_count - 1; tasks that run at the same time have different ones.
     * NULL: nothing to do. */
    void (*on_start)(void *self, size_t slot);
    /* In the child.  Standard input is empty; SIGINT and SIGTERM end it. */
    struct error (*run)(void *self, size_t index, struct buffer *out);
    void (*on_begin)(void *self, size_t index); /* in the parent, when the task has a process; NULL: nothing to do */
    /* In the parent, once for each task that was not given up, in the order in which they end. */
    void (*on_done)(void *self, const struct worker_result *result);
    void (*on_wait)(void *self); /* in the parent, some times a second while tasks run; NULL: nothing to do */
    void *self;
    /* If it points to another value than 0, no more tasks start, and running tasks are killed. */
    const volatile sig_atomic_t *stop;
};

/* Run all tasks.  An error is one of this process (no pipe, for example): then the tasks that run are killed and given
 * up.  If no process can be forked, fewer run at the same time; if none runs, that is the failure of the task. */
struct error worker_pool_run(const struct worker_pool *pool) MUST_CHECK;

/* The cores that this process may use. */
size_t worker_core_count(void);

#endif
