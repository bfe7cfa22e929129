/* policies/reservation/freed_early.h -- the nodes where something came free that was promised away, or taken: who
 * waits may move up there.
 *
 * In one pass the same nodes are looked at for thousands of jobs, in the order of their promises.  So it is kept with
 * a node for whom was looked there in vain: who asks the same, for no shorter a time, finds nothing there before that
 * time either, until the node is eased again.
 *
 *   freed_early_note(&easing, cluster->node_count, node);       (again and again, when something comes free there)
 *   for each promise: if (freed_early_has_room(&easing, &profile, &request, ask, NODE_NONE, now, length, promised)) ...
 *   freed_early_forget(&easing);                                (when the pass is over)
 *
 * Law: an answer is the same as if no memory were kept, as long as between two searches space on eased nodes only
 * goes, or comes with a note.
 */
#ifndef POLICIES_RESERVATION_FREED_EARLY_H
#define POLICIES_RESERVATION_FREED_EARLY_H

#include "policies/state/profile.h"
#include "policies/util/node_marks.h"

/* Who asks this for so long, or longer, does not start there before that time. */
struct vain_search {
    uint32_t ask; /* the request class */
    time_ns length, until;
};

enum { VAIN_MAX = 12 };

struct vain_list {
    uint32_t count;
    struct vain_search of[VAIN_MAX];
};

struct freed_early {
    struct node_marks nodes;
    struct vain_list *vain; /* by node_id; scratch of the pass */
};

/* Before nodes that were saved are put in; note does it itself. */
void freed_early_open(struct freed_early *freed_early, uint32_t node_count);
void freed_early_note(struct freed_early *freed_early, uint32_t node_count, node_id node);
void freed_early_forget(struct freed_early *freed_early);
void freed_early_release(struct freed_early *freed_early);

/* Has one of the nodes room for a member from some time on, from `now` and before `bound`, for so long?  `ask` names
 * the request; `now` is the same in all searches of a pass.  On `own` something is free for this job alone, or
 * NODE_NONE. */
bool freed_early_has_room(struct freed_early *freed_early, const struct profile *profile, const struct request *request,
                          uint32_t ask, node_id own, time_ns now, time_ns length, time_ns bound);

#endif
