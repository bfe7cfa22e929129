/* The decisions of every preset, and of policies with features that no preset has, in small random worlds, against
 * sched_runs.txt: a line per policy.
 *
 * Other tests check the laws; this test shows that something changed, and for which policies.  `decided` is a hash of
 * all decisions in their order.  `told` is a hash of the explanations, planned starts and waiting times of waiting jobs
 * and of the census.  The outcomes are counted.
 *
 * sched_trails.txt (tests/support/golden.h) shows where.  A run is a world, named POLICY/KIND/SEED; a step of it is a
 * decision, or what is told in 16 ticks.  For the first world that differs the test prints the tick in which it does.
 * With the name of a world as its argument the program prints all that is told and decided in that world.
 *
 * The amount of work is no golden: a faster scheduler looks at less and decides the same.  WINDTUNNEL_SCHED_WORK=1
 * prints it, a line per policy: placements tried, searches for victims, and from `rank` on the calls of each hook of
 * the policy (tests/support/asked_hooks.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "policies/census/census.h"
#include "policies/config/presets.h"
#include "policies/policy_config.h"
#include "tests/support/asked_hooks.h"
#include "tests/support/golden.h"
#include "tests/support/honest_world.h"
#include "tests/support/sched_case.h"

enum { SEEDS = 16, TOLD_TICKS = 4, TOLD_STEP_TICKS = 16 };

struct sum { /* of all worlds of a policy */
    uint64_t decided, told, evictions;
    struct sched_counts counts;
    struct asked asked;
};

/* ---- Policies that have what no preset has ---- */

#define EVICTING                                                                                                       \
    "'preemption': {'policy': 'checkpoint', 'victims': ['borrowers', 'cost'], 'grace_s': 2, 'min_runtime_s': 5}"
#define EVICTING_IN_ORDER                                                                                              \
    "'preemption': {'policy': 'kill', 'victims': ['surplus', 'members', 'oldest'], 'search': 'ordered', "              \
    "'within_queue': 'order', 'min_runtime_s': 3, 'attempts_per_cycle': 3, 'victims_max': 6, "                         \
    "'evictions_per_job_max': 2}"
#define SAVING                                                                                                         \
    "'preemption': {'policy': 'checkpoint', 'victims': ['class', 'largest'], 'within_queue': 'lower', "                \
    "'min_runtime_s': 4, 'delay_s': 4, 'loss_ratio': 0.05}"

