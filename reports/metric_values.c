/* reports/metric_values.c -- the formulas of the metrics, and their JSON. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/metrics_inside.h"

/* By reason: the metric of the time that jobs waited for it; 0: there is none, because jobs do not wait for it. */
static const uint8_t wait_metrics[REASON_COUNT] = {
    [REASON_RESOURCES] = METRIC_WAIT_RESOURCES_JOB_H,
    [REASON_FRAGMENTATION] = METRIC_WAIT_FRAGMENTATION_JOB_H,
    [REASON_TOPOLOGY] = METRIC_WAIT_TOPOLOGY_JOB_H,
    [REASON_RESERVED_FOR_OTHER] = METRIC_WAIT_RESERVED_FOR_OTHER_JOB_H,
    [REASON_HEADROOM] = METRIC_WAIT_HEADROOM_JOB_H,
    [REASON_QUOTA_LIMIT] = METRIC_WAIT_QUOTA_LIMIT_JOB_H,
    [REASON_PRIORITY] = METRIC_WAIT_PRIORITY_JOB_H,
    [REASON_RESERVED] = METRIC_WAIT_RESERVED_JOB_H,
    [REASON_HELD] = METRIC_WAIT_HELD_JOB_H,
    [REASON_DEPENDENCY] = METRIC_WAIT_DEPENDENCY_JOB_H,
    [REASON_ARRAY_LIMIT] = METRIC_WAIT_ARRAY_LIMIT_JOB_H,
    [REASON_SCHEDULING] = METRIC_WAIT_SCHEDULING_JOB_H,
    [REASON_CONFIGURING] = METRIC_WAIT_CONFIGURING_JOB_H,
    [REASON_NEVER_FITS] = METRIC_WAIT_NEVER_FITS_JOB_H,
    [REASON_DEPENDENCY_NEVER] = METRIC_WAIT_DEPENDENCY_NEVER_JOB_H,
    [REASON_GANG_ON_SLICES] = METRIC_WAIT_GANG_ON_SLICES_JOB_H,
    [REASON_AFFINITY] = METRIC_WAIT_AFFINITY_JOB_H,
    [REASON_IDLE] = METRIC_WAIT_IDLE_JOB_H,
};

static const double ns_per_hour = 3600e9;

static double milli_ns_to_hours(wide_int milli_ns)
{
    return (double)milli_ns / (GPU_MILLI * ns_per_hour);
}

static uint64_t jobs_in_all(const struct tally *tally)
{
    uint64_t sum = 0;
    for (int state = 0; state < END_STATE_COUNT; state++)
        sum += tally->jobs[state];
    return sum;
}

static void fill_counts(const struct tally *tally, double *value)
{
    static const enum metric_id of_state[END_STATE_COUNT] = {
        [END_COMPLETED] = METRIC_JOBS_COMPLETED, [END_FAILED] = METRIC_JOBS_FAILED,
        [END_CANCELLED] = METRIC_JOBS_CANCELLED, [END_LIMIT] = METRIC_JOBS_LIMIT,
        [END_REJECTED] = METRIC_JOBS_REJECTED,   [END_PENDING] = METRIC_JOBS_PENDING,
        [END_RUNNING] = METRIC_JOBS_RUNNING,
    };
    for (int state = 0; state < END_STATE_COUNT; state++)
        value[of_state[state]] = (double)tally->jobs[state];
    const uint64_t submitted = jobs_in_all(tally), rejected = tally->jobs[END_REJECTED];
    value[METRIC_JOBS_SUBMITTED] = (double)submitted;
    value[METRIC_JOBS_ACCEPTED] = (double)(submitted - rejected);
    if (submitted > 0)
        value[METRIC_REJECTED_RATIO] = (double)rejected / (double)submitted;
    value[METRIC_PREEMPTIONS] = (double)tally->evictions;
    value[METRIC_EVICTIONS_WASTED] = (double)tally->evictions_wasted;
    for (int source = 0; source < RECORD_SOURCE_COUNT; source++)
        value[METRIC_ADMISSIONS_FREE + source] = (double)tally->admissions[source];
}

