/* tests/support/quota_case.h -- a queue tree with charges set by hand, for the tests of quota policies.
 *
 *   struct quota_case c;
 *   quota_case_init(&c, &quota_cohort, 16);
 *   queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4);    deserves 4 GPUs
 *   quota_case_ready(&c);
 *   quota_case_charge(&c, a, GPUS(2));
 *   assert_int_equal(c.policy->forbids(&c.tree, a, GPUS(3)), a);
 */
#ifndef TESTS_SUPPORT_QUOTA_CASE_H
#define TESTS_SUPPORT_QUOTA_CASE_H

#include "policies/queues/queues.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"

struct quota_case {
    const struct quota_policy *policy;
    struct quota_config config; /* zeroed; the test sets what it needs before quota_case_ready */
    struct cluster *cluster;
    struct queue_table *table;
    struct ledger *ledger;
    struct queue_tree tree;
    int64_t capacity[RESOURCE_COUNT]; /* GPUs as given, 1000 CPUs, 1 TiB */
    time_ns next;                     /* the result of the last advance */
};

/* The request of a job of n GPUs, and CPUs. */
#define GPUS(n)            ((const int64_t[QUEUE_SUM_COUNT]){(n)*1000})
#define GPUS_CPUS(n, cpus) ((const int64_t[QUEUE_SUM_COUNT]){(n)*1000, (cpus)*1000})

void quota_case_init(struct quota_case *c, const struct quota_policy *policy, uint32_t gpus);
void quota_case_release(struct quota_case *c);

/* deserved: GPUs; -1: unlimited. */
queue_id quota_case_add(struct quota_case *c, const char *name, queue_id parent, int64_t deserved);
struct queue_spec *quota_case_spec(struct quota_case *c, queue_id queue);

/* Call it when the table is complete or has changed: updates the tree, and advances at `c->tree.now`. */
void quota_case_ready(struct quota_case *c);
bool quota_case_advance(struct quota_case *c, time_ns now);

/* Charge the amounts in addition; set what the queue asks for (including its charge). */
void quota_case_charge(struct quota_case *c, queue_id queue, const int64_t *amounts);
void quota_case_uncharge(struct quota_case *c, queue_id queue, const int64_t *amounts);
void quota_case_demand(struct quota_case *c, queue_id queue, const int64_t *amounts);

/* Below 0: a goes before b, with these requests. */
int quota_case_compare(struct quota_case *c, queue_id a, const int64_t *ask_a, queue_id b, const int64_t *ask_b);

/* May a job of `preemptor` take a unit of `victim`? */
bool quota_case_may_take(struct quota_case *c, queue_id preemptor, const int64_t *ask, queue_id victim,
                         const int64_t *unit);

/* Is the present state, with the preemptor charged, valid if only `touched` has lost something? */
bool quota_case_is_valid(struct quota_case *c, queue_id preemptor, const int64_t *ask, queue_id touched);

#endif
