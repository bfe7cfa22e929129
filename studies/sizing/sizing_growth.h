/* studies/sizing/sizing_growth.h -- quarters of growth: until when what there is suffices, and when more is ordered.
 *
 * The cases of the plan are now and the quarters after it; each has the number that it needs.  What there is suffices
 * until the need has grown past it: between the last quarter that it suffices for and the first that it does not, the
 * need is taken to grow in a line.
 *
 *   struct sizing_growth growth = sizing_growth_of(&sizing);
 *   if (growth.is_known) ... growth.breaks, growth.order ...      in quarters from now
 *
 *   20 nodes are there, 18 are needed now and 22 in a quarter: they suffice for half a quarter.  With a lead time of
 *   six months, two quarters, the order is a quarter and a half late.
 */
#ifndef STUDIES_SIZING_SIZING_GROWTH_H
#define STUDIES_SIZING_SIZING_GROWTH_H

#include "reports/show.h"
#include "studies/sizing/sizing.h"

enum sizing_growth_state {
    GROWTH_UNKNOWN, /* the plan is not of growth, or a quarter has no answer before it breaks */
    GROWTH_BROKEN,  /* what there is does not suffice now */
    GROWTH_BREAKS,  /* it does until `breaks` */
    GROWTH_LASTS,   /* it does in all quarters of the plan */
};

struct sizing_growth {
    enum sizing_growth_state state;
    double have;          /* nodes, or what else is sought */
    double breaks, order; /* quarters from now; order: less the lead time, NAN without one */
    double before, after; /* the needs of the quarters around `breaks` */
    bool is_sure;         /* the answers that it rests on are */
};

struct sizing_growth sizing_growth_of(const struct sizing *sizing);

/* "6mo", "2q", "1y", "12w", "90d" in quarters; false: it is none. */
bool sizing_read_quarters(const char *text, double *quarters);

/* Sentences, as leads; nothing if it is not known. */
void sizing_growth_show(struct show *show, const struct sizing *sizing);

/* Append a JSON object; null if it is not known. */
void sizing_growth_json(const struct sizing *sizing, struct buffer *out);

#endif
