/* Pulls through caches against a naive twin, which knows the order of every use, and gives every transfer its rate at
 * every step; and by hand. */
#include "tests/support/test.h"

#include "base/random.h"
#include "sim/caches/caches.h"
#include "sim/caches/pulls.h"
#include "tests/support/interval.h"

enum { NODES = 6, RACK_NODES = 3, RACKS = 2, OBJECTS = 9, JOBS = 8, GB = 1000000000 };

#define S(seconds) ((time_ns)((seconds)*TIME_NS_PER_S))

__extension__ typedef __int128 twin_bytes;

/* ---- A cache as an array: the least recently used first ---- */

struct twin_cache {
    int64_t bound;
    uint32_t objects[OBJECTS], pins[OBJECTS], count; /* pins: by object */
};

static int64_t size_of[OBJECTS];

static int64_t sum_of(const struct twin_cache *cache, bool only_pinned)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < cache->count; i++)
        if (!only_pinned || cache->pins[cache->objects[i]] > 0)
            sum += size_of[cache->objects[i]];
    return sum;
}

static bool cache_has(const struct twin_cache *cache, uint32_t object)
{
    for (uint32_t i = 0; i < cache->count; i++)
        if (cache->objects[i] == object)
            return true;
    return false;
}

static void cache_drop(struct twin_cache *cache, uint32_t index)
{
    for (cache->count--; index < cache->count; index++)
        cache->objects[index] = cache->objects[index + 1];
}

static void cache_use(struct twin_cache *cache, uint32_t object)
{
    for (uint32_t i = 0; i < cache->count; i++)
        if (cache->objects[i] == object) {
            cache_drop(cache, i);
            cache->objects[cache->count++] = object;
            return;
        }
    fail_msg("the cache does not have it");
}

static bool cache_add(struct twin_cache *cache, uint32_t object)
{
    if (sum_of(cache, true) + size_of[object] > cache->bound)
        return false;
    for (uint32_t i = 0; sum_of(cache, false) + size_of[object] > cache->bound;)
        if (cache->pins[cache->objects[i]] == 0)
            cache_drop(cache, i);
        else
            i++;
    cache->objects[cache->count++] = object;
    return true;
}

TEST(caches_keep_the_least_recently_used_out)
{
    const struct test_seeds seeds = test_seeds(50, 2000);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream stream;
        struct twin_cache twins[2] = {{.bound = 0}};
        struct caches *caches = caches_new(2);
        random_stream_init(&stream, seed, "caches", 0);
        for (uint32_t o = 0; o < OBJECTS; o++)
            size_of[o] = 1 + random_below(&stream, 40);
        for (uint32_t c = 0; c < 2; c++)
            caches_bound(caches, c, twins[c].bound = random_below(&stream, 120));
        for (int step = 0; step < 400; step++) {
            const uint32_t c = random_below(&stream, 2), object = random_below(&stream, OBJECTS);
            struct twin_cache *twin = &twins[c];
            const uint32_t what = random_below(&stream, 3);
            if (!cache_has(twin, object)) {
                assert_int_equal(caches_add(caches, c, object, size_of[object]), cache_add(twin, object));
            } else if (what == 0) {
                caches_use(caches, c, object);
                cache_use(twin, object);
            } else if (what == 1) {
                caches_pin(caches, c, object);
                twin->pins[object]++;
            } else if (twin->pins[object] > 0) {
                caches_unpin(caches, c, object);
                if (--twin->pins[object] == 0)
                    cache_use(twin, object);
            }
            for (uint32_t o = 0; o < OBJECTS; o++)
                if (caches_has(caches, c, o) != cache_has(twin, o))
                    fail_msg("seed %llu: object %u is %sin the cache", (unsigned long long)seed, o,
                             cache_has(twin, o) ? "not " : "");
            assert_int_equal(caches_bytes(caches, c), sum_of(twin, false));
            assert_true(caches_bytes(caches, c) <= twin->bound);
        }
        caches_free(caches);
    }
}

/* ---- Pulls ---- */

struct twin_pull {
    uint32_t object;
    bool is_moving, from_rack;
    twin_bytes left; /* byte-ns per s */
};

