/* sim/caches/pulls_inside.h -- what pulls consist of, shared by pulls.c (they begin and end) and pulls_archive.c (they
 * are saved). */
#ifndef SIM_CACHES_PULLS_INSIDE_H
#define SIM_CACHES_PULLS_INSIDE_H

#include "sim/caches/caches.h"
#include "sim/caches/pulls.h"
#include "sim/storage/storage.h"

#define PULL_NONE UINT32_MAX

/* An object that a node waits for. */
struct pull {
    uint32_t object;
    int64_t bytes;
    uint8_t state;         /* enum pull_state */
    uint8_t source;        /* enum pull_source, while it moves */
    uint32_t first_waiter; /* in the order in which they came; PULL_NONE */
    uint32_t next;         /* of its node, or of the free ones; PULL_NONE */
};
enum pull_state { PULL_QUEUED, PULL_AWAITS_RACK, PULL_MOVES };

struct waiter {
    uint32_t slot, need;
    uint32_t next; /* of its pull, or of the free ones; PULL_NONE */
};

/* An object of a job on one of its nodes: number node x objects + object. */
enum need_state { NEED_WAITS, NEED_PINNED, NEED_LOOSE /* there, but not kept */ };

struct pull_job {
    node_id *nodes;
    size_t node_capacity;
    uint8_t *needs; /* enum need_state */
    size_t need_capacity;
    struct job_objects objects;
    uint32_t node_count; /* 0: it has not begun, or has stopped */
    uint32_t waits;      /* needs that wait */
    struct pull_counts counts;
};

struct pull_node {
    uint32_t head; /* the first pull; PULL_NONE */
    uint32_t rack, number;
};

struct pulls {
    const struct pull_table *table;
    uint32_t node_count, rack_count;
    struct pull_node *nodes;
    uint32_t *rack_first; /* by rack, and one more: its first node in rack_nodes */
    node_id *rack_nodes;  /* in order */
    struct caches *caches;
    struct storage **sources;
    struct pull_job *jobs; /* by slot */
    size_t job_capacity;
    struct pull *all;
    size_t pull_capacity;
    uint32_t pull_used, pull_free;
    struct waiter *waiters;
    size_t waiter_capacity;
    uint32_t waiter_used, waiter_free;
    uint32_t *ready; /* slots, in the order in which they became so */
    size_t ready_capacity;
    uint32_t ready_count, ready_first;
    struct pull_counts moved;
};

/* A new pull, or waiter at the end of its pull; both are found by number. */
uint32_t pulls_new_pull(struct pulls *pulls);
void pulls_add_waiter(struct pulls *pulls, uint32_t pull, uint32_t slot, uint32_t need);

#endif
