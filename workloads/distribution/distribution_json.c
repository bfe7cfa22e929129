/* workloads/distribution/distribution_json.c -- distributions read from JSON and written as JSON. */
#include <math.h>

#include "workloads/distribution/distribution.h"

#define NUMBER_MAX 1e12
#define SHAPE_MAX  1e6

static const char *const simple_names[] = {"constant", "exponential", "lognormal", NULL};
const char *const distribution_names[] = {"constant", "exponential", "lognormal", "gamma",
                                          "weibull",  "hyper-gamma", "empirical", NULL};

/* A length of time, or a plain number; more than 0. */
static double scale_read(struct json_object *object, const char *key, bool is_needed)
{
    if (is_needed)
        json_need(object, key);
    const struct json_value value = json_member(object, key);
    const double scale = time_to_seconds(json_get_duration(object, key, TIME_NS_PER_S));
    if (value.node != NULL && scale <= 0)
        json_fail(&value, "'%s' must be more than 0", key);
    return scale;
}

static void pair_read(struct json_object *object, const char *key, double most, double pair[2])
{
    json_need(object, key);
    const struct json_value value = json_member(object, key);
    if (value.node == NULL)
        return;
    if (json_array_count(&value) != 2) {
        json_fail(&value, "'%s' must be an array of two numbers, of the first and of the second gamma", key);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        const struct json_value item = json_array_item(&value, i);
        pair[i] = json_value_real(&item, 1 / SHAPE_MAX, most);
    }
}

/* exp of a gamma of a scale of 1 or more has no mean. */
static void log_check(const struct json_value *value, const struct distribution *of)
{
    for (int i = 0; of->is_log && i < 2; i++)
        if (of->scales[i] >= 1)
            json_fail(value, "with 'log' a scale must be below 1: at 1 the mean is infinite");
}

static void gamma_read(struct distribution *of, struct json_object *object, bool is_scaled)
{
    json_need(object, "shape");
    if (is_scaled)
        json_need(object, "scale");
    of->is_log = json_get_bool(object, "log", false);
    of->first[0] = 1;
    of->shapes[0] = of->shapes[1] = json_get_real(object, "shape", 1 / SHAPE_MAX, SHAPE_MAX, 1);
    of->scales[0] = of->scales[1] = json_get_real(object, "scale", 1 / SHAPE_MAX, NUMBER_MAX, of->is_log ? 0.5 : 1);
    log_check(&object->value, of);
}

static void hyper_read(struct distribution *of, struct json_object *object)
{
    json_need(object, "first_share");
    of->first[0] = json_get_real(object, "first_share", 0, 1, 1);
    of->first[1] = json_get_real(object, "first_share_per_gpu", -1, 1, 0);
    of->is_log = json_get_bool(object, "log", false);
    of->shapes[0] = of->shapes[1] = 1;
    of->scales[0] = of->scales[1] = 0.5;
    pair_read(object, "shapes", SHAPE_MAX, of->shapes);
    pair_read(object, "scales", NUMBER_MAX, of->scales);
    log_check(&object->value, of);
}

static struct distribution_point point_read(const struct json_value *item)
{
    if (json_array_count(item) != 2) {
        json_fail(item, "a point must be an array of a cumulative probability and a number");
        return (struct distribution_point){0, 0};
    }
    const struct json_value p = json_array_item(item, 0), x = json_array_item(item, 1);
    return (struct distribution_point){json_value_real(&p, 0, 1), json_value_real(&x, 0, NUMBER_MAX)};
}

static void points_read(struct distribution *of, struct json_object *object, struct arena *arena)
{
    json_need(object, "points");
    const struct json_value value = json_member(object, "points");
    const size_t count = value.node != NULL ? json_array_count(&value) : 0;
    if (value.node == NULL)
        return;
    if (count < 2 || count > DISTRIBUTION_POINTS_MAX) {
        json_fail(&value, "'points' must be an array of 2 to %d points", DISTRIBUTION_POINTS_MAX);
        return;
    }
    struct distribution_point *points = arena_alloc_array(arena, count, struct distribution_point);
    of->points = points;
    of->point_count = (uint32_t)count;
    for (size_t i = 0; i < count && !error_is(*value.error); i++) {
        const struct json_value item = json_array_item(&value, i);
        points[i] = point_read(&item);
        if (i > 0 && (points[i].p < points[i - 1].p || points[i].x < points[i - 1].x))
            json_fail(&item, "probabilities and numbers of points must not decrease");
        if ((i == 0 && points[i].p > 0) || (i + 1 == count && points[i].p < 1))
            json_fail(&item, "the first point must have the probability 0, the last one 1");
    }
    if (!error_is(*value.error) && points[count - 1].x <= 0)
        json_fail(&value, "the last point must be above 0");
}

