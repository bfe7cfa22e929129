/* tests/unit/test_checkpoint_table.c -- checkpoint plans: which a job has, its times by hand, and what is refused. */
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "sim/checkpoints/checkpoint_table.h"
#include "tests/support/json_text.h"

#define S(seconds) ((time_ns)((seconds)*TIME_NS_PER_S))

static const char *const classes[] = {"large", "small", NULL};

static struct checkpoint_table read(const char *text, struct arena *arena, struct error *error)
{
    *error = ERROR_OK;
    struct json_doc *doc = json_text_parse("world", text);
    const struct json_value root = json_doc_root(doc, error);
    const struct checkpoint_table table = checkpoint_table_read(&root, arena, classes);
    json_doc_free(doc);
    return table;
}

static struct saving saving_of(const char *text, uint32_t members, const char *workload_class)
{
    struct arena arena = {0};
    struct error error;
    const struct checkpoint_table table = read(text, &arena, &error);
    struct cluster *cluster = cluster_uniform_new(100, 8);
    struct job job = job_default();
    job.first.request.gpus = 8;
    job.first.count = job.first.min_count = members;
    job.checkpoint = (struct checkpoint_plan){.interval = S(900), .duration = S(7), .restart = S(33)};
    assert_string_equal(error_message(&error), "");
    const struct saving saving = checkpoint_table_saving(&table, cluster, &job, (struct job_names){"", workload_class});
    cluster_free(cluster);
    arena_release(&arena);
    return saving;
}

static void assert_seconds(time_ns is, double should)
{
    if (fabs(time_to_seconds(is) - should) > 1e-5)
        fail_msg("%.6f s, not %.6f s", time_to_seconds(is), should);
}

TEST(a_job_without_a_row_does_as_it_declares)
{
    const struct saving saving = saving_of("{'plans': [{'workload_class': 'large', 'interval': 60}]}", 2, "small");
    assert_int_equal(saving.interval, S(900));
    assert_int_equal(saving.write, S(7));
    assert_int_equal(saving.warmup, S(33));
    assert_int_equal(saving.load, 0);
    assert_false(saving.is_asynchronous);
    assert_int_equal(saving_declared(&saving).restart, S(33));
}

TEST(the_first_row_that_matches_holds)
{
    static const char text[] = "{'plans': [{'gpus_min': 64, 'interval': '1h'},\n"
                               " {'class': 'training', 'gpus_max': 16, 'mode': 'asynchronous', 'slowdown': 0.1,\n"
                               "  'interval': '10m', 'write_s': 60, 'warmup_s': 0}, {'write_s': 9}]}";
    const struct saving large = saving_of(text, 8, ""), small = saving_of(text, 2, ""), other = saving_of(text, 4, "");
    assert_int_equal(large.interval, S(3600));
    assert_int_equal(large.write, S(7));
    assert_int_equal(small.interval, S(600));
    assert_int_equal(small.write, S(60));
    assert_int_equal(small.warmup, 0);
    assert_true(small.is_asynchronous && small.slowdown == 0.1);
    assert_int_equal(other.interval, S(900));
    assert_int_equal(other.write, S(9));
}

/* 16 nodes of 8 GPUs, with 6.5e-3 interruptions per node-day: 231 h between them.  With w = 20 s, u0 = 300 s: the table
 * of Kokolis et al. (HPCA 2025) for RSC-1 has 96 minutes. */
TEST(young_and_daly)
{
    static const char text[] = "{'plans': [{'interval': '%s', 'interruptions_per_node_day': 6.5e-3, 'write_s': 20}]}";
    const double between = 86400 / 6.5e-3 / 16, young = sqrt(2 * 20 * between);
    char edited[200];
    assert_true(fabs(young / 60 - 96) < 0.5);
    (void)snprintf(edited, sizeof edited, text, "young");
    assert_seconds(saving_of(edited, 16, "").interval, young);
    (void)snprintf(edited, sizeof edited, text, "daly");
    assert_seconds(saving_of(edited, 16, "").interval, young - 20);
    /* An mtbf is of the job, of whatever size; an asynchronous write costs its slowdown. */
    assert_seconds(saving_of("{'plans': [{'interval': 'young', 'mtbf': '1d', 'write_s': 30}]}", 3, "").interval,
                   sqrt(2 * 30 * 86400.0));
    assert_seconds(saving_of("{'plans': [{'interval': 'daly', 'mtbf': '1d', 'write_s': 30, 'mode': 'asynchronous',"
                             " 'slowdown': 0.1}]}",
                             3, "")
                       .interval,
                   sqrt(2 * 3 * 86400.0) - 3);
    /* Never below the time of an asynchronous write, the cost of a write, or a second. */
    assert_seconds(saving_of("{'plans': [{'interval': 'young', 'mtbf': 10, 'write_s': 300, 'mode': 'asynchronous',"
                             " 'slowdown': 0}]}",
                             3, "")
                       .interval,
                   300);
    assert_seconds(saving_of("{'plans': [{'interval': 'daly', 'mtbf': 10, 'write_s': 300}]}", 3, "").interval, 300);
    assert_seconds(saving_of("{'plans': [{'interval': 'young', 'mtbf': 0.001, 'write_s': 0.01}]}", 3, "").interval, 1);
}

