/* Progressive filling; see sim/network/max_min.h. */
#include "sim/network/max_min.h"

#include <assert.h>
#include <math.h>

#define RATE_OPEN    (-1.0)      /* a flow whose rate still rises */
#define FULL_TO_LAST (1 + 1e-12) /* links that fill at the same level but for rounding fill together */

static void begin(struct max_min_flow *flows, uint32_t flow_count, struct max_min_link *links, uint32_t link_count)
{
    for (uint32_t l = 0; l < link_count; l++) {
        links[l].left = links[l].capacity;
        links[l].senders = 0;
    }
    for (uint32_t f = 0; f < flow_count; f++) {
        flows[f].rate = RATE_OPEN;
        for (uint32_t u = 0; u < flows[f].use_count; u++)
            links[flows[f].uses[u].link].senders += flows[f].uses[u].senders;
    }
}

/* The rate at which the link is full if all its open flows have it.  `left` is what flows with a final rate leave. */
static double level_of(const struct max_min_link *link)
{
    return link->senders > 0 ? fmax(0, link->left) / link->senders : INFINITY;
}

/* Give the flow its final rate. */
static void settle(struct max_min_flow *flow, double rate, struct max_min_link *links)
{
    flow->rate = rate;
    for (uint32_t u = 0; u < flow->use_count; u++) {
        struct max_min_link *link = &links[flow->uses[u].link];
        link->left -= flow->uses[u].senders * rate;
        link->senders -= flow->uses[u].senders;
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
    for (uint32_t l = 0; l < link_count; l++)
        level = fmin(level, level_of(&links[l]));
    for (uint32_t l = 0; l < link_count; l++)
        links[l].is_full = links[l].senders > 0 && level_of(&links[l]) <= level * FULL_TO_LAST;
    return level;
}

static double least_demand(const struct max_min_flow *flows, uint32_t flow_count)
{
    double least = INFINITY;
    for (uint32_t f = 0; f < flow_count; f++)
        if (flows[f].rate == RATE_OPEN)
            least = fmin(least, flows[f].demand);
    return least;
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
    for (uint32_t l = 0; l < link_count; l++)
        links[l].left = fmax(0, links[l].left);
}
