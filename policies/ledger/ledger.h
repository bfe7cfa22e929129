/* policies/ledger/ledger.h -- the one place where allocation state changes, with undo.
 *
 * Words.  A GPU has 1000 milli.  `free` can be taken now; `coming` is being released and is claimed by no job;
 * `claimed` is being released and is claimed; the rest is used.  CPU and memory of nodes are counted the same way.  For
 * each queue the ledger keeps the charges of its jobs and of the queues below it.
 *
 * Laws
 *  - Between a mark and its rollback or commit, every change is logged with the old value.  After a rollback
 *    ledger_hash is as it was at the mark; versions only go up.
 *  - free + coming + claimed + used = 1000 for each GPU, whatever the state of its node.
 *  - The node index (policies/ledger/node_index.h) always shows exactly the free GPUs of nodes that are up and not
 *    kept.
 *  - The instances of a partitioned GPU are where its layout says.  New instances (`making`) are coming or claimed
 *    until a fact says that they are made.
 *  - Each change of a node's state, or of its free, coming or claimed amounts, raises the node's version and is added
 *    to `changes`.  A reader that has seen the first n changes finds the new ones after them.
 *
 *   size_t mark = ledger_mark(ledger);
 *   if (place(...)) ledger_commit(ledger, mark); else ledger_rollback(ledger, mark);
 *
 * Cost: O(GPUs of the piece) for each operation.  In a trial each changed word adds a log entry of 16 bytes; all whole
 * GPUs of a piece add one.
 */
#ifndef POLICIES_LEDGER_LEDGER_H
#define POLICIES_LEDGER_LEDGER_H

#include "base/mem.h"
#include "policies/ledger/node_index.h"
#include "policies/sched.h"

struct gpu_cell { /* 8 bytes, logged as one word */
    uint16_t free, coming, claimed;
    uint16_t holders; /* pieces booked on it */
};

enum { MIG_SLICE_MILLI = GPU_MILLI / MIG_SLICES };

/* The states of the MIG instances of a GPU; bit s is the instance that starts at slice s.  The GPU's cell counts
 * MIG_SLICE_MILLI for each of their memory slices.  Slices in no instance count as free. */
struct mig_cell {
    uint8_t free, coming, claimed;
    uint8_t making; /* instances that are not made yet; MIG_MAKES_WHOLE: the GPU is being made whole */
};
enum { MIG_MAKES_WHOLE = 0xff };

/* The clients that share a GPU or a node: members of one kind and one domain.  Members of another kind or domain may
 * claim the space that the clients leave; they are the next clients, once all clients have left.  Adopted jobs
 * (sched_job_adopted) on one GPU or node may be of several kinds and domains.  Such a cell is SHARE_MIXED, and no
 * member joins it until all have left. */
enum { SHARE_MIXED = SHARE_KIND_COUNT };
struct share_cell {
    uint32_t domain;           /* of struct request; 0 if there are no clients */
    uint32_t clients, leaving; /* members on it; those of them that are leaving */
    uint32_t next_domain, next_clients;
    uint8_t kind, next_kind; /* enum share_kind; SHARE_MIXED, with domain 0 */
    uint8_t was_mixed;       /* when the trial began: after all have left, the first member to come has it alone */
    uint8_t unused;
};

/* Memory of shares that are asked by memory.  Such a share counts the thousandths of the GPU that its memory is,
 * rounded down; the rest is its excess, in thousandths of a MiB.  Memory that leaves is apart, as `coming` is in
 * gpu_cell.
 * Law: shares fit a GPU if and only if their memory does, where a share of thousandths has as many of the memory, and a
 * share is at least a thousandth: n shares of memory m fit a GPU of memory M if n * m <= M and n <= 1000, and no others
 * do.  Checked by tests/property/test_memory_shares.c.  The fault that it caught: shares were rounded up, and a GPU of
 * 24 GB did not hold three of 8 GB. */
struct gpu_excess {
    uint32_t held, coming;
};

