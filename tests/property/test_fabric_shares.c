/* What gangs get of an oversubscribed fabric, on random clusters and places, against links counted GPU by GPU and a
 * solver that works in another way.
 *
 * The oracle knows the laws of topologies/gang_place.h in words: it asks of each unit, rail and node which GPUs of a
 * gang send there.  It solves link by link: each link tells a rate that fills it, given what its flows get elsewhere,
 * until no link changes its rate (A. Charny's consistent marking; a fixed point is max-min fair). */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "sim/network/network.h"
#include "tests/support/interval.h"
#include "tests/support/json_text.h"

enum {
    CLUSTERS = 1000,
    CLUSTERS_FULL = 2500,
    SETS = 40,
    GANGS_MAX = 10,
    NODES_MAX = 48,
    LINKS_MAX = 4096,
    USED_MAX = 160
};

struct share { /* of a link: what a gang sends over it */
    uint32_t gang;
    double senders;
};

struct own_link {
    double capacity;
    long double rate; /* that it tells */
    struct share shares[GANGS_MAX];
    uint32_t share_count;
};

struct gang {
    struct link_place places[NODES_MAX];
    uint32_t place_count;
    uint16_t masks[NODES_MAX];            /* its GPUs, by node */
    uint32_t links[USED_MAX], link_count; /* of the oracle */
    double demand, peak;
};

struct trial {
    uint64_t seed;
    struct random_stream random;
    struct cluster *cluster;
    struct gang gangs[GANGS_MAX];
    uint32_t gang_count;
    struct own_link links[USED_MAX * GANGS_MAX];
    uint32_t link_count;
};

static uint32_t below(struct trial *trial, uint32_t bound)
{
    return random_below(&trial->random, bound);
}

/* ---- Clusters and gangs ---- */

static void add_pool(struct trial *trial, struct buffer *text, uint32_t index)
{
    const uint32_t gpus = 1u << (1 + below(trial, 3));
    buffer_format(text, "%s{'name': 'p%u', 'nodes': %u, 'gpus_per_node': %u, 'gpu_model': '%s'", index > 0 ? ", " : "",
                  index, 2 + below(trial, NODES_MAX / 2 - 1), gpus, index == 0 ? "h100-80gb" : "a100-80gb");
    if (below(trial, 2) == 0)
        buffer_format(text, ", 'nics': %u", 1 + below(trial, gpus));
    if (below(trial, 4) == 0)
        buffer_format(text, ", 'nvlink_nodes': %u", 2 + below(trial, 3));
    buffer_char(text, '}');
}

static void open_cluster(struct trial *trial)
{
    struct buffer text = {0};
    buffer_string(&text, "{'pools': [");
    add_pool(trial, &text, 0);
    if (below(trial, 2) == 0)
        add_pool(trial, &text, 1);
    buffer_format(&text, "], 'fabric': {'nodes_per_unit': %u, 'rail_gbps': %u", 2 + below(trial, 12),
                  below(trial, 2) == 0 ? 400 : 100);
    buffer_format(&text, ", 'leaf_oversubscription': %u", 1u << below(trial, 4));
    if (below(trial, 3) == 0)
        buffer_format(&text, ", 'rails': %u", 1 + below(trial, 4));
    const bool has_cores = below(trial, 2) == 0;
    if (has_cores)
        buffer_format(&text, ", 'spine_oversubscription': %u", 1 + below(trial, 4));
    buffer_string(&text, "}}");
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("cluster", buffer_c_string(&text));
    const struct json_value root = json_doc_root(doc, &error);
    trial->cluster = cluster_read(&root);
    if (trial->cluster == NULL)
        fail_msg("seed %llu: %s: %s", (unsigned long long)trial->seed, error_message(&error), buffer_c_string(&text));
    if (has_cores) /* which a real fabric of so few nodes has not */
        trial->cluster->fabric.spines = trial->cluster->fabric.cores = 8;
    json_doc_free(doc);
    buffer_release(&text);
}

