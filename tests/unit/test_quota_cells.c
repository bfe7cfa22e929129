/* cells: which cells stay where they are, and what a cell must not stand on. */
#include "tests/support/test.h"

#include "policies/quota/cells_index.h"
#include "tests/support/json_text.h"
#include "tests/support/lawful.h"
#include "tests/support/quota_case.h"

/* A node of 8 GPUs and one of 4. */
#define LARGE_AND_SMALL                                                                                                \
    "{'pools': [{'name': 'p', 'nodes': 1, 'gpus_per_node': 8, 'node_name': 'a%u'},"                                    \
    " {'name': 'q', 'nodes': 1, 'gpus_per_node': 4, 'node_name': 'b%u'}]}"
enum { LARGE, SMALL };

static void open_case(struct quota_case *c)
{
    struct json_doc *doc;
    quota_case_init(c, &quota_cells, 1);
    ledger_free(c->ledger);
    cluster_free(c->cluster);
    struct error error = json_text_read(&doc, "cluster", LARGE_AND_SMALL);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    c->cluster = cluster_read(&root);
    assert_non_null(c->cluster);
    json_doc_free(doc);
    c->ledger = ledger_new(c->cluster);
    c->tree.ledger = c->ledger;
}

static struct piece on_gpu(node_id node, uint32_t gpu_index)
{
    return (struct piece){
        .node = node, .gpu_mask = (uint16_t)(1u << gpu_index), .gpu_milli = GPU_MILLI, .member_count = 1};
}

static void occupy(struct quota_case *c, struct piece piece)
{
    struct space space = {.node = piece.node, .gpu_mask = piece.gpu_mask, .gpu_milli = GPU_MILLI, .member_count = 1};
    ledger_take(c->ledger, &space);
}

/* A job that cannot be preempted. */
static void guarantee(struct quota_case *c, queue_id queue, struct piece piece)
{
    occupy(c, piece);
    ledger_note_non_preemptible(c->ledger, &piece, queue, 1);
}

/* The GPUs of the node that are in a cell of the queue. */
static uint16_t kept_by(const struct quota_case *c, queue_id queue, node_id node)
{
    const struct gpu_keep *keeps = &c->ledger->keeps[c->cluster->nodes[node].first_gpu];
    uint16_t mask = 0;
    for (uint32_t i = 0; i < cluster_node_gpus(c->cluster, node); i++)
        if (keeps[i].keeper == queue)
            mask |= (uint16_t)(1u << i);
    return mask;
}

/* What is known of the queue's cells without a look at the GPUs. */
static void assert_known(struct quota_case *c, queue_id queue)
{
    struct home_rows own = cells_index_rows(c->ledger, queue);
    uint16_t gpus[2] = {0};
    for (uint32_t r = 0; r < own.count; r++)
        gpus[own.rows[r].node] = own.rows[r].gpus;
    assert_int_equal(gpus[LARGE], kept_by(c, queue, LARGE));
    assert_int_equal(gpus[SMALL], kept_by(c, queue, SMALL));
    assert_int_equal(own.count, (gpus[LARGE] != 0) + (gpus[SMALL] != 0));
    assert_lawful(cells_index_check(c->ledger));
}

/* Cells move between two questions, and a queue comes; who looks for himself sees that a GPU has another keeper. */
TEST(what_is_known_of_cells_follows_them)
{
    struct quota_case c;
    open_case(&c);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 6), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    quota_case_ready(&c);
    assert_int_equal(cells_index_rows(c.ledger, a).count, 0);
    cells_assign(&c.tree, b);
    assert_known(&c, a);
    assert_known(&c, b);
    occupy(&c, on_gpu(SMALL, 0));
    guarantee(&c, a, on_gpu(LARGE, 7));
    cells_assign(&c.tree, a);
    assert_known(&c, a);
    assert_known(&c, b);
    queue_id late = quota_case_add(&c, "late", QUEUE_ROOT, 1);
    quota_case_ready(&c);
    assert_int_equal(cells_index_rows(c.ledger, late).count, 0);
    cells_assign(&c.tree, late);
    assert_known(&c, late);
    struct gpu_keep *keep = &c.ledger->keeps[c.cluster->nodes[SMALL].first_gpu];
    keep->keeper = keep->keeper == a ? b : a;
    assert_non_null(cells_index_check(c.ledger));
    keep->keeper = QUEUE_NONE;
    assert_non_null(cells_index_check(c.ledger));
    quota_case_release(&c);
}

