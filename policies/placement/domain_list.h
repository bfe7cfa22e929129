/* policies/placement/domain_list.h -- the domains of a level that have room for groups of a job, in the order in which
 * they are tried; see the laws of domains.h.
 */
#ifndef POLICIES_PLACEMENT_DOMAIN_LIST_H
#define POLICIES_PLACEMENT_DOMAIN_LIST_H

#include "policies/placement/placing.h"

/* The part of a domain that a set takes. */
struct part {
    uint32_t id;         /* of the domain; DOMAIN_NONE: the level has none here */
    uint64_t need, free; /* of the resource of which the set takes the largest part */
};

struct domain {
    uint32_t id;
    bool holds;           /* the job holds members of the set there */
    bool has_all;         /* each group alone has room */
    bool has_any;         /* some group has room for a member */
    uint32_t room, quota; /* of the only group: members that it has room for; the most that go there */
    uint64_t need, free;  /* as in struct part */
    struct part *around;  /* the wider domains that it is ordered by first, the widest first */
    uint32_t around_count;
};

struct domain_list {
    struct domain *domains;
    uint32_t count;
};

/* Lists the domains that may hold all of the groups (bit g: group g), the fullest first.  If is_filling, lists the
 * domains that may hold at least one of the groups, the emptiest first.  Domains are sorted by the wider domain around
 * them first; of equal domains the last is filled first.  level NULL: every node is a domain.  The list lies in the
 * scratch arena. */
struct domain_list domain_list_of(const struct placing *placing, uint64_t groups, const struct cluster_level *level,
                                  const struct region *region, bool is_filling);

#endif