/* How a GPU is cut. */
struct gpu_cut {
    bool is_partitioned; /* perhaps without any instance; false: it is whole */
    struct gpu_layout layout;
};

struct cut_undo { /* the old state of a GPU that was cut in a trial */
    struct gpu_cut cut;
    struct mig_cell mig;
    struct gpu_cell cell;
};

/* Words by kind, then resource.  Tasks are counted only where the cluster limits them. */
struct node_cell {
    uint32_t cpu_free, memory_free, tasks_free;
    uint32_t cpu_coming, memory_coming, tasks_coming;
    uint32_t cpu_claimed, memory_claimed, tasks_claimed;
};

/* The charges of queues: for each enum resource all, and the non-preemptible (FIRM) part. */
enum queue_sum {
    QUEUE_SUM_GPU,
    QUEUE_SUM_CPU,
    QUEUE_SUM_MEMORY,
    QUEUE_SUM_FIRM_GPU,
    QUEUE_SUM_FIRM_CPU,
    QUEUE_SUM_FIRM_MEMORY,
    QUEUE_SUM_COUNT
};

enum { LEDGER_TABLE_SHIFT = 28 };

struct ledger_entry {
    uint32_t table_index; /* the table (from bit LEDGER_TABLE_SHIFT on), and the element in it */
    uint32_t word;
    uint64_t old;
};

/* What quota policies that keep GPUs for queues know of a GPU (policies/quota/cells.h).  Trials do not change it. */
struct gpu_keep {
    queue_id keeper;                  /* the queue whose cell it is part of; QUEUE_NONE */
    queue_id holder;                  /* the queue of the last of non_preemptible_holders */
    uint16_t non_preemptible_holders; /* pieces of non-preemptible jobs on it, also while they leave */
    uint16_t non_preemptible_milli;   /* what these pieces take of it */
    uint8_t level;                    /* of the cell */
};

struct cell_index;       /* policies/quota/cells_index.h */
struct ledger_tags;      /* policies/ledger/ledger_tags.h */
struct typical_jobs;     /* policies/jobs/fragmentation.h */
struct traffic;          /* policies/placement/traffic.h */
struct placement_config; /* policies/placement/placement_config.h */
struct warm;             /* policies/jobs/warm.h */

