/* topologies/cluster_load.h -- a cluster from a file: JSON, or a node list in openb's CSV columns (plain or zstd).
 *
 * The node list has the columns sn,cpu_milli,memory_mib,gpu,model; every line is a node, in the file's
 * order; models that are not known become generic ones of that name.
 * Needs base/input.h (zstd) and hwloc, which the scheduler library does not.
 */
#ifndef TOPOLOGIES_CLUSTER_LOAD_H
#define TOPOLOGIES_CLUSTER_LOAD_H

#include "topologies/cluster.h"

/* As cluster_read, which opens no file; but before, the "hwloc" of each pool, a file of `lstopo --of xml`, is replaced
 * by the keys that it tells.  So the document then holds all that the cluster is made of. */
struct cluster *cluster_load_json(const struct json_value *value);

struct error cluster_load(struct cluster **out, const char *path) MUST_CHECK;

/* A file that was read once: the cluster of a node list, or the tree of JSON, which overrides may change.  The caller
 * owns both. */
struct cluster_file {
    struct cluster *cluster; /* NULL: it is JSON */
    struct json_doc *doc;    /* NULL: it is a node list */
    char digest[33];         /* of the file: base/input.h */
};

struct error cluster_load_file(struct cluster_file *out, const char *path) MUST_CHECK;

#endif
