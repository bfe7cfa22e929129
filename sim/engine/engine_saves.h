/* sim/engine/engine_saves.h -- the phases of jobs: pulls, and checkpoints that cost time (writes, loads and warm-ups).
 *
 * Only under world.checkpoints "charged" or with world.cold_starts; else `engine->saves` is NULL, and nothing here is
 * called.  A job is in one phase at a time:
 *
 *    pull -> load -> work <-> write           a pull, a load and a blocking write stop the job (progress_freeze)
 *                      |        |
 *                      +-> leave <-+          it stops to write its last checkpoint, because members must leave
 *
 * If checkpoints are free there are only `pull` and `work`: periodic checkpoints are part of the run time, and a job
 * that writes one because it must leave stands still in `work`.
 *
 * It warms up at the beginning of `work`.  An asynchronous write goes on during `work`, at a lower speed.
 *
 * Law.
 *  - A write begins when the job has done its interval of reference work since the work that its last checkpoint holds;
 *    not before the write under way is whole, not if the job ends by then, and not while the whole job leaves.
 *  - A checkpoint counts from the nanosecond in which it is whole, and holds the work at the beginning of its write.
 *    An interruption before throws the write away.
 *  - A job that must leave with a grace stops and writes, if that would take no longer than the grace alone and it does
 *    not end sooner; it leaves when the checkpoint is whole, or when the grace ends.  A write under way is taken for it
 *    if it is a blocking one; an asynchronous one is given up.  A job without unsaved work leaves at once.
 *  - A job pulls each time that it begins to run, if not all of its objects are there (sim/caches/pulls.h).  It leaves
 *    at once if it must.
 *  - Loads and writes with a size share the storage with those of all jobs.  After a change of members the rest is
 *    moved by the nodes that the job has then.
 */
#ifndef SIM_ENGINE_ENGINE_SAVES_H
#define SIM_ENGINE_ENGINE_SAVES_H

#include "sim/checkpoints/checkpoint_table.h"
#include "sim/engine/engine_state.h"

enum saves_phase { SAVES_WORK, SAVES_LOAD, SAVES_WRITE, SAVES_LEAVE, SAVES_PULL };

struct sim_saves {
    struct saving plan;
    wide_ns next;             /* units of work at which the next write begins */
    wide_ns held;             /* units that the checkpoint of the asynchronous write under way holds */
    wide_ns begun;            /* units that were done when the job last began to run */
    time_ns done;             /* when the write or load is whole; TIME_NEVER: the storage tells */
    struct sim_folded folded; /* of the present attempt, of a job without a pace */
    struct sim_spent spent;   /* of the present attempt, before its present interval */
    struct lost_row lost;     /* of the job, for its row */
    uint8_t phase;            /* enum saves_phase */
    bool is_first;            /* it began to run for the first time, and not again */
    bool is_spared;           /* in SAVES_LEAVE: all members leave */
    bool is_writing;          /* an asynchronous write is under way; in SAVES_WORK only */
};

/* ---- Called by the rest of the engine, if `saves` is not NULL ---- */

void engine_saves_open(struct engine *engine); /* before the first job; decides whether `saves` is NULL */
void engine_saves_release(struct engine *engine);

/* Find the plan of a job that is submitted, after its pace. */
void engine_saves_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_truth *truth);
/* It begins to run: it pulls, then loads and warms up unless it is its first time. */
void engine_saves_begin(struct engine *engine, uint32_t slot, bool is_first);
/* It does not run any more. */
void engine_saves_stop(struct engine *engine, uint32_t slot);
/* Its members came or left. */
void engine_saves_move(struct engine *engine, uint32_t slot);
/* All of its members, or some, are told to leave: when they leave at the latest. */
time_ns engine_saves_leave(struct engine *engine, uint32_t slot, const struct decision *evict);
/* Members are about to leave: take a checkpoint that is whole by now for whole. */
void engine_saves_settle(struct engine *engine, uint32_t slot);

/* Units that a member does per ns, if it does `pace` of them without a write. */
int64_t engine_saves_pace(const struct engine *engine, uint32_t slot);
/* When its next write begins, or the present one is whole; TIME_NEVER: unknown, or never.  end: of its work. */
time_ns engine_saves_due(const struct engine *engine, uint32_t slot, time_ns end);
bool engine_saves_is_pulling(const struct engine *engine, uint32_t slot); /* is it in the phase `pull`? */
bool engine_saves_is_leaving(const struct engine *engine, uint32_t slot); /* is it in the phase `leave`? */
bool engine_saves_spares(const struct engine *engine, uint32_t slot);     /* so that its limit does not kill it? */

/* Add the present interval, which ends now, to what the attempt spent. */
void engine_saves_count(struct engine *engine, uint32_t slot);
/* At the end of an attempt: return it and set it to 0. */
struct sim_folded engine_saves_unfold(struct engine *engine, uint32_t slot, struct sim_spent *spent);
/* Book what an attempt spent, and `thrown` GPU time of work; returns the GPU time of what it spent. */
int64_t engine_saves_book(struct engine *engine, uint32_t slot, const struct sim_spent *spent, int64_t thrown);
/* Work that was kept since it last began to run, if `kept` is kept now. */
wide_ns engine_saves_gain(const struct engine *engine, uint32_t slot, wide_ns kept);

void engine_saves_pulled(struct engine *engine, uint32_t slot); /* all that it pulls is there */
void engine_saves_event(struct engine *engine, uint32_t slot);  /* what engine_saves_due said has come */
void engine_saves_moved(struct engine *engine);                 /* the storage has moved all of a transfer */

#endif
