/* workloads/load_model/load_model_write.c -- a model as JSON, and its closed forms. */
#include <math.h>

#include "workloads/load_model/load_model.h"

enum { MIB_PER_GB = 1024, MILLI = 1000 };

/* ---- Closed forms ---- */

double load_kind_gpus(const struct load_kind *kind)
{
    return kind->ask.gpu_milli > 0 ? (double)kind->ask.gpu_milli / GPU_MILLI : (double)kind->ask.gpus;
}

static double weights_of(const struct load_stream *stream)
{
    double sum = 0;
    for (uint32_t i = 0; i < stream->kind_count; i++)
        sum += stream->kinds[i].weight;
    return sum;
}

struct load_moments load_model_moments(const struct load_model *model)
{
    struct load_moments sum = {0};
    for (uint32_t s = 0; s < model->stream_count; s++)
        sum.jobs_per_day += model->streams[s].arrivals.jobs_per_day;
    for (uint32_t s = 0; s < model->stream_count; s++) {
        const struct load_stream *stream = &model->streams[s];
        const double share = stream->arrivals.jobs_per_day / sum.jobs_per_day / weights_of(stream);
        for (uint32_t i = 0; i < stream->kind_count; i++) {
            const struct load_kind *kind = &stream->kinds[i];
            const double weight = kind->weight * share, gpus = load_kind_gpus(kind);
            const double mean_s = distribution_mean(&kind->run_time, gpus);
            sum.gpus += weight * gpus;
            sum.gpus_squared += weight * gpus * gpus;
            sum.run_time_s += weight * mean_s;
            sum.gpu_s += weight * gpus * mean_s;
            sum.outcome[kind->outcome] += weight;
        }
    }
    return sum;
}

/* ---- Written ---- */

static void put_factors(struct buffer *out, const double *factors, uint32_t count)
{
    buffer_string(out, "\"factors\": [");
    for (uint32_t i = 0; i < count; i++)
        buffer_format(out, "%s%.6g", i > 0 ? ", " : "", factors[i]);
    buffer_char(out, ']');
}

static void put_zipf(struct buffer *out, const char *key, const struct load_zipf *zipf)
{
    if (zipf->count == 0)
        return;
    buffer_members(out, ",\n       %s: {'count': %u, 'zipf_exponent': %g}", key, zipf->count, zipf->exponent);
}

static void put_states(struct buffer *out, const struct load_arrivals_plan *plan)
{
    for (uint32_t i = 0; i < plan->state_count; i++) {
        buffer_members(out, i == 0 ? ",\n       'states': [" : ", ");
        buffer_members(out, "{'factor': %g, 'mean': %g, 'weight': %g}", plan->states[i].factor, plan->states[i].mean_s,
                       plan->states[i].weight);
    }
    if (plan->state_count > 0)
        buffer_char(out, ']');
}

static void put_arrivals(struct buffer *out, const struct load_arrivals_plan *plan)
{
    buffer_members(out, "      'arrivals': {'jobs_per_day': %g,\n       'gaps': ", plan->jobs_per_day);
    distribution_write(&plan->gaps, out);
    if (plan->memory.strength > 0)
        buffer_members(out, ",\n       'gap_memory': {'strength': %g, 'jobs': %u}", plan->memory.strength,
                       plan->memory.jobs);
    if (plan->cycle_count > 0) {
        buffer_format(out, ",\n       \"cycle\": {\"period\": %.17g, ", time_to_seconds(plan->period));
        put_factors(out, plan->cycle, plan->cycle_count);
        buffer_char(out, '}');
    }
    if (plan->day_count > 0) {
        buffer_string(out, ",\n       \"days\": {");
        put_factors(out, plan->days, plan->day_count);
        if (plan->run == TIME_NEVER)
            buffer_string(out, ", \"run\": \"never\"}");
        else
            buffer_format(out, ", \"run\": %.17g}", time_to_seconds(plan->run));
    }
    put_states(out, plan);
    put_zipf(out, "clients", &plan->clients);
    buffer_char(out, '}');
}

static void put_request(struct buffer *out, const struct load_request *request)
{
    if (request->share <= 0)
        return;
    buffer_members(out, ",\n      'request': {'share': %g, 'factor': ", request->share);
    distribution_write(&request->factor, out);
    for (uint32_t i = 0; i < request->value_count; i++)
        buffer_format(out, "%s%.17g%s", i == 0 ? ", \"values\": [" : ", ", time_to_seconds(request->values[i]),
                      i + 1 < request->value_count ? "" : "]");
    buffer_char(out, '}');
}

static void put_kind(struct buffer *out, const struct load_kind *kind)
{
    const struct ask *ask = &kind->ask;
    buffer_members(out, "{'weight': %g", kind->weight);
    if (ask->gpu_milli > 0)
        buffer_members(out, ", 'gpu_fraction': %g", (double)ask->gpu_milli / GPU_MILLI);
    else
        buffer_members(out, ", 'gpus': %g", (double)ask->gpus);
    if (ask->nodes > 0)
        buffer_members(out, ", 'nodes': %g", (double)ask->nodes);
    if (ask->cpu_milli > 0)
        buffer_members(out, ", 'cpus': %g", (double)ask->cpu_milli / MILLI);
    if (ask->memory_mib > 0)
        buffer_members(out, ", 'memory_gb': %g", (double)ask->memory_mib / MIB_PER_GB);
    buffer_members(out, ", 'outcome': %s,\n        'run_time': ", job_outcome_names[kind->outcome]);
    distribution_write(&kind->run_time, out);
    buffer_char(out, '}');
}

static void put_stream(struct buffer *out, const struct load_stream *stream)
{
    buffer_members(out, "\n     {'name': %s, 'queue': %s, 'class': %s,\n", stream->name, stream->queue,
                   job_class_names[stream->class]);
    put_arrivals(out, &stream->arrivals);
    if (stream->memory.repeat > 0 || stream->memory.strength > 0)
        buffer_members(out, ",\n      'memory': {'repeat': %g, 'strength': %g, 'jobs': %u}", stream->memory.repeat,
                       stream->memory.strength, stream->memory.jobs);
    put_zipf(out, "users", &stream->users);
    put_request(out, &stream->request);
    buffer_string(out, ",\n      \"kinds\": [");
    for (uint32_t i = 0; i < stream->kind_count; i++) {
        buffer_string(out, i > 0 ? ",\n       " : "");
        put_kind(out, &stream->kinds[i]);
    }
    buffer_string(out, "]}");
}

void load_model_write(const struct load_model *model, const char *comment, struct buffer *out)
{
    buffer_members(out, "{%s: %d", LOAD_MODEL_KEY, LOAD_MODEL_VERSION);
    if (comment[0] != '\0')
        buffer_members(out, ",\n '$comment': %s", comment);
    buffer_members(out, ",\n 'streams': [");
    for (uint32_t i = 0; i < model->stream_count; i++) {
        buffer_string(out, i > 0 ? "," : "");
        put_stream(out, &model->streams[i]);
    }
    buffer_string(out, "]}\n");
}
