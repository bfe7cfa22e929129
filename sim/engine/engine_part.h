/* sim/engine/engine_part.h -- a part of the simulated world: what it does to jobs and nodes, with state of its own.
 *
 * The engine keeps the clock, the events and the lives of jobs.  All else is a part: faults, checkpoints, a monitor,
 * the recorded size of the cluster.  A part is one struct of hooks, at the end of its file, and a row of ENGINE_PARTS.
 *
 *   struct faults { ... };                                                  in its own file, known to nobody else
 *   static void *begin(struct engine *engine, uint32_t needs)               NULL: the world has no faults
 *   static void submitted(struct engine *engine, uint32_t slot, ...)        its state: engine->states[PART_faults]
 *   const struct engine_part engine_part_faults = {.begin = begin, .release = release, .submitted = submitted};
 *
 * Laws
 *  - The order of ENGINE_PARTS is the order in which hooks of the same name are called.  Each hook that needs an order
 *    says so below.  What does not is free of it.
 *  - A part that the world does not configure is not in engine->parts: no hook of it is called, it costs nothing.
 *  - The core calls parts through hooks alone; a part calls the core (sim/engine/engine_state.h), and another part
 *    through its header, one way.  So there is no circle of files: `make lint` finds one (tools/lint/symbols), and it
 *    finds a part that ENGINE_PARTS leaves out.
 *  - A part's state is known to its own files alone.  What several parts read of a job is in struct sim_job.
 *
 * `begin` and `release` are required, all other hooks optional.  They may push events and call the core.
 *
 * It does not: know what a part does, or let a part decide (the scheduler alone does).
 */
#ifndef SIM_ENGINE_ENGINE_PART_H
#define SIM_ENGINE_ENGINE_PART_H

#include "policies/sched.h"
#include "sim/job/progress.h"
#include "sim/record/record.h"
#include "workloads/job.h"
#include "workloads/job_filter.h"
#include "workloads/job_truth.h"

struct engine;
struct event;
struct sim_speed;
struct sim_spent;

/* A job that is submitted; all is borrowed for the call. */
struct job_asked {
    const struct job *job;
    const struct job_truth *truth;
    struct job_names names;      /* of its user and its class; "": none */
    const struct job_group *got; /* what its groups get under the sharing policy, in place of what they ask for */
};

/* What a job, or a decision, may need of a part that the world does not configure. */
enum job_need { NEED_COMMUNICATION = 1, NEED_ATTEMPTS = 2, NEED_REPARTITION = 4 };

/* What is lost when an attempt ends. */
struct sim_loss {
    const struct sim_spent *spent; /* `idle` by cause */
    time_ns idle;                  /* time without work, or that asynchronous writes took */
    int64_t thrown;                /* GPU time of the work that is thrown away */
    int64_t overhead;              /* GPU time of `idle`; a part may count it otherwise */
    int64_t own;                   /* GPU time of `overhead` that no eviction caused */
};

/* The next event of a job that runs. */
struct sim_next {
    time_ns end;    /* of its work, or when it leaves its space otherwise */
    time_ns due;    /* an event of a part, EVENT_CHECKPOINT; TIME_NEVER: none */
    bool has_limit; /* its limit kills it */
};

struct engine_part {
    /* ---- The run ---- */

    /* Returns its state, which the part owns; NULL: the world does not configure it.  Called before the first job, and
     * again if that was NULL and something comes that has one of `needs`, which then are not 0. */
    void *(*begin)(struct engine *engine, uint32_t needs);
    uint32_t needs;                         /* bits of enum job_need */
    void (*adopted)(struct engine *engine); /* another policy decides from now on */
    void (*release)(struct engine *engine);
    /* The law that is broken at the end of an instant; NULL: none.  Called if the run is checked. */
    const char *(*check)(const struct engine *engine);

    /* ---- Time ---- */

    uint32_t events; /* bit k: events of kind k (enum event_kind) are its own, and go to `event` */
    void (*event)(struct engine *engine, const struct event *event);
    bool (*is_stale)(const struct engine *engine,
                     const struct event *event); /* was its event cancelled?  NULL: never */
    /* When it acts next without an event; TIME_NEVER: never, or not while the run has nothing else to come. */
    time_ns (*next)(const struct engine *engine);
    void (*instant)(struct engine *engine); /* an instant begins, before all events */
    void (*settle)(struct engine *engine);  /* the events of an instant are over */
    /* Has the world no events but its own, which do not go on with a run?  Asked if no cycle, job or part is due. */
    bool (*is_alone)(const struct engine *engine);
    void (*carry)(struct engine *engine, time_ns at); /* make the changes that no event announces, up to `at` */

