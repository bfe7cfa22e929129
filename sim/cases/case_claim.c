/* sim/cases/case_claim.c -- tasks of a case that ask for GPUs of a class, or by a claim. */
#include "sim/cases/case_read.h"
#include "workloads/request/claim.h"

/* The key of a task that sets the ask_field. */
static const char *const key_of[] = {
    [ASK_GPUS] = "gpus", [ASK_FRACTION] = "gpu_fraction", [ASK_GPU_MEMORY] = "gpu_memory_gb",
    [ASK_MIG] = "mig",   [ASK_MODEL] = "gpu_class",
};

static void fail_class(struct case_reading *reading, const struct json_value *value, struct text name)
{
    json_fail(value, "the case has no GPU class '%.*s'", (int)name.length, name.at);
    gpu_class_hint(reading->spec->cluster, name, reading->error);
}

void case_class_read(struct case_reading *reading, struct json_object *object, int64_t milli, struct request *request)
{
    const struct cluster *cluster = reading->spec->cluster;
    const struct text name = text_of(json_get_string(object, "gpu_class", NULL));
    struct json_value value = json_member(object, "gpu_class");
    enum ask_field culprit;
    if (value.node == NULL || case_failed(reading))
        return;
    const struct gpu_class *class = cluster_gpu_class_of(cluster, name);
    if (class == NULL) {
        fail_class(reading, &value, name);
        return;
    }
    struct ask ask = {.gpus = json_has(object, "gpus") ? request->gpus : 1,
                      .gpu_milli = milli,
                      .gpu_memory_mib = request->gpu_memory_mib,
                      .mig = request->mig,
                      .gpu_models = request->gpu_models};
    struct job_group group;
    const char *complaint = ask_class(class, &ask, &culprit);
    ask.cpu_milli = 1; /* so that the request is not empty */
    if (complaint == NULL)
        complaint = ask_group(&ask, 1, 1, &group, &culprit);
    if (complaint != NULL) {
        struct json_value place = json_member(object, key_of[culprit]);
        json_fail(&place, "'%s': %s", key_of[culprit], complaint);
        return;
    }
    *request = group.request;
}

void case_claim_read(struct case_reading *reading, struct json_object *object, struct case_task *task)
{
    static const char *const said[] = {"gpus",      "gpu_fraction",  "gpu_memory_gb", "mig",
                                       "gpu_class", "slice_members", "one_island",    "slice_level"};
    const struct cluster *cluster = reading->spec->cluster;
    struct json_value value = json_member(object, "claim");
    struct job_group group;
    if (value.node == NULL)
        return;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct json_value place = json_member(object, said[i]);
        if (place.node != NULL)
            json_fail(&place, "'%s': it excludes 'claim', which says it", said[i]);
    }
    const struct claims claims = {.claim = claim_read(&value),
                                  .count = task->count,
                                  .cpu_milli = task->request.cpu_milli,
                                  .memory_mib = task->request.memory_mib};
    if (case_failed(reading))
        return;
    const char *complaint = claims_group(&claims, cluster, &group);
    if (complaint != NULL) {
        json_fail(&value, "'claim': %s", complaint);
        if (claims.claim.class.length != 0 && cluster_gpu_class_of(cluster, claims.claim.class) == NULL)
            gpu_class_hint(cluster, claims.claim.class, reading->error);
        return;
    }
    task->request = group.request;
    task->count = group.count;
    task->slice_level = group.slice_level;
    task->slice_members = group.slice_members;
    if (task->count > CASE_TASKS_MAX)
        json_fail(&value, "a job has at most %d tasks", CASE_TASKS_MAX);
}