/* What is drawn again must be the smaller part. */
static void max_check(const struct json_value *value, struct distribution *of)
{
    if (error_is(*value->error) || isinf(of->max))
        return;
    const double max = of->max;
    of->max = INFINITY;
    if (distribution_cdf(of, 0, max) < 0.5 || (of->first[1] < 0 && distribution_cdf(of, 1e9, max) < 0.5))
        json_fail(value, "'max' must not be below the median");
    of->max = max;
}

void distribution_read(struct distribution *of, const struct json_value *value, struct arena *arena, bool is_scaled)
{
    struct json_object object;
    *of = (struct distribution){.scale = 1, .max = INFINITY};
    json_object_open(&object, value);
    json_need(&object, "distribution");
    of->kind = (enum distribution_kind)json_get_choice(&object, "distribution",
                                                       arena == NULL ? simple_names : distribution_names, 0);
    switch (of->kind) {
    case DISTRIBUTION_CONSTANT:
    case DISTRIBUTION_EXPONENTIAL:
        of->scale = scale_read(&object, "mean", is_scaled);
        break;
    case DISTRIBUTION_LOGNORMAL:
        of->scale = scale_read(&object, "median", is_scaled);
        json_need(&object, "sigma");
        of->sigma = json_get_real(&object, "sigma", 0, 10, 1);
        break;
    case DISTRIBUTION_WEIBULL:
        of->scale = scale_read(&object, "scale", is_scaled);
        json_need(&object, "shape");
        of->shape = json_get_real(&object, "shape", 0.05, SHAPE_MAX, 1);
        break;
    case DISTRIBUTION_GAMMA:
        gamma_read(of, &object, is_scaled);
        break;
    case DISTRIBUTION_HYPER_GAMMA:
        hyper_read(of, &object);
        break;
    case DISTRIBUTION_EMPIRICAL:
        points_read(of, &object, arena);
        break;
    }
    if (of->kind != DISTRIBUTION_CONSTANT && of->kind != DISTRIBUTION_EMPIRICAL && json_has(&object, "max"))
        of->max = scale_read(&object, "max", true);
    json_object_close(&object);
    max_check(value, of);
}

static void put(struct buffer *out, const char *key, double value)
{
    buffer_format(out, ", \"%s\": ", key);
    buffer_double(out, value);
}

static void put_pair(struct buffer *out, const char *key, const double pair[2])
{
    buffer_format(out, ", \"%s\": [", key);
    buffer_double(out, pair[0]);
    buffer_string(out, ", ");
    buffer_double(out, pair[1]);
    buffer_char(out, ']');
}

static void put_points(struct buffer *out, const struct distribution *of)
{
    buffer_string(out, ", \"points\": [");
    for (uint32_t i = 0; i < of->point_count; i++)
        buffer_format(out, "%s[%.7g, %.7g]", i > 0 ? ", " : "", of->points[i].p, of->points[i].x);
    buffer_char(out, ']');
}

void distribution_write(const struct distribution *of, struct buffer *out)
{
    buffer_format(out, "{\"distribution\": \"%s\"", distribution_names[of->kind]);
    switch (of->kind) {
    case DISTRIBUTION_CONSTANT:
    case DISTRIBUTION_EXPONENTIAL:
        put(out, "mean", of->scale);
        break;
    case DISTRIBUTION_LOGNORMAL:
        put(out, "median", of->scale);
        put(out, "sigma", of->sigma);
        break;
    case DISTRIBUTION_WEIBULL:
        put(out, "shape", of->shape);
        put(out, "scale", of->scale);
        break;
    case DISTRIBUTION_GAMMA:
        put(out, "shape", of->shapes[0]);
        put(out, "scale", of->scales[0]);
        break;
    case DISTRIBUTION_HYPER_GAMMA:
        put(out, "first_share", of->first[0]);
        put(out, "first_share_per_gpu", of->first[1]);
        put_pair(out, "shapes", of->shapes);
        put_pair(out, "scales", of->scales);
        break;
    case DISTRIBUTION_EMPIRICAL:
        put_points(out, of);
        break;
    }
    if (of->is_log)
        buffer_string(out, ", \"log\": true");
    if (!isinf(of->max))
        put(out, "max", of->max);
    buffer_char(out, '}');
}
