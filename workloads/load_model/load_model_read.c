/* workloads/load_model/load_model_read.c -- a model read from JSON. */
#include <math.h>
#include <string.h>

#include "base/json_file.h"
#include "workloads/load_model/load_arrivals.h"
#include "workloads/load_model/load_model.h"
#include "workloads/load_model/load_sizes.h"

enum { MODEL_BYTES_MAX = 1 << 28, MIB_PER_GB = 1024, MILLI = 1000 };
#define WEIGHT_MAX       1e15
#define JOBS_PER_DAY_MIN 1e-6
#define JOBS_PER_DAY_MAX 1e9
#define S_PER_DAY        86400.0

static const char *text_kept(struct json_object *object, const char *key, const char *otherwise, struct arena *arena)
{
    return arena_copy(arena, text_of(json_get_string(object, key, otherwise)));
}

static void memory_read(struct load_memory *memory, struct json_object *of, const char *key, bool has_kinds)
{
    struct json_object object;
    *memory = (struct load_memory){.jobs = 1};
    if (!json_object_at(&object, of, key))
        return;
    if (has_kinds)
        memory->repeat = json_get_real(&object, "repeat", 0, 0.9999, 0);
    memory->strength = json_get_real(&object, "strength", 0, 1, 0);
    memory->jobs = (uint32_t)json_get_int(&object, "jobs", 1, 1000000, 1);
    json_object_close(&object);
}

/* ---- Arrivals ---- */

static const double *factors_read(struct json_object *object, struct arena *arena, uint32_t *count)
{
    json_need(object, "factors");
    const struct json_value value = json_member(object, "factors");
    const size_t found = value.node != NULL ? json_array_count(&value) : 0;
    *count = 0;
    if (value.node == NULL)
        return NULL;
    if (found == 0 || found > LOAD_FACTORS_MAX) {
        json_fail(&value, "'factors' must be an array of 1 to %d numbers", LOAD_FACTORS_MAX);
        return NULL;
    }
    double *factors = arena_alloc_array(arena, found, double);
    double sum = 0;
    for (size_t i = 0; i < found; i++) {
        const struct json_value item = json_array_item(&value, i);
        factors[i] = json_value_real(&item, 0, WEIGHT_MAX);
        sum += factors[i];
    }
    if (!(sum > 0))
        json_fail(&value, "at least one factor must be above 0");
    *count = (uint32_t)found;
    return factors;
}

static void cycle_read(struct load_arrivals_plan *plan, struct json_object *arrivals, struct arena *arena)
{
    struct json_object object;
    if (!json_object_at(&object, arrivals, "cycle"))
        return;
    json_need(&object, "period");
    plan->period = json_get_duration(&object, "period", TIME_NS_PER_S);
    plan->cycle = factors_read(&object, arena, &plan->cycle_count);
    json_object_close(&object);
    if (plan->cycle_count > 0 &&
        (plan->period % plan->cycle_count != 0 || plan->period / plan->cycle_count < TIME_NS_PER_S))
        json_fail(&object.value,
                  "'period' must be divided by the number of factors into equal parts of a second or more");
}

static void days_read(struct load_arrivals_plan *plan, struct json_object *arrivals, struct arena *arena)
{
    struct json_object object;
    if (!json_object_at(&object, arrivals, "days"))
        return;
    plan->days = factors_read(&object, arena, &plan->day_count);
    plan->run = json_get_patience(&object, "run", TIME_NEVER);
    json_object_close(&object);
    if (plan->run < (time_ns)S_PER_DAY * TIME_NS_PER_S)
        json_fail(&object.value, "'run' must be a day or more");
}

