/* policies/util/node_marks.h -- a set of nodes, in the order they came.
 *
 *   node_marks_add(&marks, cluster->node_count, node);
 *   for (uint32_t i = 0; i < marks.count; i++) ... marks.nodes[i] ...
 *   node_marks_forget(&marks);
 *
 * Cost: O(1) to add and to forget each. */
#ifndef POLICIES_UTIL_NODE_MARKS_H
#define POLICIES_UTIL_NODE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "topologies/cluster.h"

struct node_marks {
    uint8_t *is_marked; /* by node_id; NULL: none was ever added */
    node_id *nodes;
    size_t capacity;
    uint32_t count;
};

/* False: it is there already. */
static inline bool node_marks_add(struct node_marks *marks, uint32_t node_count, node_id node)
{
    if (marks->is_marked == NULL)
        marks->is_marked = mem_zalloc(node_count, sizeof *marks->is_marked);
    if (marks->is_marked[node])
        return false;
    marks->is_marked[node] = 1;
    MEM_GROW(marks->nodes, marks->capacity, (size_t)marks->count + 1);
    marks->nodes[marks->count++] = node;
    return true;
}

static inline void node_marks_forget(struct node_marks *marks)
{
    while (marks->count > 0)
        marks->is_marked[marks->nodes[--marks->count]] = 0;
}

static inline void node_marks_release(struct node_marks *marks)
{
    mem_free(marks->is_marked);
    mem_free(marks->nodes);
}

#endif
