/* studies/sizing/sizing_inside.h -- what the files of a plan share. */
#ifndef STUDIES_SIZING_SIZING_INSIDE_H
#define STUDIES_SIZING_SIZING_INSIDE_H

#include "studies/sizing/sizing.h"

/* The bounds of the levels, into sizing->gates. */
void sizing_make_gates(struct sizing *sizing);

/* Judge the levels by the runs of a point: holds, is_sure, judgements.  ERROR_CONFIG: a level is of no job. */
struct error sizing_judge(const struct sizing *sizing, const struct looks *looks, bool is_exact,
                          struct sizing_point *point) MUST_CHECK;

/* Where more is worse, for sure, and the curve of each level where it is not: the reversals of the answer, and fit,
 * fit_low and fit_high of the judgements of its points. */
void sizing_find_curve(const struct sizing *sizing, struct sizing_answer *answer);

#endif
