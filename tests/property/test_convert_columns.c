/* Traces with every native column filled at random, converted: native CSV to native CSV and by way of JSON lines comes
 * back to the last digit; into SWF each column survives or is named among the losses; and SWF to SWF changes nothing
 * (workloads/readers/job_columns.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/input.h"
#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"
#include "topologies/cluster.h"
#include "workloads/readers/convert.h"
#include "workloads/readers/csv.h"
#include "workloads/readers/freeze.h"
#include "workloads/readers/job_columns.h"

enum { ROWS_MAX = 30, CELL_BYTES = 64 };

static struct random_stream stream;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)random_below(&stream, limit);
}

static bool chance(uint32_t percent)
{
    return below(100) < percent;
}

struct table {
    char cells[ROWS_MAX][NATIVE_FIELD_COUNT][CELL_BYTES];
    uint32_t rows;
};

static void set(struct table *table, uint32_t row, enum native_field field, const char *format, ...) LIKE_PRINTF(4, 5);
static void set(struct table *table, uint32_t row, enum native_field field, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(table->cells[row][field], CELL_BYTES, format, list);
    va_end(list);
}

/* Some time in seconds, as it is written: no zeros at its end. */
static void set_time(struct table *table, uint32_t row, enum native_field field)
{
    static const char *const ends[] = {"", ".5", ".25", ".000000001", ".123456789"};
    set(table, row, field, "%u%s", 1 + below(1000000), ends[below(5)]);
}

static void set_share(struct table *table, uint32_t row, enum native_field field)
{
    static const char *const shares[] = {"0.001", "0.5", "0.142", "0.999"};
    set(table, row, field, "%s", shares[below(4)]);
}

/* A request that is written as it is read: members on nodes, single GPUs, or one piece. */
static void fill_request(struct table *table, uint32_t row)
{
    static const char *const mig[] = {"1g.10gb", "3g.40gb", "7g.80gb"};
    const uint32_t kind = row == 0 ? 4 : below(6),
                   nodes = 1 + below(8); /* SWF has no job without a GPU: the first, at 0, has */
    if (kind == 0) {
        set(table, row, NATIVE_GPUS, "1");
        set_share(table, row, NATIVE_GPU_FRACTION);
    } else if (kind == 1) {
        set(table, row, NATIVE_GPUS, "0");
        set(table, row, NATIVE_GPU_MEMORY, "%u.5", 1 + below(30));
    } else if (kind == 2) {
        set(table, row, NATIVE_GPUS, "0");
        set(table, row, NATIVE_MIG, "%s", mig[below(3)]);
    } else {
        set(table, row, NATIVE_GPUS, "%u", nodes * (kind == 3 ? 1 + below(7) + (nodes > 1) : kind == 4 ? 8 : 0));
        set(table, row, NATIVE_NODES, "%u", nodes);
        if (nodes > 1 && chance(30))
            set(table, row, NATIVE_MIN_MEMBERS, "%u", 1 + below(nodes - 1));
    }
    if (chance(30) || kind == 5)
        set(table, row, NATIVE_CPUS, "%u", nodes * (1 + below(4)));
    if (chance(30))
        set(table, row, NATIVE_MEMORY, "%u", nodes * (1 + below(16)));
    if (chance(30))
        set(table, row, NATIVE_GPU_MODEL, "%s", kind == 2 || chance(50) ? "h100-80gb" : "h100-80gb|a100-80gb");
}

/* Some value of a column that is a number in its struct, or none. */
static void fill_number(struct table *table, uint32_t row, enum native_field field)
{
    const struct job_text *text = &native_texts[field];
    uint32_t names = 0;
    if ((text->where & TEXT_ALWAYS) == 0 && !chance(40))
        return;
    switch (text->form) {
    case TEXT_INT:
        set(table, row, field, "%d", (int)(text->low < 0 ? below(300) - 50 : (uint32_t)text->low + below(3)));
        break;
    case TEXT_MILLI:
        set_share(table, row, field);
        break;
    case TEXT_BOOL:
        set(table, row, field, "%s", chance(50) ? "true" : "false");
        break;
    case TEXT_NAME:
        while (text->names[names] != NULL)
            names++;
        set(table, row, field, "%s", text->names[below(names)]);
        break;
    default:
        if (field == NATIVE_DEADLINE) /* after any submission */
            set(table, row, field, "%u.5", 10000000 + below(1000));
        else if (text->form == TEXT_PATIENCE && chance(50))
            set(table, row, field, "never");
        else
            set_time(table, row, field);
    }
}

