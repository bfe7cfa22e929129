/* policies/explain/explain_text.h -- the sentences of an explanation; for policies/explain/explain.c only. */
#ifndef POLICIES_EXPLAIN_EXPLAIN_TEXT_H
#define POLICIES_EXPLAIN_EXPLAIN_TEXT_H

#include "policies/explain.h"
#include "policies/state/sched_state.h"

/* Fill out->text from the rest of it.  job: as its table holds it. */
void explain_write(const struct sched *sched, const struct sched_job *job, struct explanation *out);

#endif
