/* policies/jobs/request_class.h -- classes of requests: all jobs with equal requests share one request class.
 *
 * A request class answers for all its jobs: whether they can ever fit, whether they fit now (the placement memo), and
 * what they cost a queue.  Priority, user and queue are not part of it.  An allocation step (policies/gang/gang.h) has
 * a request class too: the same groups with other counts, some of them 0.
 * Law: ids are dense, from 0, in order of first appearance; two jobs have the same request class exactly when their
 * groups, sets, topology, tags and their rules, class, preemptibility and anchor are equal, and what they exchange if
 * the placement policy looks at that (keeps_communication).
 * Law: what does not fit for one job of a request class fits for none of them.  So a step of a job whose members bind
 * it to domains or nodes has an anchor, which says to which.  (tests/property/test_left_waiting.c.  Without anchors one
 * gang bound to a full rack kept all jobs with its request out of an empty rack.)
 */
#ifndef POLICIES_JOBS_REQUEST_CLASS_H
#define POLICIES_JOBS_REQUEST_CLASS_H

#include "policies/jobs/wait_clock.h"
#include "policies/ledger/ledger.h"
#include "topologies/communication_set.h"

/* Why a request class is closed: it did not fit, or only on kept space.  It stays closed until space that it can use
 * grows. */
enum request_class_closed {
    REQUEST_CLASS_BLOCKED = 1,
    REQUEST_CLASS_SPARES_NODES = 2,     /* it would break one of the last whole nodes */
    REQUEST_CLASS_SPARES_OWNERS = 4,    /* it would take GPUs that are kept for owners */
    REQUEST_CLASS_SPARES_INFERENCE = 8, /* it would take GPUs that are kept for inference */
    REQUEST_CLASS_PROMISED = 16,        /* it would delay a planned start */
};

/* The anchor of a step: `places` is a hash of where members that are held bind it (sched_next_step), 0: nowhere, and of
 * its queue where the headroom is kept by queue;
 * is_surplus: in a strict line, the job runs already (policies/queues/pending.h). */
static inline uint64_t request_class_anchor(uint64_t places, bool is_surplus)
{
    return places << 1 | is_surplus;
}

#define REQUEST_CLASS_NONE UINT32_MAX /* no request class's id */

/* A set of request classes as bits, by their id modulo 64.  It may contain more classes than were added, never fewer.
 */
typedef uint64_t request_class_set;
enum { REQUEST_CLASS_SET_BITS = 64 };

static inline request_class_set request_class_bit(uint32_t id)
{
    return UINT64_C(1) << id % REQUEST_CLASS_SET_BITS;
}

/* Whether the head that asks is in quota.  Space kept for owners is closed only to heads over quota
 * (policies/state/over_quota.c). */
enum asker { ASKER_IN_QUOTA, ASKER_OVER_QUOTA, ASKER_COUNT };

struct request_class {
    const struct job_group *groups; /* owned by the table */
    const uint16_t *order;          /* the order of placement: the scarcest group first */
    uint16_t group_count;
    uint16_t set_count;                        /* 0: each group is a set of its own */
    uint16_t min_sets;                         /* how many of its outermost sets, or of its groups, it needs; 0: all */
    const struct job_set *sets;                /* owned by the table; names left out */
    const struct job_tags *tags;               /* owned by the table; NULL: none */
    const struct communication *communication; /* owned by the table; NULL: none, or it is not kept */
    uint64_t anchor;                           /* of a step: request_class_anchor; 0: nothing binds it */
    struct topology_ask topology;
    uint8_t class; /* enum job_class */
    bool is_rigid; /* its minimum is all its members: it starts and leaves as a whole */
    bool is_preemptible;
    bool never_fits; /* no state of this cluster could hold it */
    bool is_proven;  /* never_fits is final: where needed, a placement has tested it */
    /* the placement memo, enum request_class_closed: why its jobs are not tried; set by request_class_close */
    uint8_t closed;
    uint8_t blocked_by;     /* enum clock_hand: the reason of REQUEST_CLASS_BLOCKED; set before that is */
    bool is_by_model;       /* the charge of a member depends on the GPU model that it is placed on */
    bool is_gang_on_pieces; /* more than one member that must run together may be on a piece of a GPU */
    uint32_t member_count;
    struct wait_clock clock; /* of the reasons that closed it */
    /* the version of the space when cutting GPUs did not help (repartitions.c); UINT64_MAX: never tried */
    uint64_t recut_seen;
    int64_t whole_nodes;                       /* whole nodes free when it became REQUEST_CLASS_SPARES_NODES */
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
    uint64_t *closed_words; /* by id, as bits: the closed request classes */
    size_t closed_capacity;
    bool recuts;                         /* the policy cuts GPUs; never_fits depends on it */
    bool keeps_communication;            /* the placement policy looks at what jobs exchange */
    uint64_t closed_key;                 /* a hash of the closed request classes and their reasons */
    request_class_set open[ASKER_COUNT]; /* the open request classes, by enum asker */
    uint32_t open_count[ASKER_COUNT][REQUEST_CLASS_SET_BITS];
    time_ns now; /* of the last fact or cycle */
    struct arena arena;
    struct node_asks asks; /* of all requests in the scheduler */
    struct communication_set communications;
};