struct twin_job {
    bool is_begun;
    uint32_t node_count, waits;
    node_id nodes[NODES];
    struct job_objects objects;
    int need[NODES][JOB_OBJECTS_MAX]; /* 0: waits; 1: pinned; 2: there, not kept */
    uint64_t order[NODES][JOB_OBJECTS_MAX];
    struct pull_counts counts;
};

struct twin {
    struct pull_table table;
    struct twin_cache nodes[NODES], racks[RACKS];
    struct twin_pull pulls[NODES][2 * OBJECTS]; /* by node, in order */
    uint32_t pull_count[NODES];
    struct twin_job jobs[JOBS];
    uint64_t asked; /* counts needs, in the order in which they came */
    time_ns now;
};

static bool moves(const struct twin *twin, node_id node)
{
    return twin->pull_count[node] > 0 && twin->pulls[node][0].is_moving;
}

static int64_t rate_of(const struct twin *twin, uint32_t source)
{
    int64_t nodes = 0;
    const int64_t limit = source == RACKS ? twin->table.registry_bytes_per_s : twin->table.rack_bytes_per_s;
    for (uint32_t n = 0; n < NODES; n++)
        if (moves(twin, n))
            nodes += twin->pulls[n][0].from_rack ? n / RACK_NODES == source : source == RACKS;
    if (nodes == 0)
        return 1;
    int64_t rate = (limit > 0 ? limit : INT64_MAX) / nodes;
    if (twin->table.node_bytes_per_s > 0 && twin->table.node_bytes_per_s < rate)
        rate = twin->table.node_bytes_per_s;
    return rate > 0 ? rate : 1;
}

static int64_t node_rate(const struct twin *twin, node_id node)
{
    return rate_of(twin, twin->pulls[node][0].from_rack ? node / RACK_NODES : RACKS);
}

static time_ns twin_next(const struct twin *twin)
{
    time_ns next = TIME_NEVER;
    for (node_id n = 0; n < NODES; n++) {
        if (!moves(twin, n))
            continue;
        const int64_t rate = node_rate(twin, n);
        const twin_bytes left = twin->pulls[n][0].left;
        const time_ns at = twin->now + (time_ns)(left > 0 ? (left + rate - 1) / rate : 0);
        next = at < next ? at : next;
    }
    return next;
}

static void twin_advance(struct twin *twin, time_ns now)
{
    int64_t rates[NODES];
    for (node_id n = 0; n < NODES; n++)
        rates[n] = moves(twin, n) ? node_rate(twin, n) : 0;
    for (node_id n = 0; n < NODES; n++)
        if (rates[n] > 0)
            twin->pulls[n][0].left -= (twin_bytes)rates[n] * (now - twin->now);
    twin->now = now;
}

/* Of the jobs that wait for the object on the node, the one that asked first is charged. */
static void charge(struct twin *twin, node_id node, uint32_t object, enum pull_source source)
{
    struct twin_job *first = NULL;
    uint64_t order = UINT64_MAX;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < JOBS; j++)
            for (uint32_t n = 0; twin->jobs[j].is_begun && n < twin->jobs[j].node_count; n++)
                for (uint32_t o = 0; o < twin->jobs[j].objects.count; o++) {
                    struct twin_job *job = &twin->jobs[j];
                    if (job->nodes[n] != node || job->objects.of[o].id != object || job->need[n][o] != 0)
                        continue;
                    if (pass == 0 && job->order[n][o] < order) {
                        first = job;
                        order = job->order[n][o];
                    } else if (pass == 1) {
                        job->counts.bytes[job == first ? source : PULL_LOCAL] += size_of[object];
                    }
                }
    assert_non_null(first);
}

static void settle(struct twin *twin)
{
    for (node_id n = 0; n < NODES; n++) {
        struct twin_pull *head = &twin->pulls[n][0];
        struct twin_cache *rack = &twin->racks[n / RACK_NODES];
        bool is_fetched = false;
        if (twin->pull_count[n] == 0 || head->is_moving)
            continue;
        for (node_id m = 0; m < NODES; m++)
            is_fetched |= m / RACK_NODES == n / RACK_NODES && moves(twin, m) && !twin->pulls[m][0].from_rack &&
                          twin->pulls[m][0].object == head->object;
        head->from_rack = cache_has(rack, head->object);
        if (!head->from_rack && is_fetched && size_of[head->object] <= rack->bound)
            continue;
        if (head->from_rack)
            cache_use(rack, head->object);
        head->is_moving = true;
        head->left = (twin_bytes)size_of[head->object] * TIME_NS_PER_S;
        charge(twin, n, head->object, head->from_rack ? PULL_RACK : PULL_REGISTRY);
    }
}