/* base: the preset whose worlds they live in. */
static const struct variant {
    const char *name, *base, *text;
} variants[] = {
    {"fairtree", "slurm",
     "{'order': ['fairtree', 'largest'], 'order_config': {'period_s': 20, 'half_life_s': 60, 'billing': {'gpus': 3, "
     "'cpus': 1}}, 'blocking': 'skip'}"},
    {"classic shares", "slurm",
     "{'order': ['multifactor'], 'order_config': {'period_s': 10, 'half_life_s': 100, 'fair_share': 'classic', "
     "'weight_fair_share': 100, 'weight_age': 50, 'age_max_s': 90, 'favors_small': true, 'weight_size': 70, "
     "'weight_tres': {'gpus': 9}}, 'blocking': "
     "'strict', " EVICTING_IN_ORDER "}"},
    {"times", "tiresias",
     "{'order': ['deadline', 'srtf'], 'order_config': {'period_s': 15}, 'blocking': 'skip', " EVICTING_IN_ORDER "}"},
    {"attained", "tiresias",
     "{'order': ['las', 'ljf'], 'order_config': {'period_s': 5, 'las_limits_gpu_s': [20, 60, 200], 'las_promote': 3}, "
     "'blocking': 'skip', " EVICTING_IN_ORDER "}"},
    {"easy for many", "easy",
     "{'order': ['priority', 'sjf'], 'blocking': 'strict', 'estimate': 'history', 'backfill': {'policy': 'easy', "
     "'reservations': 3}}"},
    {"easy in the contest", "windtunnel",
     "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'fairshare', 'estimate': 'declared', "
     "'backfill': {'policy': 'easy', 'reservations': 4, 'interval_s': 10}, " EVICTING "}"},
    {"conservative, evicting", "easy",
     "{'order': ['priority', 'fifo'], 'blocking': 'strict', 'backfill': {'policy': 'conservative'}, " EVICTING_IN_ORDER
     "}"},
    {"kept free", "windtunnel",
     "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'inference_first': true, 'quota': 'fairshare', "
     "'headroom': {'gpus': 2, 'whole_nodes': 1, 'owners_gpus': 3}, 'placement': 'worst_fit', " SAVING "}"},
    {"moves of gangs", "windtunnel",
     "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'fairshare', "
     "'defrag': {'policy': 'consolidation'}, 'placement': 'spread', " EVICTING "}"},
    {"ordered", "easy",
     "{'order': ['priority', 'smallest'], 'blocking': 'skip', "
     "'backfill': {'policy': 'easy'}, 'placement': 'least_allocated'}"},
    {"limits", "windtunnel",
     "{'order': ['fifo'], 'blocking': 'strict', 'quota': 'limits', 'placement': 'fgd', " EVICTING "}"},
    {"dominant shares", "volcano",
     "{'order': ['elastic', 'priority'], 'blocking': 'skip', 'quota': 'drf', 'placement': 'dot_product', " EVICTING
     "}"},
    {"capacity", "volcano",
     "{'order': ['priority', 'elastic'], 'blocking': 'skip', 'quota': 'capacity', 'placement': "
     "'gpu_packing', " EVICTING_IN_ORDER "}"},
    {"proportion", "volcano",
     "{'order': ['drf', 'elastic'], 'blocking': 'skip', 'quota': 'proportion', 'placement': "
     "'weighted_binpack', " EVICTING "}"},
    {"clustered", "windtunnel",
     "{'order': ['priority'], 'blocking': 'skip', 'quota': 'capacity', "
     "'placement': 'gpu_clustering', " SAVING "}"},
    {"gathered", "windtunnel",
     "{'order': ['fifo'], 'blocking': 'skip', 'quota': 'drf', "
     "'placement': 'gather', 'gpu_choice': 'rails', " EVICTING "}"},
    {"a window of usage", "kai",
     "{'order': ['priority', 'smallest'], 'blocking': 'skip', 'quota': {'policy': 'fairshare', 'usage_weight': 2, "
     "'window_s': 40, 'share_period_s': 5, 'firm_needs_quota': true, 'saturation_multiplier': 1.2}, "
     "'placement': 'pack', 'gpu_choice': 'near', 'actions': ['allocate', 'preempt', 'reclaim', 'stale_gang'], "
     "'gang': {'policy': 'all_or_nothing', 'stale_after_s': 5}, 'preemption': {'policy': 'checkpoint', "
     "'victims': ['queue', 'smallest'], 'resolve': 'lca', 'within_queue': 'lower_or_newer', 'grace_s': 3, "
     "'min_runtime_s': 2, 'rematch_cycles': 3}}"},
    {"cohorts that lend", "kueue",
     "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': {'policy': 'cohort', "
     "'reclaim_within_cohort': 'lower_priority', 'borrow_within_cohort': 'lower_priority', "
     "'borrow_max_priority': 60}, 'placement': 'topology', 'preemption': {'policy': 'kill', 'victims': ['evicting', "
     "'own_queue', 'youngest'], 'search': 'ordered', 'within_queue': 'lower', 'min_runtime_s': 0}}"},
    {"equal shares of cohorts", "kueue",
     "{'order': ['elastic', 'fifo'], 'blocking': 'skip', 'quota': {'policy': 'cohort', 'fair_sharing': true, "
     "'reclaim_within_cohort': 'any', 'strategies': ['initial_share']}, 'placement': 'strict_pack', "
     "'preemption': {'policy': 'checkpoint', 'victims': ['other_queues', 'order'], 'search': 'node', 'grace_s': 1, "
     "'min_runtime_s': 1}}"},
    {"who saves waits", "windtunnel",
     "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'inference_first': true, 'quota': 'capacity', "
     "'backfill': {'policy': 'easy', 'reservations': 2, 'interval_s': 3}, 'placement': 'weighted_best_fit', "
     "'reservation_expiry_s': 6, 'headroom': {'owners_gpus': 2}, " SAVING "}"},
    {"slurm that evicts", "slurm",
     "{'order': ['multifactor', 'fifo'], 'order_config': {'period_s': 10, 'weight_age': 9, 'weight_priority': 5, "
     "'age_max_s': 50}, 'blocking': 'strict', 'backfill': {'policy': 'slurm', 'depth': 8, 'per_user': 2, "
     "'window_s': 200, 'resolution_s': 7, 'interval_s': 4}, 'placement': 'least_allocated_gpus', " EVICTING_IN_ORDER
     "}"},
    {"moves alone", "kai",
     "{'order': ['largest'], 'blocking': 'strict', 'quota': 'limits', 'defrag': {'policy': 'consolidation', "
     "'moves_per_plan': 3, 'holds_places': true, 'spares_ending': true}, 'placement': "
     "'first_fit', " EVICTING "}"},
    {"cohorts that share", "kueue",
     "{'order': ['priority'], 'blocking': 'strict', 'quota': {'policy': 'cohort', 'fair_sharing': true}, "
     "'placement': 'random', " EVICTING "}"},
    {"past usage", "kai",
     "{'order': ['priority', 'elastic'], 'blocking': 'skip', 'quota': {'policy': 'fairshare', 'usage_weight': 1, "
     "'half_life_s': 30}, 'placement': 'strict_spread', 'gang': {'policy': 'hoard', 'stale_after_s': 8}, " EVICTING
     "}"},
};