/* The metrics that every group has; the whole run has them too. */
static void fill_group(const struct group *group, bool has_prices, double *value)
{
    const struct tally *tally = &group->tally;
    uint64_t waited = jobs_in_all(tally) - tally->jobs[END_REJECTED];
    fill_counts(tally, value);
    if (waited > 0) {
        for (int i = 0; i < 3; i++)
            value[METRIC_QUEUE_TIME_P50_S + i] = time_to_seconds(group->wait.value[i]);
        value[METRIC_QUEUE_TIME_MEAN_S] = (double)tally->sums[SUM_WAIT_NS] / (double)waited / 1e9;
        value[METRIC_QUEUE_TIME_MAX_S] = time_to_seconds(tally->wait_ns_max);
        value[METRIC_ADMISSION_P99_S] = time_to_seconds(group->admission.value[0]);
    }
    if (tally->slowdowns > 0)
        value[METRIC_SLOWDOWN_BOUNDED_MEAN] = (double)tally->sums[SUM_SLOWDOWN_MICRO] / (double)tally->slowdowns / 1e6;
    if (tally->jobs[END_COMPLETED] > 0)
        value[METRIC_SLOWDOWN_BOUNDED_COMPLETED_MEAN] =
            (double)tally->sums[SUM_SLOWDOWN_COMPLETED_MICRO] / (double)tally->jobs[END_COMPLETED] / 1e6;
    value[METRIC_ASKED_GPU_H] = milli_ns_to_hours(tally->sums[SUM_ASKED_MILLI_NS]);
    value[METRIC_ALLOCATED_GPU_H] = milli_ns_to_hours(tally->sums[SUM_ALLOCATED_MILLI_NS]);
    if (has_prices)
        value[METRIC_HELD_COST_USD] = milli_ns_to_hours(tally->sums[SUM_COST_MILLI_NS_USD]) / 1e6;
    if (tally->sums[SUM_ALLOCATED_MILLI_NS] > 0)
        value[METRIC_GOODPUT_RATIO] =
            (double)tally->sums[SUM_KEPT_MILLI_NS] / (double)tally->sums[SUM_ALLOCATED_MILLI_NS];
    for (int reason = 0; reason < REASON_COUNT; reason++)
        if (tally->sums[SUM_WAITS_NS + reason] > 0 && wait_metrics[reason] != 0)
            value[wait_metrics[reason]] = (double)tally->sums[SUM_WAITS_NS + reason] / ns_per_hour;
    value[METRIC_LIMIT_GPU_H] = milli_ns_to_hours(tally->sums[SUM_LIMIT_MILLI_NS]);
    value[METRIC_LOST_GPU_H] = (double)tally->sums[SUM_LOST_GPU_NS] / ns_per_hour;
    value[METRIC_LOST_BY_PREEMPTION_GPU_H] = (double)tally->sums[SUM_PREEMPTED_GPU_NS] / ns_per_hour;
    if (tally->evictions > 0)
        value[METRIC_LOST_PER_EVICTION_S] = (double)tally->sums[SUM_LOST_GPU_NS] / 1e9 / (double)tally->evictions;
    sums_fill(group, value);
}

static double jain_fairness(const struct cut *queues)
{
    double sum = 0, sum_of_squares = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < queues->count; i++) {
        const struct tally *tally = &queues->groups[queues->order[i]].tally;
        if (tally->sums[SUM_ASKED_MILLI_NS] == 0)
            continue;
        double served = (double)tally->sums[SUM_ALLOCATED_MILLI_NS] / (double)tally->sums[SUM_ASKED_MILLI_NS];
        sum += served;
        sum_of_squares += served * served;
        count++;
    }
    return sum_of_squares > 0 ? sum * sum / ((double)count * sum_of_squares) : NAN;
}

/* |L - lambda W| / L; the length of the run cancels out. */
static double little_error(const struct metrics *metrics)
{
    if (metrics->sample_count == 0)
        return NAN;
    double pending_job_s = metrics->run_end.pending_job_s;
    double waits_s = (double)metrics->all_waits_ns / 1e9;
    if (pending_job_s > 0)
        return fabs(pending_job_s - waits_s) / pending_job_s;
    return waits_s > 0 ? 1 : 0;
}

static void fill_waterfall(const struct integrals *from, const struct integrals *to, double gpu_s, double *value)
{
    double spent[SPENT_COUNT], use[USE_COUNT];
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        spent[cause] = to->spent_gpu_s[cause] - from->spent_gpu_s[cause];
    for (int kind = 0; kind < USE_COUNT; kind++)
        use[kind] = to->use_gpu_s[kind] - from->use_gpu_s[kind];
    waterfall_of(spent, use, to->active_gpu_s - from->active_gpu_s, &value[METRIC_WATERFALL_FROM]);
    for (int part = 0; part < FALL_COUNT; part++)
        value[METRIC_WATERFALL_FROM + part] /= gpu_s;
}

