/* studies/sweep/sweep_plan_file.c -- a plan as files; see studies/sweep/sweep_plan.h. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/json_file.h"
#include "base/output.h"
#include "studies/sweep/sweep_plan_inside.h"

enum { PLAN_VERSION = 1, RUN_CELLS = 3 };
#define PLAN_BYTES_MAX           (UINT64_C(1) << 32)
#define CONFIGURATIONS_BYTES_MAX (UINT64_C(1) << 36)

static char *path_new(const char *folder, const char *name)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/%s", folder, name);
    buffer_c_string(&path);
    return path.bytes;
}

/* ---- writing ---- */

static void write_level(struct buffer *out, const struct sweep_level *level)
{
    buffer_members(out, ",\n    {'name': %s", level->name);
    if (level->is_number)
        buffer_members(out, ", 'number': %g", level->number);
    buffer_members(out, ", 'sets': [");
    for (size_t s = 0; s < level->set_count; s++)
        buffer_members(out, ", %s", level->sets[s]);
    buffer_string(out, "]}");
}

static void write_factors(struct buffer *out, const struct sweep_plan *plan)
{
    buffer_members(out, ",\n'factors': [");
    for (size_t f = 0; f < plan->factor_count; f++) {
        buffer_members(out, ",\n  {'name': %s, 'levels': [", plan->factors[f].name);
        for (size_t l = 0; l < plan->factors[f].level_count; l++)
            write_level(out, &plan->factors[f].levels[l]);
        buffer_string(out, "]}");
    }
    buffer_members(out, "],\n'combinations': [");
    for (size_t c = 0; c < plan->combination_count; c++) {
        buffer_members(out, ",\n  [");
        for (size_t f = 0; f < plan->factor_count; f++)
            buffer_members(out, ", %u", plan->levels[c * plan->factor_count + f]);
        buffer_char(out, ']');
    }
}

static void write_inputs(struct buffer *out, const struct sweep_plan *plan)
{
    buffer_members(out, ",\n'inputs': [");
    for (size_t i = 0; i < plan->input_count; i++)
        buffer_members(out, ",\n  {'role': %s, 'name': %s, 'digest': %s}", plan->inputs[i].role, plan->inputs[i].name,
                       plan->inputs[i].digest);
    buffer_char(out, ']');
}

static void write_plan(struct buffer *out, const struct sweep_plan *plan, const char *configurations)
{
    buffer_members(out, "{'sweep_plan': %d,\n'version': %s", PLAN_VERSION, plan->version);
    if (plan->title != NULL)
        buffer_members(out, ",\n'title': %s", plan->title);
    buffer_members(out, ",\n'paths_folder': %s,\n'configurations': %s", plan->paths_folder, configurations);
    write_inputs(out, plan);
    write_factors(out, plan);
    buffer_members(out, "],\n'seeds': [");
    for (size_t s = 0; s < plan->seed_count; s++)
        buffer_members(out, ", %llu", (unsigned long long)plan->seeds[s]);
    buffer_members(out, "],\n'runs': [");
    for (size_t r = 0; r < plan->run_count; r++)
        buffer_members(out, ",\n  [%s, %u, %llu]", plan->runs[r].key, plan->runs[r].combination,
                       (unsigned long long)plan->runs[r].seed);
    buffer_string(out, "]}\n");
}

static void hash_configurations(const struct sweep_plan *plan, char hex[33])
{
    struct hash_stream *hash = hash_stream_new();
    for (size_t c = 0; c < plan->combination_count; c++) {
        hash_stream_add(hash, plan->configurations[c], strlen(plan->configurations[c]));
        hash_stream_add(hash, "\n", 1);
    }
    hash_stream_hex(hash, hex);
    hash_stream_free(hash);
}

static struct error write_configurations(const struct sweep_plan *plan, const char *folder)
{
    struct output *output;
    TRY(output_open_inside(&output, folder, SWEEP_CONFIGURATIONS_FILE, OUTPUT_ZSTD));
    for (size_t c = 0; c < plan->combination_count; c++) {
        buffer_string(output_buffer(output), plan->configurations[c]);
        buffer_char(output_buffer(output), '\n');
        struct error error = output_flush_if_full(output);
        if (error_is(error)) {
            output_discard(&output);
            return error;
        }
    }
    return output_commit(&output);
}

