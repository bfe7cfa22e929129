/* policies/state/sched_state.h -- the scheduler's inside, shared by sched.c (facts), booking.c (what jobs hold and wait
 * for), eligible.c (dependencies and arrays), cycle.c (decisions), victims.c and plan.c (evictions), moves.c and drain.c
 * (defragmentation).  Nobody else includes it. */
#ifndef POLICIES_STATE_SCHED_STATE_H
#define POLICIES_STATE_SCHED_STATE_H

#include "policies/allocate/kept_space.h"
#include "policies/drain/drain.h"
#include "policies/eviction/moves.h"
#include "policies/eviction/plan_scratch.h"
#include "policies/gang/gang.h"
#include "policies/jobs/job_table.h"
#include "policies/jobs/request_class.h"
#include "policies/ledger/ledger.h"
#include "policies/placement/placement.h"
#include "policies/preemption/preemption.h"
#include "policies/queues/pending.h"
#include "policies/queues/queue_selection.h"
#include "policies/queues/queues.h"
#include "policies/quota/quota.h"
#include "policies/repartition/repartitions.h"
#include "policies/reservation/planned_start.h"
#include "policies/sched.h"
#include "policies/state/accounts.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/run_times.h"
#include "policies/state/typical.h"

struct archive;

/* No timer of the policy asks again sooner, however short its times are: a job cannot wait in vain more often. */
#define SCHED_PATIENCE_MIN TIME_NS_PER_S

/* Why somebody may be evicted. */
enum plan_kind {
    PLAN_CONSOLIDATE,
    PLAN_RECLAIM,
    PLAN_PREEMPT,
    PLAN_KIND_COUNT,
    PLAN_HEADROOM = PLAN_KIND_COUNT /* for nobody: space that is kept for inference */
};

/* What is asked of a possible victim again and again; see roster.c. */
struct victim_card {
    bool is_known;                             /* the rest holds */
    bool is_firm;                              /* cannot be preempted, or is spared */
    bool is_spent;                             /* was evicted as often as a job may be */
    bool is_claiming, is_starting, is_leaving; /* some of its holdings are */
    bool has_surplus;                          /* above its minimum */
    time_ns decided;
    uint64_t decided_cycle;
    int64_t held_milli,
        growth_milli;      /* of GPUs; growth: while it runs on, what it would lose grows */
    time_ns lost_at_least; /* to save and to restart */
    time_ns unsaved_since, save_interval; /* 0: it does not save by itself */
};

struct priority_tally { /* possible victims of one priority */
    int32_t priority;
    uint32_t jobs;
};

struct queue_roster {               /* of the jobs that may be victims */
    struct priority_tally *tallies; /* of the priorities that some have, in no order */
    size_t tally_capacity;
    uint32_t tally_count;
    uint32_t version; /* moves whenever one of them comes, or changes */
    bool is_floor_known;
    int64_t floor_gpu_ns; /* none of them loses less, from then on */
};

struct headroom { /* in amounts of this cluster */
    int64_t gpu_milli, whole_nodes, owners_milli;
    uint16_t node_gpus;   /* of its largest node */
    bool is_kept;         /* one of the former is not 0 */
    uint32_t shapes_seen; /* so many have been looked at, and of those */
    shape_set spared;     /* these it is kept from */
};

/* A lane asleep, in a heap by state change or time; one that slept again meanwhile does not count. */
struct sleeper {
    uint64_t key;
    uint32_t lane, sleep;
};

struct sleeper_heap {
    struct sleeper *at;
    size_t capacity;
    uint32_t count;
};

struct agenda {   /* of one kind of plan; see agenda.c */
    bool is_used; /* by the policy */
    uint32_t *awake;
    size_t awake_capacity;
    uint32_t awake_count;
    struct sleeper_heap by_change, by_time;
    struct sleeper *expectant; /* of a START to be confirmed */
    size_t expectant_capacity;
    uint32_t expectant_count;
    uint64_t starts_seen;
};

struct refusal_note { /* a REJECT to be told */
    job_id job;
    enum reason reason;
    uint32_t shape; /* and what it asked, in which queue */
    queue_id queue;
    time_ns at;
    struct wait_times waited; /* until then; when it is told, in all */
};

