/* tests/unit/test_export_tables.c -- records exported as tables: CSV files and SQLite. */
#include "tests/support/test.h"
#include <sqlite3.h>

#include "base/input.h"
#include "reports/export/rows.h"
#include "reports/metrics.h"
#include "reports/record_read.h"
#include "tests/support/made_record.h"
#include "tests/support/scratch.h"

/* ---- CSV ---- */

static struct buffer plain_of(const char *path)
{
    struct buffer plain = {0};
    struct input *input;
    struct text line;
    bool has;
    assert_false(error_is(input_open(&input, path, NULL)));
    while (!error_is(input_line(input, &line, &has)) && has) {
        buffer_text(&plain, line);
        buffer_char(&plain, '\n');
    }
    input_close(input);
    return plain;
}

static size_t count_lines(const char *name)
{
    struct buffer text = scratch_read(name);
    size_t lines = 0;
    for (size_t i = 0; i < text.length; i++)
        lines += text.bytes[i] == '\n';
    buffer_release(&text);
    return lines;
}

/* The files of the record come back byte for byte, whatever the names in them. */
TEST(test_csv)
{
    const struct export_request request = made_request(made_fake(), "csv");
    made_export_as("csv", &request);
    static const char *const files[][2] = {{"fake/jobs.csv.zst", "csv/jobs.csv"},
                                           {"fake/attempts.csv.zst", "csv/attempts.csv"},
                                           {"fake/timeline.csv.zst", "csv/timeline.csv"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct buffer expected = plain_of(scratch_path(files[i][0])), got = scratch_read(files[i][1]);
        assert_int_equal(got.length, expected.length);
        assert_memory_equal(got.bytes, expected.bytes, expected.length);
        buffer_release(&expected);
        buffer_release(&got);
    }
    assert_int_equal(scratch_count("csv"), TABLE_COUNT + 1); /* dtypes.json */
}

TEST(test_csv_of_lists)
{
    const struct export_request request = made_request(made_hand(), "csv");
    made_export_as("csv", &request);
    struct buffer waits = scratch_read("csv/wait_by_reason.csv"), placement = scratch_read("csv/placement.csv");
    assert_string_equal(buffer_c_string(&waits),
                        "job_id,reason,wait_s\n3,Fragmentation,2\n3,WaitingForScheduling,1\n0,Resources,1\n");
    assert_string_equal(buffer_c_string(&placement),
                        "job_id,attempt,node,gpu_indices,gpus\n3,0,n1,3,1\n4,0,n1,,0\n2,0,n1,2,0.5\n1,0,n1,2,0.5\n"
                        "3,1,n1,3,1\n0,0,n0,0-3,4\n0,0,n1,0-1,2\n");
    buffer_release(&waits);
    buffer_release(&placement);
    assert_in_range(count_lines("csv/metrics.csv"), 100, 1000);
    assert_in_range(count_lines("csv/manifest.csv"), 20, 60);
}

/* ---- SQLite ---- */

static sqlite3 *open_database(const char *name)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open_v2(scratch_path(name), &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return database;
}

/* The rows with '|' between columns. */
static void assert_rows(sqlite3 *database, const char *sql, const char *expected)
{
    struct buffer got = {0};
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    while (sqlite3_step(query) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(query); c++) {
            const char *text = (const char *)sqlite3_column_text(query, c);
            buffer_format(&got, "%s%s", c > 0 ? "|" : "", text != NULL ? text : "NULL");
        }
        buffer_char(&got, '\n');
    }
    sqlite3_finalize(query);
    if (strcmp(buffer_c_string(&got), expected) != 0)
        fail_msg("%s gives\n%snot\n%s", sql, got.bytes, expected);
    buffer_release(&got);
}

