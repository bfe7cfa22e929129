/* sim/plugins/guard_inside.h -- what sim/plugins/guard_hooks.c and sim/plugins/guard_quota.c share. */
#ifndef SIM_PLUGINS_GUARD_INSIDE_H
#define SIM_PLUGINS_GUARD_INSIDE_H

#include "sim/plugins/guard.h"

/* The plug-in's code runs between HOOK and DONE. */
#define HOOK(slot_, name_)                                                                                             \
    struct guard_frame frame_;                                                                                         \
    const struct guard_slot *slot = guard_slot_at((uint32_t)(slot_));                                                  \
    guard_enter(&frame_, slot, "in its hook '" name_ "'")
#define DONE guard_leave(&frame_)

/* Note an impossible answer of the plug-in; only the first one is reported. */
void guard_blame(const struct guard_slot *slot, const char *what);

/* The hooks of struct quota_policy, called and checked; at: the slot. */
const char *guard_quota_complaint(int at, struct queue_tree *tree, queue_id *queue);
queue_id guard_quota_forbids(int at, struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);
const uint16_t *guard_quota_confines(int at, struct queue_tree *tree, queue_id leaf, const struct request_class *asked,
                                     queue_id *keeper);
int guard_quota_compare(int at, struct queue_tree *tree, struct contender a, struct contender b);
int guard_quota_compare_victims(int at, struct queue_tree *tree, struct contender a, struct contender b);
void guard_quota_divide(int at, struct queue_tree *tree, queue_id parent, enum resource resource, int64_t total);
bool guard_quota_may_reclaim(int at, struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT]);
bool guard_quota_may_take(int at, struct queue_tree *tree, const struct taking *taking);
bool guard_quota_is_valid(int at, struct queue_tree *tree, queue_id gainer, const int64_t ask[QUEUE_SUM_COUNT],
                          const queue_id *touched, uint32_t touched_count);
bool guard_quota_advance(int at, struct queue_tree *tree, time_ns now, time_ns *next);

#endif