static void fill_window(const struct metrics *metrics, double *value)
{
    const struct integrals *from = &metrics->window_start, *to = &metrics->window_end;
    double span_s = to->time_s - from->time_s;
    double gpu_s = metrics_gpu_s(metrics);
    value[METRIC_LITTLE_ERROR_RATIO] = little_error(metrics);
    if (!(span_s > 0))
        return;
    value[METRIC_QUEUE_LENGTH_MEAN] = (to->pending_job_s - from->pending_job_s) / span_s;
    value[METRIC_IDLE_RESERVED_GPU_H] = (to->reserved_gpu_s - from->reserved_gpu_s) / 3600;
    value[METRIC_PARTIAL_GANG_GPU_H] = (to->partial_gang_gpu_s - from->partial_gang_gpu_s) / 3600;
    for (int cause = 0; cause < SPENT_COUNT; cause++)
        value[METRIC_SPENT_FROM + cause] = (to->spent_gpu_s[cause] - from->spent_gpu_s[cause]) / 3600;
    if (to->spent_gpu_s[SPENT_ABSENT] == 0)
        value[METRIC_SPENT_FROM + SPENT_ABSENT] = NAN;
    if (!(gpu_s > 0))
        return;
    value[METRIC_USEFUL_RATIO] = value[METRIC_SPENT_FROM + SPENT_USEFUL] * 3600 / gpu_s;
    value[METRIC_ALLOCATION_RATIO] = (to->allocated_gpu_s - from->allocated_gpu_s) / gpu_s;
    if (!metrics->has_unknown_activity)
        value[METRIC_SM_ACTIVE_RATIO] = (to->active_gpu_s - from->active_gpu_s) / gpu_s;
    if (!metrics->has_unknown_activity)
        value[METRIC_GPU_UTIL_RATIO] = (to->use_gpu_s[USE_KERNEL] - from->use_gpu_s[USE_KERNEL]) / gpu_s;
    fill_waterfall(from, to, gpu_s, value);
    if (metrics->has_declared_activity)
        value[METRIC_IDLE_HELD_RATIO] = (to->idle_held_gpu_s - from->idle_held_gpu_s) / gpu_s;
    value[METRIC_IDLE_RESERVED_RATIO] = (to->reserved_gpu_s - from->reserved_gpu_s) / gpu_s;
    value[METRIC_DOWN_RATIO] = (to->down_gpu_s - from->down_gpu_s) / gpu_s;
}

static void fill_space(const struct metrics *metrics, double *value)
{
    const struct space_means *space = &metrics->space;
    const double gpus = metrics_gpus(metrics);
    double fragmented = 0;
    if (!(space->time_s > 0) || !(gpus > 0))
        return;
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++) {
        fragmented += space->fragmented[c];
        value[METRIC_FRAGMENTED_BY_FROM + c] = space->fragmented[c] / gpus;
    }
    value[METRIC_IDLE_RATIO] = space->idle / gpus;
    value[METRIC_STRANDED_RATIO] = space->stranded / gpus;
    value[METRIC_FGD_FRAGMENTATION_RATIO] = fragmented / gpus;
    if (space->idle > 0)
        value[METRIC_FGD_FRAGMENTATION_OF_IDLE_RATIO] = fragmented / space->idle;
    value[METRIC_LARGEST_GANG_GPUS] = space->gang;
    value[METRIC_MIG_SLICES_UNPLACEABLE] = space->slices;
}

static int compare_links(const void *a, const void *b)
{
    const struct link_use *x = a, *y = b;
    if (x->bytes_per_s != y->bytes_per_s)
        return x->bytes_per_s < y->bytes_per_s ? -1 : 1;
    return x->tier < y->tier ? -1 : x->tier > y->tier;
}

/* Rates weighted by GPU time.  The p10 is the lowest rate that at least a tenth of the GPU time does not exceed. */
static void fill_links(const struct metrics *metrics, double *value)
{
    wide_int all = 0, seen = 0;
    double sum = 0;
    if (metrics->link_count > 1)
        qsort(metrics->links, metrics->link_count, sizeof *metrics->links, compare_links);
    for (size_t i = 0; i < metrics->link_count; i++)
        all += metrics->links[i].milli_ns;
    if (all == 0)
        return;
    for (int tier = LINK_NVLINK; tier < LINK_TIER_COUNT; tier++)
        value[METRIC_GANG_LINKS_FROM + tier - LINK_NVLINK] = 0;
    for (size_t i = 0; i < metrics->link_count; i++) {
        const struct link_use *use = &metrics->links[i];
        const double share = (double)use->milli_ns / (double)all, rate = (double)use->bytes_per_s / 1e9;
        if (seen * 10 < all && (seen + use->milli_ns) * 10 >= all)
            value[METRIC_GANG_LINK_GB_PER_S_P10] = rate;
        seen += use->milli_ns;
        sum += share * rate;
        value[METRIC_GANG_LINKS_FROM + use->tier - LINK_NVLINK] += share;
    }
    value[METRIC_GANG_LINK_GB_PER_S_MEAN] = sum;
}