struct ledger {
    const struct cluster *cluster;
    struct gpu_cell *gpus;                  /* by gpu_id */
    struct mig_cell *migs;                  /* by gpu_id; NULL: no GPU is partitioned or can be */
    struct gpu_layout *layouts;             /* by gpu_id; NULL as migs is */
    uint16_t *layout_mask;                  /* by node: GPUs that are partitioned; NULL as migs is */
    struct share_cell *shares;              /* by gpu_id: clients of shares; NULL: any jobs may share */
    struct gpu_excess *excess;              /* by gpu_id; NULL: no share was asked by memory yet */
    struct share_cell *node_shares;         /* by node: all members; NULL: any jobs may share */
    uint32_t clients_max[SHARE_KIND_COUNT]; /* on a GPU; 0: no limit */
    bool recuts;                            /* GPUs are cut for jobs that find no place */
    uint32_t *owner;                        /* by gpu_id: slot of the job that holds the whole GPU, or OWNER_NONE */
    struct node_cell *nodes;
    bool limits_tasks;              /* some node limits its tasks */
    struct gpu_keep *keeps;         /* by gpu_id */
    uint16_t *non_preemptible_mask; /* by node: GPUs with non_preemptible_holders */
    uint16_t *keep_mask;            /* by node: scratch of the quota policy */
    bool are_cells_placed;          /* cells were placed since the quotas were last cut (policies/quota/cells.h) */
    struct cell_index *cells; /* where the keepers' cells are (policies/quota/cells_index.h); NULL: not used yet */
    const struct owns *owns;  /* state of placement policies; NULL: none has any */
    uint8_t *node_state;      /* by node: enum node_state, as told by facts */
    uint8_t *is_kept;         /* by node: takes no new jobs (policies/repartition) */
    uint32_t *node_version;
    node_id *changes; /* nodes whose version went up, the newest at changes[(change_count - 1) & change_mask] */
    uint32_t change_mask;
    uint64_t change_count;            /* of all changes so far; `changes` keeps the last change_mask + 1 */
    int64_t (*sums)[QUEUE_SUM_COUNT]; /* by queue_id */
    queue_id *parent;                 /* by queue_id */
    size_t queue_capacity;
    uint32_t queue_count;
    struct node_index *index;
    /* by node: count of GPUs without a job that is never evicted; borrowed; NULL: not known.  The owner of the array
     * calls ledger_note_change after a change. */
    const uint8_t *room;
    const struct typical_jobs *typical;       /* the typical jobs; borrowed; NULL: not known */
    const struct traffic *traffic;            /* of the booked gangs; borrowed; NULL: not known */
    uint64_t typical_version;                 /* changes when the typical jobs change */
    const struct placement_config *placement; /* borrowed; NULL: the defaults */
    const struct warm *warm;                  /* where objects are; borrowed; NULL: no node is preferred for them */
    struct ledger_entry *log;
    size_t log_count, log_capacity;
    struct cut_undo *cuts; /* log entries refer to them by index */
    size_t cut_capacity;
    uint32_t cut_count;
    uint32_t mark_depth;
    int64_t used_milli, coming_milli, claimed_milli;
    int64_t not_up_milli; /* the part of these three that is on nodes that are not up */
    node_id *grown;       /* nodes whose free space grew since ledger_take_grown, each once */
    uint8_t *is_grown;
    uint32_t grown_count;
    uint64_t growth_count;    /* how often the free space of a node grew, outside of marks */
    struct ledger_tags *tags; /* NULL: rules of tags are ignored */
    struct arena arena;
};

#define OWNER_NONE UINT32_MAX

/* The part of the cluster where a job may be placed.  A NULL pointer to it: all of the cluster. */
struct allowed_space {
    const uint16_t *gpus; /* by node: the GPUs that may be used; NULL: all */
    const uint8_t *shut;  /* by node: not 0: rules of tags shut it to the job; NULL: no node is shut */
};

/* The space that a piece takes. */
struct space {
    node_id node;
    uint16_t gpu_mask;
    uint16_t gpu_milli;      /* of each GPU in the mask */
    uint32_t gpu_memory_mib; /* of a share that is asked by memory; else 0 */
    uint32_t cpu_milli, memory_mib;
    uint32_t owner; /* slot of the job */
    uint16_t member_count;
    uint8_t share;               /* enum share_kind */
    uint32_t domain;             /* of struct request */
    const struct job_tags *tags; /* of the job; borrowed; NULL: none */
    uint8_t mig, mig_start;      /* an instance: enum mig_profile_id + 1, where it starts; mig 0: none */
};

struct ledger *ledger_new(const struct cluster *cluster);
void ledger_free(struct ledger *ledger);
void ledger_queues(struct ledger *ledger, const struct queue_table *queues); /* add new queues */

size_t ledger_mark(struct ledger *ledger);
void ledger_rollback(struct ledger *ledger, size_t mark);
void ledger_commit(struct ledger *ledger, size_t mark);

void ledger_take(struct ledger *ledger, const struct space *space);    /* free -> used */
void ledger_give(struct ledger *ledger, const struct space *space);    /* used -> free */
void ledger_vacate(struct ledger *ledger, const struct space *space);  /* used -> coming */
void ledger_restore(struct ledger *ledger, const struct space *space); /* coming or claimed -> used (refused EVICT) */
void ledger_arrive(struct ledger *ledger, const struct space *space);  /* coming -> free; claimed -> used */
void ledger_claim(struct ledger *ledger, const struct space *space);   /* free -> used, the rest coming -> claimed */
void ledger_unclaim(struct ledger *ledger, const struct space *space); /* the reverse of claim */
bool ledger_is_there(const struct ledger *ledger, const struct space *space); /* none of it is claimed and coming */

