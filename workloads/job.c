#include "workloads/job.h"

#include <stddef.h>

#include "topologies/gpu_model.h"
#include "topologies/mig.h"

enum { PRIORITY_DEFAULT = 50 };

const char *const job_class_names[] = {"training", "interactive", "inference", NULL};

const char *job_class_name(enum job_class class)
{
    return (unsigned)class < JOB_CLASS_COUNT ? job_class_names[class] : "unknown";
}

struct job job_default(void)
{
    return (struct job){
        .user = NAMES_NONE,
        .priority = PRIORITY_DEFAULT,
        .class = JOB_TRAINING,
        .is_preemptible = true,
        .group_count = 1,
        .first = {.count = 1, .min_count = 1},
        .limit = TIME_NEVER,
        .estimate = TIME_NEVER,
        .deadline = TIME_NEVER,
        .preemption_delay = JOB_AS_QUEUE,
        .stale_after = JOB_AS_QUEUE,
    };
}

/* The dominant share: two 3g instances fill a GPU although they use 6 of its 7 compute slices. */
static int64_t mig_gpu_milli(const struct request *request, const struct gpu_model *model)
{
    const struct mig_profile *profiles = model != NULL ? mig_profiles(model->mig) : NULL;
    if (profiles == NULL)
        return GPU_MILLI;
    const struct mig_profile *profile = &profiles[request->mig - 1];
    int64_t compute = profile->compute_slices * GPU_MILLI / MIG_COMPUTE_SLICES;
    int64_t memory = profile->memory_slices * GPU_MILLI / MIG_SLICES;
    return compute > memory ? compute : memory;
}

static int64_t memory_gpu_milli(const struct request *request, const struct gpu_model *model)
{
    if (model == NULL || model->memory_mib == 0 || request->gpu_memory_mib >= model->memory_mib)
        return GPU_MILLI;
    const int64_t milli = (int64_t)request->gpu_memory_mib * GPU_MILLI / model->memory_mib;
    return milli > 0 ? milli : 1;
}

int64_t request_gpu_milli(const struct request *request, const struct gpu_model *model)
{
    if (request->mig != 0)
        return mig_gpu_milli(request, model);
    if (request->gpu_memory_mib != 0)
        return memory_gpu_milli(request, model);
    return request->gpu_milli != 0 ? request->gpu_milli : (int64_t)request->gpus * GPU_MILLI;
}

uint64_t job_whole_gpus(const struct job *job)
{
    uint64_t gpus = 0;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        if (request_asks_gpus(&group->request) && group->request.gpus == 0)
            return 0;
        gpus += (uint64_t)group->count * group->request.gpus;
    }
    return gpus;
}

int64_t job_gpu_milli(const struct job *job)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < job->group_count; i++) {
        const struct job_group *group = job_group(job, i);
        sum += group->count * request_gpu_milli(&group->request, NULL);
    }
    return sum;
}

static const struct gpu_model *first_model(const struct request *request, const struct cluster *cluster)
{
    const uint32_t first = request->gpu_models != 0 ? (uint32_t)__builtin_ctzll(request->gpu_models) : 0;
    return cluster != NULL && first < cluster->model_count ? &cluster->models[first] : NULL;
}

int64_t job_asked_milli(const struct job *job, const struct cluster *cluster)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < job->group_count; i++) {
        const struct job_group *group = job_group(job, i);
        const bool is_by_model = group->request.mig != 0 || group->request.gpu_memory_mib != 0;
        sum += group->count *
               request_gpu_milli(&group->request, is_by_model ? first_model(&group->request, cluster) : NULL);
    }
    return sum;
}

uint8_t job_only_model(const struct job *job, const struct cluster *cluster)
{
    uint8_t model = JOB_MODEL_ANY;
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct request *request = &job_group(job, g)->request;
        for (uint32_t t = 0; t < cluster->type_count && request_asks_gpus(request); t++) {
            const struct node_type *type = &cluster->types[t];
            if (type->gpu_count == 0 || type->gpu_count < request->gpus || !request_takes_type(request, cluster, t))
                continue;
            if (model != JOB_MODEL_ANY && model != type->model)
                return JOB_MODEL_ANY;
            model = type->model;
        }
    }
    return model;
}

