/* windtunnel validate: read everything a run would read, and say what would happen. */
#include <math.h>

#include "policies/census/fits.h"
#include "reports/validation_show.h"
#include "reports/view.h"
#include "studies/run/alone.h"
#include "studies/run/assumptions.h"
#include "studies/run/lengths.h"
#include "studies/run/run.h"
#include "studies/run/unmeasured.h"
#include "studies/run/unread.h"
#include "tools/verbs.h"
#include "workloads/readers/unit_question.h"

enum { MODEL_NAME_MAX = 24 };
enum { JOB_BYTES = 24 }; /* memory of metrics per job; see reports/metrics.h */

struct plan {
    struct scenario scenario;
    struct job_source *source;
    struct survey seen;
    struct offered_load offered;
    struct sched *sched; /* only asked which jobs never fit */
    struct fits *fits;
    struct lengths_told lengths;
    struct alone alone;
    struct assumed_list assumed;
    struct unmeasured unmeasured;
};

static void on_job(void *self, const struct job *job, const struct job_truth *truth)
{
    struct plan *plan = self;
    plan->lengths.jobs++;
    plan->lengths.limits += job->limit != TIME_NEVER;
    plan->lengths.estimates +=
        job->estimate != TIME_NEVER || plan->scenario.world.estimates.kind != ESTIMATES_AS_DECLARED;
    alone_add(&plan->alone, job);
    fits_add(plan->fits, job);
    if (plan->scenario.world.network != NETWORK_FREE)
        unmeasured_add(&plan->unmeasured, job, truth);
}

/* As a run would count them. */
static struct error read_jobs(struct plan *plan)
{
    const struct scenario *scenario = &plan->scenario;
    const struct workload_facts *facts = job_source_facts(plan->source);
    struct survey *seen = &plan->seen;
    offered_sum in_service[CLUSTER_MODELS_MAX];
    offered_begin(&seen->offered, workload_arrivals(facts), scenario->cluster, scenario->world.end);
    plan->unmeasured.cluster = scenario->cluster;
    seen->on_job = on_job;
    seen->self = plan;
    TRY(survey_read(seen, plan->source));
    capacity_gpu_time(&scenario->world.capacity, scenario->cluster, facts, seen->offered.first, seen->offered.last,
                      in_service);
    plan->offered = offered_end(&seen->offered, in_service);
    return ERROR_OK;
}

static struct error read_plan(struct plan *plan, const struct scenario_options *options)
{
    struct error error = ERROR_OK;
    struct arena arena = {0};
    struct service_levels levels;
    struct gates gates;
    TRY(scenario_load(&plan->scenario, options));
    error = run_service_levels(&plan->scenario, &arena, &levels);
    if (!error_is(error))
        error = run_gates(&plan->scenario, &arena, &gates);
    arena_release(&arena);
    TRY(error);
    TRY(scenario_open(&plan->scenario, &plan->source));
    plan->sched = sched_new(plan->scenario.cluster, job_source_queues(plan->source), &plan->scenario.policy, &error);
    TRY(error);
    plan->fits = fits_new(plan->sched);
    alone_init(&plan->alone, plan->scenario.cluster, job_source_queues(plan->source), &plan->scenario.policy);
    TRY(read_jobs(plan));
    assumptions_find(&plan->scenario, plan->source, false, &plan->assumed);
    return ERROR_OK;
}

static void release(struct plan *plan)
{
    unmeasured_release(&plan->unmeasured);
    survey_release(&plan->seen);
    fits_free(plan->fits);
    sched_free(plan->sched);
    job_source_close(plan->source);
    scenario_release(&plan->scenario);
}

/* ---- What never fits, and what is never used ---- */

static uint64_t never_fit(const struct plan *plan)
{
    return plan->seen.jobs - fits_count(plan->fits, FITS);
}

