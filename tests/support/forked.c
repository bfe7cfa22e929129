#include "tests/support/forked.h"

static struct error adopt(struct engine *engine, const struct scenario *scenario, const struct engine_policy *other)
{
    struct job_source *again;
    TRY(scenario_open(scenario, &again));
    struct error error = engine_adopt(engine, other, again);
    job_source_close(again);
    return error;
}

struct error forked_run(const struct engine_config *config, const struct scenario *scenario, time_ns at,
                        const struct engine_policy *other, struct engine_result *result)
{
    struct engine *engine;
    struct engine_config silent = *config;
    silent.sink_count = 0;
    silent.shows_later = true;
    TRY(engine_open(&engine, &silent, result));
    struct error error = engine_replay(engine, at);
    if (!error_is(error) && other != NULL)
        error = adopt(engine, scenario, other);
    if (!error_is(error)) {
        engine_show(engine, config->sinks, config->sink_count);
        error = engine_finish(&engine);
    }
    engine_drop(&engine);
    return error;
}
