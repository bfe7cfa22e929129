/* workloads/readers/unit_question.h -- are the run times of a trace in the unit that they are read in?
 *
 * A table with a column "duration" may mean seconds, minutes or milliseconds, and a wrong unit makes a run that looks
 * right.  Where the run times of many jobs are all short, or most are very long, the user is asked; formats that define
 * their unit are not questioned.
 *
 * Law: it asks, and changes nothing.  Test: tests/unit/test_survey.c.
 */
#ifndef WORKLOADS_READERS_UNIT_QUESTION_H
#define WORKLOADS_READERS_UNIT_QUESTION_H

#include "workloads/readers/survey.h"

/* Append a sentence without an end; false: there is nothing to ask.  The survey is complete; the order in its series
 * changes. */
bool unit_question(struct survey *survey, const struct workload_facts *facts, struct buffer *out);

#endif
