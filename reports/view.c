/* reports/view.c -- numbers as people write them. */
#include "reports/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char dash[] = "\xe2\x80\x93"; /* U+2013 */

static void digits_in_groups(struct buffer *out, int64_t value)
{
    struct buffer digits = {0};
    buffer_int(&digits, value);
    size_t first = value < 0 ? 1 : 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (i > first && (digits.length - i) % 3 == 0)
            buffer_char(out, ',');
        buffer_char(out, digits.bytes[i]);
    }
    buffer_release(&digits);
}

void view_count(struct buffer *out, double count)
{
    if (!(fabs(count) < 1e18))
        buffer_string(out, dash);
    else
        digits_in_groups(out, (int64_t)round(count));
}

void view_amount(struct buffer *out, double amount)
{
    if (!(fabs(amount) < 1e18))
        buffer_string(out, dash);
    else if (amount == 0)
        buffer_char(out, '0');
    else if (fabs(amount) < 0.995)
        buffer_format(out, "%.2f", amount);
    else if (fabs(amount) < 9.95)
        buffer_format(out, "%.1f", amount);
    else
        digits_in_groups(out, (int64_t)round(amount));
}

void view_factor(struct buffer *out, double factor)
{
    if (fabs(factor) < 9.995)
        buffer_format(out, "%.2f", factor);
    else
        view_amount(out, factor);
}

void view_percent(struct buffer *out, double ratio)
{
    if (!isfinite(ratio))
        buffer_string(out, dash);
    else if (ratio > 0 && ratio < 0.0005)
        buffer_string(out, "<0.1 %");
    else
        buffer_format(out, "%.1f %%", ratio * 100);
}

void view_duration(struct buffer *out, double seconds)
{
    if (!(fabs(seconds) < 1e12)) {
        buffer_string(out, dash);
        return;
    }
    long long s = llround(seconds);
    if (seconds < 0.05)
        buffer_string(out, "0 s");
    else if (seconds < 9.95)
        buffer_format(out, "%.1f s", seconds);
    else if (s < 60)
        buffer_format(out, "%lld s", s);
    else if (s < 3600)
        buffer_format(out, "%lldm %02llds", s / 60, s % 60);
    else if (s < 86400)
        buffer_format(out, "%lldh %02lldm", s / 3600, s % 3600 / 60);
    else
        buffer_format(out, "%lldd %02lldh", s / 86400, s % 86400 / 3600);
}

/* With its sign. */
static void view_shift(struct buffer *out, double seconds)
{
    if (fabs(seconds) >= 0.05)
        buffer_char(out, seconds < 0 ? '-' : '+');
    view_duration(out, fabs(seconds));
}

void view_words(struct buffer *out, const char *words, ...)
{
    static const struct {
        char letter;
        void (*view)(struct buffer *out, double value);
    } forms[] = {{'g', view_count},   {'a', view_amount},   {'f', view_factor},
                 {'e', view_percent}, {'E', view_duration}, {'G', view_shift}};
    va_list values;
    va_start(values, words);
    for (; *words != '\0'; words++) {
        if (*words != '%') {
            buffer_char(out, *words);
        } else if (*++words == 's') {
            buffer_string(out, va_arg(values, const char *));
        } else {
            size_t form = 0;
            while (forms[form].letter != *words)
                form++;
            forms[form].view(out, va_arg(values, double));
        }
    }
    va_end(values);
}

enum { CENTS_BELOW = 1000 };

static bool is_ratio(const char *metric)
{
    const size_t length = strlen(metric);
    return length > 6 && strcmp(metric + length - 6, "_ratio") == 0;
}

void view_metric(struct buffer *out, const char *metric, const char *unit, double value)
{
    if (strcmp(unit, "s") == 0)
        view_duration(out, value);
    else if (is_ratio(metric))
        view_percent(out, value);
    else if (strcmp(unit, "usd") == 0 && fabs(value) < CENTS_BELOW)
        buffer_format(out, "%.2f", value);
    else
        view_amount(out, value);
}

void view_change(struct buffer *out, const char *metric, const char *unit, double change)
{
    if (isfinite(change))
        buffer_char(out, change < 0 ? '-' : '+');
    if (strcmp(unit, "s") == 0)
        view_duration(out, fabs(change));
    else if (is_ratio(metric) && isfinite(change))
        buffer_format(out, fabs(change) < 0.0005 && change != 0 ? "%.3f points" : "%.1f points", fabs(change) * 100);
    else
        view_amount(out, fabs(change));
}

