/* tests/property/test_fastest.c -- the placement policy `fastest`: by hand, against the places of best_fit, and its
 * traffic against sums made anew. */
#include <math.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/placement/placements.h"
#include "policies/placement/traffic.h"
#include "policies/placement/ways.h"
#include "policies/state/sched_state.h"
#include "tests/support/honest_world.h"
#include "tests/support/interval.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
    struct request_class_table request_classes;
    struct traffic traffic;
    struct piece_list pieces;
};

static void open_world(struct world *world, const char *cluster)
{
    *world = (struct world){.cluster = sched_case_cluster(cluster)};
    world->ledger = ledger_new(world->cluster);
    request_class_table_init(&world->request_classes);
    world->request_classes.keeps_communication = true;
    traffic_init(&world->traffic, world->cluster);
    world->ledger->traffic = &world->traffic;
}

static void release(struct world *world)
{
    assert_lawful(ledger_check(world->ledger));
    piece_list_release(&world->pieces);
    request_class_table_release(&world->request_classes);
    traffic_release(&world->traffic);
    ledger_free(world->ledger);
    cluster_free(world->cluster);
}

static void occupy(struct world *world, node_id node, uint16_t gpu_mask)
{
    struct space space = {.node = node, .gpu_mask = gpu_mask, .gpu_milli = GPU_MILLI, .member_count = 1};
    ledger_take(world->ledger, &space);
}

static const struct request_class *request_class_of_gang(struct world *world, uint32_t count, uint16_t gpus,
                                                         const struct communication *communication)
{
    struct job job = job_default();
    job.first = (struct job_group){.request = {.gpus = gpus}, .count = count, .min_count = count};
    job.communication = communication;
    const uint32_t id = request_class_of(&world->request_classes, world->cluster, &job);
    return &world->request_classes.at[id];
}

/* Node indices of the members in their order: "0 1 1"; "none" if the gang does not fit. */
static void check_nodes(struct world *world, const struct placement_policy *policy, uint32_t count, uint16_t gpus,
                        const struct communication *communication, const char *expected)
{
    struct buffer text = {0};
    const struct placement_request asked = {
        .policy = policy, .request_class = request_class_of_gang(world, count, gpus, communication), .owner = 1};
    const size_t mark = ledger_mark(world->ledger);
    if (!placement_place(world->ledger, &asked, &world->pieces))
        buffer_string(&text, "none");
    else
        for (uint32_t i = 0; i < world->pieces.count; i++)
            for (uint32_t m = 0; m < world->pieces.pieces[i].member_count; m++)
                buffer_format(&text, "%s%u", text.length > 0 ? " " : "", world->pieces.pieces[i].node);
    ledger_rollback(world->ledger, mark);
    if (strcmp(buffer_c_string(&text), expected) != 0)
        fail_msg("%s: on %s, not %s", policy->name, buffer_c_string(&text), expected);
    buffer_release(&text);
}

static struct communication of_kind(const char *name)
{
    return (struct communication){.sensitivity = *sensitivity_find(text_of(name))};
}

/* ---- By hand ---- */

#define UNITS_OF_TWO(nodes, leaves)                                                                                    \
    "{\"pools\": [{\"nodes\": " nodes ", \"gpus_per_node\": 8, \"gpu_model\": \"h100-80gb\"}], "                       \
    "\"fabric\": {\"nodes_per_unit\": 2, \"rails\": 8, \"leaf_oversubscription\": " leaves "}}"

TEST(small_members_stay_on_one_node)
{
    const struct communication skewed = of_kind("skewed"), silent = of_kind("none");
    struct world world;
    open_world(&world, UNITS_OF_TWO("4", "1"));
    occupy(&world, 0, 0x3f); /* free: 2 6 8 8 */
    occupy(&world, 1, 0x03);
    check_nodes(&world, &placement_best_fit, 8, 1, &skewed, "0 0 1 1 1 1 1 1");
    check_nodes(&world, &placement_fastest, 8, 1, &skewed, "2 2 2 2 2 2 2 2");
    /* One that gains nothing leaves the whole node to others; so does one that declares nothing. */
    check_nodes(&world, &placement_fastest, 8, 1, &silent, "0 0 1 1 1 1 1 1");
    check_nodes(&world, &placement_fastest, 8, 1, NULL, "0 0 1 1 1 1 1 1");
    release(&world);
}