static void states_read(struct load_arrivals_plan *plan, struct json_object *arrivals, struct arena *arena)
{
    const struct json_value value = json_member(arrivals, "states");
    if (value.node == NULL)
        return;
    const size_t count = json_array_count(&value);
    if (count < 2 || count > LOAD_STATES_MAX) {
        json_fail(&value, "'states' must be an array of 2 to %d states", LOAD_STATES_MAX);
        return;
    }
    struct load_state *states = arena_alloc_array(arena, count, struct load_state);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(&value, i);
        struct json_object object;
        json_object_open(&object, &item);
        json_need(&object, "factor");
        json_need(&object, "mean");
        states[i] = (struct load_state){.factor = json_get_real(&object, "factor", 0, WEIGHT_MAX, 1),
                                        .mean_s = time_to_seconds(json_get_duration(&object, "mean", TIME_NS_PER_S)),
                                        .weight = json_get_real(&object, "weight", 1e-6, WEIGHT_MAX, 1)};
        json_object_close(&object);
        if (states[i].mean_s < 1)
            json_fail(&item, "'mean' must be a second or more");
    }
    plan->states = states;
    plan->state_count = (uint32_t)count;
}

static struct load_zipf zipf_read(struct json_object *of, const char *key)
{
    struct load_zipf zipf = {0, 0, 0};
    struct json_object object;
    if (!json_object_at(&object, of, key))
        return zipf;
    json_need(&object, "count");
    zipf.count = (uint32_t)json_get_int(&object, "count", 1, LOAD_CLIENTS_MAX, 1);
    zipf.exponent = json_get_real(&object, "zipf_exponent", 0, 10, 1);
    json_object_close(&object);
    for (uint32_t i = 0; i < zipf.count; i++)
        zipf.sum += pow(i + 1.0, -zipf.exponent);
    return zipf;
}

static double most_of(const double *values, uint32_t count)
{
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        most = fmax(most, values[i]);
        sum += values[i];
    }
    return most * count / sum;
}

static void arrivals_read(struct load_arrivals_plan *plan, const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    *plan = (struct load_arrivals_plan){.jobs_per_day = 1, .run = TIME_NEVER};
    json_object_open(&object, value);
    const bool has_rate = json_has(&object, "jobs_per_day");
    const struct json_value gaps = json_member(&object, "gaps");
    plan->gaps = (struct distribution){.kind = DISTRIBUTION_EXPONENTIAL, .scale = 1, .max = INFINITY};
    if (gaps.node != NULL)
        distribution_read(&plan->gaps, &gaps, arena, !has_rate);
    if (gaps.node == NULL)
        json_need(&object, "jobs_per_day");
    plan->jobs_per_day = json_get_real(&object, "jobs_per_day", JOBS_PER_DAY_MIN, JOBS_PER_DAY_MAX, 1);
    memory_read(&plan->memory, &object, "gap_memory", false);
    cycle_read(plan, &object, arena);
    days_read(plan, &object, arena);
    states_read(plan, &object, arena);
    plan->clients = zipf_read(&object, "clients");
    json_object_close(&object);
    if (error_is(*value->error))
        return;
    if (!has_rate)
        plan->jobs_per_day = S_PER_DAY / distribution_mean(&plan->gaps, 0);
    if (plan->day_count > 0 && plan->state_count > 0)
        json_fail(value, "arrivals have 'days' or 'states', not both");
    if (plan->day_count > 0 && !(most_of(plan->days, plan->day_count) * plan->jobs_per_day <= LOAD_JOBS_PER_DAY_MAX))
        json_fail(value, "no day may have more than %d jobs", LOAD_JOBS_PER_DAY_MAX);
    if (plan->memory.strength > 0 && !distribution_has_quantile(&plan->gaps))
        json_fail(value, "'gap_memory' is not for gamma gaps: take another distribution");
}

/* ---- Jobs ---- */

