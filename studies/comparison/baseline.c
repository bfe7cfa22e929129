#include "studies/comparison/baseline.h"

#include <float.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json_file.h"
#include "base/output.h"
#include "studies/comparison/comparison.h"
#include "studies/run/replay_shake.h"

enum { BASELINE_BYTES_MAX = 256 << 20 };

/* ---- The digest of a scenario ---- */

/* Leave the file's name alone. */
static void drop_folder(json_t *object, const char *key)
{
    const char *path = json_string_value(json_object_get(object, key));
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash != NULL)
        json_object_set_new(object, key, json_string(slash + 1));
}

void baseline_scenario_digest(const char *scenario_json, char hex[33])
{
    static const char *const free_keys[] = {"policy", "plugins",        "seed",  "title",
                                            "name",   "service_levels", "gates", "$comment"};
    json_t *root = json_loads(scenario_json, 0, NULL);
    for (size_t k = 0; k < sizeof free_keys / sizeof *free_keys; k++)
        json_object_del(root, free_keys[k]);
    drop_folder(json_object_get(root, "workload"), "trace");
    drop_folder(json_object_get(root, "world"), "capacity");
    drop_folder(root, "cluster");
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    hash_hex(text != NULL ? text : "", text != NULL ? strlen(text) : 0, hex);
    mem_free(text);
    json_decref(root);
}

/* ---- What is kept ---- */

static bool is_always_kept(const struct metric_selector *of)
{
    return of->cut == NULL || strcmp(of->cut, "class") == 0 || strcmp(of->cut, "workload_class") == 0;
}

bool baseline_keeps(const struct baseline *baseline, const struct metric_selector *of)
{
    for (size_t run = 0; run < baseline->run_count; run++)
        for (size_t i = 0; i < baseline->runs[run].values.count; i++)
            if (metric_selector_is_same(&baseline->runs[run].values.list[i].of, of))
                return true;
    return is_always_kept(of);
}

/* ---- Writing ---- */

static bool is_gated(const struct gates *gates, const struct metric_selector *of)
{
    for (size_t g = 0; g < gates->count; g++) {
        const struct metric_selector *other = &gates->gates[g].of;
        if (other->cut != NULL && strcmp(other->metric, of->metric) == 0 && strcmp(other->cut, of->cut) == 0 &&
            strcmp(other->key, of->key) == 0)
            return true;
    }
    return false;
}

static bool is_kept(const struct gates *gates, const struct metric_selector *of)
{
    return is_always_kept(of) || is_gated(gates, of);
}

/* Objects may be written in pieces: what the last row had open is closed when another cut or key begins. */
static void write_step(struct buffer *out, const struct metric_selector *before, const struct metric_selector *of)
{
    const bool is_new_cut =
        before == NULL || before->cut == NULL || of->cut == NULL || strcmp(before->cut, of->cut) != 0;
    const bool is_new_key = is_new_cut || strcmp(before->key, of->key) != 0;
    if (of->cut == NULL) {
        buffer_string(out, before == NULL ? "\n" : ",\n");
        return;
    }
    if (!is_new_key) {
        buffer_string(out, ",\n");
        return;
    }
    if (before != NULL && before->cut != NULL)
        buffer_string(out, is_new_cut ? "}}" : "}");
    else
        buffer_string(out, "},\n \"by\": {");
    if (before != NULL && before->cut != NULL)
        buffer_char(out, ',');
    if (is_new_cut)
        buffer_format(out, "\n  \"%s\": {", of->cut);
    buffer_string(out, "\n   ");
    buffer_json(out, text_of(of->key));
    buffer_string(out, ": {\n");
}

/* By cut and key, so that those of an object are together; then as in the array that the pointers are into. */
static int compare_rows(const void *a, const void *b)
{
    const struct comparison_row *const *first = a, *const *second = b;
    const struct metric_selector *x = &(*first)->of, *y = &(*second)->of;
    int order = strcmp(x->cut != NULL ? x->cut : "", y->cut != NULL ? y->cut : "");
    if (order == 0 && x->cut != NULL)
        order = strcmp(x->key, y->key);
    return order != 0 ? order : *first < *second ? -1 : *first > *second;
}