/* Does the folder hold this plan already?  Another one is an error. */
static struct error find_plan(const char *folder, const struct buffer *text, bool *is_there)
{
    char *path = path_new(folder, SWEEP_PLAN_FILE), *bytes = NULL;
    size_t length = 0;
    struct stat status;
    *is_there = lstat(path, &status) == 0;
    struct error error = !*is_there && errno != ENOENT ? error_io("look at", path, errno) : ERROR_OK;
    if (*is_there)
        error = input_read_all(path, PLAN_BYTES_MAX, &bytes, &length);
    if (*is_there && !error_is(error) && (length != text->length || memcmp(bytes, text->bytes, length) != 0)) {
        error = error_new(ERROR_CONFIG, "%s holds another plan, which is not replaced", folder);
        error_set_hint(&error, "choose another folder, or remove this one");
    }
    mem_free(bytes);
    mem_free(path);
    return error;
}

static struct error write_files(const struct sweep_plan *plan, const char *folder, const struct buffer *text)
{
    struct output *output;
    char *runs = path_new(folder, KEPT_RUNS_FOLDER);
    struct error error = output_make_folder(runs);
    mem_free(runs);
    TRY(error);
    TRY(write_configurations(plan, folder));
    TRY(output_open_inside(&output, folder, SWEEP_PLAN_FILE, OUTPUT_PLAIN));
    buffer_bytes(output_buffer(output), text->bytes, text->length);
    return output_commit(&output);
}

static struct error write_all(const struct sweep_plan *plan, const char *folder, const struct buffer *text)
{
    struct folder *held;
    bool is_there;
    TRY(folder_open(&held, folder));
    struct error error = find_plan(folder, text, &is_there);
    if (!error_is(error) && !is_there)
        error = write_files(plan, folder, text);
    folder_close(&held);
    return error;
}

struct error sweep_plan_write(struct sweep_plan *plan, const char *folder)
{
    struct buffer text = {0};
    char configurations[33];
    hash_configurations(plan, configurations);
    write_plan(&text, plan, configurations);
    struct error error = write_all(plan, folder, &text);
    if (!error_is(error))
        hash_hex(text.bytes, text.length, plan->digest);
    buffer_release(&text);
    return error;
}

/* ---- reading ---- */

static const char *copied(struct sweep_plan *plan, const char *text)
{
    return text != NULL ? arena_copy(&plan->arena, text_of(text)) : NULL;
}

static void read_digest(struct json_object *object, const char *key, char hex[33])
{
    struct json_value value = json_member(object, key);
    json_need(object, key);
    const char *text = json_get_string(object, key, "");
    if (strlen(text) == 32)
        memcpy(hex, text, 33);
    else
        json_fail(&value, "a digest has 32 digits");
}

static void read_inputs(struct sweep_plan *plan, const struct json_value *value)
{
    const size_t count = json_array_count(value);
    MEM_GROW(plan->inputs, plan->input_capacity, count + 1);
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        struct json_value item = json_array_item(value, i);
        struct json_object object;
        struct sweep_input *input = &plan->inputs[plan->input_count++];
        json_object_open(&object, &item);
        *input = (struct sweep_input){.role = copied(plan, json_get_string(&object, "role", "")),
                                      .name = copied(plan, json_get_string(&object, "name", ""))};
        read_digest(&object, "digest", input->digest);
        json_object_close(&object);
    }
}

static void read_level(struct sweep_plan *plan, const struct json_value *value, struct sweep_level *level)
{
    struct json_object object;
    json_object_open(&object, value);
    json_need(&object, "name");
    level->name = copied(plan, json_get_string(&object, "name", ""));
    struct json_value number = json_member(&object, "number"), sets = json_member(&object, "sets");
    level->is_number = number.node != NULL;
    level->number = json_get_real(&object, "number", -1e308, 1e308, 0);
    const size_t count = json_array_count(&sets);
    const char **list = arena_alloc_array(&plan->arena, count + 1, const char *);
    for (size_t s = 0; s < count; s++) {
        const struct json_value item = json_array_item(&sets, s);
        list[level->set_count++] = copied(plan, json_value_string(&item));
    }
    level->sets = list;
    json_object_close(&object);
}

