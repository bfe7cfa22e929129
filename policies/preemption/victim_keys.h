/* policies/preemption/victim_keys.h -- the built-in victim keys. */
#ifndef POLICIES_VICTIM_KEYS_H
#define POLICIES_VICTIM_KEYS_H

#include "policies/preemption/preemption.h"

extern const struct victim_key victim_at_once;
extern const struct victim_key victim_borrowers;
extern const struct victim_key victim_class;
extern const struct victim_key victim_cost;
extern const struct victim_key victim_evicting;
extern const struct victim_key victim_largest;
extern const struct victim_key victim_members;
extern const struct victim_key victim_oldest;
extern const struct victim_key victim_order;
extern const struct victim_key victim_other_queues;
extern const struct victim_key victim_by_right;
extern const struct victim_key victim_own_queue;
extern const struct victim_key victim_priority;
extern const struct victim_key victim_smallest;
extern const struct victim_key victim_surplus;
extern const struct victim_key victim_youngest;

#endif