struct job_array {     /* elements of one array */
    uint32_t limit;    /* 0: none */
    uint32_t eligible; /* waiting or running */
    uint32_t *parked;  /* slots, in order of submission */
    size_t capacity;
    uint32_t first, count;
};

struct dependency { /* slot waits for job */
    job_id waiter, on;
    uint8_t kind; /* enum after_kind */
};

/* What is used most comes first: the compiler has shorter instructions for what is within 128 bytes. */
struct sched {
    struct job_table jobs;
    time_ns now; /* of the last fact or cycle */
    struct ledger *ledger;
    struct shape_table shapes;
    struct pending pending;
    struct queue_tree tree;
    struct policy_config policy;
    const struct cluster *cluster;
    struct ledger *empty; /* of an empty cluster, to see what can ever fit; NULL until needed */
    struct accounts accounts;
    time_ns ranked_at;      /* when all ranks were last computed */
    uint64_t ranked_change; /* as of which state change */
    time_ns quota_at;       /* when the quota policy wants to be asked again; TIME_NEVER */
    uint64_t quota_change;  /* the state change as of which it was asked last */
    bool ranks_move, ranks_fixed, ranks_by_fill, needs_accounts;
    bool notes_service; /* somebody asks how long jobs ran */
    bool
        overtakes; /* somebody may overtake in a line that stops: policies/reservation/overtake.c */
    bool
        reserves; /* somebody may be held up where lanes are skipped: policies/reservation/reserve.c */
    bool has_own_times; /* some queue says its own preemption delay, or when its gangs are stale */
    bool has_patience;  /* some job waits before others are evicted for it: no job had to, if not */
    bool
        keeps_quota; /* the quota policy may keep quota for jobs that it forbids: policies/state/kept_quota.c */
    bool plans_in_turn; /* the contest books plans of reclaim: policies/eviction/nominees.c */
    bool
        takes_both; /* reclaim also takes from the gainer's own queue: policies/eviction/plan_rounds.c */
    struct slot_list
        *running; /* by queue_id: jobs that hold something and may be evicted, in no order */
    size_t running_capacity;
    time_ns reclaim_least_runtime; /* of all queues */
    time_ns least_loss;         /* run time that is lost with each GPU of a victim, at the least */
    struct victim_card *roster; /* by slot */
    size_t roster_capacity;
    struct queue_roster *queue_rosters; /* by queue_id */
    size_t queue_roster_capacity;
    uint32_t leaving_count; /* holdings on their way out */
    struct agenda agendas[PLAN_KIND_COUNT];
    uint8_t acts[ACTIONS_MAX], act_count; /* the actions of the policy that can do anything */
    struct contest_scratch contest;
    struct kept_space_scratch kept;
    uint32_t *claims; /* slots with claimed holdings, in the order of their plans */
    size_t claim_capacity;
    uint32_t claim_count;
    time_ns claims_until;        /* none of them expires before */
    int64_t claimed_piece_milli; /* what their claimed holdings take in all */
    uint32_t *below;             /* slots that hold less than their minimum, but something */
    size_t below_capacity;
    uint32_t below_count;
    struct waits waits;
    struct refusal_note *rejects; /* to be told in the next cycle */
    size_t reject_capacity;
    uint32_t reject_count;
    job_id *releases; /* reservations given up, to be told in the next cycle */
    size_t release_capacity;
    uint32_t release_count;
    struct dependency *dependencies;
    size_t dependency_capacity;
    uint32_t dependency_count;
    struct job_array *arrays; /* by id */
    size_t array_capacity;
    struct decision *decisions;
    size_t decision_capacity;
    uint32_t decision_count;
    struct piece_list told; /* the pieces of the decisions of this cycle */
    uint64_t decision_sequence;
    uint64_t recalls_after; /* a START of a later sequence may be recalled; UINT64_MAX: none */
    uint64_t cycle;
    uint64_t changes;     /* facts and decisions so far; what back-off counts */
    uint32_t held_count;  /* jobs in SJOB_HELD */
    uint64_t rest_change; /* the state change since which nothing runs, at... */
    time_ns rest_since;
    uint64_t starts; /* confirmed */
    uint32_t
        booked_running; /* jobs that hold something not on its way out, claims alone not counted */
    uint64_t attempts, plans, plans_tried;
    struct headroom headroom;
    uint64_t headroom_retry; /* no eviction for the headroom before so many state changes */
    int64_t evicted_in_cycle;
    struct piece_list pieces;      /* scratch of placement */
    struct piece_list held_pieces; /* scratch: what the job being placed has already */
    struct plan_scratch plan;
    struct offer_scratch offers;
    struct forecast_book forecasts;
    struct overtake_scratch overtake;
    struct run_times run_times;  /* where the estimate policy learns */
    struct typical_book typical; /* where the placement policy asks which jobs usually come */
    struct potential potential;  /* when the policy evicts */
    struct drain drain;          /* when the policy drains */
    struct move_log moves;       /* when they are bounded */
    struct recut_book recuts;    /* when the policy cuts GPUs anew */
    struct eviction_log
        *evictions; /* by queue, for disruption budgets; policies/eviction/victims.c */
    size_t eviction_capacity;
    struct owns owns; /* of plug-ins that the policy uses */
    const struct policy_own *order_own[ORDER_CHAIN_MAX], *victim_own[VICTIM_CHAIN_MAX];
    const struct policy_own *gang_own, *estimate_own, *preemption_own, *backfill_own;
};

