/* What `explain --decision` says of decisions in random worlds: the node of a plain START is the best that it lists,
 * and asking changes nothing. */
#include "tests/support/test.h"

#include "studies/divergence/decision.h"
#include "tests/support/random_policy.h"
#include "tests/support/random_run.h"
#include "tests/support/scratch.h"

enum { SEEDS_SMALL = 140, SEEDS_FULL = 600, DRAWS_MAX = 200, NUMBERS = 12, NUMBER_MAX = 30, STALL_STEPS = 4000 };

static bool is_full_size(void)
{
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    return size != NULL && strcmp(size, "full") == 0;
}

/* ---- Decisions of random scenarios ---- */

struct tally {
    uint32_t decisions, weighed, plain, reserved;
};

static void nodes_are_listed_once_and_in_order(const struct decision_study *study)
{
    const struct weighing *weighing = &study->weighing;
    uint32_t sum = weighing->node_count;
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++)
        sum += weighing->refused[i];
    if (!weighing->has_reservation)
        assert_int_equal(sum, study->side.scenario.cluster->node_count);
    for (uint32_t n = 1; n < weighing->node_count; n++) {
        const struct weighed_node *before = &weighing->nodes[n - 1], *node = &weighing->nodes[n];
        assert_true(before->score > node->score || (before->score == node->score && before->node < node->node));
    }
}

static bool has_started_before(const struct decision_study *study)
{
    for (size_t i = 0; i < study->before_count; i++)
        if (study->before[i].job == study->decision.job)
            return true;
    return false;
}

/* Did nothing but room and score choose the node?  Decisions before it in its cycle were starts of other jobs on free
 * space. */
static bool is_plain(const struct decision_study *study)
{
    const struct weighing *weighing = &study->weighing;
    return study->decision.kind == DECISION_START && study->before_count == weighing->taken_count &&
           weighing->members == 1 && study->decision.piece_count == 1 && !weighing->has_topology &&
           !weighing->has_reservation && !weighing->is_drawn && !has_started_before(study);
}

/* Does a claim keep the node before the cycle, which may give it up first? */
static bool is_kept(const struct weighing *weighing, node_id node)
{
    for (uint32_t n = 0; n < weighing->node_count; n++)
        if (weighing->nodes[n].node == node)
            return false;
    return weighing->refused[EXPLAIN_KEPT] > 0;
}

static void the_node_is_the_best(const struct decision_study *study, uint64_t seed, uint64_t number)
{
    const struct weighing *weighing = &study->weighing;
    const node_id chosen = study->decision.pieces[0].node;
    for (uint32_t n = 0; n < weighing->node_count; n++) {
        if (weighing->nodes[n].node == chosen)
            return;
        if (weighing->nodes[n].why == EXPLAIN_FITS)
            break;
    }
    if (is_kept(weighing, chosen))
        return;
    struct buffer text = {0};
    decision_study_text(study, &text);
    fail_msg("seed %d decision %d: node %u is not the best\n%s", (int)seed, (int)number, chosen,
             buffer_c_string(&text));
}

static void look_at(const struct scenario_options *options, uint64_t seed, uint64_t number, struct tally *tally)
{
    struct decision_study study;
    struct error error = decision_study_find(&study, options, number);
    if (error_is(error)) { /* the run has fewer decisions */
        assert_int_equal(error.kind, ERROR_DATA);
        error_release(&error);
        return;
    }
    tally->decisions++;
    assert_int_equal(decision_number(study.decision.id), number);
    if (study.is_weighed) {
        tally->weighed++;
        tally->reserved += study.weighing.has_reservation;
        nodes_are_listed_once_and_in_order(&study);
        if (is_plain(&study)) {
            tally->plain++;
            the_node_is_the_best(&study, seed, number);
        }
    }
    decision_study_release(&study);
}

