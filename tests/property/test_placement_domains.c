/* Sets of members in domains, against brute force on small random clusters: a set that requires a domain is placed
 * exactly if some domain holds it, nothing is ever placed outside of what was asked, and what is said never to fit
 * never does. */
#include "tests/support/test.h"

#include "policies/placement/placement_config.h"
#include "tests/support/lawful.h"
#include "tests/support/random_placement.h"

enum { SEEDS = 400, ROUNDS = 60 };

static const struct placement_config nested = {.topology = {.domains = DOMAINS_NESTED}};

/* The domain of that level with all these pieces of set `set` (SET_NONE: all); DOMAIN_NONE if there is none. */
static uint32_t common_domain(const struct piece_list *pieces, const struct random_placement_ask *ask, uint16_t set,
                              const struct cluster_level *level)
{
    uint32_t domain = DOMAIN_NONE;
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->pieces[i];
        uint16_t at = set == SET_NONE ? SET_NONE : ask->groups[piece->group].set;
        while (at != set && at != SET_NONE)
            at = ask->sets[at].parent;
        if (at != set)
            continue;
        if (domain != DOMAIN_NONE && level->domain[piece->node] != domain)
            return DOMAIN_NONE;
        domain = level->domain[piece->node];
    }
    return domain;
}

/* The narrowest level, from `preferred` up to `required`, that has a domain with room; 0: none. */
static uint32_t level_with_room(struct ledger *ledger, const struct job_group *group, struct topology_ask ask,
                                const struct piece_list *held)
{
    uint32_t widest = ask.required != 0 ? ask.required : 1;
    uint32_t narrowest = ask.preferred > ask.required ? ask.preferred : ask.required;
    for (uint32_t number = narrowest; number >= widest; number--) {
        const struct cluster_level *level = &ledger->cluster->levels[number - 1];
        for (uint32_t d = 0; d < level->domain_count; d++) {
            bool holds = held->count == 0;
            for (uint32_t i = 0; i < held->count; i++)
                holds |= level->domain[held->pieces[i].node] == d;
            if (holds && random_placement_room(ledger, &group->request, level, d) >= group->count)
                return number;
        }
    }
    return 0;
}

/* One group: exact.  Policies without a will of their own about nodes. */
TEST(a_set_is_placed_if_a_domain_holds_it)
{
    static const uint8_t order[] = {0, 1, 2, 3, 4, 5, 7}; /* no pack: it tries single nodes first */
    uint32_t placed = 0, refused = 0, wider = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "domains", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0}, held = {0};
        random_placement_load(&stream, ledger);
        ledger->placement = seed % 2 == 0 ? NULL : &nested;
        for (uint32_t round = 0; round < 12; round++) {
            struct random_placement_ask ask;
            random_placement_group(&ask, random_placement_request(&stream), 1 + random_below(&stream, 6));
            ask.request_class.topology.required = (uint8_t)random_below(&stream, 5);
            ask.request_class.topology.preferred = (uint8_t)random_below(&stream, 5);
            held.count = 0;
            for (uint32_t i = 0; random_placement_once_in(&stream, 3) && i < 2; i++) {
                MEM_GROW(held.pieces, held.capacity, held.count + 1u);
                held.pieces[held.count++] = (struct piece){.node = random_below(&stream, cluster->node_count)};
            }
            struct topology_ask asked = ask.request_class.topology;
            uint32_t number = level_with_room(ledger, &ask.groups[0], asked, &held);
            bool may = number != 0 || (asked.required == 0 && random_placement_room(ledger, &ask.groups[0].request,
                                                                                    NULL, 0) >= ask.groups[0].count);
            uint64_t hash = ledger_hash(ledger);
            size_t mark = ledger_mark(ledger);
            const struct placement_policy *policy = random_placement_policies[order[random_below(&stream, 7)]];
            bool is_placed =
                placement_place(ledger,
                                &(struct placement_request){.policy = policy,
                                                            .request_class = &ask.request_class,
                                                            .owner = 1,
                                                            .held = (struct held_pieces){held.pieces, held.count}},
                                &pieces);
            if (is_placed != may)
                fail_msg("seed %d round %u, %s: %s, but room at level %u", (int)seed, round, policy->name,
                         is_placed ? "placed" : "not placed", number);
            assert_lawful(ledger_check(ledger));
            if (is_placed)
                random_placement_check(&pieces, &ask);
            if (is_placed && number != 0) {
                const struct cluster_level *level = &cluster->levels[number - 1];
                uint32_t domain = common_domain(&pieces, &ask, SET_NONE, level);
                assert_int_not_equal(domain, DOMAIN_NONE);
                bool holds = held.count == 0;
                for (uint32_t i = 0; i < held.count; i++)
                    holds |= level->domain[held.pieces[i].node] == domain;
                assert_true(holds);
            }
            ledger_rollback(ledger, mark);
            assert_true(ledger_hash(ledger) == hash);
            for (node_id n = 0; pieces.here != NULL && n < cluster->node_count; n++)
                assert_int_equal(pieces.here[n], 0);
            placed += is_placed;
            refused += !is_placed;
            wider += is_placed && number < asked.preferred;
        }
        mem_free(held.pieces);
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(placed > SEEDS && refused > SEEDS && wider > SEEDS / 10);
}

