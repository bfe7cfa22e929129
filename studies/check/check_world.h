/* studies/check/check_world.h -- one scenario in which a policy is checked, and one play of it.
 *
 *   struct check_world world;
 *   check_world_make(&world, &subject, seed, index);
 *   TRY(check_world_play(&world, &subject, "/tmp/x", &verdict));
 *   check_world_release(&world);
 *
 * The world of an index below check_case_count is a case made by hand (studies/check/check_cases.h); the others are
 * random, in turns mixed, plain and of reclaim (studies/worlds).
 * Law: the same subject, seed and index give the same world, and the same verdict unless another program decides.
 *
 * It does not: survive a crash of the policy; studies/check/policy_check.h plays each world in a process of its own.
 */
#ifndef STUDIES_CHECK_CHECK_WORLD_H
#define STUDIES_CHECK_CHECK_WORLD_H

#include "sim/scenario/scenario.h"
#include "studies/check/law_watch.h"

/* What is checked; borrowed. */
struct check_subject {
    const char *name;        /* for people */
    const char *policy;      /* a preset's name or a file, as scenario_options.policy; NULL: the next */
    const char *policy_json; /* the policy as an object */
    struct plugin_options plugins;
    const char *const *sets; /* as scenario_options.sets; they override fields of policy and world */
    size_t set_count;
    const char *command; /* another program decides; NULL: the library */
    int64_t timeout_ms;  /* the real time that it has for a cycle */
    unsigned laws;       /* to be told, as bits of enum check_law */
};

struct check_world {
    struct buffer text, jobs; /* owned; the trace of `text` is named "j.jsonl" */
    unsigned laws;            /* that its shape can show */
    const char *name;         /* of a case; of a random world its kind */
    uint64_t seed;            /* of a random world */
    bool is_made_by_hand;
};

struct check_verdict {     /* plain data: it is sent between processes as it is */
    enum check_law broken; /* CHECK_LAW_COUNT: none */
    char what[LAW_TEXT_BYTES];
    uint64_t seen[CHECK_LAW_COUNT];
    bool is_legal; /* false: the policy does not fit the scenario's cluster or queues, so nothing was played */
};

/* A mixed world takes the first draw that suits the policy. */
void check_world_make(struct check_world *world, const struct check_subject *subject, uint64_t seed, size_t index);
void check_world_release(struct check_world *world);

/* The scenario of the world with the subject's policy.  jobs_path: its trace; NULL: as the text names it.  The caller
 * releases it, on error too. */
struct error check_world_load(const struct check_world *world, const struct check_subject *subject,
                              const char *jobs_path, struct scenario *scenario) MUST_CHECK;

/* scratch: a folder in which a file for the jobs is made, and removed.  An error is one of this process, such as a full
 * disk. */
struct error check_world_play(const struct check_world *world, const struct check_subject *subject, const char *scratch,
                              struct check_verdict *verdict) MUST_CHECK;

#endif
