/* tests/support/fault_twin.h -- whom faults take, found anew from all that stands on the cluster; a part of the twin
 * of tests/support/work_twin.h.
 *
 * Law: a job has a fault in the very nanosecond in which the twin's work of it reaches the fault's point; in that
 * instant exactly those jobs leave without a decision that the twin expects by the table of blast radii, which stands
 * here once more, as the documents have it; rows count both.
 */
#ifndef TESTS_SUPPORT_FAULT_TWIN_H
#define TESTS_SUPPORT_FAULT_TWIN_H

#include "tests/support/work_twin.h"

/* Draw the first faults; the jobs are planned. */
void fault_twin_open(struct twin *twin);
/* All members of the job leave, before the twin lets them.  all: the units of all of its work; speed: units in a ns. */
void fault_twin_left(struct twin *twin, job_id job, twin_units all, twin_units speed);
/* Time moves on: no fault is due, and nobody is left whom one should have taken. */
void fault_twin_passed(const struct twin *twin);
void fault_twin_row(const struct twin *twin, const struct job_row *row);

#endif
