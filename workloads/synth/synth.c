#include "workloads/synth/synth.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "workloads/synth/alias.h"
#include "workloads/synth/synth_spec.h"

/* A class in use.  Each purpose has a random stream, named after the class. */
struct synth_stream {
    const struct synth_class *class;
    double gpu_h_per_day; /* that its jobs ask for */
    struct arrivals arrivals;
    struct alias sizes;
    struct job *templates; /* by size: a job without id, time and queue */
    bool has_early_end;
    queue_id queue; /* of all its jobs; unused if the class names none */
    struct random_stream size, run_time, outcome, activity, bandwidth, tenant;
};

struct synth {
    const struct synth_spec *spec;
    const struct cluster *cluster;
    uint64_t seed;
    time_ns until;
    uint64_t made_count;
    struct synth_stream *streams; /* by class */
    time_ns *next;                /* by class: its next arrival; TIME_NEVER: it has ended */
    struct alias projects;        /* by demand */
    double *demand;               /* by project, summing to 1 */
    queue_id *queues;             /* by project; a single one without tenants */
    struct arena arena;
};

/* ---- Making ------------------------------------------------------------------------------------ */

/* Rank r (from 1) of n has the demand r^-s / sum.  A shuffle assigns the ranks to the projects. */
static void demand_init(struct synth *synth)
{
    const struct synth_tenancy *tenants = &synth->spec->tenants;
    uint32_t count = tenants->projects;
    struct random_stream ranks;
    double sum = 0;
    synth->queues = arena_alloc_array(&synth->arena, count != 0 ? count : 1, queue_id);
    if (count == 0)
        return;
    synth->demand = arena_alloc_array(&synth->arena, count, double);
    for (uint32_t i = 0; i < count; i++) {
        synth->demand[i] = pow(i + 1.0, -tenants->zipf_exponent);
        sum += synth->demand[i];
    }
    random_stream_init(&ranks, synth->seed, "synth.ranks", 0);
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = random_below(&ranks, i + 1);
        double kept = synth->demand[i];
        synth->demand[i] = synth->demand[other];
        synth->demand[other] = kept;
    }
    for (uint32_t i = 0; i < count; i++)
        synth->demand[i] /= sum;
    alias_init(&synth->projects, &synth->arena, synth->demand, count);
}

static uint8_t level_of(const struct cluster *cluster, const char *name)
{
    return name == NULL ? 0 : cluster_level_of(cluster, text_of(name));
}

static const char *claim_size(const struct cluster *cluster, const struct synth_size *size,
                              const struct node_ask *nodes, struct job *job)
{
    const struct claims claims = {
        .claim = *size->claim, .count = 1, .cpu_milli = size->ask.cpu_milli, .memory_mib = size->ask.memory_mib};
    const char *complaint = claims_group(&claims, cluster, &job->first);
    job->first.request.nodes = nodes;
    return complaint;
}

/* What a job of that size asks for, its constraint on nodes in the arena; or why that is not valid. */
static const char *shape_size(const struct cluster *cluster, const struct synth_size *size, struct arena *arena,
                              struct job *job)
{
    struct ask ask = size->ask;
    ask.node_ask = node_ask_make(arena, cluster, &size->nodes);
    enum ask_field culprit;
    uint64_t mig_models = 0;
    if (size->mig != NULL)
        ask.mig = ask_mig(cluster, text_of(size->mig), &mig_models);
    ask.gpu_models = ask_both_models(ask_models(cluster, text_of(size->gpu_model)), mig_models);
    job->topology.required = level_of(cluster, size->required);
    job->topology.preferred = level_of(cluster, size->preferred);
    if ((size->required != NULL && job->topology.required == 0) ||
        (size->preferred != NULL && job->topology.preferred == 0))
        return "the cluster has no level of the name that its 'topology' says";
    if (size->claim != NULL)
        return claim_size(cluster, size, ask.node_ask, job);
    if (size->gpu_class != NULL) {
        const struct gpu_class *class = cluster_gpu_class_of(cluster, text_of(size->gpu_class));
        const char *complaint =
            class == NULL ? "the cluster has no GPU class of that name" : ask_class(class, &ask, &culprit);
        if (complaint != NULL)
            return complaint;
    }
    return ask.tensor_parallel != 0 ? ask_tensor_parallel(&ask, cluster, job) : ask_shape(&ask, job, &culprit);
}

