/* workloads/load_model/load_draw.h -- the jobs of a model, in the order of submission.
 *
 * A client of a stream draws its jobs in order, each with
 *
 *   a kind      that of the client's last job with the probability `repeat`, else one by weight
 *   a rank      the next one of the client (load_rank.h), with the stream's memory.  The run time is the one of the
 *               kind with this cumulative probability, so memory changes no distribution; gamma and hyper-gamma run
 *               times are drawn without memory
 *   a user      NAME-uN: of the client, or drawn by the Zipf shares of `users`; none if the stream has neither
 *   a limit     with the probability `share`: run time x max(1, factor), rounded up to one of `values`, if one is as
 *               long
 *
 * Laws: the same model, seed and end give the same jobs; each purpose of each client has a random stream of its own,
 * named after the stream's name, so a stream does not change with the others.  Times are whole milliseconds.
 *
 *   struct load_draw *draw = load_draw_new(model, &plan);
 *   while (load_draw_next(draw, &job, &truth, &origin)) ...
 */
#ifndef WORKLOADS_LOAD_MODEL_LOAD_DRAW_H
#define WORKLOADS_LOAD_MODEL_LOAD_DRAW_H

#include "workloads/load_model/load_model.h"

struct load_draw_plan {
    uint64_t seed;
    uint64_t job_count; /* UINT64_MAX: `until` ends it */
    time_ns until;      /* TIME_NEVER: job_count ends it; at most TIME_NS_MAX */
    double rate_factor; /* of all jobs_per_day; 1: as the model says */
};

/* Where a job comes from; names are the model's. */
struct load_origin {
    const struct load_stream *stream;
    const struct load_kind *kind;
    uint32_t user; /* from 1, within the stream; 0: none */
};

struct load_draw; /* opaque */

/* model: borrowed. */
struct load_draw *load_draw_new(const struct load_model *model, const struct load_draw_plan *plan);
void load_draw_free(struct load_draw *draw); /* NULL is allowed */

/* The next job, without queue and user ids; false: it is over. */
bool load_draw_next(struct load_draw *draw, struct job *job, struct job_truth *truth, struct load_origin *origin);

#endif
