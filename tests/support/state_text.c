#include "tests/support/state_text.h"

#include <string.h>

#include "policies/describe.h"

/* The requests of jobs do not change, and are left out. */
static const struct job *some_job(void *self, job_id id)
{
    struct job *job = self;
    *job = job_default();
    job->id = id;
    return job;
}

struct buffer state_text(const struct sched *sched)
{
    struct buffer out = {0};
    struct job job;
    struct sched_counts counts;
    sched_count(sched, &counts);
    sched_describe(sched, text_of("{}"), some_job, &job, &out);
    buffer_bytes(&out, &counts, sizeof counts);
    buffer_format(&out, "%llu\n", (unsigned long long)sched_hash(sched));
    return out;
}
