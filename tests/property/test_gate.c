/* Law: what comes with an untrusted file names no path and no code.
 *
 * The schema of a scenario, which is learned from its readers, gives each key whose value is a string, with a document
 * in which it is read.  A path of a file that nobody may open, the canary, is put there, and the document into a bundle
 * and a record, at the key's own place, and in `policy.set` too.  The kernel (inotify) says whether the canary was
 * opened: in containers never; as a scenario of the user it is opened exactly at the keys that ask the gate.  So a new
 * key that opens what it names, and does not ask, fails here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "sim/scenario/scenario.h"
#include "studies/bundle/bundle.h"
#include "studies/run/record_gate.h"
#include "tools/schema_inside.h"
#include "tools/verbs.h"

static char folder[64], canary[96], bundle_path[96], sample_digest[33];
static int watch;

/* What the other names of a document, which are all SCHEMA_SAMPLE, lead to: so that none of them hides the canary. */
#define SAMPLE_LINES "job_id,submit_s,duration_s,gpus"
static const char *const roles[] = {"trace", "columns", "table", "model", "cluster", "typical", "capacity", "policy"};
enum { ROLE_COUNT = sizeof roles / sizeof *roles };

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_gate.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(canary, sizeof canary, "%s/canary.json", folder);
    snprintf(bundle_path, sizeof bundle_path, "%s.bundle.json", folder);
    FILE *file = fopen(canary, "w");
    assert_non_null(file);
    fputs("{\"a secret\": 1}\n", file);
    fclose(file);
    assert_int_equal(chdir(folder), 0);
    file = fopen(SCHEMA_SAMPLE, "w");
    assert_non_null(file);
    fputs(SAMPLE_LINES "\n1,0,10,1\n", file);
    fclose(file);
    assert_false(error_is(input_digest(SCHEMA_SAMPLE, sample_digest)));
    watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return watch < 0 || inotify_add_watch(watch, canary, IN_OPEN) < 0;
}

static int end(void **state)
{
    (void)state;
    close(watch);
    unlink(canary);
    unlink(SCHEMA_SAMPLE);
    unlink(bundle_path);
    return rmdir(folder);
}

static bool was_opened(void)
{
    char events[4096];
    bool was = false;
    while (read(watch, events, sizeof events) > 0)
        was = true;
    return was;
}

/* ---- Documents ---- */

/* A copy of the document with the canary at the node; NULL: something else stands on the way. */
static json_t *with_canary(const json_t *document, const struct schema_node *node)
{
    const struct schema_node *path[64];
    size_t depth = 0;
    for (const struct schema_node *at = node; at->parent != NULL && depth < 64; at = at->parent)
        path[depth++] = at;
    json_t *copy = json_deep_copy(document), *at = copy;
    while (depth-- > 0) {
        const struct schema_node *step = path[depth];
        const bool is_item = step == step->parent->item;
        const char *key = step->key != NULL ? step->key : SCHEMA_SAMPLE;
        if (is_item ? !json_is_array(at) : !json_is_object(at)) {
            json_decref(copy);
            return NULL;
        }
        json_t *next = is_item ? json_array_get(at, 0) : json_object_get(at, key);
        if (depth == 0)
            next = json_string(canary);
        else if (next == NULL || json_is_null(next))
            next = path[depth - 1] == step->item ? json_array() : json_object();
        else
            json_incref(next);
        if (is_item && json_array_size(at) > 0)
            json_array_set_new(at, 0, next);
        else if (is_item)
            json_array_append_new(at, next);
        else
            json_object_set_new(at, key, next);
        at = next;
    }
    return copy;
}

/* The same with the policy's fields in "set" over a preset; NULL: there are none. */
static json_t *with_set(const json_t *document)
{
    json_t *copy = json_deep_copy(document), *policy = json_incref(json_object_get(copy, "policy"));
    if (json_object_size(policy) == 0 || json_object_get(policy, "preset") != NULL) {
        json_decref(policy);
        json_decref(copy);
        return NULL;
    }
    json_object_set_new(copy, "policy", json_pack("{s:s, s:o}", "preset", "fgd", "set", policy));
    return copy;
}

/* ---- Readings ---- */

static bool has_asked;

static void on_ask(void *self, const struct json_value *value, const struct json_ask *ask)
{
    (void)self;
    const char *text = json_string_value(value->node);
    has_asked |= ask->question == JSON_ASK_FILE && text != NULL && strcmp(text, canary) == 0;
}

static void load(const struct scenario_options *options)
{
    struct scenario scenario;
    struct job_source *source = NULL;
    struct error error = scenario_load(&scenario, options);
    if (!error_is(error)) {
        error = scenario_open(&scenario, &source);
        job_source_close(source);
        scenario_release(&scenario);
    }
    error_release(&error);
}

static void load_as_users(const char *text)
{
    const struct json_listener listener = {.on_ask = on_ask};
    load(&(struct scenario_options){.text = text, .gate = &scenario_open_gate, .listener = &listener});
}

