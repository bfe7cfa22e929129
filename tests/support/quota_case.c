#include "tests/support/quota_case.h"

#include <string.h>

void quota_case_init(struct quota_case *c, const struct quota_policy *policy, uint32_t gpus)
{
    *c = (struct quota_case){.policy = policy,
                             .capacity = {(int64_t)gpus * 1000, 1000 * 1000, 1024 * 1024},
                             .cluster = cluster_uniform_new(gpus, 1),
                             .table = queue_table_new()};
    c->ledger = ledger_new(c->cluster);
    c->tree = (struct queue_tree){.ledger = c->ledger, .quota = policy, .config = &c->config};
}

void quota_case_release(struct quota_case *c)
{
    queue_tree_release(&c->tree);
    ledger_free(c->ledger);
    queue_table_free(c->table);
    cluster_free(c->cluster);
}

queue_id quota_case_add(struct quota_case *c, const char *name, queue_id parent, int64_t deserved)
{
    queue_id id = queue_table_add(c->table, text_of(name), parent);
    quota_case_spec(c, id)->deserved[RESOURCE_GPU] = deserved < 0 ? QUOTA_UNLIMITED : deserved * 1000;
    return id;
}

struct queue_spec *quota_case_spec(struct quota_case *c, queue_id queue)
{
    return &c->table->queues[queue];
}

void quota_case_ready(struct quota_case *c)
{
    ledger_queues(c->ledger, c->table);
    queue_tree_update(&c->tree, c->table);
    queue_tree_set_capacity(&c->tree, c->capacity);
    quota_case_advance(c, c->tree.now);
}

bool quota_case_advance(struct quota_case *c, time_ns now)
{
    bool has_moved = c->policy->advance != NULL && c->policy->advance(&c->tree, now, &c->next);
    c->tree.now = now;
    if (has_moved)
        queue_tree_all_stale(&c->tree);
    return has_moved;
}

void quota_case_charge(struct quota_case *c, queue_id queue, const int64_t *amounts)
{
    ledger_charge(c->ledger, queue, amounts);
}

void quota_case_uncharge(struct quota_case *c, queue_id queue, const int64_t *amounts)
{
    int64_t less[QUEUE_SUM_COUNT];
    for (int s = 0; s < QUEUE_SUM_COUNT; s++)
        less[s] = -amounts[s];
    ledger_charge(c->ledger, queue, less);
}

void quota_case_demand(struct quota_case *c, queue_id queue, const int64_t *amounts)
{
    queue_tree_demand(&c->tree, queue, amounts, 1);
}

int quota_case_compare(struct quota_case *c, queue_id a, const int64_t *ask_a, queue_id b, const int64_t *ask_b)
{
    return c->policy->compare(&c->tree, (struct contender){.queue = a, .ask = ask_a, .leaf = a},
                              (struct contender){.queue = b, .ask = ask_b, .leaf = b});
}

bool quota_case_may_take(struct quota_case *c, queue_id preemptor, const int64_t *ask, queue_id victim,
                         const int64_t *unit)
{
    struct taking taking = {.preemptor = preemptor, .victim = victim, .preemptor_ask = ask, .victim_unit = unit};
    return c->policy->may_take(&c->tree, &taking);
}

bool quota_case_is_valid(struct quota_case *c, queue_id preemptor, const int64_t *ask, queue_id touched)
{
    return c->policy->is_valid(&c->tree, preemptor, ask, &touched, 1);
}