static void shape_set(struct job *job, uint32_t member_count, uint32_t gpus_per_member)
{
    job->first.count = member_count;
    job->first.min_count = member_count;
    job->first.request.gpus = (uint16_t)gpus_per_member;
}

void job_shape_gpus(struct job *job, uint32_t gpus, uint16_t gpus_per_node)
{
    if (gpus == 0 || gpus_per_node == 0) {
        shape_set(job, gpus == 0 ? 1 : gpus, gpus != 0);
        return;
    }
    uint32_t nodes = (uint32_t)(((uint64_t)gpus + gpus_per_node - 1) / gpus_per_node);
    if (gpus % nodes == 0)
        shape_set(job, nodes, gpus / nodes);
    else
        shape_set(job, gpus, 1);
}

static const char *request_complaint(const struct request *request)
{
    int kinds = (request->gpus != 0) + (request->gpu_milli != 0) + (request->gpu_memory_mib != 0) + (request->mig != 0);
    if (kinds > 1)
        return "a member asks for GPUs in more than one way";
    if (request->gpu_milli >= GPU_MILLI)
        return "a share of a GPU must be less than the whole of it";
    if (request->mig > MIG_PROFILE_COUNT)
        return "a member asks for a MIG profile that does not exist";
    return NULL;
}

static uint32_t without(uint32_t minimum, uint32_t succeeded)
{
    return minimum > succeeded ? minimum - succeeded : 0;
}

uint32_t sets_in(const struct job_set *sets, uint32_t set_count, uint16_t parent)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < set_count; s++)
        count += sets[s].parent == parent;
    return count;
}

bool sets_may_lack(const struct job_set *sets, uint32_t set_count, uint32_t min_sets)
{
    const uint32_t outer = sets != NULL ? sets_in(sets, set_count, SET_NONE) : set_count;
    bool may_lack = min_sets > 0 && min_sets < outer;
    for (uint32_t s = 0; s < set_count && sets != NULL && !may_lack; s++)
        may_lack = sets[s].min_sets > 0 && sets[s].min_sets < sets_in(sets, set_count, (uint16_t)s);
    return may_lack;
}

bool sets_settle(const struct job_set *sets, uint32_t set_count, uint32_t min_sets, bool satisfied[])
{
    uint32_t lacking[JOB_PARTS_MAX + 1] = {0}, met[JOB_PARTS_MAX + 1] = {0};
    for (uint32_t s = set_count; s-- > 0;) { /* sets inside a set have larger indices */
        const uint32_t parent = sets == NULL || sets[s].parent == SET_NONE ? set_count : sets[s].parent;
        if (sets != NULL)
            satisfied[s] &= sets[s].min_sets > 0 ? met[s] >= sets[s].min_sets : lacking[s] == 0;
        met[parent] += satisfied[s];
        lacking[parent] += !satisfied[s];
    }
    return min_sets > 0 ? met[set_count] >= min_sets : lacking[set_count] == 0;
}

/* Are the sets satisfied when the job has no members? */
static bool needs_nobody(const struct job *job)
{
    bool satisfied[JOB_PARTS_MAX];
    for (uint32_t s = 0; s < job->set_count; s++)
        satisfied[s] = job->sets[s].min_members == 0;
    return sets_settle(job->sets, job->set_count, job->min_sets, satisfied);
}

/* A minimum of 0 becomes 1: a job never runs without members. */
static void need_one(struct job *job, struct job_group *more, struct job_set *sets)
{
    for (uint32_t g = 0; g < job->group_count && job->set_count == 0; g++) {
        struct job_group *group = g == 0 ? &job->first : &more[g - 1];
        group->min_count = group->min_count > 0 ? group->min_count : 1;
    }
    if (job->set_count == 0 || !needs_nobody(job))
        return;
    job->min_sets = 0;
    for (uint32_t s = 0; s < job->set_count; s++)
        sets[s].min_members = sets[s].min_sets = 0;
    sets[job->first.set].min_members = 1;
}