static inline struct shape *sched_shape(struct sched *sched, const struct sched_job *job)
{
    return &sched->shapes.shapes[job->shape];
}

static inline struct shape *sched_ask(struct sched *sched, const struct sched_job *job)
{
    return &sched->shapes.shapes[job->ask];
}

static inline int64_t piece_milli(const struct piece *piece)
{
    return (int64_t)bits_count16(piece->gpu_mask) * piece->gpu_milli;
}

/* ---- sched.c */

/* An error if the policy leaves a seam empty. */
struct error sched_find_gap(const struct policy_config *policy) MUST_CHECK;
/* All free, nobody told of any queue; no table of shapes. */
struct sched *sched_blank_new(const struct cluster *cluster, const struct queue_table *queues,
                              const struct policy_config *policy);

/* Under a sharing policy the ledger keeps who shares with whom. */
void sched_share(const struct sched *sched, struct ledger *ledger);
/* The shape's minimum does not fit the empty cluster; what is above it may stay a wish. */
bool sched_never_fits(struct sched *sched, uint32_t shape);
/* Why a job of that shape is refused when it is submitted; REASON_NONE: it is not. */
enum reason sched_refusal(struct sched *sched, uint32_t shape);
/* The shape of the job on the kind of pieces that the policy gives it; as it asks if it stands on others already. */
uint32_t sched_shape_shared(struct sched *sched, const struct job *job, const struct piece *pieces,
                            uint32_t piece_count);
/* The shape of the job, its levels as the policy's topology mode has them (policies/state/topology_mode.c). */
uint32_t sched_shape_for(struct sched *sched, const struct job *job);

/* ---- sched_shapes.c */

/* What the holding costs the queue, added with the sign to `amounts`. */
void sched_add_charge(const struct sched *sched, uint32_t slot, const struct piece *piece, int sign,
                      int64_t amounts[QUEUE_SUM_COUNT]);
/* The shape of what the job asks next beside what it holds; SHAPE_NONE: nothing, or members that are still on their way out. */
uint32_t sched_next_chunk(struct sched *sched, uint32_t slot);

/* ---- booking.c */

/* Append a decision about the job in `slot`. */
struct decision *sched_decide(struct sched *sched, enum decision_kind kind, uint32_t slot);
/* Say that the holding is part of the last decision. */
void sched_tell_piece(struct sched *sched, const struct piece *piece);

typedef void ledger_move_fn(struct ledger *ledger, const struct space *space);
void sched_move(struct sched *sched, uint32_t slot, uint32_t holding, ledger_move_fn *move);

/* Charge the queue of the job (amounts may be negative); outside of trials reopens what that lets go, and the job is
 * settled or forgotten before the next contest. */
void sched_charge(struct sched *sched, uint32_t slot, const int64_t amounts[QUEUE_SUM_COUNT]);

void sched_advance_quota(struct sched *sched, time_ns now); /* of a policy that wants it */

/* At the beginning of each fact: what depends on time alone is integrated before anything changes. */
void sched_begin_fact(struct sched *sched, time_ns now);

/* Give up the reservations whose time has passed before their space came; one whose space has come starts in the next
 * cycle, or in this.  is_cycle: and those that rules of tags shut. */