/* Some GPUs of some nodes: of a few that follow each other, or of any. */
static void open_gang(struct trial *trial, struct gang *gang)
{
    const uint32_t nodes = trial->cluster->node_count, first = below(trial, nodes);
    const bool is_anywhere = below(trial, 2) == 0, is_whole = below(trial, 2) == 0;
    const uint32_t count = 2 + below(trial, nodes - 1 < 12 ? nodes - 1 : 12);
    *gang = (struct gang){.place_count = 0};
    for (uint32_t i = 0; i < count; i++) {
        const node_id node = is_anywhere ? below(trial, nodes) : (first + i) % nodes;
        const uint32_t all = (1u << cluster_node_gpus(trial->cluster, node)) - 1;
        const uint32_t mask = is_whole ? all : (1 + below(trial, all)) & all;
        gang->places[gang->place_count++] = (struct link_place){node, (uint16_t)mask};
        gang->masks[node] |= (uint16_t)mask;
    }
}

/* ---- The oracle's links ---- */

/* GPUs of the gang that are in the unit (UINT32_MAX: any), on the node and on the rail (likewise). */
static uint32_t senders(const struct trial *trial, const struct gang *gang, uint32_t unit, node_id node, uint32_t rail)
{
    const struct cluster *cluster = trial->cluster;
    uint32_t count = 0;
    for (node_id n = 0; n < cluster->node_count; n++)
        for (uint32_t g = 0; gang->masks[n] != 0 && g < cluster_node_gpus(cluster, n); g++)
            count += (unit == UINT32_MAX || cluster->nodes[n].unit == unit) && (node == UINT32_MAX || n == node) &&
                     (rail == UINT32_MAX || cluster->pools[cluster->nodes[n].pool].gpu_rail[g] == rail) &&
                     (gang->masks[n] >> g & 1) != 0;
    return count;
}

/* NICs of a node of the pool on that rail: they are dealt to the rails in turn. */
static uint32_t nics_on(const struct cluster *cluster, const struct node_pool *pool, uint32_t rail)
{
    uint32_t count = 0;
    for (uint32_t nic = 0; nic < pool->nic_count; nic++)
        count += rail == UINT32_MAX || nic % cluster->fabric.rails == rail;
    return count;
}

static uint32_t nics_of_unit(const struct cluster *cluster, uint32_t unit, uint32_t rail)
{
    uint32_t most = 1;
    for (node_id n = 0; n < cluster->node_count; n++) {
        const uint32_t own = nics_on(cluster, &cluster->pools[cluster->nodes[n].pool], rail);
        if (cluster->nodes[n].unit == unit && own > most)
            most = own;
    }
    return most;
}

struct spread { /* of a gang */
    bool is_one_domain, is_one_unit, is_aligned;
};

static struct spread spread_of(const struct trial *trial, const struct gang *gang)
{
    const struct cluster *cluster = trial->cluster;
    struct spread spread = {true, true, true};
    const node_id first = gang->places[0].node;
    for (uint32_t i = 0; i < gang->place_count; i++) {
        const node_id node = gang->places[i].node;
        spread.is_one_domain &= cluster->nodes[node].nvlink == cluster->nodes[first].nvlink;
        spread.is_one_unit &= cluster->nodes[node].unit == cluster->nodes[first].unit;
        for (uint32_t r = 0; r < cluster->fabric.rails; r++)
            spread.is_aligned &=
                (senders(trial, gang, UINT32_MAX, node, r) > 0) == (senders(trial, gang, UINT32_MAX, first, r) > 0);
    }
    return spread;
}

/* A link that no gang uses is not noted. */
static void note_link(struct trial *trial, const uint32_t by_gang[], double capacity)
{
    struct own_link *link = &trial->links[trial->link_count];
    *link = (struct own_link){.capacity = capacity, .rate = INFINITY};
    for (uint32_t j = 0; j < trial->gang_count; j++)
        if (by_gang[j] > 0) {
            struct gang *gang = &trial->gangs[j];
            assert_true(gang->link_count < USED_MAX);
            gang->links[gang->link_count++] = trial->link_count;
            link->shares[link->share_count++] = (struct share){j, by_gang[j]};
        }
    trial->link_count += link->share_count > 0;
}

static void note_nics(struct trial *trial, const struct spread spread[])
{
    const struct cluster *cluster = trial->cluster;
    for (node_id n = 0; n < cluster->node_count; n++)
        for (uint32_t r = 0; r < cluster->fabric.rails; r++) {
            const struct node_pool *pool = &cluster->pools[cluster->nodes[n].pool];
            uint32_t by_gang[GANGS_MAX] = {0}, gpus = 0;
            for (uint32_t g = 0; g < cluster_node_gpus(cluster, n); g++)
                gpus += pool->gpu_rail[g] == r;
            for (uint32_t j = 0; j < trial->gang_count && nics_on(cluster, pool, r) < gpus; j++)
                by_gang[j] = spread[j].is_one_domain ? 0 : senders(trial, &trial->gangs[j], UINT32_MAX, n, r);
            note_link(trial, by_gang, cluster->fabric.rail_bytes_per_s * nics_on(cluster, pool, r));
        }
}

