/* Work done + lost = speed integrated over time, exactly, in random worlds: jobs communicate over oversubscribed
 * fabrics and share GPUs; they are evicted with and without checkpoints, grow and shrink; in half of the worlds they
 * have faults that take their neighbours.  tests/support/work_twin.h says what is compared. */
#include "tests/support/test.h"

#include "policies/sharing/sharings.h"
#include "sim/plugins/guard.h"
#include "tests/support/fault_twin.h"
#include "tests/support/interval.h"
#include "tests/support/work_twin.h"

#define DURATION_MAX (40000 * TIME_NS_PER_S)

/* Of the GPUs of a member that has any, the fewest; 0: some ask for a part of a GPU, or none asks for a GPU. */
static uint32_t member_gpus_of(const struct job *job)
{
    uint32_t fewest = 0;
    for (uint32_t g = 0; job_whole_gpus(job) > 0 && g < job->group_count; g++) {
        const uint32_t gpus = job_group(job, g)->request.gpus;
        if (gpus > 0 && (fewest == 0 || gpus < fewest))
            fewest = gpus;
    }
    return fewest;
}

static struct communication some_communication(struct random_stream *stream, uint64_t gpus)
{
    struct training_complaint why;
    const uint32_t heads = 1u << random_below(stream, 5);
    const struct communication declared = {.has_plan = true,
                                           .plan = {.tp = 1u << random_below(stream, 4),
                                                    .pp = 1 + random_below(stream, 2),
                                                    .ep = 1,
                                                    .layers = 8,
                                                    .hidden = 128 * heads,
                                                    .heads = heads,
                                                    .kv_heads = heads,
                                                    .head_size = 128,
                                                    .cp = 1,
                                                    .zero = random_below(stream, 4),
                                                    .expert_load = 1,
                                                    .ffn = 512 * heads,
                                                    .sequence = 2048,
                                                    .vocabulary = 32000,
                                                    .experts = 1,
                                                    .experts_per_token = 1,
                                                    .batch = 720720,
                                                    .micro_batch = 1,
                                                    .virtual_stages = 1}};
    struct communication fitted;
    if (random_case_once_in(stream, 2) && communication_fit(&declared, gpus, &fitted, &why))
        return fitted;
    return (struct communication){.sensitivity = {.name = "",
                                                  .kind = (enum collective_kind)random_below(stream, 4),
                                                  .exposed_ratio = 0.9 * random_uniform(stream),
                                                  .hidden_ratio = 0.5 * random_uniform(stream),
                                                  .bytes = 1e6 * (1 + random_below(stream, 10000))}};
}

/* More members, so that more jobs cross links; some elastic. */
static void widen(struct random_stream *stream, struct job *declared)
{
    struct job_group *group = &declared->first;
    if (group->request.gpus == 0 || group->slice_members > 0 || random_case_once_in(stream, 3))
        return;
    group->count += random_below(stream, 6);
    group->min_count = random_case_once_in(stream, 2) ? group->count : 1 + random_below(stream, group->count);
}

static void plan(struct twin *twin, struct random_stream *stream, uint32_t j)
{
    struct random_job *planned = &twin->run.jobs[j];
    struct twin_job *job = &twin->jobs[j];
    struct job *declared = &planned->job;
    const uint32_t gpus = member_gpus_of(declared);
    job->planned = planned;
    if (planned->truth.duration > DURATION_MAX) /* slow as it may be, it ends in simulated time */
        planned->truth.duration = DURATION_MAX;
    if (random_case_once_in(stream, 2))
        planned->truth.bandwidth_milli = (uint16_t)random_below(stream, 1001);
    widen(stream, declared);
    if (gpus > 0 && !random_case_once_in(stream, 5)) {
        job->communication = some_communication(stream, job_whole_gpus(declared));
        declared->communication = &job->communication;
        job->member_gpus = gpus;
    } else if (random_case_once_in(stream, 2)) {
        declared->class = JOB_INTERACTIVE; /* its members of one GPU may get a share of it */
    }
    const bool takes_turns =
        twin->run.policy.config.sharing == &sharing_timeslice && declared->class == JOB_INTERACTIVE;
    for (uint32_t g = 0; g < declared->group_count; g++) {
        const struct request *asked = &job_group(declared, g)->request;
        job->members += job_group(declared, g)->count;
        job->is_client |= asked->gpu_milli > 0 || asked->gpu_memory_mib > 0 || (takes_turns && asked->gpus == 1);
    }
    job->is_client &= twin->run.policy.config.sharing->map != NULL;
    if (twin->is_charged)
        job->saves.plan = checkpoint_table_saving(&twin->run.world.checkpoints, twin->run.cluster, declared,
                                                  (struct job_names){"", ""});
    const bool is_fine = job->is_client || job->member_gpus > 0 || job->saves.plan.is_asynchronous;
    job->one = job->pace = is_fine ? TWIN_ONE : 1;
}