void sched_expire_claims(struct sched *sched, bool is_cycle);

static inline void sched_pass_time(struct sched *sched, time_ns now)
{
    if (sched->drain.count > 0)
        drain_count_time(sched, now);
    sched->now = sched->shapes.now = now;
    if (sched->claim_count > 0 && now > sched->claims_until)
        sched_expire_claims(sched, false);
    if (sched->policy.quota->advance != NULL)
        sched_advance_quota(sched, now);
}

/* All lanes that a quota closed may try again. */
void sched_reopen_quotas(struct sched *sched);

/* Hold the pieces, whose space the ledger has given already, in this phase; charge them.  Pieces of jobs that may
 * shrink are split into single members. */
void sched_hold(struct sched *sched, uint32_t slot, const struct piece_list *pieces,
                enum holding_phase phase, decision_id decision);
/* The holding leaves the books altogether: space free (or arrived), uncharged unless it was leaving. */
void sched_unhold(struct sched *sched, uint32_t slot, uint32_t holding);
/* The holding is on its way out: its space is coming, its charge is gone. */
void sched_let_leave(struct sched *sched, uint32_t slot, uint32_t holding, decision_id decision);
/* After holdings came or went: state, fill, lists and ranks of the job, and whether and for what it waits. */
void sched_settle(struct sched *sched, uint32_t slot);

void sched_wait(struct sched *sched, uint32_t slot); /* for its next chunk, if there is one */
void sched_unwait(struct sched *sched, uint32_t slot);
/* Take space in the ledger for the chunk that the job asks; false if it does not fit: roll back. */
bool sched_place(struct sched *sched, uint32_t slot, struct piece_list *pieces);
void sched_gang_view(struct sched *sched, uint32_t slot, struct gang_view *view);
/* Give up the reservation of the job in `slot`; it waits again. */
void sched_drop_claim(struct sched *sched, uint32_t slot);
/* `asking`: the shape and the queue of the job, which may be in no slot. */
struct asking {
    uint32_t shape;
    queue_id queue;
};
void sched_reject(struct sched *sched, job_id job, struct asking asking, enum reason reason);
void sched_forget(struct sched *sched, uint32_t slot); /* it is over */

/* ---- ranks.c */

void sched_study_orders(struct sched *sched);
/* How long it has run in all its attempts; kept where ranks move, or defragmentation moves jobs. */
time_ns sched_ran(const struct sched *sched, uint32_t slot);
void sched_rank(struct sched *sched, uint32_t slot); /* compute its ranks now */
/* Its ranks if it were filled so (enum job_fill). */
void sched_rank_as(const struct sched *sched, uint32_t slot, uint8_t fill,
                   uint64_t rank[ORDER_CHAIN_MAX]);
/* The same if it held so much more besides. */
void sched_rank_with(const struct sched *sched, uint32_t slot, uint8_t fill,
                     const int64_t more[QUEUE_SUM_COUNT], uint64_t rank[ORDER_CHAIN_MAX]);
void sched_rank_all(struct sched *sched);

/* ---- cycle.c */

/* Start the waiting job on sched->pieces, whose space is free. */
void sched_start(struct sched *sched, uint32_t slot, enum source source);
/* Try the head of the lane; close the lane if it cannot go. */
void sched_try_head(struct sched *sched, uint32_t lane);

/* ---- eligible.c */

/* Why the new job may not wait for its turn yet; REASON_NONE: it may; REASON_DEPENDENCY_NEVER: never. */
enum reason eligible_submit(struct sched *sched, uint32_t slot, const struct job *job);
void eligible_adopt(struct sched *sched, uint32_t slot); /* it runs already, whatever the limit */
void eligible_ended(struct sched *sched, job_id job,
                    enum ended end); /* of any job; releases who waited for it */
void eligible_left(struct sched *sched, uint32_t array);    /* an element of the array is over */
void eligible_released(struct sched *sched, uint32_t slot); /* its submitter holds it no longer */
void eligible_unpark(struct sched *sched, uint32_t slot);   /* cancelled while it was held */
void eligible_archive(struct archive *archive, struct sched *sched);

/* ---- borrowers.c */

