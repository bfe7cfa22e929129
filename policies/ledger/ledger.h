/* policies/ledger/ledger.h -- who has what: the one place where allocation state changes, with undo.
 *
 * Words.  Of every GPU's 1000 milli: `free` can be taken now; `coming` is being released and promised to nobody;
 * `claimed` is being released and promised; the rest is used.  Nodes keep CPU and memory the same way.  Queues keep
 * what their jobs were charged, summed up the tree.
 *
 * Laws
 *  - Between a mark and its roll back or commit every change is logged with the old value.  After a roll back
 *    ledger_hash is what it was at the mark; versions only go up.
 *  - free + coming + claimed + used = 1000 for each GPU, whatever the state of its node.
 *  - The node index (policies/ledger/node_index.h) always shows exactly the free GPUs of nodes that are up and not
 *    kept.
 *  - A partitioned GPU's instances lie where its layout says; what is made of a GPU anew (`making`) is coming or
 *    claimed until the world says that it is there.
 *  - Whatever changes what is free, coming or claimed on a node, or its state, raises its version and is one of the
 *    changes: who knows of the first n changes learns what is new from the rest of them.
 *
 *   size_t mark = ledger_mark(ledger);
 *   if (place(...)) ledger_commit(ledger, mark); else ledger_rollback(ledger, mark);
 *
 * Cost: O(GPUs of the piece) each; logging adds one 16-byte entry per word changed, or one for all whole GPUs of a
 * piece.
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

/* Of a GPU with MIG instances, which of them are what: bit s is the one that starts at slice s.  The GPU's cell
 * counts MIG_SLICE_MILLI for each of their memory slices; slices in no instance count as free. */
struct mig_cell {
    uint8_t free, coming, claimed;
    uint8_t making; /* those that the world has not made yet; MIG_MAKES_WHOLE: the GPU is on its way to be whole */
};
enum { MIG_MAKES_WHOLE = 0xff };

/* Who shares a GPU, or a node: pieces of one kind and one domain.  Those who claim what is left by others of another
 * kind or domain stand behind them until all of these have left.  Who ran before the scheduler came
 * (sched_job_adopted) may be of several: such a cell is SHARE_MIXED and nobody joins it until all have left. */
enum { SHARE_MIXED = SHARE_KIND_COUNT };
struct share_cell {
    uint32_t domain;           /* of struct request; 0 if there are no clients */
    uint32_t clients, leaving; /* members on it; of them those that are on their way out */
    uint32_t next_domain, next_clients;
    uint8_t kind, next_kind; /* enum share_kind; SHARE_MIXED, with domain 0 */
    uint8_t was_mixed;       /* when the trial began: who comes in place of all takes it for himself */
    uint8_t unused;
};

/* How a GPU is cut. */
struct gpu_cut {
    bool is_partitioned; /* with no instance yet, perhaps; else it is whole */
    struct gpu_layout layout;
};

struct cut_undo { /* of a GPU that was cut anew in a trial: as it was */
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

/* What queues are charged: per enum resource, and the part of it that cannot be preempted. */
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
    uint32_t table_index; /* which table (from bit LEDGER_TABLE_SHIFT), which element */
    uint32_t word;
    uint64_t old;
};

/* What quota policies that keep places for their queues know of a GPU (policies/quota/cells.h).  Not part of trials:
 * only what is booked for good counts. */
struct gpu_keep {
    queue_id keeper;                  /* whose cell it is part of; QUEUE_NONE */
    queue_id holder;                  /* queue of the last of non_preemptible_holders to come */
    uint16_t non_preemptible_holders; /* pieces on it of jobs that cannot be preempted, until they have left */
    uint8_t level;                    /* of the cell */
};

struct cell_index;       /* policies/quota/cells_index.h */
struct ledger_tags;      /* policies/ledger/ledger_tags.h */
struct typical_jobs;     /* policies/placement/typical.h */
struct placement_config; /* policies/placement/placement_config.h */

