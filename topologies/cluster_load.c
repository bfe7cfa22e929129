/* topologies/cluster_load.c -- clusters from files: JSON, and node lists in openb's columns. */
#include "topologies/cluster_load.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/input.h"
#include "topologies/cluster_build.h"

enum { CLUSTER_BYTES_MAX = 64 << 20 };

/* ---- node lists ---- */

static const char *const columns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct list_reading {
    struct input *input;
    struct cluster_build build;
    struct node_type type; /* of the last node */
};

static struct error split(const struct list_reading *list, struct text line, struct text fields[COLUMN_COUNT])
{
    struct text rest = line, piece;
    size_t count = 0;
    while (text_cut(&rest, ',', &piece)) {
        if (count < COLUMN_COUNT)
            fields[count] = text_trim(piece);
        count++;
    }
    if (count != COLUMN_COUNT)
        return input_error(list->input, line, (struct text){0}, "expected %d fields, got %zu", COLUMN_COUNT, count);
    return ERROR_OK;
}

static struct error check_header(struct list_reading *list)
{
    struct text line = {0}, fields[COLUMN_COUNT];
    bool has;
    TRY(input_line(list->input, &line, &has));
    if (!has)
        return error_new(ERROR_DATA, "%s: the node list is empty", input_path(list->input));
    TRY(split(list, line, fields));
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (!text_is(fields[i], columns[i]))
            return input_error(list->input, line, fields[i], "expected column '%s'", columns[i]);
    return ERROR_OK;
}

/* A built-in model by any of its names; other names become generic models. */
static struct error choose_model(struct list_reading *list, struct text line, struct text name, uint8_t *out)
{
    const struct gpu_model *known = gpu_model_find(name);
    struct gpu_model model = known != NULL ? *known : *gpu_model_find(TEXT("generic"));
    struct arena scratch = {0};
    if (known == NULL) {
        char *copy = arena_copy(&scratch, name);
        for (char *c = copy; *c != '\0'; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + ('a' - 'A')) : *c;
        model.name = copy;
    }
    *out = cluster_build_model(&list->build, &model);
    arena_release(&scratch);
    if (*out == CLUSTER_MODELS_MAX)
        return input_error(list->input, line, name, "more than %d GPU models in one cluster", CLUSTER_MODELS_MAX);
    return ERROR_OK;
}

static struct error read_number(const struct list_reading *list, struct text line, struct text field, size_t column,
                                int64_t low, int64_t high, uint32_t *out)
{
    int64_t value;
    if (!text_to_int64(field, low, high, &value))
        return input_error(list->input, line, field, "'%s' must be an integer from %lld to %lld", columns[column],
                           (long long)low, (long long)high);
    *out = (uint32_t)value;
    return ERROR_OK;
}

static struct error read_type(struct list_reading *list, struct text line, const struct text fields[COLUMN_COUNT],
                              struct node_type *type)
{
    uint32_t gpus = 0;
    *type = (struct node_type){0};
    TRY(read_number(list, line, fields[1], 1, 1, CLUSTER_AMPLE_CPU_MILLI, &type->cpu_milli));
    TRY(read_number(list, line, fields[2], 2, 1, CLUSTER_AMPLE_MEMORY_MIB, &type->memory_mib));
    TRY(read_number(list, line, fields[3], 3, 0, NODE_GPUS_MAX, &gpus));
    type->gpu_count = (uint16_t)gpus;
    bool has_model = fields[4].length != 0;
    if (has_model != (gpus > 0))
        return input_error(list->input, line, fields[4],
                           has_model ? "a node without GPUs has no 'model'" : "a node with GPUs needs a 'model'");
    return has_model ? choose_model(list, line, fields[4], &type->model) : ERROR_OK;
}