/* Would its queue, and all above it, still be within what they deserve with the chunk it asks? */
bool sched_is_entitled(const struct sched *sched, uint32_t slot);
/* True if the head of the lane is not entitled so; that is remembered until it may be, or another is the head. */
bool borrowers_find(struct sched *sched, uint32_t lane);
/* Less is charged to the queue: heads that it made borrowers may be none now. */
void borrowers_review(struct sched *sched, queue_id queue);

/* ---- plan.c */

/* Is there a plan of this kind that makes room for the gainer, who waits in a lane?  plan.taken: its victims. */
bool plan_find(struct sched *sched, uint32_t gainer, enum plan_kind kind);

/* Make room for the gainer, who waits in a lane, by a plan of this kind.  True if it is booked. */
bool plan_make(struct sched *sched, uint32_t gainer, enum plan_kind kind);

/* The chunk fits what is free and is leaving together: claim both, before those behind it.  False: it does not. */
bool plan_await(struct sched *sched, uint32_t slot);

/* Take the unit in the trial; the surplus of a core goes with it. */
void plan_take(struct sched *sched, struct unit *unit);
void plan_give_back(struct sched *sched, struct unit *unit);
/* Does the core of this surplus member go?  Then it cannot stay. */
bool plan_is_core_taken(const struct sched *sched, const struct unit *unit);
/* Jobs that one plan of this kind may evict now. */
uint32_t plan_job_bound(struct sched *sched, enum plan_kind kind);
/* Is the holding a surplus member of the job of this core? */
bool plan_is_surplus(const struct sched *sched, const struct unit *core, uint32_t holding);

/* Charge, sign times, what the unit holds; what the gainer asks. */
void plan_charge(struct sched *sched, const struct unit *unit, int sign);
void plan_charge_gainer(struct sched *sched, uint32_t gainer, int sign);

/* ---- plan_places.c */

/* Put the unit, which is taken, elsewhere in the trial (plan.moved), and charge it again; false: it has no place. */
bool plan_seek_place(struct sched *sched, const struct unit *unit);
/* The same, and remember the place as its own (plan.places). */
bool plan_replace(struct sched *sched, struct unit *unit);
/* In the trial, put the gainer in its place (plan.pieces) and then the victims in theirs (plan.places); *homeless: victims that
 * have no other place.  False: the gainer has none. */
bool plan_put_all(struct sched *sched, uint32_t gainer, uint32_t *homeless);
/* Of a plan that is good, where victims move: give back those put on their own nodes that can stay with what they have, while
 * all others have the places found.  True if there are some; plan.pieces and plan.places hold then. */
bool plan_leave_at_home(struct sched *sched, uint32_t gainer);

/* ---- plan_rounds.c */

/* May a plan of this kind evict anybody for the gainer?  Fills plan.rounds. */
bool plan_may_evict(struct sched *sched, uint32_t gainer, enum plan_kind kind);
/* Does a plan of reclaim for the gainer also take from this queue, for it is its own? */
bool plan_takes_own(const struct sched *sched, uint32_t gainer, queue_id queue);
/* Is what the gainer takes from beyond this queue, its own or one above it, what that is entitled to in this round? */
bool plan_is_by_right(const struct sched *sched, queue_id gainer_top);
/* Do the rounds take from the queue of the largest share first? */
bool plan_is_by_share(const struct sched *sched);
/* Is what the gainer takes from this queue its due in every round? */
bool plan_is_all_by_right(const struct sched *sched, queue_id queue);
/* The gainer (a) and the job of the unit (b) as `compare` wants them, where their queues meet. */
void plan_contenders(struct sched *sched, uint32_t gainer, const struct unit *unit,
                     struct contender *a, struct contender *b);
/* Go on to the next round, from `mark` if it begins with nothing; false: this was the last. */
bool plan_next_round(struct sched *sched, size_t *mark);
/* With only the units that are still taken, might each be taken in its round? */
bool plan_is_lawful(struct sched *sched, uint32_t gainer);
/* victims_next in a round that goes by share. */
struct unit *plan_next_by_share(struct sched *sched, uint32_t gainer, enum plan_kind kind);

/* ---- kept.c */

void kept_init(struct sched *sched);
/* The queue that forbids the job what is kept for others in front of it; QUEUE_NONE. */
queue_id kept_forbids(struct sched *sched, uint32_t slot);
/* The lanes that were closed by it are open again. */
void kept_reopen(struct sched *sched);

/* ---- agenda.c */

