#include "studies/run/assumptions.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "policies/config/reads.h"
#include "policies/preemption/victim_keys.h"

/* ---- Where it matters ---- */

typedef bool matters_fn(const struct scenario *scenario, uint32_t said);

static bool reads(const struct scenario *scenario, enum job_field field)
{
    return (policy_reads(&scenario->policy).job & JOB_READS(field)) != 0;
}

static bool has_plans_of_checkpoints(const struct checkpoint_table *table)
{
    for (uint32_t r = 0; r < table->count; r++)
        if (table->rows[r].rule != INTERVAL_AS_DECLARED)
            return true;
    return false;
}

static bool interrupts(const struct scenario *scenario, uint32_t said)
{
    const struct world_config *world = &scenario->world;
    (void)said;
    return !has_plans_of_checkpoints(&world->checkpoints) &&
           (reads(scenario, JOB_FIELD_CHECKPOINT) || fault_rates_are_set(&world->faults) || world->capacity.count > 0);
}

static bool plans_starts(const struct scenario *scenario, uint32_t said)
{
    const struct policy_config *policy = &scenario->policy;
    (void)said;
    return policy->backfill_config.overtakes && policy->estimate->state_size == 0 &&
           scenario->world.estimates.kind == ESTIMATES_AS_DECLARED;
}

static bool orders_by_priority(const struct scenario *scenario, uint32_t said)
{
    (void)said;
    return reads(scenario, JOB_FIELD_PRIORITY);
}

static bool spares_classes(const struct scenario *scenario, uint32_t said)
{
    const struct policy_config *policy = &scenario->policy;
    const struct headroom_config *headroom = &policy->headroom;
    (void)said;
    for (uint32_t k = 0; policy->preemption->evicts && k < policy->preempt.victim_key_count; k++)
        if (policy->preempt.victims[k] == &victim_class)
            return true;
    return headroom->gpu_milli > 0 || headroom->whole_nodes > 0 || headroom->gpus_ppm > 0 || headroom->nodes_ppm > 0;
}

/* The model of which there are most GPUs; NULL: all GPUs are of one model. */
static const char *commonest_model(const struct cluster *cluster)
{
    uint64_t gpus[CLUSTER_MODELS_MAX] = {0};
    uint32_t most = 0, models = 0;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        gpus[cluster->types[t].model] += (uint64_t)cluster->types[t].node_count * cluster->types[t].gpu_count;
    for (uint32_t m = 0; m < cluster->model_count; m++) {
        models += gpus[m] > 0;
        most = gpus[m] > gpus[most] ? m : most;
    }
    return models > 1 ? cluster->models[most].name : NULL;
}

static bool has_models(const struct scenario *scenario, uint32_t said)
{
    (void)said;
    return commonest_model(scenario->cluster) != NULL;
}

static bool spans_nodes(const struct scenario *scenario, uint32_t said)
{
    return (said & JOB_READS(JOB_TELLS_MEMBERS)) != 0 && scenario->cluster->node_count > 1 &&
           scenario->world.network != NETWORK_FREE;
}

/* ---- What is assumed ---- */

#define CHECKPOINTS   "checkpoints"
#define RUN_TIMES     "limits or estimates of run times"
#define PRIORITIES    "priorities"
#define CLASSES       "classes"
#define MODELS        "GPU models"
#define COMMUNICATION "communication"
#define DEFAULTS      "workload.defaults"

struct assumption {
    struct assumed of;
    uint32_t said_by; /* bits of struct job_fields; one of them is enough */
    matters_fn *matters;
};

static const struct assumption assumptions[] = {
    {{CHECKPOINTS, "none: a job that is evicted or loses its node begins again from nothing",
      "where jobs are evicted: the work that is lost is done twice",
      DEFAULTS "=[{\"set\": {\"checkpoint_interval_s\": \"30m\"}}]"},
     JOB_READS(JOB_FIELD_CHECKPOINT),
     interrupts},
    {{RUN_TIMES, "not known: the scheduler cannot tell what ends before a planned start",
      "where jobs overtake others that wait for space (backfill)", "world.estimates.kind=perfect"},
     JOB_READS(JOB_FIELD_ESTIMATE) | JOB_READS(JOB_TELLS_LIMIT),
     plans_starts},
    {{PRIORITIES, "the same for all jobs (50)", "in the order of waiting jobs, and in which jobs may evict others",
      DEFAULTS "=[{\"class\": \"inference\", \"set\": {\"priority\": 75}}]"},
     JOB_READS(JOB_FIELD_PRIORITY),
     orders_by_priority},
    {{CLASSES, "all jobs are training: there are no services among them",
      "where space is kept for inference, or inference is evicted last",
      DEFAULTS "=[{\"gpus_max\": 1, \"set\": {\"class\": \"inference\"}}]"},
     JOB_READS(JOB_TELLS_CLASS),
     spares_classes},
    {{MODELS, "every model does, at the same speed", "on a cluster with several GPU models",
      DEFAULTS "=[{\"gpus_min\": 8, \"set\": {\"gpu_model\": \"NAME\"}}]"},
     JOB_READS(JOB_TELLS_MODEL),
     has_models},
    {{COMMUNICATION, "none: a job is as fast on distant nodes as on near ones", "where jobs have several members",
      "workload.communication=[{\"sensitivity\": \"all_reduce_bound\"}]"},
     JOB_READS(JOB_TELLS_EXCHANGE),
     spans_nodes},
};

enum { ASSUMPTION_COUNT = sizeof assumptions / sizeof *assumptions };
_Static_assert((int)ASSUMPTION_COUNT <= (int)ASSUMED_MAX, "a list holds all");

