/* ledger: a job that claims what it is leaving, and that the check finds each sum that is wrong. */
#include "tests/support/test.h"

#include "policies/ledger/ledger.h"
#include "tests/support/lawful.h"

enum { SLOT = 7 };

static const struct space whole = {.node = 0,
                                   .gpu_mask = 0x2,
                                   .gpu_milli = GPU_MILLI,
                                   .cpu_milli = 1000,
                                   .memory_mib = 1024,
                                   .owner = SLOT,
                                   .member_count = 1};

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
};

static struct world world_of(void)
{
    struct cluster *cluster = cluster_uniform_new(2, 4);
    return (struct world){cluster, ledger_new(cluster)};
}

static void release(struct world *world)
{
    assert_lawful(ledger_check(world->ledger));
    ledger_free(world->ledger);
    cluster_free(world->cluster);
}

/* claimed -> used: what arrives is the claimer's, here the same job's that leaves. */
TEST(who_claims_what_it_leaves_has_it_again)
{
    struct world world = world_of();
    struct ledger *ledger = world.ledger;
    gpu_id gpu = world.cluster->nodes[0].first_gpu + 1;
    ledger_take(ledger, &whole);
    ledger_vacate(ledger, &whole);
    ledger_claim(ledger, &whole);
    assert_int_equal(ledger->claimed_milli, GPU_MILLI);
    assert_false(ledger_is_there(ledger, &whole));
    ledger_arrive(ledger, &whole);
    assert_true(ledger_is_there(ledger, &whole));
    assert_int_equal(ledger->used_milli, GPU_MILLI);
    assert_int_equal(ledger->gpus[gpu].holders, 1);
    assert_int_equal(ledger->owner[gpu], SLOT);
    ledger_give(ledger, &whole);
    assert_int_equal(ledger->owner[gpu], OWNER_NONE);
    assert_int_equal(ledger->used_milli, 0);
    release(&world);
}

/* coming -> free: nobody claimed it, so nobody has it. */
TEST(what_nobody_claims_is_nobodys)
{
    struct world world = world_of();
    struct ledger *ledger = world.ledger;
    gpu_id gpu = world.cluster->nodes[0].first_gpu + 1;
    ledger_take(ledger, &whole);
    ledger_vacate(ledger, &whole);
    ledger_arrive(ledger, &whole);
    assert_int_equal(ledger->owner[gpu], OWNER_NONE);
    assert_int_equal(ledger->gpus[gpu].free, GPU_MILLI);
    release(&world);
}

/* Each amount alone is broken, told, and mended. */
TEST(the_check_finds_one_wrong_amount)
{
    struct world world = world_of();
    struct ledger *ledger = world.ledger;
    int64_t *totals[] = {&ledger->used_milli, &ledger->coming_milli, &ledger->claimed_milli};
    struct node_cell *cell = &ledger->nodes[1];
    uint32_t *amounts[] = {&cell->cpu_free,    &cell->memory_free,   &cell->cpu_coming,
                           &cell->cpu_claimed, &cell->memory_coming, &cell->memory_claimed};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        *totals[i] += 1;
        assert_non_null(ledger_check(ledger));
        *totals[i] -= 1;
        assert_lawful(ledger_check(ledger));
    }
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) { /* all is free: one is too many */
        *amounts[i] += 1;
        assert_non_null(ledger_check(ledger));
        *amounts[i] -= 1;
        assert_lawful(ledger_check(ledger));
    }
    release(&world);
}
