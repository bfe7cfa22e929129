/* reports/export/nodes.h -- the nodes of a record as numbers, and their GPUs.
 *
 * They are those of the cluster in the record's scenario, in its order.  Where the scenario holds no cluster that can
 * be read again (a node list in a file), nodes get numbers as they appear, with NODE_GPUS_MAX GPUs each.
 *
 * Law: a node keeps its number; numbers are dense, from 0.
 */
#ifndef REPORTS_EXPORT_NODES_H
#define REPORTS_EXPORT_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "reports/result.h"

struct nodes; /* opaque */

struct nodes *nodes_new(const struct result *result);
void nodes_free(struct nodes *nodes); /* NULL is allowed */

uint32_t nodes_number(struct nodes *nodes, const char *name); /* of a new name, the next */
bool nodes_has(const struct nodes *nodes, const char *name);
uint64_t nodes_gpu(const struct nodes *nodes, uint32_t number, unsigned index); /* a GPU's number in the cluster */

#endif