static void drop_pull(struct twin *twin, node_id node, uint32_t index)
{
    for (twin->pull_count[node]--; index < twin->pull_count[node]; index++)
        twin->pulls[node][index] = twin->pulls[node][index + 1];
}

/* The object has come; returns the jobs that have all since, as bits. */
static uint32_t serve(struct twin *twin, node_id node, uint32_t object, bool is_kept)
{
    uint32_t ready = 0;
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t n = 0; twin->jobs[j].is_begun && n < twin->jobs[j].node_count; n++)
            for (uint32_t o = 0; o < twin->jobs[j].objects.count; o++) {
                struct twin_job *job = &twin->jobs[j];
                if (job->nodes[n] != node || job->objects.of[o].id != object || job->need[n][o] != 0)
                    continue;
                job->need[n][o] = is_kept ? 1 : 2;
                twin->nodes[node].pins[object] += is_kept;
                ready |= --job->waits == 0 ? 1u << j : 0;
            }
    return ready;
}

/* The registry first, then the racks; in each the lowest node. */
static bool end_one(struct twin *twin, uint32_t *ready)
{
    for (uint32_t from_rack = 0; from_rack < 2; from_rack++)
        for (node_id n = 0; n < NODES; n++) {
            struct twin_pull *head = &twin->pulls[n][0];
            if (!moves(twin, n) || head->from_rack != from_rack || head->left > 0)
                continue;
            const uint32_t object = head->object;
            struct twin_cache *rack = &twin->racks[n / RACK_NODES];
            const bool is_kept = cache_add(&twin->nodes[n], object);
            drop_pull(twin, n, 0);
            *ready |= serve(twin, n, object, is_kept);
            if (!from_rack && !cache_has(rack, object))
                cache_add(rack, object);
            settle(twin);
            return true;
        }
    return false;
}

static bool twin_begin(struct twin *twin, uint32_t j, const node_id *nodes, uint32_t count,
                       const struct job_objects *objects)
{
    struct twin_job *job = &twin->jobs[j];
    job->is_begun = true;
    job->node_count = count;
    job->objects = *objects;
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t o = 0; o < objects->count; o++) {
            const uint32_t object = objects->of[o].id, node = job->nodes[n] = nodes[n];
            job->order[n][o] = twin->asked++;
            job->need[n][o] = cache_has(&twin->nodes[node], object);
            if (job->need[n][o] == 1) {
                cache_use(&twin->nodes[node], object);
                twin->nodes[node].pins[object]++;
                job->counts.bytes[PULL_LOCAL] += size_of[object];
                continue;
            }
            job->waits++;
            uint32_t p = 0;
            while (p < twin->pull_count[node] && twin->pulls[node][p].object != object)
                p++;
            if (p == twin->pull_count[node])
                twin->pulls[node][twin->pull_count[node]++] = (struct twin_pull){.object = object};
            else if (twin->pulls[node][p].is_moving)
                job->counts.bytes[PULL_LOCAL] += size_of[object];
        }
    settle(twin);
    return job->waits == 0;
}

static bool is_wanted(const struct twin *twin, node_id node, uint32_t object)
{
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t n = 0; twin->jobs[j].is_begun && n < twin->jobs[j].node_count; n++)
            for (uint32_t o = 0; o < twin->jobs[j].objects.count; o++)
                if (twin->jobs[j].nodes[n] == node && twin->jobs[j].objects.of[o].id == object &&
                    twin->jobs[j].need[n][o] == 0)
                    return true;
    return false;
}