TEST(a_gang_stays_in_one_unit_where_uplinks_are_narrow)
{
    const struct communication bound = of_kind("bandwidth_bound");
    struct world narrow, wide;
    open_world(&narrow, UNITS_OF_TWO("6", "8"));
    open_world(&wide, UNITS_OF_TWO("6", "1"));
    occupy(&narrow, 0, 0xff);
    occupy(&wide, 0, 0xff);
    check_nodes(&wide, &placement_fastest, 2, 8, &bound, "1 2");
    check_nodes(&narrow, &placement_best_fit, 2, 8, &bound, "1 2");
    check_nodes(&narrow, &placement_fastest, 2, 8, &bound, "2 3");
    release(&wide);
    release(&narrow);
}

/* No unit holds the gang.  Best fit sends from unit 0, and so does `fastest`, until others use the links of that unit.
 */
TEST(links_that_others_use_are_avoided)
{
    const struct communication bound = of_kind("bandwidth_bound");
    struct world world;
    struct fabric_use uses[8];
    open_world(&world, UNITS_OF_TWO("6", "8"));
    occupy(&world, 0, 0xff);
    check_nodes(&world, &placement_fastest, 3, 8, &bound, "1 2 3");
    for (uint32_t r = 0; r < 8; r++) /* links of leaves are numbered by unit, then by rail */
        uses[r] = (struct fabric_use){.link = r, .senders = 2};
    traffic_set(&world.traffic, 7, &(struct traffic_flow){uses, 8, 5000000000});
    check_nodes(&world, &placement_fastest, 3, 8, &bound, "2 3 4");
    traffic_set(&world.traffic, 7, NULL);
    check_nodes(&world, &placement_fastest, 3, 8, &bound, "1 2 3");
    release(&world);
}

/* What is left on a link, but never less than an even share of it. */
TEST(the_rate_is_what_is_left)
{
    struct world world;
    const struct fabric_use other = {.link = 0, .senders = 4}, own = {.link = 0, .senders = 2};
    const struct traffic_flow flow = {&own, 1, 1000000000};
    open_world(&world, UNITS_OF_TWO("4", "8"));
    const double capacity = (double)world.traffic.links[0].bytes_per_s; /* 2 NICs of 50 GB/s, by 8 */
    assert_true(capacity == 12.5e9);
    assert_true(traffic_rate(&world.traffic, &flow, 50e9) == capacity / 2);
    assert_true(traffic_rate(&world.traffic, &flow, 3e9) == 3e9);
    assert_true(fabs(traffic_part(&world.traffic, &flow) - 2e9 / capacity) < 1e-12);
    traffic_set(&world.traffic, 3, &(struct traffic_flow){&other, 1, 2000000000});
    assert_true(traffic_rate(&world.traffic, &flow, 50e9) == (capacity - 8e9) / 2);
    traffic_set(&world.traffic, 3, &(struct traffic_flow){&other, 1, 9000000000});
    assert_true(traffic_rate(&world.traffic, &flow, 50e9) == capacity / 6);
    traffic_set(&world.traffic, 3, NULL);
    assert_true(traffic_rate(&world.traffic, &flow, 50e9) == capacity / 2);
    release(&world);
}

/* ---- Against best_fit ---- */

/* The speed of the pieces, by the functions of the world, alone on the fabric. */
static double speed_alone(const struct cluster *cluster, const struct communication *communication,
                          const struct piece_list *pieces, uint16_t member_gpus)
{
    struct link_place places[64];
    uint32_t count = 0;
    for (uint32_t p = 0; p < pieces->count; p++)
        places[count++] = (struct link_place){pieces->pieces[p].node, pieces->pieces[p].gpu_mask};
    const struct gang_place stands = gang_place_of(cluster, places, &count);
    const struct gang_place best =
        communication_best(communication, cluster, cluster->nodes[places[0].node].pool, stands.gpu_count, member_gpus);
    return communication_time(communication, &stands, &best, stands.network_bytes_per_s).speed;
}

