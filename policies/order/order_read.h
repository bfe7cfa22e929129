/* policies/order/order_read.h -- reads the order and its parameters from a policy file; docs/policies.md has the table.
 * All functions fail through the sticky error of the object (base/json.h). */
#ifndef POLICIES_ORDER_READ_H
#define POLICIES_ORDER_READ_H

#include "base/json.h"
#include "policies/order/order.h"

/* Ranks every 5 minutes, Tiresias' two limits, all weights 0, a week of age and of half-life, the fair tree. */
struct order_config order_config_default(void);

/* Read "order", an array of 1 to `max` names of `registry` (policies/util/choose.h), into chain and *count; both are
 * unchanged if it is absent. */
void order_chain_read(const struct order_policy *chain[], uint32_t *count, uint32_t max, const void *registry,
                      struct json_object *object);

/* Read "order_config" into the config; absent fields are unchanged. */
void order_config_read(struct order_config *config, struct json_object *object);

#endif
