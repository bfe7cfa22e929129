/* studies/sizing/sizing_growth.h -- quarters of growth: until when what there is suffices, and when more is ordered.
 *
 * The cases of the plan are now and the quarters after it; each has the number that it needs.  What there is suffices
 * until the need has grown past it: between the last quarter that it suffices for and the first that it does not, the
 * need is taken to grow in a line.
 *
 *   20 nodes are there, 18 are needed now and 22 in a quarter: they suffice for half a quarter.  With a lead time of
 *   six months, two quarters, the order is a quarter and a half late.
 */
#ifndef STUDIES_SIZING_SIZING_GROWTH_H
#define STUDIES_SIZING_SIZING_GROWTH_H

#include "reports/show.h"
#include "studies/sizing/sizing.h"

/* "6mo", "2q", "1y", "12w", "90d" in quarters; false: it is none. */
bool sizing_read_quarters(const char *text, double *quarters);

/* Sentences, as leads; nothing if it is not known. */
void sizing_growth_show(struct show *show, const struct sizing *sizing);

/* Append a JSON object; null if it is not known. */
void sizing_growth_json(const struct sizing *sizing, struct buffer *out);

#endif