double view_scale(const char *unit, double high, const char **name)
{
    static const struct {
        double unit;
        const char *name;
    } seconds[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {0, "seconds"}};
    *name = unit != NULL ? unit : "";
    if (unit == NULL || strcmp(unit, "s") != 0)
        return 1;
    for (size_t i = 0;; i++)
        if (high >= seconds[i].unit || seconds[i].unit <= 0) {
            *name = seconds[i].name;
            return fmax(1, seconds[i].unit);
        }
}

/* A mark without width, of a line's end, or of the direction of text: U+200B..200F, U+2028..202E, U+2060..206F. */
static bool is_mark(struct text character)
{
    if (character.length != 3 || (unsigned char)character.at[0] != 0xe2)
        return false;
    const unsigned char second = (unsigned char)character.at[1], third = (unsigned char)character.at[2];
    return (second == 0x80 && ((third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae))) ||
           (second == 0x81 && third >= 0xa0 && third <= 0xaf);
}

void view_name(struct buffer *out, const char *name, size_t width_max)
{
    struct text rest = text_of(name);
    size_t bytes;
    char room[4];
    for (size_t width = 1; rest.length > 0; width++) {
        const struct text shown = text_visible(rest, &bytes, room);
        if (width == width_max && bytes < rest.length) {
            buffer_string(out, "\xe2\x80\xa6"); /* U+2026 */
            return;
        }
        buffer_text(out, is_mark(shown) ? text_of("\xef\xbf\xbd") : shown);
        rest = (struct text){rest.at + bytes, rest.length - bytes};
    }
}

size_t view_width(struct text text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.length; i++)
        width += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return width;
}

double view_window_s(const struct metrics *metrics)
{
    const struct run_facts *facts = metrics_facts(metrics);
    return time_to_seconds(metrics_until(facts) - facts->warmup);
}

double view_period_s(const struct metrics *metrics)
{
    const struct run_facts *facts = metrics_facts(metrics);
    return time_to_seconds(facts->end - facts->warmup);
}

void view_size(struct buffer *out, const struct metrics *metrics)
{
    const struct run_facts *facts = metrics_facts(metrics);
    if (facts->node_count > 0) {
        view_count(out, (double)facts->node_count);
        buffer_string(out, facts->node_count == 1 ? " node, " : " nodes, ");
    }
    view_count(out, (double)facts->gpu_count);
    buffer_string(out, facts->gpu_count == 1 ? " GPU" : " GPUs");
}

bool view_offered(struct buffer *out, const struct offered_load *load)
{
    const double asked_gpu_h = load->all.asked_gpu_s / 3600, span_s = load->last_s - load->first_s;
    if (isfinite(load->ratio))
        view_words(out, "offered load %e: %a GPU h asked in %E", load->ratio, asked_gpu_h, span_s);
    else if (load->kind == OFFERED_BATCH)
        view_words(out,
                   "a batch: %g jobs come in %E and run %E on average; they ask %a GPU h, so the makespan is at least "
                   "%E",
                   (double)load->jobs, span_s, load->run_mean_s, asked_gpu_h, load->bound_s);
    else if (load->kind == OFFERED_CLOSED_LOOP)
        view_words(out, "a closed loop of %g users: %g jobs that ask %a GPU h come as others end, at no offered load",
                   (double)load->users, (double)load->jobs, asked_gpu_h);
    else
        return false;
    return true;
}

bool view_makespan(struct buffer *out, const struct metrics *metrics)
{
    const double left = metrics_value(metrics, "jobs_pending") + metrics_value(metrics, "jobs_running");
    const double makespan_s = metrics_value(metrics, "makespan_s");
    const double over_bound = metrics_value(metrics, "makespan_over_bound");
    if (metrics_facts(metrics)->offered.kind != OFFERED_BATCH)
        return false;
    if (left > 0)
        view_words(out, "the makespan is not known: %g jobs have not ended", left);
    else
        view_words(out, "makespan %E", makespan_s);
    if (isfinite(over_bound) && !(left > 0))
        view_words(out, ", %f times its lower bound", over_bound);
    return true;
}