static void load_as_bundle(const char *text)
{
    static const char before[] = "{\"bundle_version\": 1, \"version\": \"0\", \"fingerprint\": \"0\", \"arrivals\": "
                                 "\"0\", \"inputs\": [";
    struct bundle bundle;
    struct scenario_options options;
    FILE *file = fopen(bundle_path, "w");
    assert_non_null(file);
    fputs(before, file);
    for (int i = 0; i < ROLE_COUNT; i++)
        fprintf(file, "%s{\"role\": \"%s\", \"name\": \"" SCHEMA_SAMPLE "\", \"digest\": \"%s\", \"text\": \"%s\"}",
                i > 0 ? ", " : "", roles[i], sample_digest, SAMPLE_LINES "\\n1,0,10,1\\n");
    fprintf(file, "], \"metrics\": {}, \"scenario\": %s}", text);
    fclose(file);
    struct error error = bundle_read(&bundle, bundle_path);
    assert_false(error_is(error));
    options = bundle_scenario(&bundle, 0);
    load(&options);
    bundle_release(&bundle);
}

/* trusted: the record's own folder, whose manifest does not list the canary; NULL: nothing. */
static void load_as_record(const char *text, const char *trusted)
{
    struct result_input inputs[ROLE_COUNT];
    for (int i = 0; i < ROLE_COUNT; i++)
        inputs[i] = (struct result_input){.role = roles[i], .name = SCHEMA_SAMPLE, .digest = sample_digest};
    const struct result record = {.manifest = {.scenario_json = text, .inputs = inputs, .input_count = ROLE_COUNT}};
    struct scenario_options options = {.text = text, .trusted = &trusted, .trusted_count = trusted != NULL};
    struct record_gate gate;
    record_gate_init(&gate, folder, &record, &options);
    options.gate = &gate.gate;
    load(&options);
    record_gate_release(&gate);
}

/* ---- The walk ---- */

struct tally {
    size_t strings, files, containers;
};

static void say_where(const struct schema_node *node)
{
    if (node->parent != NULL)
        say_where(node->parent);
    print_message("/%s", node->key != NULL ? node->key : "*");
}

static void check(bool is_good, const struct schema_node *node, const char *what, const char *text)
{
    if (is_good)
        return;
    say_where(node);
    print_message("\n");
    fail_msg("%s: %s", what, text);
}

static void try_containers(const struct schema_node *node, const char *text, struct tally *tally)
{
    load_as_bundle(text);
    check(!was_opened(), node, "a bundle opened what it names", text);
    load_as_record(text, NULL);
    check(!was_opened(), node, "a record opened what it names", text);
    load_as_record(text, folder);
    check(!was_opened(), node, "a trusted record opened what its manifest does not list", text);
    load(&(struct scenario_options){.text = text});
    check(!was_opened(), node, "a text without a gate opened what it names", text);
    tally->containers += 4;
}

/* Tables are opened after a trace that has some. */
static json_t *with_table(void)
{
    return json_pack("{s:{s:[{s:i, s:i}]}, s:{s:s, s:{s:{s:s, s:s, s:s, s:s}, s:{s:{s:{s:s}, s:{s:s}}}}, s:{s:s}}}",
                     "cluster", "pools", "nodes", 1, "gpus_per_node", 8, "workload", "trace", SCHEMA_SAMPLE, "columns",
                     "fields", "job_id", "job_id", "submit_s", "submit_s", "duration_s", "duration_s", "gpus", "gpus",
                     "tables", SCHEMA_SAMPLE, "key", "job_id", "job_id", "fields", "user", "user", "tables",
                     SCHEMA_SAMPLE, canary);
}

/* Does a scenario of the user open it there? */
static bool try_document(const struct schema_node *node, json_t *document, struct tally *tally)
{
    if (document == NULL)
        return false;
    char *text = json_dumps(document, JSON_COMPACT);
    has_asked = false;
    load_as_users(text);
    const bool is_opened = was_opened();
    check(!is_opened || has_asked, node, "a key opened what it names and did not ask the gate", text);
    try_containers(node, text, tally);
    free(text);
    json_decref(document);
    return is_opened;
}

static void test_walk(void **state)
{
    (void)state;
    struct tally tally = {0};
    struct schema *schema = schema_kind_learn_new(0);
    assert_string_equal(schema_kind_name(0), "scenario");
    for (size_t i = 0; i < schema->node_count; i++) {
        const struct schema_node *node = schema->nodes[i];
        bool is_opened = false;
        if (!schema_is_asked(node, JSON_ASK_STRING))
            continue;
        const json_t *homes[] = {node->home, node->accepted_home};
        for (size_t h = 0; h < 2; h++) {
            json_t *document = homes[h] != NULL ? with_canary(homes[h], node) : NULL;
            json_t *set = document != NULL ? with_set(document) : NULL;
            is_opened |= try_document(node, document, &tally);
            is_opened |= try_document(node, set, &tally);
        }
        if (node->parent->key != NULL && strcmp(node->parent->key, "tables") == 0)
            is_opened |= try_document(node, with_table(), &tally);
        tally.strings++;
        tally.files += is_opened;
        if (is_opened)
            say_where(node), print_message("\n");
        check(is_opened || !schema_is_asked(node, JSON_ASK_FILE), node, "the user's own file was not opened", "");
    }
    schema_free(schema);
    print_message("note: %zu keys of strings, of which %zu open files, in %zu containers: none was opened\n",
                  tally.strings, tally.files, tally.containers);
    assert_true(tally.files >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walk)};
    return cmocka_run_group_tests(tests, begin, end);
}
