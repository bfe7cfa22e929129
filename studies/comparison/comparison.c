#include "studies/comparison/comparison.h"

#include <string.h>

#include "studies/comparison/baseline.h"
#include "studies/comparison/comparison_inside.h"
#include "studies/comparison/proposal.h"
#include "studies/run/chance.h"
#include "studies/run/replay_shake.h"
#include "studies/run/run.h"

/* ---- sides ---- */

/* What is known of a side before its first run. */
struct side_facts {
    uint64_t seed;
    bool has_chance; /* of a scenario: false means that it perhaps has none */
};

static struct error read_gates(struct comparison *comparison, const char *name, const char *scenario_json)
{
    if (comparison->options->gates != NULL || comparison->gates.count > 0)
        return ERROR_OK;
    return gates_of_scenario(name, scenario_json, &comparison->arena, &comparison->gates);
}

/* How a trace gets its seeds, as the first side says that has such a one. */
static void note_chance(struct comparison *comparison, const char *scenario_json)
{
    if (comparison->blocks == NULL)
        comparison->blocks = comparison_blocks_new(scenario_json);
    if (comparison->shake == NULL)
        comparison->shake = comparison_shake_new(scenario_json);
}

/* Read the scenario once here, so that what is wrong with it is told before anything runs. */
static struct error open_scenario(struct comparison *comparison, size_t side, struct side_facts *facts)
{
    struct scenario scenario;
    const struct scenario_options *options = &comparison->options->sides[side].scenario;
    struct error error = comparison->options->fork != NULL ? fork_scenario(&comparison->moment, &scenario, options)
                                                           : scenario_load(&scenario, options);
    if (!error_is(error) && comparison->options->gates == NULL && comparison->gates.count == 0)
        error = run_gates(&scenario, &comparison->arena, &comparison->gates);
    if (!error_is(error)) {
        *facts = (struct side_facts){.seed = scenario.seed, .has_chance = chance_of_scenario(scenario.resolved)};
        baseline_scenario_digest(scenario.resolved, comparison->sides[side].scenario_digest);
        note_chance(comparison, scenario.resolved);
        replay_shake_apply(scenario.resolved, options, &comparison->arena, &comparison->sides[side].shaken);
    }
    scenario_release(&scenario);
    return error;
}

static struct error open_side(struct comparison *comparison, size_t side, struct values *record,
                              struct side_facts *facts)
{
    const struct comparison_side_options *options = &comparison->options->sides[side];
    struct comparison_side *own = &comparison->sides[side];
    own->name = options->name;
    own->is_fixed = options->record != NULL || options->baseline != NULL;
    if (!own->is_fixed)
        return open_scenario(comparison, side, facts);
    if (options->baseline != NULL) {
        memcpy(own->scenario_digest, options->baseline->scenario_digest, sizeof own->scenario_digest - 1);
        facts->seed = options->baseline->runs[0].values.result.manifest.seed;
        return ERROR_OK;
    }
    TRY(values_read(record, options->record));
    baseline_scenario_digest(record->result.manifest.scenario_json, own->scenario_digest);
    facts->seed = record->result.manifest.seed;
    note_chance(comparison, record->result.manifest.scenario_json);
    return read_gates(comparison, options->record, record->result.manifest.scenario_json);
}

/* A baseline says nothing of another scenario. */
static struct error check_baseline(const struct comparison *comparison, const struct baseline *baseline)
{
    for (size_t side = 0; side < comparison->side_count; side++) {
        if (strcmp(comparison->sides[side].scenario_digest, baseline->scenario_digest) == 0)
            continue;
        struct error error =
            error_new(ERROR_CONFIG,
                      "the baseline %s is of another scenario than '%s': more than the policy differs (digest %.12s, "
                      "not %.12s)",
                      baseline->path, comparison->sides[side].name, baseline->scenario_digest,
                      comparison->sides[side].scenario_digest);
        error_set_hint(&error, "make it again with --save-baseline");
        return error;
    }
    return ERROR_OK;
}

