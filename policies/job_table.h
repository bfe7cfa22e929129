/* policies/job_table.h -- the jobs the scheduler knows, from submission to end, in reused slots.
 *
 * Law: a slot belongs to one job from add to drop; ids are the world's and never reused, slots are.
 * Memory: a slot per job alive, 4 bytes per job ever submitted.
 */
#ifndef POLICIES_JOB_TABLE_H
#define POLICIES_JOB_TABLE_H

#include "policies/sched.h"

#define SLOT_NONE UINT32_MAX

enum sched_job_state {
    SJOB_NONE, /* the slot is free */
    SJOB_HELD,
    SJOB_PENDING,
    SJOB_CLAIMING, /* its space is promised, some of it still being released */
    SJOB_STARTING, /* START decided, not confirmed */
    SJOB_RUNNING,
    SJOB_EVICTING, /* EVICT decided, not confirmed */
};

struct sched_job {
    job_id id;
    uint32_t shape;
    queue_id queue;
    uint32_t lane;
    uint64_t rank[ORDER_CHAIN_MAX];
    decision_id decision; /* the open one; 0: none */
    time_ns decided;      /* when its last START was */
    struct piece *pieces; /* its placement; points at `one` for a single piece */
    struct piece one;
    uint32_t piece_count;
    int32_t priority;
    uint32_t evictions;
    uint8_t state;  /* enum sched_job_state */
    uint8_t reason; /* enum reason: why it waits */
    uint64_t decided_cycle;
    uint32_t list_position; /* in whichever list of its state it stands */
};

struct slot_list { /* an unordered set of slots; never an order of decisions */
    uint32_t *slots;
    size_t capacity;
    uint32_t count;
};

struct job_table {
    struct sched_job *jobs; /* by slot */
    size_t capacity;
    uint32_t used; /* slots ever used */
    uint32_t *free_slots;
    size_t free_capacity;
    uint32_t free_count;
    uint32_t *slot_of; /* by job_id */
    size_t slot_capacity;
    uint32_t id_count;
};

void job_table_release(struct job_table *table);
uint32_t job_table_add(struct job_table *table, job_id id);        /* zeroed but for id */
void job_table_drop(struct job_table *table, uint32_t slot);       /* its pieces too */
uint32_t job_table_find(const struct job_table *table, job_id id); /* SLOT_NONE */

void sched_job_set_pieces(struct sched_job *job, const struct piece *pieces,
                          uint32_t count); /* copied */
void sched_job_clear_pieces(struct sched_job *job);

void slot_list_add(struct slot_list *list, struct job_table *table, uint32_t slot);
void slot_list_remove(struct slot_list *list, struct job_table *table, uint32_t slot);

#endif
