#include "policies/jobs/request_class.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "policies/gang/gang.h"

enum { REQUEST_CLASS_SLOTS_MIN = 64, GROUP_WORDS = 6 };

void request_class_table_init(struct request_class_table *table)
{
    *table = (struct request_class_table){0};
    table->slot_count = REQUEST_CLASS_SLOTS_MIN;
    table->slots = mem_zalloc(table->slot_count, sizeof *table->slots);
}

static void set_open(struct request_class_table *table, uint32_t id, enum asker asker, bool is_open)
{
    uint32_t *count = &table->open_count[asker][id % REQUEST_CLASS_SET_BITS];
    *count += is_open ? 1 : UINT32_MAX;
    if (*count == 0)
        table->open[asker] &= ~request_class_bit(id);
    else
        table->open[asker] |= request_class_bit(id);
}

static uint64_t key_of(uint32_t id, uint8_t closed)
{
    return closed == 0 ? 0 : hash_mix(UINT64_MAX, (uint64_t)id << 8 | closed);
}

/* The hand that runs while it is closed so.  HAND_LIMIT: it is closed only to heads over quota. */
static enum clock_hand hand_of(const struct request_class *request_class, uint8_t closed)
{
    return closed == 0                             ? HAND_NONE
           : closed & REQUEST_CLASS_BLOCKED        ? (enum clock_hand)request_class->blocked_by
           : closed & REQUEST_CLASS_PROMISED       ? HAND_RESERVED_FOR_OTHER
           : closed == REQUEST_CLASS_SPARES_OWNERS ? HAND_LIMIT
                                                   : HAND_HEADROOM;
}

static void mark_closed(struct request_class_table *table, uint32_t id, uint8_t closed)
{
    const uint64_t bit = UINT64_C(1) << id % 64;
    table->closed_words[id / 64] =
        closed != 0 ? table->closed_words[id / 64] | bit : table->closed_words[id / 64] & ~bit;
}

void request_class_close(struct request_class_table *table, uint32_t id, uint8_t closed)
{
    struct request_class *request_class = &table->at[id];
    for (int asker = 0; asker < ASKER_COUNT; asker++) {
        const bool is_open = request_class_is_open(closed, (enum asker)asker);
        if (is_open != request_class_is_open(request_class->closed, (enum asker)asker))
            set_open(table, id, (enum asker)asker, is_open);
    }
    table->closed_key ^= key_of(id, request_class->closed) ^ key_of(id, closed);
    table->closed_count += (uint32_t)(closed != 0) - (uint32_t)(request_class->closed != 0);
    request_class->closed = closed;
    mark_closed(table, id, closed);
    wait_clock_set(&request_class->clock, hand_of(request_class, closed), table->now);
}

void request_class_table_release(struct request_class_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        mem_free(table->at[i].class_queues);
    mem_free(table->at);
    mem_free(table->closed_words);
    mem_free(table->slots);
    arena_release(&table->arena);
    node_asks_release(&table->asks);
    communication_set_release(&table->communications);
    *table = (struct request_class_table){0};
}

/* A group as words without padding. */
static void group_words(const struct job_group *group, uint64_t words[GROUP_WORDS])
{
    const struct request *r = &group->request;
    words[0] = r->gpus | (uint64_t)r->gpu_milli << 16 | (uint64_t)r->gpu_memory_mib << 32;
    words[1] = r->cpu_milli | (uint64_t)r->memory_mib << 32;
    words[2] = r->nodes == NULL ? r->gpu_models : r->gpu_models ^ r->nodes->hash;
    words[3] = group->count | (uint64_t)group->min_count << 32;
    words[4] = r->mig | (uint64_t)r->one_island << 8 | (uint64_t)group->slice_level << 16 |
               (uint64_t)group->slice_members << 32;
    words[5] = group->set | (uint64_t)r->share << 16 | (uint64_t)r->domain << 32;
}

static uint64_t set_word(const struct job_set *set)
{
    return set->parent | (uint64_t)set->min_members << 16 | (uint64_t)set->topology.required << 48 |
           (uint64_t)set->topology.preferred << 56;
}

/* The fields of the job that belong to no group. */
static uint64_t head_word(const struct job *job)
{
    return job->group_count | (uint64_t)job->set_count << 16 | (uint64_t)job->topology.required << 32 |
           (uint64_t)job->topology.preferred << 40 | (uint64_t)job->class << 48 | (uint64_t)job->is_preemptible << 56;
}

/* Add how many sets it needs.  Not in head_word and set_word, since few jobs say it. */
static uint64_t hash_needs(const struct job *job, uint64_t hash)
{
    if (job->min_sets > 0)
        hash = hash_mix(hash, job->min_sets);
    for (uint32_t s = 0; s < job->set_count; s++)
        if (job->sets[s].min_sets > 0)
            hash = hash_mix(hash, (uint64_t)s << 32 | job->sets[s].min_sets);
    return hash;
}