static void twin_stop(struct twin *twin, uint32_t j)
{
    struct twin_job *job = &twin->jobs[j];
    job->is_begun = false;
    for (uint32_t n = job->node_count; n-- > 0;) /* the order of the last uses */
        for (uint32_t o = job->objects.count; o-- > 0;) {
            struct twin_cache *cache = &twin->nodes[job->nodes[n]];
            const uint32_t object = job->objects.of[o].id;
            if (job->need[n][o] == 1 && --cache->pins[object] == 0)
                cache_use(cache, object);
        }
    job->waits = 0;
    for (node_id n = 0; n < NODES; n++)
        for (uint32_t p = twin->pull_count[n]; p-- > 0;)
            if (!twin->pulls[n][p].is_moving && !is_wanted(twin, n, twin->pulls[n][p].object))
                drop_pull(twin, n, p);
    settle(twin);
}

static struct job_objects some_objects(struct random_stream *stream)
{
    struct job_objects objects = {.count = (uint16_t)(1 + random_below(stream, JOB_OBJECTS_MAX))};
    for (uint32_t o = 0; o < objects.count; o++) {
        uint32_t id = random_below(stream, OBJECTS);
        for (uint32_t before = 0; before < o; before++)
            if (objects.of[before].id == id) {
                id = (id + 1) % OBJECTS;
                before = UINT32_MAX; /* look again from the first */
            }
        objects.of[o] = (struct job_object){id, size_of[id]};
    }
    return objects;
}

static void compare(const struct pulls *pulls, const struct twin *twin, uint64_t seed)
{
    struct pull_counts sum = {{0}};
    for (node_id n = 0; n < NODES; n++)
        for (uint32_t o = 0; o < OBJECTS; o++)
            if (pulls_has(pulls, n, o) != cache_has(&twin->nodes[n], o))
                fail_msg("seed %llu: node %u keeps other objects than its twin", (unsigned long long)seed, n);
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t s = 0; s < PULL_SOURCE_COUNT; s++) {
            if (pulls_counts(pulls, j).bytes[s] != twin->jobs[j].counts.bytes[s])
                fail_msg("seed %llu: job %u pulled other bytes than its twin", (unsigned long long)seed, j);
            sum.bytes[s] += twin->jobs[j].counts.bytes[s];
        }
    const struct pull_counts moved = pulls_moved(pulls);
    assert_memory_equal(&sum, &moved, sizeof sum);
    if (pulls_next(pulls) != twin_next(twin))
        fail_msg("seed %llu: the next pull ends at %lld, not at %lld", (unsigned long long)seed,
                 (long long)pulls_next(pulls), (long long)twin_next(twin));
}

static void change(struct pulls *pulls, struct twin *twin, struct random_stream *stream)
{
    const uint32_t j = random_below(stream, JOBS);
    if (twin->jobs[j].is_begun) {
        pulls_stop(pulls, j, twin->now);
        twin_stop(twin, j);
        return;
    }
    node_id nodes[NODES];
    uint32_t count = 0;
    for (node_id n = 0; n < NODES; n++)
        if (random_below(stream, 3) == 0)
            nodes[count++] = n;
    if (count == 0)
        nodes[count++] = random_below(stream, NODES);
    const struct job_objects objects = some_objects(stream);
    assert_int_equal(pulls_begin(pulls, j, nodes, count, &objects, twin->now),
                     twin_begin(twin, j, nodes, count, &objects));
}

static void take_all(struct pulls *pulls, struct twin *twin)
{
    uint32_t ready = 0, told = 0, slot;
    while (end_one(twin, &ready))
        ;
    while (pulls_take(pulls, twin->now, &slot))
        told |= 1u << slot;
    assert_int_equal(told, ready);
}

static struct cluster *racks_new(void)
{
    struct cluster *cluster = cluster_uniform_new(NODES, 8);
    for (node_id n = 0; n < NODES; n++)
        cluster->nodes[n].unit = n / RACK_NODES;
    return cluster;
}