bool view_has_tail(const struct offered_load *load, double from_s, double until_s)
{
    static const double tail_min = 0.05; /* part of the GPU time; less changes no verdict */
    return isfinite(load->ratio) && until_s - load->last_s > tail_min * (until_s - from_s);
}

enum { MODEL_NAME_MAX = 24 };

bool view_offered_models(struct buffer *out, const struct metrics *metrics)
{
    struct model_load loads[METRICS_MODEL_LOADS_MAX];
    const bool has_load = isfinite(metrics_facts(metrics)->offered.ratio);
    const size_t count = has_load ? metrics_model_loads(metrics, loads) : 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_any = strcmp(loads[i].name, RECORD_ANY) == 0;
        view_words(out, "%s%e of %s %g %s", i == 0 ? "of it " : ", ", loads[i].ratio, is_any ? "all" : "the",
                   (double)loads[i].gpus, is_any ? "GPUs by jobs that several models would do for" : "GPUs ");
        if (!is_any)
            view_name(out, loads[i].name, MODEL_NAME_MAX);
    }
    return count > 0;
}

bool view_gpu_time(const struct metrics *metrics, struct view_gpu_time *shares)
{
    double allocated = metrics_value(metrics, "allocation_ratio");
    double active = metrics_value(metrics, "sm_active_ratio");
    shares->reserved = metrics_value(metrics, "idle_reserved_ratio");
    shares->down = metrics_value(metrics, "down_ratio");
    shares->has_active = isfinite(active);
    shares->active = shares->has_active ? active : 0;
    shares->inactive = allocated - shares->active;
    shares->idle = fmax(0, 1 - allocated - shares->reserved - shares->down);
    return isfinite(allocated);
}

const char *const view_spent_labels[SPENT_COUNT] = {
    [SPENT_USEFUL] = "useful",
    [SPENT_COMMUNICATION] = "communication",
    [SPENT_NEIGHBOURS] = "neighbours",
    [SPENT_SLICED] = "sliced away",
    [SPENT_REPARTITION] = "repartitioning",
    [SPENT_RESTART] = "checkpoints, restarts",
    [SPENT_LOST] = "lost work",
    [SPENT_IDLE_HELD] = "held, no SM busy",
    [SPENT_RESERVED] = "reserved",
    [SPENT_IDLE] = "idle",
    [SPENT_DOWN] = "down",
    [SPENT_ABSENT] = "out of service",
};

/* Leave out causes without GPU time, and find the shares. */
static size_t spent_settle(struct view_spent *spent, size_t count)
{
    size_t kept = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += isfinite(spent[i].gpu_h) ? spent[i].gpu_h : 0;
    for (size_t i = 0; i < count && sum > 0; i++)
        if (isfinite(spent[i].gpu_h) && spent[i].gpu_h != 0) {
            spent[kept] = spent[i];
            spent[kept].share = spent[kept].gpu_h / sum;
            kept++;
        }
    return kept;
}

size_t view_spent(const struct metrics *metrics, struct view_spent spent[SPENT_COUNT])
{
    for (int cause = 0; cause < SPENT_COUNT; cause++) {
        struct buffer name = {0};
        buffer_format(&name, "spent_%s_gpu_h", spent_names[cause]);
        spent[cause] = (struct view_spent){view_spent_labels[cause], metrics_value(metrics, buffer_c_string(&name)), 0};
        buffer_release(&name);
    }
    return spent_settle(spent, SPENT_COUNT);
}

