#include "sim/caches/pull_table.h"

#include <math.h>

#include "base/hash.h"
#include "base/random.h"

__extension__ typedef __int128 wide_bytes;

#define GIB            INT64_C(1073741824)
#define SIZE_MICRO_MAX (INT64_C(1000000) * 1000000) /* of a size in GiB, in millionths */
#define BYTES_PER_GB   INT64_C(1000000000)

static const char *const object_keys[JOB_OBJECTS_MAX] = {"image", "weights", "data"};

/* ---- read ---- */

static int64_t size_read(struct json_object *object, const char *key, int64_t least)
{
    const int64_t micro = json_get_scaled(object, key, 1000000, least, SIZE_MICRO_MAX, 0);
    return (int64_t)((wide_bytes)micro * GIB / 1000000);
}

/* The cumulative probabilities of Zipf's law. */
static const double *zipf_sum(struct arena *arena, uint32_t distinct, double exponent)
{
    if (exponent == 0 || distinct == 1)
        return NULL;
    double *sum = arena_alloc_array(arena, distinct, double), all = 0;
    for (uint32_t k = 0; k < distinct; k++)
        sum[k] = all += pow(k + 1, -exponent);
    for (uint32_t k = 0; k < distinct; k++)
        sum[k] /= all;
    return sum;
}

static void object_read(const struct json_value *value, struct pull_object *own, struct arena *arena)
{
    static const char *const scopes[] = {"row", "user", "queue", "job", NULL}; /* enum pull_scope */
    struct json_object object;
    *own = (struct pull_object){.distinct = 1};
    if (value->node == NULL)
        return;
    json_object_open(&object, value);
    json_need(&object, "size_gib");
    own->bytes = size_read(&object, "size_gib", 1);
    own->scope = (uint8_t)json_get_choice(&object, "scope", scopes, PULL_SCOPE_ROW);
    own->distinct = (uint32_t)json_get_int(&object, "distinct", 1, PULL_DISTINCT_MAX, 1);
    const double exponent = json_get_real(&object, "zipf", 0, 10, 0);
    const struct json_value zipf = json_member(&object, "zipf"), distinct = json_member(&object, "distinct");
    if (own->scope == PULL_SCOPE_JOB && distinct.node != NULL)
        json_fail(&distinct, "each job has its own with the scope 'job': leave out 'distinct'");
    else if (own->distinct == 1 && zipf.node != NULL)
        json_fail(&zipf, "'zipf' says which of several the jobs have: give 'distinct' above 1");
    else if (!error_is(*value->error))
        own->sum = zipf_sum(arena, own->distinct, exponent);
    json_object_close(&object);
}

static void row_read(const struct json_value *value, struct pull_rule *row, struct arena *arena,
                     const char *const *classes)
{
    struct json_object object;
    json_object_open(&object, value);
    row->jobs = job_filter_read(&object, 0, arena, classes);
    for (int o = 0; o < JOB_OBJECTS_MAX; o++) {
        const struct json_value one = json_member(&object, object_keys[o]);
        object_read(&one, &row->objects[o], arena);
    }
    json_object_close(&object);
}

static void rows_read(const struct json_value *array, struct pull_table *table, struct arena *arena,
                      const char *const *classes)
{
    const size_t count = json_array_count(array);
    if (count > PULL_ROWS_MAX) {
        json_fail(array, "'jobs' has %zu rows, more than %d", count, PULL_ROWS_MAX);
        return;
    }
    table->rows = arena_alloc_array(arena, count > 0 ? count : 1, struct pull_rule);
    for (size_t i = 0; i < count; i++) {
        const struct json_value item = json_array_item(array, i);
        row_read(&item, &table->rows[i], arena, classes);
    }
    table->count = (uint32_t)count;
}

static int64_t bandwidth_read(struct json_object *object, const char *key)
{
    return json_get_scaled(object, key, BYTES_PER_GB, 1000000, 1000000 * BYTES_PER_GB, 0);
}

