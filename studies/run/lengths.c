#include "studies/run/lengths.h"

/* Of a job with a limit, does an estimate below it change the length? */
static bool reads_estimates(const struct estimate_policy *policy)
{
    const time_ns limit = 4 * TIME_NS_PER_S;
    return policy->length(limit, TIME_NS_PER_S, NULL) != policy->length(limit, 2 * TIME_NS_PER_S, NULL);
}

bool lengths_say(const struct scenario *scenario, const struct lengths_told *told, struct buffer *out)
{
    const struct policy_config *policy = &scenario->policy;
    const bool has_made_estimates = scenario->world.estimates.kind != ESTIMATES_AS_DECLARED;
    if (!policy->backfill_config.overtakes || policy->estimate->state_size > 0 || policy->plugin_count > 0 ||
        told->jobs == 0)
        return false;
    if (told->limits == 0 && told->estimates == 0) {
        if (!policy_has_one_line(policy) || policy->backfill_config.window != TIME_NEVER)
            return false; /* jobs may overtake */
        buffer_format(out,
                      "no job has a limit or an estimate, so under backfill '%s' no job overtakes another, as under "
                      "'fifo': --set world.estimates.kind=perfect (or noisy) tells the scheduler run times, --set "
                      "policy.estimate=history lets it learn them",
                      policy->backfill->name);
        return true;
    }
    if (!has_made_estimates || told->limits == 0 || reads_estimates(policy->estimate))
        return false;
    buffer_format(out,
                  "world.estimates has no effect on %llu of %llu jobs: policy.estimate '%s' plans with their limits; "
                  "--set policy.estimate=declared plans with the estimates",
                  (unsigned long long)told->limits, (unsigned long long)told->jobs, policy->estimate->name);
    return true;
}
