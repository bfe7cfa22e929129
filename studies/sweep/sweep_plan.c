#include "studies/sweep/sweep_plan_inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/names.h"
#include "reports/gates.h"
#include "sim/scenario/scenario.h"
#include "studies/run/kept_runs.h"
#include "studies/run/replay_shake.h"
#include "studies/run/run.h"

/* ---- inputs ---- */

const char *sweep_plan_digest(const struct sweep_plan *plan, const char *role, const char *name)
{
    for (size_t i = 0; i < plan->input_count; i++)
        if (strcmp(plan->inputs[i].role, role) == 0 && strcmp(plan->inputs[i].name, name) == 0)
            return plan->inputs[i].digest;
    return NULL;
}

static void add_input(struct sweep_plan *plan, const char *role, const char *name, const char *digest)
{
    if (digest[0] == '\0' || sweep_plan_digest(plan, role, name) != NULL)
        return;
    MEM_GROW(plan->inputs, plan->input_capacity, plan->input_count + 1);
    struct sweep_input *input = &plan->inputs[plan->input_count++];
    *input = (struct sweep_input){.role = arena_copy(&plan->arena, text_of(role)),
                                  .name = arena_copy(&plan->arena, text_of(name))};
    memcpy(input->digest, digest, sizeof input->digest);
}

/* A trace, and what is read beside it, is read once for all combinations. */
static struct error add_trace(struct sweep_plan *plan, const char *role, const char *path)
{
    char digest[33];
    if (path == NULL || sweep_plan_digest(plan, role, path) != NULL)
        return ERROR_OK;
    if (input_is_once(path)) {
        struct error error =
            error_new(ERROR_CONFIG, "the %s %s can be read once only, and a sweep reads it often", role, path);
        error_set_hint(&error, "write it to a file");
        return error;
    }
    TRY(input_digest(path, digest));
    add_input(plan, role, path, digest);
    return ERROR_OK;
}

/* The trace of a workload and the tables beside it. */
static struct error add_workload(struct sweep_plan *plan, const struct workload_spec *workload)
{
    for (uint32_t i = 0; i < workload->table_count; i++)
        TRY(add_trace(plan, "table", workload->tables[i].path));
    return add_trace(plan, "trace", workload->trace);
}

/* What a run with this scenario reads. */
static struct error add_inputs(struct sweep_plan *plan, const struct scenario *scenario, const char *path)
{
    add_input(plan, "scenario", path, scenario->digest);
    add_input(plan, "cluster", scenario->cluster_path, scenario->cluster_digest);
    if (scenario->world.capacity.path != NULL)
        add_input(plan, "capacity", scenario->world.capacity.path, scenario->world.capacity.digest);
    for (uint32_t p = 0; p < scenario->plugins.set.count; p++) {
        const struct plugin_file file = plugins_file(&scenario->plugins, p);
        add_input(plan, "plugin", file.path, file.digest);
    }
    for (uint32_t p = 0; p < scenario->workload.part_count; p++)
        TRY(add_workload(plan, &scenario->workload.parts[p].spec));
    return add_workload(plan, &scenario->workload);
}

/* ---- one combination ---- */

struct making {
    struct sweep_plan *plan;
    const struct sweep_plan_options *options;
    const char **sets; /* of the combination that is loaded */
    size_t set_count, set_capacity;
    uint64_t first_seed; /* the scenario's own */
};

static void add_sets(struct making *making, const char *const *sets, size_t count)
{
    MEM_GROW(making->sets, making->set_capacity, making->set_count + count + 1);
    for (size_t i = 0; i < count; i++)
        making->sets[making->set_count++] = sets[i];
}

/* The sets of all runs, and of the levels of one factor, or of all (SIZE_MAX), or of none (factor_count). */
static struct scenario_options options_of(struct making *making, const uint32_t *levels, size_t factor)
{
    const struct sweep_plan_options *options = making->options;
    const struct sweep_file *file = options->file;
    making->set_count = 0;
    add_sets(making, file->sets, file->set_count);
    add_sets(making, options->sets, options->set_count);
    for (size_t f = 0; f < file->factor_count; f++)
        if (factor == SIZE_MAX || factor == f)
            add_sets(making, file->factors[f].levels[levels[f]].sets, file->factors[f].levels[levels[f]].set_count);
    return (struct scenario_options){.path = file->scenario,
                                     .sets = making->sets,
                                     .set_count = making->set_count,
                                     .plugins = {.paths = options->plugins, .count = options->plugin_count}};
}

