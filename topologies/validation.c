/* topologies/validation.c -- communication against what was measured, summed over jobs. */
#include "topologies/validation.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "topologies/collective_rows.h"
#include "topologies/training_rows.h"

#define US_PER_H 3.6e9

/* ---- one job at one place ---- */

struct known_range {
    bool is_known;
    struct range range;
};

enum { PLAN_KINDS = 4 }; /* a mixture or not, sharded or not */

struct validation_ranges {
    struct known_range plans[PLAN_KINDS][TRAINING_PRECISION_COUNT][LINKS_COUNT];
    struct known_range collectives[COLLECTIVE_KIND_COUNT][COLLECTIVE_PLACE_CLASSES][LINKS_COUNT];
};

struct validation_ranges *validation_ranges_new(void)
{
    return mem_zalloc(1, sizeof(struct validation_ranges));
}

void validation_ranges_free(struct validation_ranges *ranges)
{
    mem_free(ranges);
}

bool validation_communicates(const struct communication *communication, uint32_t gpu_count)
{
    return communication != NULL && gpu_count > 1 &&
           (communication->has_plan || communication->sensitivity.exposed_ratio > 0);
}

static struct range_verdict test_plan(struct validation_ranges *ranges, const struct training_plan *plan,
                                      const struct gang_place *place)
{
    const int kind = 2 * (plan->experts > 1) + (plan->zero >= 2);
    struct known_range *known = &ranges->plans[kind][plan->precision][place->system.links];
    if (place->is_pcie)
        return range_never("system", "PCIe");
    if (!known->is_known)
        *known = (struct known_range){true, training_range(plan, &place->system)};
    return training_range_test(&known->range, plan, place->gpu_count, place->domain_count);
}

static struct range_verdict test_collective(struct validation_ranges *ranges, const struct sensitivity *sensitivity,
                                            const struct gang_place *place)
{
    const struct collective_place all = gang_place_all(place);
    struct known_range *known =
        &ranges->collectives[sensitivity->kind][collective_place_class(&all)][place->system.links];
    if (!known->is_known)
        *known = (struct known_range){true, collective_range(sensitivity->kind, &all)};
    return collective_range_test(&known->range, &all, sensitivity->bytes);
}

struct range_verdict validation_test(struct validation_ranges *ranges, const struct communication *communication,
                                     const struct gang_place *place)
{
    assert(place->gpu_count > 1);
    struct range_verdict verdict = communication->has_plan
                                       ? test_plan(ranges, &communication->plan, place)
                                       : test_collective(ranges, &communication->sensitivity, place);
    /* Systems without rows share a range: the reason names this one. */
    if (!range_is_inside(verdict) && isinf(verdict.times) && strcmp(verdict.axis, "system") == 0 && !place->is_pcie)
        verdict.reason = place->system.gpu_model;
    return verdict;
}

/* ---- all jobs ---- */

/* How far the reason's farthest job is outside. */
static double times_of(const struct validation_reason *reason)
{
    return reason->what[0] != '\0' ? INFINITY
                                   : fmax(reason->asked / reason->measured, reason->measured / reason->asked);
}

/* As many whole characters as fit. */
static void copy_name(char *out, const char *name)
{
    struct text rest = text_of(name);
    size_t length = 0, bytes;
    while ((bytes = text_utf8_bytes(rest)) > 0 && length + bytes < VALIDATION_NAME_BYTES) {
        memcpy(out + length, rest.at, bytes);
        length += bytes;
        rest = (struct text){rest.at + bytes, rest.length - bytes};
    }
    out[length] = '\0';
}

static void note_farthest(struct validation_reason *reason, struct range_verdict verdict, const char *job)
{
    if (reason->jobs > 0 && !(verdict.times > times_of(reason)))
        return;
    copy_name(reason->what, isinf(verdict.times) ? verdict.reason : "");
    copy_name(reason->job, job);
    reason->asked = verdict.asked;
    reason->measured = verdict.measured;
}