void request_class_table_init(struct request_class_table *table);
void request_class_table_release(struct request_class_table *table);

/* The id of the job's request class, which is made if it is new.  O(groups). */
uint32_t request_class_of(struct request_class_table *table, const struct cluster *cluster, const struct job *job);

/* The request class of an allocation step of a job of request class `id`: counts[g] members of group g, bound as the
 * anchor says.  O(groups). */
uint32_t request_class_of_step(struct request_class_table *table, const struct cluster *cluster, uint32_t id,
                               const uint32_t counts[], uint64_t anchor);

static inline bool request_class_is_surplus(const struct request_class *request_class)
{
    return (request_class->anchor & 1) != 0;
}

static inline bool request_class_is_open(uint8_t closed, enum asker asker)
{
    return (asker == ASKER_IN_QUOTA ? closed & ~REQUEST_CLASS_SPARES_OWNERS : closed) == 0;
}

void request_class_close(struct request_class_table *table, uint32_t id, uint8_t closed); /* 0: open again */

/* The first closed request class from that id on; the number of request classes if there is none. */
static inline uint32_t request_class_next_closed(const struct request_class_table *table, uint32_t from)
{
    for (uint32_t id = from; id < table->count; id = (id | 63) + 1) {
        const uint64_t word = table->closed_words[id / 64] >> id % 64;
        if (word != 0)
            return id + (uint32_t)__builtin_ctzll(word);
    }
    return table->count;
}

/* The milli of one GPU that a member asks on this model: the share, or the share that the requested memory is, rounded
 * down (the ledger counts the rest: struct gpu_excess), at least 1.  0: none, or whole GPUs; GPU_MILLI + 1: more than
 * the model has. */
uint32_t request_class_share_milli(const struct request *request, const struct gpu_model *model);

/* The most milli that a member may take on a GPU model that suits it: its charge before it is placed.  Requested memory
 * and MIG instances are different shares of different models.  GPU_MILLI if no model suits.  O(node types). */
int64_t request_class_most_milli(const struct request *request, const struct cluster *cluster);

/* How many members with whole GPUs these GPUs of a node of that type can hold, each on one island if the request says
 * so. */
uint32_t request_class_members_in(const struct request *request, const struct node_type *type, uint16_t gpus);

/* How many members the empty cluster can hold, without regard to slices. */
uint64_t request_class_room_empty(const struct request *request, const struct cluster *cluster, bool recuts);

/* Can no state of the cluster hold it?  Tests whether each group alone fits in the empty cluster, and each set that
 * requires a level in one empty domain.  True is always right; for several groups false may be wrong. */
bool request_class_can_never_fit(const struct request_class *request_class, const struct cluster *cluster, bool recuts);

/* Is any level asked for, by the job, a set or slices? */
bool request_class_asks_domains(const struct request_class *request_class);

/* May members go wherever GPUs are free?  It has no domain, no set, no slices, no tags or rules, and no island that a
 * node could split. */
bool request_class_goes_anywhere(const struct request_class *request_class, const struct cluster *cluster);

/* The GPUs of a node of the type that members could use, by their number and layout alone: model, labels, CPUs and
 * memory are ignored.  0: none.  For a request without GPUs: all GPUs, or one bit if there are none. */
uint16_t request_class_gpus_per_node(const struct request *request, const struct cluster *cluster, uint32_t type_id,
                                     bool recuts);

/* How many members an empty node of this type can hold.  recuts: GPUs that may be cut are cut for them
 * (policies/geometry/geometry.h). */
uint32_t request_class_members_per_node(const struct request *request, const struct cluster *cluster, uint32_t type,
                                        bool recuts);

/* As above, for one node with the present layouts of its GPUs; GPUs that the policy may cut are cut for them. */
uint32_t request_class_members_of_node(const struct request *request, const struct ledger *ledger, node_id node);

/* The largest such number of all nodes.  O(nodes). */
uint32_t request_class_most_of_node(const struct request *request, const struct ledger *ledger);

/* Has the node room now for a member of any group of the request class? */
bool request_class_fits_member(const struct request_class *request_class, const struct ledger *ledger, node_id node);

/* How many such members fit in the allowed space of the node now; 0 if it takes no new work. */
uint32_t request_class_room(const struct request *request, const struct ledger *ledger, node_id node,
                            const struct allowed_space *allowed);

/* The space that a piece of a job of the request class takes on its node. */
struct space request_class_space(const struct request_class *request_class, const struct piece *piece, uint32_t owner);

#endif
