#include "workloads/activity/activity.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>

const char *const activity_kind_names[] = {"busy", "notebook", "training", "inference", NULL};

enum { MILLI = 1000, HOURS = 24 };

/* ---- plans ---- */

static double level_real(struct json_object *object, const char *key)
{
    json_need(object, key);
    return json_get_real(object, key, 0, 1, 0);
}

static void level_read(struct json_object *object, struct activity_level *level)
{
    level->mean = level_real(object, "level");
    level->sd = json_get_real(object, "level_sd", 0, 0.5, 0);
    const struct json_value sd = json_member(object, "level_sd");
    if (level->sd > 0 && level->sd * level->sd >= level->mean * (1 - level->mean))
        json_fail(&sd, "no levels from 0 to 1 have the mean %g and the 'level_sd' %g: that must be below %g",
                  level->mean, level->sd, sqrt(level->mean * (1 - level->mean)));
}

static void span_read(struct json_object *object, const char *key, struct distribution *span)
{
    json_need(object, key);
    const struct json_value value = json_member(object, key);
    if (value.node != NULL)
        distribution_read(span, &value, NULL, true);
}

static void notebook_read(struct activity_plan *plan, struct json_object *object)
{
    level_read(object, &plan->level);
    span_read(object, "burst", &plan->active);
    span_read(object, "gap", &plan->quiet);
    plan->abandoned = json_get_real(object, "abandoned", 0, 1, 0);
}

static void training_read(struct activity_plan *plan, struct json_object *object)
{
    level_read(object, &plan->level);
    span_read(object, "work", &plan->active);
    span_read(object, "stall", &plan->quiet);
    plan->stall_milli = (uint16_t)lrint(json_get_real(object, "stall_level", 0, 1, 0) * MILLI);
}

/* Rounded to millionths before it is scaled, so that a cosine's last bit has no effect. */
static void inference_hours(struct activity_plan *plan)
{
    for (int h = 0; h < HOURS; h++) {
        const double wave = rint(cos(2 * M_PI * (h - plan->peak_hour) / HOURS) * 1e6) / 1e6;
        const double share = plan->prefill_share * (1 + (plan->peak - 1) * wave);
        const double level = plan->decode + (plan->prefill - plan->decode) * share;
        plan->hour_milli[h] = (uint16_t)floor(level * MILLI + 0.5);
    }
}

static void inference_read(struct activity_plan *plan, struct json_object *object)
{
    plan->prefill = level_real(object, "prefill");
    plan->decode = level_real(object, "decode");
    plan->prefill_share = level_real(object, "prefill_share");
    plan->peak = json_get_real(object, "diurnal_peak_to_mean", 1, 2, 1);
    plan->peak_hour = (double)json_get_int(object, "diurnal_peak_hour", 0, HOURS - 1, 14);
    if (!error_is(*object->value.error) && plan->prefill_share * plan->peak > 1)
        json_fail(&object->value, "'prefill_share' times 'diurnal_peak_to_mean' is %g; a part of an hour is at most 1",
                  plan->prefill_share * plan->peak);
    inference_hours(plan);
}

void activity_plan_read(struct activity_plan *plan, struct json_object *object)
{
    *plan = (struct activity_plan){0};
    json_need(object, "kind");
    plan->kind = (enum activity_kind)json_get_choice(object, "kind", activity_kind_names, ACTIVITY_BUSY);
    switch (plan->kind) {
    case ACTIVITY_BUSY:
        level_read(object, &plan->level);
        break;
    case ACTIVITY_NOTEBOOK:
        notebook_read(plan, object);
        break;
    case ACTIVITY_TRAINING:
        training_read(plan, object);
        break;
    case ACTIVITY_INFERENCE:
        inference_read(plan, object);
        break;
    }
}

/* ---- one job ---- */

/* A busy GPU that is not idle has at least one thousandth of its SMs busy. */
static uint16_t level_draw(const struct activity_level *level, struct random_stream *stream)
{
    double drawn = level->mean;
    if (level->sd > 0) {
        const double spread = level->mean * (1 - level->mean) / (level->sd * level->sd) - 1;
        drawn = gsl_ran_beta(random_gsl(stream), level->mean * spread, (1 - level->mean) * spread);
    }
    const long milli = lrint(drawn * MILLI);
    return (uint16_t)(milli > 0 || level->mean <= 0 ? milli : 1);
}

static time_ns span_draw(const struct distribution *span, struct random_stream *stream)
{
    const double seconds = run_time_draw_s(span, stream);
    if (seconds >= time_to_seconds(TIME_NS_MAX))
        return TIME_NEVER;
    const time_ns drawn = time_from_seconds(seconds);
    return drawn > TIME_NS_PER_MS ? drawn - drawn % TIME_NS_PER_MS : TIME_NS_PER_MS;
}

static bool has_phases(const struct activity_plan *plan)
{
    return plan->kind == ACTIVITY_NOTEBOOK || plan->kind == ACTIVITY_TRAINING;
}

static void phase_begin(struct activity *activity, bool is_active)
{
    const struct activity_plan *plan = activity->plan;
    activity->is_active = is_active;
    if (is_active && plan->kind == ACTIVITY_NOTEBOOK)
        activity->own_milli = level_draw(&plan->level, &activity->stream);
    if (!is_active && plan->abandoned > 0 && random_uniform(&activity->stream) < plan->abandoned)
        activity->left = TIME_NEVER;
    else
        activity->left = span_draw(is_active ? &plan->active : &plan->quiet, &activity->stream);
}

void activity_begin(struct activity *activity, const struct activity_plan *plan, uint64_t seed, uint64_t job)
{
    activity->plan = plan;
    activity->left = TIME_NEVER;
    activity->is_active = true;
    random_stream_init(&activity->stream, seed, "activity", job);
    activity->own_milli = plan->kind == ACTIVITY_INFERENCE ? 0 : level_draw(&plan->level, &activity->stream);
    if (has_phases(plan))
        phase_begin(activity, true);
}

#define HOUR_NS (3600 * TIME_NS_PER_S)

uint32_t activity_level(const struct activity *activity, time_ns now)
{
    const struct activity_plan *plan = activity->plan;
    if (plan->kind == ACTIVITY_INFERENCE)
        return plan->hour_milli[now / HOUR_NS % HOURS];
    if (activity->is_active)
        return activity->own_milli;
    return plan->kind == ACTIVITY_TRAINING ? plan->stall_milli : 0;
}

time_ns activity_holds(const struct activity *activity, time_ns now)
{
    return activity->plan->kind == ACTIVITY_INFERENCE ? HOUR_NS - now % HOUR_NS : activity->left;
}

void activity_run(struct activity *activity, time_ns span)
{
    if (activity->left == TIME_NEVER)
        return;
    assert(span <= activity->left);
    activity->left -= span;
    if (activity->left == 0)
        phase_begin(activity, !activity->is_active);
}