/* The GPUs of the pool that no job can use, by reason; returns their number. */
static uint64_t unusable_of(const struct plan *plan, uint32_t pool, uint64_t count[UNUSED_COUNT])
{
    const struct node_pool *nodes = &plan->scenario.cluster->pools[pool];
    uint32_t per_node[UNUSED_COUNT];
    uint64_t sum = 0;
    fits_unusable(plan->fits, nodes->type, per_node);
    for (int why = 0; why < UNUSED_COUNT; why++) {
        count[why] = (uint64_t)per_node[why] * nodes->node_count;
        sum += count[why];
    }
    return sum;
}

static uint64_t unusable(const struct plan *plan)
{
    uint64_t count[UNUSED_COUNT], sum = 0;
    for (uint32_t p = 0; p < plan->scenario.cluster->pool_count; p++)
        sum += unusable_of(plan, p, count);
    return sum;
}

/* ---- What is told beside the plan ---- */

static void add_line(void *self, const char *text)
{
    struct buffer *out = self;
    buffer_format(out, "%s\n", text);
}

/* What has no effect, what is questioned, and what would wait for ever: a sentence a line. */
static void write_warnings(struct plan *plan, struct buffer *out)
{
    const struct alone *alone = &plan->alone;
    if (unit_question(&plan->seen, job_source_facts(plan->source), out))
        buffer_char(out, '\n');
    unread_list(&plan->scenario, plan->source, add_line, out);
    unmeasured_list(&plan->scenario, plan->source, add_line, out);
    if (alone->waiting > 0)
        buffer_format(out, "%llu of %llu jobs would wait for ever, even alone on this cluster.  Job %s: %s\n",
                      (unsigned long long)alone->waiting, (unsigned long long)plan->seen.jobs, alone->first,
                      alone->text);
}

static void json_warnings(struct plan *plan, struct buffer *out)
{
    struct buffer lines = {0};
    write_warnings(plan, &lines);
    struct text rest = {lines.bytes, lines.length}, line;
    buffer_members(out, ",\n 'wait_for_ever': %llu,\n 'warnings': [", (unsigned long long)plan->alone.waiting);
    while (rest.length > 0 && text_cut(&rest, '\n', &line)) {
        buffer_members(out, ", ");
        buffer_json(out, line);
    }
    buffer_char(out, ']');
    buffer_release(&lines);
}

static void say_warnings(struct plan *plan)
{
    struct buffer lines = {0};
    write_warnings(plan, &lines);
    struct text rest = {lines.bytes, lines.length}, line;
    while (rest.length > 0 && text_cut(&rest, '\n', &line))
        tool_say("warning: %.*s\n", (int)line.length, line.at);
    buffer_release(&lines);
}

/* ---- As text ---- */

static void write_never_fit(const struct plan *plan, struct buffer *out)
{
    const char *before = ": ";
    if (never_fit(plan) == 0)
        return;
    buffer_format(out, "never fit %llu of %llu jobs", (unsigned long long)never_fit(plan),
                  (unsigned long long)plan->seen.jobs);
    for (int why = FITS + 1; why < FIT_COUNT; why++) {
        const uint64_t jobs = fits_count(plan->fits, (enum fit)why);
        if (jobs == 0)
            continue;
        buffer_format(out, "%s%llu %s", before, (unsigned long long)jobs, fit_names[why]);
        before = ", ";
    }
    buffer_char(out, '\n');
}

static void write_unusable(const struct plan *plan, struct buffer *out)
{
    const struct cluster *cluster = plan->scenario.cluster;
    const uint64_t all = unusable(plan);
    const char *before = ": ";
    if (all == 0)
        return;
    buffer_format(out, "unusable  %llu of %u GPUs, by no job", (unsigned long long)all, cluster->gpu_count);
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        uint64_t count[UNUSED_COUNT];
        unusable_of(plan, p, count);
        for (int why = 0; why < UNUSED_COUNT; why++) {
            if (count[why] == 0)
                continue;
            buffer_format(out, "%s%llu of pool %s (%s)", before, (unsigned long long)count[why], cluster->pools[p].name,
                          unused_names[why]);
            before = ", ";
        }
    }
    buffer_char(out, '\n');
}