TEST(test_sqlite)
{
    const struct export_request request = made_request(made_hand(), "export");
    made_export_as("sqlite", &request);
    sqlite3 *database = open_database("export");
    assert_rows(database, "PRAGMA integrity_check", "ok\n");
    assert_rows(
        database, "SELECT name, user, gpus, held_gpu_s, wait_s, reason, end_s FROM jobs ORDER BY job_id",
        "gang|ann|6.0|60.0|1.0|NULL|11.0\nshare|NULL|0.5|3.5|1.0|NULL|9.0\nshare2|NULL|0.5|2.5|1.0|NULL|8.0\n"
        "3|NULL|1.0|6.0|1.0|NULL|10.0\nhost|NULL|0.0|0.0|1.0|NULL|7.0\nhuge|NULL|99.0|0.0|NULL|NeverFits|3.0\n");
    assert_rows(database, "SELECT typeof(submit_s), typeof(priority), typeof(name), typeof(user) FROM jobs LIMIT 1",
                "real|integer|text|text\n");
    assert_rows(database, "SELECT workload_class, size, jobs, wait_p95_s FROM waits_by_class_and_size",
                "inference|<1|1|1.0\nsmall, cheap|<1|1|1.0\ntraining|0|1|1.0\ntraining|1|1|1.0\ntraining|5-8|1|1.0\n");
    assert_rows(database, "SELECT queue, class, reason, jobs, wait_job_h * 3600 FROM waits_by_reason ORDER BY reason",
                "red|training|Fragmentation|1|2.0\nred|training|Resources|1|1.0\n"
                "red|training|WaitingForScheduling|1|1.0\n");
    assert_rows(database, "SELECT queue, jobs, gpu_h * 3600, evictions FROM top_queues",
                "red|3|66.0|1\nblue|3|6.0|0\n");
    assert_rows(database, "SELECT user, jobs FROM top_users", "ann|1\nNULL|5\n");
    assert_rows(database, "SELECT job_id, attempt, name, gpus, start_s, reason, lost_work_gpu_h * 3600 FROM evictions",
                "3|0|3|1.0|2.0|Reclaimed|1.0\n");
    assert_rows(database, "SELECT node, jobs, attempts, gpu_h * 3600 FROM jobs_per_node", "n0|1|1|40.0\nn1|5|6|32.0\n");
    assert_rows(database, "SELECT time_h * 3600, idle_gpus, fragmented_gpus FROM fragmentation_over_time",
                "6.0|0.5|0.5\n");
    assert_rows(database, "SELECT link_tier, attempts, link_gb_per_s_mean FROM links_of_gangs", "leaf|1|50.0\n");
    assert_rows(database, "SELECT value FROM metrics WHERE name = 'jobs_completed' AND cut = 'all'", "5.0\n");
    assert_rows(database, "SELECT value, typeof(value) FROM manifest WHERE key IN ('seed', 'facts.is_partial')",
                "42|integer\n0|integer\n");
    assert_rows(database, "SELECT count(*) FROM sizes WHERE size IN ('3-4', '134217729-268435456')", "2\n");
    sqlite3_close(database);
}

static double number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(database));
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    const double value = sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    return value;
}

/* Sums from SQL are the metrics of the run. */
TEST(test_sqlite_sums)
{
    const char *record = made_fake();
    const struct export_request request = made_request(record, "export");
    struct metrics *metrics = metrics_new();
    const struct record_sink sink = metrics_sink(metrics);
    assert_false(error_is(record_read(record, &sink)));
    metrics_finish(metrics);
    made_export_as("sqlite", &request);
    sqlite3 *database = open_database("export");
    static const char *const sums[][2] = {
        {"jobs_completed", "SELECT count(*) FROM jobs WHERE is_counted AND state = 'completed'"},
        {"jobs_rejected", "SELECT count(*) FROM jobs WHERE is_counted AND state = 'rejected'"},
        {"asked_gpu_h", "SELECT sum(gpus * work_asked_s) / 3600 FROM jobs WHERE is_counted AND state <> 'rejected'"},
        {"allocated_gpu_h", "SELECT sum(held_gpu_s) / 3600 FROM jobs WHERE is_counted"},
        {"lost_gpu_h", "SELECT sum(lost_gpu_h) FROM top_queues"},
        {"preemptions", "SELECT sum(evictions) FROM top_users"},
        {"queue_time_mean_s", "SELECT avg(wait_s) FROM jobs WHERE is_counted"},
        {"wait_priority_job_h", "SELECT sum(wait_job_h) FROM waits_by_reason WHERE reason = 'Priority'"},
        {"communication_gpu_h", "SELECT sum(exposed_gpu_h) FROM communication_cost"}};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        const double expected = metrics_value(metrics, sums[i][0]), got = number(database, sums[i][1]);
        if (!(got > 0 && got > expected * (1 - 1e-9) && got < expected * (1 + 1e-9)))
            fail_msg("%s is %.17g, by SQL %.17g", sums[i][0], expected, got);
    }
    size_t count, rows = 0;
    for (size_t c = 0; metrics_cut_names[c] != NULL; c++)
        for (size_t k = 0; metrics_cut_key(metrics, metrics_cut_names[c], k) != NULL; k++)
            for (const struct metric *metric = metrics_cut(metrics, metrics_cut_names[c], k, &count); count > 0;
                 metric++, count--)
                rows += metric->value == metric->value; /* a value that is not defined is left out */
    const struct metric *all = metrics_all(metrics, &count);
    for (size_t i = 0; i < count; i++)
        rows += all[i].value == all[i].value;
    rows += 4; /* METRICS_MODELS_ASKED: two metrics of two models */
    assert_int_equal((int)number(database, "SELECT count(*) FROM metrics"), rows);
    assert_true(number(database, "SELECT value FROM metrics WHERE name = 'lost_gpu_h' AND key = 'all'") ==
                metrics_value(metrics, "lost_gpu_h"));
    sqlite3_close(database);
    metrics_free(metrics);
}

TEST_GROUP(scratch_make, scratch_remove)