static void fill_facts(struct table *table, uint32_t row)
{
    static const char *const queues[] = {"q7", "q12", "vision", "a,\"b\"", "default"};
    static const char *const users[] = {"u3", "u40", "ann", "M\xc3\xbcller, J.", "u007"};
    static const char *const effects[] = {"gpu=yes:NoSchedule", "spot", "*", "a:NoExecute;b=c:NoSchedule"};
    static const char *const sensitivities[] = {"none", "all_reduce_bound", "skewed"};
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++)
        if (native_texts[field].at.bytes != 0)
            fill_number(table, row, (enum native_field)field);
    set(table, row, NATIVE_DURATION, "%u.75", below(100000));
    set(table, row, NATIVE_QUEUE, "%s", queues[below(5)]);
    if (chance(80))
        set(table, row, NATIVE_USER, "%s", users[below(5)]);
    if (chance(40))
        set(table, row, NATIVE_WORKLOAD_CLASS, "kind %u", below(5));
    if (table->cells[row][NATIVE_CHECKPOINT_INTERVAL][0] == '\0' &&
        table->cells[row][NATIVE_CHECKPOINT_DURATION][0] == '\0' && chance(60))
        set(table, row, NATIVE_FAILED, "%s", chance(50) ? "60;7.5" : "12");
    if (chance(30))
        set(table, row, NATIVE_NODE_SELECTOR, "%s", chance(50) ? "zone=a" : "zone=b;disk=ssd");
    if (chance(30))
        set(table, row, NATIVE_TOLERATIONS, "%s", effects[below(4)]);
    const bool is_whole = table->cells[row][NATIVE_NODES][0] != '\0' && table->cells[row][NATIVE_GPUS][0] != '0';
    if (is_whole && chance(40))
        set(table, row, NATIVE_SENSITIVITY, "%s", sensitivities[below(3)]);
}

static void fill_ties(struct table *table, uint32_t row)
{
    static const char *const kinds[] = {"any:", "ok:", "not_ok:"};
    if (chance(40)) {
        set(table, row, NATIVE_ARRAY, "%s", chance(50) ? "sweep" : "0017");
        if (chance(50))
            set(table, row, NATIVE_ARRAY_MAX, "%u", 1 + below(5));
    }
    if (row > 1 && chance(40)) {
        const uint32_t first = below(row), second = below(row);
        set(table, row, NATIVE_AFTER, "%s%s;%s%s", kinds[below(3)], table->cells[first][NATIVE_JOB_ID], kinds[below(3)],
            table->cells[second][NATIVE_JOB_ID]);
    }
}

static void fill(struct table *table)
{
    const uint32_t id_kind = below(3); /* numbers, names, both */
    uint32_t submit = 0;
    memset(table, 0, sizeof *table);
    table->rows = 2 + below(ROWS_MAX - 2);
    for (uint32_t row = 0; row < table->rows; row++) {
        if (id_kind == 0 || (id_kind == 2 && row % 2 == 0))
            set(table, row, NATIVE_JOB_ID, "%u", 100 + row);
        else
            set(table, row, NATIVE_JOB_ID, row % 3 == 0 ? "00%u" : "job %u", row);
        set(table, row, NATIVE_SUBMIT, "%u%s", submit, row > 0 && chance(30) ? ".5" : "");
        submit += 1 + below(3);
        fill_request(table, row);
        fill_facts(table, row);
        fill_ties(table, row);
    }
}

/* Write the table; returns its path. */
static const char *write_table(const struct table *table, const char *name)
{
    struct buffer out = {0};
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++)
        buffer_format(&out, "%s%s", field > 0 ? "," : "", native_columns[field].name);
    for (uint32_t row = 0; row < table->rows; row++)
        for (int field = 0; field < NATIVE_FIELD_COUNT; field++) {
            buffer_char(&out, field > 0 ? ',' : '\n');
            buffer_csv(&out, text_of(table->cells[row][field]));
        }
    buffer_char(&out, '\n');
    const char *path = scratch_write(name, out.bytes, out.length);
    buffer_release(&out);
    return path;
}

