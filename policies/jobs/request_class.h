/* policies/jobs/request_class.h -- classes of requests: all jobs that ask the same share one request class.
 *
 * What can be said of one job's request can be said of its request class: whether it can ever fit, whether it fits now
 * (the placement memo), what it costs a queue.  Priority, user and queue are not part of it. What a job asks next (a
 * allocation step of it: policies/gang/gang.h) has a request class too: the same groups with other counts, some of
 * them zero.
 * Law: ids are dense, from 0, in order of first appearance; two jobs have the same request class exactly when their
 * groups, sets, topology, tags and their rules, class and preemptibility are equal.
 */
#ifndef POLICIES_JOBS_REQUEST_CLASS_H
#define POLICIES_JOBS_REQUEST_CLASS_H

#include "policies/jobs/wait_clock.h"
#include "policies/ledger/ledger.h"

/* It did not fit, or only on space that is kept free, and nothing it could use has grown since. */
enum request_class_closed {
    REQUEST_CLASS_BLOCKED = 1,
    REQUEST_CLASS_SPARES_NODES = 2,     /* it would break one of the last whole nodes */
    REQUEST_CLASS_SPARES_OWNERS = 4,    /* it would take GPUs that borrowers must leave */
    REQUEST_CLASS_SPARES_INFERENCE = 8, /* or those that all must leave */
    REQUEST_CLASS_PROMISED = 16,        /* it would be in the way of a planned start */
};

#define REQUEST_CLASS_NONE UINT32_MAX /* no request class's id */

/* Request classes as bits, by their id modulo 64: such a set may hold more than is in it, never less. */
typedef uint64_t request_class_set;
enum { REQUEST_CLASS_SET_BITS = 64 };

static inline request_class_set request_class_bit(uint32_t id)
{
    return UINT64_C(1) << id % REQUEST_CLASS_SET_BITS;
}

/* Who asks: what is kept for owners is closed for borrowers alone (policies/state/over_quota.c). */
enum asker { ASKER_IN_QUOTA, ASKER_OVER_QUOTA, ASKER_COUNT };

struct request_class {
    const struct job_group *groups; /* owned by the table */
    const uint16_t *order;          /* of placing: the group with the least room to spare first */
    uint16_t group_count;
    uint16_t set_count;          /* 0: each group is a set of its own */
    uint16_t min_sets;           /* of those in no other that it needs, or of the groups; 0: all */
    const struct job_set *sets;  /* owned by the table; names left out */
    const struct job_tags *tags; /* owned by the table; NULL: none */
    struct topology_ask topology;
    uint8_t class; /* enum job_class */
    bool is_rigid; /* its minimum is all of it: it starts and leaves as a whole */
    bool is_preemptible;
    bool never_fits; /* no state of this cluster could hold it */
    bool is_proven;  /* never_fits is the last word, by a placement where that says more */
    /* the placement memo: why nobody who asks it is tried, enum request_class_closed; set by request_class_close */
    uint8_t closed;
    uint8_t blocked_by;     /* enum clock_hand: what REQUEST_CLASS_BLOCKED means; set before it is */
    bool is_by_model;       /* what a member is charged depends on the GPU model that it is placed on */
    bool is_gang_on_pieces; /* more than one of those that must run together may be on pieces */
    uint32_t member_count;
    struct wait_clock clock; /* of what closed it */
    /* what may have made room when cutting GPUs did not help (repartitions.c); UINT64_MAX: never tried */
    uint64_t recut_seen;
    int64_t whole_nodes;                       /* free in the cluster when it became REQUEST_CLASS_SPARES_NODES */
    int64_t charge[QUEUE_SUM_COUNT];           /* of all members, before they are placed: request_class_most_milli */
    int64_t (*member_charge)[QUEUE_SUM_COUNT]; /* of one member, by group; owned by the table */
    uint32_t *class_queues;                    /* where its jobs wait (policies/queues/pending.h) */
    size_t class_queue_capacity;
    uint32_t class_queue_count;
};

struct request_class_table {
    struct request_class *at; /* by id */
    size_t capacity;
    uint32_t count;
    uint32_t *slots; /* open addressing by hash; 0: empty, else id + 1 */
    uint32_t slot_count;
    uint32_t closed_count;
    uint64_t *closed_words; /* by id, as bits: those that are closed */
    size_t closed_capacity;
    bool recuts;                         /* of the policy: what never fits depends on it */
    uint64_t closed_key;                 /* differs, but for a chance of 2^-64, with what is closed and how */
    request_class_set open[ASKER_COUNT]; /* for whom */
    uint32_t open_count[ASKER_COUNT][REQUEST_CLASS_SET_BITS];
    time_ns now; /* of the last fact or cycle */
    struct arena arena;
    struct node_asks asks; /* those of all requests of the scheduler */
};

