/* studies/fabric/fabric_fit.c -- least squares over a network's parameters, with profile intervals. */
#include "studies/fabric/fabric_fit.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/mem.h"

enum { COUNT = FABRIC_PARAMETER_COUNT, SEARCH_STEPS_MAX = 300, SEARCHES = 3, HALVINGS = 17, GRID_MAX = 7 };

#define LEVEL       0.95
#define SEARCH_STEP 0.2  /* of logarithms */
#define SEARCH_SIZE 1e-7 /* of the simplex at its end */
#define EQUAL_RATIO 1e-4 /* sums that differ by less are equal: a hundredth of a standard deviation */
#define ROUNDING    1e-4 /* relative, of the four digits that nccl-tests prints */

/* The bounds are those of a cluster file. */
static const double lowest[COUNT] = {0.1e-6, 0.01, 0.01}, highest[COUNT] = {1e5 * 1e-6, 1, 10};

/* Where searches begin: a network's step of 1 us to 4 ms. */
static const double grid[COUNT][GRID_MAX] = {{1e-6, 4e-6, 16e-6, 60e-6, 250e-6, 1e-3, 4e-3},
                                             {0.05, 0.2, 0.4, 0.6, 0.75, 0.9, 1},
                                             {0.1, 0.3, 0.6, 0.8, 1, 1.3, 2}};

struct fitting {
    const struct nccl_tests *tests;
    const struct fabric_start *start;
    double bytes_min;
    bool is_free[COUNT];
    double values[COUNT]; /* of those that are not free; of the others the best so far */
};

/* ---- the model ---- */

struct collective_place fabric_row_place(const struct nccl_row *row, const struct collective_system *system,
                                         const struct fabric_start *start)
{
    const uint32_t gpus = row->ranks / row->hosts;
    const uint32_t room = system->domain_gpus / (gpus > system->node_gpus ? gpus : system->node_gpus);
    struct collective_place place =
        collective_place_packed(system, row->ranks, room * gpus, start->network_bytes_per_s);
    place.has_nvls = start->has_nvls;
    return place;
}

static double model_s(const struct fabric_start *start, const struct nccl_row *row, const double values[COUNT])
{
    struct transport transport = *start->system.transport;
    struct collective_system system = collective_system_scaled(&start->system, values[FABRIC_NVLINK_RATIO]);
    transport.step_s = values[FABRIC_STEP_S];
    transport.rate_ratio = values[FABRIC_RATE_RATIO];
    system.transport = &transport;
    const struct collective_place place = fabric_row_place(row, &system, start);
    return collective_time(row->kind, &place, row->bytes).s;
}

static bool is_far(const struct fitting *fitting, const struct nccl_row *row)
{
    return fabric_row_place(row, &fitting->start->system, fitting->start).domain_count > 1;
}

static double sum_of_squares(const struct fitting *fitting, const double values[COUNT])
{
    double sum = 0;
    for (size_t i = 0; i < fitting->tests->count; i++) {
        const struct nccl_row *row = &fitting->tests->rows[i];
        if (row->bytes < fitting->bytes_min)
            continue;
        const double error = log(model_s(fitting->start, row, values) / row->s);
        sum += error * error;
    }
    return sum;
}

static size_t count_rows(const struct fitting *fitting)
{
    size_t count = 0;
    for (size_t i = 0; i < fitting->tests->count; i++)
        count += fitting->tests->rows[i].bytes >= fitting->bytes_min;
    return count;
}

static size_t count_free(const struct fitting *fitting)
{
    size_t count = 0;
    for (int p = 0; p < COUNT; p++)
        count += fitting->is_free[p];
    return count;
}

/* ---- the least sum ---- */

/* Logarithms of the free parameters, in their order, and the sum there. */
struct point {
    double at[COUNT], sum;
};

/* A point outside of the bounds is worse than the nearest one inside. */
static void set_values(const struct fitting *fitting, struct point *point, double values[COUNT])
{
    double outside = 0;
    for (size_t p = 0, i = 0; p < COUNT; p++) {
        values[p] = fitting->values[p];
        if (!fitting->is_free[p])
            continue;
        const double inside = fmin(fmax(point->at[i], log(lowest[p])), log(highest[p]));
        outside += fabs(point->at[i++] - inside);
        values[p] = fmin(fmax(exp(inside), lowest[p]), highest[p]);
    }
    point->sum = sum_of_squares(fitting, values) * (1 + outside) + outside * 1e-9;
}