static void read_table(const char *path, struct table *table)
{
    struct input *input;
    struct csv csv;
    struct line line;
    bool has = true;
    memset(table, 0, sizeof *table);
    struct error error = input_open(&input, path, NULL);
    assert_false(error_is(error));
    csv_init(&csv, native_columns, NATIVE_FIELD_COUNT);
    line.input = input;
    for (uint32_t number = 0;; number++) {
        error = input_line(input, &line.text, &has);
        assert_false(error_is(error));
        if (!has)
            break;
        error = number == 0 ? csv_header(&csv, &line) : csv_row(&csv, &line);
        if (error_is(error))
            fail_msg("%s", error_message(&error));
        for (int field = 0; number > 0 && field < NATIVE_FIELD_COUNT; field++)
            if (csv.is_there[field])
                set(table, number - 1, (enum native_field)field, "%.*s", (int)csv.fields[field].value.length,
                    csv.fields[field].value.at);
        table->rows = number;
    }
    csv_release(&csv);
    input_close(input);
}

static void convert(const char *from, const char *format, const char *to, enum job_format target,
                    const struct cluster *cluster, struct reason_tally *lost)
{
    struct job_source *source;
    struct output *output;
    const struct workload_spec spec = {
        .trace = from, .format = format, .gpus_per_node = 8, .processors_per_gpu = 1, .tells_unread = true};
    *lost = (struct reason_tally){0};
    struct error error = job_source_open(&source, &spec, cluster, 1);
    if (error_is(error))
        fail_msg("%s", error_text_new(&error));
    error = output_open(&output, scratch_path(to), OUTPUT_PLAIN);
    assert_false(error_is(error));
    error = target == JOBS_NATIVE ? convert_native(source, cluster, &(struct convert_form){0}, output, lost)
            : target == JOBS_SWF  ? convert_swf(source, cluster, output, lost)
                                  : freeze_write(source, cluster, output, lost);
    if (error_is(error))
        fail_msg("%s", error_text_new(&error));
    error = output_commit(&output);
    assert_false(error_is(error));
    reason_tally_join(lost, &job_source_facts(source)->unread);
    job_source_close(source);
}

static void check_equal(const struct table *a, const struct table *b, uint64_t seed, const char *how)
{
    if (a->rows != b->rows)
        fail_msg("seed %llu, %s: %u rows become %u", (unsigned long long)seed, how, a->rows, b->rows);
    for (uint32_t row = 0; row < a->rows; row++)
        for (int field = 0; field < NATIVE_FIELD_COUNT; field++)
            if (strcmp(a->cells[row][field], b->cells[row][field]) != 0)
                fail_msg("seed %llu, %s, row %u: '%s' was \"%s\" and is \"%s\"", (unsigned long long)seed, how, row,
                         native_columns[field].name, a->cells[row][field], b->cells[row][field]);
}

static bool is_named(const struct reason_tally *lost, enum native_field field)
{
    for (uint32_t i = 0; i < lost->reason_count; i++)
        if (job_columns[field].lost != NULL && strcmp(lost->reasons[i].why, job_columns[field].lost) == 0)
            return true;
    return false;
}

/* What a cell that is empty means; NULL: a cell always says something of its own. */
static const char *usual(enum native_field field)
{
    switch (field) {
    case NATIVE_NODES:
        return "1"; /* one GPU */
    case NATIVE_QUEUE:
        return "default";
    case NATIVE_CLASS:
        return "training";
    case NATIVE_PRIORITY:
        return "50";
    case NATIVE_PREEMPTIBLE:
        return "true";
    default:
        return "";
    }
}

/* The columns that SWF keeps as they are, found by reading the file again. */
static bool is_kept(const struct table *was, const struct table *is, uint32_t row, uint32_t at, enum native_field field)
{
    return strcmp(was->cells[row][field], is->cells[at][field]) == 0;
}

/* Each cell survives or its column is named. */
static void check_swf(const struct table *was, const struct table *is, const struct reason_tally *lost, uint64_t seed)
{
    uint32_t at = 0;
    for (uint32_t row = 0; row < was->rows; row++) {
        const bool is_piece = was->cells[row][NATIVE_GPU_MEMORY][0] != '\0' || was->cells[row][NATIVE_MIG][0] != '\0';
        if (was->cells[row][NATIVE_GPUS][0] == '0' && !is_piece)
            continue; /* it has no GPU, and is left out */
        for (int field = 0; field < NATIVE_FIELD_COUNT; field++)
            if (!is_kept(was, is, row, at, (enum native_field)field) &&
                strcmp(was->cells[row][field], usual((enum native_field)field)) != 0 &&
                !(field == NATIVE_GPUS && is_piece) && !is_named(lost, (enum native_field)field))
                fail_msg("seed %llu, SWF, row %u: '%s' was \"%s\", is \"%s\", and is not named among the losses",
                         (unsigned long long)seed, row, native_columns[field].name, was->cells[row][field],
                         is->cells[at][field]);
        at++;
    }
    assert_int_equal(at, is->rows);
}