/* ---- Worlds ---- */

/* What policies look at and tests/support/random_world.c leaves out. */
static void adorn(struct random_world *world)
{
    struct random_stream stream;
    random_stream_init(&stream, world->seed, "sched runs", world->preset);
    for (uint32_t j = 0; j < world->job_count; j++) {
        struct random_job *random = &world->jobs[j];
        struct job *job = &random->job;
        time_ns length = random->duration == TIME_NEVER ? 50 * world->period : random->duration;
        job->user = random_below(&stream, 4);
        job->class = (uint8_t)random_below(&stream, JOB_CLASS_COUNT);
        if (random_below(&stream, 4) != 0)
            job->limit = length + (time_ns)random_below(&stream, 3) * length / 2;
        if (random_below(&stream, 2) == 0)
            job->estimate = length / 2 + (time_ns)random_below(&stream, 3) * length / 4;
        if (random_below(&stream, 2) == 0)
            job->deadline = job->submit + length + (time_ns)random_below(&stream, 20) * world->period;
    }
}

/* ---- One world ---- */

struct play {
    struct honest_world world;
    struct sum *sum;
    uint64_t told; /* a hash, as sum->told, but of this world */
    struct golden_trails *trails;
    struct buffer *log;   /* what is told and decided; NULL: nobody reads it */
    uint32_t wanted_step; /* the step that is to be found in the log; 0: none */
    size_t tick_start;    /* in the log, of the tick that is played */
    size_t told_start;    /* in the log, of what was told since the last step that is of that; SIZE_MAX: nothing */
    size_t found_tick, found_start, found_end; /* in the log, of the step that is wanted */
};

/* The lines of the log from `start` on are one step of the world. */
static void step(struct play *play, uint64_t hash, size_t start)
{
    golden_trails_step(play->trails, hash);
    if (play->trails->steps != play->wanted_step)
        return;
    play->found_tick = play->tick_start < start ? play->tick_start : start;
    play->found_start = start;
    play->found_end = play->log->length;
}

static size_t log_length(const struct play *play)
{
    return play->log != NULL ? play->log->length : 0;
}

static void on_decision(struct honest_world *world, const struct decision *all, size_t count, size_t at)
{
    struct play *play = world->watch.self;
    size_t start = log_length(play);
    (void)all, (void)count, (void)at;
    for (start -= start > 0; start > 0 && play->log->bytes[start - 1] != '\n';)
        start--; /* the last line is the decision's */
    step(play, world->hash, start);
}

static void mix_bytes(struct play *play, const void *bytes, size_t length)
{
    play->sum->told = hash_bytes(bytes, length, play->sum->told);
    play->told = hash_bytes(bytes, length, play->told);
}

static void mix(struct play *play, uint64_t word)
{
    play->sum->told = hash_mix(play->sum->told, word);
    play->told = hash_mix(play->told, word);
}

static void log_numbers(struct play *play, const char *name, const void *numbers, size_t size, size_t count)
{
    if (play->log == NULL)
        return;
    buffer_format(play->log, "%s", name);
    for (size_t i = 0; i < count; i++)
        buffer_format(play->log, " %lld",
                      size == sizeof(uint32_t) ? (long long)((const uint32_t *)numbers)[i]
                                               : (long long)((const int64_t *)numbers)[i]);
}

