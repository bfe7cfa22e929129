#include "tests/support/told.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "reports/waterfall.h"
#include "tests/support/spent.h"

static char why[512]; /* the law that broke; "": none */

void broken(const char *format, ...)
{
    va_list args;
    if (why[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
}

const char *told_broken(void)
{
    return why;
}

void told_forget(void)
{
    why[0] = '\0';
}

/* ---- Rows ---- */

static void make_room(struct told *told, job_id id)
{
    MEM_GROW(told->jobs, told->job_capacity, (size_t)id + 1);
    MEM_GROW(told->texts, told->text_capacity, (size_t)id + 1);
    MEM_GROW(told->job_rows, told->row_capacity, (size_t)id + 1);
    if (id >= told->id_end)
        told->id_end = id + 1;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text != NULL ? hash_bytes(text, strlen(text), hash) : hash;
}

#define MIX(hash, value) ((hash) = hash_bytes(&(value), sizeof(value), (hash)))

static struct error on_job(void *self, const struct job_row *row)
{
    struct told *told = self;
    make_room(told, row->id);
    if (told->job_rows[row->id]++ > 0)
        broken("job %u has two rows", row->id);
    uint64_t hash = hash_text(hash_text(hash_text(1, row->name), row->queue), row->user);
    hash = hash_text(hash_text(hash_text(hash, row->workload_class), row->communication), row->activity);
    for (uint32_t left = row->waits != NULL ? row->waits->mask : 0; left != 0; left &= left - 1) {
        hash = hash_mix(hash, (uint64_t)__builtin_ctz(left));
        MIX(hash, row->waits->of[__builtin_ctz(left)]);
    }
    if (row->lost != NULL)
        MIX(hash, *row->lost);
    if (row->faults != NULL)
        MIX(hash, *row->faults);
    if (row->pulls != NULL)
        MIX(hash, *row->pulls);
    if (row->idle != NULL)
        MIX(hash, *row->idle);
    told->texts[row->id] = hash;
    const time_ns waited = row->state == END_REJECTED ? row->end - row->submit : row->wait_total;
    if (row->waits != NULL && wait_times_sum(row->waits) != waited)
        broken("job %u: its waits by reason do not add up to its wait", row->id);
    told->jobs[row->id] = *row;
    told->jobs[row->id].queue = names_text(told->queues, names_add(told->queues, text_of(row->queue)));
    return ERROR_OK;
}

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct told *told = self;
    make_room(told, row->id);
    uint64_t hash = hash_text(row->id, row->placement);
    const int64_t values[] = {row->attempt,         row->start, row->end,  row->gpu_milli,  row->why,
                              row->reason,          row->saved, row->lost, row->is_partial, row->link_tier,
                              row->link_bytes_per_s};
    MIX(hash, values);
    MEM_GROW(told->hashes, told->hash_capacity, told->attempt_count + 1);
    MEM_GROW(told->attempts, told->attempt_capacity, told->attempt_count + 1);
    told->hashes[told->attempt_count] = hash;
    told->attempts[told->attempt_count] = *row;
    told->attempts[told->attempt_count++].placement = NULL;
    return ERROR_OK;
}

/* The steps from all GPU time down to SM activity (reports/waterfall.h). */
static void check_steps(const struct timeline_row *row)
{
    double spent[SPENT_COUNT], use[USE_COUNT], steps[FALL_COUNT], all = 0, sum = 0;
    for (int cause = 0; cause < SPENT_COUNT; cause++) {
        spent[cause] = (double)row->spent[cause] / 1e9;
        all += cause != SPENT_ABSENT ? spent[cause] : 0;
    }
    for (int kind = 0; kind < USE_COUNT; kind++)
        use[kind] = (double)row->use_us[kind] / 1e6;
    const double slack = 1e-9 * all + 1e-5;
    waterfall_of(spent, use, row->active_gpu_s, steps);
    for (int step = 0; step < FALL_COUNT; step++) {
        if (!(steps[step] >= 0))
            broken("at %.9f s step %d is %.9g", time_to_seconds(row->time), step, steps[step]);
        sum += steps[step];
    }
    if (fabs(sum - all) > slack)
        broken("at %.9f s the steps add up to %.9f of %.9f GPU s", time_to_seconds(row->time), sum, all);
    const double held = all - spent[SPENT_IDLE] - spent[SPENT_RESERVED] - spent[SPENT_REPARTITION] -
                        spent[SPENT_RESTART] - use[USE_UNCOVERED];
    if (use[USE_WAITED] > spent[SPENT_IDLE] + slack || use[USE_UNCOVERED] > spent[SPENT_SLICED] + slack ||
        use[USE_KERNEL] > all + spent[SPENT_ABSENT] + slack)
        broken("at %.9f s more GPUs are waited for, cut away or in use than there are", time_to_seconds(row->time));
    if (use[USE_HOST] + use[USE_NETWORK] + use[USE_UNKNOWN] > held * (1 + 1e-6) + slack)
        broken("at %.9f s jobs held %.9f GPU s, of which %.9f are at hosts, %.9f on the network and %.9f not known",
               time_to_seconds(row->time), held, use[USE_HOST], use[USE_NETWORK], use[USE_UNKNOWN]);
}

static struct error on_sample(void *self, const struct timeline_row *row)
{
    struct told *told = self;
    check_steps(row);
    const char *wrong = spent_complaint(row, told->gpu_count);
    if (wrong != NULL)
        broken("at %.9f s %s", time_to_seconds(row->time), wrong);
    MEM_GROW(told->samples, told->sample_capacity, told->sample_count + 1);
    told->samples[told->sample_count++] = *row;
    return ERROR_OK;
}

void told_open(struct told *told, uint64_t gpu_count)
{
    *told = (struct told){.gpu_count = gpu_count, .metrics = metrics_new(), .queues = names_new()};
}

void told_release(struct told *told)
{
    mem_free(told->jobs);
    mem_free(told->texts);
    mem_free(told->job_rows);
    mem_free(told->hashes);
    mem_free(told->attempts);
    mem_free(told->samples);
    metrics_free(told->metrics);
    names_free(told->queues);
    error_release(&told->result.stall);
}

struct record_sink told_sink(struct told *told)
{
    return (struct record_sink){.self = told, .on_job = on_job, .on_attempt = on_attempt, .on_sample = on_sample};
}

/* ---- Two runs ---- */

/* The numbers of a row, in the order of these names. */
static const char *const value_names[TOLD_VALUES] = {"class",
                                                     "priority",
                                                     "gpus",
                                                     "members",
                                                     "model",
                                                     "submit_s",
                                                     "eligible_s",
                                                     "start_s",
                                                     "end_s",
                                                     "state",
                                                     "reason",
                                                     "wait_s",
                                                     "wait_total_s",
                                                     "run_s",
                                                     "work_s",
                                                     "work_asked_s",
                                                     "evictions",
                                                     "lost_gpu_s",
                                                     "overhead_gpu_s",
                                                     "sm_active_ratio",
                                                     "is_counted",
                                                     "source",
                                                     "resizes",
                                                     "held_gpu_s",
                                                     "held_gpu_s",
                                                     "preempted_gpu_s",
                                                     "evictions_wasted",
                                                     "exposed_gpu_s",
                                                     "slowed_gpu_s",
                                                     "network_gpu_s",
                                                     "network_gb_per_s",
                                                     "planned_gpu_s",
                                                     "mfu_ratio",
                                                     "active_gpu_s",
                                                     "idle_held_gpu_s",
                                                     "limit_s",
                                                     "estimate_s",
                                                     "deadline_s",
                                                     "recorded_wait_s"};

void told_values_of(const struct job_row *row, int64_t values[TOLD_VALUES])
{
    const int64_t all[] = {row->class,
                           row->priority,
                           row->gpu_milli,
                           row->members,
                           row->model,
                           row->submit,
                           row->eligible,
                           row->start,
                           row->end,
                           row->state,
                           row->reason,
                           row->wait,
                           row->wait_total,
                           row->run,
                           row->work,
                           row->work_asked,
                           row->evictions,
                           row->lost_gpu_ns,
                           row->overhead_gpu_ns,
                           row->sm_active_milli,
                           row->is_counted,
                           row->source,
                           row->resizes,
                           (int64_t)(row->held_milli_ns / GPU_MILLI),
                           (int64_t)(row->held_milli_ns % GPU_MILLI),
                           row->preempted_gpu_ns,
                           row->evictions_wasted,
                           row->exposed_gpu_us,
                           row->slowed_gpu_us,
                           row->network_gpu_us,
                           row->network_bytes_per_s,
                           row->planned_gpu_us,
                           row->mfu_micro,
                           row->active_gpu_us,
                           row->idle_held_gpu_us,
                           row->unserved_gpu_us,
                           row->limit,
                           row->estimate,
                           row->deadline,
                           row->recorded_wait};
    _Static_assert(sizeof all / sizeof *all <= TOLD_VALUES, "room for all");
    memset(values, 0, TOLD_VALUES * sizeof *values);
    memcpy(values, all, sizeof all);
}

static void compare_job(const struct told *a, const struct told *b, job_id id)
{
    int64_t x[TOLD_VALUES], y[TOLD_VALUES];
    told_values_of(&a->jobs[id], x);
    told_values_of(&b->jobs[id], y);
    for (int v = 0; v < TOLD_VALUES && value_names[v] != NULL; v++)
        if (x[v] != y[v])
            broken("job %u: %s is %lld, observed %lld", id, value_names[v], (long long)x[v], (long long)y[v]);
    if (a->texts[id] != b->texts[id])
        broken("job %u: a text, its waits or its losses differ when observed", id);
}

static void compare_samples(const struct told *a, const struct told *b)
{
    for (size_t i = 0, j = 0; i < a->sample_count && j < b->sample_count;) {
        const struct timeline_row *x = &a->samples[i], *y = &b->samples[j];
        if (x->time != y->time) {
            *(x->time < y->time ? &i : &j) += 1;
            continue;
        }
        const double reals[][2] = {
            {x->allocated_gpu_s, y->allocated_gpu_s}, {x->active_gpu_s, y->active_gpu_s},
            {x->reserved_gpu_s, y->reserved_gpu_s},   {x->pending_job_s, y->pending_job_s},
            {x->running_job_s, y->running_job_s},     {x->partial_gang_gpu_s, y->partial_gang_gpu_s},
            {x->idle_held_gpu_s, y->idle_held_gpu_s}};
        static const char *const names[] = {"allocated_gpu_s", "active_gpu_s",       "reserved_gpu_s", "pending_job_s",
                                            "running_job_s",   "partial_gang_gpu_s", "idle_held_gpu_s"};
        for (size_t r = 0; r < sizeof names / sizeof *names; r++)
            if (reals[r][0] != reals[r][1])
                broken("%s at %.9f s is %.17g, observed %.17g", names[r], time_to_seconds(x->time), reals[r][0],
                       reals[r][1]);
        for (int cause = 0; cause < SPENT_COUNT; cause++)
            if (x->spent[cause] != y->spent[cause])
                broken("spent_%s at %.9f s is %.9f, observed %.9f", spent_names[cause], time_to_seconds(x->time),
                       (double)x->spent[cause] / 1e9, (double)y->spent[cause] / 1e9);
        for (int kind = 0; kind < USE_COUNT; kind++)
            if (x->use_us[kind] != y->use_us[kind])
                broken("use_%s at %.9f s is %.9f, observed %.9f", use_names[kind], time_to_seconds(x->time),
                       (double)x->use_us[kind] / 1e6, (double)y->use_us[kind] / 1e6);
        if (x->pending_jobs != y->pending_jobs || x->running_jobs != y->running_jobs ||
            x->allocated_gpu_milli != y->allocated_gpu_milli || x->reserved_gpu_milli != y->reserved_gpu_milli ||
            x->active_gpu_milli != y->active_gpu_milli || x->idle_held_gpu_milli != y->idle_held_gpu_milli ||
            x->evicted != y->evicted || x->started != y->started || x->ended != y->ended ||
            memcmp(&x->space, &y->space, sizeof x->space) != 0)
            broken("the state at %.9f s differs when observed", time_to_seconds(x->time));
        i++;
        j++;
    }
}

static bool is_sampled(const struct metric *metric)
{
    return strncmp(metric->definition, "Sampled mean", 12) == 0;
}

void told_compare_metrics(const struct metrics *a, const struct metrics *b, bool has_equal_samples)
{
    size_t number, other;
    const struct metric *x = metrics_all(a, &number), *y = metrics_all(b, &other);
    for (size_t m = 0; m < number; m++)
        if ((has_equal_samples || !is_sampled(&x[m])) && memcmp(&x[m].value, &y[m].value, sizeof(double)) != 0 &&
            !(isnan(x[m].value) && isnan(y[m].value)))
            broken("%s is %.17g, observed %.17g", x[m].name, x[m].value, y[m].value);
    for (int c = 0; metrics_cut_names[c] != NULL; c++)
        for (size_t i = 0; metrics_cut_key(a, metrics_cut_names[c], i) != NULL; i++) {
            x = metrics_cut(a, metrics_cut_names[c], i, &number);
            y = metrics_cut(b, metrics_cut_names[c], i, &other);
            for (size_t m = 0; m < number && y != NULL; m++)
                if (x[m].value != y[m].value && !(isnan(x[m].value) && isnan(y[m].value)))
                    broken("%s of %s %s is %.17g, observed %.17g", x[m].name, metrics_cut_names[c],
                           metrics_cut_key(a, metrics_cut_names[c], i), x[m].value, y[m].value);
        }
}

/* Those of a that end from `at` on. */
static void compare_attempts(const struct told *a, const struct told *b, time_ns at)
{
    size_t next = 0;
    for (size_t i = 0; i < a->attempt_count; i++)
        if (a->attempts[i].end >= at && (next == b->attempt_count || a->hashes[i] != b->hashes[next++]))
            broken("job %u: its attempts differ when observed", a->attempts[i].id);
    if (next != b->attempt_count)
        broken("%zu attempts are told, not %zu", b->attempt_count, next);
}

void told_compare(const struct told *a, const struct told *b)
{
    if (a->result.fingerprint != b->result.fingerprint)
        broken("the decisions differ when observed");
    if (a->id_end != b->id_end)
        broken("there are %u jobs, observed %u", a->id_end, b->id_end);
    for (job_id id = 0; id < a->id_end && id < b->id_end; id++)
        compare_job(a, b, id);
    compare_attempts(a, b, 0);
    compare_samples(a, b);
    told_compare_metrics(a->metrics, b->metrics, false);
}

void told_compare_fork(const struct told *a, const struct told *b, time_ns at)
{
    size_t late = 0, told = 0;
    if (a->result.fingerprint != b->result.fingerprint)
        broken("the decisions of the fork differ");
    for (job_id id = 0; id < a->id_end || id < b->id_end; id++) {
        const bool is_due = id < a->id_end && a->job_rows[id] > 0 && a->jobs[id].end >= at;
        if (is_due != (id < b->id_end && b->job_rows[id] > 0))
            broken("job %u: the fork tells %s", id, is_due ? "no row of it" : "of it");
        else if (is_due)
            compare_job(a, b, id);
    }
    compare_attempts(a, b, at);
    for (size_t i = 0; i < a->sample_count; i++)
        late += a->samples[i].time > at;
    for (size_t i = 0; i < b->sample_count; i++)
        told += b->samples[i].time > at;
    if (late != told)
        broken("the fork tells %zu samples, not %zu", told, late);
    compare_samples(a, b);
}