static void begin_pool(struct list_reading *list)
{
    const struct cluster *cluster = list->build.cluster;
    const struct node_type *type = &list->type;
    char name[96];
    if (type->gpu_count > 0)
        snprintf(name, sizeof name, "%.40sx%u.%u", cluster->models[type->model].name, type->gpu_count,
                 cluster->pool_count);
    else
        snprintf(name, sizeof name, "cpu.%u", cluster->pool_count);
    double nvlink_bytes_per_s = type->gpu_count > 1 ? cluster->models[type->model].nvlink_bytes_per_s : 0;
    struct pool_spec spec = {.name = text_of(name),
                             .type = *type,
                             .numa_count = 1,
                             .nic_count = 1,
                             .island_gpus = nvlink_bytes_per_s > 0 ? (uint8_t)type->gpu_count : 0};
    cluster_build_pool(&list->build, &spec);
}

static struct error read_node(struct list_reading *list, struct text line)
{
    struct cluster *cluster = list->build.cluster;
    struct text fields[COLUMN_COUNT];
    struct node_type type;
    TRY(split(list, line, fields));
    TRY(read_type(list, line, fields, &type));
    if (fields[0].length == 0)
        return input_error(list->input, line, fields[0], "a node needs a name");
    if (cluster->node_count == CLUSTER_NODES_MAX)
        return input_error(list->input, line, fields[0], "more than %d nodes in one cluster", CLUSTER_NODES_MAX);
    bool is_alike = cluster->node_count > 0 && type.gpu_count == list->type.gpu_count &&
                    type.model == list->type.model && type.cpu_milli == list->type.cpu_milli &&
                    type.memory_mib == list->type.memory_mib;
    list->type = type;
    if (!is_alike)
        begin_pool(list);
    if (!cluster_build_node(&list->build, fields[0]))
        return input_error(list->input, line, fields[0], "there is a node of that name already");
    return ERROR_OK;
}

static struct error read_nodes(struct list_reading *list)
{
    TRY(check_header(list));
    struct text line;
    bool has;
    while (true) {
        TRY(input_line(list->input, &line, &has));
        if (!has)
            break;
        if (text_trim(line).length != 0)
            TRY(read_node(list, line));
    }
    if (list->build.cluster->node_count == 0)
        return error_new(ERROR_DATA, "%s: the node list is empty", input_path(list->input));
    return ERROR_OK;
}

/* `input` becomes the reading's. */
static struct error load_node_list(struct cluster **out, const char *path, struct input *input)
{
    struct list_reading list = {.input = input};
    const char *slash = strrchr(path, '/');
    cluster_build_init(&list.build, text_of(slash != NULL ? slash + 1 : path));
    list.build.units_span_pools = true; /* runs of equal nodes are not racks */
    struct error error = read_nodes(&list);
    if (!error_is(error)) {
        struct fabric fabric = fabric_default();
        fabric.rails = 1;
        *out = cluster_build_finish(&list.build, &fabric);
    }
    cluster_build_release(&list.build);
    input_close(list.input);
    return error;
}

/* ---- either ---- */

static bool is_node_list(struct text text)
{
    struct text line, first;
    const struct text mark = TEXT("\xef\xbb\xbf"); /* UTF-8's byte order mark */
    if (text.length >= mark.length && memcmp(text.at, mark.at, mark.length) == 0) {
        text.at += mark.length;
        text.length -= mark.length;
    }
    return text_cut(&text, '\n', &line) && text_cut(&line, ',', &first) && text_is(text_trim(first), columns[0]);
}

struct error cluster_load_file(struct cluster_file *out, const char *path)
{
    char *bytes;
    size_t length;
    *out = (struct cluster_file){0};
    TRY(input_read_all_digest(path, CLUSTER_BYTES_MAX, &bytes, &length, out->digest));
    if (is_node_list((struct text){bytes, length}))
        return load_node_list(&out->cluster, path, input_of_bytes_new(path, bytes, length));
    struct error error = json_doc_parse(&out->doc, path, (struct text){bytes, length}, ERROR_CONFIG);
    mem_free(bytes);
    return error;
}

struct error cluster_load(struct cluster **out, const char *path)
{
    struct cluster_file file;
    *out = NULL;
    TRY(cluster_load_file(&file, path));
    *out = file.cluster;
    if (file.doc == NULL)
        return ERROR_OK;
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(file.doc, &error);
    *out = cluster_load_json(&root);
    json_doc_free(file.doc);
    return error;
}