size_t view_lost(const struct metrics *metrics, struct view_spent lost[LOST_CAUSE_COUNT])
{
    static const struct {
        const char *label, *metric;
    } causes[] = {
        [LOST_WRITE] = {"periodic checkpoints", "lost_to_write_gpu_h"},
        [LOST_LEAVE] = {"checkpoints before leaving", "lost_to_leave_gpu_h"},
        [LOST_LOAD] = {"loads", "lost_to_load_gpu_h"},
        [LOST_WARMUP] = {"warm-ups", "lost_to_warmup_gpu_h"},
        [LOST_PULL] = {"pulls", "lost_to_pull_gpu_h"},
        [LOST_WORK_PREEMPTED] = {"work, by evictions for others", "lost_work_preempted_gpu_h"},
        [LOST_WORK_NODE] = {"work, by nodes going down", "lost_work_node_gpu_h"},
        [LOST_WORK_NEIGHBOUR] = {"work, by faults of neighbours", "lost_work_neighbour_gpu_h"},
        [LOST_WORK_OTHER] = {"work, by other evictions", "lost_work_other_gpu_h"},
    };
    _Static_assert(sizeof causes / sizeof causes[0] == LOST_CAUSE_COUNT, "each cause has a label");
    for (int cause = 0; cause < LOST_CAUSE_COUNT; cause++)
        lost[cause] = (struct view_spent){causes[cause].label, metrics_value(metrics, causes[cause].metric), 0};
    return spent_settle(lost, LOST_CAUSE_COUNT);
}

size_t view_waits(const struct metrics *metrics, struct view_wait waits[REASON_COUNT], double *job_h)
{
    size_t count = 0;
    *job_h = 0;
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        const char *name = metrics_wait_name((enum reason)reason);
        double value = name != NULL ? metrics_value(metrics, name) : NAN;
        if (!isfinite(value))
            continue;
        *job_h += value;
        size_t at = count++;
        for (; at > 0 && waits[at - 1].job_h < value; at--)
            waits[at] = waits[at - 1];
        waits[at] = (struct view_wait){(enum reason)reason, value};
    }
    return count;
}

/* A metric by name; NAN: there is none. */
static double view_value(const struct metric *metrics, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return metrics[i].value;
    return NAN;
}

double view_cut_value(const struct metrics *metrics, const char *cut, size_t index, const char *name)
{
    size_t count;
    const struct metric *values = metrics_cut(metrics, cut, index, &count);
    return view_value(values, count, name);
}

struct demand {
    double asked_gpu_h, jobs;
    size_t index;
};

static int compare_demand(const void *a, const void *b)
{
    const struct demand *x = a, *y = b;
    if (x->asked_gpu_h != y->asked_gpu_h)
        return x->asked_gpu_h > y->asked_gpu_h ? -1 : 1;
    if (x->jobs != y->jobs)
        return x->jobs > y->jobs ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

size_t *view_by_demand_new(const struct metrics *metrics, const char *cut, size_t *count)
{
    *count = 0;
    while (metrics_cut_key(metrics, cut, *count) != NULL)
        ++*count;
    struct demand *demands = mem_zalloc(*count, sizeof *demands);
    for (size_t i = 0; i < *count; i++)
        demands[i] = (struct demand){
            .asked_gpu_h = view_cut_value(metrics, cut, i, "asked_gpu_h"),
            .jobs = view_cut_value(metrics, cut, i, "jobs_submitted"),
            .index = i,
        };
    qsort(demands, *count, sizeof *demands, compare_demand);
    size_t *order = mem_zalloc(*count, sizeof *order);
    for (size_t i = 0; i < *count; i++)
        order[i] = demands[i].index;
    mem_free(demands);
    return order;
}

bool view_has_tenants(const struct metrics *metrics)
{
    for (size_t i = 0;; i++) { /* both are ordered by name */
        const char *tenant = metrics_cut_key(metrics, "tenant", i), *queue = metrics_cut_key(metrics, "queue", i);
        if (tenant == NULL || queue == NULL)
            return i > 0 && queue != NULL;
        if (strcmp(tenant, queue) != 0)
            return true;
    }
}

const char *view_rejection(enum reason reason)
{
    return reason == REASON_NONE ? "without a reason" : reason_name(reason);
}

bool view_is_refused(const struct metrics *metrics, enum reason reason)
{
    return metrics_facts(metrics)->is_decided_outside && reason != REASON_QUEUE_FULL;
}

bool view_class_rejections(struct buffer *out, const struct metrics *metrics, size_t index)
{
    const double ratio = view_cut_value(metrics, "class", index, "rejected_ratio");
    if (!(ratio > VIEW_REJECTED_PERCENT / 100.0))
        return false;
    view_words(out, "%e of the %s jobs were rejected (%g of %g): queue times are of the others", ratio,
               metrics_cut_key(metrics, "class", index), view_cut_value(metrics, "class", index, "jobs_rejected"),
               view_cut_value(metrics, "class", index, "jobs_submitted"));
    return true;
}