const char *synth_complaint(const struct synth_spec *spec, const struct cluster *cluster, const char **class_name,
                            uint32_t *index)
{
    struct arena arena = {0};
    const char *complaint = NULL;
    for (uint32_t c = 0; c < spec->class_count && complaint == NULL; c++)
        for (uint32_t s = 0; s < spec->classes[c].size_count && complaint == NULL; s++) {
            struct job job = job_default();
            complaint = shape_size(cluster, &spec->classes[c].sizes[s], &arena, &job);
            *class_name = spec->classes[c].name;
            *index = s;
        }
    arena_release(&arena);
    return complaint;
}

static struct job template_of(struct synth *synth, const struct synth_class *class, const struct synth_size *size)
{
    struct job job = job_default();
    const char *complaint = shape_size(synth->cluster, size, &synth->arena, &job);
    assert(complaint == NULL && "synth_read and synth_complaint have checked it");
    (void)complaint;
    job.class = (uint8_t) class->class;
    job.priority = class->priority;
    job.is_preemptible = class->is_preemptible;
    job.is_firm_by_priority = class->is_firm_by_priority;
    job.checkpoint = class->checkpoint;
    job.limit = class->limit;
    return job;
}

static void sizes_init(struct synth *synth, struct synth_stream *stream)
{
    const struct synth_class *class = stream->class;
    double *weights = mem_zalloc(class->size_count, sizeof *weights);
    stream->templates = arena_alloc_array(&synth->arena, class->size_count, struct job);
    for (uint32_t i = 0; i < class->size_count; i++) {
        weights[i] = class->sizes[i].weight;
        stream->templates[i] = template_of(synth, class, &class->sizes[i]);
    }
    alias_init(&stream->sizes, &synth->arena, weights, class->size_count);
    mem_free(weights);
}

uint32_t synth_load_gpus(const struct synth *synth)
{
    const struct synth_spec *spec = synth->spec;
    return spec->load_gpus != 0 ? spec->load_gpus : synth->cluster->gpu_count;
}

/* Mean GPUs that a job of the class asks for, by the templates. */
static double asked_gpus(const struct synth *synth, const struct synth_stream *stream)
{
    const struct synth_class *class = stream->class;
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < class->size_count; i++) {
        double milli = (double)job_asked_milli(&stream->templates[i], synth->cluster);
        sum += class->sizes[i].weight * milli / GPU_MILLI;
        weights += class->sizes[i].weight;
    }
    return sum / weights;
}

/* Jobs per second.  Also sets the stream's GPU hours per day. */
static double rate_of(const struct synth *synth, struct synth_stream *stream)
{
    const struct synth_class *class = stream->class;
    const double asked_s = asked_gpus(synth, stream) * synth_class_mean_s(class);
    const double gpu_s = synth_class_whole_gpus(class) * synth_class_mean_s(class);
    const double load = class->share * synth->spec->load_whole_gpu;
    const double rate = gpu_s > 0 ? load * synth_load_gpus(synth) / gpu_s : 0;
    stream->gpu_h_per_day = rate * asked_s * HOURS_PER_DAY;
    return rate;
}

double synth_gpu_h_per_day(const struct synth *synth)
{
    double sum = 0;
    for (uint32_t i = 0; i < synth->spec->class_count; i++)
        sum += synth->streams[i].gpu_h_per_day;
    return sum;
}

static void stream_init(struct synth *synth, struct synth_stream *stream, const struct synth_class *class)
{
    uint64_t entity = hash_bytes(class->name, strlen(class->name), 0);
    stream->class = class;
    stream->has_early_end = class->fail_early > 0 || class->cancelled > 0;
    sizes_init(synth, stream);
    arrivals_init(&stream->arrivals, &synth->arena, &class->arrivals, rate_of(synth, stream), synth->demand,
                  synth->spec->tenants.projects, synth->seed, entity);
    random_stream_init(&stream->size, synth->seed, "synth.size", entity);
    random_stream_init(&stream->run_time, synth->seed, "synth.run_time", entity);
    random_stream_init(&stream->outcome, synth->seed, "synth.outcome", entity);
    random_stream_init(&stream->activity, synth->seed, "synth.activity", entity);
    random_stream_init(&stream->bandwidth, synth->seed, "synth.bandwidth", entity);
    random_stream_init(&stream->tenant, synth->seed, "synth.tenant", entity);
}