/* The point that lies `times` as far from `from` as `to` does, on the same side. */
static struct point point_between(const struct fitting *fitting, const double *from, const double *to, double times,
                                  size_t dimensions)
{
    struct point point = {.sum = 0};
    double ignored[COUNT];
    for (size_t i = 0; i < dimensions; i++)
        point.at[i] = from[i] + times * (to[i] - from[i]);
    set_values(fitting, &point, ignored);
    return point;
}

static int compare_points(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->sum, y = ((const struct point *)b)->sum;
    return (x > y) - (x < y);
}

/* One step of a simplex whose points ascend (Nelder and Mead, Computer Journal 7, 1965): replace the worst, or shrink
 * all toward the best. */
static void simplex_step(const struct fitting *fitting, struct point *points, size_t dimensions)
{
    struct point *worst = &points[dimensions];
    double centre[COUNT] = {0};
    for (size_t k = 0; k < dimensions; k++)
        for (size_t i = 0; i < dimensions; i++)
            centre[i] += points[k].at[i] / (double)dimensions;
    struct point next = point_between(fitting, centre, worst->at, -1, dimensions);
    if (next.sum < points[0].sum) {
        const struct point farther = point_between(fitting, centre, worst->at, -2, dimensions);
        next = farther.sum < next.sum ? farther : next;
    } else if (next.sum >= points[dimensions - 1].sum) {
        const double times = next.sum < worst->sum ? -0.5 : 0.5;
        next = point_between(fitting, centre, worst->at, times, dimensions);
    }
    if (next.sum < worst->sum)
        *worst = next;
    else
        for (size_t k = 1; k <= dimensions; k++)
            points[k] = point_between(fitting, points[0].at, points[k].at, 0.5, dimensions);
    qsort(points, dimensions + 1, sizeof *points, compare_points);
}

static double simplex_size(const struct point *points, size_t dimensions)
{
    double size = 0;
    for (size_t k = 1; k <= dimensions; k++)
        for (size_t i = 0; i < dimensions; i++)
            size = fmax(size, fabs(points[k].at[i] - points[0].at[i]));
    return size;
}

/* Improve fitting->values from where they are. */
static double search_once(struct fitting *fitting, size_t dimensions)
{
    struct point points[COUNT + 1] = {{.sum = 0}};
    for (size_t k = 0; k <= dimensions; k++) {
        double ignored[COUNT];
        for (size_t p = 0, i = 0; p < COUNT; p++)
            if (fitting->is_free[p]) {
                points[k].at[i] = log(fitting->values[p]) + (k == i + 1 ? SEARCH_STEP : 0);
                i++;
            }
        set_values(fitting, &points[k], ignored);
    }
    qsort(points, dimensions + 1, sizeof *points, compare_points);
    for (int i = 0; i < SEARCH_STEPS_MAX && simplex_size(points, dimensions) > SEARCH_SIZE; i++)
        simplex_step(fitting, points, dimensions);
    double values[COUNT];
    set_values(fitting, &points[0], values);
    memcpy(fitting->values, values, sizeof values);
    return sum_of_squares(fitting, fitting->values);
}

static double search(struct fitting *fitting, int times)
{
    const size_t dimensions = count_free(fitting);
    double sum = sum_of_squares(fitting, fitting->values);
    for (int i = 0; i < times && dimensions > 0; i++)
        sum = search_once(fitting, dimensions);
    return sum;
}

/* Begin at the best point of the grid. */
static double search_all(struct fitting *fitting, int times)
{
    double values[COUNT], least = INFINITY, best[COUNT];
    size_t counts[COUNT];
    for (int p = 0; p < COUNT; p++)
        counts[p] = fitting->is_free[p] ? GRID_MAX : 1;
    for (size_t i = 0; i < counts[0] * counts[1] * counts[2]; i++) {
        const size_t index[COUNT] = {i % counts[0], i / counts[0] % counts[1], i / counts[0] / counts[1]};
        for (int p = 0; p < COUNT; p++)
            values[p] = fitting->is_free[p] ? grid[p][index[p]] : fitting->values[p];
        const double sum = sum_of_squares(fitting, values);
        if (sum < least) {
            least = sum;
            memcpy(best, values, sizeof best);
        }
    }
    memcpy(fitting->values, best, sizeof best);
    return search(fitting, times);
}

/* ---- intervals ---- */

/* The least sum with a parameter at that value. */
static double profile(const struct fitting *fitting, int parameter, double value)
{
    struct fitting other = *fitting;
    other.is_free[parameter] = false;
    other.values[parameter] = value;
    return search(&other, 1);
}