static void kind_read(struct load_kind *kind, const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    struct job job = job_default();
    enum ask_field culprit;
    json_object_open(&object, value);
    json_need(&object, "run_time");
    kind->weight = json_get_real(&object, "weight", 0, WEIGHT_MAX, 1);
    kind->ask =
        (struct ask){.gpus = json_get_int(&object, "gpus", 0, ASK_GPUS_MAX, 0),
                     .nodes = json_get_int(&object, "nodes", 1, CLUSTER_NODES_MAX, 0),
                     .gpu_milli = json_get_scaled(&object, "gpu_fraction", GPU_MILLI, 1, GPU_MILLI, 0),
                     .cpu_milli = json_get_scaled(&object, "cpus", MILLI, 0, INT32_MAX, 0),
                     .memory_mib = json_get_scaled(&object, "memory_gb", MILLI, 0, INT32_MAX, 0) * MIB_PER_GB / MILLI};
    kind->outcome = (uint8_t)json_get_choice(&object, "outcome", job_outcome_names, OUTCOME_COMPLETED);
    const struct json_value run_time = json_member(&object, "run_time");
    if (run_time.node != NULL)
        distribution_read(&kind->run_time, &run_time, arena, true);
    json_object_close(&object);
    const char *complaint = error_is(*value->error) ? NULL : ask_shape(&kind->ask, &job, &culprit);
    if (complaint != NULL)
        json_fail(value, "this kind cannot be: %s", complaint);
}

static void kinds_read(struct load_stream *stream, const struct json_value *value, struct arena *arena)
{
    const size_t count = json_array_count(value);
    double weights = 0;
    if (count == 0 || count > LOAD_KINDS_MAX) {
        json_fail(value, "'kinds' must be an array of 1 to %d kinds", LOAD_KINDS_MAX);
        return;
    }
    struct load_kind *kinds = arena_alloc_array(arena, count, struct load_kind);
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        const struct json_value item = json_array_item(value, i);
        kind_read(&kinds[i], &item, arena);
        weights += kinds[i].weight;
    }
    if (!error_is(*value->error) && !(weights > 0))
        json_fail(value, "at least one kind must have a 'weight' above 0");
    stream->kinds = kinds;
    stream->kind_count = (uint32_t)count;
}

static void sizes_read(struct load_stream *stream, struct json_object *object, struct arena *arena)
{
    const struct json_value sizes = json_member(object, "sizes");
    json_need(object, "run_time");
    const struct json_value run_time = json_member(object, "run_time");
    struct distribution distribution = {.scale = 1, .max = INFINITY};
    const struct load_sizes of = load_sizes_read(&sizes);
    if (run_time.node != NULL)
        distribution_read(&distribution, &run_time, arena, true);
    if (!error_is(*sizes.error))
        stream->kinds = load_sizes_kinds(&of, &distribution, arena, &stream->kind_count);
}

static void jobs_read(struct load_stream *stream, struct json_object *object, struct arena *arena)
{
    const struct json_value kinds = json_member(object, "kinds");
    const bool has_sizes = json_has(object, "sizes");
    if ((kinds.node != NULL) == has_sizes)
        json_fail(&object->value, "a stream must have either 'kinds', or 'sizes' and 'run_time'");
    else if (has_sizes)
        sizes_read(stream, object, arena);
    else
        kinds_read(stream, &kinds, arena);
}

static void values_read(struct load_request *request, struct json_object *object, struct arena *arena)
{
    const struct json_value value = json_member(object, "values");
    if (value.node == NULL)
        return;
    const size_t count = json_array_count(&value);
    if (count > LOAD_VALUES_MAX) {
        json_fail(&value, "'values' may have at most %d durations", LOAD_VALUES_MAX);
        return;
    }
    time_ns *values = arena_alloc_array(arena, count, time_ns);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(&value, i);
        if (item.node != NULL && json_is_number(item.node))
            values[i] = time_from_seconds(json_value_real(&item, 0, 1e10));
        else if (!time_parse_duration(text_of(json_value_string(&item)), &values[i]))
            json_fail(&item, "a value must be seconds, or a duration such as \"1h\"");
        if (values[i] <= (i > 0 ? values[i - 1] : 0))
            json_fail(&item, "values must be above 0 and ascend");
    }
    request->values = values;
    request->value_count = (uint32_t)count;
}