/* Whatever is placed obeys every set, on all policies. */
TEST(nested_sets_stay_in_their_domains)
{
    uint32_t placed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "sets", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0};
        random_placement_load(&stream, ledger);
        ledger->placement = seed % 2 == 0 ? NULL : &nested;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct random_placement_ask ask;
            random_placement_sets(&stream, &ask);
            uint64_t hash = ledger_hash(ledger);
            size_t mark = ledger_mark(ledger);
            const struct placement_policy *policy =
                random_placement_policies[random_below(&stream, RANDOM_PLACEMENT_POLICIES)];
            bool is_placed = placement_place(
                ledger, &(struct placement_request){.policy = policy, .request_class = &ask.request_class, .owner = 1},
                &pieces);
            assert_lawful(ledger_check(ledger));
            if (is_placed && pieces.count > 0) {
                placed++;
                random_placement_check(&pieces, &ask);
                for (uint16_t s = 0; s <= ask.request_class.set_count; s++) {
                    bool is_root = s == ask.request_class.set_count;
                    uint8_t required = is_root ? ask.request_class.topology.required : ask.sets[s].topology.required;
                    uint32_t members = 0;
                    for (uint32_t i = 0; i < pieces.count; i++)
                        for (uint16_t at = ask.groups[pieces.pieces[i].group].set; at != SET_NONE;
                             at = ask.sets[at].parent)
                            members += at == s || is_root;
                    if (required != 0 && members > 0 &&
                        common_domain(&pieces, &ask, is_root ? SET_NONE : s, &cluster->levels[required - 1]) ==
                            DOMAIN_NONE)
                        fail_msg("seed %d round %u: set %u is not in one domain", (int)seed, round, s);
                }
            }
            ledger_rollback(ledger, mark);
            assert_true(ledger_hash(ledger) == hash);
        }
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(placed > 2 * SEEDS);
}

/* What never fits is never placed, and what is placed on the empty cluster does not count as never fitting. */
TEST(never_fits_is_not_too_strict)
{
    uint32_t never = 0, placed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "never", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0};
        struct request_class_table table;
        request_class_table_init(&table);
        for (uint32_t round = 0; round < 20; round++) {
            struct job job = job_default();
            struct random_placement_ask ask;
            random_placement_sets(&stream, &ask);
            if (random_placement_once_in(&stream, 2)) {
                struct topology_ask topology = {(uint8_t)random_below(&stream, 5), 0};
                random_placement_group(&ask, random_placement_request(&stream), 1 + random_below(&stream, 6));
                ask.request_class.topology = topology;
            }
            job.group_count = ask.request_class.group_count;
            job.first = ask.groups[0];
            job.more = ask.groups + 1;
            job.set_count = ask.request_class.set_count;
            job.sets = ask.sets;
            job.topology = ask.request_class.topology;
            uint32_t id = request_class_of(&table, cluster, &job);
            const struct request_class *request_class = &table.at[id];
            size_t mark = ledger_mark(ledger);
            bool is_placed = placement_place(
                ledger,
                &(struct placement_request){.policy = &placement_best_fit, .request_class = request_class, .owner = 1},
                &pieces);
            ledger_rollback(ledger, mark);
            assert_false(is_placed && request_class->never_fits);
            if (job.group_count == 1 && job.set_count == 0) /* exact */
                assert_true(is_placed != request_class->never_fits);
            never += request_class->never_fits;
            placed += is_placed;
        }
        request_class_table_release(&table);
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(never > SEEDS && placed > SEEDS);
}

/* Place the members, or those that are still to come; rolled back.  The pieces are told with whether all were placed.
 */
static bool try_extend(const struct placement_policy *policy, struct ledger *ledger,
                       const struct request_class *request_class, struct held_pieces held, struct piece_list *out)
{
    const size_t mark = ledger_mark(ledger);
    const bool is_placed = placement_place(
        ledger, &(struct placement_request){.policy = policy, .request_class = request_class, .owner = 1, .held = held},
        out);
    ledger_rollback(ledger, mark);
    return is_placed;
}

