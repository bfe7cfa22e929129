/* reports/validation_show.h -- which communication of a run is outside of what was measured, in words.
 *
 *   validation_lead(show, &facts->validation);           "outside of what was measured: 12 of 40 jobs that ..."
 *   validation_show(show, &facts->validation);           a section with a row for each reason
 *   validation_far(&reason, &out);                       "up to 1,024 GPUs, 512 measured"
 *
 * Law: nothing is shown if all is inside.  The numbers are those of topologies/validation.h.
 */
#ifndef REPORTS_VALIDATION_SHOW_H
#define REPORTS_VALIDATION_SHOW_H

#include "reports/show.h"
#include "topologies/validation.h"

/* "12 of 40 jobs that communicate, 35 % of their GPU hours". */
void validation_brief(const struct validation *validation, struct buffer *out);

/* How far, by the reason's farthest job: "down to 4 GPUs, 8 measured"; "no row of v100-16gb". */
void validation_far(const struct validation_reason *reason, struct buffer *out);

void validation_lead(struct show *show, const struct validation *validation);
void validation_show(struct show *show, const struct validation *validation);

#endif