void validation_add(struct validation *validation, struct range_verdict verdict, const char *job, int64_t gpu_us,
                    int64_t outside_gpu_us)
{
    assert(outside_gpu_us >= 0 && outside_gpu_us <= gpu_us);
    struct validation_reason *reasons = validation->reasons;
    uint32_t r = 0;
    validation->jobs++;
    validation->gpu_us += gpu_us;
    if (range_is_inside(verdict))
        return;
    validation->outside_jobs++;
    validation->outside_gpu_us += outside_gpu_us;
    while (r < validation->reason_count && strcmp(reasons[r].axis, verdict.axis) != 0)
        r++;
    if (r == validation->reason_count) {
        assert(r < VALIDATION_REASONS_MAX);
        reasons[r] = (struct validation_reason){.jobs = 0};
        snprintf(reasons[r].axis, sizeof reasons[r].axis, "%s", verdict.axis);
        validation->reason_count++;
    }
    note_farthest(&reasons[r], verdict, job);
    reasons[r].jobs++;
    reasons[r].gpu_us += outside_gpu_us;
    for (; r > 0 && reasons[r].gpu_us > reasons[r - 1].gpu_us; r--) {
        const struct validation_reason less = reasons[r - 1];
        reasons[r - 1] = reasons[r];
        reasons[r] = less;
    }
}

/* ---- as JSON ---- */

void validation_json(const struct validation *validation, struct buffer *out)
{
    buffer_members(out, "{'jobs': %llu, 'gpu_h': %g, 'outside_jobs': %llu, 'outside_gpu_h': %g",
                   (unsigned long long)validation->jobs, (double)validation->gpu_us / US_PER_H,
                   (unsigned long long)validation->outside_jobs, (double)validation->outside_gpu_us / US_PER_H);
    for (uint32_t r = 0; r < validation->reason_count; r++) {
        const struct validation_reason *reason = &validation->reasons[r];
        buffer_members(out, r == 0 ? ", 'reasons': [" : ",\n   ");
        buffer_members(out, "{'axis': %s", reason->axis);
        if (reason->what[0] != '\0')
            buffer_members(out, ", 'what': %s", reason->what);
        else
            buffer_members(out, ", 'asked': %g, 'measured': %g", reason->asked, reason->measured);
        buffer_members(out, ", 'job': %s, 'jobs': %llu, 'gpu_h': %g}", reason->job, (unsigned long long)reason->jobs,
                       (double)reason->gpu_us / US_PER_H);
    }
    buffer_string(out, validation->reason_count > 0 ? "]}" : "}");
}

static int64_t read_gpu_h(struct json_object *object, const char *key)
{
    return llrint(json_get_real(object, key, 0, 1e9, 0) * US_PER_H);
}

static void read_text(struct json_object *object, const char *key, char *text, size_t size)
{
    const char *found = json_get_string(object, key, "");
    snprintf(text, size, "%s", found != NULL ? found : "");
}

void validation_read(struct validation *validation, const struct json_value *value)
{
    struct json_object object;
    *validation = (struct validation){.jobs = 0};
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    validation->jobs = (uint64_t)json_get_int(&object, "jobs", 0, INT64_MAX, 0);
    validation->gpu_us = read_gpu_h(&object, "gpu_h");
    validation->outside_jobs = (uint64_t)json_get_int(&object, "outside_jobs", 0, INT64_MAX, 0);
    validation->outside_gpu_us = read_gpu_h(&object, "outside_gpu_h");
    const struct json_value reasons = json_member(&object, "reasons");
    const size_t count = reasons.node != NULL ? json_array_count(&reasons) : 0;
    for (size_t r = 0; r < count && r < VALIDATION_REASONS_MAX; r++) {
        struct validation_reason *reason = &validation->reasons[validation->reason_count++];
        const struct json_value item = json_array_item(&reasons, r);
        struct json_object of;
        json_object_open(&of, &item);
        read_text(&of, "axis", reason->axis, sizeof reason->axis);
        read_text(&of, "what", reason->what, sizeof reason->what);
        read_text(&of, "job", reason->job, sizeof reason->job);
        reason->asked = json_get_real(&of, "asked", 0, 1e18, 0);
        reason->measured = json_get_real(&of, "measured", 0, 1e18, 0);
        reason->jobs = (uint64_t)json_get_int(&of, "jobs", 0, INT64_MAX, 0);
        reason->gpu_us = read_gpu_h(&of, "gpu_h");
        json_object_close(&of);
    }
    json_object_close(&object);
}
