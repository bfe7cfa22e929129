/* policies/reservation/profile.h -- the planned free space of every node over time.
 *
 * Each node has a list of steps.  A step says which GPUs are wholly free, and how much CPU and memory, from its time
 * until the next step.  The first step is the present; the last has no end.  First the ends of the holdings are added,
 * in the order of time.  Planned starts may then be added and removed in any order.
 *
 * Law: for jobs of whole GPUs without topology constraints the profile is exact: they fit at a time for a length if and
 * only if profile_find says so.  A GPU that is shared or cut into MIG instances is free when its last holder has left.
 *
 *   profile_begin(&profile, ledger, node, now);                    for every node; again when what it holds changes
 *   profile_leaves(&profile, &space, at);                          for each holding there, in the order of `at`
 *   struct profile_ask ask = {.request = &request, .count = 2, .from = now, .latest = TIME_NEVER, .length = length};
 *   time_ns at = profile_find(&profile, &ask, &pieces);
 *   profile_take(&profile, &space, at, at + length);               for each of the pieces
 *
 * Cost, where m is the number of moments at which a step of some node begins:
 *  - begin: O(GPUs of the node + its steps * log m);
 *  - leaves, take, give: O(log m), and O(m) if a step is new;
 *  - find: O(m), and O(nodes) at each moment at which the total of all nodes suffices (policies/ledger/free_total.h):
 *    usually at few moments, at worst at m.
 */
#ifndef POLICIES_RESERVATION_PROFILE_H
#define POLICIES_RESERVATION_PROFILE_H

#include "policies/ledger/free_total.h"
#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"
#include "policies/util/node_marks.h"

struct profile_step {
    time_ns from;
    int64_t cpu_free, memory_free; /* below 0: claimed twice, because a holding outlived its plan */
    uint16_t free_mask;
    uint16_t vacant_mask; /* free, apart from planned starts */
};

struct node_profile {
    struct profile_step *steps;
    size_t capacity;
    uint32_t count;
    uint32_t cpu_claimed, memory_claimed; /* during construction: of what leaves, the part that is claimed */
};

/* The first step of a node with a number of free GPUs, for searches that begin between `since` and `until`.  Most nodes
 * have their first such step too late, and are passed over without a look at their steps. */
struct profile_glance {
    time_ns since, until; /* the first step counts from ever, the last for ever; until == since: not known */
    time_ns first;        /* when the step begins; TIME_NEVER: there is none */
    uint32_t step;        /* its index */
};

enum { PROFILE_BLOCK = 32 };

struct profile {
    const struct ledger *ledger;
    struct node_profile *nodes; /* by node_id */
    uint32_t node_count;
    uint16_t *holders;               /* during construction, by gpu_id: holders that have not left yet */
    bool *is_meant;                  /* scratch, by node type: could hold a member */
    time_ns *earliest;               /* scratch, by node: when its room may first differ from that in `rooms` */
    time_ns *block_earliest;         /* scratch: the least `earliest` of each PROFILE_BLOCK nodes */
    uint32_t *rooms;                 /* scratch, by node: for how many members it has room */
    struct profile_glance **glances; /* by GPUs, then by node; computed from the steps when a search needs them */
    struct free_total total;         /* of all steps of all nodes */
};

/* A search: members of one group that start together and hold their space for `length`. */
struct profile_ask {
    const struct request *request; /* of each: whole GPUs, or none; borrowed */
    uint32_t count;                /* of the members */
    uint8_t group;                 /* stands in their pieces */
    time_ns from, latest;          /* they start between these times, both included */
    time_ns length;
};

void profile_begin(struct profile *profile, const struct ledger *ledger, node_id node, time_ns now);
void profile_leaves(struct profile *profile, const struct space *space, time_ns at);

/* Take the space between the two times; profile_give is the reverse, with the same arguments. */
void profile_take(struct profile *profile, const struct space *space, time_ns from, time_ns until);
void profile_give(struct profile *profile, const struct space *space, time_ns from, time_ns until);

/* The first time at which all members fit, with one piece per member in *pieces, lowest nodes first; TIME_NEVER:
 * none. */
time_ns profile_find(struct profile *profile, const struct profile_ask *ask, struct piece_list *pieces);

/* As above for one member on the given nodes alone.  O(their steps). */
time_ns profile_find_on(struct profile *profile, const struct profile_ask *ask, const struct node_marks *nodes,
                        struct piece_list *pieces);

/* False if the members fit at no time from `from` to `latest`, because the total of all nodes is too small.  What is
 * free after `latest` is not considered.  Cost: O(m). */
bool profile_may_fit(const struct profile *profile, const struct profile_ask *ask);

/* The first time from `from` on and before `bound` at which the node has room for a member for that length; TIME_NEVER:
 * none. */
time_ns profile_find_room(const struct profile *profile, const struct request *request, node_id node, time_ns from,
                          time_ns length, time_ns bound);

/* The space of the node that is free in the ledger, but not free in the profile all the time from `from` to `until`;
 * false: there is none.  The owner is not set. */
bool profile_kept(const struct profile *profile, node_id node, time_ns from, time_ns until, struct space *space);

/* NULL: what is remembered of nodes agrees with their steps; else what is wrong. */
const char *profile_check(const struct profile *profile);

void profile_release(struct profile *profile);

#endif
