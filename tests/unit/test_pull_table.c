/* What jobs pull: by rows and scopes, how often each of several, and what is refused. */
#include <math.h>

#include "tests/support/test.h"

#include "sim/caches/pull_table.h"
#include "tests/support/json_text.h"

#define GIB INT64_C(1073741824)

struct given {
    struct arena arena;
    struct error error;
    struct pull_table table;
    struct pull_names names;
    struct cluster *cluster;
};

static struct given *given_of(const char *text)
{
    struct given *given = calloc(1, sizeof *given);
    struct json_doc *doc = json_text_parse("world", text);
    const struct json_value root = json_doc_root(doc, &given->error);
    given->table = pull_table_read(&root, &given->arena, NULL);
    json_doc_free(doc);
    given->cluster = cluster_uniform_new(4, 8);
    return given;
}

static void given_free(struct given *given)
{
    pull_names_release(&given->names);
    arena_release(&given->arena);
    error_release(&given->error);
    cluster_free(given->cluster);
    free(given);
}

static struct job_objects objects_of(struct given *given, job_id id, enum job_class class, uint32_t user,
                                     queue_id queue)
{
    struct job job = job_default();
    job.id = id;
    job.class = (uint8_t) class;
    job.user = user;
    job.queue = queue;
    job.first.request.gpus = 1;
    return pull_table_objects(&given->table, &given->names, given->cluster, &job, (struct job_names){"", ""}, 1);
}

TEST(scopes_tell_jobs_apart)
{
    struct given *given =
        given_of("{'node_gb_per_s': 1, 'node_cache_gib': 2.5, 'jobs': ["
                 "{'class': 'inference', 'image': {'size_gib': 1}, 'weights': {'size_gib': 2, 'scope': "
                 "'user'}, 'data': {'size_gib': 0.5, 'scope': 'job'}},"
                 "{'class': 'training', 'weights': {'size_gib': 3, 'scope': 'queue'}}]}");
    assert_string_equal(error_message(&given->error), "");
    assert_int_equal(given->table.node_cache_bytes, 5 * GIB / 2);
    const struct job_objects a = objects_of(given, 0, JOB_INFERENCE, 7, 1),
                             b = objects_of(given, 1, JOB_INFERENCE, 7, 2),
                             c = objects_of(given, 2, JOB_INFERENCE, 8, 1);
    assert_int_equal(a.count, 3);
    assert_int_equal(a.of[0].bytes, GIB);
    assert_int_equal(a.of[2].bytes, GIB / 2);
    assert_true(a.of[0].id == b.of[0].id && a.of[0].id == c.of[0].id);
    assert_true(a.of[1].id == b.of[1].id && a.of[1].id != c.of[1].id);
    assert_true(a.of[2].id != b.of[2].id && a.of[2].id != c.of[2].id);
    const struct job_objects d = objects_of(given, 3, JOB_TRAINING, 7, 1), e = objects_of(given, 4, JOB_TRAINING, 8, 1),
                             f = objects_of(given, 5, JOB_TRAINING, 8, 2);
    assert_int_equal(d.count, 1);
    assert_true(d.of[0].id == e.of[0].id && e.of[0].id != f.of[0].id);
    assert_int_equal(objects_of(given, 6, JOB_INTERACTIVE, 8, 2).count, 0);
    assert_int_equal(given->names.count, 1 + 2 + 3 + 2);
    given_free(given);
}

/* Of three with exponent 1: 6/11, 3/11, 2/11. */
TEST(zipf_is_drawn)
{
    enum { JOBS = 20000 };
    struct given *given =
        given_of("{'node_gb_per_s': 1, 'jobs': [{'image': {'size_gib': 1, 'distinct': 3, 'zipf': 1}}]}");
    uint32_t times[3] = {0};
    for (job_id id = 0; id < JOBS; id++)
        times[objects_of(given, id, JOB_TRAINING, 0, 0).of[0].id]++;
    for (int i = 0; i < 3; i++) /* numbers are given in the order in which they come */
        for (int j = 0; j < i; j++)
            if (times[j] < times[i]) {
                const uint32_t less = times[j];
                times[j] = times[i];
                times[i] = less;
            }
    const double parts[] = {6 / 11.0, 3 / 11.0, 2 / 11.0};
    for (int i = 0; i < 3; i++)
        assert_true(fabs(times[i] / (double)JOBS - parts[i]) < 0.015);
    given_free(given);
}

TEST(what_does_not_hold_together_is_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{'jobs': [{'image': {'size_gib': 1}}]}", "pulls need a bandwidth"},
        {"{'node_gb_per_s': 1, 'rack_gb_per_s': 1}", "'rack_gb_per_s' needs a cache"},
        {"{'node_gb_per_s': 1, 'jobs': [{'image': {}}]}", "size_gib"},
        {"{'node_gb_per_s': 1, 'jobs': [{'image': {'size_gib': 1, 'zipf': 1}}]}", "give 'distinct' above 1"},
        {"{'node_gb_per_s': 1, 'jobs': [{'image': {'size_gib': 1, 'scope': 'job', 'distinct': 2}}]}",
         "leave out 'distinct'"},
        {"{'node_gb_per_s': 1, 'jobs': [{'image': {'size_gib': 1, 'scope': 'node'}}]}", "must be one of"},
        {"{'node_gb_per_s': 1, 'jobs': [{'model': {'size_gib': 1}}]}", "model"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given *given = given_of(cases[i].text);
        if (strstr(error_message(&given->error), cases[i].says) == NULL)
            fail_msg("%s: '%s'", cases[i].text, error_message(&given->error));
        given_free(given);
    }
}