static void request_read(struct load_request *request, struct json_object *stream, struct arena *arena)
{
    struct json_object object;
    if (!json_object_at(&object, stream, "request"))
        return;
    json_need(&object, "factor");
    request->share = json_get_real(&object, "share", 0, 1, 1);
    const struct json_value factor = json_member(&object, "factor");
    if (factor.node != NULL)
        distribution_read(&request->factor, &factor, arena, true);
    values_read(request, &object, arena);
    json_object_close(&object);
}

static void stream_read(struct load_stream *stream, const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "name");
    json_need(&object, "arrivals");
    stream->name = text_kept(&object, "name", "", arena);
    stream->queue = text_kept(&object, "queue", "default", arena);
    stream->class = (uint8_t)json_get_choice(&object, "class", job_class_names, JOB_TRAINING);
    const struct json_value arrivals = json_member(&object, "arrivals");
    if (arrivals.node != NULL)
        arrivals_read(&stream->arrivals, &arrivals, arena);
    memory_read(&stream->memory, &object, "memory", true);
    stream->users = zipf_read(&object, "users");
    request_read(&stream->request, &object, arena);
    jobs_read(stream, &object, arena);
    json_object_close(&object);
}

const struct load_model *load_model_read(const struct json_value *value, struct arena *arena)
{
    struct json_object object;
    struct load_model *model = arena_alloc(arena, sizeof *model);
    json_object_open(&object, value);
    json_need(&object, LOAD_MODEL_KEY);
    json_need(&object, "streams");
    json_get_int(&object, LOAD_MODEL_KEY, LOAD_MODEL_VERSION, LOAD_MODEL_VERSION, LOAD_MODEL_VERSION);
    const struct json_value streams = json_member(&object, "streams");
    const size_t count = streams.node != NULL ? json_array_count(&streams) : 0;
    if (streams.node != NULL && (count == 0 || count > LOAD_STREAMS_MAX))
        json_fail(&streams, "'streams' must be an array of 1 to %d streams", LOAD_STREAMS_MAX);
    struct load_stream *made = arena_alloc_array(arena, count, struct load_stream);
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        const struct json_value item = json_array_item(&streams, i);
        stream_read(&made[i], &item, arena);
        for (size_t other = 0; other < i && !error_is(*value->error); other++)
            if (strcmp(made[i].name, made[other].name) == 0)
                json_fail(&item, "two streams have the name '%s'", made[i].name);
    }
    json_object_close(&object);
    *model = (struct load_model){made, (uint32_t)count};
    return error_is(*value->error) ? NULL : model;
}

struct error load_model_doc(struct json_doc **out, const struct json_value *value)
{
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX + 1], *name = json_value_string(value);
    uint32_t count = 0;
    *out = NULL;
    if (text_is_json_path(name)) {
        const char *path = json_value_file(value, "model");
        return error_is(*value->error) ? *value->error : json_file_read(out, path, MODEL_BYTES_MAX, ERROR_CONFIG, NULL);
    }
    for (const struct embedded_text *text = load_model_texts; text->name != NULL; text++) {
        if (strcmp(text->name, name) == 0)
            return json_doc_parse(out, name, (struct text){text->text, text->length}, ERROR_CONFIG);
        if (count < NAMES_MAX)
            names[count++] = text->name;
    }
    names[count] = NULL;
    json_fail(value, "there is no ready model '%s'", name);
    const char *near = text_nearest(text_of(name), names);
    if (near != NULL)
        error_set_hint(value->error, "did you mean '%s'? The name of a file holds '/' or ends in .json", near);
    else
        error_set_hint(value->error, "docs/synthesis.md lists them; the name of a file holds '/' or ends in .json");
    return *value->error;
}

struct error load_model_open(const struct load_model **out, const char *path, struct arena *arena)
{
    struct json_doc *doc = NULL;
    struct error error = json_file_read(&doc, path, MODEL_BYTES_MAX, ERROR_CONFIG, NULL);
    if (error_is(error))
        return error;
    const struct json_value root = json_doc_root(doc, &error);
    *out = load_model_read(&root, arena);
    json_doc_free(doc);
    return error;
}