static void write_values(const struct comparison *comparison, size_t side, struct buffer *out)
{
    const struct metric_selector *before = NULL;
    const struct comparison_row **rows = mem_zalloc(comparison->row_count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t r = 0; r < comparison->row_count; r++)
        if (is_kept(&comparison->gates, &comparison->rows[r].of))
            rows[count++] = &comparison->rows[r];
    qsort(rows, count, sizeof *rows, compare_rows);
    buffer_string(out, "\"values\": {\"metrics\": {");
    for (size_t r = 0; r < count; r++) {
        const struct comparison_row *row = rows[r];
        write_step(out, before, &row->of);
        buffer_members(out, "    %s: [", row->of.metric);
        for (size_t seed = 0; seed < comparison->seed_count; seed++)
            buffer_members(out, ", %g", row->numbers[side * comparison->seed_count + seed]);
        buffer_char(out, ']');
        before = &row->of;
    }
    buffer_string(out, before != NULL && before->cut != NULL ? "}}}}}\n" : "}}}\n");
    mem_free(rows);
}

struct error baseline_save(const char *path, const struct comparison *comparison, size_t side)
{
    const struct comparison_side *own = &comparison->sides[side];
    struct output *output;
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    struct buffer *out = output_buffer(output);
    buffer_members(out,
                   "{'baseline_schema_version': %d,\n'windtunnel_version': %s,\n'scenario': %s,\n'replay_shake': %s,\n"
                   "'runs': [",
                   BASELINE_SCHEMA_VERSION, own->runs[0].values.result.manifest.version, own->scenario_digest,
                   comparison->is_shaken ? REPLAY_SHAKE : "");
    for (size_t seed = 0; seed < comparison->seed_count; seed++) {
        const struct comparison_run *run = &own->runs[seed];
        const struct result_manifest *manifest = &run->values.result.manifest;
        buffer_members(out, ",\n  {'seed': %llu, 'fingerprint': %s, 'arrivals': %s, 'has_chance': %hhd}",
                       (unsigned long long)run->seed, manifest->fingerprint,
                       manifest->arrivals != NULL ? manifest->arrivals : "", run->has_chance);
    }
    buffer_string(out, "],\n");
    write_values(comparison, side, out);
    return output_commit(&output);
}

/* ---- Reading ---- */

static void read_runs(struct baseline *baseline, struct json_object *root)
{
    json_need(root, "runs");
    struct json_value runs = json_member(root, "runs");
    const size_t count = json_array_count(&runs);
    if (count == 0 || count > COMPARISON_SEEDS_MAX)
        json_fail(&runs, "'runs' must hold 1 to %d runs", COMPARISON_SEEDS_MAX);
    baseline->runs = arena_alloc_array(&baseline->arena, count + 1, struct baseline_run);
    baseline->run_count = count;
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&runs, i);
        struct json_object object;
        struct result_manifest *manifest = &baseline->runs[i].values.result.manifest;
        json_object_open(&object, &item);
        json_need(&object, "seed");
        manifest->version = baseline->version;
        manifest->seed = (uint64_t)json_get_int(&object, "seed", 0, INT64_MAX, 0);
        manifest->fingerprint = arena_copy(&baseline->arena, text_of(json_get_string(&object, "fingerprint", "")));
        const char *arrivals = json_get_string(&object, "arrivals", "");
        manifest->arrivals = arrivals[0] != '\0' ? arena_copy(&baseline->arena, text_of(arrivals)) : NULL;
        baseline->runs[i].has_chance = json_get_bool(&object, "has_chance", true);
        json_object_close(&object);
    }
}

static void add_value(struct values *values, const struct metric *metric, const char *cut, const char *key,
                      double number)
{
    MEM_GROW(values->list, values->capacity, values->count + 1);
    values->list[values->count++] =
        (struct value){.of = {.metric = metric->name, .cut = cut, .key = key}, .metric = metric, .number = number};
}