static void note_uplinks(struct trial *trial, const struct spread spread[])
{
    const struct fabric *fabric = &trial->cluster->fabric;
    const double nodes = fabric->nodes_per_unit * fabric->rail_bytes_per_s / fabric->leaf_oversubscription;
    for (uint32_t u = 0; u < fabric->unit_count; u++) {
        uint32_t by_gang[GANGS_MAX] = {0};
        for (uint32_t r = 0; r < fabric->rails && fabric->leaf_oversubscription > 1; r++) {
            for (uint32_t j = 0; j < trial->gang_count; j++) {
                const bool leaves = !spread[j].is_one_unit || (fabric->spines > 0 && !spread[j].is_aligned);
                by_gang[j] =
                    !spread[j].is_one_domain && leaves ? senders(trial, &trial->gangs[j], u, UINT32_MAX, r) : 0;
            }
            note_link(trial, by_gang, nodes * nics_of_unit(trial->cluster, u, r));
        }
        for (uint32_t j = 0; j < trial->gang_count; j++)
            by_gang[j] = !spread[j].is_one_domain && !spread[j].is_one_unit
                             ? senders(trial, &trial->gangs[j], u, UINT32_MAX, UINT32_MAX)
                             : 0;
        if (fabric->cores > 0 && fabric->spine_oversubscription > 1)
            note_link(trial, by_gang,
                      nodes * nics_of_unit(trial->cluster, u, UINT32_MAX) / fabric->spine_oversubscription);
    }
}

/* ---- The oracle's rates ---- */

/* What a gang gets on all of its links but one; LINKS_MAX: on all. */
static long double rate_beside(const struct trial *trial, const struct gang *gang, uint32_t without)
{
    long double least = gang->demand;
    for (uint32_t l = 0; l < gang->link_count; l++)
        if (gang->links[l] != without && trial->links[gang->links[l]].rate < least)
            least = trial->links[gang->links[l]].rate;
    return least;
}

/* The rate that fills the link, where no flow gets more than elsewhere; INFINITY: it is not filled. */
static long double rate_of(const struct trial *trial, uint32_t l)
{
    const struct own_link *link = &trial->links[l];
    long double elsewhere[GANGS_MAX], most = 0;
    bool is_below[GANGS_MAX] = {false}; /* it gets less than this link's rate */
    for (uint32_t s = 0; s < link->share_count; s++) {
        elsewhere[s] = rate_beside(trial, &trial->gangs[link->shares[s].gang], l);
        most = elsewhere[s] > most ? elsewhere[s] : most;
    }
    while (true) {
        long double left = link->capacity, weight = 0;
        for (uint32_t s = 0; s < link->share_count; s++)
            *(is_below[s] ? &left : &weight) += link->shares[s].senders * (is_below[s] ? -elsewhere[s] : 1);
        if (weight <= 0)
            return left > link->capacity * -1e-15L ? INFINITY : most;
        bool is_final = true;
        for (uint32_t s = 0; s < link->share_count; s++)
            if (!is_below[s] && elsewhere[s] < left / weight) {
                is_below[s] = true;
                is_final = false;
            }
        if (is_final)
            return left / weight;
    }
}

static void solve(struct trial *trial)
{
    bool is_settled = false;
    for (uint32_t round = 0; !is_settled; round++) {
        is_settled = true;
        assert_true(round < 100);
        for (uint32_t l = 0; l < trial->link_count; l++) {
            const long double rate = rate_of(trial, l), before = trial->links[l].rate;
            if (isinf(rate) != isinf(before) || (!isinf(rate) && fabsl(rate - before) > rate * 1e-15L))
                is_settled = false;
            trial->links[l].rate = rate;
        }
    }
}

/* ---- Comparison ---- */

