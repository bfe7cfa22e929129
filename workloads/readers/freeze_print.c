/* workloads/readers/freeze_print.c -- what identifies the arrivals of a workload. */
#include <string.h>

#include "base/hash.h"
#include "workloads/job_text.h"
#include "workloads/readers/feed.h"
#include "workloads/readers/freeze.h"

static uint64_t name_hash(const char *name)
{
    return hash_bytes(name, strlen(name), 1) | 1;
}

static uint64_t queue_hash(struct arrivals_print *print, const struct job_tables *tables, queue_id queue)
{
    MEM_GROW(print->queue_hash, print->queue_capacity, (size_t)queue + 1);
    if (print->queue_hash[queue] == 0)
        print->queue_hash[queue] = name_hash(tables->queues->queues[queue].name);
    return print->queue_hash[queue];
}

static uint64_t user_hash(struct arrivals_print *print, const struct job_tables *tables, uint32_t user)
{
    if (user == NAMES_NONE)
        return 0;
    MEM_GROW(print->user_hash, print->user_capacity, (size_t)user + 1);
    if (print->user_hash[user] == 0)
        print->user_hash[user] = name_hash(names_text(tables->users, user));
    return print->user_hash[user];
}

/* An array is identified by its first job, because array numbers follow the order of the file. */
static uint64_t array_hash(struct arrivals_print *print, const struct job *job)
{
    if (job->array == 0)
        return 0;
    MEM_GROW(print->array_first, print->array_capacity, (size_t)job->array + 1);
    if (print->array_first[job->array] == 0)
        print->array_first[job->array] = job->id + 1;
    return (uint64_t)print->array_first[job->array] << 32 | job->array_max;
}

static uint64_t group_mix(uint64_t hash, const struct job_group *group)
{
    const struct request *request = &group->request;
    hash = hash_mix(hash, (uint64_t)group->count << 32 | group->min_count);
    hash = hash_mix(hash, (uint64_t)request->gpus << 48 | (uint64_t)request->gpu_milli << 32 | request->gpu_memory_mib);
    hash = hash_mix(hash, (uint64_t)request->cpu_milli << 32 | request->memory_mib);
    hash = hash_mix(hash, (uint64_t)group->slice_members << 32 | (uint64_t)group->slice_level << 24 |
                              (uint64_t)request->mig << 16 | group->set);
    hash = hash_mix(hash, request->gpu_models ^ (uint64_t)request->one_island << 63);
    return request->nodes != NULL ? hash_mix(hash, request->nodes->hash) : hash;
}

static uint64_t topology_word(struct topology_ask ask)
{
    return (uint64_t)ask.required << 8 | ask.preferred;
}

static uint64_t tags_mix(uint64_t hash, const struct names *names, const struct job_tags *tags)
{
    for (uint32_t t = 0; t < tags->tag_count; t++)
        hash = hash_mix(hash, name_hash(names_text(names, tags->tags[t])));
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        const struct tag_rule *rule = &tags->rules[r];
        hash = hash_mix(hash, name_hash(names_text(names, rule->tag)) +
                                  (rule->level * 4u + rule->is_apart * 2u + rule->is_preferred));
    }
    return hash;
}

/* Fields that few jobs have. */
static uint64_t rest_mix(uint64_t hash, const struct job_tables *tables, const struct job *job)
{
    for (uint32_t g = 1; g < job->group_count; g++)
        hash = group_mix(hash, job_group(job, g));
    for (uint32_t s = 0; s < job->set_count; s++) {
        const struct job_set *set = &job->sets[s];
        hash = hash_mix(hash, name_hash(set->name));
        hash = hash_mix(hash,
                        (uint64_t)set->min_members << 32 | (uint64_t)set->parent << 16 | topology_word(set->topology));
        if (set->min_sets > 0)
            hash = hash_mix(hash, set->min_sets);
    }
    if (job->min_sets > 0)
        hash = hash_mix(hash, job->min_sets);
    for (uint32_t a = 0; a < job->after_count; a++)
        hash = hash_mix(hash, (uint64_t)job->after[a].job << 8 | job->after[a].kind);
    if (job->communication != NULL)
        hash = hash_mix(hash, communication_hash(job->communication));
    return job->tags != NULL ? tags_mix(hash, tables->tags, job->tags) : hash;
}

/* Fields that a job sets and that have no place of their own above. */
#define PRINT(base, KEY, PLACE, USUAL, WHERE)                                                                          \
    if (((WHERE)&TEXT_PRINT) != 0 && (int64_t)(base)->PLACE != (int64_t)(USUAL))                                       \
        hash = hash_mix(hash, name_hash(KEY) ^ (uint64_t)(base)->PLACE);
#define PRINT_JOB(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, ...)   PRINT(job, KEY, PLACE, USUAL, WHERE)
#define PRINT_TRUTH(ID, KEY, FORM, PLACE, LOW, HIGH, USUAL, NAMES, WHERE, ...) PRINT(truth, KEY, PLACE, USUAL, WHERE)

static uint64_t texts_mix(uint64_t hash, const struct job *job, const struct job_truth *truth)
{
    JOB_TEXT(PRINT_JOB, PRINT_JOB, PRINT_TRUTH, JOB_TEXT_NONE)
    return hash;
}

void arrivals_print_add(struct arrivals_print *print, const struct job_tables *tables, const struct job *job,
                        const struct job_truth *truth)
{
    uint64_t hash = hash_mix(print->hash, (uint64_t)job->submit);
    hash = hash_mix(hash, (uint64_t)truth->duration);
    hash =
        hash_mix(hash, (uint64_t)truth->outcome << 32 | (uint64_t)truth->sm_active_milli << 16 | truth->would_do_milli);
    for (uint32_t i = 0; truth->failures != NULL && i < truth->failures->count; i++)
        hash = hash_mix(hash, (uint64_t)truth->failures->work[i]);
    if (truth->bandwidth_milli != 0)
        hash = hash_mix(hash, truth->bandwidth_milli);
    hash = hash_mix(hash, queue_hash(print, tables, job->queue));
    hash = hash_mix(hash, user_hash(print, tables, job->user));
    hash = hash_mix(hash, (uint64_t)(uint32_t)job->priority << 32 | (uint64_t)job->class << 16 |
                              (uint64_t)job->is_preemptible << 8 | job->is_held);
    hash = hash_mix(hash, (uint64_t)job->limit ^ (uint64_t)job->estimate << 1);
    hash = hash_mix(hash, (uint64_t)job->deadline ^ (uint64_t)job->grace << 1);
    hash = hash_mix(hash, (uint64_t)job->checkpoint.interval);
    hash = hash_mix(hash, (uint64_t)job->checkpoint.duration ^ (uint64_t)job->checkpoint.restart << 1);
    hash = hash_mix(hash, (uint64_t)job->group_count << 48 | (uint64_t)job->set_count << 32 |
                              (uint64_t)job->after_count << 16 | topology_word(job->topology));
    hash = hash_mix(hash, array_hash(print, job));
    hash = group_mix(hash, &job->first);
    hash = texts_mix(hash, job, truth);
    print->hash = rest_mix(hash, tables, job);
}

void arrivals_print_release(struct arrivals_print *print)
{
    mem_free(print->queue_hash);
    mem_free(print->user_hash);
    mem_free(print->array_first);
    *print = (struct arrivals_print){0};
}
