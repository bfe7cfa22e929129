/* Rules of tags against a naive count of who is where: whatever places, no START breaks a rule; and on a cluster with
 * room a member starts exactly if a node will do, where it meets the most preferred rules. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "policies/config/presets.h"
#include "policies/placement/placement.h"
#include "policies/policy_config.h"
#include "tests/support/sched_case.h"
#include "tests/support/spoil.h"

enum { NODES = 8, GPUS = 4, JOBS = 60, STEPS = 150, TAGS = 4, LEVEL_RACK = 2 };

/* Two zones of two racks of two nodes; the last node is in no rack. */
static const char cluster_text[] =
    "{'levels': ['zone', 'rack'], 'pools': [{'name': 'a', 'nodes': 2, 'gpus_per_node': 4, 'labels': {'zone': 'z1', "
    "'rack': 'r1'}},{'name': 'b', 'nodes': 2, 'gpus_per_node': 4, 'labels': {'zone': 'z1', 'rack': 'r2'}},"
    "{'name': 'c', 'nodes': 2, 'gpus_per_node': 4, 'labels': {'zone': 'z2', 'rack': 'r3'}},{'name': 'd', 'nodes': 1, "
    "'gpus_per_node': 4, 'labels': {'zone': 'z2', 'rack': 'r4'}},{'name': 'e', 'nodes': 1, 'gpus_per_node': 4, "
    "'labels': {'zone': 'z2'}}]}";

/* Where members of a job are. */
struct stand {
    struct job_tags tags;
    struct job job;
    uint32_t stay[NODES], leaving[NODES];
    uint32_t held; /* GPUs of those that stay */
    bool is_known;
};

struct model {
    struct stand jobs[JOBS];
    const struct cluster *cluster;
    struct random_stream stream, spoiling;
};

/* ---- the naive law ---- */

static bool is_near(const struct model *m, uint8_t level, node_id a, node_id b)
{
    if (level == 0)
        return a == b;
    const uint32_t *domain = m->cluster->levels[level - 1].domain;
    return domain[a] != DOMAIN_NONE && domain[a] == domain[b];
}

static bool has_tag(const struct job_tags *tags, uint32_t tag)
{
    bool has = false;
    for (uint32_t t = 0; t < tags->tag_count; t++)
        has |= tags->tags[t] == tag;
    return has;
}

/* Members of another job in the domain; with_leaving: those on their way out too. */
static uint32_t members_near(const struct model *m, const struct stand *other, uint8_t level, node_id node,
                             bool with_leaving)
{
    uint32_t sum = 0;
    for (node_id n = 0; n < NODES; n++)
        if (is_near(m, level, n, node))
            sum += other->stay[n] + (with_leaving ? other->leaving[n] : 0);
    return sum;
}

static bool rule_holds(const struct model *m, uint32_t own, const struct tag_rule *rule, node_id node)
{
    uint32_t near = 0, anywhere = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct stand *other = &m->jobs[j];
        if (j == own || !other->is_known || !has_tag(&other->tags, rule->tag))
            continue;
        near += members_near(m, other, rule->level, node, rule->is_apart);
        for (node_id n = 0; n < NODES; n++)
            anywhere += other->stay[n];
    }
    if (rule->is_apart)
        return near == 0;
    return near > 0 || (!rule->is_preferred && anywhere == 0 && has_tag(&m->jobs[own].tags, rule->tag));
}

/* Preferred rules that are met; -1: a required one is not, or somebody there refuses it. */
static int met_on(const struct model *m, uint32_t own, node_id node)
{
    const struct job_tags *tags = &m->jobs[own].tags;
    int met = 0;
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        if (rule_holds(m, own, &tags->rules[r], node))
            met += tags->rules[r].is_preferred;
        else if (!tags->rules[r].is_preferred)
            return -1;
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct stand *other = &m->jobs[j];
        for (uint32_t r = 0; j != own && other->is_known && r < other->tags.rule_count; r++) {
            const struct tag_rule *rule = &other->tags.rules[r];
            if (rule->is_apart && !rule->is_preferred && has_tag(tags, rule->tag) &&
                members_near(m, other, rule->level, node, true) > 0)
                return -1;
        }
    }
    return met;
}

/* ---- jobs by chance ---- */