/* As far as a run reads it before its jobs. */
static struct error load_whole(struct scenario *scenario, const struct scenario_options *options)
{
    struct arena arena = {0};
    struct service_levels levels;
    struct gates gates;
    TRY(scenario_load(scenario, options));
    struct error error = run_service_levels(scenario, &arena, &levels);
    if (!error_is(error))
        error = run_gates(scenario, &arena, &gates);
    arena_release(&arena);
    if (error_is(error))
        scenario_release(scenario);
    return error;
}

static struct error try_load(const struct scenario_options *options)
{
    struct scenario scenario;
    TRY(load_whole(&scenario, options));
    scenario_release(&scenario);
    return ERROR_OK;
}

/* The error of a combination at the level that causes it: the first that is wrong alone. */
static struct error place_error(struct making *making, const uint32_t *levels, struct error cause)
{
    const struct sweep_file *file = making->options->file;
    const struct sweep_level *level = file->factor_count > 0 ? &file->factors[0].levels[levels[0]] : NULL;
    struct buffer what = {0};
    struct scenario_options options = options_of(making, levels, file->factor_count);
    struct error alone = try_load(&options);
    if (error_is(alone) || level == NULL) { /* the scenario itself, or what holds for all runs */
        error_release(&alone);
        return cause;
    }
    buffer_string(&what, "this combination is no scenario");
    for (size_t f = 0; f < file->factor_count && !error_is(alone); f++) {
        options = options_of(making, levels, f);
        alone = try_load(&options);
        if (!error_is(alone))
            continue;
        level = &file->factors[f].levels[levels[f]];
        what.length = 0;
        buffer_format(&what, "the level '%s' of '%s' makes no scenario", level->name, file->factors[f].name);
    }
    const bool is_alone = error_is(alone);
    char *text = error_line_new(is_alone ? &alone : &cause);
    if (!is_alone) {
        buffer_string(&what, " (");
        for (size_t f = 0; f < file->factor_count; f++)
            buffer_format(&what, "%s%s=%s", f > 0 ? ", " : "", file->factors[f].name,
                          file->factors[f].levels[levels[f]].name);
        buffer_char(&what, ')');
    }
    struct error error = error_at(is_alone ? alone.kind : cause.kind, file->path, level->line, level->column, "%s: %s",
                                  buffer_c_string(&what), text != NULL ? text : "out of memory");
    if (!is_alone)
        error_set_hint(&error, "'exclude' leaves combinations out");
    error_release(&alone);
    error_release(&cause);
    buffer_release(&what);
    free(text);
    return error;
}

static const char *planned_digest(void *self, const char *role, const char *path)
{
    return sweep_plan_digest(self, role, path);
}

static struct error resolve(struct making *making, size_t combination, char hex[33])
{
    struct sweep_plan *plan = making->plan;
    struct scenario scenario;
    const uint32_t *levels = &plan->levels[combination * plan->factor_count];
    struct scenario_options options = options_of(making, levels, SIZE_MAX);
    if (combination == 0) { /* the seed that the scenario has */
        struct error error = load_whole(&scenario, &options);
        if (error_is(error))
            return place_error(making, levels, error);
        making->first_seed = scenario.seed;
        const char *title = scenario_title(&scenario);
        plan->title = title != NULL ? arena_copy(&plan->arena, text_of(title)) : NULL;
        scenario_release(&scenario);
    }
    options.seed = RUN_KEY_SEED;
    struct error error = load_whole(&scenario, &options);
    if (error_is(error))
        return place_error(making, levels, error);
    if (making->options->file->seed_count > 1 &&
        replay_shake_apply(scenario.resolved, &options, &plan->arena, &options)) { /* else all seeds were one run */
        scenario_release(&scenario);
        error = load_whole(&scenario, &options);
        if (error_is(error))
            return place_error(making, levels, error);
    }
    error = add_inputs(plan, &scenario, options.path);
    if (!error_is(error)) {
        run_configuration_hash(plan->version, &scenario, &(struct run_digests){planned_digest, plan}, hex);
        plan->configurations[combination] = arena_copy(&plan->arena, text_of(scenario.resolved));
    }
    scenario_release(&scenario);
    return error;
}

/* ---- the whole ---- */