/* In a trial: all that is coming becomes free, on nodes that take new work.  False: nothing is coming.  O(nodes). */
bool ledger_foresee(struct ledger *ledger);

/* Add the amounts (may be negative) to the queue and all above it. */
void ledger_charge(struct ledger *ledger, queue_id queue, const int64_t amounts[QUEUE_SUM_COUNT]);

/* Partitioned GPUs of the node: neither whole nor shared. */
static inline uint16_t ledger_layout_mask(const struct ledger *ledger, node_id node)
{
    return ledger->layout_mask == NULL ? 0 : ledger->layout_mask[node];
}

static inline bool ledger_has_layout(const struct ledger *ledger, node_id node, uint32_t gpu_index)
{
    return ledger_layout_mask(ledger, node) >> gpu_index & 1;
}

/* From now on GPUs, and nodes if by_node, are shared only by members of one kind and domain; clients_max is the most
 * clients of each kind on a GPU.  Nothing may be taken from the ledger yet. */
void ledger_share(struct ledger *ledger, const uint16_t clients_max[SHARE_KIND_COUNT], bool by_node);

/* Is the space a share of a GPU: not a whole GPU, and not a MIG instance? */
static inline bool ledger_is_share(const struct space *space)
{
    return space->gpu_mask != 0 && space->gpu_milli < GPU_MILLI && space->mig == 0;
}

/* These compute without a trial.  ledger_share_is_now: is the holder of the space one of the clients, not of the next?
 * ledger_share_without: the cell after `gone` clients and `next_gone` next clients have left.  ledger_clients_left: how
 * many more clients of the kind and domain may come; `most` is the limit, 0: none. */
bool ledger_share_is_now(const struct share_cell *cell, const struct space *space, bool by_node);
struct share_cell ledger_share_without(const struct share_cell *cell, uint32_t gone, uint32_t next_gone);
uint32_t ledger_clients_left(const struct share_cell *cell, uint32_t most, uint8_t kind, uint32_t domain);

/* How many such shares fit in the free milli of a GPU, on which shares asked by memory have that excess. */
uint32_t ledger_shares_in(const struct gpu_model *model, const struct request *request, uint32_t free_milli,
                          int64_t excess);
/* The excess of the space, if it is a share that is asked by memory. */
int64_t ledger_excess_of(const struct ledger *ledger, const struct space *space);
/* Of all shares on the GPU. */
static inline int64_t ledger_gpu_excess(const struct ledger *ledger, gpu_id gpu)
{
    return ledger->excess == NULL ? 0 : (int64_t)ledger->excess[gpu].held + ledger->excess[gpu].coming;
}

/* How many more such shares its present clients and its memory allow on the GPU; more than fit: any number. */
uint32_t ledger_gpu_shares_left(const struct ledger *ledger, gpu_id gpu, const struct request *request);

static inline bool ledger_gpu_admits(const struct ledger *ledger, gpu_id gpu, const struct request *request)
{
    return (ledger->shares == NULL && ledger->excess == NULL && request->gpu_memory_mib == 0) ||
           ledger_gpu_shares_left(ledger, gpu, request) > 0;
}

/* Do the present clients and the memory of its GPU allow a member that takes the space? */
bool ledger_admits(const struct ledger *ledger, const struct space *space);

/* Do the members on the node exclude a member of this domain? */
bool ledger_node_keeps_out(const struct ledger *ledger, node_id node, uint32_t domain);

/* May such a member be on the node, as to the members there and the allowed space? */
static inline bool ledger_node_admits(const struct ledger *ledger, node_id node, const struct request *request,
                                      const struct allowed_space *allowed)
{
    return (ledger->node_shares == NULL || !ledger_node_keeps_out(ledger, node, request->domain)) &&
           (allowed == NULL || allowed->shut == NULL || allowed->shut[node] == 0);
}

