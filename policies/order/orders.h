/* policies/order/orders.h -- the built-in orders. */
#ifndef POLICIES_ORDERS_H
#define POLICIES_ORDERS_H

#include "policies/order/order.h"

extern const struct order_policy order_deadline;
extern const struct order_policy order_drf;
extern const struct order_policy order_elastic;
extern const struct order_policy order_fairtree;
extern const struct order_policy order_fifo;
extern const struct order_policy order_largest;
extern const struct order_policy order_las;
extern const struct order_policy order_ljf;
extern const struct order_policy order_multifactor;
extern const struct order_policy order_priority;
extern const struct order_policy order_sjf;
extern const struct order_policy order_smallest;
extern const struct order_policy order_srtf;

/* The expected run time: the estimate, else the limit, else TIME_NEVER. */
static inline time_ns order_expected(const struct order_view *view)
{
    return view->estimate != TIME_NEVER ? view->estimate : view->limit;
}

#endif