static void assert_same_pieces(const struct piece_list *a, const struct piece_list *b, uint64_t seed)
{
    bool is_same = a->count == b->count;
    for (uint32_t i = 0; is_same && i < a->count; i++)
        is_same = a->pieces[i].node == b->pieces[i].node && a->pieces[i].group == b->pieces[i].group &&
                  a->pieces[i].gpu_mask == b->pieces[i].gpu_mask &&
                  a->pieces[i].member_count == b->pieces[i].member_count;
    if (!is_same)
        fail_msg("seed %u: members are elsewhere if all nodes are looked at", (unsigned)seed);
}

/* Packed on a few nodes first, and by topology, with members held or none: as the same policy does if it does not say
 * that it joins members, so that every node is looked at. */
TEST(members_are_joined_as_if_all_nodes_were_looked_at)
{
    uint32_t placed = 0, extended = 0;
    struct placement_policy looking = placement_pack;
    looking.joins_members = false;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "joined", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0}, others = {0}, own = {0};
        random_placement_load(&stream, ledger);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            struct random_placement_ask ask;
            random_placement_sets(&stream, &ask);
            const size_t mark = ledger_mark(ledger);
            struct held_pieces held = {0};
            if (random_placement_once_in(&stream, 2) &&
                placement_place(
                    ledger,
                    &(struct placement_request){.policy = random_placement_policies[random_below(&stream, 3)],
                                                .request_class = &ask.request_class,
                                                .owner = 1},
                    &own))
                held = (struct held_pieces){own.pieces, own.count};
            else
                ledger_rollback(ledger, mark);
            const size_t trial = held.count > 0 ? mark : ledger_mark(ledger);
            const bool is_placed = try_extend(&placement_pack, ledger, &ask.request_class, held, &pieces);
            assert_int_equal(is_placed, try_extend(&looking, ledger, &ask.request_class, held, &others));
            if (is_placed)
                assert_same_pieces(&pieces, &others, seed);
            placed += is_placed;
            extended += is_placed && held.count > 0;
            ledger_rollback(ledger, trial);
        }
        piece_list_release(&pieces);
        piece_list_release(&others);
        piece_list_release(&own);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(placed > SEEDS && extended > SEEDS / 4);
}

/* ---- nested ---- */

/* Free GPUs of a domain, in thousandths, on nodes for the request. */
static uint64_t free_in(const struct ledger *ledger, const struct request *request, const struct cluster_level *level,
                        uint32_t domain)
{
    const struct cluster *cluster = ledger->cluster;
    uint64_t free = 0;
    for (node_id n = 0; n < cluster->node_count; n++)
        if (level->domain[n] == domain && ledger->node_state[n] == NODE_UP &&
            request_takes_nodes(request, cluster, cluster->nodes[n].type))
            for (uint32_t g = 0; g < cluster_node_gpus(cluster, n); g++)
                free += ledger->gpus[cluster->nodes[n].first_gpu + g].free;
    return free;
}

/* Does domain a of the level go before b?  By what is free in the widest domains that part them; the order of filling
 * is the exact reverse of the other. */
static bool goes_before(const struct ledger *ledger, const struct request *request, const struct cluster_level *level,
                        uint32_t a, uint32_t b, bool is_emptiest_first)
{
    for (const struct cluster_level *at = ledger->cluster->levels; at <= level; at++) {
        const uint32_t x = at->domain[level->first[a]], y = at->domain[level->first[b]];
        if (x == y)
            continue;
        const uint64_t free_x = free_in(ledger, request, at, x);
        const uint64_t free_y = free_in(ledger, request, at, y);
        return (free_x == free_y ? x > y : free_x > free_y) == is_emptiest_first;
    }
    return false;
}

/* The first domain of the level with room for `count`, of those in the domain of the wider level (NULL: anywhere) that
 * are not done; DOMAIN_NONE: there is none. */
static uint32_t first_nested(struct ledger *ledger, const struct job_group *group, const struct cluster_level *level,
                             const struct cluster_level *wider, uint32_t inside, const bool *done)
{
    uint32_t best = DOMAIN_NONE;
    for (uint32_t d = 0; d < level->domain_count; d++) {
        if ((done != NULL && done[d]) || (wider != NULL && wider->domain[level->first[d]] != inside) ||
            random_placement_room(ledger, &group->request, level, d) < (done != NULL ? 1 : group->count))
            continue;
        if (best == DOMAIN_NONE || goes_before(ledger, &group->request, level, d, best, done != NULL))
            best = d;
    }
    return best;
}