static void expect(const struct trial *trial, uint32_t gang, const char *what, double is, long double should)
{
    if (!(fabsl(is - should) <= 1e-9L * should))
        fail_msg("seed %llu, gang %u: %s %.12g, not %.12Lg", (unsigned long long)trial->seed, gang, what, is, should);
}

/* The mean rate of each gang, and the least that it has alone.  While it sends it has no less than its mean rate, and
 * beside nobody all of its peak. */
static void compare(const struct trial *trial, const struct network *network)
{
    for (uint32_t j = 0; j < trial->gang_count; j++) {
        const struct gang *gang = &trial->gangs[j];
        long double alone = trial->cluster->fabric.rail_bytes_per_s;
        bool is_alone = true;
        assert_int_equal(network_has(network, j), gang->link_count > 0);
        for (uint32_t i = 0; i < gang->link_count; i++) {
            const struct own_link *link = &trial->links[gang->links[i]];
            is_alone &= link->share_count == 1;
            for (uint32_t s = 0; s < link->share_count; s++)
                if (link->shares[s].gang == j && link->capacity / link->shares[s].senders < alone)
                    alone = link->capacity / link->shares[s].senders;
        }
        if (gang->link_count == 0)
            continue;
        const double mean = network_mean(network, j), burst = network_burst(network, j);
        expect(trial, j, "alone", fabric_bytes_per_s_alone(trial->cluster, gang->places, gang->place_count), alone);
        expect(trial, j, "mean rate", mean, rate_beside(trial, gang, LINKS_MAX));
        if (burst < mean * (1 - 1e-12) || burst > gang->peak || (is_alone && burst < gang->peak))
            fail_msg("seed %llu, gang %u: burst %.12g, mean rate %.12g, peak %.12g", (unsigned long long)trial->seed, j,
                     burst, mean, gang->peak);
    }
}

/* Returns the number of gangs that get less than they ask for. */
static uint32_t play(struct trial *trial, struct network *network, struct fabric_use *uses)
{
    struct spread spread[GANGS_MAX];
    const uint32_t *changed;
    uint32_t held = 0;
    trial->gang_count = 1 + below(trial, GANGS_MAX);
    trial->link_count = 0;
    for (uint32_t j = 0; j < trial->gang_count; j++) {
        struct gang *gang = &trial->gangs[j];
        open_gang(trial, gang);
        const struct gang_place place = gang_place_of(trial->cluster, gang->places, &gang->place_count);
        gang->peak = place.network_bytes_per_s;
        gang->demand = gang->peak * (below(trial, 3) == 0 ? 1 : 0.01 + 0.99 * random_uniform(&trial->random));
        const uint32_t count = fabric_uses_of(trial->cluster, gang->places, gang->place_count, uses);
        if (count > 0)
            network_join(network, j, &(struct flow){gang->demand, gang->peak, uses, count});
        spread[j] = spread_of(trial, gang);
    }
    network_settle(network, &changed);
    note_nics(trial, spread);
    note_uplinks(trial, spread);
    solve(trial);
    compare(trial, network);
    for (uint32_t j = 0; j < trial->gang_count; j++)
        if (network_has(network, j)) {
            held += network_mean(network, j) < trial->gangs[j].demand;
            network_leave(network, j);
        }
    network_settle(network, &changed);
    return held;
}

TEST(shares_of_random_fabrics)
{
    struct trial *trial = malloc(sizeof *trial);
    struct fabric_use *uses = malloc(LINKS_MAX * sizeof *uses);
    double rates[LINKS_MAX];
    const uint64_t clusters = test_is_full() ? CLUSTERS_FULL : CLUSTERS;
    uint64_t held = 0;
    for (uint64_t seed = 0; seed < clusters; seed++) {
        trial->seed = seed;
        random_stream_init(&trial->random, seed, "fabric shares", 0);
        open_cluster(trial);
        const uint32_t count = fabric_link_count(trial->cluster);
        assert_true(count <= LINKS_MAX && fabric_uses_max(trial->cluster, NODES_MAX) <= LINKS_MAX);
        for (uint32_t l = 0; l < count; l++)
            rates[l] = fabric_link_bytes_per_s(trial->cluster, l);
        struct network *network = network_new(rates, count);
        for (uint32_t set = 0; set < SETS; set++)
            held += play(trial, network, uses);
        network_free(network);
        cluster_free(trial->cluster);
    }
    assert_true(held > clusters * SETS / 4);
    free(uses);
    free(trial);
}
