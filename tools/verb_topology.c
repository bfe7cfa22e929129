/* windtunnel topology show: a cluster as text. */
#include "tools/verbs.h"
#include "topologies/cluster_load.h"
#include "topologies/cluster_show.h"

static int show(const struct args *args)
{
    struct cluster *cluster;
    struct buffer out = {0};
    struct error error = cluster_load(&cluster, args_operand(args, 0));
    if (error_is(error))
        return tool_fail(&error);
    cluster_show(cluster, &out);
    cluster_free(cluster);
    return tool_print(&out);
}

static const struct args_example examples[] = {
    {"windtunnel topology show topologies/dgx-h100-500.json",
     "500 DGX H100 nodes and their fabric."},
    {0},
};

const struct args_verb verb_topology_show = {
    .name = "topology show",
    .summary = "draw a cluster as text",
    .synopsis = "FILE",
    .description =
        (const char *const[]){
            "Reads a cluster (JSON, or a node list with openb's columns) and prints its "
            "pools, units, the inside of a node and the fabric.",
            NULL},
    .examples = examples,
    .operands_min = 1,
    .operands_max = 1,
    .run = show,
};
