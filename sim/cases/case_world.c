/* sim/cases/case_world.c -- the rounds of a case: what was before, cycles, and what takes effect between them. */
#include <stdlib.h>
#include <string.h>

#include "sim/cases/case_books.h"
#include "sim/plugins/guard.h"

struct effect { /* of a decision of this round */
    enum decision_kind kind;
    job_id job;
    decision_id decision;
    bool is_saved;
    node_id node; /* REPARTITION: the node of its GPU, */
    uint32_t gpu; /* the GPU's index there, */
    mig_layout_id layout;
};

struct world {
    const struct case_spec *spec;
    struct sched *sched;
    struct case_books books;
    struct effect *effects;
    size_t effect_capacity;
    uint32_t effect_count;
    time_ns now;
    struct buffer *log;        /* NULL: none */
    const char *broken;        /* the law that a decision violates; NULL: none */
    struct error plugin_error; /* owner of `broken`, if a plug-in caused it */
    job_id broken_by;          /* the job concerned; JOB_NONE: none in particular */
};

/* ---- Before the first round ---- */

enum before { BEFORE_SUBMITTED, BEFORE_ADOPTED, BEFORE_CHECKPOINTED, BEFORE_LEAVING };

struct fact {
    time_ns time;
    enum before kind;
    job_id job;
};