struct pull_table pull_table_read(const struct json_value *value, struct arena *arena, const char *const *classes)
{
    static const char *const costs[] = {"free", "charged", NULL};
    struct pull_table table = {0};
    struct json_object object;
    if (value->node == NULL)
        return table;
    json_object_open(&object, value);
    table.is_on = json_get_choice(&object, "cost", costs, 1) == 1;
    table.registry_bytes_per_s = bandwidth_read(&object, "registry_gb_per_s");
    table.node_bytes_per_s = bandwidth_read(&object, "node_gb_per_s");
    table.rack_bytes_per_s = bandwidth_read(&object, "rack_gb_per_s");
    table.node_cache_bytes = size_read(&object, "node_cache_gib", 0);
    table.rack_cache_bytes = size_read(&object, "rack_cache_gib", 0);
    const struct json_value jobs = json_member(&object, "jobs"), rack = json_member(&object, "rack_gb_per_s");
    if (rack.node != NULL && table.rack_cache_bytes == 0)
        json_fail(&rack, "'rack_gb_per_s' needs a cache to read from: give 'rack_cache_gib' above 0");
    if (jobs.node != NULL)
        rows_read(&jobs, &table, arena, classes);
    if (table.count > 0 && table.registry_bytes_per_s == 0 && table.node_bytes_per_s == 0)
        json_fail(&jobs, "pulls need a bandwidth: give 'registry_gb_per_s' or 'node_gb_per_s' beside 'jobs'");
    json_object_close(&object);
    return table;
}

/* ---- names ---- */

struct pull_name {
    uint64_t scope; /* of the jobs that have it: a user, a queue or a job */
    uint32_t place; /* row x JOB_OBJECTS_MAX + object */
    uint32_t number;
};

void pull_names_release(struct pull_names *names)
{
    mem_free(names->all);
    mem_free(names->slots);
    *names = (struct pull_names){0};
}

static uint32_t slot_of(const struct pull_names *names, const struct pull_name *name)
{
    return (uint32_t)hash_mix(hash_mix(name->scope, name->place), name->number) & (names->slot_count - 1);
}

static void names_grow(struct pull_names *names)
{
    enum { SLOTS_FIRST = 64 };
    mem_free(names->slots);
    names->slot_count = names->slot_count == 0 ? SLOTS_FIRST : 2 * names->slot_count;
    names->slots = mem_zalloc(names->slot_count, sizeof *names->slots);
    for (uint32_t id = 0; id < names->count; id++) {
        uint32_t at = slot_of(names, &names->all[id]);
        while (names->slots[at] != 0)
            at = (at + 1) & (names->slot_count - 1);
        names->slots[at] = id + 1;
    }
}

static uint32_t name_id(struct pull_names *names, struct pull_name name)
{
    if (2 * (names->count + 1) > names->slot_count)
        names_grow(names);
    uint32_t at = slot_of(names, &name);
    for (; names->slots[at] != 0; at = (at + 1) & (names->slot_count - 1)) {
        const struct pull_name *other = &names->all[names->slots[at] - 1];
        if (other->scope == name.scope && other->place == name.place && other->number == name.number)
            return names->slots[at] - 1;
    }
    MEM_GROW(names->all, names->capacity, (size_t)names->count + 1);
    names->all[names->count] = name;
    names->slots[at] = ++names->count;
    return names->count - 1;
}

/* ---- applied ---- */

/* Which of the distinct ones: the first whose cumulative probability is above a uniform number. */
static uint32_t draw(const struct pull_object *object, job_id job, uint32_t place, uint64_t seed)
{
    struct random_stream stream;
    if (object->distinct == 1)
        return 0;
    random_stream_init(&stream, seed, "cold_start", (uint64_t)job * JOB_OBJECTS_MAX + place % JOB_OBJECTS_MAX);
    if (object->sum == NULL)
        return random_below(&stream, object->distinct);
    const double at = random_uniform(&stream);
    uint32_t low = 0, high = object->distinct - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (object->sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static uint64_t scope_of(const struct pull_object *object, const struct job *job)
{
    switch (object->scope) {
    case PULL_SCOPE_USER:
        return job->user;
    case PULL_SCOPE_QUEUE:
        return job->queue;
    case PULL_SCOPE_JOB:
        return job->id;
    default:
        return 0;
    }
}

struct job_objects pull_table_objects(const struct pull_table *table, struct pull_names *names,
                                      const struct cluster *cluster, const struct job *job, struct job_names job_names,
                                      uint64_t seed)
{
    struct job_objects objects = {.count = 0};
    const int64_t gpus = (job_asked_milli(job, cluster) + GPU_MILLI - 1) / GPU_MILLI;
    uint32_t row = 0;
    while (row < table->count && !job_filter_passes(&table->rows[row].jobs, job, gpus, job_names))
        row++;
    for (uint32_t o = 0; row < table->count && o < JOB_OBJECTS_MAX; o++) {
        const struct pull_object *object = &table->rows[row].objects[o];
        const uint32_t place = row * JOB_OBJECTS_MAX + o;
        if (object->bytes == 0)
            continue;
        const struct pull_name name = {
            .scope = scope_of(object, job), .place = place, .number = draw(object, job->id, place, seed)};
        objects.of[objects.count++] = (struct job_object){.id = name_id(names, name), .bytes = object->bytes};
    }
    return objects;
}