void job_leave_out(struct job *job, struct job_group *more, struct job_set *sets, const uint32_t succeeded[],
                   uint16_t new_index[])
{
    uint16_t kept = 0;
    const uint16_t group_count = job->group_count;
    for (uint32_t g = 0; g < job->group_count; g++) {
        struct job_group group = *job_group(job, g);
        group.count -= succeeded[g];
        group.min_count = without(group.min_count, succeeded[g]);
        if (job->set_count > 0)
            sets[group.set].min_members = without(sets[group.set].min_members, succeeded[g]);
        new_index[g] = group.count > 0 ? kept : UINT16_MAX;
        if (group.count == 0)
            continue;
        *(kept == 0 ? &job->first : &more[kept - 1]) = group;
        kept++;
    }
    job->group_count = kept;
    job->more = kept > 1 ? more : NULL;
    if (job->set_count == 0 && job->min_sets > 0) { /* groups that are gone count as satisfied */
        const int left = job->min_sets - (group_count - kept);
        job->min_sets = (uint16_t)(left > 1 ? left : 1);
    }
    need_one(job, more, sets);
}

static const char *group_complaint(const struct job *job, const struct job_group *group)
{
    if (group->count == 0)
        return "a group has no members";
    if (job->set_count == 0 && (group->min_count == 0 || group->min_count > group->count))
        return "a group's minimum must be from 1 to its members";
    if (group->set >= (job->set_count > 0 ? job->set_count : 1))
        return "a group belongs to a set that does not exist";
    return request_complaint(&group->request);
}

static const char *set_complaint(const struct job *job, uint32_t index)
{
    const struct job_set *set = &job->sets[index];
    uint64_t members = 0;
    if (set->parent != SET_NONE && set->parent >= index)
        return "a set stands before its parent";
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job_group(job, g)->set == index)
            members += job_group(job, g)->count;
    if (set->min_sets > 0 && set->min_sets > sets_in(job->sets, job->set_count, (uint16_t)index))
        return "a set needs more sets than are in it";
    return set->min_members > members ? "a set's minimum exceeds its members" : NULL;
}

static const char *sets_complaint(const struct job *job)
{
    if (job->set_count > JOB_SETS_MAX)
        return "it must have at most 64 sets";
    if ((job->set_count > 0) != (job->sets != NULL))
        return "its sets do not agree with their number";
    if (job->min_sets > (job->set_count > 0 ? sets_in(job->sets, job->set_count, SET_NONE) : job->group_count))
        return "it needs more sets than it has";
    for (uint32_t s = 0; s < job->set_count; s++) {
        const char *complaint = set_complaint(job, s);
        if (complaint != NULL)
            return complaint;
    }
    return job->set_count > 0 && needs_nobody(job) ? "no set must have members" : NULL;
}

static const char *ties_complaint(const struct job *job)
{
    if (job->after_count > JOB_AFTER_MAX)
        return "it depends on more than 64 jobs";
    if ((job->after_count > 0) != (job->after != NULL))
        return "its dependencies do not agree with their number";
    for (uint32_t i = 0; i < job->after_count; i++)
        if (job->after[i].kind > AFTER_NOT_OK)
            return "it depends on a job in an unknown way";
    return job->array == 0 && job->array_max != 0 ? "it limits an array that it is not of" : NULL;
}

static const char *times_complaint(const struct job *job)
{
    if (job->submit < 0)
        return "it is submitted before the start";
    if (job->limit <= 0)
        return "its limit is not positive";
    if (job->estimate < 0)
        return "its estimate is negative";
    const struct checkpoint_plan *plan = &job->checkpoint;
    if (plan->interval < 0 || plan->duration < 0 || plan->restart < 0)
        return "its checkpoint plan holds a negative time";
    return NULL;
}

/* Is the minimum of the group's set all its members? */
static bool is_whole(const struct job *job, const struct job_group *group)
{
    uint64_t members = 0;
    if (job->set_count == 0)
        return group->min_count == group->count;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job_group(job, g)->set == group->set)
            members += job_group(job, g)->count;
    return job->sets[group->set].min_members == members;
}

const char *job_closeness_complaint(const struct job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct job_group *group = job_group(job, g);
        if (group->request.one_island && group->request.gpus == 0)
            return "only whole GPUs can be asked in one island";
        if ((group->slice_members == 0) != (group->slice_level == 0))
            return "slices have both a size and a level";
        if (group->slice_members == 0)
            continue;
        const struct request *request = &group->request;
        if (request->gpu_milli != 0 || request->gpu_memory_mib != 0)
            return "shares of GPUs come in no slices";
        if (group->count % group->slice_members != 0)
            return "the members of a group do not divide into its slices";
        if (!is_whole(job, group))
            return "members in slices start together: the minimum must be all of them";
    }
    return NULL;
}