static uint64_t hash_tags(const struct job_tags *tags, uint64_t hash)
{
    hash = hash_mix(hash, tags->tag_count | (uint64_t)tags->rule_count << 16);
    for (uint32_t t = 0; t < tags->tag_count; t++)
        hash = hash_mix(hash, tags->tags[t]);
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        const struct tag_rule *rule = &tags->rules[r];
        hash = hash_mix(hash, rule->tag | (uint64_t)rule->level << 32 | (uint64_t)rule->is_apart << 40 |
                                  (uint64_t)rule->is_preferred << 41);
    }
    return hash;
}

static inline uint64_t hash_job(const struct job *job)
{
    uint64_t hash = head_word(job);
    for (uint32_t g = 0; g < job->group_count; g++) {
        uint64_t words[GROUP_WORDS];
        group_words(job_group(job, g), words);
        /* Each word has its own odd multiplier, and the products are independent, so they can run in parallel. */
        uint64_t sum = words[0] * UINT64_C(0x9e3779b97f4a7c15) + words[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
                       words[2] * UINT64_C(0x165667b19e3779f9) + words[3] * UINT64_C(0xff51afd7ed558ccd) +
                       words[4] * UINT64_C(0xc4ceb9fe1a85ec53) + words[5] * UINT64_C(0x2545f4914f6cdd1d);
        hash = hash_mix(hash, sum);
    }
    for (uint32_t s = 0; s < job->set_count; s++)
        hash = hash_mix(hash, set_word(&job->sets[s]));
    hash = hash_needs(job, hash);
    if (job->tags != NULL)
        hash = hash_tags(job->tags, hash);
    return hash;
}

/* A job that asks what the request class asks. */
static struct job job_of_request_class(const struct request_class *request_class)
{
    return (struct job){.group_count = request_class->group_count,
                        .set_count = request_class->set_count,
                        .min_sets = request_class->min_sets,
                        .sets = request_class->sets,
                        .topology = request_class->topology,
                        .tags = request_class->tags,
                        .communication = request_class->communication,
                        .class = request_class->class,
                        .is_preemptible = request_class->is_preemptible,
                        .first = request_class->groups[0],
                        .more = request_class->groups + 1};
}

static bool is_same_group(const struct job_group *a, const struct job_group *b)
{
    return request_is_same(&a->request, &b->request) && a->count == b->count && a->min_count == b->min_count &&
           a->set == b->set && a->slice_level == b->slice_level && a->slice_members == b->slice_members;
}

/* Are they equal in all that hash_job reads, in what they exchange, and in the anchor? */
static bool is_same(const struct request_class *request_class, const struct job *job,
                    const struct communication *communication, uint64_t anchor)
{
    if (request_class->communication != communication || request_class->anchor != anchor ||
        request_class->group_count != job->group_count || request_class->set_count != job->set_count ||
        request_class->min_sets != job->min_sets || request_class->topology.required != job->topology.required ||
        request_class->topology.preferred != job->topology.preferred || request_class->class != job->class ||
        request_class->is_preemptible != job->is_preemptible)
        return false;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (!is_same_group(&request_class->groups[g], job_group(job, g)))
            return false;
    for (uint32_t s = 0; s < job->set_count; s++)
        if (set_word(&request_class->sets[s]) != set_word(&job->sets[s]) ||
            request_class->sets[s].min_sets != job->sets[s].min_sets)
            return false;
    return (request_class->tags == NULL && job->tags == NULL) || job_tags_are_same(request_class->tags, job->tags);
}

/* Order the groups by how many times the empty cluster could hold them, the scarcest first. */
static const uint16_t *placing_order(struct request_class_table *table, const struct request_class *request_class,
                                     const struct cluster *cluster)
{
    uint16_t *order = arena_alloc_array(&table->arena, request_class->group_count, uint16_t);
    uint64_t times[JOB_GROUPS_MAX];
    for (uint16_t g = 0; g < request_class->group_count; g++) {
        uint32_t count = request_class->groups[g].count;
        times[g] = count == 0
                       ? UINT64_MAX
                       : request_class_room_empty(&request_class->groups[g].request, cluster, table->recuts) / count;
        uint32_t at = g;
        for (; at > 0 && times[order[at - 1]] > times[g]; at--)
            order[at] = order[at - 1];
        order[at] = g;
    }
    return order;
}

/* What a member of the group is charged. */
static void charge_of(const struct request_class *request_class, const struct job_group *group,
                      const struct cluster *cluster, int64_t charge[QUEUE_SUM_COUNT])
{
    charge[QUEUE_SUM_GPU] = request_class_most_milli(&group->request, cluster);
    charge[QUEUE_SUM_CPU] = group->request.cpu_milli;
    charge[QUEUE_SUM_MEMORY] = group->request.memory_mib;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        charge[RESOURCE_COUNT + r] = request_class->is_preemptible ? 0 : charge[r];
}

static bool is_by_model(const struct job_group *group)
{
    return group->request.gpu_memory_mib != 0 || group->request.mig != 0;
}

static void add_charge(struct request_class_table *table, struct request_class *request_class,
                       const struct cluster *cluster)
{
    request_class->member_charge =
        arena_alloc(&table->arena, request_class->group_count * sizeof *request_class->member_charge);
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        const struct job_group *group = &request_class->groups[g];
        int64_t *charge = request_class->member_charge[g];
        charge_of(request_class, group, cluster, charge);
        request_class->is_by_model |= is_by_model(group);
        request_class->member_count += group->count;
        for (int r = 0; r < QUEUE_SUM_COUNT; r++)
            request_class->charge[r] += charge[r] * group->count;
    }
}

