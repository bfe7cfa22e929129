/* policies/ledger/ledger_tags.h: what is counted by tag, undone with the space that it belongs to; and claims that
 * rules shut. */
#include "tests/support/test.h"

#include "policies/ledger/ledger_tags.h"
#include "tests/support/lawful.h"
#include "tests/support/sched_case.h"

static const struct job_tags quiet = {
    .tags = {3}, .tag_count = 1, .rules = {{.tag = 7, .is_apart = true}}, .rule_count = 1};
static const struct job_tags noisy = {.tags = {7, 3}, .tag_count = 2};

static struct space one_gpu(node_id node, uint32_t gpu, const struct job_tags *tags)
{
    return (struct space){.node = node,
                          .gpu_mask = (uint16_t)(1u << gpu),
                          .gpu_milli = GPU_MILLI,
                          .owner = gpu,
                          .member_count = 1,
                          .tags = tags};
}

struct fixture {
    struct cluster *cluster;
    struct queue_table *queues;
    struct ledger *ledger;
};

static void open_ledger(struct fixture *f)
{
    f->cluster = cluster_uniform_new(2, 4);
    f->queues = queue_table_new();
    f->ledger = ledger_new(f->cluster);
    ledger_queues(f->ledger, f->queues);
    ledger_tags_use(f->ledger);
}

static void close_ledger(struct fixture *f)
{
    ledger_free(f->ledger);
    queue_table_free(f->queues);
    cluster_free(f->cluster);
}

/* Beside the same space without tags, so that only the counts can tell them apart. */
TEST(each_move_and_its_undoing_change_the_hash)
{
    struct fixture f;
    open_ledger(&f);
    const struct space there = one_gpu(0, 0, &quiet), bare = one_gpu(0, 1, NULL);
    const struct space tagged = one_gpu(0, 1, &noisy);
    ledger_take(f.ledger, &there);
    assert_true(ledger_tags_take_changes(f.ledger));
    const uint64_t before = ledger_hash(f.ledger);
    size_t mark = ledger_mark(f.ledger);
    ledger_take(f.ledger, &bare);
    const uint64_t with_bare = ledger_hash(f.ledger);
    ledger_rollback(f.ledger, mark);
    assert_true(ledger_hash(f.ledger) == before);
    mark = ledger_mark(f.ledger);
    ledger_take(f.ledger, &tagged);
    assert_true(ledger_hash(f.ledger) != with_bare); /* the tags count */
    ledger_rollback(f.ledger, mark);
    assert_true(ledger_hash(f.ledger) == before);
    assert_false(ledger_tags_take_changes(f.ledger)); /* what was undone opens nothing */
    assert_lawful(ledger_check(f.ledger));
    close_ledger(&f);
}

TEST(a_rollback_takes_back_all_moves_of_a_trial)
{
    struct fixture f;
    open_ledger(&f);
    const struct space there = one_gpu(0, 0, &quiet), leaver = one_gpu(0, 1, &noisy), claimer = one_gpu(1, 2, &quiet),
                       comer = one_gpu(1, 3, &noisy);
    ledger_take(f.ledger, &there);
    ledger_take(f.ledger, &leaver);
    ledger_tags_take_changes(f.ledger);
    const uint64_t before = ledger_hash(f.ledger);
    const size_t outer = ledger_mark(f.ledger);
    ledger_vacate(f.ledger, &leaver);
    ledger_claim(f.ledger, &claimer);
    const uint64_t between = ledger_hash(f.ledger);
    const size_t inner = ledger_mark(f.ledger);
    ledger_tags_join(f.ledger, &claimer);
    ledger_send_off(f.ledger, &there);
    ledger_take(f.ledger, &comer);
    assert_true(ledger_hash(f.ledger) != between);
    ledger_rollback(f.ledger, inner);
    assert_true(ledger_hash(f.ledger) == between);
    assert_true(between != before);
    ledger_rollback(f.ledger, outer);
    assert_true(ledger_hash(f.ledger) == before);
    assert_false(ledger_tags_take_changes(f.ledger));
    assert_lawful(ledger_check(f.ledger));
    close_ledger(&f);
}

