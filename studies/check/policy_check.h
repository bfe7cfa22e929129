/* studies/check/policy_check.h -- a user's own policy in many small worlds: which laws hold, which broke, and the
 * smallest scenario found that shows it.
 *
 *   struct policy_check check;
 *   struct error error = policy_check_run(&check, &options);
 *   if (!error_is(error))
 *       ... check.findings, check.seen ...
 *   policy_check_release(&check);                   (on error too)
 *
 * First all cases made by hand are played, then `world_count` random worlds, each in a process of its own, so that a
 * policy that crashes breaks the law `answers` of that world alone.  Of each law the first world that breaks it is
 * made smaller: jobs are left out while the same law stays broken.  Then it is written to OUT/LAW: scenario.json, whole
 * and with the policy, and j.jsonl.
 *
 * Laws of the check: the same options give the same findings, unless another program decides, or the clock ended the
 * making smaller.  A policy that does not answer is asked no more worlds than a round, since each may cost its timeout.
 *
 * It does not: print, or read a clock.
 */
#ifndef STUDIES_CHECK_POLICY_CHECK_H
#define STUDIES_CHECK_POLICY_CHECK_H

#include <signal.h>

#include "studies/check/check_world.h"

struct policy_check_options {
    struct check_subject subject; /* `laws`: what the user claims; the check adds what the policy claims */
    uint64_t seed;                /* of the first random world */
    size_t world_count;
    size_t worker_count;
    const char *out;         /* the folder for scenarios that break a law; made when there is one */
    const char *scratch;     /* an existing folder for files of the check */
    double (*clock_s)(void); /* seconds of real time */
    double shrink_s;         /* for making a scenario smaller; 0: it stays as it is */
    const volatile sig_atomic_t *stop;
    void (*on_progress)(void *self, size_t done, size_t total); /* NULL: none */
    void *progress_self;
};

struct check_finding {
    size_t broken_count; /* worlds that break the law; 0: it holds in all */
    size_t index;        /* the first of them */
    char what[LAW_TEXT_BYTES];
    char world[80]; /* the name of the case, or the kind and seed of the world */
    uint32_t jobs;  /* of its scenario, after it was made smaller */
    char *folder;   /* that holds it; owned */
};

struct policy_check {
    const struct policy_check_options *options; /* borrowed */
    struct check_subject subject;
    char policy_name[64];
    struct check_finding findings[CHECK_LAW_COUNT];
    uint64_t seen[CHECK_LAW_COUNT]; /* evidence, over all worlds */
    size_t played_count, unsuited_count, total_count;
    bool is_given_up; /* worlds were left out, because the policy does not answer */
    char *scratch;
};

/* Errors: a policy that cannot be read, or files that cannot be written.  A broken law is none. */
struct error policy_check_run(struct policy_check *check, const struct policy_check_options *options) MUST_CHECK;
bool policy_check_holds(const struct policy_check *check);
void policy_check_release(struct policy_check *check);

/* For people, and as one JSON object.  replay: the words that replay a scenario take besides its path. */
void policy_check_text(const struct policy_check *check, struct buffer *out);
void policy_check_json(const struct policy_check *check, struct buffer *out);

#endif
