/* workloads/fit/fit_inside.h -- the parts of a fit; `jobs` are those of one stream, in the order of submission. */
#ifndef WORKLOADS_FIT_FIT_INSIDE_H
#define WORKLOADS_FIT_FIT_INSIDE_H

#include "workloads/fit/fit.h"

void fit_arrivals(struct load_arrivals_plan *out, const struct fit_job *const *jobs, size_t count, double begin_s,
                  double end_s, const struct fit_plan *plan, struct arena *arena);

/* Kinds, and the kind of each job. */
void fit_kinds(struct load_stream *out, struct fit_job *const *jobs, size_t count, const struct fit_plan *plan,
               struct arena *arena);

/* Of gaps in their order. */
void fit_gap_memory(struct load_memory *out, const double *gaps, size_t count);

/* After fit_kinds. */
void fit_memory(struct load_memory *out, const struct fit_job *const *jobs, size_t count, uint32_t kind_count);
void fit_users(struct load_zipf *out, const struct fit_job *const *jobs, size_t count);
void fit_request(struct load_request *out, const struct fit_job *const *jobs, size_t count, struct arena *arena);

#endif
