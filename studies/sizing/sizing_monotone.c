/* studies/sizing/sizing_monotone.c -- is a level never worse with more?  Where not, and the curve where it is so.
 *
 * The numbers are put in the order in which the level should get better: more nodes, or less load.  Two numbers are a
 * reversal if the level is worse at the later one, by REVERSAL_LEAST of its bound at the least, and not by chance: the
 * paired t test over the seeds that both have, at alpha divided by the number of pairs that are tested (Bonferroni).
 */
#include <math.h>

#include "reports/statistics/isotonic.h"
#include "reports/statistics/student.h"
#include "studies/sizing/sizing_inside.h"

#define REVERSAL_LEAST 0.01

/* The points in that order, and a level at them such that more is better. */
struct ordered {
    const struct sizing *sizing;
    struct sizing_answer *answer;
    const struct sizing_point **points; /* owned */
    size_t count;
};

static struct ordered order(const struct sizing *sizing, struct sizing_answer *answer)
{
    struct ordered ordered = {.sizing = sizing, .answer = answer, .points = sizing_points_new(answer)};
    for (size_t p = 0; p < answer->point_count; p++)
        if (ordered.points[p]->run_count > 0)
            ordered.points[ordered.count++] = ordered.points[p];
    for (size_t i = 0; sizing->options->question.aim == SIZING_LARGEST && i < ordered.count / 2; i++) {
        const struct sizing_point *point = ordered.points[i];
        ordered.points[i] = ordered.points[ordered.count - 1 - i];
        ordered.points[ordered.count - 1 - i] = point;
    }
    return ordered;
}

/* The value of a run, with the sign that makes more better. */
static double signed_value(const struct gate *gate, const struct sizing_run *run)
{
    return (gate->bound == GATE_MAX ? -1 : 1) * values_number(&run->values, &gate->of);
}

/* ---- Reversals ---- */

/* The values of the seeds that both have; their number. */
static size_t pair_up(const struct gate *gate, const struct sizing_point *a, const struct sizing_point *b, double *of_a,
                      double *of_b)
{
    size_t count = 0;
    for (size_t r = 0; r < a->run_count && r < b->run_count; r++) {
        of_a[count] = signed_value(gate, &a->runs[r]);
        of_b[count] = signed_value(gate, &b->runs[r]);
        count += a->runs[r].seed == b->runs[r].seed && isfinite(of_a[count]) && isfinite(of_b[count]);
    }
    return count;
}

static bool is_reversed(const struct ordered *ordered, const struct gate *gate, size_t i, size_t j, double level,
                        struct sizing_reversal *out)
{
    const size_t most = ordered->sizing->options->seeds_max;
    double *values = mem_zalloc(2 * most, sizeof *values);
    const size_t count = pair_up(gate, ordered->points[i], ordered->points[j], values, values + most);
    const struct inference worse = student_paired(values + most, values, count, 0, level);
    *out = (struct sizing_reversal){.gate = gate,
                                    .from = ordered->points[i]->number,
                                    .to = ordered->points[j]->number,
                                    .worse = worse.mean,
                                    .low = worse.low,
                                    .high = worse.high};
    mem_free(values);
    if (count == 0 || worse.mean < REVERSAL_LEAST * fabs(gate->amount) || !(worse.mean > 0))
        return false;
    if (ordered->answer->is_exact)
        out->low = out->high = worse.mean;
    return ordered->answer->is_exact || (worse.low > 0 && inference_has_interval(&worse));
}

static bool is_testable(const struct ordered *ordered, size_t point)
{
    return ordered->answer->is_exact || ordered->points[point]->run_count >= LOOKS_FIRST;
}

static size_t pair_count(const struct ordered *ordered)
{
    size_t testable = 0;
    for (size_t i = 0; i < ordered->count; i++)
        testable += is_testable(ordered, i);
    return testable * (testable - 1) / 2 * ordered->sizing->gates.count;
}

/* The shortest ones: none that holds a shorter one of the same level is kept, and no more than there is room for. */
static void keep_reversal(struct sizing_answer *answer, const struct sizing_reversal *reversal, size_t first)
{
    const double low = fmin(reversal->from, reversal->to), high = fmax(reversal->from, reversal->to);
    for (size_t r = first; r < answer->reversal_count; r++)
        if (fmin(answer->reversals[r].from, answer->reversals[r].to) >= low &&
            fmax(answer->reversals[r].from, answer->reversals[r].to) <= high)
            return;
    if (answer->reversal_count < SIZING_REVERSALS_MAX)
        answer->reversals[answer->reversal_count++] = *reversal;
}