static int compare_facts(const void *a, const void *b)
{
    const struct fact *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* A running job is adopted as late as the facts about it allow.  So the scheduler does not add its past usage to the
 * past that the case gives to the queues. */
static uint32_t list_facts(const struct case_spec *spec, struct fact *facts)
{
    uint32_t count = 0;
    for (job_id id = 0; id < spec->job_count; id++) {
        const struct case_job *job = &spec->jobs[id];
        if (job->piece_count == 0) {
            facts[count++] = (struct fact){job->job.submit, BEFORE_SUBMITTED, id};
            continue;
        }
        time_ns adopted = job->checkpointed < CASE_NOW ? job->checkpointed : CASE_NOW;
        facts[count++] = (struct fact){adopted, BEFORE_ADOPTED, id};
        if (job->checkpointed != TIME_NEVER)
            facts[count++] = (struct fact){job->checkpointed, BEFORE_CHECKPOINTED, id};
        if (job->is_leaving)
            facts[count++] = (struct fact){CASE_NOW, BEFORE_LEAVING, id};
    }
    qsort(facts, count, sizeof *facts, compare_facts);
    return count;
}

static void tell(struct world *world, const struct fact *fact)
{
    const struct case_job *job = &world->spec->jobs[fact->job];
    switch (fact->kind) {
    case BEFORE_SUBMITTED:
        sched_job_submitted(world->sched, &job->job, fact->time);
        break;
    case BEFORE_ADOPTED:
        sched_job_adopted(world->sched, &job->job, job->pieces, job->piece_count, job->started, fact->time);
        break;
    case BEFORE_CHECKPOINTED:
        sched_job_checkpointed(world->sched, fact->job, fact->time);
        break;
    case BEFORE_LEAVING:
        sched_job_leaving(world->sched, fact->job, MEMBERS_ALL, fact->time);
        break;
    }
}

/* Nodes get their state last: a job cannot be adopted on a node that accepts no new work. */
static void tell_before(struct world *world)
{
    const struct case_spec *spec = world->spec;
    struct fact *facts = mem_zalloc(3 * (size_t)spec->job_count, sizeof *facts);
    uint32_t count = list_facts(spec, facts);
    for (uint32_t i = 0; i < count; i++)
        tell(world, &facts[i]);
    for (node_id node = 0; node < spec->cluster->node_count; node++)
        if (spec->node_states[node] != NODE_UP)
            sched_node_changed(world->sched, node, (enum node_state)spec->node_states[node], CASE_NOW);
    mem_free(facts);
}

/* ---- The log ---- */

static void log_decision(struct world *world, const struct decision *decision)
{
    static const char *const verbs[] = {
        [DECISION_START] = "start",     [DECISION_EVICT] = "evict",   [DECISION_RESERVE] = "reserve",
        [DECISION_RELEASE] = "release", [DECISION_REJECT] = "reject", [DECISION_REPARTITION] = "repartition",
        [DECISION_NOTIFY] = "notify"};
    const struct case_spec *spec = world->spec;
    struct buffer *log = world->log;
    if (log == NULL || decision->job >= spec->job_count)
        return;
    buffer_format(log, "    %-8s %s", verbs[decision->kind], spec->jobs[decision->job].name);
    for (uint32_t i = 0; i < decision->piece_count; i++) {
        const struct piece *piece = &decision->pieces[i];
        buffer_format(log, "%s %u on %s", i == 0 ? ":" : ",", piece->member_count,
                      spec->cluster->nodes[piece->node].name);
        for (int gpu = 0; gpu < NODE_GPUS_MAX; gpu++)
            if (piece->gpu_mask >> gpu & 1)
                buffer_format(log, " %d", gpu);
    }
    if (decision->reason != REASON_NONE)
        buffer_format(log, " (%s)", reason_name(decision->reason));
    if (decision->for_job < spec->job_count)
        buffer_format(log, " for %s", spec->jobs[decision->for_job].name);
    buffer_char(log, '\n');
}

static struct case_state state_of(struct world *world, job_id id)
{
    struct case_state state = case_books_state(&world->books, id);
    enum reason rejected = world->books.entries[id].rejected_by;
    state.why = rejected != REASON_NONE ? rejected : sched_why(world->sched, id);
    return state;
}

static void log_states(struct world *world)
{
    for (job_id id = 0; id < world->spec->job_count && world->log != NULL; id++) {
        if (world->spec->jobs[id].part_of != CASE_NONE)
            continue;
        struct case_state state = state_of(world, id);
        buffer_format(world->log, "    %-20s ", world->spec->jobs[id].name);
        case_describe(world->spec, &state, world->log);
        buffer_char(world->log, '\n');
    }
}

/* ---- Rounds ---- */

static void breaks(struct world *world, const char *law, job_id job)
{
    if (law == NULL || world->broken != NULL)
        return;
    world->broken = law;
    world->broken_by = job;
}

/* Does the eviction give the job enough time to write its checkpoint? */
static bool is_saved(const struct world *world, const struct decision *decision)
{
    return decision->grace > 0 && world->spec->jobs[decision->job].job.checkpoint.duration <= decision->grace;
}

static void cycle(struct world *world)
{
    const struct decision *decisions;
    time_ns ignored;
    guard_cycle_begin();
    size_t count = sched_cycle(world->sched, world->now, &decisions, &ignored);
    world->plugin_error = guard_cycle_done();
    if (error_is(world->plugin_error))
        breaks(world, error_message(&world->plugin_error), JOB_NONE);
    world->effect_count = 0;
    for (size_t i = 0; i < count && world->broken == NULL; i++) {
        const struct decision *decision = &decisions[i];
        log_decision(world, decision);
        breaks(world, case_books_decision(&world->books, decision), decision->job);
        if (world->broken != NULL)
            return;
        MEM_GROW(world->effects, world->effect_capacity, world->effect_count + 1u);
        world->effects[world->effect_count++] = (struct effect){.kind = decision->kind,
                                                                .job = decision->job,
                                                                .decision = decision->id,
                                                                .is_saved = is_saved(world, decision),
                                                                .layout = decision->layout};
        if (decision->kind != DECISION_REPARTITION)
            continue;
        struct effect *effect = &world->effects[world->effect_count - 1];
        effect->node = decision->pieces[0].node;
        effect->gpu = (uint32_t)__builtin_ctz(decision->pieces[0].gpu_mask);
    }
    breaks(world, case_books_check(&world->books), JOB_NONE);
    breaks(world, sched_check(world->sched), JOB_NONE);
}

/* Starts take effect at once.  Repartitions take effect, and evicted members leave, at the end of the round. */
static void take_effect(struct world *world, bool is_first)
{
    const struct case_spec *spec = world->spec;
    for (uint32_t i = 0; i < world->effect_count; i++)
        if (world->effects[i].kind == DECISION_START)
            sched_job_started(world->sched, world->effects[i].job, world->effects[i].decision, world->now);
    world->now += spec->round;
    for (job_id id = 0; id < spec->job_count && is_first; id++)
        if (spec->jobs[id].is_leaving && !spec->jobs[id].never_leaves) {
            case_books_left(&world->books, id, 0);
            sched_job_ended(world->sched, id, JOB_END_COMPLETED, false, world->now);
        }
    for (uint32_t i = 0; i < world->effect_count; i++) {
        const struct effect *effect = &world->effects[i];
        if (effect->kind == DECISION_REPARTITION)
            sched_gpu_changed(world->sched, effect->node, effect->gpu, effect->layout, world->now);
        if (effect->kind != DECISION_EVICT)
            continue;
        case_books_left(&world->books, effect->job, effect->decision);
        sched_job_evicted(world->sched, effect->job, (struct members){effect->decision, NODE_NONE},
                          effect->is_saved ? EVICT_SAVED : EVICT_LOST, world->now);
    }
}

static void compare(struct world *world, struct buffer *differs)
{
    for (job_id id = 0; id < world->spec->job_count; id++) {
        struct case_state state = state_of(world, id);
        case_compare(world->spec, &world->spec->jobs[id], &state, differs);
    }
}

static void say_broken(const struct world *world, uint32_t round, struct buffer *differs)
{
    buffer_format(differs, "in round %u the scheduler broke a law: %s", round, world->broken);
    if (world->broken_by < world->spec->job_count)
        buffer_format(differs, " (%s)", world->spec->jobs[world->broken_by].name);
}

static bool run_rounds(struct world *world, struct buffer *differs)
{
    const struct case_spec *spec = world->spec;
    uint32_t last = spec->rounds + spec->stable_rounds;
    struct buffer found = {0};
    for (uint32_t round = 1; round <= last && found.length == 0; round++) {
        if (world->log != NULL)
            buffer_format(world->log, "  round %u\n", round);
        cycle(world);
        log_states(world);
        if (world->broken != NULL) {
            say_broken(world, round, &found);
            break;
        }
        if (round >= spec->rounds)
            compare(world, &found);
        if (found.length > 0 && round > spec->rounds)
            buffer_format(&found, " (in stable round %u)", round - spec->rounds);
        if (round < last)
            take_effect(world, round == 1);
    }
    bool is_good = found.length == 0;
    buffer_bytes(differs, found.bytes, found.length);
    buffer_release(&found);
    return is_good;
}

bool case_run(const struct case_spec *spec, struct buffer *differs, struct buffer *log)
{
    struct error error = ERROR_OK;
    struct world world = {.spec = spec, .now = CASE_NOW, .log = log};
    world.sched = sched_new(spec->cluster, spec->queues, &spec->policy, &error);
    if (world.sched == NULL) { /* the reader has tried this: it fails only if memory differs */
        buffer_string(differs, error_message(&error));
        error_release(&error);
        return false;
    }
    case_books_init(&world.books, spec);
    tell_before(&world);
    bool has_passed = run_rounds(&world, differs);
    case_books_release(&world.books);
    sched_free(world.sched);
    error_release(&world.plugin_error);
    mem_free(world.effects);
    return has_passed;
}
