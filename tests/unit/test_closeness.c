/* tests/unit/test_closeness.c -- split slices and islands are found by pieces alone. */
#include "tests/support/test.h"

#include "sim/job/closeness.h"
#include "topologies/cluster_load.h"

static struct cluster *nvl72(void)
{
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, "topologies/nvl72-8.json");
    assert_string_equal(error_message(&error), "");
    return cluster;
}

static struct piece piece(node_id node, uint16_t mask, uint16_t members, uint8_t group)
{
    return (struct piece){
        .node = node, .gpu_mask = mask, .gpu_milli = GPU_MILLI, .member_count = members, .group = group};
}

TEST(slices_in_racks)
{
    struct cluster *cluster = nvl72();
    struct job_group group = {.request = {.gpus = 4},
                              .count = 4,
                              .min_count = 4,
                              .slice_members = 2,
                              .slice_level = cluster_level_of(cluster, TEXT("nvlink"))};
    struct piece whole[] = {piece(0, 0xf, 1, 0), piece(20, 0xf, 1, 0), piece(17, 0xf, 1, 0), piece(35, 0xf, 1, 0)};
    struct piece torn[] = {piece(0, 0xf, 1, 0), piece(18, 0xf, 1, 0)};
    struct piece others[] = {piece(0, 0xf, 1, 0), piece(1, 0xf, 1, 1)};
    assert_null(closeness_complaint(cluster, &group, 0, whole, 4));
    assert_non_null(closeness_complaint(cluster, &group, 0, whole, 3));
    assert_non_null(closeness_complaint(cluster, &group, 0, torn, 2));
    assert_non_null(closeness_complaint(cluster, &group, 0, others, 2)); /* not of this group */
    group.slice_level = cluster_level_of(cluster, TEXT("unit"));
    assert_null(closeness_complaint(cluster, &group, 0, whole, 4));
    group.slice_members = group.slice_level = 0;
    assert_null(closeness_complaint(cluster, &group, 0, torn, 2));
    cluster_free(cluster);
}

TEST(members_in_islands)
{
    struct cluster *cluster = nvl72();
    struct job_group group = {.request = {.gpus = 2, .one_island = true}, .count = 2};
    struct job job = job_default();
    struct piece across[] = {piece(3, 0x6, 1, 0)}, own[] = {piece(3, 0xf, 2, 0)};
    cluster->types[0].island_gpus = 2;
    assert_non_null(closeness_complaint(cluster, &group, 0, across, 1));
    assert_null(closeness_complaint(cluster, &group, 0, own, 1));
    group.request.one_island = false;
    assert_null(closeness_complaint(cluster, &group, 0, across, 1));
    job.first = group;
    assert_false(closeness_is_asked(&job));
    job.first.request.one_island = true;
    assert_true(closeness_is_asked(&job));
    cluster_free(cluster);
}