struct synth *synth_new(const struct synth_spec *spec, const struct cluster *cluster, uint64_t seed)
{
    struct synth *synth = mem_zalloc(1, sizeof *synth);
    synth->spec = spec;
    synth->cluster = cluster;
    synth->seed = seed;
    synth->until = spec->duration < TIME_NS_MAX ? spec->duration : TIME_NS_MAX;
    synth->streams = arena_alloc_array(&synth->arena, spec->class_count, struct synth_stream);
    synth->next = arena_alloc_array(&synth->arena, spec->class_count, time_ns);
    demand_init(synth);
    for (uint32_t i = 0; i < spec->class_count; i++) {
        stream_init(synth, &synth->streams[i], &spec->classes[i]);
        synth->next[i] = arrivals_next(&synth->streams[i].arrivals, synth->until);
    }
    return synth;
}

void synth_free(struct synth *synth)
{
    if (synth == NULL)
        return;
    arena_release(&synth->arena);
    mem_free(synth);
}

/* ---- Tenants ----------------------------------------------------------------------------------- */

/* Where part `index` of `count` begins when `whole` is divided as evenly as integers allow. */
static int64_t part_begin(int64_t whole, int64_t index, int64_t count)
{
    return whole / count * index + whole % count * index / count;
}

void synth_classes(const struct synth *synth, struct names *names)
{
    for (uint32_t i = 0; i < synth->spec->class_count; i++)
        names_add(names, text_of(synth->spec->classes[i].name));
}

void synth_sizes(const struct synth *synth, synth_seen_fn *seen, void *self)
{
    for (uint32_t c = 0; c < synth->spec->class_count; c++)
        for (uint32_t s = 0; s < synth->spec->classes[c].size_count; s++)
            if (!seen(self, &synth->streams[c].templates[s], c, s))
                return;
}

static queue_id tenant_add(struct queue_table *queues, const char *level, uint32_t index, queue_id parent,
                           int64_t deserved_milli)
{
    char name[32];
    int length = snprintf(name, sizeof name, "%s%03u", level, index);
    queue_id id = queue_table_add(queues, (struct text){name, (size_t)length}, parent);
    queues->queues[id].deserved[RESOURCE_GPU] = deserved_milli;
    return id;
}

static void projects_add(const struct synth *synth, struct queue_table *queues, uint32_t team, queue_id parent,
                         int64_t team_milli)
{
    const struct synth_tenancy *tenants = &synth->spec->tenants;
    int64_t first = part_begin(tenants->projects, team, tenants->teams);
    int64_t count = part_begin(tenants->projects, team + 1, tenants->teams) - first;
    for (int64_t i = 0; i < count; i++) {
        int64_t deserved = part_begin(team_milli, i + 1, count) - part_begin(team_milli, i, count);
        synth->queues[first + i] = tenant_add(queues, "project", (uint32_t)(first + i), parent, deserved);
    }
}

void synth_tenants(const struct synth *synth, struct queue_table *queues)
{
    const struct synth_tenancy *tenants = &synth->spec->tenants;
    int64_t whole = (int64_t)synth->cluster->gpu_count * GPU_MILLI;
    uint32_t team = 0;
    for (uint32_t i = 0; tenants->projects > 0 && i < tenants->organisations; i++) {
        uint32_t team_end = (uint32_t)part_begin(tenants->teams, i + 1, tenants->organisations);
        int64_t begin = part_begin(whole, team, tenants->teams);
        queue_id organisation =
            tenant_add(queues, "organisation", i, QUEUE_ROOT, part_begin(whole, team_end, tenants->teams) - begin);
        for (; team < team_end; team++) {
            int64_t deserved = part_begin(whole, team + 1, tenants->teams) - part_begin(whole, team, tenants->teams);
            queue_id id = tenant_add(queues, "team", team, organisation, deserved);
            projects_add(synth, queues, team, id, deserved);
        }
    }
    for (uint32_t c = 0; c < synth->spec->class_count; c++) {
        const char *name = synth->spec->classes[c].queue;
        if (name != NULL)
            synth->streams[c].queue = queue_table_of(queues, text_of(name));
        else if (tenants->projects == 0)
            synth->queues[0] = queue_table_of(queues, TEXT("default"));
    }
}