/* Pairs of neighbours first, then those with one point between them, ... */
static void find_reversals(const struct ordered *ordered, const struct gate *gate, double level)
{
    const size_t first = ordered->answer->reversal_count;
    struct sizing_reversal reversal;
    for (size_t apart = 1; apart < ordered->count; apart++)
        for (size_t i = 0; i + apart < ordered->count; i++)
            if (is_testable(ordered, i) && is_testable(ordered, i + apart) &&
                is_reversed(ordered, gate, i, i + apart, level, &reversal))
                keep_reversal(ordered->answer, &reversal, first);
}

/* ---- The curve ---- */

/* A point on a reversal of this level, or within one. */
static bool is_in_reversal(const struct sizing_answer *answer, const struct gate *gate, double number)
{
    for (size_t r = 0; r < answer->reversal_count; r++) {
        const struct sizing_reversal *of = &answer->reversals[r];
        if (of->gate == gate && number >= fmin(of->from, of->to) && number <= fmax(of->from, of->to))
            return true;
    }
    return false;
}

static struct sizing_judgement *judgement_of(struct sizing_answer *answer, const struct sizing_point *point,
                                             size_t gate)
{
    return &answer->points[point - answer->points].judgements[gate];
}

/* The curve through a stretch of points without reversals. */
static void fit_stretch(const struct ordered *ordered, size_t gate, size_t from, size_t to)
{
    const struct sizing_options *options = ordered->sizing->options;
    const struct gate *of = &ordered->sizing->gates.gates[gate];
    const size_t count = to - from;
    const double sign = of->bound == GATE_MAX ? -1 : 1, level = 1 - options->alpha / (double)ordered->count;
    double *numbers = mem_zalloc(5 * count + options->seeds_max, sizeof *numbers);
    double *means = numbers, *weights = means + count, *fit = weights + count, *low = fit + count, *high = low + count;
    double *values = high + count;
    for (size_t i = 0; i < count; i++) {
        const struct sizing_point *point = ordered->points[from + i];
        for (size_t r = 0; r < point->run_count; r++)
            values[r] = signed_value(of, &point->runs[r]);
        const struct inference mean = student_one(values, point->run_count, 0, level);
        means[i] = mean.mean;
        weights[i] = (double)point->run_count;
        low[i] = ordered->answer->is_exact ? mean.mean : mean.low;
        high[i] = ordered->answer->is_exact ? mean.mean : mean.high;
    }
    isotonic_fit(means, weights, count, fit);
    isotonic_band(low, high, count);
    for (size_t i = 0; i < count; i++) {
        struct sizing_judgement *judgement = judgement_of(ordered->answer, ordered->points[from + i], gate);
        judgement->fit = sign * fit[i];
        judgement->fit_low = sign > 0 ? low[i] : -high[i];
        judgement->fit_high = sign > 0 ? high[i] : -low[i];
    }
    mem_free(numbers);
}

static void fit_curve(const struct ordered *ordered, size_t gate)
{
    const struct gate *of = &ordered->sizing->gates.gates[gate];
    for (size_t from = 0; from < ordered->count;) {
        size_t to = from;
        while (to < ordered->count && !is_in_reversal(ordered->answer, of, ordered->points[to]->number))
            to++;
        if (to > from)
            fit_stretch(ordered, gate, from, to);
        for (; to < ordered->count && is_in_reversal(ordered->answer, of, ordered->points[to]->number); to++)
            judgement_of(ordered->answer, ordered->points[to], gate)->fit = NAN;
        from = to;
    }
}

void sizing_find_curve(const struct sizing *sizing, struct sizing_answer *answer)
{
    struct ordered ordered = order(sizing, answer);
    const size_t pairs = pair_count(&ordered);
    answer->reversal_count = 0;
    for (size_t g = 0; g < sizing->gates.count; g++) {
        if (pairs > 0)
            find_reversals(&ordered, &sizing->gates.gates[g], 1 - sizing->options->alpha / (double)pairs);
        fit_curve(&ordered, g);
    }
    mem_free(ordered.points);
}
