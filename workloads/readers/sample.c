#include "workloads/readers/sample.h"

#include <string.h>

#include "base/hash.h"
#include "base/random.h"

const char *const sample_by_names[] = {"jobs", "users", NULL};

uint64_t sample_entity(const struct job *job)
{
    if (job->name != NULL)
        return hash_bytes(job->name, strlen(job->name), 0);
    return hash_bytes(&job->trace_id, sizeof job->trace_id, 1);
}

bool sample_takes(const struct sample_plan *plan, const struct job *job, const struct names *users, uint64_t seed)
{
    const bool is_user = plan->by == SAMPLE_USERS && job->user != NAMES_NONE;
    const char *user = is_user ? names_text(users, job->user) : NULL;
    struct random_stream stream;
    random_stream_init(&stream, plan->has_seed ? plan->seed : seed, is_user ? "sample.user" : "sample.job",
                       is_user ? hash_bytes(user, strlen(user), 0) : sample_entity(job));
    return random_uniform(&stream) < plan->share;
}
