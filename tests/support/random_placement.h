/* tests/support/random_placement.h -- random clusters, loads and requests for tests of placement, and the naive
 * answers.
 *
 * Small clusters with scarce hosts, MIG layouts, task limits, taints and labels on three levels ("all", "zone",
 * "rack", "node"), some of them missing; requests of every kind; nodes that are down.  The naive answers read only the
 * ledger's cells: no index, no bound, no counting formula.
 */
#ifndef TESTS_SUPPORT_RANDOM_PLACEMENT_H
#define TESTS_SUPPORT_RANDOM_PLACEMENT_H

#include "base/random.h"
#include "policies/placement/placements.h"
#include "policies/placement/search.h"

enum {
    RANDOM_PLACEMENT_NODES_MAX = 25,
    RANDOM_PLACEMENT_POLICIES = 19,
    RANDOM_PLACEMENT_PLAIN = 3, /* the first of them do not look at nodes */
    RANDOM_PLACEMENT_PACK = 6,  /* positions of pack, spread, strict_pack, strict_spread */
};
extern const struct placement_policy *const random_placement_policies[RANDOM_PLACEMENT_POLICIES];

static inline bool random_placement_once_in(struct random_stream *stream, uint32_t times)
{
    return random_below(stream, times) == 0;
}

/* A request class made by the test; it places its groups in their order, and must not be moved. */
struct random_placement_ask {
    struct job_group groups[4];
    struct job_set sets[4];
    uint16_t order[4];
    struct request_class request_class;
};

struct cluster *random_placement_cluster(struct random_stream *stream);
/* Its constraint on nodes is for the cluster that was made last. */
struct request random_placement_request(struct random_stream *stream);
/* May a member run on nodes of the type, by labels and taints?  Computed from these, not from resolved types. */
bool random_placement_takes_nodes(const struct request *request, const struct node_type *type);

/* Fill a part of the cluster, and take some nodes down. */
void random_placement_load(struct random_stream *stream, struct ledger *ledger);

/* `count` members of one group, without topology. */
void random_placement_group(struct random_placement_ask *ask, struct request request, uint32_t count);

/* Up to four groups in up to four nested sets with topology. */
void random_placement_sets(struct random_stream *stream, struct random_placement_ask *ask);

/* The spot that search_best must find. */
struct candidate random_placement_best(const struct search *search, uint32_t left);

/* Number of members that the domain of the level (NULL: the cluster) holds.  Takes one after another, then rolls
 * back. */
uint64_t random_placement_room(struct ledger *ledger, const struct request *request, const struct cluster_level *level,
                               uint32_t domain);

/* Checks that every group has all its members. */
void random_placement_check(const struct piece_list *pieces, const struct random_placement_ask *ask);

#endif
