#include "policies/jobs/request_class.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "policies/gang/gang.h"
#include "policies/util/archive.h"

enum { SHAPE_SLOTS_MIN = 64, GROUP_WORDS = 6 };

void shape_table_init(struct shape_table *table)
{
    *table = (struct shape_table){0};
    table->slot_count = SHAPE_SLOTS_MIN;
    table->slots = mem_zalloc(table->slot_count, sizeof *table->slots);
}

static void set_open(struct shape_table *table, uint32_t id, enum asker asker, bool is_open)
{
    uint32_t *count = &table->open_count[asker][id % SHAPE_SET_BITS];
    *count += is_open ? 1 : UINT32_MAX;
    if (*count == 0)
        table->open[asker] &= ~shape_bit(id);
    else
        table->open[asker] |= shape_bit(id);
}

static uint64_t key_of(uint32_t id, uint8_t closed)
{
    return closed == 0 ? 0 : hash_mix(UINT64_MAX, (uint64_t)id << 8 | closed);
}

/* For owners; what is closed for borrowers alone is no wait of theirs. */
static enum clock_hand hand_of(const struct shape *shape, uint8_t closed)
{
    return closed == 0                     ? HAND_NONE
           : closed & SHAPE_BLOCKED        ? (enum clock_hand)shape->blocked_by
           : closed & SHAPE_PROMISED       ? HAND_RESERVED_FOR_OTHER
           : closed == SHAPE_SPARES_OWNERS ? HAND_LIMIT
                                           : HAND_HEADROOM;
}

static void mark_closed(struct shape_table *table, uint32_t id, uint8_t closed)
{
    const uint64_t bit = UINT64_C(1) << id % 64;
    table->closed_words[id / 64] =
        closed != 0 ? table->closed_words[id / 64] | bit : table->closed_words[id / 64] & ~bit;
}

void shape_close(struct shape_table *table, uint32_t id, uint8_t closed)
{
    struct shape *shape = &table->shapes[id];
    for (int asker = 0; asker < ASKER_COUNT; asker++) {
        const bool is_open = shape_is_open(closed, (enum asker)asker);
        if (is_open != shape_is_open(shape->closed, (enum asker)asker))
            set_open(table, id, (enum asker)asker, is_open);
    }
    table->closed_key ^= key_of(id, shape->closed) ^ key_of(id, closed);
    table->closed_count += (uint32_t)(closed != 0) - (uint32_t)(shape->closed != 0);
    shape->closed = closed;
    mark_closed(table, id, closed);
    wait_clock_set(&shape->clock, hand_of(shape, closed), table->now);
}

void shape_table_release(struct shape_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        mem_free(table->shapes[i].lanes);
    mem_free(table->shapes);
    mem_free(table->closed_words);
    mem_free(table->slots);
    arena_release(&table->arena);
    node_asks_release(&table->asks);
    *table = (struct shape_table){0};
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

/* What is not of a group. */
static uint64_t head_word(const struct job *job)
{
    return job->group_count | (uint64_t)job->set_count << 16 |
           (uint64_t)job->topology.required << 32 | (uint64_t)job->topology.preferred << 40 |
           (uint64_t)job->class << 48 | (uint64_t)job->is_preemptible << 56;
}

/* How many sets it needs, beside head_word and set_word: few jobs say so. */
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
        hash =
            hash_mix(hash, rule->tag | (uint64_t)rule->level << 32 |
                               (uint64_t)rule->is_apart << 40 | (uint64_t)rule->is_preferred << 41);
    }
    return hash;
}

