#include "studies/run/side.h"

#include "sim/plugins/guard.h"

struct error side_open(struct side *side, const struct scenario_options *options)
{
    *side = (struct side){0};
    return scenario_load(&side->scenario, options);
}

static struct error run_source(const struct side *side, const struct side_run *run, struct job_source *source)
{
    struct engine_result result;
    struct engine_config config = {.watch = &guard_watch,
                                   .cluster = side->scenario.cluster,
                                   .source = source,
                                   .policy = &side->scenario.policy,
                                   .world = side->scenario.world,
                                   .typical = side->scenario.typical,
                                   .typical_count = side->scenario.typical_count,
                                   .seed = side->scenario.seed,
                                   .listener = run->listener,
                                   .sinks = run->sink,
                                   .sink_count = run->sink != NULL,
                                   .stop = run->stop,
                                   .on_end = run->on_end,
                                   .end_self = run->end_self};
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
