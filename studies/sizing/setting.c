#include "studies/sizing/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct error setting_open(struct setting_doc *doc, const struct scenario_options *options)
{
    struct scenario scenario;
    *doc = (struct setting_doc){0};
    struct error error = scenario_load(&scenario, options);
    if (!error_is(error))
        error = json_doc_parse(&doc->doc, "the scenario", text_of(scenario.resolved), ERROR_CONFIG);
    scenario_release(&scenario);
    return error;
}

void setting_close(struct setting_doc *doc)
{
    json_doc_free(doc->doc);
    doc->doc = NULL;
}

void setting_path(const char *path, struct buffer *out)
{
    if (strncmp(path, "pools.", strlen("pools.")) == 0)
        buffer_string(out, "cluster.");
    buffer_string(out, path);
}

struct error setting_number(const struct setting_doc *doc, const char *path, double *number)
{
    struct buffer whole = {0};
    setting_path(path, &whole);
    const json_t *value = json_doc_at(doc->doc, buffer_c_string(&whole));
    struct error error = ERROR_OK;
    *number = json_number_value(value);
    if (value == NULL) {
        error = error_new(ERROR_USAGE, "the scenario has no value '%s'", buffer_c_string(&whole));
        error_set_hint(&error,
                       "a path is as for --set, such as cluster.pools.h100.nodes; `windtunnel schema` lists them");
    } else if (!json_is_number(value)) {
        error = error_new(ERROR_USAGE, "'%s' is not a number", buffer_c_string(&whole));
    }
    buffer_release(&whole);
    return error;
}

/* ---- Changes ---- */

/* "+50", "-10%", "x1.5"; false: it is a value. */
static bool read_change(const char *text, double *amount, double *factor)
{
    const char sign = text[0];
    char *end;
    if (sign != '+' && sign != '-' && sign != 'x')
        return false;
    const double number = strtod(text + 1, &end);
    const bool is_percent = strcmp(end, "%") == 0;
    if (end == text + 1 || !(isfinite(number) && number >= 0) || (*end != '\0' && (!is_percent || sign == 'x')))
        return false;
    *factor = sign == 'x' ? number : is_percent ? 1 + (sign == '+' ? number : -number) / 100 : 1;
    *amount = sign == 'x' || is_percent ? 0 : sign == '+' ? number : -number;
    return true;
}

struct error setting_change(const struct setting_doc *doc, const char *change, struct buffer *out)
{
    const char *equals = strchr(change, '=');
    double amount, factor, number;
    if (equals == NULL || equals == change || equals[1] == '\0')
        return error_new(ERROR_USAGE, "a change is PATH=VALUE, PATH=+N, PATH=-N, PATH=+N%% or PATH=xN, got '%s'",
                         change);
    struct buffer path = {0};
    buffer_bytes(&path, change, (size_t)(equals - change));
    setting_path(buffer_c_string(&path), out);
    struct error error = ERROR_OK;
    if (!read_change(equals + 1, &amount, &factor)) {
        buffer_string(out, equals);
    } else {
        error = setting_number(doc, buffer_c_string(&path), &number);
        buffer_format(out, "=%.12g", number * factor + amount);
    }
    buffer_release(&path);
    return error;
}

/* ---- What is known by name ---- */

/* The load that changes nothing. */
static struct error load_of_jobs(const struct scenario_options *options, double *load)
{
    struct scenario scenario;
    struct job_source *source = NULL;
    struct error error = scenario_load(&scenario, options);
    if (!error_is(error))
        error = scenario_open(&scenario, &source);
    if (!error_is(error)) {
        const uint32_t gpus = scenario.workload.load_gpus; /* 0: those of the run's cluster */
        *load = workload_load(job_source_facts(source), gpus != 0 ? gpus : scenario.cluster->gpu_count);
    }
    job_source_close(source);
    scenario_release(&scenario);
    return error;
}

struct error setting_load(const struct setting_doc *doc, const struct scenario_options *options, const char **path,
                          double *load)
{
    const bool is_mix =
        json_doc_at(doc->doc, "workload.trace") == NULL && json_doc_at(doc->doc, "workload.model") == NULL;
    *path = is_mix ? "workload.synth.load_whole_gpu" : "workload.load";
    const json_t *value = json_doc_at(doc->doc, *path);
    *load = 0;
    if (json_is_number(value))
        *load = json_number_value(value);
    else if (!is_mix)
        TRY(load_of_jobs(options, load));
    if (*load > 0)
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "the scenario has no load that could be scaled");
    error_set_hint(&error, "name a number with --largest PATH=LOW..HIGH");
    return error;
}

struct error setting_pool(const struct setting_doc *doc, const char *name, struct buffer *path)
{
    const json_t *pools = json_doc_at(doc->doc, "cluster.pools");
    struct error error = ERROR_OK;
    const size_t count = json_array_size(pools);
    if (name == NULL && count == 1)
        name = json_string_value(json_object_get(json_array_get(pools, 0), "name"));
    if (name == NULL)
        return error_new(ERROR_USAGE, count == 0 ? "the cluster has no pools whose nodes could be counted"
                                                 : "the cluster has several pools: name one with --nodes POOL");
    const size_t start = path->length;
    buffer_format(path, "cluster.pools.%s.nodes", name);
    if (json_doc_at(doc->doc, buffer_c_string(path) + start) == NULL)
        error = error_new(ERROR_USAGE, "the cluster has no pool '%s'", name);
    return error;
}