/* The value between the best one and `bound` that is farthest from the best with a sum of at most `limit`. */
static double profile_end(const struct fitting *fitting, int parameter, double bound, double limit)
{
    double inside = log(fitting->values[parameter]), outside = log(bound);
    if (profile(fitting, parameter, bound) <= limit)
        return bound;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (inside + outside) / 2;
        if (profile(fitting, parameter, exp(middle)) <= limit)
            inside = middle;
        else
            outside = middle;
    }
    return exp(inside);
}

/* Of values that fit equally well the smallest: a rate of the NICs above what NVLink lets through is not seen. */
static double take_smallest(struct fitting *fitting, double sum)
{
    const double limit = sum * (1 + EQUAL_RATIO) + 1e-12;
    for (int p = 0; p < COUNT; p++)
        if (fitting->is_free[p]) {
            fitting->values[p] = profile_end(fitting, p, lowest[p], limit);
            fitting->is_free[p] = false;
            search(fitting, 1);
            fitting->is_free[p] = true;
        }
    return fmin(sum, sum_of_squares(fitting, fitting->values));
}

static void find_intervals(struct fitting *fitting, double sum, size_t rows, struct fabric_estimate *estimates)
{
    const double spare = (double)(rows - count_free(fitting)), t = gsl_cdf_tdist_Pinv((1 + LEVEL) / 2, spare);
    const double limit = sum * (1 + t * t / spare) + (double)rows * ROUNDING * ROUNDING;
    for (int p = 0; p < COUNT; p++)
        if (fitting->is_free[p]) {
            estimates[p].low = profile_end(fitting, p, lowest[p], limit);
            estimates[p].high = profile_end(fitting, p, highest[p], limit);
        }
}

/* ---- the fit ---- */

static void begin(struct fitting *fitting)
{
    memset(fitting->is_free, 0, sizeof fitting->is_free);
    for (size_t i = 0; i < fitting->tests->count; i++)
        if (fitting->tests->rows[i].bytes >= fitting->bytes_min) {
            const bool far = is_far(fitting, &fitting->tests->rows[i]);
            fitting->is_free[FABRIC_STEP_S] |= far;
            fitting->is_free[FABRIC_RATE_RATIO] |= far;
            fitting->is_free[FABRIC_NVLINK_RATIO] |= !far;
        }
    fitting->values[FABRIC_STEP_S] = fitting->start->system.transport->step_s;
    fitting->values[FABRIC_RATE_RATIO] = fitting->start->system.transport->rate_ratio;
    fitting->values[FABRIC_NVLINK_RATIO] = fitting->start->nvlink_ratio;
}

static int compare_sizes(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The sizes of the rows from which there are enough to fit, ascending; their count. */
static size_t list_sizes(struct fitting *fitting, double *sizes)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < fitting->tests->count; i++)
        sizes[i] = fitting->tests->rows[i].bytes;
    qsort(sizes, fitting->tests->count, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < fitting->tests->count; i++)
        if (i == 0 || sizes[i] > sizes[count - 1])
            sizes[count++] = sizes[i];
    for (; kept < count; kept++) {
        fitting->bytes_min = sizes[kept];
        begin(fitting);
        if (count_rows(fitting) < count_free(fitting) + FABRIC_FIT_SPARE_ROWS)
            break;
    }
    return kept;
}

/* A fit of the rows from a size on. */
struct trial {
    double bytes_min, sum, spare; /* spare: rows less parameters */
};

/* Are the errors of the rows that `all` has and `large` has not significantly larger than those of `large`? */
static bool is_worse(const struct trial *all, const struct trial *large)
{
    const double more = all->spare - large->spare, left = fmax(large->sum, 1e-12) / large->spare;
    return more > 0 && gsl_cdf_fdist_Q((all->sum - large->sum) / more / left, more, large->spare) < FABRIC_FIT_CHANCE;
}

/* The smallest size from which the model holds; false: there are too few rows. */
static bool find_bytes_min(struct fitting *fitting)
{
    double *sizes = mem_zalloc(fitting->tests->count, sizeof *sizes);
    const size_t count = list_sizes(fitting, sizes);
    struct trial *trials = mem_zalloc(count, sizeof *trials);
    for (size_t i = 0; i < count; i++) {
        fitting->bytes_min = sizes[i];
        begin(fitting);
        trials[i] =
            (struct trial){sizes[i], search_all(fitting, 1), (double)(count_rows(fitting) - count_free(fitting))};
    }
    for (size_t i = count; i-- > 0;) {
        bool holds = true;
        for (size_t k = i + 1; k < count; k++)
            holds &= !is_worse(&trials[i], &trials[k]);
        if (holds || sqrt(trials[i].sum / trials[i].spare) <= FABRIC_FIT_DEVIATION)
            fitting->bytes_min = trials[i].bytes_min;
    }
    mem_free(trials);
    mem_free(sizes);
    return count > 0;
}

