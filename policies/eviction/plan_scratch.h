/* policies/eviction/plan_scratch.h -- the working memory of a plan (policies/eviction/plan.c): the candidates, and
 * what is known of their nodes.  It grows to the largest case and is reused.  From one plan to the next it keeps only
 * the nominees and class queues of the cycle, and what says when to try again (saw_starting and the fields after it).
 */
#ifndef POLICIES_EVICTION_PLAN_SCRATCH_H
#define POLICIES_EVICTION_PLAN_SCRATCH_H

#include <assert.h>

#include "policies/eviction/plan_request.h"
#include "policies/order/order.h"
#include "policies/placement/placement.h"
#include "policies/preemption/preemption.h"
#include "policies/queues/queues.h"
#include "policies/quota/quota.h"
#include "policies/state/headroom.h"

/* The victim keys, then the order chain reversed, then the later id. */
enum { UNIT_KEYS = VICTIM_CHAIN_MAX + ORDER_CHAIN_MAX + 1 };

/* An eviction unit, a part of a running job: a surplus member, a surplus set (policies/gang/gang.h) without its surplus
 * members, or the core: all but the surplus.  Most units need no more data than this.  victims_rank adds the rest
 * (struct unit_terms) where it is needed. */
struct unit {
    uint32_t slot;
    uint32_t holding;       /* the surplus member's holding, by index; UNIT_SET: a surplus set; UNIT_CORE: the core */
    uint32_t surplus_count; /* surplus units of the job */
    queue_id queue;         /* leaf */
    int64_t held_milli;     /* of GPUs; the charge may differ, by the GPU model */
    uint32_t terms;         /* index + 1 in plan_scratch.terms; 0: none yet */
    bool is_over_quota : 1, is_taken : 1, is_moved : 1, is_refused : 1, is_ranked : 1;
    bool has_sets : 1; /* a unit of the job is a surplus set */
    uint8_t round;     /* the round of the plan in which it was taken */
};

struct unit_terms { /* the rest of a unit's data, made when it is needed */
    int64_t charge[QUEUE_SUM_COUNT];
    uint64_t groups;         /* of a set: its groups and those of the sets in it, as bits */
    uint32_t sequence;       /* of surplus: its position in the order in which surplus leaves the job */
    uint64_t key[UNIT_KEYS]; /* the unit with the smaller key is taken first */
    struct preemption_cost preemption_cost;
    uint32_t first_place, place_count; /* its new place while is_moved, in plan_scratch.places */
};
#define UNIT_CORE UINT32_MAX
#define UNIT_SET  (UINT32_MAX - 1)

struct unit_span { /* the units of one queue, in plan_scratch.units */
    uint32_t first, count, next;
    uint32_t round;      /* next and is_done are valid in this round */
    bool is_done;        /* once_a_queue: the one unit was looked at */
    bool is_front_known; /* `front` is valid: nothing below the queue was taken since (next_below in victims.c) */
    uint32_t front;      /* the next unit of the queue or a queue below it: index + 1; 0: there is none */
    uint32_t own;        /* the next unit of the queue itself, when it was looked at last: as front */
};

struct victim_note { /* what a reclaim notes of the jobs of a queue (policies/eviction/victims_note.c) */
    queue_id queue;
    bool awaits_start; /* one may be taken when its START is confirmed */
    /* A guard protects some jobs now: when the first of them may be taken, and when the last; TIME_NEVER: it protects
     * none. */
    time_ns first, last;
};

struct victim_notes {        /* of the queues that are not settled */
    uint64_t cycle, changes; /* of sched->candidates: when they were taken */
    struct victim_note *at;
    size_t capacity;
    uint32_t count;
};

struct stay { /* a holding that keeps its place though its unit moves (policies/eviction/plan_members.c) */
    uint32_t slot, holding;
};

struct plan_result {          /* what the search for victims found out, for the next attempt */
    bool saw_starting;        /* a victim was refused only because its START is not confirmed */
    bool saw_too_costly;      /* the cost of some victim was too high */
    bool saw_no_victim;       /* there was no candidate */
    time_ns eligible_at;      /* when the first victim that a guard refuses only now may be taken; TIME_NEVER */
    time_ns eligible_last_at; /* when all of these victims may be taken */
    time_ns affordable_at;    /* when the preemption cost may be worth the preemptor's wait; TIME_NEVER */
};

#define COST_STALE INT64_C(-1)

