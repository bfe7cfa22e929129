/* Each row of the table of a job's text, set to values that are not its usual one, on the wire, in a case and in the
 * hash of arrivals: it comes back as it was, or is refused.  tests/property/test_convert_columns.c fills the same rows
 * in traces. */
#include "tests/support/test.h"

#include "policies/wire/wire_fields.h"
#include "sim/cases/case.h"
#include "workloads/readers/job_columns.h"

/* The nth value of a row that is not its usual one. */
static int64_t value_of(const struct job_text *text, uint32_t nth)
{
    int64_t high = text->high, value;
    for (int names = 0; text->form == TEXT_NAME && text->names[names] != NULL; names++)
        high = names;
    if (text->form == TEXT_TIME || text->form == TEXT_PATIENCE)
        value = nth == 0 ? 1 : nth == 1 ? 90500000000 : 86400000000001;
    else
        value = nth == 0 ? text->low : nth == 1 ? high : text->low / 2 + high / 2;
    return value != text->usual ? value : value + (value < high ? 1 : -1);
}

TEST(test_wire)
{
    struct cluster *cluster = cluster_uniform_new(2, 8);
    struct queue_table *queues = queue_table_new();
    struct wire wire = {.cluster = cluster, .queues = queues};
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++)
        for (uint32_t nth = 0; nth < 3 && native_texts[field].at.bytes != 0 && !native_texts[field].is_truth; nth++) {
            const struct job_text *text = &native_texts[field];
            struct job job = job_default();
            struct buffer out = {0};
            struct json_doc *doc;
            job.first.request.gpus = 1;
            member_set(&text->at, &job, value_of(text, nth));
            wire_put_job(&out, cluster, queues, &job);
            struct error error = json_doc_parse(&doc, "wire", (struct text){out.bytes, out.length}, ERROR_DATA);
            assert_false(error_is(error));
            const struct json_value root = json_doc_root(doc, &error);
            const struct job *read = wire_get_job(&wire, &root);
            if (error_is(error))
                fail_msg("'%s': %s", text->key, error_message(&error));
            if (member_get(&text->at, read) != value_of(text, nth))
                fail_msg("'%s' was %lld and is %lld: %s", text->key, (long long)value_of(text, nth),
                         (long long)member_get(&text->at, read), buffer_c_string(&out));
            json_doc_free(doc);
            buffer_release(&out);
        }
    arena_release(&wire.arena);
    queue_table_free(queues);
    cluster_free(cluster);
}

/* A case whose job has the column with that value. */
static void case_write(enum native_field field, int64_t value, struct buffer *out)
{
    struct job job = job_default();
    struct job_truth truth = truth_default();
    const struct job_view view = {.job = &job, .truth = &truth};
    const struct job_text *text = &native_texts[field];
    const bool is_text = text->form == TEXT_NAME || (text->form == TEXT_PATIENCE && value == TIME_NEVER);
    member_set(&text->at, text->is_truth ? (void *)&truth : &job, value);
    buffer_format(out,
                  "{\"name\": \"c\", \"nodes\": [{\"name\": \"n\", \"gpus\": 1}], \"jobs\": [{\"name\": \"j\", "
                  "\"tasks\": [{\"gpus\": 1}], \"%s\": %s",
                  text->key, is_text ? "\"" : "");
    job_column_write(&view, field, out);
    buffer_format(out, "%s}], \"expect\": {\"j\": {\"running\": 1}}}", is_text ? "\"" : "");
}

TEST(test_case)
{
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++)
        for (uint32_t nth = 0; nth < 3 && native_texts[field].at.bytes != 0; nth++) {
            const struct job_text *text = &native_texts[field];
            struct case_file file;
            struct buffer out = {0};
            if (field == NATIVE_PREEMPTIBLE || field == NATIVE_DEADLINE)
                continue; /* the default of the one depends on the priority, the other counts from the first round */
            case_write((enum native_field)field, value_of(text, nth), &out);
            struct error error = case_file_read_text(&file, "case", (struct text){out.bytes, out.length}, NULL, NULL);
            assert_false(error_is(error));
            const struct case_spec *spec = &file.cases[0];
            const bool is_refused = error_is(spec->error);
            if (is_refused != ((text->where & TEXT_CASE) == 0))
                fail_msg("'%s': %s", text->key, is_refused ? error_message(&spec->error) : "it is not refused");
            if (is_refused)
                assert_non_null(strstr(error_message(&spec->error), "unknown key"));
            else
                assert_int_equal(member_get(&text->at, &spec->jobs[0].job), value_of(text, nth));
            case_file_release(&file);
            buffer_release(&out);
        }
}

/* What a job that says nothing is, is what the table says. */
TEST(test_usual)
{
    const struct job job = job_default();
    const struct job_truth truth = truth_default();
    for (int field = 0; field < NATIVE_FIELD_COUNT; field++) {
        const struct job_text *text = &native_texts[field];
        if (text->at.bytes != 0 && member_get(&text->at, text->is_truth ? (const void *)&truth : &job) != text->usual)
            fail_msg("'%s' is not usually %lld", text->key, (long long)text->usual);
    }
}