/* ---- tags and rules ---- */

static bool is_same_rule(const struct tag_rule *a, const struct tag_rule *b)
{
    return a->tag == b->tag && a->level == b->level && a->is_apart == b->is_apart && a->is_preferred == b->is_preferred;
}

bool job_tags_are_same(const struct job_tags *a, const struct job_tags *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->tag_count != b->tag_count || a->rule_count != b->rule_count)
        return false;
    for (uint32_t t = 0; t < a->tag_count; t++)
        if (a->tags[t] != b->tags[t])
            return false;
    for (uint32_t r = 0; r < a->rule_count; r++)
        if (!is_same_rule(&a->rules[r], &b->rules[r]))
            return false;
    return true;
}

/* Is level a inside level b, or equal to it? */
static bool is_inside(uint8_t a, uint8_t b)
{
    return a == 0 || (b != 0 && a >= b);
}

/* A job cannot be near a tag in a domain and away from it in a domain that contains the first. */
static bool exclude_each_other(const struct tag_rule *near, const struct tag_rule *apart)
{
    return !near->is_apart && apart->is_apart && !near->is_preferred && !apart->is_preferred &&
           near->tag == apart->tag && is_inside(near->level, apart->level);
}

static const char *rules_complaint(const struct job_tags *tags)
{
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        if (tags->rules[r].tag > JOB_TAG_ID_MAX)
            return "the workload has too many tags";
        if (tags->rules[r].level > CLUSTER_LEVELS_MAX)
            return "a rule names a level that no cluster has";
        for (uint32_t k = 0; k < tags->rule_count; k++)
            if (exclude_each_other(&tags->rules[r], &tags->rules[k]))
                return "it must be near a tag, and apart from the same tag in a domain around that";
    }
    return NULL;
}

const char *job_tags_complaint(const struct job_tags *tags)
{
    if (tags->tag_count > JOB_TAGS_MAX)
        return "it has more than 4 tags";
    if (tags->rule_count > JOB_TAG_RULES_MAX)
        return "it has more than 8 rules of tags";
    for (uint32_t t = 0; t < tags->tag_count; t++) {
        if (tags->tags[t] > JOB_TAG_ID_MAX)
            return "the workload has too many tags";
        for (uint32_t k = 0; k < t; k++)
            if (tags->tags[k] == tags->tags[t])
                return "it has a tag twice";
    }
    return rules_complaint(tags);
}

/* ---- objects ---- */

static const char *objects_complaint(const struct job_objects *objects)
{
    if (objects == NULL)
        return NULL;
    if (objects->count == 0 || objects->count > JOB_OBJECTS_MAX)
        return "it must have from 1 to 3 objects, or none";
    for (uint32_t o = 0; o < objects->count; o++) {
        if (objects->of[o].id > JOB_OBJECT_ID_MAX)
            return "an object's number is too large";
        if (objects->of[o].bytes < 1 || objects->of[o].bytes > INT64_MAX / JOB_OBJECTS_MAX)
            return "an object's bytes are out of range";
        for (uint32_t before = 0; before < o; before++)
            if (objects->of[before].id == objects->of[o].id)
                return "it has an object twice";
    }
    return NULL;
}

/* ---- all of it ---- */

const char *job_complaint(const struct job *job)
{
    if (job->class >= JOB_CLASS_COUNT)
        return "its class is unknown";
    if (job->group_count == 0 || job->group_count > JOB_GROUPS_MAX)
        return "it must have from 1 to 64 groups";
    if ((job->group_count > 1) != (job->more != NULL))
        return "its further groups do not agree with their number";
    for (uint32_t i = 0; i < job->group_count; i++) {
        const char *complaint = group_complaint(job, job_group(job, i));
        if (complaint != NULL)
            return complaint;
    }
    const char *complaint = sets_complaint(job);
    if (complaint == NULL)
        complaint = job_closeness_complaint(job);
    if (complaint == NULL)
        complaint = ties_complaint(job);
    if (complaint == NULL && job->tags != NULL)
        complaint = job_tags_complaint(job->tags);
    if (complaint == NULL)
        complaint = objects_complaint(job->objects);
    if (complaint != NULL)
        return complaint;
    return times_complaint(job);
}
