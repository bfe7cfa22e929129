/* tests/unit/test_queue_table.c -- the tree of queues: laws, defaults, and every way to get it wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/json_text.h"
#include "topologies/queue_table.h"

static struct error read_text(struct queue_table *table, const char *text)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    TRY(json_text_read(&doc, "q.json", text));
    struct json_value root = json_doc_root(doc, &error);
    queue_table_read(table, &root);
    json_doc_free(doc);
    return error;
}

static struct queue_table *table_of(const char *text)
{
    struct queue_table *table = queue_table_new();
    struct error error = read_text(table, text);
    assert_false(error_is(error));
    return table;
}

static void a_new_table_is_the_root(void **state)
{
    (void)state;
    struct queue_table *table = queue_table_new();
    assert_int_equal(table->count, 1);
    assert_string_equal(table->queues[QUEUE_ROOT].name, "");
    assert_int_equal(table->queues[QUEUE_ROOT].parent, QUEUE_NONE);
    assert_int_equal(table->queues[QUEUE_ROOT].limit[RESOURCE_GPU], QUOTA_UNLIMITED);
    assert_int_equal(queue_table_find(table, TEXT("")), QUEUE_ROOT);
    assert_int_equal(queue_table_find(table, TEXT("a")), QUEUE_NONE);
    queue_table_free(table);
    queue_table_free(NULL);
}

static void added_queues_have_the_defaults(void **state)
{
    (void)state;
    struct queue_table *table = queue_table_new();
    queue_id org = queue_table_add(table, TEXT("org"), QUEUE_ROOT);
    queue_id team = queue_table_add(table, TEXT("team"), org);
    const struct queue_spec *queue = &table->queues[team];
    assert_string_equal(queue->name, "team");
    assert_int_equal(queue->parent, org);
    assert_int_equal(queue->deserved[RESOURCE_GPU], 0);
    assert_int_equal(queue->limit[RESOURCE_GPU], QUOTA_UNLIMITED);
    assert_int_equal(queue->weight_milli[RESOURCE_GPU], 1000);
    assert_int_equal(queue->priority, 100);
    queue_table_free(table);
}

/* Traces name queues as they come: the same name is the same queue, far beyond one growth. */
static void queues_of_traces_are_added_once_under_the_root(void **state)
{
    (void)state;
    struct queue_table *table = queue_table_new();
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            char name[16];
            snprintf(name, sizeof name, "vc%u", i);
            assert_int_equal(queue_table_of(table, text_of(name)), i + 1);
        }
    }
    assert_int_equal(table->count, 1001);
    for (unsigned i = 1; i <= 1000; i++) {
        assert_int_equal(table->queues[i].parent, QUEUE_ROOT);
        assert_int_equal(queue_table_find(table, text_of(table->queues[i].name)), i);
    }
    assert_int_equal(queue_table_of(table, TEXT("")), QUEUE_ROOT);
    queue_table_free(table);
}

static void an_array_is_read_field_by_field(void **state)
{
    (void)state;
    struct queue_table *table = table_of("[{'name': 'org', 'parent': null, 'quota_gpus': 4},\n"
                                         " {'name': 'q0', 'parent': 'org', 'quota_gpus': 2.5, 'limit_gpus': -1,\n"
                                         "  'over_quota_weight': 0.25, 'priority': -3, '$comment': 'half'},\n"
                                         " {'name': 'q1', 'quota_gpus': -1, 'limit_gpus': 0}]");
    assert_int_equal(table->count, 4);
    const struct queue_spec *q0 = &table->queues[2], *q1 = &table->queues[3];
    assert_int_equal(table->queues[1].deserved[RESOURCE_GPU], 4000);
    assert_int_equal(q0->parent, 1);
    assert_int_equal(q0->deserved[RESOURCE_GPU], 2500);
    assert_int_equal(q0->limit[RESOURCE_GPU], QUOTA_UNLIMITED);
    assert_int_equal(q0->weight_milli[RESOURCE_GPU], 250);
    assert_int_equal(q0->weight_milli[RESOURCE_CPU], 1000); /* each resource has its own */
    assert_int_equal(q0->weight_milli[RESOURCE_MEMORY], 1000);
    assert_int_equal(q0->priority, -3);
    assert_int_equal(q1->parent, QUEUE_ROOT);
    assert_int_equal(q1->deserved[RESOURCE_GPU], QUOTA_UNLIMITED);
    assert_int_equal(q1->limit[RESOURCE_GPU], 0);
    assert_int_equal(q1->weight_milli[RESOURCE_GPU], 1000);
    queue_table_free(table);
    queue_table_free(table_of("[]"));
}

