/* Gangs of unlike members under fgd: what is known of the jobs that usually come keeps none off an empty cluster. */
#include "tests/support/test.h"

#include "tests/support/sched_case.h"

#define FGD "{\"order\": [\"fifo\"], \"blocking\": \"skip\", \"placement\": \"fgd\"}"
#define TWO_MODELS                                                                                                     \
    "{\"pools\": [{\"name\": \"a\", \"nodes\": 1, \"gpus_per_node\": 2, \"gpu_model\": "                               \
    "\"h100-80gb\"}, {\"name\": \"b\", \"node_name\": \"b%u\", \"nodes\": 1, "                                         \
    "\"gpus_per_node\": 2, \"gpu_model\": \"a100-40gb\"}]}"

enum { H100 = 1, A100 = 2 }; /* models of the cluster, as sets */

/* On one GPU there is no room for one of each.  The first are placed first: the cluster holds them twice, the second
 * four times. */
static const struct job_group either = {.request = {.gpu_milli = 700}, .count = 2, .min_count = 2};
static const struct job_group narrow = {.request = {.gpu_milli = 400, .gpu_models = A100}, .count = 1, .min_count = 1};

static void open_where_h100s_are_usual(struct sched_case *c)
{
    const struct job_group usual = {.request = {.gpus = 2, .gpu_models = H100}, .count = 10, .min_count = 10};
    sched_case_open(c, sched_case_cluster(TWO_MODELS), queue_table_new(), FGD);
    sched_typical_told(c->sched, &usual, 1, 0);
}

/* Whole H100s are spared: who may stand on either model goes to the A100s. */
TEST(like_members_spare_what_is_usual)
{
    struct sched_case c;
    struct job job = sched_case_job(0, 1, 1, 50);
    job.first = either;
    open_where_h100s_are_usual(&c);
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    assert_int_equal(c.decisions[0].piece_count, 2);
    assert_int_equal(c.decisions[0].pieces[0].node, 1);
    assert_int_equal(c.decisions[0].pieces[1].node, 1);
    sched_case_close(&c);
}

/* There they would be in the way of the other member, for ever. */
TEST(unlike_members_start_all_the_same)
{
    struct sched_case c;
    struct job job = sched_case_job(0, 1, 1, 50);
    struct job_group second = narrow;
    job.first = either;
    job.more = &second;
    job.group_count = 2;
    open_where_h100s_are_usual(&c);
    sched_case_submit(&c, job, 0);
    assert_int_equal(sched_case_start(&c, SECONDS(1)), 1);
    assert_int_equal(c.decisions[0].piece_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct piece *piece = &c.decisions[0].pieces[i];
        assert_int_equal(piece->node, piece->group);
    }
    sched_case_close(&c);
}
