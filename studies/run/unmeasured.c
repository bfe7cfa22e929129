#include "studies/run/unmeasured.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "topologies/training_rows.h"

enum { NS_PER_US = 1000 };

/* ---- jobs at their best places ---- */

/* GPUs of its smallest member that has any. */
static uint32_t member_gpus_of(const struct job *job)
{
    uint32_t least = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const uint32_t gpus = job_group(job, g)->request.gpus;
        if (gpus > 0 && (least == 0 || gpus < least))
            least = gpus;
    }
    return least;
}

static void judge(struct unmeasured *unmeasured, struct unmeasured_kind *kind)
{
    const struct cluster *cluster = unmeasured->cluster;
    for (uint32_t p = 0; p < cluster->pool_count && !kind->has_place; p++) {
        const struct node_type *type = &cluster->types[cluster->pools[p].type];
        if (type->gpu_count < kind->member_gpus || (kind->gpu_models != 0 && !(kind->gpu_models >> type->model & 1)))
            continue;
        const struct gang_place best =
            communication_best(kind->communication, cluster, p, kind->gpus, kind->member_gpus);
        kind->verdict = validation_test(unmeasured->ranges, kind->communication, &best);
        kind->has_place = true;
    }
}

void unmeasured_add(struct unmeasured *unmeasured, const struct job *job, const struct job_truth *truth)
{
    const uint64_t gpus = job_whole_gpus(job);
    struct unmeasured_kind kind = {.communication = job->communication,
                                   .gpu_models = job->first.request.gpu_models,
                                   .gpus = gpus < UINT32_MAX ? (uint32_t)gpus : UINT32_MAX,
                                   .member_gpus = member_gpus_of(job)};
    if (!validation_communicates(kind.communication, kind.gpus))
        return;
    if (unmeasured->ranges == NULL)
        unmeasured->ranges = validation_ranges_new();
    const uint64_t hash = hash_mix(hash_mix((uint64_t)(uintptr_t)kind.communication, kind.gpu_models),
                                   (uint64_t)kind.gpus << 32 | kind.member_gpus);
    struct unmeasured_kind *known = &unmeasured->kinds[hash % UNMEASURED_KINDS];
    if (known->communication != kind.communication || known->gpu_models != kind.gpu_models ||
        known->gpus != kind.gpus || known->member_gpus != kind.member_gpus) {
        judge(unmeasured, &kind);
        *known = kind;
    }
    if (!known->has_place)
        return;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)job->trace_id);
    const int64_t gpu_us = job_truth_work(truth) / NS_PER_US * (int64_t)gpus;
    validation_add(&unmeasured->validation, known->verdict, job->name != NULL ? job->name : number, gpu_us, gpu_us);
}

void unmeasured_release(struct unmeasured *unmeasured)
{
    validation_ranges_free(unmeasured->ranges);
    unmeasured->ranges = NULL;
}

/* ---- mixtures of experts ---- */

/* On the pool where it is nearest to what was measured. */
static struct range_verdict verdict_of(const struct cluster *cluster, const struct training_plan *plan)
{
    struct range_verdict nearest = {.times = 0};
    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        if (cluster->types[cluster->pools[p].type].gpu_count == 0)
            continue;
        const struct collective_system system = collective_system_of(cluster, p);
        const struct range_verdict verdict = training_validated(plan, &system);
        if (nearest.times <= 0 || verdict.times < nearest.times)
            nearest = verdict;
    }
    return nearest;
}

/* The farthest of the plans that are declared at one place of the scenario, or by the jobs of a trace. */
struct told {
    const struct training_plan *plan;
    struct communication_origin origin;
    struct range_verdict verdict;
    uint32_t more; /* plans beside it, of other GPUs or jobs */
};

static bool is_same_place(const struct communication_origin *a, const struct communication_origin *b)
{
    const bool is_trace = a->file == NULL || b->file == NULL;
    return a->file == b->file && (is_trace || (a->line == b->line && a->column == b->column));
}

static uint32_t collect(const struct cluster *cluster, const struct communication_set *set, struct told *told)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct communication *of = set->items[i];
        if (!of->has_plan || of->plan.experts <= 1)
            continue;
        const struct told own = {&of->plan, set->origins[i], verdict_of(cluster, &of->plan), 0};
        uint32_t t = 0;
        if (range_is_inside(own.verdict))
            continue;
        while (t < count && !is_same_place(&told[t].origin, &own.origin))
            t++;
        const uint32_t more = t < count ? told[t].more + 1 : 0;
        if (t == count || own.verdict.times > told[t].verdict.times)
            told[t] = own;
        told[t].more = more;
        count += t == count;
    }
    return count;
}

static void list_source(const struct cluster *cluster, const struct job_source *source,
                        void (*say)(void *self, const char *text), void *self)
{
    const struct communication_set *set = job_source_communications(source);
    struct told *told = mem_zalloc(set->count + 1u, sizeof *told);
    const uint32_t count = collect(cluster, set, told);
    struct buffer text = {0};
    for (uint32_t t = 0; t < count; t++) {
        const struct communication_origin *origin = &told[t].origin;
        text.length = 0;
        buffer_string(&text, origin->file != NULL ? origin->file : job_source_path(source));
        if (origin->line > 0)
            buffer_format(&text, ":%zu:%zu", origin->line, origin->column);
        buffer_string(&text, ": 'plan': no measured row encloses this mixture of experts");
        if (told[t].more > 0)
            buffer_format(&text, ", nor %u nearer ones that are declared %s", told[t].more,
                          origin->file != NULL ? "there, of other GPUs" : "in the trace");
        buffer_string(&text, "; ");
        training_rows_tell(told[t].plan, told[t].verdict, "; ", &text);
        say(self, buffer_c_string(&text));
    }
    buffer_release(&text);
    mem_free(told);
}

void unmeasured_list(const struct scenario *scenario, const struct job_source *source,
                     void (*say)(void *self, const char *text), void *self)
{
    if (scenario->world.network == NETWORK_FREE)
        return;
    list_source(scenario->cluster, source, say, self);
    for (uint32_t p = 0; p < scenario->workload.part_count; p++)
        list_source(scenario->cluster, job_source_part(source, p), say, self);
}