/* On an idle network: never more than a hundredth slower than best_fit's place, and often faster. */
TEST(no_place_is_slower_than_that_of_best_fit)
{
    static const char *const kinds[] = {"compute_bound", "all_reduce_bound", "skewed", "bandwidth_bound"};
    const uint32_t rounds = test_is_full() ? 20000 : 2000;
    struct random_stream stream;
    uint32_t faster = 0, placed = 0;
    random_stream_init(&stream, 1, "fastest", 0);
    struct world world;
    open_world(&world, UNITS_OF_TWO("12", "4"));
    for (uint32_t round = 0; round < rounds; round++) {
        const size_t mark = ledger_mark(world.ledger);
        for (node_id n = 0; n < world.cluster->node_count; n++) {
            const uint16_t taken = (uint16_t)(random_below(&stream, 3) == 0 ? random_below(&stream, 256) : 0);
            if (taken != 0)
                occupy(&world, n, taken);
        }
        const struct communication communication = of_kind(kinds[random_below(&stream, 4)]);
        const uint16_t gpus = (uint16_t)(1u << random_below(&stream, 4));
        const uint32_t count = 2 + random_below(&stream, 32u / gpus);
        double speeds[2] = {0, 0};
        for (uint32_t p = 0; p < 2; p++) {
            const struct placement_request asked = {.policy = p == 0 ? &placement_best_fit : &placement_fastest,
                                                    .request_class =
                                                        request_class_of_gang(&world, count, gpus, &communication),
                                                    .owner = 1};
            const size_t trial = ledger_mark(world.ledger);
            if (placement_place(world.ledger, &asked, &world.pieces))
                speeds[p] = speed_alone(world.cluster, &communication, &world.pieces, gpus);
            ledger_rollback(world.ledger, trial);
        }
        if ((speeds[0] > 0) != (speeds[1] > 0))
            fail_msg("round %u: one policy places the gang, the other does not", round);
        if (speeds[1] < speeds[0] - 0.01)
            fail_msg("round %u: speed %.4f, best_fit has %.4f", round, speeds[1], speeds[0]);
        placed += speeds[0] > 0;
        faster += speeds[1] > speeds[0] + 0.01;
        ledger_rollback(world.ledger, mark);
    }
    print_message("note: fastest is faster than best_fit for %u of %u gangs on random clusters\n", faster, placed);
    assert_true(faster > placed / 20);
    release(&world);
}

/* ---- The traffic of a scheduler ---- */

/* Sums made anew from what the jobs hold. */
static void check_traffic(struct honest_world *world, bool had_cycle)
{
    const struct sched *sched = world->sched;
    const struct traffic *kept = sched->ledger->traffic;
    struct traffic anew = {0};
    uint32_t *sums = world->watch.self;
    (void)had_cycle;
    traffic_init(&anew, world->cluster);
    assert_int_equal(kept != NULL ? kept->link_count : 0, anew.link_count);
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        struct link_place places[256];
        uint32_t count = 0;
        for (uint32_t h = 0; h < job->holding_count; h++) {
            const struct holding *holding = sched_job_holding(job, h);
            if (holding_is_in_place(holding) && holding->piece.gpu_mask != 0)
                places[count++] = (struct link_place){holding->piece.node, holding->piece.gpu_mask};
        }
        const struct request_class *request_class = &sched->request_classes.at[job->request_class];
        if (count == 0 || request_class->communication == NULL || ways_member_gpus(request_class) == 0)
            continue;
        const struct gang_place stands = gang_place_of(world->cluster, places, &count);
        if (stands.domain_count < 2)
            continue;
        const struct gang_place best =
            communication_best(request_class->communication, world->cluster, world->cluster->nodes[places[0].node].pool,
                               stands.gpu_count, ways_member_gpus(request_class));
        const double part =
            communication_time(request_class->communication, &stands, &best, stands.network_bytes_per_s).network_ratio;
        struct fabric_use uses[1024];
        const uint32_t use_count = fabric_uses_of(world->cluster, places, count, uses);
        for (uint32_t u = 0; u < use_count && part > 0; u++) {
            anew.links[uses[u].link].sent += llrint(part * stands.network_bytes_per_s) * uses[u].senders;
            anew.links[uses[u].link].senders += uses[u].senders;
        }
    }
    for (uint32_t l = 0; l < anew.link_count; l++) {
        if (kept->links[l].sent != anew.links[l].sent || kept->links[l].senders != anew.links[l].senders)
            fail_msg("%s, kind %d, seed %llu, tick %u: link %u carries %lld, not %lld",
                     policy_preset_texts[world->scenario->preset].name, (int)world->scenario->kind,
                     (unsigned long long)world->scenario->seed, world->tick, l, (long long)kept->links[l].sent,
                     (long long)anew.links[l].sent);
        *sums += anew.links[l].sent > 0;
    }
    traffic_release(&anew);
}

TEST(traffic_is_that_of_the_jobs_in_place)
{
    static struct random_world scenario;
    static struct honest_world world;
    const uint64_t count = test_is_full() ? 100 : 4;
    uint32_t sums = 0;
    for (uint64_t seed = 1; seed <= count; seed++)
        for (uint32_t preset = 0; policy_preset_texts[preset].name != NULL; preset++)
            for (enum random_world_kind kind = 0; kind < RANDOM_WORLD_KIND_COUNT; kind++) {
                random_world_make(&scenario, seed, preset, kind);
                random_world_communicate(&scenario);
                honest_world_open(&world, &scenario, NULL);
                world.watch = (struct honest_watch){.self = &sums, .on_tick = check_traffic};
                while (honest_world_tick(&world))
                    ;
                honest_world_close(&world);
            }
    assert_true(sums > 1000);
}
