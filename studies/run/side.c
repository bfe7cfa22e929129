#include "studies/run/side.h"

struct error side_open(struct side *side, const struct scenario_options *options)
{
    *side = (struct side){0};
    return scenario_load(&side->scenario, options);
}

static struct error run_source(const struct side *side, const struct side_run *run, struct job_source *source)
{
    struct engine_result result;
    struct engine_config config = scenario_engine(&side->scenario, source);
    config.listener = run->listener;
    config.sinks = run->sink;
    config.sink_count = run->sink != NULL;
    config.stop = run->stop;
    config.on_end = run->on_end;
    config.end_self = run->end_self;
    if (run->until < config.world.end)
        config.world.end = run->until;
    TRY(engine_run(&config, &result));
    return result.stall;
}

struct error side_run(struct side *side, const struct side_run *run)
{
    struct job_source *source = NULL;
    TRY(scenario_open(&side->scenario, &source));
    side->queues = job_source_queues(source);
    struct error error = run_source(side, run, source);
    side->queues = NULL;
    job_source_close(source);
    return error;
}

void side_release(struct side *side)
{
    scenario_release(&side->scenario);
}
