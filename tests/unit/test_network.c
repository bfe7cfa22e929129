/* The bandwidth that jobs leave each other, in cases that can be worked out by hand. */
#include <stdbool.h>

#include "tests/support/test.h"

#include "sim/network/network.h"

struct hand_flow {
    double demand, peak;
    struct fabric_use uses[2];
    uint32_t use_count;
    double mean, burst; /* expected */
};

/* All flows come, in one settling, to links of capacity 100. */
static void expect(const struct hand_flow *flows, uint32_t count, uint32_t link_count)
{
    const double capacities[3] = {100, 100, 100};
    const uint32_t *changed;
    struct network *network = network_new(capacities, link_count);
    for (uint32_t f = 0; f < count; f++)
        network_join(network, f, &(struct flow){flows[f].demand, flows[f].peak, flows[f].uses, flows[f].use_count});
    assert_int_equal(network_settle(network, &changed), count);
    for (uint32_t f = 0; f < count; f++) {
        assert_float_equal(network_mean(network, f), flows[f].mean, 1e-9);
        assert_float_equal(network_burst(network, f), flows[f].burst, 1e-9);
    }
    assert_int_equal(network_settle(network, &changed), 0); /* nothing more happens */
    network_free(network);
}

TEST(alone_a_job_gets_its_peak)
{
    /* 4 GPUs over a link of 100: 25 each, however much of the time they send. */
    const struct hand_flow often = {25, 25, {{0, 4}}, 1, 25, 25}, seldom = {5, 25, {{0, 4}}, 1, 5, 25};
    expect(&often, 1, 1);
    expect(&seldom, 1, 1);
}

TEST(equal_jobs_share_a_full_link)
{
    const struct hand_flow two[] = {{25, 25, {{0, 4}}, 1, 12.5, 12.5}, {25, 25, {{0, 4}}, 1, 12.5, 12.5}};
    expect(two, 2, 1);
    /* 5 gangs of 8 senders: 40 GPUs on 100 */
    struct hand_flow five[5];
    for (int f = 0; f < 5; f++)
        five[f] = (struct hand_flow){12.5, 12.5, {{0, 8}}, 1, 2.5, 2.5};
    expect(five, 5, 1);
}

TEST(a_job_that_seldom_sends_is_seldom_in_the_way)
{
    /* The first sends a fifth of the time at 25 with 4 GPUs: 20 of 100 on the mean.  The second wants all: it gets the
     * other 80.  While the first sends, they share evenly: 100 over 8 GPUs. */
    const struct hand_flow one_full[] = {{5, 25, {{0, 4}}, 1, 5, 12.5}, {25, 25, {{0, 4}}, 1, 20, 20}};
    expect(one_full, 2, 1);
    /* Beside one that keeps its mean of 6, the other two share 100 - 6 x 2; that one has its peak while it sends. */
    const struct hand_flow three[] = {
        {5, 25, {{0, 4}}, 1, 5, 11}, {6, 12, {{0, 2}}, 1, 6, 12}, {25, 25, {{0, 4}}, 1, 17, 17}};
    expect(three, 3, 1);
    /* The link that leaves least counts. */
    const struct hand_flow over_two[] = {
        {5, 25, {{0, 4}, {1, 4}}, 2, 5, 12.5}, {25, 25, {{0, 4}}, 1, 20, 20}, {10, 25, {{1, 4}}, 1, 10, 20}};
    expect(over_two, 3, 2);
    /* Both a fifth: each finds 80 of 100 for its 4 GPUs. */
    const struct hand_flow both_seldom[] = {{5, 25, {{0, 4}}, 1, 5, 20}, {5, 25, {{0, 4}}, 1, 5, 20}};
    expect(both_seldom, 2, 1);
}

/* A long flow over two links and a short one on each (Bertsekas and Gallager, 6.5.2): all have half, but where the
 * second link is shared by two short ones all there have a third, and the first link's short flow gets the rest. */
TEST(flows_in_a_line)
{
    const struct hand_flow three[] = {
        {100, 100, {{0, 1}, {1, 1}}, 2, 50, 50}, {100, 100, {{0, 1}}, 1, 50, 50}, {100, 100, {{1, 1}}, 1, 50, 50}};
    expect(three, 3, 2);
    const struct hand_flow four[] = {{100, 100, {{0, 1}, {1, 1}}, 2, 100 / 3.0, 100 / 3.0},
                                     {100, 100, {{0, 1}}, 1, 200 / 3.0, 200 / 3.0},
                                     {100, 100, {{1, 1}}, 1, 100 / 3.0, 100 / 3.0},
                                     {100, 100, {{1, 1}}, 1, 100 / 3.0, 100 / 3.0}};
    expect(four, 4, 2);
}

TEST(only_neighbours_change)
{
    const double capacities[2] = {100, 100};
    const struct fabric_use first = {0, 4}, second = {1, 4};
    const struct flow here = {25, 25, &first, 1}, there = {25, 25, &second, 1};
    const uint32_t *changed;
    struct network *network = network_new(capacities, 2);
    network_join(network, 7, &here);
    network_join(network, 3, &there);
    assert_int_equal(network_settle(network, &changed), 2);
    assert_int_equal(changed[0], 3);
    network_join(network, 5, &here);
    assert_int_equal(network_settle(network, &changed), 2);
    assert_int_equal(changed[0], 5);
    assert_int_equal(changed[1], 7);
    assert_float_equal(network_burst(network, 7), 12.5, 1e-9);
    assert_float_equal(network_burst(network, 3), 25, 1e-9);
    network_leave(network, 7);
    assert_false(network_has(network, 7));
    assert_int_equal(network_settle(network, &changed), 1);
    assert_int_equal(changed[0], 5);
    assert_float_equal(network_burst(network, 5), 25, 1e-9);
    network_free(network);
}