/* A gate of a cut that it did not keep could never be decided. */
static struct error check_kept(const struct gates *gates, const struct baseline *baseline)
{
    for (size_t g = 0; g < gates->count; g++) {
        const struct gate *gate = &gates->gates[g];
        if (baseline_keeps(baseline, &gate->of))
            continue;
        struct buffer name = {0};
        metric_selector_write(&gate->of, &name);
        struct error error = error_new(ERROR_CONFIG, "the baseline %s has no values of '%s', which a gate selects",
                                       baseline->path, buffer_c_string(&name));
        buffer_release(&name);
        error_set_hint(&error, "make it again with these gates: --gates FILE --save-baseline %s", baseline->path);
        return error;
    }
    return ERROR_OK;
}

static struct error check_baselines(const struct comparison *comparison)
{
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct baseline *baseline = comparison->options->sides[side].baseline;
        if (baseline == NULL)
            continue;
        TRY(check_baseline(comparison, baseline));
        TRY(check_kept(&comparison->gates, baseline));
    }
    return ERROR_OK;
}

/* ---- seeds ---- */

/* The seeds are those of the first baseline; else that of the first record; else the base's own and those after it. */
static void choose_seeds(struct comparison *comparison, const struct side_facts *facts)
{
    const struct comparison_options *options = comparison->options;
    const struct baseline *baseline = NULL;
    size_t count = options->seed_count, record = SIZE_MAX;
    for (size_t side = options->side_count; side-- > 0;) {
        if (options->sides[side].record != NULL)
            record = side;
        if (options->sides[side].baseline != NULL)
            baseline = options->sides[side].baseline;
    }
    if (options->is_sequential && comparison->gates.count == 0 && count > COMPARISON_SEEDS_PLAIN)
        count = COMPARISON_SEEDS_PLAIN;
    if (baseline != NULL && baseline->run_count < count)
        count = baseline->run_count;
    if (options->fork != NULL || (baseline == NULL && record != SIZE_MAX))
        count = 1;
    comparison->seeds = arena_alloc_array(&comparison->arena, count, uint64_t);
    comparison->seed_count = comparison->seed_capacity = count;
    for (size_t i = 0; i < count; i++)
        comparison->seeds[i] = baseline != NULL ? baseline->runs[i].values.result.manifest.seed
                                                : facts[record != SIZE_MAX ? record : 0].seed + i;
    for (size_t side = 0; side < comparison->side_count; side++)
        comparison->sides[side].runs = mem_zalloc(count, sizeof(struct comparison_run));
}

/* The place of a fixed run among the seeds; SIZE_MAX: it has none. */
static size_t place_of(struct comparison *comparison, size_t side, uint64_t seed)
{
    for (size_t i = 0; i < comparison->seed_count; i++)
        if (comparison->seeds[i] == seed)
            return i;
    if (comparison->options->sides[side].record == NULL)
        return SIZE_MAX;
    comparison_warn(comparison, "the record of '%s' has the seed %llu, not %llu: its chance is another",
                    comparison->sides[side].name, (unsigned long long)seed, (unsigned long long)comparison->seeds[0]);
    return comparison->seed_count == 1 ? 0 : SIZE_MAX;
}

static void place(struct comparison *comparison, size_t side, const struct values *values, bool has_chance)
{
    const size_t at = place_of(comparison, side, values->result.manifest.seed);
    if (at == SIZE_MAX)
        return;
    comparison->sides[side].runs[at] = (struct comparison_run){.state = COMPARISON_RUN_DONE,
                                                               .seed = values->result.manifest.seed,
                                                               .values = *values,
                                                               .has_chance = has_chance};
}

/* Records become runs, which own the values; those of a baseline stay the baseline's. */
static void place_fixed(struct comparison *comparison, struct values *records)
{
    for (size_t side = 0; side < comparison->side_count; side++) {
        const struct comparison_side_options *options = &comparison->options->sides[side];
        for (size_t i = 0; options->baseline != NULL && i < options->baseline->run_count; i++)
            place(comparison, side, &options->baseline->runs[i].values, options->baseline->runs[i].has_chance);
        if (options->record == NULL)
            continue;
        place(comparison, side, &records[side], chance_of_result(&records[side].result));
        if (comparison->sides[side].runs[0].values.list == records[side].list)
            records[side] = (struct values){0};
    }
}

