#include "policies/idle/idle.h"

/* An idle job is active again from this SM activity on. */
static uint32_t wake_milli(const struct idle_config *config)
{
    return config->threshold_milli > IDLE_WAKE_MILLI ? config->threshold_milli : IDLE_WAKE_MILLI;
}

bool idle_note(const struct idle_config *config, struct idle_spell *spell, const struct observation *observation)
{
    const time_ns since = observation->since > spell->seen ? observation->since : spell->seen;
    const bool was_idle = spell->idle > 0;
    if (observation->until <= since)
        return false;
    spell->seen = observation->until;
    if (observation->sm_active_milli < (was_idle ? wake_milli(config) : config->threshold_milli)) {
        spell->idle += observation->until - since;
        return false;
    }
    spell->idle = 0;
    spell->told = TIME_NEVER;
    return was_idle;
}

/* span x 2^times; TIME_NEVER if that cannot be held. */
static time_ns doubled(time_ns span, uint32_t times)
{
    return span > TIME_NS_MAX >> times ? TIME_NEVER : span << times;
}

time_ns idle_grace(const struct idle_policy *policy, const struct idle_config *config, uint32_t strikes)
{
    if (!policy->reclaims || strikes >= IDLE_STRIKES_MAX)
        return TIME_NEVER;
    return doubled(config->grace, strikes);
}

enum idle_step idle_step(const struct idle_policy *policy, const struct idle_config *config,
                         const struct idle_spell *spell, uint32_t strikes)
{
    if (spell->told == TIME_NEVER)
        return spell->idle >= config->window ? IDLE_TELLS : IDLE_WAITS;
    /* The measurement that told it is not the one that acts. */
    const bool is_over = spell->idle > spell->told && spell->idle - spell->told >= idle_grace(policy, config, strikes);
    return is_over ? IDLE_ACTS : IDLE_WAITS;
}

time_ns idle_rest(const struct idle_config *config, uint32_t strikes)
{
    const time_ns rest = config->rest > TIME_NS_PER_S ? config->rest : TIME_NS_PER_S; /* SCHED_PATIENCE_MIN */
    return doubled(rest, strikes - 1);
}