/* As a run tells them (reports/view.h). */
static void write_loads(const struct plan *plan, struct buffer *out)
{
    const struct offered_load *load = &plan->offered;
    const uint32_t count = isfinite(load->ratio) ? load->part_count : 0;
    for (uint32_t p = 0; p < count; p++) {
        const struct offered_part *part = &load->parts[p];
        const bool is_any = part->model == JOB_MODEL_ANY;
        buffer_string(out, p == 0 ? "by model  " : ", ");
        view_percent(out, offered_part_ratio(load, part));
        buffer_format(out, is_any ? " of all %llu GPUs by jobs that several models would do for" : " of the %llu GPUs ",
                      (unsigned long long)part->gpus);
        if (!is_any)
            view_name(out, plan->scenario.cluster->models[part->model].name, MODEL_NAME_MAX);
    }
    if (count > 0)
        buffer_char(out, '\n');
}

/* What world.end does to the arrivals. */
static void write_end(const struct plan *plan, struct buffer *out)
{
    const struct world_config *world = &plan->scenario.world;
    const double end_s = time_to_seconds(world->end);
    const uint64_t later = plan->seen.jobs - plan->offered.jobs;
    if (world->end == TIME_NEVER)
        return;
    if (later > 0)
        view_words(out, "end       %g of %g jobs come after world.end, %E, and are left out\n", (double)later,
                   (double)plan->seen.jobs, end_s);
    else if (view_has_tail(&plan->offered, time_to_seconds(world->warmup), end_s))
        view_words(out, "end       no job comes after %E, but GPU time is measured until world.end, %E\n",
                   plan->offered.last_s, end_s);
}

static void write_work(const struct plan *plan, struct buffer *out)
{
    const struct cluster *cluster = plan->scenario.cluster;
    const struct workload_facts *facts = job_source_facts(plan->source);
    if (facts->is_filling) {
        buffer_format(out, "fill      the jobs ask %.3f of the cluster's GPUs, and none goes\n",
                      survey_total(&plan->seen.gpus_milli, GPU_MILLI) / cluster->gpu_count);
        return;
    }
    struct buffer told = {0};
    if (view_offered(&told, &plan->offered)) {
        buffer_format(out, "arrivals  %s", buffer_c_string(&told));
        if (facts->duration_factor != 1 || facts->arrival_factor != 1)
            buffer_format(out, " (%s x %.4f)", facts->duration_factor != 1 ? "run times" : "gaps",
                          facts->duration_factor != 1 ? facts->duration_factor : facts->arrival_factor);
        buffer_char(out, '\n');
    }
    buffer_release(&told);
    write_loads(plan, out);
    write_end(plan, out);
    if (!(facts->gpu_h_per_day > 0))
        return;
    buffer_format(out, "work      %.0f GPU hours a day", facts->gpu_h_per_day);
    if (facts->load_gpus > 0)
        buffer_format(out, ", from a load of %u GPUs", facts->load_gpus);
    buffer_char(out, '\n');
}

static uint64_t declared(const struct plan *plan)
{
    uint64_t jobs = 0;
    for (uint32_t i = 0; i < plan->seen.communication_count; i++)
        jobs += plan->seen.communications[i].jobs;
    return jobs;
}

static void write_communication(const struct plan *plan, struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(plan->source);
    if (facts->declared_row_count == 0 && declared(plan) == 0)
        return;
    buffer_format(out, "exchange  %llu jobs declare communication", (unsigned long long)declared(plan));
    for (uint32_t i = 0; i < plan->seen.communication_count; i++)
        buffer_format(out, "%s%llu %s", i == 0 ? ": " : ", ", (unsigned long long)plan->seen.communications[i].jobs,
                      plan->seen.communications[i].name);
    if (facts->declared_row_count > 0)
        buffer_format(out, "; %llu of them by a row of workload.communication",
                      (unsigned long long)(declared(plan) - facts->declared_count));
    buffer_char(out, '\n');
}

