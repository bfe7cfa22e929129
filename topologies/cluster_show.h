/* topologies/cluster_show.h -- a cluster drawn as text, for people. */
#ifndef TOPOLOGIES_CLUSTER_SHOW_H
#define TOPOLOGIES_CLUSTER_SHOW_H

#include "base/buffer.h"
#include "topologies/cluster.h"

/* Totals, pools, units with their nodes in short form (n[0-31]), the inside of a node of each type, the fabric. */
void cluster_show(const struct cluster *cluster, struct buffer *out);

#endif
