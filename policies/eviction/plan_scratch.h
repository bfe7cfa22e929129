/* policies/eviction/plan_scratch.h -- what a plan (policies/eviction/plan.c) works on: the candidates, and what is
 * known of the nodes they are on.  It grows to the largest case, is reused, and holds nothing from one plan to the
 * next but what plans are tried again by (eligible_at and what follows it).
 */
#ifndef POLICIES_EVICTION_PLAN_SCRATCH_H
#define POLICIES_EVICTION_PLAN_SCRATCH_H

#include <assert.h>

#include "policies/order/order.h"
#include "policies/placement/placement.h"
#include "policies/preemption/preemption.h"
#include "policies/queues/queues.h"
#include "policies/quota/quota.h"
#include "policies/state/headroom.h"

/* The victim keys, the order chain reversed, the later id. */
enum { UNIT_KEYS = VICTIM_CHAIN_MAX + ORDER_CHAIN_MAX + 1 };

/* A part of a running job that may be taken: a surplus member, a surplus set (policies/gang/gang.h) as far as surplus
 * members leave it, or the core: all that its surplus leaves.  Of most units no more is ever asked than this; the rest
 * is there once they are ranked: victims_rank. */
struct unit {
    uint32_t slot;
    uint32_t holding;       /* index of the surplus member's holding; UNIT_SET: a surplus set; UNIT_CORE: the core */
    uint32_t surplus_count; /* of the job */
    queue_id queue;         /* leaf */
    int64_t held_milli;     /* of GPUs; what it is charged may differ, by the model */
    uint32_t terms;         /* of plan_scratch.terms, from 1; 0: none yet */
    bool is_over_quota : 1, is_taken : 1, is_moved : 1, is_refused : 1, is_ranked : 1;
    bool has_sets : 1; /* the job has a unit that is a set */
    uint8_t round;     /* of the plan, in which it was taken */
};

struct unit_terms { /* of a unit that comes into question */
    int64_t charge[QUEUE_SUM_COUNT];
    uint64_t groups;         /* of a set: its groups and those of the sets in it, as bits */
    uint32_t sequence;       /* of surplus: in which it leaves the job, from 0 */
    uint64_t key[UNIT_KEYS]; /* smaller goes first */
    struct preemption_cost preemption_cost;
    uint32_t first_place, place_count; /* where it is put, while is_moved: of plan_scratch.places */
};
#define UNIT_CORE UINT32_MAX
#define UNIT_SET  (UINT32_MAX - 1)

struct unit_span { /* of one queue, in plan_scratch.units */
    uint32_t first, count, next;
    uint32_t round; /* in which next and is_done hold */
    bool is_done;   /* once_a_queue: its unit was looked at */
};

struct nominee { /* a class queue, and the victims that its head would have if no other plan were made */
    uint32_t class_queue, first, count; /* of plan_scratch.targets */
};

/* Room for planning; grows to the largest case and is reused. */
struct plan_scratch {
    struct unit *units; /* candidates, in the order of their keys; by queue first if the policy says so */
    size_t unit_capacity;
    uint32_t unit_count;
    struct unit_terms *terms;
    size_t term_capacity;
    uint32_t term_count;
    uint32_t preemptor;  /* for whom they were collected; SLOT_NONE: nobody */
    struct unit *sorted; /* the other copy while they are put in order */
    size_t sorted_capacity;
    struct unit_order *order;
    size_t order_capacity;
    uint32_t next;           /* of the units, when not by queue */
    struct unit_span *spans; /* by queue */
    size_t span_capacity;
    uint8_t *has_units; /* by queue: here or below */
    size_t has_units_capacity;
    uint32_t *taken; /* indices of units, in the order they were taken */
    size_t taken_capacity;
    uint32_t taken_count;
    struct piece_list pieces, moved; /* of the preemptor; of a victim put elsewhere */
    struct piece *places;            /* of all victims put elsewhere, by unit */
    size_t place_capacity;
    uint32_t place_count;
    queue_id *touched;
    size_t touched_capacity;
    uint32_t *class_queues; /* that may ask for a plan */
    size_t class_queue_capacity;
    uint32_t class_queue_count;
    struct quota_round rounds[QUOTA_ROUNDS_MAX];
    uint32_t round_count, round; /* round_count 0: the quota policy asks for none */
    bool is_seeking;             /* victims: the rounds count */
    struct nominee *nominees;    /* of this cycle: policies/eviction/nominees.c */
    size_t nominee_capacity;
    uint32_t nominee_count;
    bool is_turn_stale;    /* class queues that may ask are to be gathered anew */
    int64_t turn_attempts; /* in the queue selections of this cycle */
    uint32_t *targets;     /* slots of their victims */
    size_t target_capacity;
    uint32_t target_count;
    struct free_space free_before; /* any victim went */
    uint8_t *node_mark;            /* by node: the preemptor is to be there */
    int64_t loss_bound;            /* units that would lose more GPU-ns are left out */
    bool is_moving;                /* also units that may not be lost are taken, if they find another place */
    bool saw_starting;             /* a victim was refused only because its START is not confirmed */
    time_ns eligible_at;           /* when the first victim refused only for its youth may be taken; TIME_NEVER */
    time_ns eligible_last_at;      /* and when all of them may be */
    time_ns affordable_at;         /* when what is lost may be worth the preemptor's wait; TIME_NEVER */
    bool saw_dear;                 /* it was not, of somebody */
    bool saw_nobody;               /* may give way */
};

static inline struct unit_terms *unit_terms(const struct plan_scratch *plan, const struct unit *unit)
{
    assert(unit->terms != 0);
    return &plan->terms[unit->terms - 1];
}

/* The round in which victims are sought; NULL: there is none. */
static inline const struct quota_round *plan_round(const struct plan_scratch *plan)
{
    return plan->is_seeking && plan->round_count > 0 ? &plan->rounds[plan->round] : NULL;
}

static inline void plan_note_eligible(struct plan_scratch *plan, time_ns at)
{
    if (at < plan->eligible_at)
        plan->eligible_at = at;
    if (plan->eligible_last_at == TIME_NEVER || at > plan->eligible_last_at)
        plan->eligible_last_at = at;
}

void plan_release(struct plan_scratch *plan);

#define COST_STALE INT64_C(-1)

struct offer_cost { /* of the victims: GPUs they hold in all, then what they lose */
    int64_t milli, loss_gpu_ns;
};

struct node_victims {       /* of a node; all zero but while victims are sought */
    uint32_t first;         /* of the links to who may leave: index + 1, or 0 */
    uint32_t place;         /* in the list of those with links */
    int64_t milli;          /* what those hold there */
    struct offer_cost cost; /* of the cheapest offer; COST_STALE */
};

/* What is known of the nodes while victims are sought node by node (policies/eviction/node_search.c); left clean
 * between two searches. */
struct node_search_scratch {
    struct node_victims *nodes; /* by node_id */
    node_id *listed;            /* those with links, in the order they are looked at */
    int64_t *least_milli;       /* beside it: no offer takes fewer; INT64_MAX: there is none; COST_STALE */
    uint32_t listed_count;
    struct unit_link *links;
    size_t link_capacity;
    uint32_t link_count;
};

#endif
