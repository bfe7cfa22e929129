/* tools/trace_options.h -- the options by which the verbs of a trace read it. */
#ifndef TOOLS_TRACE_OPTIONS_H
#define TOOLS_TRACE_OPTIONS_H

#include "tools/args.h"
#include "workloads/readers/source.h"

#define TRACE_OPTIONS                                                                                                  \
    {.name = "format",                                                                                                 \
     .letter = 'f',                                                                                                    \
     .metavar = "FORMAT",                                                                                              \
     .help = "The trace's format (docs/traces.md). Guessed where possible."},                                          \
        {.name = "columns",                                                                                            \
         .metavar = "FILE",                                                                                            \
         .help = "A map of the trace's columns, for a table of no known format (docs/traces.md)."},                    \
        {.name = "table",                                                                                              \
         .metavar = "NAME=FILE",                                                                                       \
         .help = "A further file of the trace, such as job=pai_job_table.csv (docs/traces.md).",                       \
         .is_repeatable = true},                                                                                       \
        {.name = "gpu-type",                                                                                           \
         .metavar = "TYPE",                                                                                            \
         .help = "Of a trace with run times of several GPU types: whose are taken (docs/traces.md)."},                 \
        {.name = "cluster",                                                                                            \
         .letter = 'c',                                                                                                \
         .metavar = "FILE",                                                                                            \
         .help = "The cluster for GPU models and load (default: 500 nodes of 8 GPUs)."},                               \
        {.name = "tz",                                                                                                 \
         .metavar = "ZONE",                                                                                            \
         .help = "The zone of dates that name none: a name of the tz database such as Europe/Berlin, or what its "     \
                 "clocks are ahead of UTC, such as 8h or -7h."},                                                       \
        {.name = "gpus-per-node",                                                                                      \
         .metavar = "N",                                                                                               \
         .help = "How requests without a number of nodes lie on nodes; 0: anywhere. Default: 8."},                     \
        {.name = "processors-per-gpu", .metavar = "N", .help = "Of SWF: processors that become one GPU. Default: 1."}, \
        {.name = "set",                                                                                                \
         .metavar = "workload.PATH=VALUE",                                                                             \
         .help = "Change the jobs as a scenario does (workloads/README.md): workload.window, workload.load, "          \
                 "workload.sample.share, workload.tenants, workload.growth and others.",                               \
         .is_repeatable = true},                                                                                       \
    {                                                                                                                  \
        .name = "seed", .letter = 's', .metavar = "N", .help = "The seed of what is drawn (--set). Default: 1."        \
    }

/* The trace that the first operand names, as the options tell.  spec: borrows from args; released with
 * workload_release, also after an error. */
struct error trace_options_read(const struct args *args, struct workload_spec *spec, uint64_t *seed) MUST_CHECK;

/* The cluster of --cluster, or the default; free with cluster_free. */
struct error trace_options_cluster(const struct args *args, struct cluster **cluster) MUST_CHECK;

#endif