/* The scenario of the seed: the first draw whose run is legal.  False: it needs rules of tags, or there is none. */
static bool make_scenario(uint64_t seed, struct scenario_options *options)
{
    for (uint32_t draw = 0; draw < DRAWS_MAX; draw++) {
        struct random_scenario text;
        random_policy_scenario(&text, seed, draw, STALL_STEPS);
        scratch_write("s.json", text.text.bytes, text.text.length);
        scratch_write("j.jsonl", text.jobs.bytes, text.jobs.length);
        const bool has_tags = memmem(text.jobs.bytes, text.jobs.length, "preferred", 9) != NULL;
        random_scenario_release(&text);
        *options = (struct scenario_options){.path = scratch_path("s.json")};
        struct side side;
        struct error error = side_open(&side, options);
        if (!error_is(error)) {
            error = side_run(&side, &(struct side_run){.until = TIME_NEVER});
            side_release(&side);
        }
        const bool is_legal = !error_is(error);
        error_release(&error);
        if (is_legal && !has_tags)
            return true;
    }
    return false;
}

TEST(the_node_of_a_plain_start_is_the_best_listed)
{
    const uint64_t seeds = is_full_size() ? SEEDS_FULL : SEEDS_SMALL;
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct scenario_options options;
        struct random_stream stream;
        random_stream_init(&stream, seed, "decisions", 0);
        if (!make_scenario(seed, &options))
            continue;
        for (uint32_t i = 0; i < NUMBERS; i++)
            look_at(&options, seed, 1 + random_below(&stream, NUMBER_MAX), &tally);
    }
    print_message("%u decisions: %u weighed, %u plain starts, %u from reservations\n", tally.decisions, tally.weighed,
                  tally.plain, tally.reserved);
    assert_true(tally.weighed > seeds && tally.plain > seeds / 2 && tally.reserved > 0);
}

/* ---- Asking changes nothing ---- */

struct inquirer {
    uint32_t job_count; /* submitted */
    uint64_t answers;
};

static struct error count_job(void *self, const struct fact *fact)
{
    struct inquirer *inquirer = self;
    inquirer->job_count += fact->kind == FACT_JOB_SUBMITTED;
    return ERROR_OK;
}

static void ask_all(void *self, struct sched *sched, time_ns now)
{
    struct inquirer *inquirer = self;
    struct weighing weighing;
    const uint64_t before = sched_hash(sched);
    (void)now;
    for (job_id id = 0; id < inquirer->job_count; id++)
        if (sched_weigh(sched, id, NULL, 0, &weighing)) {
            inquirer->answers++;
            arena_release(&weighing.arena);
        }
    assert_true(sched_hash(sched) == before);
}

static struct error pass_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                               const struct wire_done *done)
{
    (void)self;
    (void)now;
    (void)decisions;
    (void)count;
    (void)done;
    return ERROR_OK;
}

static uint64_t fingerprint_of(uint64_t seed, uint32_t choice, struct inquirer *inquirer)
{
    const struct port_outside listener = {
        .self = inquirer, .on_fact = count_job, .on_cycle_begin = ask_all, .on_cycle = pass_cycle};
    struct random_run run;
    random_run_open(&run, seed, choice);
    if (inquirer != NULL)
        run.listener = &listener;
    const uint64_t fingerprint = random_run_engine(&run).fingerprint;
    random_run_close(&run);
    return fingerprint;
}

TEST(asking_changes_no_decision)
{
    const uint64_t seeds = is_full_size() ? 40 : 4;
    struct inquirer inquirer = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++)
        for (uint32_t choice = 0; choice <= random_case_preset_count(); choice++) {
            inquirer.job_count = 0;
            if (fingerprint_of(seed, choice, NULL) != fingerprint_of(seed, choice, &inquirer))
                fail_msg("seed %d, policy %u: asking changes a decision", (int)seed, choice);
        }
    assert_true(inquirer.answers > 1000);
}

TEST_GROUP(scratch_make, scratch_remove)