    /* ---- The life of a job ---- */

    void (*submitted)(struct engine *engine, uint32_t slot, const struct job_asked *asked);
    void (*told)(const struct engine *engine, uint32_t slot, struct job *job); /* what the scheduler is told of it */
    void (*decided)(struct engine *engine, uint32_t slot, const struct decision *decision); /* before it is applied */
    /* It begins to run, with all its pieces.  is_first: it never ran before. */
    void (*runs)(struct engine *engine, uint32_t slot, bool is_first);
    void (*stops)(struct engine *engine, uint32_t slot);               /* it does not run any more */
    void (*moved)(struct engine *engine, uint32_t slot);               /* its members came or left */
    void (*came)(struct engine *engine, uint32_t slot, int64_t milli); /* pieces of these milli-GPUs, after `moved` */
    void (*left)(struct engine *engine, uint32_t slot, int64_t milli, uint8_t reason); /* likewise, by an eviction */
    void (*closed)(struct engine *engine, uint32_t slot); /* its life, or the run, ends: put what it is into its row */
    void (*row)(struct engine *engine, uint32_t slot, struct job_row *row); /* the row is about to be written */

    /* Jobs take space of nodes, or are about to take it (sign 1), or give it back (-1). */
    void (*taken)(struct engine *engine, const struct piece *pieces, uint32_t count, int sign);

    /* A node came into service (sign 1), or went out of it (-1). */
    void (*serves)(struct engine *engine, node_id node, int sign);

    /* ---- The work of a job ---- */

    /* When its next event is.  In order: what writes checkpoints comes before what ends work early. */
    void (*plan)(const struct engine *engine, uint32_t slot, struct sim_next *next);
    /* All of its members, or some, are told to leave: true if the part says when they leave at the latest.  In order,
     * up to the first. */
    bool (*leaves)(struct engine *engine, uint32_t slot, const struct decision *evict, time_ns *at);
    void (*due)(struct engine *engine, uint32_t slot); /* members that were told to leave are about to */
    /* At the event of its end: true if it goes on to live, because the part took it.  In order, up to the first. */
    bool (*strikes)(struct engine *engine, uint32_t slot);
    /* The present interval ends, before its speed or its phase changes: count what it did. */
    void (*fold)(struct engine *engine, uint32_t slot);
    /* An attempt ends: likewise, and tell what it spent without work. */
    void (*attempt)(struct engine *engine, uint32_t slot, struct sim_spent *spent);
    /* An attempt ends and loses something.  In order: what counts `overhead` comes before what reads it. */
    void (*lost)(struct engine *engine, uint32_t slot, struct sim_loss *loss);
    /* Its pieces, speed or phase are others: true if the part counts its busy SMs, now that it holds its pieces or (not
     * is_held) no longer does.  In order, up to the first. */
    bool (*counts)(struct engine *engine, uint32_t slot, bool is_held);
    /* The speed of a paced job is to change (engine_set_speed): multiply `slow` or `network` by what the part does to
     * it; the part that knows its pieces sets `served`. */
    void (*slows)(const struct engine *engine, uint32_t slot, struct sim_speed *speed);
    /* Of a paced job: see engine_busy.  Negative: the part does not know the job's pieces. */
    int64_t (*busy)(const struct engine *engine, uint32_t slot, uint32_t level);
};

/* The parts, in their order.  A row is all that the engine knows of a part. */
#define ENGINE_PARTS(ROW)                                                                                              \
    ROW(nodes)                                                                                                         \
    ROW(capacity)                                                                                                      \
    ROW(gpus)                                                                                                          \
    ROW(pace)                                                                                                          \
    ROW(activity)                                                                                                      \
    ROW(pulls)                                                                                                         \
    ROW(saves)                                                                                                         \
    ROW(faults)                                                                                                        \
    ROW(retries)                                                                                                       \
    ROW(monitor)

#define ENGINE_PART_DECLARED(name) extern const struct engine_part engine_part_##name;
ENGINE_PARTS(ENGINE_PART_DECLARED)

#define ENGINE_PART_ID(name) PART_##name,
enum engine_part_id { ENGINE_PARTS(ENGINE_PART_ID) PART_COUNT };

/* Call the hook of each part of the run that has it, in order:  EACH_PART(engine, moved)(engine, slot); */
#define EACH_PART(engine, hook)                                                                                        \
    for (const struct engine_part *const *part = (engine)->parts; *part != NULL; part++)                               \
        if ((*part)->hook != NULL)                                                                                     \
    (*part)->hook

#endif