static struct error check_sides_of_gates(const struct comparison *comparison)
{
    const char *names[COMPARISON_SIDES_MAX + 1] = {NULL};
    for (size_t side = 0; side < comparison->side_count; side++)
        names[side] = comparison->sides[side].name;
    return gates_check_sides(&comparison->gates, names);
}

static struct error open_sides(struct comparison *comparison, bool *may_be_exact)
{
    struct side_facts facts[COMPARISON_SIDES_MAX] = {{0}};
    struct values *records = mem_zalloc(COMPARISON_SIDES_MAX, sizeof *records);
    struct error error = ERROR_OK;
    *may_be_exact = true;
    comparison->is_fixed = true;
    for (size_t side = 0; side < comparison->side_count && !error_is(error); side++) {
        error = open_side(comparison, side, &records[side], &facts[side]);
        *may_be_exact = *may_be_exact && !facts[side].has_chance;
        comparison->is_fixed = comparison->is_fixed && comparison->sides[side].is_fixed;
    }
    comparison_shake(comparison, *may_be_exact);
    if (!error_is(error))
        error = check_baselines(comparison);
    if (!error_is(error) && *may_be_exact)
        error = comparison_check_shaken(comparison);
    *may_be_exact = *may_be_exact && !comparison->is_shaken;
    if (!error_is(error))
        error = check_sides_of_gates(comparison);
    if (!error_is(error)) {
        choose_seeds(comparison, facts);
        place_fixed(comparison, records);
    }
    for (size_t side = 0; side < comparison->side_count; side++)
        values_release(&records[side]);
    mem_free(records);
    return error;
}

/* ---- running ---- */

static bool is_stopped(const struct comparison *comparison)
{
    return comparison->options->stop != NULL && *comparison->options->stop != 0;
}

/* Has every side ended its runs with the first `seed_count` seeds?  A run that failed has ended. */
static bool is_whole(const struct comparison *comparison, size_t seed_count)
{
    for (size_t side = 0; side < comparison->side_count; side++)
        for (size_t seed = 0; seed < seed_count && !comparison->sides[side].is_fixed; seed++)
            if (comparison->sides[side].runs[seed].state == COMPARISON_RUN_MISSING)
                return false;
    return true;
}

static bool is_without_chance(const struct comparison *comparison)
{
    for (size_t side = 0; side < comparison->side_count; side++)
        if (comparison->sides[side].runs[0].state != COMPARISON_RUN_DONE || comparison->sides[side].runs[0].has_chance)
            return false;
    return true;
}

static struct error run_looks(struct comparison *comparison, bool may_be_exact)
{
    const bool has_looks = comparison->gates.count > 0 && comparison->options->is_sequential;
    const size_t most = comparison->seed_count;
    const struct looks once = looks_once(1), looks = has_looks ? looks_up_to(most) : looks_once(most);
    comparison->keeps_waits = may_be_exact || most == 1;
    if (may_be_exact && !is_stopped(comparison)) {
        TRY(comparison_run_seeds(comparison, 0, 1));
        comparison->is_exact = is_without_chance(comparison);
        comparison->seed_count = 1;
        comparison_judge(comparison, &once, 0);
        if (comparison->is_exact)
            return ERROR_OK;
        comparison->keeps_waits = most == 1;
    }
    for (size_t look = 0; look < looks.count; look++) {
        TRY(comparison_run_seeds(comparison, look > 0 ? looks.n[look - 1] : 0, looks.n[look]));
        const bool is_cut = !is_whole(comparison, looks.n[look]);
        if (look == 0 || !is_cut || !comparison_is_time_up(comparison)) { /* else the look before it stands */
            comparison->seed_count = looks.n[look];
            comparison_judge(comparison, &looks, look);
        }
        if (has_looks && !is_cut && comparison_is_settled(comparison))
            break;
        comparison->is_time_up = comparison_is_time_up(comparison) && (is_cut || look + 1 < looks.count);
        if (is_stopped(comparison))
            break;
    }
    return ERROR_OK;
}