static void draw_tags(struct random_stream *stream, struct job_tags *tags)
{
    *tags = (struct job_tags){0};
    const uint32_t wanted = random_below(stream, 3), rules = random_below(stream, 4);
    for (uint32_t t = 0; t < wanted; t++) {
        const uint32_t tag = random_below(stream, TAGS);
        if (!has_tag(tags, tag))
            tags->tags[tags->tag_count++] = tag;
    }
    for (uint32_t r = 0; r < rules; r++) {
        tags->rules[tags->rule_count++] = (struct tag_rule){.tag = random_below(stream, TAGS),
                                                            .level = (uint8_t)random_below(stream, LEVEL_RACK + 1),
                                                            .is_apart = random_below(stream, 2) == 0,
                                                            .is_preferred = random_below(stream, 3) == 0};
        if (job_tags_complaint(tags) != NULL)
            tags->rule_count--;
    }
}

static struct job draw_job(struct model *m, uint32_t id, time_ns now)
{
    struct stand *own = &m->jobs[id];
    uint32_t members = 1 + random_below(&m->stream, 3);
    draw_tags(&m->stream, &own->tags);
    struct job job = sched_case_job(id, members, (uint16_t)(1 + random_below(&m->stream, 2)),
                                    (int32_t)(random_below(&m->stream, 3) * 25 + 25));
    if (random_below(&m->stream, 6) == 0) {
        job.first.request.gpus = 0;
        job.first.request.cpu_milli = 1000;
    }
    if (random_below(&m->stream, 4) == 0)
        job.topology.required = (uint8_t)random_below(&m->stream, LEVEL_RACK + 1);
    job.limit = SECONDS(20 + random_below(&m->stream, 40));
    job.submit = now;
    job.tags = own->tags.tag_count + own->tags.rule_count > 0 ? &own->tags : NULL;
    own->job = job;
    own->is_known = true;
    return job;
}

/* ---- driving ---- */

static void follow_start(struct model *m, const struct decision *decision)
{
    struct stand *own = &m->jobs[decision->job];
    for (uint32_t p = 0; p < decision->piece_count; p++)
        if (met_on(m, decision->job, decision->pieces[p].node) < 0)
            fail_msg("job %u may not be on node %u", decision->job, decision->pieces[p].node);
    for (uint32_t p = 0; p < decision->piece_count; p++)
        own->stay[decision->pieces[p].node] += decision->pieces[p].member_count;
}

static void follow_evict(struct model *m, const struct decision *decision)
{
    struct stand *own = &m->jobs[decision->job];
    for (uint32_t p = 0; p < decision->piece_count; p++) {
        const node_id node = decision->pieces[p].node;
        assert_true(own->stay[node] >= decision->pieces[p].member_count);
        own->stay[node] -= decision->pieces[p].member_count;
        own->leaving[node] += decision->pieces[p].member_count;
    }
}

static void clear(struct stand *stand)
{
    memset(stand->stay, 0, sizeof stand->stay);
    memset(stand->leaving, 0, sizeof stand->leaving);
}

static uint32_t sum_of(const uint32_t *members)
{
    uint32_t sum = 0;
    for (node_id n = 0; n < NODES; n++)
        sum += members[n];
    return sum;
}

/* Those on their way out have left, or one that runs ends. */
static void let_go(struct model *m, struct sched_case *c, time_ns now)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        struct stand *own = &m->jobs[j];
        if (sum_of(own->leaving) == 0 || random_below(&m->stream, 3) == 0)
            continue;
        memset(own->leaving, 0, sizeof own->leaving);
        if (sum_of(own->stay) == 0)
            sched_job_evicted(c->sched, j, MEMBERS_ALL, EVICT_SAVED, now);
        else
            fail_msg("a rigid job left in part");
    }
    const uint32_t ended = random_below(&m->stream, JOBS);
    if (!m->jobs[ended].is_known || sum_of(m->jobs[ended].leaving) > 0)
        return;
    if (sum_of(m->jobs[ended].stay) == 0) { /* it may keep others waiting for ever */
        sched_job_cancelled(c->sched, ended, now);
        m->jobs[ended].is_known = false;
        return;
    }
    sched_job_ended(c->sched, ended, JOB_END_COMPLETED, false, now);
    clear(&m->jobs[ended]);
    m->jobs[ended].is_known = false;
}