void agenda_note(struct sched *sched, uint32_t lane); /* a job came to wait there */
/* The lane's memo says how long. */
void agenda_sleep(struct sched *sched, uint32_t lane, enum plan_kind kind);
/* It is due, but its head is not patient before `until`. */
void agenda_doze(struct sched *sched, uint32_t lane, enum plan_kind kind, time_ns until);
void agenda_new_head(struct sched *sched, uint32_t lane);
/* Put who is due among the awake, and those that are not out.  False: nobody is awake. */
bool agenda_wake(struct sched *sched, enum plan_kind kind);
/* What its memo waits for has come. */
bool agenda_is_due(const struct sched *sched, const struct plan_memo *memo);
/* When the first sleeper is due by time alone; TIME_NEVER.  Those that may not ask now are put among the awake. */
time_ns agenda_ripe_at(struct sched *sched, enum plan_kind kind);
/* What time alone moved may make a good plan of one that came to nothing: forget the back-off. */
void sched_void_memos(struct sched *sched);
void agenda_release(struct sched *sched);
void agenda_archive(struct archive *archive, struct sched *sched);
const char *agenda_check(const struct sched *sched); /* NULL: its laws hold */

/* ---- attempts.c */

void plan_init(struct sched *sched); /* which kinds and actions the policy uses */
/* May the lane's head ask for such a plan: space, or a limit that victims could ease, keeps it, and it is its turn? */
bool plan_may_ask(const struct sched *sched, uint32_t lane, enum plan_kind kind);

/* The attempts of one kind in one cycle; true if a plan was booked. */
bool plan_cycle(struct sched *sched, enum plan_kind kind);
/* When to try again if nothing is told: for victims too young, or because the attempts were used up. */
time_ns plan_wake(struct sched *sched);

/* ---- plan_book.c */

/* May the job be a victim of such a plan though it starts: the policy says so, and `allocate` of this cycle decided every START
 * not confirmed yet?  Once a cycle only.  O(holdings). */
bool plan_may_recall(const struct sched *sched, uint32_t slot, enum plan_kind kind);

/* Let the taken units go in the books, for the gainer's sake (JOB_NONE: nobody's).  Members that run are evicted; the START of
 * those that start is recalled: it is not told, and the job waits as before.  Returns what the gainer's space is owed to. */
enum source plan_book(struct sched *sched, job_id gainer, enum plan_kind kind);

/* The gainer claims the pieces of the plan. */
void plan_book_gainer(struct sched *sched, uint32_t gainer, enum source source);

void plan_release(struct plan_scratch *plan);

#include "policies/eviction/headroom.h" /* needs what stands above */

/* ---- offers.c */

void offers_init(struct sched *sched);
void offers_release(struct sched *sched);
/* Can victims for this chunk be sought node by node? */
bool offers_suit(const struct sched *sched, const struct shape *ask);
/* Take, in the trial, units that make room for one more member where that costs least; false: nowhere.  Between
 * victims_collect and offers_end. */
bool offers_take(struct sched *sched, uint32_t gainer, const struct request *request,
                 enum plan_kind kind);
void offers_end(struct sched *sched);

/* ---- attempts.c */

/* How long it waits before anybody is evicted for it. */
time_ns sched_delay(const struct sched *sched, uint32_t slot);
/* How long it may stay below its minimum before it loses the rest; TIME_NEVER: for ever. */
time_ns sched_stale_after(const struct sched *sched, uint32_t slot);
void sched_learn_times(struct sched *sched); /* the queues are others: who says its own? */

/* ---- roster.c */

/* The job's holdings, their phases, its evictions or its saved work changed. */
void roster_forget(struct sched *sched, uint32_t slot);
/* The card of a job that holds something; good until the next call. */
struct victim_card *roster_card(struct sched *sched, uint32_t slot);
/* What it is given to save its work when it is evicted: what it asks for, at most what the policy grants; 0: it cannot
 * save, or nobody is let. */
time_ns sched_grace(const struct sched *sched, uint32_t slot);
/* Its card will be asked for soon: when a list of slots is read, so many further on. */
enum { ROSTER_AHEAD = 6 };
static inline void roster_foresee(const struct sched *sched, uint32_t slot)
{
    if (slot < sched->roster_capacity)
        __builtin_prefetch(&sched->roster[slot]);
    __builtin_prefetch(&sched->jobs.jobs[slot]);
}
struct forfeit roster_forfeit(struct victim_card *card, time_ns now); /* if it left now */
/* The run time since its work was last safe. */
time_ns roster_unsaved(struct victim_card *card, time_ns now);