/* Does the change change no run? */
static bool is_same(const struct comparison *comparison)
{
    const struct proposal *proposal = comparison->options->proposal;
    return proposal != NULL && proposal_count(proposal, PROPOSAL_OF_SIDES) == 0;
}

static struct error no_run(const struct comparison *comparison)
{
    for (size_t side = 0; side < comparison->side_count; side++)
        for (size_t seed = 0; seed < comparison->seed_count; seed++) {
            const struct comparison_run *run = &comparison->sides[side].runs[seed];
            if (run->state == COMPARISON_RUN_FAILED)
                return error_new(run->kind, "no run succeeded; the first, '%s' with seed %llu: %s",
                                 comparison->sides[side].name, (unsigned long long)run->seed, run->failure);
        }
    return ERROR_OK;
}

static struct error open_programs(struct comparison *comparison)
{
    const struct comparison_options *options = comparison->options;
    for (size_t side = 0; side < comparison->side_count; side++)
        if (options->sides[side].program != NULL)
            TRY(rerun_open(&comparison->sides[side].rerun, options->sides[side].program, options->scratch));
    return ERROR_OK;
}

struct error comparison_run(struct comparison *comparison, const struct comparison_options *options)
{
    bool may_be_exact;
    *comparison = (struct comparison){.options = options, .side_count = options->side_count};
    if (options->gates != NULL)
        comparison->gates = *options->gates;
    if (options->fork != NULL)
        TRY(fork_open(&comparison->moment, options->fork, options->fork_at, &options->sides[0].scenario));
    TRY(open_sides(comparison, &may_be_exact));
    if (is_same(comparison)) {
        comparison->is_same = true;
        comparison->seed_count = 0;
        return ERROR_OK;
    }
    if (options->on_begin != NULL)
        TRY(options->on_begin(options->begin_self));
    TRY(open_programs(comparison));
    if (options->fork != NULL)
        TRY(fork_replay(&comparison->moment, &(struct fork_how){.stop = options->stop}));
    TRY(run_looks(comparison, may_be_exact));
    comparison->is_partial =
        is_stopped(comparison) && !(comparison_is_time_up(comparison) && is_whole(comparison, comparison->seed_count));
    comparison_find_long(comparison);
    comparison_find_warnings(comparison);
    return comparison->run_count == comparison->failed_count ? no_run(comparison) : ERROR_OK;
}

void comparison_release(struct comparison *comparison)
{
    for (size_t side = 0; side < comparison->side_count; side++) {
        struct comparison_side *own = &comparison->sides[side];
        for (size_t seed = 0; own->runs != NULL && seed < comparison->seed_capacity; seed++) {
            mem_free(own->runs[seed].failure);
            mem_free(own->runs[seed].said);
            if (comparison->options->sides[side].baseline == NULL)
                values_release(&own->runs[seed].values);
        }
        mem_free(own->replay.failure);
        mem_free(own->replay.said);
        values_release(&own->replay.values);
        mem_free(own->runs);
        rerun_close(&own->rerun);
        job_waits_release(&own->waits);
        mem_free(own->one_run.unknown);
        mem_free(own->first.text);
        mem_free(own->first.json);
        mem_free(own->first.unknown);
    }
    for (size_t i = 0; i < comparison->warning_count; i++)
        mem_free(comparison->warnings[i]);
    mem_free(comparison->warnings);
    mem_free(comparison->rows);
    mem_free(comparison->blocks);
    mem_free(comparison->shake);
    fork_release(&comparison->moment);
    arena_release(&comparison->arena);
    arena_release(&comparison->look_arena);
    *comparison = (struct comparison){0};
}
