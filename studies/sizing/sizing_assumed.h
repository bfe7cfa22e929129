/* studies/sizing/sizing_assumed.h -- what a plan takes for what no job says, and whether its answer depends on it.
 *
 * The cases of a plan may be alternatives to what is assumed (studies/run/assumptions.h; `assumption` of struct
 * sizing_case), beside the scenario as it is.
 */
#ifndef STUDIES_SIZING_SIZING_ASSUMED_H
#define STUDIES_SIZING_SIZING_ASSUMED_H

#include "reports/assumed.h"
#include "reports/show.h"
#include "studies/sizing/sizing.h"

/* What no job said, as the runs of the plan tell. */
void sizing_assumed(const struct sizing *sizing, struct assumed_list *out);

/* A lead that names what is assumed; then, if cases are alternatives, a table of their answers, with a sentence for
 * each that moves the answer.  Nothing if nothing is assumed. */
void sizing_assumed_show(struct show *show, const struct sizing *sizing);

#endif
