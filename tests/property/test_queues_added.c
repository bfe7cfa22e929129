/* A queue tree that grows by additions equals one that reads the whole table anew: links, ages and shares, with demand
 * between the additions, and with queues that are older than those before. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/quota_case.h"

enum { ROUNDS = 40, ADDITIONS = 30 };

static uint32_t below(struct random_stream *stream, uint32_t bound)
{
    return random_below(stream, bound);
}

static void add_some(struct random_stream *stream, struct quota_case *c)
{
    for (uint32_t more = 1 + below(stream, 3); more > 0; more--) {
        char name[16];
        snprintf(name, sizeof name, "q%u", c->table->count);
        const queue_id parent = below(stream, 2) == 0 ? QUEUE_ROOT : below(stream, c->table->count);
        const queue_id q = quota_case_add(c, name, parent, below(stream, 5));
        quota_case_spec(c, q)->created = below(stream, 3) == 0 ? -(time_ns)below(stream, 10) : 0;
        quota_case_spec(c, q)->weight_milli[RESOURCE_GPU] = 1000 * (int64_t)below(stream, 4);
    }
    ledger_queues(c->ledger, c->table);
}

/* NULL: they are equal. */
static const char *difference(struct queue_tree *a, struct queue_tree *b)
{
    for (queue_id q = 0; q < b->count; q++) {
        const struct queue_state *x = &a->queues[q], *y = &b->queues[q];
        if (x->parent != y->parent || x->first_child != y->first_child || x->next_sibling != y->next_sibling ||
            x->depth != y->depth)
            return "the place of a queue in the tree";
        if (a->by_age[q] != b->by_age[q])
            return "the order by age";
        for (int r = 0; r < RESOURCE_COUNT; r++)
            if (queue_tree_share(a, q, (enum resource)r) != queue_tree_share(b, q, (enum resource)r))
                return "a share";
    }
    return a->count != b->count || a->is_deep != b->is_deep ? "the size of the tree" : NULL;
}

static void grows_as_it_is_read(const struct quota_policy *policy)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "queues added", 0);
        struct quota_case grown;
        quota_case_init(&grown, policy, 16);
        quota_case_ready(&grown);
        struct queue_tree anew = {.ledger = grown.ledger, .quota = policy, .config = &grown.config};
        for (int step = 0; step < ADDITIONS; step++) {
            add_some(&stream, &grown);
            queue_tree_add(&grown.tree, grown.table);
            queue_tree_update(&anew, grown.table);
            queue_tree_set_capacity(&anew, grown.capacity);
            const queue_id asks = below(&stream, grown.table->count);
            const int64_t ask[QUEUE_SUM_COUNT] = {1000 * (int64_t)below(&stream, 9)};
            queue_tree_demand(&grown.tree, asks, ask, 1);
            queue_tree_demand(&anew, asks, ask, 1);
            const char *what = difference(&grown.tree, &anew);
            if (what != NULL)
                fail_msg("%s: %s differs; seed %llu, step %d", policy->name, what, (unsigned long long)seed, step);
        }
        queue_tree_release(&anew);
        quota_case_release(&grown);
    }
}

TEST(additions_equal_a_new_table)
{
    grows_as_it_is_read(&quota_fairshare);
    grows_as_it_is_read(&quota_proportion);
}