/* A metric that this program does not know any more is left out. */
static void read_group(struct baseline *baseline, const struct json_value *group, const char *cut, const char *key)
{
    struct json_object object;
    const char *name;
    json_object_open(&object, group);
    for (size_t m = 0; (name = json_object_key(&object, m)) != NULL; m++) {
        struct json_value numbers = json_member(&object, name);
        const struct metric *metric = metric_find(name);
        if (json_array_count(&numbers) != baseline->run_count) {
            json_fail(&numbers, "'%s' must hold a value for each of the %zu runs", name, baseline->run_count);
            return;
        }
        for (size_t i = 0; i < baseline->run_count && metric != NULL; i++) {
            struct json_value number = json_array_item(&numbers, i);
            if (number.node != NULL && !json_is_null(number.node))
                add_value(&baseline->runs[i].values, metric, cut, key, json_value_real(&number, -DBL_MAX, DBL_MAX));
        }
    }
}

static void read_values(struct baseline *baseline, struct json_object *root)
{
    struct json_object values, by, keys;
    const char *cut, *key;
    json_need(root, "values");
    struct json_value value = json_member(root, "values");
    json_object_open(&values, &value);
    json_need(&values, "metrics");
    struct json_value group = json_member(&values, "metrics"), cuts = json_member(&values, "by");
    read_group(baseline, &group, NULL, NULL);
    json_object_close(&values);
    if (cuts.node == NULL)
        return;
    json_object_open(&by, &cuts);
    for (size_t c = 0; (cut = json_object_key(&by, c)) != NULL; c++) {
        struct json_value groups = json_member(&by, cut);
        json_object_open(&keys, &groups);
        for (size_t k = 0; (key = json_object_key(&keys, k)) != NULL; k++) {
            struct json_value of_key = json_member(&keys, key);
            read_group(baseline, &of_key, arena_copy(&baseline->arena, text_of(cut)),
                       arena_copy(&baseline->arena, text_of(key)));
        }
    }
}

static struct error read_doc(struct baseline *baseline, struct json_doc *doc)
{
    struct error error = ERROR_OK;
    struct json_value value = json_doc_root(doc, &error);
    struct json_object root;
    json_object_open(&root, &value);
    json_need(&root, "baseline_schema_version");
    struct json_value version = json_member(&root, "baseline_schema_version");
    const int64_t number = json_get_int(&root, "baseline_schema_version", 1, INT32_MAX, BASELINE_SCHEMA_VERSION);
    if (number != BASELINE_SCHEMA_VERSION)
        json_fail(&version,
                  "'baseline_schema_version' is %lld, and this program reads %d only: save the baseline again",
                  (long long)number, BASELINE_SCHEMA_VERSION);
    json_need(&root, "windtunnel_version");
    baseline->version = arena_copy(&baseline->arena, text_of(json_get_string(&root, "windtunnel_version", "")));
    json_need(&root, "scenario");
    baseline->scenario_digest = arena_copy(&baseline->arena, text_of(json_get_string(&root, "scenario", "")));
    if (strlen(baseline->scenario_digest) != 32) {
        struct json_value digest = json_member(&root, "scenario");
        json_fail(&digest, "'scenario' must be a digest of 32 hex digits");
    }
    baseline->replay_shake = arena_copy(&baseline->arena, text_of(json_get_string(&root, "replay_shake", "")));
    read_runs(baseline, &root);
    if (!error_is(error))
        read_values(baseline, &root);
    json_object_close(&root);
    return error;
}

struct error baseline_read(struct baseline *out, const char *path)
{
    struct json_doc *doc;
    *out = (struct baseline){0};
    TRY(json_file_read(&doc, path, BASELINE_BYTES_MAX, ERROR_CONFIG, NULL));
    out->path = arena_copy(&out->arena, text_of(path));
    struct error error = read_doc(out, doc);
    json_doc_free(doc);
    if (error_is(error))
        baseline_release(out);
    return error;
}

void baseline_release(struct baseline *baseline)
{
    for (size_t i = 0; i < baseline->run_count; i++)
        values_release(&baseline->runs[i].values);
    arena_release(&baseline->arena);
    *baseline = (struct baseline){0};
}