/* 4 nodes at 2 GB/s: 80 GiB of a job at 8 GB/s; 10 GiB of each of 32 GPUs at 5 GB/s, all that the storage has. */
TEST(sizes_take_the_time_of_the_storage)
{
    const double gib = 1073741824;
    const struct saving job =
        saving_of("{'storage_gb_per_s': 100, 'node_gb_per_s': 2, 'plans': [{'size_gib': 80, 'warmup_s': 5}]}", 4, "");
    assert_int_equal(job.bytes, INT64_C(80) << 30);
    assert_seconds(job.write, 80 * gib / 8e9);
    assert_int_equal(job.load, job.write);
    assert_int_equal(saving_declared(&job).restart, job.load + S(5));
    const struct saving gpu =
        saving_of("{'storage_gb_per_s': 5, 'node_gb_per_s': 2, 'plans': [{'size_gib_per_gpu': 10}]}", 4, "");
    assert_int_equal(gpu.bytes, INT64_C(320) << 30);
    assert_seconds(gpu.write, 320 * gib / 5e9);
}

TEST(bad_plans_are_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{'cost': 'cheap'}", "world:1:10: 'cost' must be one of"},
        {"{'plans': [{'interval': 'soon'}]}",
         "world:1:25: 'interval' must be a duration, \"young\" or \"daly\", got \"soon\""},
        {"{'plans': [{'interval': 'young', 'write_s': 3}]}", "world:1:25: 'young' needs the job's interruptions"},
        {"{'plans': [{'interval': 'daly', 'mtbf': '1d'}]}", "world:1:25: 'daly' needs the time of a write"},
        {"{'plans': [{'interval': 'daly', 'mtbf': 0, 'write_s': 1}]}", "world:1:41: 'mtbf' must be above 0"},
        {"{'plans': [{'mtbf': 9, 'interruptions_per_node_day': 1}]}", "not both"},
        {"{'plans': [{'mode': 'asynchronous'}]}", "world:1:21: an asynchronous plan needs 'slowdown'"},
        {"{'plans': [{'slowdown': 0.5}]}", "world:1:25: 'slowdown' belongs to the mode 'asynchronous'"},
        {"{'plans': [{'size_gib': 5}]}", "world:1:25: a size needs the bandwidth"},
        {"{'node_gb_per_s': 1, 'plans': [{'size_gib': 5, 'write_s': 1}]}",
         "world:1:59: a plan has 'write_s' or a size"},
        {"{'node_gb_per_s': 1, 'plans': [{'size_gib': 5, 'size_gib_per_gpu': 1}]}", "not both"},
        {"{'node_gb_per_s': 0}", "'node_gb_per_s'"},
        {"{'plans': [{'gpus_min': 9, 'gpus_max': 8}]}", "world:1:40: 'gpus_max' is 8, below 'gpus_min'"},
        {"{'plans': [{'workload_class': 'larg'}]}", "did you mean 'large'?"},
        {"{'plans': [{'user': 'ann'}]}", "world:1:21: the jobs of a synthesized workload have no users"},
        {"{'plans': [{'every': 5}]}", "'every'"},
        {"{'plans': 5}", "world:1:11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct error error;
        (void)read(cases[i].text, &arena, &error);
        assert_true(error_is(error));
        char *line = error_line_new(&error);
        if (strstr(line, cases[i].says) == NULL)
            fail_msg("%s: '%s' does not say '%s'", cases[i].text, line, cases[i].says);
        free(line);
        error_release(&error);
        arena_release(&arena);
    }
}