struct offer_cost { /* of all victims of an offer: the GPUs they hold, then the work they lose */
    int64_t milli, loss_gpu_ns;
};

struct node_victims {       /* the candidates on a node; all zero when no search runs */
    uint32_t first;         /* the first link to a unit on the node: index + 1; 0: none */
    uint32_t place;         /* the node's position in `listed` */
    int64_t milli;          /* GPUs that these units hold there */
    struct offer_cost cost; /* of the cheapest offer; COST_STALE */
};

/* The nodes during a search node by node (policies/eviction/node_search.c); cleared between two searches. */
struct node_search_scratch {
    struct node_victims *nodes; /* by node_id */
    node_id *listed;            /* the nodes with links, in the order of the search */
    int64_t *least_milli;       /* by position in `listed`: no offer costs fewer; INT64_MAX: no offer; COST_STALE */
    uint32_t listed_count;
    struct unit_link *links;
    size_t link_capacity;
    uint32_t link_count;
};

struct plan_scratch {
    struct unit *units; /* the candidates, in the order of their keys; by queue first if the policy says so */
    size_t unit_capacity;
    uint32_t unit_count;
    struct unit_terms *terms;
    size_t term_capacity;
    uint32_t term_count;
    struct unit *sorted; /* the second copy while units are sorted */
    size_t sorted_capacity;
    struct unit_order *order;
    size_t order_capacity;
    bool is_in_order; /* the units were collected in the order of their keys, by queue; not all of them are ranked */
    bool is_lazy;     /* the units are not sorted; order[0] to order[drawn - 1] name the first of them in order */
    uint32_t drawn;   /* the rest of `order` is a heap (victim_order.c) */
    uint32_t next;    /* index of the next unit, when not by queue */
    struct unit_span *spans; /* by queue */
    size_t span_capacity;
    bool has_spans;     /* they are of the units that were collected last */
    uint8_t *has_units; /* by queue: it or a queue below it has units */
    size_t has_units_capacity;
    uint32_t *taken; /* indices of units, in the order they were taken */
    size_t taken_capacity;
    uint32_t taken_count;
    struct stay *stays;
    size_t stay_capacity;
    uint32_t stay_count;
    uint32_t *holds; /* slots of victims whose new places are held until the cycle ends */
    size_t hold_capacity;
    uint32_t hold_count;
    uint32_t *recalls; /* slots of jobs whose claims of this cycle the plan takes back (plan_recall.c) */
    size_t recall_capacity;
    uint32_t recall_count;
    struct piece_list staying;       /* the pieces of one job that stay */
    struct piece_list pieces, moved; /* the place of the preemptor; of the last victim that was moved */
    struct piece *places;            /* the places of all moved victims, by unit */
    size_t place_capacity;
    uint32_t place_count;
    queue_id *touched;
    size_t touched_capacity;
    uint32_t round;                /* of the request's rounds */
    struct free_space free_before; /* before any unit was taken */
    uint8_t *node_mark;            /* by node: the preemptor is placed there */
    uint16_t *returned_milli;      /* by GPU, and below by node: scratch of policies/eviction/plan_bound.c */
    uint8_t *cleared;              /* GPUs that become free when all candidates go */
    struct plan_result result;
    struct victim_notes notes;
    struct node_search_scratch node_search;
};

static inline struct unit_terms *unit_terms(const struct plan_scratch *plan, const struct unit *unit)
{
    assert(unit->terms != 0);
    return &plan->terms[unit->terms - 1];
}

/* The round in which victims are searched; NULL: there is none. */
static inline const struct quota_round *plan_round(const struct plan_scratch *plan, const struct plan_request *request)
{
    return request->round_count > 0 ? &request->rounds[plan->round] : NULL;
}

/* Nothing is taken yet. */
static inline void plan_begin(struct plan_scratch *plan)
{
    plan->taken_count = plan->stay_count = 0;
}

/* Do members of the job stay while others of its core move? */
static inline bool plan_stays_partly(const struct plan_scratch *plan, uint32_t slot)
{
    for (uint32_t s = 0; s < plan->stay_count; s++)
        if (plan->stays[s].slot == slot)
            return true;
    return false;
}

static inline void plan_note_eligible(struct plan_scratch *plan, time_ns at)
{
    if (at < plan->result.eligible_at)
        plan->result.eligible_at = at;
    if (plan->result.eligible_last_at == TIME_NEVER || at > plan->result.eligible_last_at)
        plan->result.eligible_last_at = at;
}

void plan_release(struct plan_scratch *plan);

#endif