static void tell_explanation(struct play *play, const struct explanation *why)
{
    const int64_t numbers[] = {why->code,
                               why->is_never,
                               why->members,
                               why->members_fitting,
                               why->fits_now,
                               why->gpu_milli_short,
                               why->cpu_milli_short,
                               why->memory_mib_short,
                               why->nodes_short,
                               why->gpu_milli_free,
                               why->over_queue,
                               why->over_queue == QUEUE_NONE ? 0 : why->over_held,
                               why->over_queue == QUEUE_NONE ? 0 : why->over_asked,
                               why->over_queue == QUEUE_NONE ? 0 : why->over_bound,
                               why->ahead,
                               why->first};
    mix_bytes(play, numbers, sizeof numbers);
    mix_bytes(play, why->nodes, sizeof why->nodes);
    mix_bytes(play, why->text, strlen(why->text));
    if (play->log != NULL)
        buffer_format(play->log, "%s: %s;", reason_name(why->code), why->text);
    log_numbers(play, " explanation", numbers, sizeof *numbers, sizeof numbers / sizeof *numbers);
    log_numbers(play, "; nodes", why->nodes, sizeof *why->nodes, EXPLAIN_NODE_COUNT);
}

/* The free GPUs that no job can use. */
static void tell_census(struct play *play)
{
    static struct typical_job some[] = {{{.gpu_milli = 500}, 0.5, 1, 0}, {{.gpus = 2}, 0.5, 1, 0}};
    const struct typical_jobs typical = {some, 2, 2};
    struct census_memo memo = {0};
    struct census census;
    sched_census(play->world.sched, &memo, &typical, &census);
    census_memo_release(&memo);
    mix(play, (uint64_t)census.idle_milli);
    mix(play, (uint64_t)census.stranded_milli);
    mix_bytes(play, census.gang_gpus, sizeof census.gang_gpus);
    if (play->log != NULL)
        buffer_format(play->log, "tick %u: census: %lld idle, %lld stranded, by gangs", play->world.tick,
                      (long long)census.idle_milli, (long long)census.stranded_milli);
    log_numbers(play, "", census.gang_gpus, sizeof *census.gang_gpus,
                sizeof census.gang_gpus / sizeof *census.gang_gpus);
}

static void tell_waiting(struct play *play, job_id id)
{
    struct honest_world *world = &play->world;
    struct explanation why;
    struct wait_times waited = {0};
    if (!sched_explain(world->sched, id, &why))
        return;
    if (play->log != NULL)
        buffer_format(play->log, "tick %u: j%u waits, ", world->tick, world->job_of[id]);
    tell_explanation(play, &why);
    const int64_t times[] = {sched_why(world->sched, id), sched_planned_start(world->sched, id)};
    mix(play, (uint64_t)times[0]);
    mix(play, (uint64_t)times[1]);
    log_numbers(play, "; why and planned start", times, sizeof *times, 2);
    sched_waited(world->sched, id, world->now, &waited);
    for (uint32_t left = waited.mask; left != 0; left &= left - 1) {
        const enum reason reason = (enum reason)__builtin_ctz(left);
        mix(play, (uint64_t)waited.of[reason]);
        if (play->log != NULL)
            buffer_string(play->log, "; ");
        log_numbers(play, reason_name(reason), &waited.of[reason], sizeof *waited.of, 1);
    }
    if (play->log != NULL)
        buffer_char(play->log, '\n');
}

/* Ends the step that is of what was told. */
static void step_told(struct play *play, uint64_t hash)
{
    step(play, hash, play->told_start);
    play->told_start = SIZE_MAX;
}

/* What is said of those that wait.  Asking is no work of the scheduler's. */
static void ask_why(struct play *play)
{
    const struct asked kept = play->sum->asked;
    if (play->told_start == SIZE_MAX)
        play->told_start = log_length(play);
    for (job_id id = 0; id < play->world.scenario->job_count; id++)
        tell_waiting(play, id);
    tell_census(play);
    if (play->log != NULL)
        buffer_char(play->log, '\n');
    play->sum->asked = kept;
    if (play->world.tick % TOLD_STEP_TICKS == 0)
        step_told(play, play->told);
}

