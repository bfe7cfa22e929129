#include "studies/run/unread.h"

#include "policies/config/reads.h"
#include "topologies/queue_fields.h"
#include "workloads/job_fields.h"
#include "workloads/synth/synth_spec.h"

/* Of the queues that set the field: the first, and their number. */
static uint32_t count_queues(const struct queue_table *table, uint32_t field, queue_id *first)
{
    uint32_t count = 0;
    for (queue_id q = table->count; q-- > 1;)
        if (queue_fields_set(&table->queues[q]) & QUEUE_READS(field)) {
            *first = q;
            count++;
        }
    return count;
}

static void put_end(const char *policy, struct buffer *readers, struct buffer *out)
{
    buffer_format(out, " no effect under the policy '%s'", policy);
    if (readers->length > 0)
        buffer_format(out, ": read by %s", buffer_c_string(readers));
}

static void put_queues(const struct queue_table *table, uint32_t field, queue_id first, uint32_t count,
                       struct buffer *out)
{
    if (first < table->declared_count)
        buffer_format(out, "queues[%u].%s", first - 1, queue_field_name((enum queue_field)field));
    else
        buffer_format(out, "%s of queue '%s'", queue_field_name((enum queue_field)field), table->queues[first].name);
    if (count > 1)
        buffer_format(out, ", and of %u more queue%s, has", count - 1, count == 2 ? "" : "s");
    else
        buffer_string(out, " has");
}

/* Fields that are read elsewhere: checkpoints matter where the world interrupts jobs. */
static uint32_t read_by_world(const struct world_config *world)
{
    const bool interrupts =
        fault_rates_are_set(&world->faults) || world->capacity.count > 0 || world->checkpoints.cost != CHECKPOINTS_FREE;
    return interrupts ? JOB_READS(JOB_FIELD_CHECKPOINT) : 0;
}

/* Quotas of tenants that a mix of classes brings. */
static uint32_t made_by_mix(const struct scenario *scenario)
{
    const struct synth_spec *synth = scenario->workload.synth;
    return synth != NULL && synth->tenants.projects > 0 ? QUEUE_READS(QUEUE_QUOTA) : 0;
}

void unread_list(const struct scenario *scenario, const struct job_source *source,
                 void (*say)(void *self, const char *text), void *self)
{
    const struct policy_reads reads = policy_reads(&scenario->policy);
    const struct queue_table *table = job_source_queue_table(source);
    const uint32_t jobs = job_source_facts(source)->fields.set & ~(reads.job | read_by_world(&scenario->world));
    const uint32_t skipped = reads.queue | made_by_mix(scenario);
    struct buffer text = {0}, readers = {0};
    for (uint32_t field = 0; field < QUEUE_FIELD_COUNT; field++) {
        queue_id first = QUEUE_NONE;
        const uint32_t count = skipped & QUEUE_READS(field) ? 0 : count_queues(table, field, &first);
        if (count == 0)
            continue;
        text.length = readers.length = 0;
        policy_readers_of_queue(field, &readers);
        put_queues(table, field, first, count, &text);
        put_end(scenario->policy.name, &readers, &text);
        say(self, buffer_c_string(&text));
    }
    for (uint32_t field = 0; field < JOB_FIELD_COUNT; field++) {
        if (!(jobs & JOB_READS(field)))
            continue;
        text.length = readers.length = 0;
        policy_readers_of_job(field, &readers);
        buffer_format(&text, "'%s' of the jobs has", job_field_names[field]);
        put_end(scenario->policy.name, &readers, &text);
        say(self, buffer_c_string(&text));
    }
    const uint64_t unnamed = job_source_facts(source)->unnamed_count;
    text.length = 0;
    buffer_format(&text,
                  "%llu jobs name no queue: they are in the queue 'default', which the scenario does not declare",
                  (unsigned long long)unnamed);
    if (unnamed > 0)
        say(self, buffer_c_string(&text));
    buffer_release(&text);
    buffer_release(&readers);
}
