/* studies/check/check_cases.h -- scenarios made by hand, each with one difficulty for a scheduler.
 *
 * Texts are JSON with ' in place of ", without a policy; the trace is named "j.jsonl".
 */
#ifndef STUDIES_CHECK_CHECK_CASES_H
#define STUDIES_CHECK_CHECK_CASES_H

#include <stddef.h>

struct check_case {
    const char *name;
    unsigned laws;     /* that it shows besides those of all scenarios; bits of enum check_law */
    const char *setup; /* members of the scenario, each with a comma behind it */
    const char *jobs;  /* lines */
};

extern const struct check_case check_cases[];
extern const size_t check_case_count;

#endif