TEST(pulls_are_those_of_a_naive_twin)
{
    const struct test_seeds seeds = test_seeds(150, 5000);
    struct cluster *cluster = racks_new();
    int64_t moved[PULL_SOURCE_COUNT] = {0};
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        struct random_stream stream;
        struct twin *twin = calloc(1, sizeof *twin);
        random_stream_init(&stream, seed, "pulls", 0);
        for (uint32_t o = 0; o < OBJECTS; o++)
            size_of[o] = 1 + random_below(&stream, 1u << random_below(&stream, 32));
        twin->table = (struct pull_table){
            .is_on = true,
            .registry_bytes_per_s = random_below(&stream, 4) == 0 ? 0 : GB / 10 + random_below(&stream, GB),
            .node_bytes_per_s = GB / 50 + random_below(&stream, GB / 2),
            .rack_bytes_per_s = random_below(&stream, 3) == 0 ? 0 : GB / 10 + random_below(&stream, GB),
            .node_cache_bytes = random_below(&stream, 4) * (int64_t)GB / 3,
            .rack_cache_bytes = random_below(&stream, 4) * (int64_t)GB / 2};
        for (node_id n = 0; n < NODES; n++)
            twin->nodes[n].bound = twin->table.node_cache_bytes;
        for (uint32_t r = 0; r < RACKS; r++)
            twin->racks[r].bound = twin->table.rack_cache_bytes;
        struct pulls *pulls = pulls_new(&twin->table, cluster);
        for (int step = 0; step < 200; step++) {
            const time_ns next = twin_next(twin);
            const time_ns at = twin->now + (time_ns)random_below(&stream, 3000) * (TIME_NS_PER_S / 1000);
            twin_advance(twin, next < at ? next : at);
            take_all(pulls, twin);
            if (next > at || random_below(&stream, 4) == 0)
                change(pulls, twin, &stream);
            compare(pulls, twin, seed);
        }
        for (uint32_t s = 0; s < PULL_SOURCE_COUNT; s++)
            moved[s] += pulls_moved(pulls).bytes[s];
        pulls_free(pulls);
        free(twin);
    }
    for (uint32_t s = 0; s < PULL_SOURCE_COUNT; s++)
        assert_true(moved[s] > 0);
    cluster_free(cluster);
}

/* ---- By hand: a registry of 10 GB/s, nodes of 4 GB/s, caches of racks of 6 GB/s ---- */

static const struct job_objects image = {.count = 1, .of = {{.id = 7, .bytes = (int64_t)20 * GB}}};

static struct pull_table by_hand(int64_t node_cache, int64_t rack_cache)
{
    return (struct pull_table){.is_on = true,
                               .registry_bytes_per_s = (int64_t)10 * GB,
                               .node_bytes_per_s = (int64_t)4 * GB,
                               .rack_bytes_per_s = (int64_t)6 * GB,
                               .node_cache_bytes = node_cache * GB,
                               .rack_cache_bytes = rack_cache * GB};
}

static void ready_at(struct pulls *pulls, time_ns at, uint32_t job)
{
    uint32_t slot;
    for (time_ns next = pulls_next(pulls); next < at; next = pulls_next(pulls))
        assert_false(pulls_take(pulls, next, &slot));
    assert_true(pulls_take(pulls, at, &slot));
    assert_int_equal(slot, job);
}

static void counts_are(const struct pulls *pulls, uint32_t job, int64_t registry, int64_t rack, int64_t local)
{
    const struct pull_counts counts = pulls_counts(pulls, job);
    assert_int_equal(counts.bytes[PULL_REGISTRY], registry * GB);
    assert_int_equal(counts.bytes[PULL_RACK], rack * GB);
    assert_int_equal(counts.bytes[PULL_LOCAL], local * GB);
}

/* Alone 20 GB take 5 s by the node's link.  The second start on the node is warm.  So is a third, while the first two
 * run; a cache of 30 GB has no room beside the image for 15 GB, so these are pulled again by each job.  Without users
 * the image gives way. */
TEST(one_node)
{
    struct cluster *cluster = racks_new();
    const struct pull_table table = by_hand(30, 0);
    struct pulls *pulls = pulls_new(&table, cluster);
    const struct job_objects weights = {.count = 1, .of = {{.id = 8, .bytes = (int64_t)15 * GB}}};
    assert_false(pulls_begin(pulls, 0, &(node_id){2}, 1, &image, 0));
    assert_int_equal(pulls_next(pulls), S(5));
    ready_at(pulls, S(5), 0);
    counts_are(pulls, 0, 20, 0, 0);
    assert_true(pulls_begin(pulls, 1, &(node_id){2}, 1, &image, S(6)));
    counts_are(pulls, 1, 0, 0, 20);
    for (time_ns at = S(10); at <= S(20); at += S(10)) {
        assert_false(pulls_begin(pulls, 2, &(node_id){2}, 1, &weights, at));
        ready_at(pulls, at + S(3.75), 2);
        assert_false(pulls_has(pulls, 2, 8));
        pulls_stop(pulls, 2, at + S(4));
    }
    pulls_stop(pulls, 0, S(30));
    pulls_stop(pulls, 1, S(30));
    assert_false(pulls_begin(pulls, 2, &(node_id){2}, 1, &weights, S(30)));
    ready_at(pulls, S(33.75), 2);
    assert_true(pulls_has(pulls, 2, 8) && !pulls_has(pulls, 2, 7));
    pulls_free(pulls);
    cluster_free(cluster);
}