/* At best places; a run tells where they stood. */
static void write_unmeasured(const struct plan *plan, struct buffer *out)
{
    const struct validation *validation = &plan->unmeasured.validation;
    if (validation->outside_jobs == 0)
        return;
    buffer_string(out, "outside   of what was measured: ");
    validation_brief(validation, out);
    for (uint32_t r = 0; r < validation->reason_count; r++) {
        const struct validation_reason *reason = &validation->reasons[r];
        view_words(out, "\n          %s: %g job%s, ", reason->axis, (double)reason->jobs, reason->jobs == 1 ? "" : "s");
        validation_far(reason, out);
        buffer_string(out, ", job ");
        view_name(out, reason->job, MODEL_NAME_MAX);
    }
    buffer_char(out, '\n');
}

static void write_text(const struct plan *plan, struct buffer *out)
{
    const struct cluster *cluster = plan->scenario.cluster;
    const struct workload_facts *facts = job_source_facts(plan->source);
    buffer_format(out, "cluster   %s: %u nodes of %u type%s, %u GPUs\n", cluster->name, cluster->node_count,
                  cluster->type_count, cluster->type_count == 1 ? "" : "s", cluster->gpu_count);
    buffer_format(out, "workload  %s, %llu jobs over %.1f days, largest %lld GPUs\n",
                  plan->scenario.workload.trace != NULL    ? plan->scenario.workload.trace
                  : plan->scenario.workload.part_count > 0 ? "merged"
                  : plan->scenario.workload.synth != NULL  ? "synthesized"
                                                           : "drawn from a model",
                  (unsigned long long)plan->seen.jobs, time_to_seconds(plan->seen.last_submit) / 86400,
                  (long long)((plan->seen.gpu_milli_max + GPU_MILLI - 1) / GPU_MILLI));
    write_work(plan, out);
    write_communication(plan, out);
    write_unmeasured(plan, out);
    if (facts->bad_line_count > 0)
        buffer_format(out, "skipped   %llu unreadable lines\n", (unsigned long long)facts->bad_line_count);
    write_never_fit(plan, out);
    write_unusable(plan, out);
    buffer_format(out, "policy    %s\n", plan->scenario.policy.name);
    buffer_format(out, "memory    about %.0f MB for metrics\n", (double)plan->seen.jobs * JOB_BYTES / 1e6);
    struct show *show = show_new(NULL);
    assumed_show(show, &plan->assumed);
    show_text(show, out);
    show_free(show);
}

/* ---- As JSON ---- */

static void json_never_fit(const struct plan *plan, struct buffer *out)
{
    buffer_members(out, ",\n 'never_fit': {'jobs': %llu, 'by': {", (unsigned long long)never_fit(plan));
    for (int why = FITS + 1; why < FIT_COUNT; why++) {
        const uint64_t jobs = fits_count(plan->fits, (enum fit)why);
        if (jobs > 0)
            buffer_members(out, ", %s: %llu", fit_names[why], (unsigned long long)jobs);
    }
    buffer_string(out, "}}");
}

static void json_unusable(const struct plan *plan, struct buffer *out)
{
    const struct cluster *cluster = plan->scenario.cluster;
    buffer_members(out, ",\n 'unusable': {'gpus': %llu, 'by': [", (unsigned long long)unusable(plan));
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        uint64_t count[UNUSED_COUNT];
        unusable_of(plan, p, count);
        for (int why = 0; why < UNUSED_COUNT; why++)
            if (count[why] > 0)
                buffer_members(out, ", {'pool': %s, 'why': %s, 'gpus': %llu}", cluster->pools[p].name,
                               unused_names[why], (unsigned long long)count[why]);
    }
    buffer_string(out, "]}");
}