/* The job is a possible victim now, or is none any more. */
void roster_list(struct sched *sched, uint32_t slot, bool is_listed);
/* Is there a possible victim of lower priority in the queue?  O(distinct priorities). */
bool roster_has_lower(const struct sched *sched, queue_id queue, int32_t priority);
/* How often the candidates of the queue came or changed. */
uint32_t roster_version(const struct sched *sched, queue_id queue);
/* No job of the queue loses less if it is evicted, now or later; INT64_MAX: none may be.  O(1) while nothing changed. */
int64_t roster_floor(struct sched *sched, queue_id queue);
void roster_refloor(struct sched *sched, queue_id queue); /* it may have risen */
void roster_release(struct sched *sched);
void roster_archive(struct archive *archive, struct sched *sched);
const char *roster_check(const struct sched *sched); /* NULL: what is on the cards is true */

/* ---- worth.c */

/* GPU-ns that may be thrown away for what the gainer has waited until now. */
int64_t worth_of_wait(const struct sched *sched, uint32_t gainer);
/* The loss is more than that: note when it may not be. */
void worth_note(struct sched *sched, uint32_t gainer, const struct forfeit *forfeit);
/* A job that may be a victim one day is there, or was told to have saved; the queues changed. */
void worth_know(struct sched *sched, uint32_t slot);
void worth_queues_changed(struct sched *sched);
/* Before that no plan of reclaim can be worth the gainer's wait; 0: it may be any time. */
time_ns worth_earliest(const struct sched *sched, uint32_t gainer);
/* When a plan that was too dear is worth another look. */
time_ns worth_retry_at(const struct sched *sched, uint32_t gainer);

/* ---- victims.c */

struct eviction_log { /* of one queue */
    time_ns *at;      /* a ring of the last evictions_per_queue_h */
    uint32_t next, count;
};

/* Fill plan.units with all that may be evicted for the gainer; in the order of the keys if that is wanted. */
void victims_collect(struct sched *sched, uint32_t gainer, enum plan_kind kind, bool is_ordered);
/* From when on a reclaim for the gainer might take all of this job, as it stands; TIME_NEVER: it may not. */
time_ns victims_ripe_at(struct sched *sched, uint32_t gainer, uint32_t slot);
/* The next unit to take, or NULL: by key, or by queue first if the policy says so. */
struct unit *victims_next(struct sched *sched, uint32_t gainer, enum plan_kind kind);
/* May the unit be taken in the present trial state?  If not, it is not asked again in this plan. */
bool victims_may_take(struct sched *sched, uint32_t gainer, struct unit *unit, enum plan_kind kind);
/* Does the quota policy let its queue lose the unit to the gainer, in the present trial state? */
bool victims_is_lawful(struct sched *sched, uint32_t gainer, const struct unit *unit);
/* Within the gainer's queue only lower priorities give way, and nobody runs at one. */
bool victims_has_no_lower(const struct sched *sched, uint32_t gainer, queue_id queue);
/* A job of this queue is being evicted. */
void victims_log(struct sched *sched, queue_id queue);
void victims_release(struct sched *sched);

/* ---- victim_order.c */

/* Find the keys of a unit, and what it is charged.  O(holdings). */
void victims_rank(struct sched *sched, struct unit *unit);
/* Does the preemption policy keep the unit from being taken?  Then it is refused. */
bool victims_spares(struct sched *sched, struct unit *unit);
/* <0 if x, ranked, is taken before y, by the keys. */
int victims_compare(const struct plan_scratch *plan, const struct unit *x, const struct unit *y);
/* What a unit is charged and loses: nothing yet.  Good until the next call. */
struct unit_terms *victims_new_terms(struct plan_scratch *plan, struct unit *unit);
/* Where the order alone says who gives way: does the gainer go before the victim in the after-state too?  Else the victim
 * could take its place back at once. */
bool victims_keep_order(struct sched *sched, uint32_t gainer, const struct unit *unit);
/* Put all units of the plan in order, of each queue together if that is wanted. */
void victims_order(struct sched *sched, bool by_queue);

#endif
