/* policies/ledger/ledger.h: a job that was to leave stays after all: what nobody was promised is its own again first,
 * then what somebody was. */
#include "tests/support/test.h"

#include "policies/ledger/ledger.h"

TEST(what_was_promised_is_taken_back_last)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct queue_table *queues = queue_table_new();
    struct ledger *ledger = ledger_new(cluster);
    ledger_queues(ledger, queues);
    const uint32_t cpus = ledger->nodes[0].cpu_free;
    const struct space both = {.gpu_mask = 3, .gpu_milli = GPU_MILLI, .cpu_milli = 5000, .owner = 0, .member_count = 1};
    const struct space one = {
        .gpu_mask = 1, .gpu_milli = GPU_MILLI, .cpu_milli = cpus - 3000, .owner = 1, .member_count = 1};
    ledger_take(ledger, &both);
    ledger_vacate(ledger, &both);
    ledger_claim(ledger, &one);
    assert_int_equal(ledger->claimed_milli, GPU_MILLI);
    assert_int_equal(ledger->coming_milli, GPU_MILLI);
    assert_int_equal(ledger->nodes[0].cpu_free, 0);
    assert_int_equal(ledger->nodes[0].cpu_claimed, 2000); /* cpus - 3000 asked, cpus - 5000 free */
    assert_int_equal(ledger->nodes[0].cpu_coming, 3000);
    assert_false(ledger_is_there(ledger, &one));
    ledger_restore(ledger, &both);
    assert_int_equal(ledger->claimed_milli, 0);
    assert_int_equal(ledger->coming_milli, 0);
    assert_int_equal(ledger->used_milli, 2 * GPU_MILLI);
    assert_int_equal(ledger->gpus[0].claimed, 0);
    assert_int_equal(ledger->gpus[1].coming, 0);
    assert_int_equal(ledger->nodes[0].cpu_claimed, 0);
    assert_int_equal(ledger->nodes[0].cpu_coming, 0);
    assert_int_equal(ledger->owner[0], 0);
    ledger_free(ledger);
    queue_table_free(queues);
    cluster_free(cluster);
}