void assumptions_find(const struct scenario *scenario, const struct job_source *source, bool is_outside,
                      struct assumed_list *out)
{
    const struct job_fields *fields = &job_source_facts(source)->fields;
    *out = (struct assumed_list){.count = 0};
    for (size_t a = 0; fields->has_any && a < ASSUMPTION_COUNT; a++) {
        const struct assumption *assumption = &assumptions[a];
        if (!(fields->set & assumption->said_by) && (is_outside || assumption->matters(scenario, fields->set)))
            out->of[out->count++] = assumption->of;
    }
}

/* ---- What else could be taken ---- */

/* Each is the text of a row that is added to `workload.defaults`, or of a whole setting.  %s: the model of which there
 * are most GPUs. */
static const struct {
    const char *what, *name, *row, *set;
    uint32_t needs, lacks; /* bits of struct job_fields that must be set, or must not be */
} choices[] = {
    {.what = CHECKPOINTS,
     .name = "a checkpoint every 30 minutes",
     .row = "{\"set\":{\"checkpoint_interval_s\":\"30m\"}}"},
    {.what = CHECKPOINTS, .name = "a checkpoint every 4 hours", .row = "{\"set\":{\"checkpoint_interval_s\":\"4h\"}}"},
    {.what = RUN_TIMES, .name = "run times known exactly", .set = "world.estimates={\"kind\":\"perfect\"}"},
    {.what = RUN_TIMES,
     .name = "estimates of twice the run time",
     .set = "world.estimates={\"kind\":\"noisy\",\"factor\":2,\"sigma\":0}"},
    {.what = PRIORITIES,
     .name = "inference before interactive before training",
     .row = "{\"class\":\"inference\",\"set\":{\"priority\":75}},{\"class\":\"interactive\",\"set\":{\"priority\":60}}",
     .needs = JOB_READS(JOB_TELLS_CLASS)},
    {.what = PRIORITIES,
     .name = "jobs of at most one GPU first",
     .row = "{\"gpus_max\":1,\"set\":{\"priority\":75}}",
     .lacks = JOB_READS(JOB_TELLS_CLASS)},
    {.what = CLASSES,
     .name = "jobs of at most one GPU are services",
     .row = "{\"gpus_max\":1,\"set\":{\"class\":\"inference\"}}"},
    {.what = MODELS,
     .name = "jobs of 8 GPUs and more need the commonest model",
     .row = "{\"gpus_min\":8,\"set\":{\"gpu_model\":\"%s\"}}"},
    {.what = COMMUNICATION,
     .name = "jobs of several GPUs are bound by all-reduce",
     .set = "workload.communication=[{\"gpus_min\":2,\"sensitivity\":\"all_reduce_bound\"}]"},
};

enum { CHOICE_COUNT = sizeof choices / sizeof *choices };
_Static_assert((int)CHOICE_COUNT <= (int)ALTERNATIVES_MAX, "a list holds all");

static bool is_assumed(const struct assumed_list *list, const char *what)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->of[i].what, what) == 0)
            return true;
    return false;
}

/* "workload.defaults=[...]" with the rows of the scenario before the new one. */
static void put_row(const struct scenario *scenario, const char *row, struct buffer *out)
{
    json_t *root = json_loads(scenario->resolved, 0, NULL);
    json_t *own = json_object_get(json_object_get(root, "workload"), "defaults"), *item;
    const char *model = commonest_model(scenario->cluster), *gap = strstr(row, "%s");
    size_t i;
    buffer_string(out, DEFAULTS "=[");
    json_array_foreach(own, i, item)
    {
        char *text = json_dumps(item, JSON_COMPACT);
        buffer_format(out, "%s,", text);
        free(text);
    }
    if (gap != NULL && model != NULL)
        buffer_format(out, "%.*s%s%s", (int)(gap - row), row, model, gap + strlen("%s"));
    else
        buffer_string(out, row);
    buffer_char(out, ']');
    json_decref(root);
}

static void find_alternatives(const struct scenario *scenario, const struct assumed_list *list, uint32_t said,
                              struct arena *arena, struct alternatives *out)
{
    struct buffer text = {0};
    out->count = 0;
    for (size_t c = 0; c < CHOICE_COUNT; c++) {
        const uint32_t needs = choices[c].needs, lacks = choices[c].lacks;
        if (!is_assumed(list, choices[c].what) || (said & needs) != needs || (said & lacks) != 0)
            continue;
        text.length = 0;
        if (choices[c].row != NULL)
            put_row(scenario, choices[c].row, &text);
        else
            buffer_string(&text, choices[c].set);
        out->of[out->count++] = (struct alternative){choices[c].what, choices[c].name,
                                                     arena_copy(arena, (struct text){text.bytes, text.length})};
    }
    buffer_release(&text);
}

static struct error read_all(struct job_source *source, time_ns end)
{
    struct job job = {.submit = 0};
    struct job_truth truth;
    bool has = true;
    while (has && job.submit <= end)
        TRY(job_source_next(source, &job, &truth, &has));
    return ERROR_OK;
}

struct error assumptions_survey(const struct scenario_options *options, struct arena *arena, struct assumed_list *list,
                                struct alternatives *alternatives)
{
    struct scenario scenario = {.cluster = NULL};
    struct job_source *source = NULL;
    struct error error = scenario_load(&scenario, options);
    if (!error_is(error))
        error = scenario_open(&scenario, &source);
    if (!error_is(error))
        error = read_all(source, scenario.world.end);
    if (!error_is(error)) {
        assumptions_find(&scenario, source, false, list);
        find_alternatives(&scenario, list, job_source_facts(source)->fields.set, arena, alternatives);
    }
    job_source_close(source);
    scenario_release(&scenario);
    return error;
}
