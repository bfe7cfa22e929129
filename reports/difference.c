#include "reports/difference.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "reports/view.h"

static char mark_of(const struct difference *difference)
{
    if (difference->better == BETTER_NEITHER)
        return '*';
    return (difference->change.value < 0) == (difference->better == BETTER_LOWER) ? '+' : '-';
}

static void infer(const struct difference_how *how, const struct pairs *pairs, struct difference *out)
{
    const struct change_how tested = {.level = how->level, .is_unpaired = how->is_unpaired};
    out->change = change_of(pairs, &tested);
    out->difference = out->candidate - out->base;
    if (!how->is_unpaired && pairs_are_equal(pairs)) {
        out->change.of.method = METHOD_EQUAL;
        out->change.low = out->change.high = out->change.value;
        out->mark = '=';
        return;
    }
    if (how->is_exact) {
        out->change.of.method = METHOD_EXACT;
        out->mark = mark_of(out);
        return;
    }
    out->p_rank = change_rank_p(pairs, &tested);
    out->mark = out->change.low > 0 || out->change.high < 0 ? mark_of(out) : '~';
}

struct difference difference_of(const struct difference_how *how, const struct metric_selector *of, const double *base,
                                size_t base_count, const double *candidate, size_t count)
{
    const struct metric *metric = metric_find(of->metric);
    struct pairs pairs = pairs_new(base, base_count, candidate, count, !how->is_unpaired);
    struct difference out = {.of = *of,
                             .unit = metric != NULL ? metric->unit : "",
                             .better = metric != NULL ? metric->better : BETTER_NEITHER,
                             .mark = '?',
                             .n = pairs.b_count,
                             .missing = pairs.missing,
                             .base = pairs_base(&pairs),
                             .candidate = pairs_candidate(&pairs),
                             .difference = NAN,
                             .change = change_none(how->level),
                             .p_rank = 1};
    if (pairs.a_count > 0 && pairs.b_count > 0)
        infer(how, &pairs, &out);
    pairs_free(&pairs);
    return out;
}

/* ---- Sizes ---- */

/* The least that counts of each unit: `least`, or that part of the whole run's largest amount of a unit. */
static const struct scale {
    const char *unit, *whole; /* whole NULL: `least` is an amount */
    double least;
} scales[] = {
    {"ratio", NULL, 0.1},       {"s", NULL, 10},         {"gpu_s", NULL, 10},     {"jobs", "jobs", 0.1},
    {"evictions", "jobs", 0.1}, {"gpu_h", "gpu_h", 0.1}, {"job_h", "job_h", 0.1},
};
enum { SCALES = sizeof scales / sizeof *scales };

/* 0 where the value is not defined. */
static double amount(double value)
{
    return isfinite(value) ? fabs(value) : 0;
}

static double largest(const struct difference *difference)
{
    return fmax(amount(difference->base), amount(difference->candidate));
}

static double least_of(const struct scale *scale, const struct difference *differences, size_t count)
{
    double whole = 0;
    if (scale->whole == NULL)
        return scale->least;
    for (size_t i = 0; i < count; i++)
        if (differences[i].of.cut == NULL && strcmp(differences[i].unit, scale->whole) == 0)
            whole = fmax(whole, largest(&differences[i]));
    return scale->least * whole;
}

void differences_measure(struct difference *differences, size_t count)
{
    double least[SCALES];
    for (size_t s = 0; s < SCALES; s++)
        least[s] = least_of(&scales[s], differences, count);
    for (size_t i = 0; i < count; i++) {
        struct difference *difference = &differences[i];
        double scale = largest(difference);
        for (size_t s = 0; s < SCALES; s++)
            if (strcmp(difference->unit, scales[s].unit) == 0)
                scale = fmax(scale, least[s]);
        difference->size = scale > 0 ? amount(difference->difference) / scale : 0;
    }
}

/* ---- Order ---- */

static int group_of(char mark)
{
    return mark == '~' ? 1 : mark == '=' ? 2 : mark == '?' ? 3 : 0;
}

static bool goes_before(const struct difference *a, const struct difference *b)
{
    if (group_of(a->mark) != group_of(b->mark))
        return group_of(a->mark) < group_of(b->mark);
    return group_of(a->mark) < 2 && a->size > b->size;
}

/* Merge two sorted halves of `from` into `to`. */
static void merge(const struct difference *from, size_t half, size_t count, struct difference *to)
{
    for (size_t left = 0, right = half, i = 0; i < count; i++) {
        const bool is_right = left == half || (right < count && goes_before(&from[right], &from[left]));
        to[i] = from[is_right ? right++ : left++];
    }
}

static void sort_into(struct difference *differences, size_t count, struct difference *scratch)
{
    const size_t half = count / 2;
    if (count < 2)
        return;
    sort_into(differences, half, scratch);
    sort_into(differences + half, count - half, scratch);
    merge(differences, half, count, scratch);
    for (size_t i = 0; i < count; i++)
        differences[i] = scratch[i];
}

void differences_sort(struct difference *differences, size_t count)
{
    struct difference *scratch = mem_alloc((count + 1) * sizeof *scratch);
    sort_into(differences, count, scratch);
    mem_free(scratch);
}

/* ---- Words ---- */

void difference_write(const struct difference *difference, struct buffer *out)
{
    if (difference->mark == '?' || difference->mark == '=') {
        buffer_string(out, difference->mark == '=' ? "=" : "\xe2\x80\x93"); /* U+2013 */
        return;
    }
    const struct change *change = &difference->change;
    const char *metric = difference->of.metric, *unit = difference->unit;
    change_write(change->is_ratio, metric, unit, change->value, out);
    if (!isfinite(change->low) || !isfinite(change->high) || change->of.method == METHOD_EXACT)
        return;
    buffer_string(out, " (");
    change_write_interval(change->is_ratio, metric, unit, change->low, change->high, out);
    buffer_char(out, ')');
}