struct gpu_cut ledger_cut_of(const struct ledger *ledger, gpu_id gpu);

/* The memory slices of the GPU's instances that are not free.  For a whole GPU: all slices, or none if it is wholly
 * free. */
uint8_t ledger_busy_slices(const struct ledger *ledger, gpu_id gpu);

/* How many instances of the profile the GPU could have beside those in use, if it were cut for them. */
uint32_t ledger_mig_room(const struct ledger *ledger, gpu_id gpu, enum mig_profile_id profile);

/* Cut a GPU.  Instances that are not in `cut` at the same place are destroyed and must be free; a whole GPU must be
 * wholly free.  New instances are coming, or free at once if is_made. */
void ledger_repartition(struct ledger *ledger, gpu_id gpu, const struct gpu_cut *cut, bool is_made);

/* The milli of the GPU's instances that are not made yet; they are coming or claimed. */
uint32_t ledger_making_milli(const struct ledger *ledger, gpu_id gpu);

/* The GPU's new instances are made: coming -> free; claimed -> used. */
void ledger_made(struct ledger *ledger, gpu_id gpu);

/* The free instances of the profile on the GPU, as bits of their starts. */
uint8_t ledger_mig_starts(const struct ledger *ledger, node_id node, uint32_t gpu_index, enum mig_profile_id profile);

/* A piece of a non-preemptible job was added (sign 1) or has left (-1).  Outside of trials. */
void ledger_note_non_preemptible(struct ledger *ledger, const struct piece *piece, queue_id queue, int sign);

/* Does the queue keep a GPU of the node? */
static inline bool ledger_is_keeper(const struct ledger *ledger, queue_id queue, node_id node)
{
    const struct gpu_keep *keeps = &ledger->keeps[ledger->cluster->nodes[node].first_gpu];
    bool any = false;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node) && !any; i++)
        any = keeps[i].keeper == queue;
    return any;
}

/* The GPUs of the node that may be used, as a mask. */
static inline uint16_t allowed_gpus(const struct allowed_space *allowed, node_id node)
{
    return allowed == NULL || allowed->gpus == NULL ? UINT16_MAX : allowed->gpus[node];
}

/* The whole GPUs of the node that are free and may be used. */
static inline uint16_t ledger_usable(const struct ledger *ledger, node_id node, const struct allowed_space *allowed)
{
    return ledger->index->free_mask[node] & allowed_gpus(allowed, node);
}

/* Data of the node that the ledger borrows (`room`) has changed. */
static inline void ledger_note_change(struct ledger *ledger, node_id node)
{
    ledger->node_version[node]++;
    ledger->changes[ledger->change_count++ & ledger->change_mask] = node;
}

/* Cordoned, draining, down and absent nodes leave the index; their cells stay. */
void ledger_set_node(struct ledger *ledger, node_id node, enum node_state state);

/* A kept node leaves the index as if it were cordoned.  A node that is no longer kept is in the index again if it is
 * up.  Outside of trials. */
void ledger_keep_node(struct ledger *ledger, node_id node, bool is_kept);

/* Does the node take new work? */
static inline bool ledger_is_open(const struct ledger *ledger, node_id node)
{
    return ledger->node_state[node] == NODE_UP && !ledger->is_kept[node];
}

/* Note that the node has more free space than before.  Does nothing in a trial. */
static inline void ledger_note_growth(struct ledger *ledger, node_id node)
{
    if (ledger->mark_depth != 0)
        return;
    ledger->growth_count++;
    if (ledger->is_grown[node])
        return;
    ledger->is_grown[node] = 1;
    ledger->grown[ledger->grown_count++] = node;
}

/* List the nodes whose free space grew outside of marks since the last call.  Borrowed until the next change. */
uint32_t ledger_take_grown(struct ledger *ledger, const node_id **nodes);

struct owns;

uint64_t ledger_hash(const struct ledger *ledger);
const char *ledger_check(const struct ledger *ledger); /* NULL: all laws hold */

#endif