/* The last step of a world. */
static void count_outcomes(struct play *play)
{
    const struct honest_world *world = &play->world;
    struct sum *sum = play->sum;
    struct sched_counts counts;
    if (play->told_start == SIZE_MAX)
        play->told_start = log_length(play);
    sched_count(world->sched, &counts);
    sum->decided = hash_mix(sum->decided, world->hash);
    sum->counts.cycles += counts.cycles;
    sum->evictions += world->evictions;
    sum->counts.attempts += counts.attempts;
    sum->counts.plans += counts.plans;
    sum->counts.plans_tried += counts.plans_tried;
    sum->counts.promised_starts += counts.promised_starts;
    const uint64_t told[] = {counts.cycles, counts.plans, world->evictions, counts.promised_starts};
    log_numbers(play, "the end: cycles, plans, evicted, promise", told, sizeof *told, sizeof told / sizeof *told);
    if (play->log != NULL)
        buffer_char(play->log, '\n');
    step_told(play, hash_bytes(told, sizeof told, play->told));
}

/* play: what is not of the world was set. */
static void play_world(struct play *play, const struct random_world *scenario)
{
    struct honest_world *world = &play->world;
    play->told_start = SIZE_MAX;
    honest_world_open(world, scenario, NULL);
    world->is_trusted = true;
    world->log = play->log;
    world->watch = (struct honest_watch){.self = play, .on_decision = on_decision};
    while (honest_world_tick(world)) {
        if (world->tick % TOLD_TICKS == 0)
            ask_why(play);
        play->tick_start = log_length(play);
    }
    if (world->broken.rule != NULL)
        fail_msg("%s: %s", world->broken.rule, world->broken.what);
    count_outcomes(play);
    honest_world_close(world);
}

static void tell(struct buffer *out, uint64_t number)
{
    buffer_format(out, " %7llu", (unsigned long long)number);
}

static void tell_columns(struct buffer *out, const char *const *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_format(out, " %7s", columns[i]);
    buffer_char(out, '\n');
}

static bool is_work_asked(void)
{
    const char *asked = getenv("WINDTUNNEL_SCHED_WORK");
    return asked != NULL && strcmp(asked, "1") == 0;
}

static void print_work(const char *name, const struct sum *sum)
{
    struct buffer out = {0};
    buffer_format(&out, "%-23s", name);
    tell(&out, sum->counts.attempts);
    tell(&out, sum->counts.plans_tried);
    for (int hook = 0; hook < ASKED_COUNT; hook++)
        tell(&out, sum->asked.of[hook]);
    print_message("%s\n", buffer_c_string(&out));
    buffer_release(&out);
}

static void print_work_columns(void)
{
    static const char *const columns[] = {"placed",  "sought", "rank",    "key",  "score", "bound", "forbids",
                                          "compare", "divide", "reclaim", "take", "valid", "chunk", "length"};
    struct buffer out = {0};
    buffer_format(&out, "%-23s", "policy");
    tell_columns(&out, columns, sizeof columns / sizeof *columns);
    print_message("%s", buffer_c_string(&out));
    buffer_release(&out);
}

/* ---- All worlds ---- */

static const char *const kind_names[RANDOM_WORLD_KIND_COUNT] = {"busy", "quiet", "reclaim"};

struct player { /* a policy, and the preset whose worlds it lives in */
    const char *name;
    uint32_t preset;
    bool is_variant;
    struct policy_config policy; /* of a variant */
};

static uint32_t preset_named(const char *name)
{
    uint32_t preset = 0;
    while (strcmp(policy_preset_texts[preset].name, name) != 0)
        preset++;
    return preset;
}

/* Presets first, then variants; false: there are no more. */
static bool player_at(size_t index, struct player *player)
{
    size_t presets = 0;
    while (policy_preset_texts[presets].name != NULL)
        presets++;
    *player = (struct player){.preset = (uint32_t)index};
    if (index < presets) {
        player->name = policy_preset_texts[index].name;
        return true;
    }
    if (index - presets >= sizeof variants / sizeof *variants)
        return false;
    const struct variant *variant = &variants[index - presets];
    player->name = variant->name;
    player->preset = preset_named(variant->base);
    player->is_variant = true;
    player->policy = sched_case_policy(variant->text);
    return true;
}