/* At first b has the small node, a and c the halves of the large one.  c's half is in use; that makes nothing of a's,
 * in front of it, in use, so that it goes where nobody is busy. */
TEST(what_lies_behind_a_cell_does_not_keep_it)
{
    struct quota_case c;
    open_case(&c);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    queue_id other = quota_case_add(&c, "c", QUEUE_ROOT, 4);
    quota_case_ready(&c);
    cells_assign(&c.tree, b);
    assert_int_equal(kept_by(&c, b, SMALL), 0x0f);
    assert_int_equal(kept_by(&c, a, LARGE), 0x0f);
    assert_int_equal(kept_by(&c, other, LARGE), 0xf0);
    occupy(&c, on_gpu(LARGE, 0)); /* by somebody who can be preempted */
    guarantee(&c, other, on_gpu(LARGE, 4));
    cells_assign(&c.tree, a);
    assert_int_equal(kept_by(&c, a, SMALL), 0x0f);
    assert_int_equal(kept_by(&c, b, LARGE), 0x0f);
    assert_int_equal(kept_by(&c, other, LARGE), 0xf0);
    quota_case_release(&c);
}

/* Both halves of the large node would be split off alike; in the first somebody would have to go. */
TEST(of_places_alike_the_idle_one_is_taken)
{
    struct quota_case c;
    open_case(&c);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 4);
    quota_case_ready(&c);
    occupy(&c, on_gpu(LARGE, 0));
    cells_assign(&c.tree, b);
    assert_int_equal(kept_by(&c, b, SMALL), 0x0f);
    assert_int_equal(kept_by(&c, a, LARGE), 0xf0);
    quota_case_release(&c);
}

/* Guaranteed jobs that were there before the quotas, of a and of b beside it: the four GPUs that are a's cannot be put
 * around both. */
TEST(no_cell_stands_on_a_guaranteed_job_of_another)
{
    struct quota_case c;
    open_case(&c);
    queue_id a = quota_case_add(&c, "a", QUEUE_ROOT, 4), b = quota_case_add(&c, "b", QUEUE_ROOT, 1);
    quota_case_ready(&c);
    guarantee(&c, a, on_gpu(LARGE, 0));
    guarantee(&c, b, on_gpu(LARGE, 1));
    cells_assign(&c.tree, a);
    assert_int_equal(kept_by(&c, b, LARGE), 0x02);
    assert_int_equal(kept_by(&c, a, LARGE) & 0x0f, 0);
    assert_int_equal(cells_of(&c.tree, a)->loose[2], 0); /* it stands elsewhere */
    quota_case_release(&c);
}

/* Three nodes of two GPUs, of which busy[n] are busy with jobs that would have to go.  First a cell of a, then one of
 * b. */
static void assign_pairs(struct quota_case *c, const uint32_t busy[3], queue_id *a, queue_id *b)
{
    quota_case_init(c, &quota_cells, 1);
    ledger_free(c->ledger);
    cluster_free(c->cluster);
    c->cluster = cluster_uniform_new(3, 2);
    c->ledger = ledger_new(c->cluster);
    c->tree.ledger = c->ledger;
    *a = quota_case_add(c, "a", QUEUE_ROOT, 2);
    *b = quota_case_add(c, "b", QUEUE_ROOT, 2);
    quota_case_ready(c);
    for (node_id n = 0; n < 3; n++)
        for (uint32_t i = 0; i < busy[n]; i++)
            occupy(c, on_gpu(n, i));
    cells_assign(&c->tree, *a);
}

/* Of places that cost alike the first is taken: behind the last place that cost nothing, for none is left before it;
 * of all when that cost something. */
TEST(of_places_that_cost_alike_the_first_is_taken)
{
    struct quota_case c;
    queue_id a, b;
    assign_pairs(&c, (const uint32_t[]){2, 1, 2}, &a, &b);
    assert_int_equal(kept_by(&c, a, 1), 0x3);
    assert_int_equal(kept_by(&c, b, 0), 0x3);
    quota_case_release(&c);
    assign_pairs(&c, (const uint32_t[]){2, 0, 2}, &a, &b);
    assert_int_equal(kept_by(&c, a, 1), 0x3);
    assert_int_equal(kept_by(&c, b, 2), 0x3);
    quota_case_release(&c);
    assign_pairs(&c, (const uint32_t[]){1, 0, 2}, &a, &b); /* but the cheaper, wherever it is */
    assert_int_equal(kept_by(&c, a, 1), 0x3);
    assert_int_equal(kept_by(&c, b, 0), 0x3);
    quota_case_release(&c);
}