static void copy_factors(struct sweep_plan *plan, const struct sweep_file *file)
{
    struct arena *arena = &plan->arena;
    plan->factor_count = file->factor_count;
    plan->factors = arena_alloc_array(arena, file->factor_count + 1, struct sweep_factor);
    for (size_t f = 0; f < file->factor_count; f++) {
        const struct sweep_factor *from = &file->factors[f];
        struct sweep_level *levels = arena_alloc_array(arena, from->level_count + 1, struct sweep_level);
        for (size_t l = 0; l < from->level_count; l++) {
            const char **sets = arena_alloc_array(arena, from->levels[l].set_count + 1, const char *);
            for (size_t s = 0; s < from->levels[l].set_count; s++)
                sets[s] = arena_copy(arena, text_of(from->levels[l].sets[s]));
            levels[l] = from->levels[l];
            levels[l].name = arena_copy(arena, text_of(from->levels[l].name));
            levels[l].sets = sets;
        }
        plan->factors[f] = (struct sweep_factor){
            .name = arena_copy(arena, text_of(from->name)), .levels = levels, .level_count = from->level_count};
    }
    plan->combination_count = file->combination_count;
    const size_t cells = file->combination_count * file->factor_count;
    plan->levels = arena_alloc_array(arena, cells + 1, uint32_t);
    if (cells > 0)
        memcpy(plan->levels, file->levels, cells * sizeof *plan->levels);
}

static void take_seeds(struct making *making)
{
    struct sweep_plan *plan = making->plan;
    const struct sweep_file *file = making->options->file;
    plan->seed_count = file->seed_count;
    plan->seeds = arena_alloc_array(&plan->arena, plan->seed_count, uint64_t);
    for (size_t i = 0; i < plan->seed_count; i++)
        plan->seeds[i] = file->seeds != NULL ? file->seeds[i] : making->first_seed + i;
}

static void list_runs(struct sweep_plan *plan, char (*hashes)[33])
{
    plan->run_count = plan->combination_count * plan->seed_count;
    plan->runs = arena_alloc_array(&plan->arena, plan->run_count, struct sweep_run);
    for (size_t i = 0; i < plan->run_count; i++) {
        struct sweep_run *run = &plan->runs[i];
        run->combination = (uint32_t)(i % plan->combination_count);
        run->seed = plan->seeds[i / plan->combination_count];
        run_key(hashes[run->combination], run->seed, run->key);
    }
    sweep_plan_index(plan);
}

/* Which runs have the same key. */
void sweep_plan_index(struct sweep_plan *plan)
{
    struct names *keys = names_new();
    uint32_t *first = mem_zalloc(plan->run_count + 1, sizeof *first);
    for (size_t i = 0; i < plan->run_count; i++) {
        const uint32_t known = names_count(keys), id = names_add(keys, text_of(plan->runs[i].key));
        if (id == known)
            first[id] = (uint32_t)i;
        plan->runs[i].first = first[id];
    }
    plan->distinct_count = names_count(keys);
    names_free(keys);
    mem_free(first);
}

static struct error make(struct making *making)
{
    struct sweep_plan *plan = making->plan;
    const struct sweep_plan_options *options = making->options;
    plan->version = arena_copy(&plan->arena, text_of(options->version));
    plan->paths_folder = arena_copy(&plan->arena, text_of(options->paths_folder));
    add_input(plan, "sweep", options->file->path, options->file->digest);
    copy_factors(plan, options->file);
    plan->configurations = arena_alloc_array(&plan->arena, plan->combination_count, const char *);
    char(*hashes)[33] = mem_zalloc(plan->combination_count, sizeof *hashes);
    struct error error = ERROR_OK;
    for (size_t c = 0; c < plan->combination_count && !error_is(error); c++)
        error = resolve(making, c, hashes[c]);
    if (!error_is(error)) {
        take_seeds(making);
        list_runs(plan, hashes);
    }
    mem_free(hashes);
    return error;
}

struct error sweep_plan_make(struct sweep_plan *out, const struct sweep_plan_options *options)
{
    struct making making = {.plan = out, .options = options};
    *out = (struct sweep_plan){0};
    struct error error = make(&making);
    mem_free(making.sets);
    if (error_is(error))
        sweep_plan_release(out);
    return error;
}

void sweep_plan_release(struct sweep_plan *plan)
{
    mem_free(plan->inputs);
    arena_release(&plan->arena);
    *plan = (struct sweep_plan){0};
}

void sweep_plan_name(const struct sweep_plan *plan, size_t combination, struct buffer *out)
{
    const uint32_t *levels = &plan->levels[combination * plan->factor_count];
    for (size_t f = 0; f < plan->factor_count; f++)
        buffer_format(out, "%s%s=%s", f > 0 ? ", " : "", plan->factors[f].name,
                      plan->factors[f].levels[levels[f]].name);
    if (plan->factor_count == 0)
        buffer_string(out, "the scenario");
}