time_ns metrics_until(const struct run_facts *facts)
{
    return facts->measured_until > 0 ? facts->measured_until : facts->end;
}

static void fill_cost(const struct metrics *metrics, const struct tally *tally, double *value)
{
    const struct run_facts *facts = &metrics->facts;
    time_ns until = metrics_until(facts);
    if (!(facts->price_usd_per_gpu_h > 0) || until <= facts->warmup)
        return;
    double hours = (double)(until - facts->warmup) / ns_per_hour;
    double cost_usd = facts->price_usd_per_gpu_h * metrics_gpus(metrics) * hours;
    value[METRIC_COST_USD] = cost_usd;
    if (tally->jobs[END_COMPLETED] > 0)
        value[METRIC_COST_PER_JOB_USD] = cost_usd / (double)tally->jobs[END_COMPLETED];
}

static void fill_loop(const struct loop_facts *loop, double *value)
{
    if (!loop->is_closed)
        return;
    value[METRIC_CLOSED_LOOP_JOBS] = (double)loop->followed;
    value[METRIC_CLOSED_LOOP_HELD] = (double)loop->held_back;
    value[METRIC_CLOSED_LOOP_SHIFT_MEAN_S] = loop->shift_mean_s;
    value[METRIC_CLOSED_LOOP_SHIFT_ABS_MEAN_S] = loop->shift_abs_mean_s;
}

/* A batch is compared with its lower bound if all of its work was done. */
static void fill_makespan(const struct metrics *metrics, const struct tally *tally, double *value)
{
    const struct offered_load *offered = &metrics->facts.offered;
    if (metrics->end_max > metrics->submit_min)
        value[METRIC_MAKESPAN_S] = time_to_seconds(metrics->end_max - metrics->submit_min);
    if (offered->kind != OFFERED_BATCH)
        return;
    value[METRIC_MAKESPAN_BOUND_S] = offered->bound_s;
    if (offered->jobs == tally->jobs[END_COMPLETED] + tally->jobs[END_FAILED] + tally->jobs[END_CANCELLED])
        value[METRIC_MAKESPAN_OVER_BOUND] = value[METRIC_MAKESPAN_S] / offered->bound_s;
}

static void fill_whole(const struct metrics *metrics, double *value)
{
    const struct group *all = &metrics->cuts[CUT_ALL].groups[0];
    const struct group *inference = &metrics->cuts[CUT_CLASS].groups[JOB_INFERENCE];
    fill_group(all, metrics->has_prices, value);
    value[METRIC_ADMISSION_P99_S] =
        inference->admission.found == 0 ? NAN : time_to_seconds(inference->admission.value[0]);
    value[METRIC_JAIN_FAIRNESS] = jain_fairness(&metrics->cuts[CUT_QUEUE]);
    value[METRIC_OFFERED_LOAD_RATIO] = metrics->facts.offered.ratio;
    fill_makespan(metrics, &all->tally, value);
    fill_window(metrics, value);
    fill_space(metrics, value);
    fill_links(metrics, value);
    if (!metrics->facts.loop.is_closed) /* its jobs have other recorded starts than their rows tell */
        recorded_load_fill(metrics, metrics_until(&metrics->facts), value);
    fill_loop(&metrics->facts.loop, value);
    fill_cost(metrics, &all->tally, value);
}

static void take_values(struct metric *to, const double *value, int from)
{
    for (int m = from; m < METRIC_COUNT; m++) {
        to[m - from] = metric_table[m];
        to[m - from].value = value[m];
    }
}

void metric_values_fill(struct metrics *metrics)
{
    for (enum cut_kind kind = CUT_ALL; kind < CUT_COUNT; kind++) {
        struct cut *cut = &metrics->cuts[kind];
        int from = kind == CUT_ALL ? 0 : METRIC_CUTS_FROM;
        size_t groups = kind == CUT_ALL ? 1 : cut->count; /* the whole run has metrics even without jobs */
        size_t per_group = (size_t)(METRIC_COUNT - from);
        cut->metrics = mem_zalloc(groups * per_group, sizeof *cut->metrics);
        for (size_t i = 0; i < groups; i++) {
            double value[METRIC_COUNT];
            for (int m = 0; m < METRIC_COUNT; m++)
                value[m] = NAN;
            if (kind == CUT_ALL)
                fill_whole(metrics, value);
            else
                fill_group(&cut->groups[cut->order[i]], metrics->has_prices, value);
            take_values(&cut->metrics[i * per_group], value, from);
        }
    }
}

