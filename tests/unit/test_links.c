/* tests/unit/test_links.c -- the narrowest link of a gang, against numbers worked out by hand. */
#include "tests/support/test.h"

#include "topologies/cluster_load.h"
#include "topologies/links.h"

static struct cluster *cluster_of(const char *path)
{
    struct cluster *cluster;
    struct error error = cluster_load(&cluster, path);
    assert_string_equal(error_message(&error), "");
    return cluster;
}

/* `count` nodes from `first` on, `step` apart, with these GPUs each. */
static struct link gang(const struct cluster *cluster, node_id first, uint32_t step, uint32_t count, uint16_t mask)
{
    struct link_place places[64];
    assert_true(count <= 64);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct link_place){first + (count - 1 - i) * step, mask};
    return links_narrowest(cluster, places, count);
}

static void check(struct link link, enum link_tier tier, int64_t mb_per_s)
{
    assert_int_equal(link.tier, tier);
    assert_int_equal(link.bytes_per_s / 1000000, mb_per_s);
}

/* DGX H100 SuperPOD, RA-11333: 400 Gb/s a GPU, 1:1, 16 units, three tiers. */
TEST(superpod)
{
    struct cluster *cluster = cluster_of("topologies/dgx-h100-500.json");
    check(gang(cluster, 3, 1, 1, 0x10), LINK_NONE, 0);
    check(gang(cluster, 3, 1, 1, 0x11), LINK_NVLINK, 450000);
    check(gang(cluster, 3, 1, 1, 0xff), LINK_NVLINK, 450000);
    check(gang(cluster, 0, 1, 32, 0xff), LINK_LEAF, 50000);
    check(gang(cluster, 0, 1, 33, 0xff), LINK_CORE, 50000);
    check(gang(cluster, 31, 1, 2, 0xff), LINK_CORE, 50000);
    check(gang(cluster, 0, 1, 4, 0x0f), LINK_LEAF, 50000);
    cluster->fabric.leaf_oversubscription = 2;
    cluster->fabric.spine_oversubscription = 4;
    check(gang(cluster, 0, 1, 32, 0xff), LINK_LEAF, 50000);
    check(gang(cluster, 0, 32, 2, 0xff), LINK_CORE, 6250);
    cluster->fabric.cores = 0;
    check(gang(cluster, 0, 32, 2, 0xff), LINK_SPINE, 25000);
    cluster_free(cluster);
}

TEST(other_rails_go_by_a_spine)
{
    struct cluster *cluster = cluster_of("topologies/dgx-h100-500.json");
    struct link_place apart[] = {{5, 0xf0}, {4, 0x0f}}, same[] = {{5, 0x0f}, {4, 0x0f}},
                      uneven[] = {{5, 0x01}, {4, 0x03}};
    cluster->fabric.leaf_oversubscription = 2;
    struct link link = links_narrowest(cluster, apart, 2);
    check(link, LINK_SPINE, 25000);
    assert_false(link.is_aligned);
    assert_int_equal(apart[0].node, 4); /* in order */
    link = links_narrowest(cluster, same, 2);
    check(link, LINK_LEAF, 50000);
    assert_true(link.is_aligned);
    check(links_narrowest(cluster, uneven, 2), LINK_SPINE, 25000);
    cluster_free(cluster);
}

TEST(pieces_of_a_node_are_one_place)
{
    struct cluster *cluster = cluster_of("topologies/dgx-h100-500.json");
    struct link_place places[] = {{7, 0x01}, {2, 0}, {7, 0x80}, {7, 0x01}};
    check(links_narrowest(cluster, places, 4), LINK_NVLINK, 450000);
    struct link_place shares[] = {{7, 0x01}, {7, 0x01}};
    check(links_narrowest(cluster, shares, 2), LINK_NONE, 0);
    cluster_free(cluster);
}

/* One NIC of 100 Gb/s for 8 GPUs that have no NVLink, 2:1 out of a rack. */
TEST(gpus_share_the_nics_of_a_node)
{
    struct cluster *cluster = cluster_of("topologies/philly-352.json");
    check(gang(cluster, 0, 1, 1, 0x03), LINK_PCIE, 63000);
    check(gang(cluster, 0, 1, 2, 0x01), LINK_LEAF, 12500);
    check(gang(cluster, 0, 1, 2, 0xff), LINK_LEAF, 1562);
    check(gang(cluster, 0, 16, 2, 0xff), LINK_SPINE, 781);
    struct link_place uneven[] = {{0, 0x01}, {1, 0x0f}};
    check(links_narrowest(cluster, uneven, 2), LINK_LEAF, 3125); /* the four on node 1 */
    cluster_free(cluster);
}

TEST(racks_of_nvl72)
{
    struct cluster *cluster = cluster_of("topologies/nvl72-8.json");
    check(gang(cluster, 0, 1, 18, 0x0f), LINK_NVLINK, 900000);
    check(gang(cluster, 0, 1, 19, 0x0f), LINK_SPINE, 50000);
    check(gang(cluster, 17, 1, 2, 0x01), LINK_SPINE, 50000);
    cluster_free(cluster);
}

TEST(islands_of_a_node_meet_over_pcie)
{
    struct cluster *cluster = cluster_of("topologies/dgx-h100-500.json");
    for (uint32_t g = 4; g < 8; g++)
        cluster->pools[0].gpu_island[g] = 1;
    check(gang(cluster, 0, 1, 1, 0xf0), LINK_NVLINK, 450000);
    check(gang(cluster, 0, 1, 1, 0x18), LINK_PCIE, 63000);
    cluster->fabric.rail_bytes_per_s = 100e9; /* wider than PCIe */
    check(gang(cluster, 0, 1, 2, 0x0f), LINK_LEAF, 63000);
    cluster_free(cluster);
}