void request_class_table_init(struct request_class_table *table);
void request_class_table_release(struct request_class_table *table);
/* Save or load (policies/util/archive.h); what is loaded into is empty, without slots. */
struct archive;
void request_class_table_archive(struct archive *archive, struct request_class_table *table);
/* What it asks of nodes is one of archive->asks. */
void request_class_archive_request(struct archive *archive, struct request *request);

/* The request class of a job, made if new.  O(groups). */
uint32_t request_class_of(struct request_class_table *table, const struct cluster *cluster, const struct job *job);

/* The request class of an allocation step of a job of request class `id`: counts[g] members of group g.  O(groups). */
uint32_t request_class_of_step(struct request_class_table *table, const struct cluster *cluster, uint32_t id,
                               const uint32_t counts[]);

static inline bool request_class_is_open(uint8_t closed, enum asker asker)
{
    return (asker == ASKER_IN_QUOTA ? closed & ~REQUEST_CLASS_SPARES_OWNERS : closed) == 0;
}

void request_class_close(struct request_class_table *table, uint32_t id, uint8_t closed); /* 0: open again */

/* The first request class from that id on that is closed; the count of request classes if there is none. */
static inline uint32_t request_class_next_closed(const struct request_class_table *table, uint32_t from)
{
    for (uint32_t id = from; id < table->count; id = (id | 63) + 1) {
        const uint64_t word = table->closed_words[id / 64] >> id % 64;
        if (word != 0)
            return id + (uint32_t)__builtin_ctzll(word);
    }
    return table->count;
}

/* The milli of one GPU that a member asks on this model: the share asked, or that of the memory asked;
 * 0: none, or whole GPUs; GPU_MILLI + 1: more than the model has. */
uint32_t request_class_share_milli(const struct request *request, const struct gpu_model *model);

/* The milli that a member may take at most, by the GPU models that would do: what it asks of its queue before it is
 * placed.
 * Memory, and a MIG instance, are another share of another model.  GPU_MILLI if no model would do.  O(node types). */
int64_t request_class_most_milli(const struct request *request, const struct cluster *cluster);

/* Members of whole GPUs that these GPUs of a node of that type hold: each in one island where the request says so. */
uint32_t request_class_members_in(const struct request *request, const struct node_type *type, uint16_t gpus);

/* Members that the empty cluster holds, whatever slices they come in. */
uint64_t request_class_room_empty(const struct request *request, const struct cluster *cluster, bool recuts);

/* Could no state of the cluster hold it?  Each group alone must fit it empty, and those of a set that requires it one
 * empty domain: exact for one group, never too strict for several. */
bool request_class_can_never_fit(const struct request_class *request_class, const struct cluster *cluster, bool recuts);

/* May members go wherever GPUs are free: no domain, no set, no slices, no tags or rules of them,
 * and no island that a node could split? */
bool request_class_goes_anywhere(const struct request_class *request_class, const struct cluster *cluster);

/* The GPUs of such a node that members could be on, by their number and how they are cut alone, whatever model,
 * labels, CPUs and memory are asked; 0: none.  All GPUs (or, without any, one bit) for a request that asks none. */
uint16_t request_class_gpus_per_node(const struct request *request, const struct cluster *cluster, uint32_t type_id,
                                     bool recuts);

/* Could a node of this type, all free, hold a member?  How many at once.  repartitions: GPUs that may be cut anew are
 * cut for it (policies/geometry/geometry.h). */
uint32_t request_class_members_per_node(const struct request *request, const struct cluster *cluster, uint32_t type,
                                        bool recuts);

/* The same of a node with its GPUs cut as they are now; those that the policy may cut are cut for it. */
uint32_t request_class_members_of_node(const struct request *request, const struct ledger *ledger, node_id node);

/* Of the node that so holds most.  O(nodes). */
uint32_t request_class_most_of_node(const struct request *request, const struct ledger *ledger);

/* Does the node, as it is now, hold one member of any of the request class's groups? */
bool request_class_fits_member(const struct request_class *request_class, const struct ledger *ledger, node_id node);

/* How many such members the node holds beside what is on it now, where that is allowed; 0 if it takes no new work. */
uint32_t request_class_room(const struct request *request, const struct ledger *ledger, node_id node,
                            const struct allowed_space *allowed);

/* What a piece of a job of the request class takes of its node. */
struct space request_class_space(const struct request_class *request_class, const struct piece *piece, uint32_t owner);

#endif
