/* preemption_bound: holdings on one GPU, more than a byte counts. */
#include "tests/support/test.h"

#include "policies/state/preemption_bound.h"

/* As many shares as fit on a GPU; 256 of them once left it free for plans. */
TEST(a_gpu_is_lost_until_the_last_share_has_left)
{
    struct cluster *cluster = cluster_uniform_new(1, 2);
    struct preemption_bound bound;
    const struct piece share = {.node = 0, .gpu_mask = 0x2, .gpu_milli = 1, .member_count = 1};
    preemption_bound_init(&bound, cluster);
    for (uint32_t n = 1; n <= GPU_MILLI; n++) {
        preemption_bound_change(&bound, cluster, &share, 1);
        assert_int_equal(bound.unmovable[1], n);
        assert_int_equal(bound.room[0], 1);
    }
    for (uint32_t n = GPU_MILLI; n > 0; n--) {
        assert_int_equal(bound.room[0], 1);
        preemption_bound_change(&bound, cluster, &share, -1);
    }
    assert_int_equal(bound.room[0], 2);
    preemption_bound_release(&bound);
    cluster_free(cluster);
}
