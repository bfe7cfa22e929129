#include "workloads/readers/tenants.h"

#include "base/mem.h"

void tenants_init(struct tenants *tenants, const struct tenants_plan *plan, struct queue_table *queues,
                  struct names *users)
{
    *tenants = (struct tenants){.plan = plan,
                                .recorded_queues = queue_table_new(),
                                .queues = queues,
                                .recorded_users = names_new(),
                                .users = users};
}

void tenants_release(struct tenants *tenants)
{
    if (tenants->plan == NULL)
        return;
    queue_table_free(tenants->recorded_queues);
    names_free(tenants->recorded_users);
    mem_free(tenants->queue_of);
    mem_free(tenants->user_of);
    *tenants = (struct tenants){0};
}

static queue_id queue_new(const struct tenants *tenants, const char *name)
{
    const struct name_rule *rule = name_rules_find(&tenants->plan->queues, name);
    const char *means = rule != NULL ? rule->means : name;
    return queue_table_of(tenants->queues, means[0] != '\0' ? text_of(means) : TEXT("default"));
}

static uint32_t user_new(const struct tenants *tenants, const char *name)
{
    const struct name_rule *rule = name_rules_find(&tenants->plan->users, name);
    const char *means = rule != NULL ? rule->means : name;
    return means[0] != '\0' ? names_add(tenants->users, text_of(means)) + 1 : NAMES_NONE;
}

void tenants_apply(struct tenants *tenants, struct job *job)
{
    MEM_GROW(tenants->queue_of, tenants->queue_capacity, (size_t)job->queue + 1);
    while (tenants->queue_count <= job->queue)
        tenants->queue_of[tenants->queue_count++] = QUEUE_NONE;
    if (tenants->queue_of[job->queue] == QUEUE_NONE)
        tenants->queue_of[job->queue] = queue_new(tenants, tenants->recorded_queues->queues[job->queue].name);
    job->queue = tenants->queue_of[job->queue];
    if (job->user == NAMES_NONE)
        return;
    MEM_GROW(tenants->user_of, tenants->user_capacity, (size_t)job->user + 1);
    if (tenants->user_of[job->user] == 0)
        tenants->user_of[job->user] = user_new(tenants, names_text(tenants->recorded_users, job->user));
    const uint32_t user = tenants->user_of[job->user];
    job->user = user != NAMES_NONE ? user - 1 : NAMES_NONE;
}