static void play_one(struct play *play, const struct player *player, enum random_world_kind kind, uint64_t seed)
{
    static struct random_world scenario;
    char group[64], name[32];
    random_world_make(&scenario, seed, player->preset, kind);
    if (player->is_variant)
        scenario.policy = player->policy;
    adorn(&scenario);
    asked_hooks(&scenario.policy, &play->sum->asked);
    snprintf(group, sizeof group, "%s/%s", player->name, kind_names[kind]);
    snprintf(name, sizeof name, "%llu", (unsigned long long)seed);
    golden_trails_begin(play->trails, group, name);
    play_world(play, &scenario);
}

static void play_all(const struct player *player, struct buffer *out, struct golden_trails *trails)
{
    struct sum sum = {0};
    for (uint32_t kind = 0; kind < RANDOM_WORLD_KIND_COUNT; kind++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct play play = {.sum = &sum, .trails = trails};
            play_one(&play, player, (enum random_world_kind)kind, seed);
        }
    const struct sched_counts *counts = &sum.counts;
    buffer_format(out, "%-23s %016llx %016llx", player->name, (unsigned long long)sum.decided,
                  (unsigned long long)sum.told);
    tell(out, counts->cycles);
    tell(out, counts->plans);
    tell(out, sum.evictions);
    tell(out, counts->promised_starts);
    buffer_char(out, '\n');
    if (is_work_asked())
        print_work(player->name, &sum);
}

static void tell_all(struct buffer *out, struct golden_trails *trails)
{
    static const char *const columns[] = {"cycles", "plans", "evicted", "promise"};
    struct player player;
    buffer_format(out, "%-23s %16s %16s", "policy", "decided", "told");
    tell_columns(out, columns, sizeof columns / sizeof *columns);
    if (is_work_asked())
        print_work_columns();
    for (size_t i = 0; player_at(i, &player); i++)
        play_all(&player, out, trails);
}

/* ---- One world again, by its name ---- */

/* Plays the world POLICY/KIND/SEED once more, with a log.  False: there is no such world. */
static bool play_named(const char *run, struct play *play)
{
    char policy[128];
    struct player player;
    snprintf(policy, sizeof policy, "%s", run);
    const char *seed = golden_split_run(policy), *kind = seed != NULL ? golden_split_run(policy) : NULL;
    for (size_t i = 0; kind != NULL && player_at(i, &player); i++)
        for (uint32_t k = 0; k < RANDOM_WORLD_KIND_COUNT; k++)
            if (strcmp(player.name, policy) == 0 && strcmp(kind_names[k], kind) == 0) {
                play_one(play, &player, (enum random_world_kind)k, strtoull(seed, NULL, 10));
                return true;
            }
    return false;
}

/* The tick of the first step that differs, up to it; its lines are marked. */
static void print_difference(const struct golden_difference *first)
{
    struct sum sum = {0};
    struct buffer log = {0};
    struct golden_trails trails = {0};
    struct play play = {.sum = &sum, .trails = &trails, .log = &log, .wanted_step = first->step};
    assert_true(play_named(first->run, &play));
    print_error("Now it does this, > marks that step:\n");
    for (size_t at = play.found_tick, end; at < play.found_end; at = end + 1) {
        for (end = at; log.bytes[end] != '\n';)
            end++;
        print_error("%s %.*s\n", at >= play.found_start ? ">" : " ", (int)(end - at), log.bytes + at);
    }
    golden_print_replay(first->run);
    golden_trails_release(&trails);
    buffer_release(&log);
}

static void decisions_and_outcomes_are_as_before(void **state)
{
    (void)state;
    struct buffer told = {0};
    struct golden_trails trails = {0};
    struct golden_difference first;
    tell_all(&told, &trails);
    bool differs = golden_differs("tests/golden/sched_runs.txt", &told);
    if (golden_trails_differ("tests/golden/sched_trails.txt", &trails, &first)) {
        print_difference(&first);
        differs = true;
    }
    assert_false(differs);
}

static int print_world(const char *run)
{
    struct sum sum = {0};
    struct buffer log = {0};
    struct golden_trails trails = {0};
    struct play play = {.sum = &sum, .trails = &trails, .log = &log};
    bool is_known = play_named(run, &play);
    if (is_known)
        fwrite(log.bytes, 1, log.length, stdout);
    else
        fprintf(stderr, "no world '%s': POLICY/KIND/SEED, as in kai/busy/3\n", run);
    golden_trails_release(&trails);
    buffer_release(&log);
    return is_known ? 0 : 2;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decisions_and_outcomes_are_as_before)};
    return argc > 1 ? print_world(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
