/* studies/check/laws.h -- the laws that a policy is checked for.
 *
 * Of every policy: answers, invariants, ends, starts.  The others only if the policy claims them: by its "guarantees",
 * `strict` if its seams make it one line in the order of submission, and what the user claims for it.
 */
#ifndef STUDIES_CHECK_LAWS_H
#define STUDIES_CHECK_LAWS_H

#include "policies/policy_config.h"

enum check_law {
    CHECK_ANSWERS,
    CHECK_INVARIANTS,
    CHECK_ENDS,
    CHECK_STARTS,
    CHECK_GANG,
    CHECK_RECLAIM,
    CHECK_NO_LOOP,
    CHECK_MINIMAL,
    CHECK_STRICT,
    CHECK_LAW_COUNT
};

struct check_law_facts {
    const char *name;
    const char *meaning; /* a sentence without a full stop */
    const char *seen;    /* what is counted as evidence: "victims" */
};
extern const struct check_law_facts check_laws[CHECK_LAW_COUNT];

enum {
    CHECK_LAWS_OF_ALL = 1 << CHECK_ANSWERS | 1 << CHECK_INVARIANTS | 1 << CHECK_ENDS | 1 << CHECK_STARTS,
    CHECK_LAWS_CLAIMED = (1 << CHECK_LAW_COUNT) - 1 - CHECK_LAWS_OF_ALL, /* checked only if the policy claims them */
};

/* The law of that name; CHECK_LAW_COUNT: there is none. */
enum check_law check_law_of(const char *name);

/* The laws, as bits, that the policy claims by what it is and says. */
unsigned check_laws_of(const struct policy_config *policy);

#endif
