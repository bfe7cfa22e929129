/* pack.  Keeps a job's members on as few nodes as possible; strict_pack: all on one node, or the job waits.  First it
 * tries to place all members on one node, the fullest that holds them.  Else it goes on where members of the job are,
 * then to the node that holds the most of those left (or, if some nodes hold all of them, to the fullest of these).
 * For members that are alike no other choice takes fewer nodes.
 * Works for jobs that communicate more inside a node than between nodes.  Jobs may wait longer (strict_pack for ever,
 * if the job is larger than a node), and a node failure hits more members.
 * Source: Ray, placement groups PACK and STRICT_PACK (docs.ray.io, "Placement groups").  Departures: Ray sorts bundles
 * by resources and retries; here the groups of a job keep their order of scarcity.
 * Cost: for each member the nodes with room where members of the job are, else O(log nodes), and one score for each
 * state of a node (policies/placement/by_node.h); for the single node see policies/placement/domains.h. */
#include "policies/placement/placements.h"

enum { ROOM_BITS = 21, FIT_BITS = 16 }; /* a score: tier, room, fit */

static int64_t score(const struct spot *spot)
{
    const int64_t room_max = (INT64_C(1) << ROOM_BITS) - 1;
    int64_t room = request_class_room(spot->request, spot->ledger, spot->node, spot->allowed);
    int64_t left = spot->members_left < room_max ? spot->members_left : room_max;
    int64_t fit = placement_fit_score(spot) + (INT64_C(1) << FIT_BITS) - 1;
    int64_t tier = spot->members_here > 0 ? 2 : room >= left ? 1 : 0;
    room = room < room_max ? room : room_max;
    return ((tier << ROOM_BITS | (tier == 0 ? room : room_max - room)) << FIT_BITS) + fit;
}

const struct placement_policy placement_pack = {
    .name = "pack",
    .version = 1,
    .summary = "a job's members on as few nodes as can be; for jobs that talk inside a node, at the "
               "price of blast radius",
    .score = score,
    .looks_at_nodes = true,
    .joins_members = true,
    .one_node = ONE_NODE_PREFERRED,
};

const struct placement_policy placement_strict_pack = {
    .name = "strict_pack",
    .version = 1,
    .summary = "all members of a job on one node, or none; a job larger than a node waits for ever",
    .score = score,
    .looks_at_nodes = true,
    .joins_members = true,
    .one_node = ONE_NODE_REQUIRED,
};
