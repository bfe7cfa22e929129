/* sim/plugins/guard.h -- every call into a plug-in, watched: whose code runs, and whether its answer can be.
 *
 * A plug-in's hooks know only what they are handed, so each slot of the table below has functions of its own, by which
 * the scheduler calls them.  They note who runs (for sim/plugins/watch.h), call, and look at the answer.  One that
 * cannot be is replaced by a harmless one, so that nothing is broken until the cycle is over, and told then.
 *
 * What is looked at: pure hooks give the same answer twice; a score is no more than its bound; the GPUs chosen are
 * free and as many as asked; a comparison is the other way round the other way round; no share is negative; a chunk is
 * within what the job lacks, and complete where gangs are; a length is not negative; a queue is one there is.
 *
 * Law: one table for the whole program, as a signal finds it; calls come from one thread.
 */
#ifndef SIM_PLUGINS_GUARD_H
#define SIM_PLUGINS_GUARD_H

#include <sys/types.h>

#include "policies/plugin.h"
#include "sim/engine/cycle_watch.h"

struct guard_slot {
    uint32_t users; /* 0: free */
    char *path;     /* as it was named first */
    char *label;    /* "plug-in PATH (order policy 'x')", for messages */
    char digest[33];
    dev_t device;
    ino_t inode;
    void *handle; /* of the shared object */
    const struct windtunnel_plugin *own;
    struct windtunnel_plugin guarded; /* own, but for its policy: */
    union {
        struct order_policy order;
        struct quota_policy quota;
        struct placement_policy placement;
        struct gang_policy gang;
        struct estimate_policy estimate;
        struct victim_key victim;
        struct preemption_policy preemption;
        struct backfill_policy backfill;
    } policy;
};

struct guard_slot *guard_slot_at(uint32_t index); /* < PLUGINS_MAX */

/* Make slot->guarded and slot->policy from slot->own, which plugin_check has passed. */
void guard_arm(struct guard_slot *slot);

/* What runs now, innermost first. */
struct guard_frame {
    const struct guard_slot *volatile slot;
    const char *volatile doing; /* "in its hook 'rank'" */
    const struct guard_frame *volatile outer;
};
void guard_enter(struct guard_frame *frame, const struct guard_slot *slot, const char *doing);
void guard_leave(const struct guard_frame *frame);
const struct guard_frame *guard_innermost(void); /* NULL: no plug-in; from a signal handler too */

/* A cycle of a scheduler begins: all of its CPU time counts, as what a plug-in said may keep others busy too. */
void guard_cycle_begin(void);

/* It is over: the watch begins anew, and an answer that could not be is told, once.  ERROR_CONFIG that names the
 * plug-in.  O(1). */
struct error guard_cycle_done(void) MUST_CHECK;
/* Both, for an engine. */
extern const struct cycle_watch guard_watch;

/* CPU time spent in plug-ins and in cycles since a cycle was over, in ticks of the watch: counts one, if it is such
 * time. From a signal handler. */
uint32_t guard_tick(void);

#endif