static void read_factors(struct sweep_plan *plan, const struct json_value *value)
{
    const size_t count = json_array_count(value);
    plan->factors = arena_alloc_array(&plan->arena, count + 1, struct sweep_factor);
    for (size_t f = 0; f < count && !error_is(*value->error); f++) {
        struct json_value item = json_array_item(value, f);
        struct json_object object;
        struct sweep_factor *factor = &plan->factors[plan->factor_count++];
        json_object_open(&object, &item);
        json_need(&object, "name");
        json_need(&object, "levels");
        factor->name = copied(plan, json_get_string(&object, "name", ""));
        struct json_value list = json_member(&object, "levels");
        factor->level_count = json_array_count(&list);
        struct sweep_level *levels = arena_alloc_array(&plan->arena, factor->level_count + 1, struct sweep_level);
        factor->levels = levels;
        for (size_t l = 0; l < factor->level_count && !error_is(*value->error); l++) {
            const struct json_value level = json_array_item(&list, l);
            read_level(plan, &level, &levels[l]);
        }
        json_object_close(&object);
    }
}

static void read_combinations(struct sweep_plan *plan, const struct json_value *value)
{
    const size_t width = plan->factor_count;
    plan->combination_count = json_array_count(value);
    if (plan->combination_count == 0)
        json_fail(value, "there is no combination");
    plan->levels = arena_alloc_array(&plan->arena, plan->combination_count * width + 1, uint32_t);
    for (size_t c = 0; c < plan->combination_count && !error_is(*value->error); c++) {
        const struct json_value row = json_array_item(value, c);
        if (json_array_count(&row) != width)
            json_fail(&row, "a combination has a level of each of the %zu factors", width);
        for (size_t f = 0; f < width && !error_is(*value->error); f++) {
            const struct json_value item = json_array_item(&row, f);
            plan->levels[c * width + f] = (uint32_t)json_value_int(&item, 0, (int64_t)plan->factors[f].level_count - 1);
        }
    }
}

static void read_seeds(struct sweep_plan *plan, const struct json_value *value)
{
    plan->seed_count = json_array_count(value);
    if (plan->seed_count == 0)
        json_fail(value, "there is no seed");
    plan->seeds = arena_alloc_array(&plan->arena, plan->seed_count + 1, uint64_t);
    for (size_t s = 0; s < plan->seed_count && !error_is(*value->error); s++) {
        const struct json_value item = json_array_item(value, s);
        plan->seeds[s] = (uint64_t)json_value_int(&item, 0, INT64_MAX);
    }
}

static void read_runs(struct sweep_plan *plan, const struct json_value *value)
{
    plan->run_count = json_array_count(value);
    if (plan->run_count != plan->combination_count * plan->seed_count)
        json_fail(value, "%zu combinations with %zu seeds are %zu runs, not %zu", plan->combination_count,
                  plan->seed_count, plan->combination_count * plan->seed_count, plan->run_count);
    plan->runs = arena_alloc_array(&plan->arena, plan->run_count + 1, struct sweep_run);
    for (size_t r = 0; r < plan->run_count && !error_is(*value->error); r++) {
        const struct json_value row = json_array_item(value, r);
        if (json_array_count(&row) != RUN_CELLS)
            json_fail(&row, "a run is [KEY, COMBINATION, SEED]");
        if (error_is(*value->error))
            return;
        const struct json_value key = json_array_item(&row, 0), combination = json_array_item(&row, 1),
                                seed = json_array_item(&row, 2);
        const char *text = json_value_string(&key);
        plan->runs[r].combination = (uint32_t)json_value_int(&combination, 0, (int64_t)plan->combination_count - 1);
        plan->runs[r].seed = (uint64_t)json_value_int(&seed, 0, INT64_MAX);
        if (plan->runs[r].combination != r % plan->combination_count ||
            plan->runs[r].seed != plan->seeds[r / plan->combination_count])
            json_fail(&row, "runs are in the order of the seeds, and of the combinations within a seed");
        if (strlen(text) == 32)
            memcpy(plan->runs[r].key, text, sizeof plan->runs[r].key);
        else
            json_fail(&key, "a key has 32 digits");
    }
}

