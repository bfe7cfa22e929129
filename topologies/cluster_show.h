/* topologies/cluster_show.h -- a cluster drawn as text, for people. */
#ifndef TOPOLOGIES_CLUSTER_SHOW_H
#define TOPOLOGIES_CLUSTER_SHOW_H

#include "base/buffer.h"
#include "topologies/cluster.h"

/* Append totals, pools with folded node names (n[0-31]), levels, GPU classes, GPU models, layouts, and the fabric. */
void cluster_show(const struct cluster *cluster, struct buffer *out);

#endif