static inline uint64_t hash_job(const struct job *job)
{
    uint64_t hash = head_word(job);
    for (uint32_t g = 0; g < job->group_count; g++) {
        uint64_t words[GROUP_WORDS];
        group_words(job_group(job, g), words);
        /* Odd multipliers keep the words apart, and the products do not wait for each other. */
        uint64_t sum =
            words[0] * UINT64_C(0x9e3779b97f4a7c15) + words[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
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

/* The shape as a job that asks it. */
static struct job job_of_shape(const struct shape *shape)
{
    return (struct job){.group_count = shape->group_count,
                        .set_count = shape->set_count,
                        .min_sets = shape->min_sets,
                        .sets = shape->sets,
                        .topology = shape->topology,
                        .tags = shape->tags,
                        .class = shape->class,
                        .is_preemptible = shape->is_preemptible,
                        .first = shape->groups[0],
                        .more = shape->groups + 1};
}

static bool is_same_group(const struct job_group *a, const struct job_group *b)
{
    return request_is_same(&a->request, &b->request) && a->count == b->count &&
           a->min_count == b->min_count && a->set == b->set && a->slice_level == b->slice_level &&
           a->slice_members == b->slice_members;
}

/* What hash_job looks at. */
static bool is_same(const struct shape *shape, const struct job *job)
{
    if (shape->group_count != job->group_count || shape->set_count != job->set_count ||
        shape->min_sets != job->min_sets || shape->topology.required != job->topology.required ||
        shape->topology.preferred != job->topology.preferred || shape->class != job->class ||
        shape->is_preemptible != job->is_preemptible)
        return false;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (!is_same_group(&shape->groups[g], job_group(job, g)))
            return false;
    for (uint32_t s = 0; s < job->set_count; s++)
        if (set_word(&shape->sets[s]) != set_word(&job->sets[s]) ||
            shape->sets[s].min_sets != job->sets[s].min_sets)
            return false;
    return (shape->tags == NULL && job->tags == NULL) || job_tags_are_same(shape->tags, job->tags);
}

/* Groups by how many times over the empty cluster holds them, the scarcest first. */
static const uint16_t *placing_order(struct shape_table *table, const struct shape *shape,
                                     const struct cluster *cluster)
{
    uint16_t *order = arena_alloc_array(&table->arena, shape->group_count, uint16_t);
    uint64_t times[JOB_GROUPS_MAX];
    for (uint16_t g = 0; g < shape->group_count; g++) {
        uint32_t count = shape->groups[g].count;
        times[g] =
            count == 0
                ? UINT64_MAX
                : shape_room_empty(&shape->groups[g].request, cluster, table->recuts) / count;
        uint32_t at = g;
        for (; at > 0 && times[order[at - 1]] > times[g]; at--)
            order[at] = order[at - 1];
        order[at] = g;
    }
    return order;
}

static void add_charge(struct shape_table *table, struct shape *shape,
                       const struct cluster *cluster)
{
    shape->member_charge =
        arena_alloc(&table->arena, shape->group_count * sizeof *shape->member_charge);
    for (uint32_t g = 0; g < shape->group_count; g++) {
        const struct job_group *group = &shape->groups[g];
        int64_t *charge = shape->member_charge[g];
        charge[QUEUE_SUM_GPU] = shape_most_milli(&group->request, cluster);
        shape->is_by_model |= group->request.gpu_memory_mib != 0 || group->request.mig != 0;
        charge[QUEUE_SUM_CPU] = group->request.cpu_milli;
        charge[QUEUE_SUM_MEMORY] = group->request.memory_mib;
        for (int r = 0; r < RESOURCE_COUNT; r++)
            charge[RESOURCE_COUNT + r] = shape->is_preemptible ? 0 : charge[r];
        shape->member_count += group->count;
        for (int r = 0; r < QUEUE_SUM_COUNT; r++)
            shape->charge[r] += charge[r] * group->count;
    }
}

/* Is the minimum all of it? */
static bool is_rigid(const struct shape *shape)
{
    uint32_t minimum = 0;
    for (uint32_t g = 0; g < shape->group_count && shape->set_count == 0; g++)
        minimum += shape->groups[g].min_count;
    for (uint32_t s = 0; s < shape->set_count; s++)
        minimum += shape->sets[s].min_members;
    return minimum == shape->member_count &&
           !sets_may_lack(shape->sets, shape->set_count > 0 ? shape->set_count : shape->group_count,
                          shape->min_sets);
}

static bool is_on_piece(const struct job_group *group)
{
    const struct request *request = &group->request;
    return request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0;
}

/* How many of the members that must run together may be on pieces of GPUs. */
static uint64_t pieces_in_minimum(const struct shape *shape)
{
    uint64_t of_set[JOB_SETS_MAX] = {0}, sum = 0;
    const uint32_t none[JOB_GROUPS_MAX] = {0};
    const struct gang_view view = {.groups = shape->groups,
                                   .sets = shape->set_count > 0 ? shape->sets : NULL,
                                   .held = none,
                                   .group_count = shape->group_count,
                                   .set_count = shape->set_count,
                                   .min_sets = shape->min_sets};
    bool is_core[JOB_PARTS_MAX];
    gang_core(&view, is_core);
    for (uint32_t g = 0; g < shape->group_count; g++) {
        const struct job_group *group = &shape->groups[g];
        if (!is_on_piece(group) || !is_core[shape->set_count > 0 ? group->set : g])
            continue;
        if (shape->set_count > 0)
            of_set[group->set] += group->count;
        else
            sum += group->min_count;
    }
    for (uint32_t s = 0; s < shape->set_count; s++) {
        const uint64_t minimum = shape->sets[s].min_members;
        sum += of_set[s] < minimum ? of_set[s] : minimum;
    }
    return sum;
}

static const struct job_tags *copy_tags(struct shape_table *table, const struct job_tags *tags)
{
    if (tags == NULL)
        return NULL;
    struct job_tags *own = arena_alloc_array(&table->arena, 1, struct job_tags);
    *own = *tags;
    return own;
}

static uint32_t add_shape(struct shape_table *table, const struct cluster *cluster,
                          const struct job *job)
{
    MEM_GROW(table->shapes, table->capacity, table->count + 1);
    MEM_GROW(table->closed_words, table->closed_capacity, table->count / 64 + 1);
    struct shape *shape = &table->shapes[table->count];
    struct job_group *groups = arena_alloc_array(&table->arena, job->group_count, struct job_group);
    for (uint32_t g = 0; g < job->group_count; g++) {
        groups[g] = *job_group(job, g);
        groups[g].request.nodes = node_asks_own(&table->asks, groups[g].request.nodes);
        assert(groups[g].request.nodes == NULL ||
               groups[g].request.nodes->type_count == cluster->type_count);
    }
    struct job_set *sets = NULL;
    if (job->set_count > 0) {
        sets = arena_alloc_array(&table->arena, job->set_count, struct job_set);
        memcpy(sets, job->sets, job->set_count * sizeof *sets);
    }
    for (uint32_t s = 0; s < job->set_count; s++)
        sets[s].name = ""; /* borrowed from the job, which may go */
    *shape = (struct shape){.groups = groups,
                            .group_count = job->group_count,
                            .sets = sets,
                            .set_count = job->set_count,
                            .min_sets = job->min_sets,
                            .topology = job->topology,
                            .tags = copy_tags(table, job->tags),
                            .class = job->class,
                            .is_preemptible = job->is_preemptible,
                            .recut_seen = UINT64_MAX,
                            .clock = {.since = table->now, .hand = HAND_NONE}};
    add_charge(table, shape, cluster);
    shape->is_rigid = is_rigid(shape);
    shape->is_gang_on_pieces = pieces_in_minimum(shape) > 1;
    shape->order = placing_order(table, shape, cluster);
    shape->never_fits = shape_can_never_fit(shape, cluster, table->recuts);
    for (int asker = 0; asker < ASKER_COUNT; asker++)
        set_open(table, table->count, (enum asker)asker, true);
    return table->count++;
}

static uint64_t hash_shape(const struct shape *shape)
{
    struct job job = job_of_shape(shape);
    return hash_job(&job);
}

static void insert_slot(struct shape_table *table, uint32_t id, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (table->slot_count - 1);
    while (table->slots[at] != 0)
        at = (at + 1) & (table->slot_count - 1);
    table->slots[at] = id + 1;
}

static void grow_slots(struct shape_table *table)
{
    mem_free(table->slots);
    table->slot_count *= 2;
    table->slots = mem_zalloc(table->slot_count, sizeof *table->slots);
    for (uint32_t id = 0; id < table->count; id++)
        insert_slot(table, id, hash_shape(&table->shapes[id]));
}

uint32_t shape_of(struct shape_table *table, const struct cluster *cluster, const struct job *job)
{
    uint64_t hash = hash_job(job);
    for (uint32_t at = (uint32_t)hash & (table->slot_count - 1); table->slots[at] != 0;
         at = (at + 1) & (table->slot_count - 1))
        if (is_same(&table->shapes[table->slots[at] - 1], job))
            return table->slots[at] - 1;
    uint32_t id = add_shape(table, cluster, job);
    if (table->count * 2 > table->slot_count)
        grow_slots(table);
    else
        insert_slot(table, id, hash);
    return id;
}

uint32_t shape_of_chunk(struct shape_table *table, const struct cluster *cluster, uint32_t id,
                        const uint32_t counts[])
{
    struct job_group groups[JOB_GROUPS_MAX];
    const struct shape *whole = &table->shapes[id];
    bool is_all = true;
    for (uint32_t g = 0; g < whole->group_count; g++) {
        groups[g] = whole->groups[g];
        is_all &= groups[g].count == counts[g];
        groups[g].count = counts[g];
        groups[g].min_count = counts[g];
    }
    if (is_all)
        return id;
    struct job job = job_of_shape(whole);
    job.first = groups[0];
    job.more = groups + 1;
    return shape_of(table, cluster, &job);
}

/* ---- saved and loaded ---- */

void shape_archive_request(struct archive *archive, struct request *request)
{
    ARCHIVE_KNOWS(struct request, 40);
    ARCHIVE(archive, request->gpus);
    ARCHIVE(archive, request->gpu_milli);
    ARCHIVE(archive, request->gpu_memory_mib);
    ARCHIVE(archive, request->mig);
    ARCHIVE(archive, request->one_island);
    ARCHIVE(archive, request->share);
    ARCHIVE(archive, request->domain);
    ARCHIVE(archive, request->cpu_milli);
    ARCHIVE(archive, request->memory_mib);
    ARCHIVE(archive, request->gpu_models);
    uint32_t ask = request->nodes == NULL ? 0 : 1 + node_asks_number(archive->asks, request->nodes);
    ARCHIVE(archive, ask);
    if (!archive_is_reading(archive))
        return;
    archive_expect(archive, ask == 0 || (archive->asks != NULL && ask <= archive->asks->count));
    request->nodes = ask == 0 || archive->is_broken ? NULL : archive->asks->asks[ask - 1];
}

/* One that is read, from its text and the types that it had among. */
static void read_ask(struct archive *archive, struct node_asks *asks, char *text,
                     uint32_t type_count)
{
    const uint32_t words = (type_count + 63) / 64;
    struct arena scratch = {0};
    struct node_ask ask = {.term_count = 0};
    archive_expect(archive, words <= archive_left(archive) / sizeof(uint64_t));
    archive_expect(archive, !archive->is_broken && node_ask_of_text(text, &scratch, &ask));
    if (!archive->is_broken) {
        uint64_t *types = arena_alloc_array(&scratch, words, uint64_t);
        archive_bytes(archive, types, words * sizeof *types);
        ask.types = types;
        ask.type_count = type_count;
        node_asks_own(asks, &ask);
    }
    arena_release(&scratch);
}

/* Before the first request. */
static void archive_asks(struct archive *archive, struct node_asks *asks)
{
    ARCHIVE_KNOWS(struct node_asks, 48);
    ARCHIVE_KNOWS(struct node_ask, 72);
    uint32_t count = asks->count;
    archive->asks = asks;
    ARCHIVE(archive, count);
    for (uint32_t i = 0; i < count && !archive->is_broken; i++) {
        const struct node_ask *ask = archive_is_reading(archive) ? NULL : asks->asks[i];
        uint32_t length = ask != NULL ? (uint32_t)strlen(ask->text) : 0;
        uint32_t type_count = ask != NULL ? ask->type_count : 0;
        ARCHIVE(archive, length);
        ARCHIVE(archive, type_count);
        if (ask != NULL) {
            archive_bytes(archive, (char *)(uintptr_t)ask->text, length);
            archive_bytes(archive, (uint64_t *)(uintptr_t)ask->types,
                          (type_count + 63) / 64 * sizeof *ask->types);
            continue;
        }
        archive_expect(archive, length <= archive_left(archive));
        char *text = mem_zalloc(archive->is_broken ? 1 : length + 1, 1);
        archive_bytes(archive, text, archive->is_broken ? 0 : length);
        read_ask(archive, asks, text, type_count);
        mem_free(text);
        archive_expect(archive, asks->count == i + 1);
    }
}

static void archive_group(struct archive *archive, struct job_group *group)
{
    ARCHIVE_KNOWS(struct job_group, 56);
    shape_archive_request(archive, &group->request);
    ARCHIVE(archive, group->count);
    ARCHIVE(archive, group->min_count);
    ARCHIVE(archive, group->set);
    ARCHIVE(archive, group->slice_level);
    ARCHIVE(archive, group->slice_members);
}

static void archive_set(struct archive *archive, struct job_set *set)
{
    ARCHIVE_KNOWS(struct job_set, 24);
    ARCHIVE(archive, set->parent);
    ARCHIVE(archive, set->min_sets);
    ARCHIVE(archive, set->min_members);
    ARCHIVE(archive, set->topology);
    set->name = "";
}

static void archive_tags(struct archive *archive, struct shape_table *table, struct shape *shape)
{
    ARCHIVE_KNOWS(struct job_tags, 84);
    ARCHIVE_KNOWS(struct tag_rule, 8);
    uint8_t has_tags = shape->tags != NULL;
    struct job_tags tags = has_tags != 0 ? *shape->tags : (struct job_tags){0};
    ARCHIVE(archive, has_tags);
    if (has_tags == 0)
        return;
    ARCHIVE(archive, tags);
    archive_expect(archive, job_tags_complaint(&tags) == NULL);
    if (archive_is_reading(archive) && !archive->is_broken)
        shape->tags = copy_tags(table, &tags);
}

/* What the shape points to. */
static void archive_parts(struct archive *archive, struct shape_table *table, struct shape *shape)
{
    if (archive_is_reading(archive)) {
        shape->groups = arena_alloc_array(&table->arena, shape->group_count, struct job_group);
        if (shape->set_count > 0)
            shape->sets = arena_alloc_array(&table->arena, shape->set_count, struct job_set);
        shape->order = arena_alloc_array(&table->arena, shape->group_count, uint16_t);
        shape->member_charge =
            arena_alloc(&table->arena, shape->group_count * sizeof *shape->member_charge);
    }
    for (uint32_t g = 0; g < shape->group_count; g++)
        archive_group(archive, (struct job_group *)(uintptr_t)&shape->groups[g]);
    for (uint32_t s = 0; s < shape->set_count; s++)
        archive_set(archive, (struct job_set *)(uintptr_t)&shape->sets[s]);
    archive_bytes(archive, (uint16_t *)(uintptr_t)shape->order,
                  shape->group_count * sizeof *shape->order);
    archive_bytes(archive, shape->member_charge, shape->group_count * sizeof *shape->member_charge);
    ARCHIVE_ARRAY(archive, shape->lanes, shape->lane_capacity, shape->lane_count);
    archive_tags(archive, table, shape);
}

static void archive_shape(struct archive *archive, struct shape_table *table, struct shape *shape)
{
    ARCHIVE_KNOWS(struct shape, 224);
    ARCHIVE_KNOWS(struct wait_clock, HAND_COUNT * 8 + 16);
    ARCHIVE(archive, shape->group_count);
    ARCHIVE(archive, shape->set_count);
    ARCHIVE(archive, shape->min_sets);
    ARCHIVE(archive, shape->topology);
    ARCHIVE(archive, shape->class);
    ARCHIVE(archive, shape->is_rigid);
    ARCHIVE(archive, shape->is_preemptible);
    ARCHIVE(archive, shape->never_fits);
    ARCHIVE(archive, shape->is_proven);
    ARCHIVE(archive, shape->is_by_model);
    ARCHIVE(archive, shape->is_gang_on_pieces);
    ARCHIVE(archive, shape->closed);
    ARCHIVE(archive, shape->blocked_by);
    ARCHIVE(archive, shape->member_count);
    ARCHIVE(archive, shape->whole_nodes);
    ARCHIVE(archive, shape->charge);
    ARCHIVE(archive, shape->recut_seen);
    ARCHIVE(archive, shape->clock.ns);
    ARCHIVE(archive, shape->clock.since);
    ARCHIVE(archive, shape->clock.hand);
    archive_parts(archive, table, shape);
}

void shape_table_archive(struct archive *archive, struct shape_table *table)
{
    ARCHIVE_KNOWS(struct shape_table, 672);
    archive_asks(archive, &table->asks);
    ARCHIVE_ROOM(archive, table->shapes, table->capacity, table->count);
    MEM_GROW(table->closed_words, table->closed_capacity, table->count / 64 + 1);
    for (uint32_t id = 0; id < table->count; id++) {
        archive_shape(archive, table, &table->shapes[id]);
        mark_closed(table, id, table->shapes[id].closed);
    }
    ARCHIVE(archive, table->closed_count);
    ARCHIVE(archive, table->closed_key);
    ARCHIVE(archive, table->open);
    ARCHIVE(archive, table->open_count);
    ARCHIVE(archive, table->now);
    size_t capacity = 0;
    ARCHIVE_ARRAY(archive, table->slots, capacity, table->slot_count);
}

struct space shape_space(const struct shape *shape, const struct piece *piece, uint32_t owner)
{
    const struct request *request = &shape->groups[piece->group].request;
    return (struct space){.node = piece->node,
                          .gpu_mask = piece->gpu_mask,
                          .gpu_milli = piece->gpu_milli,
                          .cpu_milli = request->cpu_milli * piece->member_count,
                          .memory_mib = request->memory_mib * piece->member_count,
                          .owner = owner,
                          .member_count = piece->member_count,
                          .share = request->share,
                          .domain = request->domain,
                          .tags = shape->tags,
                          .mig = request->mig,
                          .mig_start = piece->mig_start};
}