static void check_refused(const char *text, const char *first_line, const char *rest)
{
    struct queue_table *table = queue_table_new();
    struct error error = read_text(table, text);
    assert_true(error_is(error));
    char *report = error_text_new(&error);
    size_t length = strcspn(report, "\n");
    if (strlen(first_line) != length || strncmp(report, first_line, length) != 0)
        fail_msg("for %s\nexpected %s\ngot      %s", text, first_line, report);
    if (strstr(report, rest) == NULL)
        fail_msg("for %s\nexpected '%s' in\n%s", text, rest, report);
    free(report);
    error_release(&error);
    queue_table_free(table);
}

static void nonsense_is_refused_with_its_place(void **state)
{
    (void)state;
    check_refused("[{\"quota_gpus\": 1}]", "error: q.json:1:2: 'name' is missing", "at /0");
    check_refused("[{'name': ''}]", "error: q.json:1:11: a queue needs a name that is not empty", "at /0/name");
    check_refused("[{'name': 'a'},\n"
                  " {'name': 'a'}]",
                  "error: q.json:2:11: there is a queue named 'a' already", "at /1/name");
    check_refused("[{'name': 'b', 'parent': 'a'}, {'name': 'a'}]",
                  "error: q.json:1:26: no queue named 'a' stands before this one", "list a parent before its children");
    check_refused("[{'name': 'a', 'parent': 'a'}]", "error: q.json:1:26: no queue named 'a' stands before this one",
                  "at /0/parent");
    check_refused("[{'name': 'a', 'quota_gpus': -0.5}]",
                  "error: q.json:1:30: 'quota_gpus' must be -1 (unlimited) or not negative", "at /0/quota_gpus");
    check_refused("[{'name': 'a', 'quota': 1}]", "error: q.json:1:16: unknown key 'quota'", "at /0");
}

/* Every field away from its default, and a queue with none. */
static void what_was_written_reads_back(void **state)
{
    (void)state;
    static const char text[] = "[{'name':'a','quota_gpus':1.5,'quota_cpus':0.001,'quota_memory_gb':0.5,'limit_gpus':2,"
                               "'limit_cpus':3,'limit_memory_gb':4,'guarantee_gpus':5,'guarantee_cpus':6,"
                               "'guarantee_memory_gb':7,'borrowing_limit_gpus':0,'borrowing_limit_cpus':8,"
                               "'borrowing_limit_memory_gb':9,'lending_limit_gpus':10,'lending_limit_cpus':11,"
                               "'lending_limit_memory_gb':12,'over_quota_weight':0.25,'over_quota_weight_cpus':3,"
                               "'over_quota_weight_memory':2,'priority':-3,'age_s':86400,"
                               "'reclaim_min_runtime_s':'1ns','preempt_min_runtime_s':0,'usage_ratio':0.125,"
                               "'users':9},{'name':'b \\'','parent':'a','quota_gpus':-1},{'name':'c'}]";
    struct queue_table *table = table_of(text);
    struct buffer out = {0};
    queue_table_write(table, 1, &out);
    assert_json_text_equal(buffer_c_string(&out), text);
    out.length = 0;
    queue_table_write(table, 3, &out);
    assert_json_text_equal(buffer_c_string(&out), "[{'name':'c'}]");
    buffer_release(&out);
    queue_table_free(table);
}

static struct error merge_text(struct queue_table *table, const char *text)
{
    struct json_doc *doc;
    struct error error = ERROR_OK;
    TRY(json_text_read(&doc, "q.json", text));
    struct json_value root = json_doc_root(doc, &error);
    queue_table_merge(table, &root);
    json_doc_free(doc);
    return error;
}

static void a_merge_changes_and_adds(void **state)
{
    (void)state;
    struct queue_table *table = table_of("[{'name': 'a', 'quota_gpus': 4, 'priority': 7}]");
    struct error error = merge_text(table, "[{'name': 'a', 'limit_gpus': 9}, {'name': 'b', 'parent': 'a'}]");
    assert_false(error_is(error));
    assert_int_equal(table->count, 3);
    assert_int_equal(table->queues[1].deserved[RESOURCE_GPU], 0);
    assert_int_equal(table->queues[1].limit[RESOURCE_GPU], 9000);
    assert_int_equal(table->queues[1].priority, 100);
    assert_string_equal(table->queues[1].name, "a");
    error = merge_text(table, "[{'name': 'b'}]");
    assert_string_equal(error_message(&error), "the queue 'b' has another parent already");
    error_release(&error);
    queue_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_table_is_the_root),
        cmocka_unit_test(added_queues_have_the_defaults),
        cmocka_unit_test(queues_of_traces_are_added_once_under_the_root),
        cmocka_unit_test(an_array_is_read_field_by_field),
        cmocka_unit_test(nonsense_is_refused_with_its_place),
        cmocka_unit_test(what_was_written_reads_back),
        cmocka_unit_test(a_merge_changes_and_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
