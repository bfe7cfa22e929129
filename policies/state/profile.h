/* policies/state/profile.h -- what will be free of every node, and when, as far as anybody plans.
 *
 * Per node a list of steps: from its time on, until the next, these GPUs are wholly free and so much CPU and memory.
 * The first step is the present; the last has no end.  What ends is told in the order of the ends, then what will
 * begin may be put in and taken out anywhere.
 *
 * Law: for jobs of whole GPUs that ask nothing of topology the profile is exact: they fit from a time on for a length
 * exactly when profile_find says so.  GPUs that are used in part, or in MIG instances, count when the last user has
 * left.
 *
 *   profile_begin(&profile, ledger, node, now);                    for every node; again when what it holds changes
 *   profile_leaves(&profile, &space, at);                          for all that runs there, in the order of `at`
 *   time_ns at = profile_find(&profile, &request, 2, 0, now, length, TIME_NEVER, &pieces);
 *   profile_take(&profile, &space, at, at + length);               for each of the pieces
 *
 * Cost: with m moments at which a step of some node begins, begin O(GPUs of the node + its steps * log m), leaves,
 * take and give
 * O(log m), and O(m) where a step is new; find O(m), and a look at every node at the moments at which enough is free
 * of all together (policies/ledger/free_total.h): mostly few, at worst m.
 */
#ifndef POLICIES_STATE_PROFILE_H
#define POLICIES_STATE_PROFILE_H

#include "policies/ledger/free_total.h"
#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"

struct profile_step {
    time_ns from;
    int64_t cpu_free, memory_free; /* below 0: promised twice, for something outlived its plan */
    uint16_t free_mask;
    uint16_t vacant_mask; /* free but for what is to begin */
};

struct node_profile {
    struct profile_step *steps;
    size_t capacity;
    uint32_t count;
    uint32_t cpu_claimed, memory_claimed; /* while it is drawn: of what leaves, not free for others */
};

struct profile {
    const struct ledger *ledger;
    struct node_profile *nodes; /* by node_id */
    uint32_t node_count;
    uint16_t *holders;       /* by gpu_id: what is left on GPUs as it leaves */
    bool *is_meant;          /* scratch: by node type */
    time_ns *earliest;       /* scratch: by node, not before then */
    struct free_total total; /* of all steps of all nodes */
};

void profile_begin(struct profile *profile, const struct ledger *ledger, node_id node, time_ns now);
void profile_leaves(struct profile *profile, const struct space *space, time_ns at);

/* Takes what is free there between the times; give is the reverse, with the same arguments. */
void profile_take(struct profile *profile, const struct space *space, time_ns from, time_ns until);
void profile_give(struct profile *profile, const struct space *space, time_ns from, time_ns until);

/* The first time from `from` on, and not after `latest`, at which `count` members of whole GPUs, or none, of group
 * `group` fit for `length`; TIME_NEVER: none.  Then *pieces says where, one piece a member, lowest nodes and GPUs
 * first. */
time_ns profile_find(struct profile *profile, const struct request *request, uint32_t count, uint8_t group,
                     time_ns from, time_ns length, time_ns latest, struct piece_list *pieces);

/* The same of one member, looked for on those nodes alone.  O(their steps). */
time_ns profile_find_on(struct profile *profile, const struct request *request, uint8_t group, const node_id *nodes,
                        uint32_t node_count, time_ns from, time_ns length, time_ns latest, struct piece_list *pieces);

/* False if so many members, who hold what they are to have from `bound` on, surely do not fit from any time on, from
 * `from` and before `bound`, for so long: too little is free then of all nodes together.  Cost: O(m). */
bool profile_may_fit(const struct profile *profile, const struct request *request, uint32_t count, time_ns from,
                     time_ns length, time_ns bound);

/* The first time from `from` on, and before `bound`, at which the node has room for a member for so long; TIME_NEVER.
 */
time_ns profile_find_room(const struct profile *profile, const struct request *request, node_id node, time_ns from,
                          time_ns length, time_ns bound);

/* What is free of the node at `from` but not until `until`; false: nothing.  The owner is left open. */
bool profile_kept(const struct profile *profile, node_id node, time_ns from, time_ns until, struct space *space);

void profile_release(struct profile *profile);
/* Save or load (policies/util/archive.h); what is loaded into is empty. */
struct archive;
void profile_archive(struct archive *archive, struct profile *profile, const struct ledger *ledger);

#endif