TEST(what_is_kept_of_a_trial_has_changed)
{
    struct fixture f;
    open_ledger(&f);
    const struct space comer = one_gpu(0, 0, &noisy);
    const uint64_t before = ledger_hash(f.ledger);
    const size_t mark = ledger_mark(f.ledger);
    ledger_take(f.ledger, &comer);
    assert_false(ledger_tags_take_changes(f.ledger)); /* not yet */
    ledger_commit(f.ledger, mark);
    assert_true(ledger_tags_take_changes(f.ledger));
    assert_false(ledger_tags_take_changes(f.ledger));
    assert_true(ledger_hash(f.ledger) != before);
    ledger_give(f.ledger, &comer);
    assert_true(ledger_tags_take_changes(f.ledger));
    assert_true(ledger_hash(f.ledger) == before);
    close_ledger(&f);
}

/* Who is sent off in a trial still keeps others away, and draws nobody in. */
TEST(who_is_sent_off_is_still_there)
{
    struct fixture f;
    open_ledger(&f);
    static const struct job_tags client = {.rules = {{.tag = 7}}, .rule_count = 1};
    static const struct job_tags apart = {.rules = {{.tag = 7, .is_apart = true}}, .rule_count = 1};
    const struct space there = one_gpu(0, 0, &noisy);
    ledger_take(f.ledger, &there);
    assert_true(ledger_tags_admit(f.ledger, &client, 0));
    assert_false(ledger_tags_admit(f.ledger, &client, 1));
    const uint64_t before = ledger_hash(f.ledger);
    const size_t mark = ledger_mark(f.ledger);
    ledger_send_off(f.ledger, &there);
    assert_false(ledger_tags_admit(f.ledger, &client, 0));
    assert_false(ledger_tags_admit(f.ledger, &apart, 0));
    assert_true(ledger_tags_admit(f.ledger, &apart, 1));
    ledger_call_back(f.ledger, &there);
    assert_true(ledger_tags_admit(f.ledger, &client, 0));
    assert_true(ledger_hash(f.ledger) == before);
    ledger_rollback(f.ledger, mark);
    close_ledger(&f);
}

/* ---- claims ---- */

enum { DB = 0, LOW = 25, HIGH = 75 };

#define POLICY(expiry)                                                                                                 \
    "{'order': ['priority', 'fifo'], 'blocking': 'skip', 'quota': 'none', "                                            \
    "'reservation_expiry_s': " expiry ", 'actions': ['allocate', 'preempt'], "                                         \
    "'preemption': {'policy': 'kill', 'min_runtime_s': 0}}"

static struct piece gpus(node_id node, uint16_t mask)
{
    return (struct piece){.node = node, .gpu_mask = mask};
}

/* The one that it must be near has ended while its space came: it does not start, whether claims expire or not. */
TEST(a_claim_far_from_its_tag_is_given_up)
{
    static const char *const policies[] = {POLICY("600"), POLICY("\"never\"")};
    const struct job_tags db = {.tags = {DB}, .tag_count = 1};
    const struct job_tags near = {.rules = {{.tag = DB}}, .rule_count = 1};
    for (size_t p = 0; p < 2; p++) {
        struct sched_case c;
        sched_case_open(&c, cluster_uniform_new(1, 4), queue_table_new(), policies[p]);
        struct job server = sched_case_job(0, 1, 1, HIGH), victim = sched_case_job(1, 1, 3, LOW);
        struct job client = sched_case_job(2, 1, 3, HIGH);
        server.tags = &db;
        server.is_preemptible = false;
        client.tags = &near;
        sched_case_adopt(&c, server, gpus(0, 1));
        sched_case_adopt(&c, victim, gpus(0, 0xe));
        sched_case_submit(&c, client, SECONDS(1));
        sched_case_cycle(&c, SECONDS(1));
        assert_int_equal(sched_case_count(&c, DECISION_EVICT), 1);
        assert_int_equal(sched_case_count(&c, DECISION_RESERVE), 1);
        sched_job_evicted(c.sched, 1, MEMBERS_ALL, EVICT_LOST, SECONDS(2));
        sched_job_cancelled(c.sched, 1, SECONDS(2));
        sched_job_ended(c.sched, 0, JOB_END_COMPLETED, false, SECONDS(2));
        sched_case_cycle(&c, SECONDS(2));
        assert_int_equal(sched_case_count(&c, DECISION_START), 0);
        assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 1);
        sched_case_cycle(&c, SECONDS(3));
        assert_int_equal(sched_case_count(&c, DECISION_START), 0);
        sched_case_explain(&c, 2, REASON_AFFINITY);
        sched_case_close(&c);
    }
}

