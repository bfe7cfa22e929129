/* sim/plugins/guard.h -- wraps every call into a plug-in: records whose code runs, and checks the answer.
 *
 * A hook gets no context, so each slot of the table below has wrapper functions of its own, which the scheduler calls.
 * They record the plug-in that runs (for sim/plugins/watch.h), call the hook, and check its answer.  An invalid
 * answer is replaced by a harmless one, so that the cycle can end, and reported then.
 *
 * Checked: pure hooks give the same answer twice; a score is at most its bound; the chosen GPUs are free and as many
 * as requested; a comparison changes its sign when its sides are swapped; no share is negative; an allocation step is
 * within what the job lacks, and complete for gangs; a length is not negative; a queue exists.
 *
 * Law: there is one table for the whole program, because signal handlers read it; calls come from one thread.
 */
#ifndef SIM_PLUGINS_GUARD_H
#define SIM_PLUGINS_GUARD_H

#include <sys/types.h>

#include "policies/plugin.h"
#include "sim/engine/cycle_watch.h"

struct guard_slot {
    uint32_t users; /* 0: free */
    char *path;     /* the path by which it was first named */
    char *label;    /* "plug-in PATH (order policy 'x')", for messages */
    char digest[33];
    dev_t device;
    ino_t inode;
    void *handle; /* of the shared object */
    const struct windtunnel_plugin *own;
    struct windtunnel_plugin guarded; /* as `own`, but with this policy: */
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

/* The code that runs now; frames are linked from the innermost to the outermost. */
struct guard_frame {
    const struct guard_slot *volatile slot;
    const char *volatile doing; /* "in its hook 'rank'" */
    const struct guard_frame *volatile outer;
};
void guard_enter(struct guard_frame *frame, const struct guard_slot *slot, const char *doing);
void guard_leave(const struct guard_frame *frame);
const struct guard_frame *guard_innermost(void); /* NULL: no plug-in runs; may be called from a signal handler */

/* A cycle of a scheduler begins.  All of its CPU time counts, because a plug-in's answer may keep other code busy
 * too. */
void guard_cycle_begin(void);

/* The cycle has ended: the watch starts again, and an impossible answer is reported, once.  ERROR_CONFIG that names the
 * plug-in.  O(1). */
struct error guard_cycle_done(void) MUST_CHECK;
/* Both functions, for an engine. */
extern const struct cycle_watch guard_watch;

/* CPU time spent in plug-ins and cycles since the last cycle ended, in ticks of the watch.  Adds the present tick if it
 * is such time.  Called from a signal handler. */
uint32_t guard_tick(void);

#endif
