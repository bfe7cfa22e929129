/* workloads/readers/json_nodes.h -- the node requests of a JSON line: `node_selector`, `node_affinity` and
 * `tolerations`, of the job or of one of its groups, as workloads/node_ask.h describes them.
 *
 * Each of the three that a group sets replaces the job's.
 */
#ifndef WORKLOADS_READERS_JSON_NODES_H
#define WORKLOADS_READERS_JSON_NODES_H

#include "workloads/readers/json_line.h"
#include "workloads/readers/reader.h"

/* The values as in the line; `at` NULL: absent. */
struct json_nodes {
    struct text selector, affinity, tolerations;
};

/* Note the member if it is one of the three; null counts as absent. */
bool json_nodes_member(struct json_nodes *nodes, struct text key, struct text value);

/* *out: kept by reader->asks; NULL if there is no constraint. */
struct error json_nodes_read(const struct reader *reader, const struct line *line, const struct json_nodes *nodes,
                             const struct node_ask **out) MUST_CHECK;

#endif