/* Two that must be near others of their kind claim a node each while none is anywhere: the first that starts shuts the
 * other's, in the same cycle. */
TEST(of_two_claims_that_shut_each_other_one_starts)
{
    struct sched_case c;
    const struct job_tags kin = {.tags = {DB}, .tag_count = 1, .rules = {{.tag = DB}}, .rule_count = 1};
    sched_case_open(&c, cluster_uniform_new(2, 4), queue_table_new(), POLICY("600"));
    for (job_id id = 0; id < 2; id++)
        sched_case_adopt(&c, sched_case_job(id, 1, 4, LOW), gpus(id, 0xf));
    for (job_id id = 2; id < 4; id++) {
        struct job job = sched_case_job(id, 1, 4, HIGH);
        job.tags = &kin;
        sched_case_submit(&c, job, SECONDS(1));
    }
    sched_case_cycle(&c, SECONDS(1));
    assert_int_equal(sched_case_count(&c, DECISION_EVICT), 2);
    for (job_id id = 0; id < 2; id++) {
        sched_job_evicted(c.sched, id, MEMBERS_ALL, EVICT_LOST, SECONDS(2));
        sched_job_cancelled(c.sched, id, SECONDS(2));
    }
    assert_int_equal(sched_case_start(&c, SECONDS(2)), 1);
    assert_int_equal(sched_case_start(&c, SECONDS(3)), 0);
    assert_int_equal(sched_case_count(&c, DECISION_RELEASE), 1);
    sched_case_close(&c);
}

/* ---- GPUs that are cut anew ---- */

/* No cut helps while nobody has the tag; when somebody has, without that any space has come free, it does. */
TEST(cutting_is_tried_again_when_a_rule_has_opened)
{
    struct sched_case c;
    const struct job_tags db = {.tags = {DB}, .tag_count = 1};
    const struct job_tags near = {.rules = {{.tag = DB}}, .rule_count = 1};
    sched_case_open(&c,
                    sched_case_cluster("{'pools': [{'nodes': 1, 'gpus_per_node': 4, 'gpu_model': 'h100-80gb', "
                                       "'mig_recut': true}]}"),
                    queue_table_new(), "{'order': ['fifo'], 'blocking': 'skip', 'geometry': 'on_demand'}");
    struct job client = sched_case_job(0, 1, 0, HIGH), server = sched_case_job(1, 1, 1, HIGH);
    client.first.request.mig = MIG_1G + 1;
    client.tags = &near;
    server.tags = &db;
    sched_case_submit(&c, client, SECONDS(1));
    for (int64_t s = 1; s < 4; s++) {
        sched_case_cycle(&c, SECONDS(s));
        assert_int_equal(sched_case_count(&c, DECISION_REPARTITION), 0);
    }
    sched_case_submit(&c, server, SECONDS(4));
    assert_int_equal(sched_case_start(&c, SECONDS(4)), 1);
    uint64_t cuts = sched_case_count(&c, DECISION_REPARTITION);
    sched_case_cycle(&c, SECONDS(5));
    cuts += sched_case_count(&c, DECISION_REPARTITION);
    assert_int_equal(cuts, 1);
    sched_case_close(&c);
}