static void json_workload(const struct plan *plan, struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(plan->source);
    const uint32_t gpus = plan->scenario.cluster->gpu_count;
    buffer_members(out, ",\n 'workload': {'jobs': %llu, 'span_s': %g, 'largest_gpus': %g",
                   (unsigned long long)plan->seen.jobs, time_to_seconds(plan->seen.last_submit),
                   (double)plan->seen.gpu_milli_max / GPU_MILLI);
    if (facts->is_filling) {
        buffer_members(out, ", 'fill': %g", survey_total(&plan->seen.gpus_milli, GPU_MILLI) / gpus);
    } else {
        const struct offered_names names = offered_names_of(plan->scenario.cluster);
        buffer_members(out, ", 'offered_load': ");
        offered_json(&plan->offered, names.of, out);
    }
    if (facts->load_gpus > 0)
        buffer_members(out, ", 'load_gpus': %u", facts->load_gpus);
    if (facts->gpu_h_per_day > 0)
        buffer_members(out, ", 'gpu_hours_per_day': %g", facts->gpu_h_per_day);
    buffer_members(out, ", 'bad_lines': %llu}", (unsigned long long)facts->bad_line_count);
}

static void json_communication(const struct plan *plan, struct buffer *out)
{
    const struct workload_facts *facts = job_source_facts(plan->source);
    if (facts->declared_row_count == 0 && declared(plan) == 0)
        return;
    buffer_members(out, ",\n 'communication': {'jobs': %llu, 'by_name': {", (unsigned long long)declared(plan));
    for (uint32_t i = 0; i < plan->seen.communication_count; i++)
        buffer_members(out, ", %s: %llu", plan->seen.communications[i].name,
                       (unsigned long long)plan->seen.communications[i].jobs);
    buffer_members(out, "}, 'by_job': %llu, 'by_row': [", (unsigned long long)facts->declared_count);
    for (uint32_t i = 0; i < facts->declared_row_count; i++)
        buffer_members(out, ", %llu", (unsigned long long)facts->declared_by_row[i]);
    buffer_string(out, "]}");
}

static void write_json(struct plan *plan, struct buffer *out)
{
    const struct cluster *cluster = plan->scenario.cluster;
    buffer_members(out, "{'cluster': {'name': %s, 'nodes': %u, 'gpus': %u}", cluster->name, cluster->node_count,
                   cluster->gpu_count);
    json_workload(plan, out);
    json_communication(plan, out);
    if (plan->unmeasured.validation.jobs > 0) {
        buffer_members(out, ",\n 'validation': ");
        validation_json(&plan->unmeasured.validation, out);
    }
    json_never_fit(plan, out);
    json_unusable(plan, out);
    json_warnings(plan, out);
    buffer_members(out, ",\n 'assumed': ");
    assumed_json(&plan->assumed, out);
    buffer_members(out, ",\n 'policy': %s}\n", plan->scenario.policy.name);
}

int verb_validate(const struct args *args)
{
    struct scenario_options options = tool_scenario_options(args);
    struct plan plan = {0};
    struct buffer out = {0};
    struct error error = read_plan(&plan, &options);
    if (!error_is(error)) {
        if (args_flag(args, "resolved"))
            buffer_format(&out, "%s\n", plan.scenario.resolved);
        else if (args_flag(args, "json"))
            write_json(&plan, &out);
        else
            write_text(&plan, &out);
        say_warnings(&plan);
    }
    struct buffer text = {0};
    if (!error_is(error) && lengths_say(&plan.scenario, &plan.lengths, &text))
        tool_say("warning: %s\n", buffer_c_string(&text));
    buffer_release(&text);
    release(&plan);
    return error_is(error) ? tool_fail(&error) : tool_print(&out);
}
