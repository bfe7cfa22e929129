#include "tests/support/sched_case.h"
#include "policies/policy_config.h"
#include "tests/support/json_text.h"
#include "tests/support/lawful.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct policy_config sched_case_policy(const char *text)
{
    struct policy_config config;
    struct error error = ERROR_OK;
    struct json_doc *doc = json_text_parse("test", text);
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&config, &root);
    if (error_is(error))
        print_error("%s: %s\n", text, error_message(&error));
    assert_false(error_is(error));
    json_doc_free(doc);
    return config;
}

void sched_case_open(struct sched_case *c, struct cluster *cluster, struct queue_table *queues, const char *policy)
{
    struct error error = ERROR_OK;
    const struct policy_config config = sched_case_policy(policy);
    *c = (struct sched_case){.cluster = cluster, .queues = queues};
    c->sched = sched_new(cluster, queues, &config, &error);
    assert_non_null(c->sched);
}

void sched_case_close(struct sched_case *c)
{
    sched_free(c->sched);
    queue_table_free(c->queues);
    cluster_free(c->cluster);
}

struct job sched_case_job(job_id id, uint32_t count, uint16_t gpus, int32_t priority)
{
    struct job job = job_default();
    job.id = id;
    job.first.count = job.first.min_count = count;
    job.first.request.gpus = gpus;
    job.priority = priority;
    return job;
}

void sched_case_submit(struct sched_case *c, struct job job, time_ns now)
{
    job.submit = now;
    sched_job_submitted(c->sched, &job, now);
}

void sched_case_cycle(struct sched_case *c, time_ns now)
{
    c->count = sched_cycle(c->sched, now, &c->decisions, &c->wake_at);
    for (size_t i = 0; i < c->count; i++)
        if (c->decisions[i].kind == DECISION_START && c->decisions[i].job < SCHED_CASE_JOBS)
            c->starts[c->decisions[i].job] = c->decisions[i].id;
    assert_lawful(sched_check(c->sched));
}

size_t sched_case_start(struct sched_case *c, time_ns now)
{
    sched_case_cycle(c, now);
    for (size_t i = 0; i < c->count; i++)
        if (c->decisions[i].kind == DECISION_START)
            sched_job_started(c->sched, c->decisions[i].job, c->decisions[i].id, now);
    return sched_case_count(c, DECISION_START);
}

size_t sched_case_count(const struct sched_case *c, enum decision_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->decisions[i].kind == kind;
    return count;
}

struct sched_counts sched_case_counts(const struct sched_case *c)
{
    struct sched_counts counts;
    sched_count(c->sched, &counts);
    return counts;
}

struct cluster *sched_case_cluster(const char *json)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, "cluster", json);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_non_null(cluster);
    json_doc_free(doc);
    return cluster;
}

void sched_case_adopt(struct sched_case *c, struct job job, struct piece piece)
{
    piece.member_count = 1;
    if (piece.gpu_milli == 0)
        piece.gpu_milli = GPU_MILLI;
    const uint64_t refused = sched_refused(c->sched)->count;
    sched_job_adopted(c->sched, &job, &piece, 1, 0, 0);
    if (sched_refused(c->sched)->count != refused)
        fail_msg("the fact was refused: %s", wrong_fact_text(sched_refused(c->sched)->last));
}

struct explanation sched_case_explain(struct sched_case *c, job_id job, enum reason code)
{
    struct explanation why;
    uint32_t sum = 0;
    assert_true(sched_explain(c->sched, job, &why));
    assert_string_equal(reason_name(why.code), reason_name(code));
    assert_string_equal(reason_name(sched_why(c->sched, job)), reason_name(code));
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++)
        sum += why.nodes[i];
    assert_int_equal(sum, c->cluster->node_count);
    return why;
}
