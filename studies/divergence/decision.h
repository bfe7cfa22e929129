/* studies/divergence/decision.h -- one decision of a run, looked at closely: what stood to choose when it was made.
 *
 * The scenario is run twice: to find the cycle of the decision, and to ask the scheduler right before that cycle.
 *
 * Words: the weighed job is the one that the decision is for: of an EVICT the preemptor.  Decisions are numbered from 1
 * (decision_number); events.jsonl.zst and studies/divergence/divergence.h have these numbers.
 *
 *   struct decision_study study;
 *   TRY(decision_study_find(&study, &options, 4711));
 *   decision_study_text(&study, &out);
 *   decision_study_release(&study);
 *
 * Laws
 *  - Heads of class queues are as before the cycle.  Nodes are as after the starts that the cycle decided before it.
 *  - The place of a START of one member has the best score of all nodes where nothing keeps the job off, and among
 *    equal scores the lowest node, if nothing but room and score chose it: no topology, no preferred rules of tags, no
 *    drain, no reservation, no random draw; and what came before it in its cycle were starts of other jobs on free
 *    space.
 *
 * A cycle begins by giving up claims and drains that are over; nodes that these kept are still refused as kept.
 *
 * It does not: list the victims that an EVICT might have had, or what other decisions than starts do to the nodes
 * within the cycle.
 */
#ifndef STUDIES_DIVERGENCE_DECISION_H
#define STUDIES_DIVERGENCE_DECISION_H

#include "policies/explain.h"
#include "studies/divergence/named_job.h"
#include "studies/run/side.h"

struct decision_study {
    struct side side;
    time_ns at;
    uint64_t cycle;           /* number of the cycle in the run, from 0 */
    struct decision decision; /* with its pieces */
    const char *place;        /* "n[0-7]:0-7" */
    struct decision *before;  /* decisions of the same cycle before it, with their pieces */
    size_t before_count;
    job_id weighed; /* JOB_NONE: there is nothing to weigh */
    bool is_weighed;
    struct weighing weighing;
    bool is_explained; /* a job that is rejected has no place to weigh, but a reason */
    struct explanation why;
    uint64_t reserved_by;   /* number of the RESERVE that the job of a START had last; 0: none */
    struct named_job *jobs; /* the jobs whose names the text and the JSON print */
    size_t job_capacity;
    uint32_t job_count;
    struct arena arena;
};

/* number: of the decision.  On error nothing needs to be released. */
struct error decision_study_find(struct decision_study *study, const struct scenario_options *options,
                                 uint64_t number) MUST_CHECK;
void decision_study_release(struct decision_study *study);

void decision_study_text(const struct decision_study *study, struct buffer *out);
void decision_study_json(const struct decision_study *study, struct buffer *out); /* one object, with a newline */

#endif