/* Is its minimum all its members? */
static bool is_rigid(const struct request_class *request_class)
{
    uint32_t minimum = 0;
    for (uint32_t g = 0; g < request_class->group_count && request_class->set_count == 0; g++)
        minimum += request_class->groups[g].min_count;
    for (uint32_t s = 0; s < request_class->set_count; s++)
        minimum += request_class->sets[s].min_members;
    return minimum == request_class->member_count &&
           !sets_may_lack(request_class->sets,
                          request_class->set_count > 0 ? request_class->set_count : request_class->group_count,
                          request_class->min_sets);
}

static bool is_on_piece(const struct job_group *group)
{
    const struct request *request = &group->request;
    return request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

/* How many of the members that must run together may be on pieces of GPUs. */
static uint64_t pieces_in_minimum(const struct request_class *request_class)
{
    uint64_t of_set[JOB_SETS_MAX] = {0}, sum = 0;
    const uint32_t none[JOB_GROUPS_MAX] = {0};
    const struct gang_view view = {.groups = request_class->groups,
                                   .sets = request_class->set_count > 0 ? request_class->sets : NULL,
                                   .held = none,
                                   .group_count = request_class->group_count,
                                   .set_count = request_class->set_count,
                                   .min_sets = request_class->min_sets};
    bool is_core[JOB_PARTS_MAX];
    gang_core(&view, is_core);
    for (uint32_t g = 0; g < request_class->group_count; g++) {
        const struct job_group *group = &request_class->groups[g];
        if (!is_on_piece(group) || !is_core[request_class->set_count > 0 ? group->set : g])
            continue;
        if (request_class->set_count > 0)
            of_set[group->set] += group->count;
        else
            sum += group->min_count;
    }
    for (uint32_t s = 0; s < request_class->set_count; s++) {
        const uint64_t minimum = request_class->sets[s].min_members;
        sum += of_set[s] < minimum ? of_set[s] : minimum;
    }
    return sum;
}

static const struct job_tags *copy_tags(struct request_class_table *table, const struct job_tags *tags)
{
    if (tags == NULL)
        return NULL;
    struct job_tags *own = arena_alloc_array(&table->arena, 1, struct job_tags);
    *own = *tags;
    return own;
}

static uint32_t add_request_class(struct request_class_table *table, const struct cluster *cluster,
                                  const struct job *job, const struct communication *communication, uint64_t anchor)
{
    MEM_GROW(table->at, table->capacity, table->count + 1);
    MEM_GROW(table->closed_words, table->closed_capacity, table->count / 64 + 1);
    struct request_class *request_class = &table->at[table->count];
    struct job_group *groups = arena_alloc_array(&table->arena, job->group_count, struct job_group);
    for (uint32_t g = 0; g < job->group_count; g++) {
        groups[g] = *job_group(job, g);
        groups[g].request.nodes = node_asks_own(&table->asks, groups[g].request.nodes);
        assert(groups[g].request.nodes == NULL || groups[g].request.nodes->type_count == cluster->type_count);
    }
    struct job_set *sets = NULL;
    if (job->set_count > 0) {
        sets = arena_alloc_array(&table->arena, job->set_count, struct job_set);
        memcpy(sets, job->sets, job->set_count * sizeof *sets);
    }
    for (uint32_t s = 0; s < job->set_count; s++)
        sets[s].name = ""; /* it belongs to the job, which may be freed */
    *request_class = (struct request_class){.groups = groups,
                                            .group_count = job->group_count,
                                            .sets = sets,
                                            .set_count = job->set_count,
                                            .min_sets = job->min_sets,
                                            .topology = job->topology,
                                            .tags = copy_tags(table, job->tags),
                                            .communication = communication,
                                            .anchor = anchor,
                                            .class = job->class,
                                            .is_preemptible = job->is_preemptible,
                                            .recut_seen = UINT64_MAX,
                                            .clock = {.since = table->now, .hand = HAND_NONE}};
    add_charge(table, request_class, cluster);
    request_class->is_rigid = is_rigid(request_class);
    request_class->is_gang_on_pieces = pieces_in_minimum(request_class) > 1;
    request_class->order = placing_order(table, request_class, cluster);
    request_class->never_fits = request_class_can_never_fit(request_class, cluster, table->recuts);
    for (int asker = 0; asker < ASKER_COUNT; asker++)
        set_open(table, table->count, (enum asker)asker, true);
    return table->count++;
}

static uint64_t hash_with(uint64_t hash, const struct request_class_table *table,
                          const struct communication *communication, uint64_t anchor)
{
    if (communication != NULL)
        hash = hash_mix(hash, 1 + (uint64_t)communication_set_number(&table->communications, communication));
    return anchor == 0 ? hash : hash_mix(hash, anchor);
}

static uint64_t hash_request_class(const struct request_class_table *table, const struct request_class *request_class)
{
    struct job job = job_of_request_class(request_class);
    return hash_with(hash_job(&job), table, request_class->communication, request_class->anchor);
}

static void insert_slot(struct request_class_table *table, uint32_t id, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (table->slot_count - 1);
    while (table->slots[at] != 0)
        at = (at + 1) & (table->slot_count - 1);
    table->slots[at] = id + 1;
}

static void grow_slots(struct request_class_table *table)
{
    mem_free(table->slots);
    table->slot_count *= 2;
    table->slots = mem_zalloc(table->slot_count, sizeof *table->slots);
    for (uint32_t id = 0; id < table->count; id++)
        insert_slot(table, id, hash_request_class(table, &table->at[id]));
}

static uint32_t find_or_add(struct request_class_table *table, const struct cluster *cluster, const struct job *job,
                            uint64_t anchor)
{
    const struct communication *communication =
        table->keeps_communication ? communication_set_own(&table->communications, job->communication) : NULL;
    uint64_t hash = hash_with(hash_job(job), table, communication, anchor);
    for (uint32_t at = (uint32_t)hash & (table->slot_count - 1); table->slots[at] != 0;
         at = (at + 1) & (table->slot_count - 1))
        if (is_same(&table->at[table->slots[at] - 1], job, communication, anchor))
            return table->slots[at] - 1;
    uint32_t id = add_request_class(table, cluster, job, communication, anchor);
    if (table->count * 2 > table->slot_count)
        grow_slots(table);
    else
        insert_slot(table, id, hash);
    return id;
}

uint32_t request_class_of(struct request_class_table *table, const struct cluster *cluster, const struct job *job)
{
    return find_or_add(table, cluster, job, 0);
}

uint32_t request_class_of_step(struct request_class_table *table, const struct cluster *cluster, uint32_t id,
                               const uint32_t counts[], uint64_t anchor)
{
    struct job_group groups[JOB_GROUPS_MAX];
    const struct request_class *whole = &table->at[id];
    bool is_all = true;
    for (uint32_t g = 0; g < whole->group_count; g++) {
        groups[g] = whole->groups[g];
        is_all &= groups[g].count == counts[g];
        groups[g].count = counts[g];
        groups[g].min_count = counts[g];
    }
    if (is_all && anchor == 0)
        return id;
    struct job job = job_of_request_class(whole);
    job.first = groups[0];
    job.more = groups + 1;
    return find_or_add(table, cluster, &job, anchor);
}

/* ---- save and load ---- */

struct space request_class_space(const struct request_class *request_class, const struct piece *piece, uint32_t owner)
{
    const struct request *request = &request_class->groups[piece->group].request;
    return (struct space){.node = piece->node,
                          .gpu_mask = piece->gpu_mask,
                          .gpu_milli = piece->gpu_milli,
                          .gpu_memory_mib = request->gpu_memory_mib,
                          .cpu_milli = request->cpu_milli * piece->member_count,
                          .memory_mib = request->memory_mib * piece->member_count,
                          .owner = owner,
                          .member_count = piece->member_count,
                          .share = request->share,
                          .domain = request->domain,
                          .tags = request_class->tags,
                          .mig = request->mig,
                          .mig_start = piece->mig_start};
}

bool request_class_asks_domains(const struct request_class *request_class)
{
    bool asks = request_class->topology.required != 0 || request_class->topology.preferred != 0;
    for (uint32_t s = 0; s < request_class->set_count; s++)
        asks |= request_class->sets[s].topology.required != 0 || request_class->sets[s].topology.preferred != 0;
    for (uint32_t g = 0; g < request_class->group_count; g++)
        asks |= request_class->groups[g].slice_members != 0;
    return asks;
}