static uint32_t follow(struct model *m, struct sched_case *c, time_ns now)
{
    uint32_t starts = 0;
    sched_case_cycle(c, now);
    for (size_t d = 0; d < c->count; d++) {
        const struct decision *decision = &c->decisions[d];
        if (decision->kind == DECISION_START) {
            follow_start(m, decision);
            starts++;
        } else if (decision->kind == DECISION_EVICT) {
            follow_evict(m, decision);
        } else if (decision->kind == DECISION_REJECT) {
            m->jobs[decision->job].is_known = false;
        }
    }
    for (size_t d = 0; d < c->count; d++)
        if (c->decisions[d].kind == DECISION_START)
            sched_job_started(c->sched, c->decisions[d].job, c->decisions[d].id, now);
    return starts;
}

static uint32_t run(const char *policy, uint64_t seed)
{
    struct model m = {0};
    struct sched_case c;
    uint32_t next = 0, starts = 0;
    random_stream_init(&m.stream, seed, "affinity", 0);
    random_stream_init(&m.spoiling, seed, "spoiling", 0);
    sched_case_open(&c, sched_case_cluster(cluster_text), queue_table_new(), policy);
    m.cluster = c.cluster;
    for (uint32_t step = 0; step < STEPS; step++) {
        const time_ns now = SECONDS(step);
        let_go(&m, &c, now);
        if (next < JOBS && random_below(&m.stream, 2) == 0) {
            sched_case_submit(&c, draw_job(&m, next, now), now);
            next++;
        }
        starts += follow(&m, &c, now);
        if (step % 8 == 0)
            spoil_books(c.sched, &m.spoiling);
    }
    sched_case_close(&c);
    return starts;
}

TEST(no_start_breaks_a_rule)
{
    char policy[200];
    for (uint32_t p = 0; placement_policies[p] != NULL; p++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            snprintf(policy, sizeof policy, "{'order': ['fifo'], 'placement': '%s'}", placement_policies[p]->name);
            run(policy, seed);
        }
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++) {
        uint32_t starts = 0;
        for (uint64_t seed = 1; seed <= 12; seed++)
            starts += run(preset->text, seed);
        if (starts < 80)
            fail_msg("%s started hardly anybody: %u", preset->name, starts);
    }
}

/* ---- room for all ---- */

static int best_of(const struct model *m, uint32_t own)
{
    int best = -1;
    for (node_id n = 0; n < NODES; n++)
        best = met_on(m, own, n) > best ? met_on(m, own, n) : best;
    return best;
}

static bool places_whom_it_can(const char *placement, uint64_t seed)
{
    struct model m = {0};
    struct sched_case c;
    char policy[200];
    snprintf(policy, sizeof policy, "{'order': ['fifo'], 'placement': '%s'}", placement);
    random_stream_init(&m.stream, seed, "room", 0);
    sched_case_open(&c, sched_case_cluster(cluster_text), queue_table_new(), policy);
    m.cluster = c.cluster;
    uint32_t used[NODES] = {0};
    const uint32_t others = random_below(&m.stream, 6);
    for (uint32_t j = 0; j < others; j++) { /* never more than three GPUs of a node */
        struct stand *own = &m.jobs[j];
        draw_tags(&m.stream, &own->tags);
        own->job = sched_case_job(j, 1, 1, 50);
        own->job.tags = &own->tags;
        own->is_known = true;
        node_id node = random_below(&m.stream, NODES);
        node = used[node] == GPUS - 1 ? (node + 1) % NODES : node;
        sched_case_adopt(&c, own->job, (struct piece){.node = node, .gpu_mask = (uint16_t)(1u << used[node]++)});
        own->stay[node]++;
    }
    struct stand *own = &m.jobs[others];
    draw_tags(&m.stream, &own->tags);
    own->is_known = true;
    own->job = sched_case_job(others, 1, 1, 50);
    own->job.tags = own->tags.tag_count + own->tags.rule_count > 0 ? &own->tags : NULL;
    sched_case_submit(&c, own->job, SECONDS(1));
    sched_case_cycle(&c, SECONDS(1));
    const int best = best_of(&m, others);
    assert_int_equal(sched_case_count(&c, DECISION_START), best >= 0);
    if (best >= 0)
        assert_int_equal(met_on(&m, others, c.decisions[0].pieces[0].node), best);
    else
        sched_case_explain(&c, others, REASON_AFFINITY);
    sched_case_close(&c);
    return best >= 0;
}

TEST(who_may_start_does)
{
    uint32_t started = 0, refused = 0;
    for (uint32_t p = 0; placement_policies[p] != NULL; p++)
        for (uint64_t seed = 1; seed <= 60; seed++) {
            const bool has_started = places_whom_it_can(placement_policies[p]->name, seed);
            started += has_started;
            refused += !has_started;
        }
    assert_true(started > 100 && refused > 100);
}
