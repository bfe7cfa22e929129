/* What evictions ask of every job that might go, on one card each: a plan looks through hundreds of jobs to find a few
 * that may be taken.
 *
 * A card is read from the job again only after roster_forget: when its holdings, their phases, its evictions or its saved
 * work changed.  What time alone moves, what an eviction would throw away, is computed from the card.
 * Cost: O(holdings) to read a card, then O(1) a look.  Memory: 64 bytes per job alive. */
#include "policies/sched_state.h"

void roster_forget(struct sched *sched, uint32_t slot)
{
    if (slot < sched->roster_capacity)
        sched->roster[slot].is_known = false;
}

/* Since when its work is not safe, by what is known now. */
static void read_saving(const struct sched *sched, uint32_t slot, struct victim_card *card)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    const struct checkpoint_plan *plan = &facts->checkpoint;
    time_ns grace = sched_grace(sched, slot);
    bool saves = grace > 0 && plan->duration <= grace;
    card->lost_at_least = plan->restart + (saves ? plan->duration : 0);
    card->growth_milli = saves ? 0 : card->held_milli;
    card->unsaved_since = card->decided;
    card->save_interval = plan->interval > 0 ? plan->interval : 0;
    if (facts->saved_at != TIME_NEVER && facts->saved_at > card->decided) {
        card->unsaved_since = facts->saved_at;
        card->save_interval = 0;
    }
}

static void read_card(struct sched *sched, uint32_t slot, struct victim_card *card)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    const struct shape *shape = &sched->shapes.shapes[job->shape];
    bool is_spared = sched->policy.preempt.spares_inference && shape->class == JOB_INFERENCE;
    *card = (struct victim_card){.is_known = true,
                                 .is_firm = !shape->is_preemptible || is_spared,
                                 .is_spent =
                                     job->evictions >= sched->policy.preempt.evictions_per_job_max,
                                 .has_surplus = job->fill == FILL_ABOVE,
                                 .decided = job->decided,
                                 .decided_cycle = job->decided_cycle};
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        card->held_milli += piece_milli(&holding->piece);
        card->is_claiming |= holding->phase == HOLDING_CLAIMED;
        card->is_starting |= holding->phase == HOLDING_STARTING;
    }
    read_saving(sched, slot, card);
}

struct victim_card *roster_card(struct sched *sched, uint32_t slot)
{
    if (slot >= sched->roster_capacity)
        MEM_GROW(sched->roster, sched->roster_capacity, (size_t)slot + 1);
    struct victim_card *card = &sched->roster[slot];
    if (!card->is_known)
        read_card(sched, slot, card);
    return card;
}

static int64_t gpu_time(time_ns span, int64_t milli)
{
    int64_t product;
    return __builtin_mul_overflow(span, milli, &product)
               ? (int64_t)((__int128)span * milli / GPU_MILLI)
               : product / GPU_MILLI;
}

struct forfeit roster_forfeit(struct victim_card *card, time_ns now)
{
    struct forfeit forfeit = {.growth_milli = card->growth_milli, .saved_at = TIME_NEVER};
    time_ns span = 0;
    forfeit.least_gpu_ns = gpu_time(card->lost_at_least, card->held_milli);
    if (card->growth_milli > 0) {
        span = now - card->unsaved_since;
        if (card->save_interval > 0 && span >= card->save_interval) {
            card->unsaved_since += span / card->save_interval * card->save_interval;
            span = now - card->unsaved_since;
        }
        if (card->save_interval > 0)
            forfeit.saved_at = card->unsaved_since + card->save_interval;
    }
    forfeit.loss_gpu_ns = gpu_time(card->lost_at_least + span, card->held_milli);
    return forfeit;
}
