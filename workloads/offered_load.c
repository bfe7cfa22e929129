#include "workloads/offered_load.h"

#include <math.h>

#include "base/mem.h"
#include "workloads/job_truth.h"

#define MILLI_NS_PER_GPU_S 1e12

enum { BITS = 64, MODEL_OTHERS = OFFERED_PARTS_MAX - 1 };

const char *const offered_kind_names[] = {"none", "stream", "batch", "closed_loop", "fill", NULL};

void offered_begin(struct offered_counts *counts, enum offered_kind kind, const struct cluster *cluster, time_ns until)
{
    *counts = (struct offered_counts){.kind = (uint8_t)kind, .cluster = cluster, .until = until};
}

void offered_release(struct offered_counts *counts)
{
    mem_free(counts->users);
    counts->users = NULL;
    counts->user_capacity = 0;
}

static void add_user(struct offered_counts *counts, uint32_t user)
{
    if (user == NAMES_NONE)
        return;
    MEM_GROW(counts->users, counts->user_capacity, (size_t)user / BITS + 1);
    counts->users[user / BITS] |= UINT64_C(1) << user % BITS;
}

void offered_add(struct offered_counts *counts, const struct job *job, const struct job_truth *truth)
{
    const bool is_closed = counts->kind == OFFERED_CLOSED_LOOP;
    if (job->submit > counts->until && !is_closed) {
        counts->is_cut = true;
        return;
    }
    const time_ns work = job_truth_work(truth), end = time_after(job->submit, work);
    const bool has_models = counts->cluster != NULL && counts->cluster->model_count > 1;
    const uint8_t model = has_models ? job_only_model(job, counts->cluster) : JOB_MODEL_ANY;
    counts->asked_milli_ns[model < MODEL_OTHERS ? model : MODEL_OTHERS] +=
        (offered_sum)job_asked_milli(job, counts->cluster) * (uint64_t)work;
    counts->run_ns += (uint64_t)work;
    if (counts->jobs++ == 0) {
        counts->first = counts->last = job->submit;
        counts->latest_end = end;
    }
    counts->first = job->submit < counts->first ? job->submit : counts->first;
    counts->last = job->submit > counts->last ? job->submit : counts->last;
    counts->latest_end = end > counts->latest_end ? end : counts->latest_end;
    if (is_closed)
        add_user(counts, job->user);
}

void offered_move(struct offered_counts *counts, time_ns shift)
{
    counts->first += shift;
    counts->last += shift;
    counts->latest_end += shift;
}

/* ---- The result ---- */

bool offered_is_batch(const struct offered_counts *counts)
{
    return counts->kind == OFFERED_STREAM && !counts->is_cut &&
           (offered_sum)(counts->last - counts->first) * counts->jobs < counts->run_ns;
}

static uint32_t gpus_of(const struct cluster *cluster, uint32_t model)
{
    uint32_t gpus = 0;
    for (uint32_t t = 0; t < cluster->type_count; t++)
        if (cluster->types[t].model == model)
            gpus += cluster->types[t].node_count * cluster->types[t].gpu_count;
    return gpus;
}

static double gpu_s_of(offered_sum milli_ns)
{
    return (double)milli_ns / MILLI_NS_PER_GPU_S;
}

/* All GPUs, and those of each model. */
static void add_parts(const struct offered_counts *counts, const offered_sum *in_service, struct offered_load *load)
{
    const uint64_t span = (uint64_t)(counts->last - counts->first);
    offered_sum asked = counts->asked_milli_ns[MODEL_OTHERS], all = 0;
    for (uint32_t m = 0; counts->cluster != NULL && m < counts->cluster->model_count; m++) {
        const uint32_t gpus = gpus_of(counts->cluster, m);
        const offered_sum gpu_ns = in_service != NULL ? in_service[m] : (offered_sum)gpus * span;
        asked += counts->asked_milli_ns[m];
        all += gpu_ns;
        if (gpus > 0)
            load->parts[load->part_count++] = (struct offered_part){.model = (uint8_t)m,
                                                                    .gpus = gpus,
                                                                    .asked_gpu_s = gpu_s_of(counts->asked_milli_ns[m]),
                                                                    .gpu_s = gpu_s_of(gpu_ns * GPU_MILLI)};
    }
    load->all = (struct offered_part){.model = JOB_MODEL_ANY,
                                      .gpus = counts->cluster != NULL ? counts->cluster->gpu_count : 0,
                                      .asked_gpu_s = gpu_s_of(asked),
                                      .gpu_s = gpu_s_of(all * GPU_MILLI)};
    if (load->part_count < 2) {
        load->part_count = 0;
    } else if (counts->asked_milli_ns[MODEL_OTHERS] > 0) {
        load->parts[load->part_count] = load->all;
        load->parts[load->part_count++].asked_gpu_s = gpu_s_of(counts->asked_milli_ns[MODEL_OTHERS]);
    }
}