static struct cluster *cluster_new(void)
{
    static const char text[] =
        "{\"pools\": [{\"name\": \"h\", \"nodes\": 50, \"gpus_per_node\": 8, \"gpu_model\": \"h100-80gb\", \"cpus\": "
        "64, "
        "\"memory_gb\": 512}, {\"name\": \"a\", \"nodes\": 10, \"gpus_per_node\": 8, \"gpu_model\": \"a100-80gb\", "
        "\"cpus\": 64, \"memory_gb\": 512}]}";
    struct json_doc *doc;
    struct error error = json_doc_parse(&doc, "cluster", (struct text){text, sizeof text - 1}, ERROR_CONFIG);
    assert_false(error_is(error));
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert_non_null(cluster);
    json_doc_free(doc);
    return cluster;
}

static void check_same_files(const char *a, const char *b, uint64_t seed, const char *how)
{
    struct buffer one = scratch_read(a), other = scratch_read(b);
    if (one.length != other.length || memcmp(one.bytes, other.bytes, one.length) != 0)
        fail_msg("seed %llu: %s changes the file", (unsigned long long)seed, how);
    buffer_release(&one);
    buffer_release(&other);
}

static uint32_t check(uint64_t seed, const struct cluster *cluster)
{
    static struct table table, read;
    struct reason_tally lost;
    random_stream_init(&stream, seed, "convert columns", 0);
    fill(&table);
    const char *path = write_table(&table, "random.csv");
    convert(path, "native", "a.csv", JOBS_NATIVE, cluster, &lost);
    if (lost.count > 0)
        fail_msg("seed %llu, native to native: %s", (unsigned long long)seed, lost.reasons[0].why);
    read_table(scratch_path("a.csv"), &read);
    check_equal(&table, &read, seed, "CSV to CSV");
    convert(scratch_path("a.csv"), "native", "b.jsonl", JOBS_JSONL, cluster, &lost);
    if (lost.count > 0)
        fail_msg("seed %llu, native to JSON lines: %s", (unsigned long long)seed, lost.reasons[0].why);
    convert(scratch_path("b.jsonl"), "jsonl", "c.csv", JOBS_NATIVE, cluster, &lost);
    if (lost.count > 0)
        fail_msg("seed %llu, JSON lines to native: %s", (unsigned long long)seed, lost.reasons[0].why);
    check_same_files("a.csv", "c.csv", seed, "CSV to JSON lines to CSV");
    bool has_gpu = false;
    for (uint32_t row = 0; row < table.rows; row++)
        has_gpu = has_gpu || table.cells[row][NATIVE_GPUS][0] != '0' || table.cells[row][NATIVE_MIG][0] != '\0' ||
                  table.cells[row][NATIVE_GPU_MEMORY][0] != '\0';
    if (!has_gpu)
        return table.rows;
    convert(scratch_path("a.csv"), "native", "d.swf", JOBS_SWF, cluster, &lost);
    struct reason_tally none;
    convert(scratch_path("d.swf"), "swf", "e.csv", JOBS_NATIVE, cluster, &none);
    read_table(scratch_path("e.csv"), &read);
    check_swf(&table, &read, &lost, seed);
    convert(scratch_path("d.swf"), "swf", "f.swf", JOBS_SWF, cluster, &none);
    convert(scratch_path("f.swf"), "swf", "g.csv", JOBS_NATIVE, cluster, &lost);
    if (none.count > 0)
        fail_msg("seed %llu, SWF to SWF: %s", (unsigned long long)seed, none.reasons[0].why);
    check_same_files("e.csv", "g.csv", seed, "SWF to SWF");
    return table.rows;
}

static void test_every_column(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new();
    const struct test_seeds seeds = test_seeds(12, 300);
    uint64_t rows = 0;
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        rows += check(seed, cluster);
    print_message("%llu traces, %llu rows\n", (unsigned long long)seeds.count, (unsigned long long)rows);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_column)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
