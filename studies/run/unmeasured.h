/* studies/run/unmeasured.h -- what of a workload's communication nobody measured, before it runs.
 *
 *   struct unmeasured unmeasured = {.cluster = scenario.cluster};
 *   unmeasured_add(&unmeasured, &job, &truth);                  for each job
 *   validation_brief(&unmeasured.validation, &out);             (reports/validation_show.h)
 *   unmeasured_release(&unmeasured);
 *   unmeasured_list(&scenario, source, say, self);              "jobs.jsonl:4:97: 'plan': no measured row encloses ..."
 *
 * Laws
 *  - Each job counts at its best place in the first pool whose nodes hold one of its members, with the GPU time that it
 *    asks for.  A run counts the places that its jobs had (struct run_facts): so where jobs are spread, it tells more.
 *  - A mixture of experts that no measured row encloses is told once for each row of the scenario that declares one,
 *    and once for a trace whose jobs do: of several, the farthest.  Other plans are told by their sums alone.
 *  - Under world.network "free" nothing is told: communication then costs nothing.
 * Test: tests/cli/validated.sh.
 */
#ifndef STUDIES_RUN_UNMEASURED_H
#define STUDIES_RUN_UNMEASURED_H

#include "sim/scenario/scenario.h"
#include "topologies/validation.h"

enum { UNMEASURED_KINDS = 256 };

/* Jobs of one kind have the same communication, GPUs, members and models: so they have one verdict. */
struct unmeasured_kind {
    const struct communication *communication; /* NULL: no kind yet */
    uint64_t gpu_models;
    uint32_t gpus, member_gpus;
    bool has_place; /* some pool holds a member */
    struct range_verdict verdict;
};

struct unmeasured {
    const struct cluster *cluster;
    struct validation validation;
    struct validation_ranges *ranges;
    struct unmeasured_kind kinds[UNMEASURED_KINDS]; /* by hash; a later kind takes the place of an earlier one */
};

void unmeasured_add(struct unmeasured *unmeasured, const struct job *job, const struct job_truth *truth);
void unmeasured_release(struct unmeasured *unmeasured);

/* Call `say` for mixtures of experts that no measured row encloses on any pool: a sentence without an end.
 * The jobs of a trace are checked as far as `source` has read them. */
void unmeasured_list(const struct scenario *scenario, const struct job_source *source,
                     void (*say)(void *self, const char *text), void *self);

#endif