struct ledger {
    const struct cluster *cluster;
    struct gpu_cell *gpus;                  /* by gpu_id */
    struct mig_cell *migs;                  /* by gpu_id; NULL: no GPU is partitioned or may ever be */
    struct gpu_layout *layouts;             /* the same */
    uint16_t *layout_mask;                  /* by node: GPUs that are partitioned; NULL as migs is */
    struct share_cell *shares;              /* by gpu_id, of those in part; NULL: anybody shares with anybody */
    struct share_cell *node_shares;         /* by node, of all members; NULL: the same */
    uint32_t clients_max[SHARE_KIND_COUNT]; /* of a GPU; 0: no cap */
    bool recuts;                            /* GPUs that may be cut anew are, for those who find no place */
    uint32_t *owner;                        /* by gpu_id: slot of the job that holds the whole GPU, or OWNER_NONE */
    struct node_cell *nodes;
    bool limits_tasks;              /* some node does */
    struct gpu_keep *keeps;         /* by gpu_id */
    uint16_t *non_preemptible_mask; /* by node: GPUs with non_preemptible_holders */
    uint16_t *keep_mask;            /* by node: scratch of the quota policy */
    struct cell_index *cells; /* where the keepers' cells are (policies/quota/cells_index.h); NULL: not asked yet */
    const struct owns *owns;  /* of the placement policies; NULL: none has anything */
    uint8_t *node_state;      /* enum node_state, as the world told it */
    uint8_t *is_kept;         /* by node: from everybody, for a gang (policies/drain/drain.c) */
    uint32_t *node_version;
    node_id *changes; /* nodes whose version went up, the newest at changes[(change_count - 1) & change_mask] */
    uint32_t change_mask;
    uint64_t change_count;            /* since ever: of more than change_mask + 1 the oldest are forgotten */
    int64_t (*sums)[QUEUE_SUM_COUNT]; /* by queue_id */
    queue_id *parent;                 /* by queue_id */
    size_t queue_capacity;
    uint32_t queue_count;
    struct node_index *index;
    /* by node: GPUs without a job that is never evicted; borrowed; NULL: not known; who changes it notes that */
    const uint8_t *room;
    const struct typical_jobs *typical;       /* what jobs ask; borrowed; NULL: not known */
    uint64_t typical_version;                 /* another when they are others */
    const struct placement_config *placement; /* borrowed; NULL: the defaults */
    struct ledger_entry *log;
    size_t log_count, log_capacity;
    struct cut_undo *cuts; /* that log entries name */
    size_t cut_capacity;
    uint32_t cut_count;
    uint32_t mark_depth;
    int64_t used_milli, coming_milli, claimed_milli;
    node_id *grown; /* nodes whose free space grew since ledger_take_grown, each once */
    uint8_t *is_grown;
    uint32_t grown_count;
    uint64_t growth_count;    /* times that a node's free space grew, outside of marks */
    struct ledger_tags *tags; /* NULL: no rules of tags are minded */
    struct arena arena;
};

#define OWNER_NONE UINT32_MAX

/* The part of the cluster that something may be placed on.  Where a function takes a pointer to it, NULL: all of it. */
struct allowed_space {
    const uint16_t *gpus; /* by node: the GPUs that may be used; NULL: all */
    const uint8_t *shut;  /* by node: not 0: no member may go there, by rules of tags; NULL: no node is shut */
};