static uint64_t users_of(const struct offered_counts *counts)
{
    uint64_t users = 0;
    for (size_t i = 0; i < counts->user_capacity; i++)
        users += (uint64_t)__builtin_popcountll(counts->users[i]);
    return users;
}

double offered_part_ratio(const struct offered_load *load, const struct offered_part *part)
{
    return load->kind == OFFERED_STREAM && part->gpu_s > 0 ? part->asked_gpu_s / part->gpu_s : NAN;
}

struct offered_load offered_end(const struct offered_counts *counts, const offered_sum *in_service)
{
    struct offered_load load = {.kind = counts->jobs == 0 ? OFFERED_NONE : counts->kind,
                                .jobs = counts->jobs,
                                .first_s = time_to_seconds(counts->first),
                                .last_s = time_to_seconds(counts->last),
                                .users = users_of(counts)};
    add_parts(counts, in_service, &load);
    if (load.jobs > 0)
        load.run_mean_s = (double)counts->run_ns / 1e9 / (double)load.jobs;
    if (load.kind != OFFERED_NONE && offered_is_batch(counts)) {
        load.kind = OFFERED_BATCH;
        load.bound_s = time_to_seconds(counts->latest_end - counts->first);
        if (load.all.gpus > 0)
            load.bound_s = fmax(load.bound_s, load.all.asked_gpu_s / (double)load.all.gpus);
    }
    load.ratio = offered_part_ratio(&load, &load.all);
    return load;
}

/* ---- JSON ---- */

struct offered_names offered_names_of(const struct cluster *cluster)
{
    struct offered_names names = {{NULL}};
    for (uint32_t m = 0; cluster != NULL && m < cluster->model_count; m++)
        names.of[m] = cluster->models[m].name;
    return names;
}

static void put_part(const struct offered_load *load, const struct offered_part *part, struct buffer *out)
{
    const double ratio = offered_part_ratio(load, part);
    if (isfinite(ratio))
        buffer_members(out, ", 'ratio': %g", ratio);
    buffer_members(out, ", 'gpus': %llu, 'asked_gpu_s': %g, 'in_service_gpu_s': %g", (unsigned long long)part->gpus,
                   part->asked_gpu_s, part->gpu_s);
}

void offered_json(const struct offered_load *load, const char *const *model_names, struct buffer *out)
{
    buffer_members(out, "{'kind': %s, 'jobs': %llu", offered_kind_names[load->kind], (unsigned long long)load->jobs);
    put_part(load, &load->all, out);
    buffer_members(out, ", 'first_submit_s': %g, 'last_submit_s': %g, 'run_mean_s': %g", load->first_s, load->last_s,
                   load->run_mean_s);
    if (load->kind == OFFERED_BATCH)
        buffer_members(out, ", 'makespan_bound_s': %g", load->bound_s);
    if (load->kind == OFFERED_CLOSED_LOOP)
        buffer_members(out, ", 'users': %llu", (unsigned long long)load->users);
    for (uint32_t p = 0; p < load->part_count; p++) {
        const struct offered_part *part = &load->parts[p];
        buffer_members(out, p == 0 ? ", 'by_model': {" : ", ");
        buffer_members(out, "%s: {", part->model == JOB_MODEL_ANY ? "any" : model_names[part->model]);
        put_part(load, part, out);
        buffer_char(out, '}');
    }
    buffer_string(out, load->part_count > 0 ? "}}" : "}");
}