static struct checkpoint_row some_plan(struct random_stream *stream)
{
    const bool is_stored = random_case_once_in(stream, 2);
    struct checkpoint_row row = {.jobs = {.class = -1, .gpus_max = 1 + random_below(stream, 40)},
                                 .rule = (uint8_t)random_below(stream, 4),
                                 .is_asynchronous = random_case_once_in(stream, 2),
                                 .is_per_gpu = random_case_once_in(stream, 2),
                                 .is_per_node = random_case_once_in(stream, 2),
                                 .interval = (1 + random_below(stream, 3000)) * TIME_NS_PER_S,
                                 .write = random_below(stream, 200) * TIME_NS_PER_S,
                                 .warmup = random_below(stream, 300) * TIME_NS_PER_S,
                                 .bytes = is_stored ? 1 + random_below(stream, UINT32_MAX) : 0,
                                 .interruptions_per_s = 1.0 / (1 + random_below(stream, 100000))};
    if (row.is_asynchronous)
        row.slowdown = 0.9 * random_uniform(stream);
    return row;
}

/* Some worlds charge checkpoints.  Jobs that no plan is for have their own. */
static void charge(struct twin *twin, struct random_stream *stream)
{
    twin->is_charged = !random_case_once_in(stream, 3);
    if (!twin->is_charged)
        return;
    for (uint32_t r = 0; r < TWIN_PLANS; r++)
        twin->plans[r] = some_plan(stream);
    twin->run.world.checkpoints =
        (struct checkpoint_table){.cost = CHECKPOINTS_CHARGED,
                                  .rows = twin->plans,
                                  .count = TWIN_PLANS,
                                  .bytes_per_s = random_case_once_in(stream, 4) ? 0 : 1 + random_below(stream, 1 << 28),
                                  .node_bytes_per_s = 1000000 + random_below(stream, 1 << 26)};
}

static void open_world(struct twin *twin, uint64_t seed, uint32_t choice)
{
    static const struct sharing_policy *const sharings[] = {&sharing_as_asked, &sharing_as_asked, &sharing_mps,
                                                            &sharing_timeslice};
    struct random_stream stream;
    random_run_open(&twin->run, seed, choice);
    random_stream_init(&stream, seed, "work conserved", choice);
    struct fabric *fabric = &twin->run.cluster->fabric;
    fabric->leaf_oversubscription = 1u << random_below(&stream, 5);
    fabric->rail_bytes_per_s = random_case_once_in(&stream, 2) ? 50e9 : 3e9;
    const struct sharing_policy *sharing = sharings[random_below(&stream, 4)];
    twin->run.policy.config.sharing = sharing;
    twin->run.policy.config.sharing_config = sharing->defaults;
    twin->run.world.network = random_case_once_in(&stream, 5) ? NETWORK_ALONE : NETWORK_SHARED;
    twin->run.world.sharing = SHARING_MEASURED;
    charge(twin, &stream);
    twin->jobs = calloc(twin->run.job_count, sizeof *twin->jobs);
    for (uint32_t j = 0; j < twin->run.job_count; j++)
        plan(twin, &stream, j);
    for (int cause = 0; cause < FAULT_CAUSE_COUNT && seed % 2 == 1; cause++)
        if (!random_case_once_in(&stream, 3))
            twin->run.world.faults.per_job_h[cause] = 0.4 * random_uniform(&stream);
    fault_twin_open(twin);
}

static void close_world(struct twin *twin)
{
    work_twin_release(twin);
    free(twin->jobs);
    random_run_close(&twin->run);
}

static void play(struct twin *twin)
{
    struct engine_result result;
    const struct port_outside listener = work_twin_listener(twin);
    const struct record_sink sink = work_twin_sink(twin);
    const struct engine_config config = {.watch = &guard_watch,
                                         .cluster = twin->run.cluster,
                                         .source = twin->run.source,
                                         .policy = &twin->run.policy.config,
                                         .world = twin->run.world,
                                         .listener = &listener,
                                         .seed = twin->run.seed,
                                         .sinks = &sink,
                                         .sink_count = 1,
                                         .is_checked = true};
    struct error error = engine_run(&config, &result);
    if (!error_is(error))
        error = result.stall;
    if (error_is(error))
        random_run_fail(&twin->run, error_message(&error), JOB_NONE);
}

TEST(work_is_speed_integrated_over_time)
{
    const uint32_t choices = random_case_preset_count() + 6;
    const struct test_seeds seeds = test_seeds(20, 400);
    uint64_t turns = 0, lossy = 0, grown = 0, slow_ns = 0, faults = 0, fallen = 0;
    uint64_t writes = 0, loads = 0, shared = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        for (uint32_t choice = 0; choice < choices; choice++) {
            struct twin twin = {.is_stale = true};
            open_world(&twin, seed, choice);
            play(&twin);
            turns += twin.turns;
            lossy += twin.lossy;
            grown += twin.grown;
            slow_ns += twin.slow_ns;
            faults += twin.faults;
            fallen += twin.fallen;
            writes += twin.writes;
            loads += twin.loads;
            shared += twin.shared;
            close_world(&twin);
        }
    assert_true(turns > 1000 && lossy > 500 && grown > 1000 && slow_ns > 0 && faults > 1000 && fallen > 100);
    assert_true(writes > 10000 && loads > 100 && shared > 1000);
}