/* Members in a domain. */
static uint64_t members_in(const struct piece_list *pieces, const struct cluster_level *level, uint32_t domain)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < pieces->count; i++)
        if (level->domain[pieces->pieces[i].node] == domain)
            members += pieces->pieces[i].member_count;
    return members;
}

/* Domains of the preferred level are filled one after another. */
static bool is_filled_in_order(struct ledger *ledger, const struct job_group *group, const struct piece_list *pieces,
                               const struct cluster_level *level, const struct cluster_level *wider, uint32_t inside)
{
    bool done[RANDOM_PLACEMENT_NODES_MAX] = {false};
    uint64_t left = group->count;
    uint32_t d;
    while ((d = first_nested(ledger, group, level, wider, inside, done)) != DOMAIN_NONE) {
        const uint64_t room = random_placement_room(ledger, &group->request, level, d);
        const uint64_t expected = room < left ? room : left;
        done[d] = true;
        if (members_in(pieces, level, d) != expected)
            return false;
        left -= expected;
    }
    return true;
}

static void draw_whole_gpus(struct random_stream *stream, struct random_placement_ask *ask)
{
    struct request request = random_placement_request(stream);
    request.gpus = (uint16_t)(1u << random_below(stream, 3));
    request.gpu_milli = request.mig = 0;
    request.gpu_memory_mib = request.cpu_milli = request.memory_mib = 0;
    random_placement_group(ask, request, 1 + random_below(stream, 6));
    ask->request_class.topology.required = (uint8_t)random_below(stream, 4);
    ask->request_class.topology.preferred = (uint8_t)random_below(stream, 5);
}

/* Where a placement that was rolled back has its members; fails if it is not where the order says. */
static void check_nested(struct ledger *ledger, const struct random_placement_ask *ask, const struct piece_list *pieces,
                         uint64_t seed)
{
    const struct cluster_level *levels = ledger->cluster->levels;
    const struct topology_ask asked = ask->request_class.topology;
    const struct job_group *group = &ask->groups[0];
    const struct piece_list none = {0};
    const uint32_t number = level_with_room(ledger, group, asked, &none);
    const struct cluster_level *level = number == 0 ? NULL : &levels[number - 1];
    uint32_t domain = DOMAIN_NONE;
    if (level != NULL) {
        domain = first_nested(ledger, group, level, NULL, 0, NULL);
        if (common_domain(pieces, ask, SET_NONE, level) != domain)
            fail_msg("seed %u: not in domain %u of level %u", (unsigned)seed, domain, number);
    }
    if (asked.preferred > asked.required && number < asked.preferred &&
        !is_filled_in_order(ledger, group, pieces, &levels[asked.preferred - 1], level, domain))
        fail_msg("seed %u: level %u is not filled in order", (unsigned)seed, asked.preferred);
}

/* One group of whole GPUs: exact. */
TEST(nested_domains_go_by_the_widest_level_first)
{
    static const uint8_t order[] = {0, 1, 2, 3, 4, 5, 7}; /* no pack: it tries single nodes first */
    uint32_t inside = 0, filled = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "nested", 0);
        struct cluster *cluster = random_placement_cluster(&stream);
        struct ledger *ledger = ledger_new(cluster);
        struct piece_list pieces = {0};
        random_placement_load(&stream, ledger);
        ledger->placement = &nested;
        for (uint32_t round = 0; round < 12; round++) {
            struct random_placement_ask ask;
            draw_whole_gpus(&stream, &ask);
            const struct topology_ask asked = ask.request_class.topology;
            const size_t mark = ledger_mark(ledger);
            const bool is_placed = placement_place(
                ledger,
                &(struct placement_request){.policy = random_placement_policies[order[random_below(&stream, 7)]],
                                            .request_class = &ask.request_class,
                                            .owner = 1},
                &pieces);
            ledger_rollback(ledger, mark);
            if (!is_placed)
                continue;
            check_nested(ledger, &ask, &pieces, seed);
            const bool is_wide = pieces.count > 1 && asked.preferred > asked.required;
            inside += asked.required > 0 || asked.preferred > 0;
            filled +=
                is_wide && common_domain(&pieces, &ask, SET_NONE, &cluster->levels[asked.preferred - 1]) == DOMAIN_NONE;
        }
        piece_list_release(&pieces);
        ledger_free(ledger);
        cluster_free(cluster);
    }
    assert_true(inside > SEEDS && filled > SEEDS / 10);
}