/* The parameter that these rows tell least of, if they do not tell it; else COUNT. */
static int find_untold(const struct fitting *fitting, const struct fabric_estimate *estimates)
{
    struct fitting start = *fitting;
    int found = COUNT;
    double most = FABRIC_FIT_SPAN_MAX;
    begin(&start);
    for (int p = 0; p < COUNT; p++) {
        const double span = fitting->is_free[p] ? estimates[p].high / estimates[p].low : 1;
        if (span > most && estimates[p].low <= start.values[p] && start.values[p] <= estimates[p].high) {
            most = span;
            found = p;
        }
    }
    return found;
}

static void estimate(struct fitting *fitting, struct fabric_estimate *estimates)
{
    begin(fitting);
    for (int p = 0; p < COUNT; p++)
        estimates[p] = (struct fabric_estimate){.has_rows = fitting->is_free[p]};
    for (int untold = 0; untold < COUNT;) {
        const double sum = take_smallest(fitting, search_all(fitting, SEARCHES));
        find_intervals(fitting, sum, count_rows(fitting), estimates);
        untold = find_untold(fitting, estimates);
        if (untold < COUNT) {
            struct fitting start = *fitting;
            begin(&start);
            fitting->is_free[untold] = false;
            fitting->values[untold] = start.values[untold];
        }
    }
    for (int p = 0; p < COUNT; p++) {
        estimates[p].value = fitting->values[p];
        estimates[p].is_told = fitting->is_free[p];
    }
}

static void judge(const struct fitting *fitting, struct fabric_fit *out)
{
    double squares = 0;
    out->bytes_min = fitting->bytes_min;
    out->model_s = mem_zalloc(fitting->tests->count, sizeof *out->model_s);
    for (size_t i = 0; i < fitting->tests->count; i++) {
        const struct nccl_row *row = &fitting->tests->rows[i];
        out->model_s[i] = model_s(fitting->start, row, fitting->values);
        if (row->bytes < fitting->bytes_min)
            continue;
        const double error = row->s / out->model_s[i] - 1;
        squares += error * error;
        if (out->used++ == 0 || fabs(error) > fabs(out->worst)) {
            out->worst = error;
            out->worst_row = i;
        }
    }
    out->rms = sqrt(squares / (double)out->used);
}

static struct error check_rows(const struct nccl_tests *tests, const struct fabric_start *start)
{
    if (tests->count > FABRIC_FIT_ROWS_MAX)
        return error_new(ERROR_DATA, "%s has %zu rows, more than %d: leave runs out", tests->rows[0].file, tests->count,
                         FABRIC_FIT_ROWS_MAX);
    for (size_t i = 0; i < tests->count; i++) {
        const struct nccl_row *row = &tests->rows[i];
        if (row->ranks / row->hosts > start->system.domain_gpus)
            return error_new(ERROR_DATA,
                             "%s:%llu: %u GPUs on a host, where %s has %u: say with --system or --cluster what "
                             "machines these are",
                             row->file, (unsigned long long)row->line, row->ranks / row->hosts, start->system.name,
                             start->system.domain_gpus);
    }
    return ERROR_OK;
}

struct error fabric_fit_make(struct fabric_fit *out, const struct nccl_tests *tests, const struct fabric_start *start)
{
    struct fitting fitting = {.tests = tests, .start = start};
    *out = (struct fabric_fit){.model_s = NULL};
    assert(tests->count > 0);
    TRY(check_rows(tests, start));
    if (!find_bytes_min(&fitting)) {
        fitting.bytes_min = 0;
        begin(&fitting);
        return error_new(ERROR_DATA, "%s has %zu rows, where a fit of %zu parameter%s needs %zu: measure more sizes",
                         tests->rows[0].file, tests->count, count_free(&fitting), count_free(&fitting) == 1 ? "" : "s",
                         count_free(&fitting) + FABRIC_FIT_SPARE_ROWS);
    }
    estimate(&fitting, out->estimates);
    judge(&fitting, out);
    return ERROR_OK;
}

void fabric_fit_release(struct fabric_fit *fit)
{
    mem_free(fit->model_s);
    *fit = (struct fabric_fit){.model_s = NULL};
}