const struct metric *metrics_all(const struct metrics *metrics, size_t *count)
{
    assert(metrics->is_finished);
    *count = METRIC_COUNT;
    return metrics->cuts[CUT_ALL].metrics;
}

const char *metrics_wait_name(enum reason reason)
{
    return wait_metrics[reason] != 0 ? metric_table[wait_metrics[reason]].name : NULL;
}

double metrics_value(const struct metrics *metrics, const char *name)
{
    assert(metrics->is_finished);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (strcmp(metric_table[m].name, name) == 0)
            return metrics->cuts[CUT_ALL].metrics[m].value;
    return NAN;
}

/* ---- JSON ---- */

/* Of names and units, which need no escapes; written for each key of each cut, so without buffer_members. */
static void write_group(const struct metric *metrics, size_t count, const char *indent, struct buffer *out)
{
    const char *separator = "";
    buffer_char(out, '{');
    for (size_t m = 0; m < count; m++) {
        if (!isfinite(metrics[m].value))
            continue;
        buffer_format(out, "%s\n%s\"%s\": {\"value\": ", separator, indent, metrics[m].name);
        buffer_double(out, metrics[m].value);
        buffer_format(out, ", \"unit\": \"%s\", \"better\": \"%s\"}", metrics[m].unit, better_names[metrics[m].better]);
        separator = ",";
    }
    buffer_char(out, '}');
}

/* "arrived_pct": {"1": {"allocation_ratio": ...}, ...}; only if the workload fills the cluster. */
static void write_arrived(const struct metrics *metrics, struct buffer *out)
{
    const struct arrived_row *rows = metrics->arrived;
    if (metrics->arrived_count == 0)
        return;
    buffer_string(out, ",\n \"" METRICS_ARRIVED "\": {");
    for (size_t i = 0; i < metrics->arrived_count; i++) {
        struct metric values[] = {metric_table[METRIC_ALLOCATION_RATIO], metric_table[METRIC_FGD_FRAGMENTATION_RATIO]};
        values[0].value = rows[i].allocation_ratio;
        values[1].value = rows[i].fragmentation_ratio;
        buffer_members(out, ",\n  '%u': ", rows[i].percent);
        write_group(values, sizeof values / sizeof values[0], "   ", out);
    }
    buffer_char(out, '}');
}

/* "gpu_model_asked": {"a10": {"offered_load_ratio": ..., "asked_gpu_h": ...}}; only if there are several models. */
static void write_model_loads(const struct metrics *metrics, struct buffer *out)
{
    struct model_load loads[METRICS_MODEL_LOADS_MAX];
    const size_t count = metrics_model_loads(metrics, loads);
    if (count == 0)
        return;
    buffer_string(out, ",\n \"" METRICS_MODELS_ASKED "\": {");
    for (size_t i = 0; i < count; i++) {
        struct metric values[] = {metric_table[METRIC_OFFERED_LOAD_RATIO], metric_table[METRIC_ASKED_GPU_H]};
        values[0].value = loads[i].ratio;
        values[1].value = loads[i].asked_gpu_h;
        buffer_members(out, ",\n  %s: ", loads[i].name);
        write_group(values, sizeof values / sizeof values[0], "   ", out);
    }
    buffer_char(out, '}');
}

void metrics_write_json(const struct metrics *metrics, struct buffer *out)
{
    size_t count;
    const struct metric *all = metrics_all(metrics, &count);
    buffer_string(out, "\"metrics\": ");
    write_group(all, count, " ", out);
    buffer_string(out, ",\n\"by\": {");
    for (int c = 0; metrics_cut_names[c] != NULL; c++) {
        buffer_members(out, ",\n %s: {", metrics_cut_names[c]);
        const char *key;
        for (size_t i = 0; (key = metrics_cut_key(metrics, metrics_cut_names[c], i)) != NULL; i++) {
            buffer_members(out, ",\n  %s: ", key);
            const struct metric *cut = metrics_cut(metrics, metrics_cut_names[c], i, &count);
            write_group(cut, count, "   ", out);
        }
        buffer_char(out, '}');
    }
    write_model_loads(metrics, out);
    write_arrived(metrics, out);
    buffer_char(out, '}');
}
