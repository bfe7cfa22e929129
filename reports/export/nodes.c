/* reports/export/nodes.c -- see reports/export/nodes.h. */
#include "reports/export/nodes.h"

#include "base/json.h"
#include "base/names.h"
#include "topologies/cluster.h"

struct nodes {
    struct cluster *cluster; /* NULL: not known */
    struct names *names;
};

/* NULL: the scenario has no cluster that can be read here. */
static struct cluster *read_cluster(const char *scenario_json)
{
    struct json_doc *doc = NULL;
    struct error error = ERROR_OK;
    struct json_object object;
    if (scenario_json == NULL)
        return NULL;
    error = json_doc_parse(&doc, "scenario", text_of(scenario_json), ERROR_DATA);
    if (error_is(error)) {
        error_release(&error);
        return NULL;
    }
    const struct json_value root = json_doc_root(doc, &error);
    json_object_open(&object, &root);
    const struct json_value value = json_member(&object, "cluster");
    struct cluster *cluster = value.node != NULL ? cluster_read(&value) : NULL;
    if (error_is(error)) {
        cluster_free(cluster);
        cluster = NULL;
    }
    error_release(&error);
    json_doc_free(doc);
    return cluster;
}

struct nodes *nodes_new(const struct result *result)
{
    struct nodes *nodes = mem_zalloc(1, sizeof *nodes);
    nodes->cluster = read_cluster(result->manifest.scenario_json);
    nodes->names = names_new();
    for (uint32_t n = 0; nodes->cluster != NULL && n < nodes->cluster->node_count; n++)
        names_add(nodes->names, text_of(nodes->cluster->nodes[n].name));
    return nodes;
}

void nodes_free(struct nodes *nodes)
{
    if (nodes == NULL)
        return;
    names_free(nodes->names);
    cluster_free(nodes->cluster);
    mem_free(nodes);
}

uint32_t nodes_number(struct nodes *nodes, const char *name)
{
    return names_add(nodes->names, text_of(name));
}

bool nodes_has(const struct nodes *nodes, const char *name)
{
    return names_find(nodes->names, text_of(name)) != NAMES_NONE;
}

uint64_t nodes_gpu(const struct nodes *nodes, uint32_t number, unsigned index)
{
    const struct cluster *cluster = nodes->cluster;
    if (cluster == NULL)
        return (uint64_t)number * NODE_GPUS_MAX + index;
    if (number < cluster->node_count)
        return cluster->nodes[number].first_gpu + index;
    return cluster->gpu_count + (uint64_t)(number - cluster->node_count) * NODE_GPUS_MAX + index;
}
