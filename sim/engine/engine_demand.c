#include "sim/engine/engine_demand.h"

#include "topologies/mig.h"

bool engine_has_clients(const struct engine *engine)
{
    const struct policy_config *policy = engine->policy;
    return engine->config->world.sharing != SHARING_FREE && policy != NULL && policy->sharing->map != NULL;
}

static double part_of(int64_t milli)
{
    return (double)milli / GPU_MILLI;
}

static enum gpu_program program_of(const struct job *job)
{
    return engine_program(job->class);
}

struct gpu_demand engine_demand(const struct engine *engine, const struct job *job, const struct job_truth *truth,
                                const struct request *wish)
{
    double compute = part_of(truth->sm_active_milli);
    if (truth->sm_active_milli == SM_ACTIVE_UNKNOWN) {
        const int64_t milli = engine_member_milli(engine, wish);
        compute = part_of(truth->would_do_milli) * part_of(milli < GPU_MILLI ? milli : GPU_MILLI);
    }
    return gpu_demand_of(program_of(job), compute, part_of(truth->bandwidth_milli));
}

struct gpu_grant engine_grant(const struct gpu_model *model, uint8_t mig, int64_t gpu_milli)
{
    if (mig != 0) {
        const struct mig_profile *profiles = mig_profiles(model->mig);
        const struct mig_profile *profile = profiles != NULL ? &profiles[mig - 1] : NULL;
        const double slices = profile != NULL ? (double)profile->memory_slices / MIG_SLICES : 1;
        const bool has_sms = profile != NULL && profile->sm_count > 0 && model->sm_count > 0;
        return (struct gpu_grant){has_sms ? (double)profile->sm_count / model->sm_count : slices, slices};
    }
    const double part = gpu_milli > 0 && gpu_milli < GPU_MILLI ? part_of(gpu_milli) : 1;
    return (struct gpu_grant){part, part};
}

/* What the requested piece grants, on the first GPU model of the cluster that the member accepts and that has MIG. */
static struct gpu_grant grant_asked(const struct engine *engine, const struct request *wish)
{
    const struct cluster *cluster = engine->config->cluster;
    uint32_t m = 0;
    if (cluster->model_count == 0)
        return (struct gpu_grant){1, 1};
    while (m + 1 < cluster->model_count &&
           !((wish->gpu_models == 0 || wish->gpu_models >> m & 1) && cluster->models[m].mig != MIG_NONE))
        m++;
    return engine_grant(&cluster->models[m], wish->mig, engine_member_milli(engine, wish));
}

uint32_t engine_member_gpus(const struct request *wish)
{
    if (wish->gpus > 0)
        return wish->gpus;
    return wish->mig != 0 || wish->gpu_milli != 0 || wish->gpu_memory_mib != 0;
}

bool engine_asks_whole(const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (!request_is_whole(&job_group(job, g)->request))
            return false;
    return true;
}

struct engine_asked engine_asked_of(const struct engine *engine, const struct job *job, const struct job_truth *truth)
{
    struct engine_asked asked = {.is_open = gpu_programs[program_of(job)].is_open};
    double served = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        const int64_t milli = (int64_t)engine_member_gpus(&group->request) * GPU_MILLI * group->count;
        double time = 1;
        if (!request_is_whole(&group->request)) {
            const struct gpu_demand demand = engine_demand(engine, job, truth, &group->request);
            time = gpu_demand_alone(&demand, grant_asked(engine, &group->request));
        }
        asked.gpus_milli += milli;
        served += (double)milli / time;
    }
    asked.served = asked.gpus_milli > 0 ? served / (double)asked.gpus_milli : 1;
    return asked;
}

struct gpu_parts engine_parts_of(const struct engine *engine, const struct job *job, const struct job_truth *truth,
                                 const struct job_group *got)
{
    struct gpu_parts sum = {0};
    double gpus = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        const struct request *gets = got != NULL ? &got[g].request : &group->request;
        const struct gpu_demand demand = engine_demand(engine, job, truth, &group->request);
        struct gpu_grant grant = grant_asked(engine, gets);
        if (!demand.is_open && group->request.mig == 0 && !request_is_whole(&group->request)) { /* it gets no more */
            const struct gpu_grant most = grant_asked(engine, &group->request);
            grant = (struct gpu_grant){fmin(grant.sms, most.sms), fmin(grant.bandwidth, most.bandwidth)};
        }
        const struct gpu_parts parts = gpu_demand_parts(&demand, grant);
        const double count = (double)engine_member_gpus(&group->request) * group->count;
        sum.host += count * parts.host;
        sum.kernel += count * parts.kernel;
        gpus += count;
    }
    return gpus > 0 ? (struct gpu_parts){sum.host / gpus, sum.kernel / gpus} : sum;
}

void engine_note_unserved(struct sim_job *job, double active)
{
    enum { MILLI_NS_PER_US = GPU_MILLI * 1000 };
    const double missing = (job->wanted - active) * (double)job->row.held_milli_ns;
    job->row.unserved_gpu_us = missing > 0 ? llrint(missing / MILLI_NS_PER_US) : 0;
}