/* Without caches of racks four nodes share the registry: 2.5 GB/s each, 8 s.  Two jobs on one node pull the image
 * once: the second, which asks at 4 s, has it at 8 s too. */
TEST(nodes_share_the_registry)
{
    struct cluster *cluster = racks_new();
    const struct pull_table table = by_hand(100, 0);
    struct pulls *pulls = pulls_new(&table, cluster);
    const node_id nodes[] = {0, 1, 3, 5};
    uint32_t slot;
    assert_false(pulls_begin(pulls, 0, nodes, 4, &image, 0));
    assert_false(pulls_begin(pulls, 1, &nodes[2], 1, &image, S(4)));
    assert_false(pulls_take(pulls, S(8) - 1, &slot));
    assert_true(pulls_take(pulls, S(8), &slot) && slot == 1); /* node 3 comes before node 5 */
    assert_true(pulls_take(pulls, S(8), &slot) && slot == 0);
    counts_are(pulls, 0, 80, 0, 0);
    counts_are(pulls, 1, 0, 0, 20);
    pulls_free(pulls);
    cluster_free(cluster);
}

/* One node of each rack pulls from the registry, at 4 GB/s: 5 s.  Then the two others of rack 0 pull from its cache, at
 * 3 GB/s each: 20 / 3 s more.  A node of rack 1 that comes later pulls from its cache alone. */
TEST(racks_pull_once)
{
    struct cluster *cluster = racks_new();
    const struct pull_table table = by_hand(100, 100);
    struct pulls *pulls = pulls_new(&table, cluster);
    const node_id nodes[] = {0, 1, 2, 3};
    assert_false(pulls_begin(pulls, 0, nodes, 4, &image, 0));
    assert_int_equal(pulls_next(pulls), S(5));
    ready_at(pulls, S(5) + 6666666667, 0);
    counts_are(pulls, 0, 40, 40, 0);
    assert_false(pulls_begin(pulls, 1, &(node_id){5}, 1, &image, S(20)));
    ready_at(pulls, S(25), 1);
    counts_are(pulls, 1, 0, 20, 0);
    pulls_free(pulls);
    cluster_free(cluster);
}

/* An image and weights come one after the other.  A job that stops gives up what has not begun: its image goes on, and
 * is there for the next. */
TEST(a_node_pulls_one_at_a_time)
{
    struct cluster *cluster = racks_new();
    const struct pull_table table = by_hand(100, 0);
    struct pulls *pulls = pulls_new(&table, cluster);
    const struct job_objects both = {.count = 2, .of = {image.of[0], {.id = 8, .bytes = (int64_t)40 * GB}}};
    uint32_t slot;
    assert_false(pulls_begin(pulls, 0, &(node_id){4}, 1, &both, 0));
    ready_at(pulls, S(15), 0);
    pulls_stop(pulls, 0, S(15));
    assert_true(pulls_begin(pulls, 1, &(node_id){4}, 1, &both, S(16)));
    assert_false(pulls_begin(pulls, 2, &(node_id){1}, 1, &both, S(20)));
    pulls_stop(pulls, 2, S(22));
    counts_are(pulls, 2, 20, 0, 0);
    assert_false(pulls_take(pulls, S(25), &slot));
    assert_true(pulls_has(pulls, 1, 7) && !pulls_has(pulls, 1, 8));
    assert_int_equal(pulls_next(pulls), TIME_NEVER);
    assert_true(pulls_begin(pulls, 2, &(node_id){1}, 1, &image, S(26)));
    pulls_free(pulls);
    cluster_free(cluster);
}