queue_id synth_class_queue(const struct synth *synth, uint32_t class_index)
{
    if (synth->spec->classes[class_index].queue != NULL)
        return synth->streams[class_index].queue;
    return synth->spec->tenants.projects == 0 ? synth->queues[0] : QUEUE_NONE;
}

/* ---- Drawing ----------------------------------------------------------------------------------- */

static queue_id queue_draw(const struct synth *synth, struct synth_stream *stream)
{
    if (stream->class->queue != NULL)
        return stream->queue;
    if (synth->spec->tenants.projects <= 1)
        return synth->queues[0];
    if (stream->arrivals.active_count != 0) {
        uint32_t service = arrivals_burst_service(&stream->arrivals, random_uniform(&stream->tenant));
        if (service != UINT32_MAX)
            return synth->queues[service];
    }
    return synth->queues[alias_draw(&synth->projects, &stream->tenant)];
}

/* A uniform number decides whether the job ends early; the same number, scaled, decides when. */
static double early_end(struct synth_stream *stream, struct job_truth *truth)
{
    const struct synth_class *class = stream->class;
    double u = random_uniform(&stream->outcome);
    if (u < class->fail_early) {
        truth->outcome = OUTCOME_FAILED;
        return SYNTH_FAIL_WITHIN * (u / class->fail_early);
    }
    u -= class->fail_early;
    if (u >= class->cancelled)
        return 1;
    truth->outcome = OUTCOME_CANCELLED;
    return u / class->cancelled;
}

/* Times are cut to milliseconds: production traces record seconds, and more digits only make records larger.  Arrivals
 * are added up before the cut, so that rates stay exact. */
static time_ns whole_ms(time_ns time)
{
    return time - time % TIME_NS_PER_MS;
}

static uint16_t between(struct random_stream *stream, uint16_t low, uint16_t high)
{
    const uint32_t choices = high - low + 1u;
    return (uint16_t)(low + (choices > 1 ? random_below(stream, choices) : 0));
}

static void truth_draw(struct synth_stream *stream, struct job_truth *truth)
{
    const struct synth_class *class = stream->class;
    *truth = (struct job_truth){
        .recorded_wait = TIME_NEVER, .outcome = OUTCOME_COMPLETED, .would_do_milli = class->would_do_milli};
    double seconds = run_time_draw_s(&class->run_time, &stream->run_time);
    if (stream->has_early_end)
        seconds *= early_end(stream, truth);
    truth->duration = whole_ms(time_from_seconds(seconds));
    truth->sm_active_milli = between(&stream->activity, class->sm_active_low, class->sm_active_high);
    truth->bandwidth_milli = between(&stream->bandwidth, class->bandwidth_low, class->bandwidth_high);
}

/* The class with the next arrival; at equal times the first class. */
static uint32_t class_next(const struct synth *synth)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < synth->spec->class_count; i++)
        if (synth->next[i] < synth->next[first])
            first = i;
    return first;
}

bool synth_next(struct synth *synth, struct job *job, struct job_truth *truth)
{
    uint32_t index = class_next(synth);
    struct synth_stream *stream = &synth->streams[index];
    if (synth->next[index] == TIME_NEVER || synth->made_count == synth->spec->job_count)
        return false;
    *job = stream->templates[alias_draw(&stream->sizes, &stream->size)];
    job->id = (job_id)synth->made_count;
    job->trace_id = (int64_t)synth->made_count;
    job->submit = whole_ms(synth->next[index]);
    job->queue = queue_draw(synth, stream);
    truth_draw(stream, truth);
    truth->workload_class = (uint8_t)(index + 1);
    synth->made_count++;
    synth->next[index] = arrivals_next(&stream->arrivals, synth->until);
    return true;
}
