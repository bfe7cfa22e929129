/* Progressive filling; see sim/network/max_min.h. */
#include "sim/network/max_min.h"

#include <assert.h>
#include <math.h>

#define RATE_OPEN    (-1.0)      /* a flow whose rate still rises */
#define FULL_TO_LAST (1 + 1e-12) /* links that fill at the same level but for rounding fill together */
#define ROUNDING     1e-12       /* a link that has less of its capacity left is full */

static void begin(struct max_min_flow *flows, uint32_t flow_count, struct max_min_link *links, uint32_t link_count)
{
    for (uint32_t l = 0; l < link_count; l++) {
        links[l].left = links[l].capacity;
        links[l].senders = 0;
        links[l].open_count = 0;
    }
    for (uint32_t f = 0; f < flow_count; f++) {
        flows[f].rate = RATE_OPEN;
        for (uint32_t u = 0; u < flows[f].use_count; u++) {
            struct max_min_link *link = &links[flows[f].uses[u].link];
            link->senders += flows[f].uses[u].senders;
            link->open_count++;
        }
    }
}

/* The rate at which the link is full if all its open flows have it.  `left` is what flows with a final rate leave.
 * The open flows are counted, because rounding may leave senders where no flow is open, or none where one is. */
static double level_of(const struct max_min_link *link)
{
    if (link->open_count == 0)
        return INFINITY;
    return link->left > 0 && link->senders > 0 ? link->left / link->senders : 0;
}

/* Give the flow its final rate. */
static void settle(struct max_min_flow *flow, double rate, struct max_min_link *links)
{
    flow->rate = rate;
    for (uint32_t u = 0; u < flow->use_count; u++) {
        struct max_min_link *link = &links[flow->uses[u].link];
        link->left -= flow->uses[u].senders * rate;
        link->senders -= flow->uses[u].senders;
        link->open_count--;
    }
}

static bool is_held(const struct max_min_flow *flow, const struct max_min_link *links)
{
    for (uint32_t u = 0; u < flow->use_count; u++)
        if (links[flow->uses[u].link].is_full)
            return true;
    return false;
}

/* The lowest level at which a link is full; marks the links that are full there.  INFINITY: none. */
static double fill_links(struct max_min_link *links, uint32_t link_count)
{
    double level = INFINITY;
    for (uint32_t l = 0; l < link_count; l++) {
        links[l].level = level_of(&links[l]);
        level = links[l].level < level ? links[l].level : level;
    }
    for (uint32_t l = 0; l < link_count; l++)
        links[l].is_full = links[l].open_count > 0 && links[l].level <= level * FULL_TO_LAST;
    return level;
}

static double least_demand(const struct max_min_flow *flows, uint32_t flow_count)
{
    double least = INFINITY;
    for (uint32_t f = 0; f < flow_count; f++)
        if (flows[f].rate == RATE_OPEN && flows[f].demand < least)
            least = flows[f].demand;
    return least;
}

/* What is left is computed in the order of the flows: so it depends on the rates alone, not on the rounds that led to
 * them, which flows elsewhere change. */
static void compute_left(const struct max_min_flow *flows, uint32_t flow_count, struct max_min_link *links,
                         uint32_t link_count)
{
    for (uint32_t l = 0; l < link_count; l++)
        links[l].left = links[l].capacity;
    for (uint32_t f = 0; f < flow_count; f++)
        for (uint32_t u = 0; u < flows[f].use_count; u++)
            links[flows[f].uses[u].link].left -= flows[f].uses[u].senders * flows[f].rate;
    for (uint32_t l = 0; l < link_count; l++)
        if (links[l].left < links[l].capacity * ROUNDING)
            links[l].left = 0;
}

void max_min_solve(struct max_min_flow *flows, uint32_t flow_count, struct max_min_link *links, uint32_t link_count)
{
    begin(flows, flow_count, links, link_count);
    for (uint32_t open = flow_count; open > 0;) {
        const double level = fill_links(links, link_count);
        const double demand = least_demand(flows, flow_count);
        for (uint32_t f = 0; f < flow_count; f++) {
            if (flows[f].rate != RATE_OPEN)
                continue;
            if (demand <= level ? flows[f].demand <= level : is_held(&flows[f], links)) {
                settle(&flows[f], demand <= level ? flows[f].demand : level, links);
                open--;
            }
        }
    }
    compute_left(flows, flow_count, links, link_count);
}