static void read_root(struct sweep_plan *plan, const struct json_value *root, char configurations[33])
{
    static const char *const needed[] = {"sweep_plan",   "version", "paths_folder", "inputs", "factors",
                                         "combinations", "seeds",   "runs",         NULL};
    struct json_object object;
    json_object_open(&object, root);
    for (size_t i = 0; needed[i] != NULL; i++)
        json_need(&object, needed[i]);
    json_get_int(&object, "sweep_plan", PLAN_VERSION, PLAN_VERSION, PLAN_VERSION);
    plan->version = copied(plan, json_get_string(&object, "version", ""));
    plan->title = copied(plan, json_get_string(&object, "title", NULL));
    plan->paths_folder = copied(plan, json_get_string(&object, "paths_folder", ""));
    read_digest(&object, "configurations", configurations);
    struct json_value inputs = json_member(&object, "inputs"), factors = json_member(&object, "factors"),
                      combinations = json_member(&object, "combinations"), seeds = json_member(&object, "seeds"),
                      runs = json_member(&object, "runs");
    if (error_is(*root->error))
        return;
    read_inputs(plan, &inputs);
    read_factors(plan, &factors);
    read_combinations(plan, &combinations);
    read_seeds(plan, &seeds);
    read_runs(plan, &runs);
    json_object_close(&object);
}

static struct error read_lines(struct sweep_plan *plan, struct input *input)
{
    struct text line;
    bool has;
    for (size_t c = 0; c < plan->combination_count; c++) {
        TRY(input_line(input, &line, &has));
        if (!has)
            return error_new(ERROR_DATA, "%s has %zu lines, not %zu", input_path(input), c, plan->combination_count);
        plan->configurations[c] = arena_copy(&plan->arena, line);
    }
    TRY(input_line(input, &line, &has));
    return has ? error_new(ERROR_DATA, "%s has more than %zu lines", input_path(input), plan->combination_count)
               : ERROR_OK;
}

static struct error read_configurations(struct sweep_plan *plan, const char *folder, const char *expected)
{
    const struct input_caps caps = {
        .bytes_max = CONFIGURATIONS_BYTES_MAX, .ratio_max = UINT32_MAX, .line_max = 64 << 20};
    char *path = path_new(folder, SWEEP_CONFIGURATIONS_FILE), hex[33];
    struct input *input = NULL;
    plan->configurations = arena_alloc_array(&plan->arena, plan->combination_count, const char *);
    struct error error = input_open(&input, path, &caps);
    if (!error_is(error))
        error = read_lines(plan, input);
    input_close(input);
    if (!error_is(error)) {
        hash_configurations(plan, hex);
        if (strcmp(hex, expected) != 0)
            error = error_new(ERROR_DATA, "%s is not the file that %s names: it has changed", path, SWEEP_PLAN_FILE);
    }
    mem_free(path);
    return error;
}

static struct error read_files(struct sweep_plan *plan, const char *folder, const char *path)
{
    char configurations[33] = "";
    struct json_doc *doc;
    struct error sticky = ERROR_OK;
    TRY(json_file_read(&doc, path, PLAN_BYTES_MAX, ERROR_DATA, plan->digest));
    struct json_value root = json_doc_root(doc, &sticky);
    read_root(plan, &root, configurations);
    json_doc_free(doc);
    TRY(sticky);
    sweep_plan_index(plan);
    return read_configurations(plan, folder, configurations);
}

struct error sweep_plan_read(struct sweep_plan *out, const char *folder)
{
    char *path = path_new(folder, SWEEP_PLAN_FILE);
    *out = (struct sweep_plan){0};
    struct error error = read_files(out, folder, path);
    if (error_is(error))
        sweep_plan_release(out);
    mem_free(path);
    return error;
}