/* What a piece takes. */
struct space {
    node_id node;
    uint16_t gpu_mask;
    uint16_t gpu_milli; /* of each GPU in the mask */
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
void ledger_queues(struct ledger *ledger, const struct queue_table *queues); /* learn new queues */

size_t ledger_mark(struct ledger *ledger);
void ledger_rollback(struct ledger *ledger, size_t mark);
void ledger_commit(struct ledger *ledger, size_t mark);

void ledger_take(struct ledger *ledger, const struct space *space);    /* free -> used */
void ledger_give(struct ledger *ledger, const struct space *space);    /* used -> free */
void ledger_vacate(struct ledger *ledger, const struct space *space);  /* used -> coming */
void ledger_restore(struct ledger *ledger, const struct space *space); /* coming or claimed -> used (a refusal) */
void ledger_arrive(struct ledger *ledger, const struct space *space);  /* coming -> free; claimed -> used */
void ledger_claim(struct ledger *ledger, const struct space *space);   /* free -> used, the rest coming -> claimed */
void ledger_unclaim(struct ledger *ledger, const struct space *space); /* the reverse of claim */
bool ledger_is_there(const struct ledger *ledger, const struct space *space); /* nothing claimed is outstanding */

/* In a trial: all that is coming arrives on nodes that take new work, promised to nobody.  False if nothing does;
 * O(nodes). */
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

/* From now on GPUs, and nodes if by_node, are shared only by members of one kind and domain, and by no more than so
 * many of a kind.  Of a ledger that nothing is taken from yet. */
void ledger_share(struct ledger *ledger, const uint16_t clients_max[SHARE_KIND_COUNT], bool by_node);

/* A share of a GPU, not all of it, and no instance. */
static inline bool ledger_is_share(const struct space *space)
{
    return space->gpu_mask != 0 && space->gpu_milli < GPU_MILLI && space->mig == 0;
}

/* For questions without a trial.  is_now: does the holder of this space share it now, not next?  without: the cell
 * after `gone` holders of now and `next_gone` holders of next have left.  The last: how many more may then come, at
 * most. */
bool ledger_share_is_now(const struct share_cell *cell, const struct space *space, bool by_node);
struct share_cell ledger_share_without(const struct share_cell *cell, uint32_t gone, uint32_t next_gone);
uint32_t ledger_clients_left(const struct share_cell *cell, uint32_t most, uint8_t kind, uint32_t domain);

/* How many more such shares may be on the GPU, by who is on it already; UINT32_MAX: any number. */
uint32_t ledger_gpu_clients_left(const struct ledger *ledger, gpu_id gpu, const struct request *request);

static inline bool ledger_gpu_admits(const struct ledger *ledger, gpu_id gpu, const struct request *request)
{
    return ledger->shares == NULL || ledger_gpu_clients_left(ledger, gpu, request) > 0;
}

/* May what takes the space be beside those that are there? */
bool ledger_admits(const struct ledger *ledger, const struct space *space);

/* Does a member of another domain that is on the node already keep such a member out? */
bool ledger_node_keeps_out(const struct ledger *ledger, node_id node, uint32_t domain);

/* May such a member be on the node, by the members that are on it already, and by what is allowed? */
static inline bool ledger_node_admits(const struct ledger *ledger, node_id node, const struct request *request,
                                      const struct allowed_space *allowed)
{
    return (ledger->node_shares == NULL || !ledger_node_keeps_out(ledger, node, request->domain)) &&
           (allowed == NULL || allowed->shut == NULL || allowed->shut[node] == 0);
}

struct gpu_cut ledger_cut_of(const struct ledger *ledger, gpu_id gpu);

/* Memory slices of a partitioned GPU in instances that are not free; of a whole one all, unless it is wholly free. */
uint8_t ledger_busy_slices(const struct ledger *ledger, gpu_id gpu);

/* How many instances of the profile the GPU could have besides those in use, if it were cut anew for them. */
uint32_t ledger_mig_room(const struct ledger *ledger, gpu_id gpu, enum mig_profile_id profile);

/* Cut a GPU anew: instances that are not in `cut` with the same place are destroyed and must be free, a GPU that was
 * whole must be wholly free.  New instances are coming, or free at once (is_made). */
void ledger_recut(struct ledger *ledger, gpu_id gpu, const struct gpu_cut *cut, bool is_made);

/* Of the GPU what the world has still to make: it is coming, or claimed. */
uint32_t ledger_making_milli(const struct ledger *ledger, gpu_id gpu);

/* The world has made what was being made of the GPU: coming -> free; claimed -> used. */
void ledger_made(struct ledger *ledger, gpu_id gpu);

/* The instances of that profile that are free on the GPU, as bits of their starts. */
uint8_t ledger_mig_starts(const struct ledger *ledger, node_id node, uint32_t gpu_index, enum mig_profile_id profile);

/* A piece of a job that cannot be preempted comes (sign 1) or has left (-1).  Outside of trials. */
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

/* What the ledger shows of the node changed elsewhere (`room`). */
void ledger_note_change(struct ledger *ledger, node_id node);

/* Cordoned, draining, down and absent nodes leave the index; their cells stay. */
void ledger_set_node(struct ledger *ledger, node_id node, enum node_state state);

/* A kept node leaves the index as if it were cordoned, whatever the world says of it; one that is kept no more is there
 * again if it is up.  Outside of trials. */
void ledger_keep_node(struct ledger *ledger, node_id node, bool is_kept);
/* For a trial, a kept node is there; then kept again.  No growth is noted.  Outside of trials. */
void ledger_lend_node(struct ledger *ledger, node_id node, bool is_lent);

/* Does the node take new work? */
static inline bool ledger_is_open(const struct ledger *ledger, node_id node)
{
    return ledger->node_state[node] == NODE_UP && !ledger->is_kept[node];
}

/* The node has more free than before, for good; nothing inside of a trial. */
void ledger_note_growth(struct ledger *ledger, node_id node);

/* Nodes that gained free space outside of marks since the last call.  Borrowed until the next change. */
uint32_t ledger_take_grown(struct ledger *ledger, const node_id **nodes);

/* Save or load (policies/util/archive.h), between trials; what is loaded into is new.  O(GPUs). */
struct owns;
struct archive;
void ledger_archive(struct archive *archive, struct ledger *ledger);

uint64_t ledger_hash(const struct ledger *ledger);
const char *ledger_check(const struct ledger *ledger); /* NULL: all laws hold */

#endif
