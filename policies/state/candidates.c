/* What evictions ask of every job that might go, on one card each: a plan looks through hundreds of jobs to find a few
 * that may be taken.
 *
 * A card is read from the job again only after roster_forget: when its holdings, their phases, its evictions or its saved
 * work changed.  What time alone moves, what an eviction would throw away, is computed from the card.
 * Cost: O(holdings) to read a card, then O(1) a look.  Memory: 64 bytes per job alive. */
#include <assert.h>

#include "policies/order/order.h"
#include "policies/state/candidates.h"
#include "policies/state/sched_state.h"
#include "policies/util/archive.h"

static struct queue_roster *of_queue(struct sched *sched, queue_id queue)
{
    if (queue >= sched->queue_roster_capacity)
        MEM_GROW(sched->queue_rosters, sched->queue_roster_capacity, (size_t)queue + 1);
    return &sched->queue_rosters[queue];
}

void roster_forget(struct sched *sched, uint32_t slot)
{
    struct queue_roster *roster = of_queue(sched, sched->jobs.jobs[slot].queue);
    if (slot < sched->roster_capacity)
        sched->roster[slot].is_known = false;
    roster->version++;
    roster->is_floor_known = false;
}

void roster_list(struct sched *sched, uint32_t slot, bool is_listed)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    struct queue_roster *roster = of_queue(sched, job->queue);
    uint32_t t = 0;
    while (t < roster->tally_count && roster->tallies[t].priority != job->priority)
        t++;
    if (t == roster->tally_count) {
        assert(is_listed);
        MEM_GROW(roster->tallies, roster->tally_capacity, (size_t)t + 1);
        roster->tallies[roster->tally_count++] = (struct priority_tally){job->priority, 0};
    }
    roster->tallies[t].jobs += is_listed ? 1 : UINT32_MAX;
    if (roster->tallies[t].jobs == 0)
        roster->tallies[t] = roster->tallies[--roster->tally_count];
}

bool roster_has_lower(const struct sched *sched, queue_id queue, int32_t priority)
{
    if (queue >= sched->queue_roster_capacity)
        return false;
    const struct queue_roster *roster = &sched->queue_rosters[queue];
    for (uint32_t t = 0; t < roster->tally_count; t++)
        if (roster->tallies[t].priority < priority)
            return true;
    return false;
}

uint32_t roster_version(const struct sched *sched, queue_id queue)
{
    return queue < sched->queue_roster_capacity ? sched->queue_rosters[queue].version : 0;
}

time_ns sched_grace(const struct sched *sched, uint32_t slot)
{
    const struct job_facts *facts = &sched->jobs.facts[slot];
    bool can_save = facts->checkpoint.interval > 0 || facts->checkpoint.duration > 0;
    time_ns bound = sched->policy.preempt.grace;
    if (!can_save || sched->policy.preemption->is_kill)
        return 0;
    return facts->grace > 0 && facts->grace < bound ? facts->grace : bound;
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
    if (sched->policy.preempt.victims_of_this_cycle &&
        sched->jobs.jobs[slot].state == SJOB_STARTING)
        card->lost_at_least = card->growth_milli = 0; /* a recalled START costs nothing */
    if (facts->saved_at != TIME_NEVER && facts->saved_at > card->decided) {
        card->unsaved_since = facts->saved_at;
        card->save_interval = 0;
    }
}

static void read_card(const struct sched *sched, uint32_t slot, struct victim_card *card)
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
        card->is_leaving |= holding->phase == HOLDING_LEAVING;
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

time_ns roster_unsaved(struct victim_card *card, time_ns now)
{
    time_ns span = now - card->unsaved_since;
    if (card->save_interval > 0 && span >= card->save_interval) {
        card->unsaved_since += span / card->save_interval * card->save_interval;
        span = now - card->unsaved_since;
    }
    return span;
}

struct forfeit roster_forfeit(struct victim_card *card, time_ns now)
{
    struct forfeit forfeit = {.growth_milli = card->growth_milli, .saved_at = TIME_NEVER};
    const time_ns span = card->growth_milli > 0 ? roster_unsaved(card, now) : 0;
    forfeit.least_gpu_ns = gpu_time(card->lost_at_least, card->held_milli);
    if (card->growth_milli > 0 && card->save_interval > 0)
        forfeit.saved_at = card->unsaved_since + card->save_interval;
    forfeit.loss_gpu_ns =
        span == 0 ? forfeit.least_gpu_ns : gpu_time(card->lost_at_least + span, card->held_milli);
    return forfeit;
}

/* What it would lose at least, from now on.  Who saves by himself loses less again later; surplus loses nothing. */
static int64_t least_loss(struct victim_card *card, time_ns now)
{
    if (card->has_surplus)
        return 0;
    const bool grows_for_good = card->growth_milli > 0 && card->save_interval == 0;
    return gpu_time(card->lost_at_least + (grows_for_good ? roster_unsaved(card, now) : 0),
                    card->held_milli);
}

int64_t roster_floor(struct sched *sched, queue_id queue)
{
    struct queue_roster *roster = of_queue(sched, queue);
    const struct slot_list *running = &sched->running[queue];
    if (roster->is_floor_known)
        return roster->floor_gpu_ns;
    roster->is_floor_known = true;
    roster->floor_gpu_ns = INT64_MAX;
    for (uint32_t i = 0; i < running->count; i++) {
        struct victim_card *card = roster_card(sched, running->slots[i]);
        int64_t least = card->is_spent ? INT64_MAX : least_loss(card, sched->now);
        if (least < roster->floor_gpu_ns)
            roster->floor_gpu_ns = least;
    }
    return roster->floor_gpu_ns;
}

void roster_refloor(struct sched *sched, queue_id queue)
{
    of_queue(sched, queue)->is_floor_known = false;
}

static bool is_same(const struct victim_card *a, const struct victim_card *b)
{
    time_ns apart = a->unsaved_since - b->unsaved_since;
    return a->is_firm == b->is_firm && a->is_spent == b->is_spent &&
           a->is_claiming == b->is_claiming && a->is_starting == b->is_starting &&
           a->is_leaving == b->is_leaving && a->has_surplus == b->has_surplus &&
           a->decided == b->decided && a->decided_cycle == b->decided_cycle &&
           a->held_milli == b->held_milli && a->growth_milli == b->growth_milli &&
           a->lost_at_least == b->lost_at_least && a->save_interval == b->save_interval &&
           (a->save_interval > 0 ? apart % a->save_interval == 0 : apart == 0);
}

/* Every priority of its possible victims is counted, as often as there are such. */
static bool is_tallied(const struct sched *sched, queue_id queue)
{
    const struct slot_list *listed = &sched->running[queue];
    const struct queue_roster *roster = &sched->queue_rosters[queue];
    uint32_t jobs = 0;
    for (uint32_t t = 0; t < roster->tally_count; t++) {
        uint32_t counted = 0;
        for (uint32_t i = 0; i < listed->count; i++)
            counted += sched->jobs.jobs[listed->slots[i]].priority == roster->tallies[t].priority;
        if (counted != roster->tallies[t].jobs || counted == 0)
            return false;
        jobs += counted;
    }
    return jobs == listed->count;
}

const char *roster_check(const struct sched *sched)
{
    uint32_t leaving = 0;
    for (queue_id q = 0; q < sched->tree.count && q < sched->queue_roster_capacity; q++)
        if (!is_tallied(sched, q))
            return "the priorities of possible victims are miscounted";
    for (uint32_t s = 0; s < sched->jobs.used; s++) {
        const struct sched_job *job = &sched->jobs.jobs[s];
        struct victim_card card;
        for (uint32_t i = 0; i < job->holding_count && job->state != SJOB_NONE; i++)
            leaving += sched_job_holding(job, i)->phase == HOLDING_LEAVING;
        if (!job->is_listed || s >= sched->roster_capacity || !sched->roster[s].is_known)
            continue;
        read_card(sched, s, &card);
        if (!is_same(&card, &sched->roster[s]))
            return "a possible victim is not as its card says";
    }
    return leaving == sched->leaving_count ? NULL : "holdings on their way out are miscounted";
}

void roster_release(struct sched *sched)
{
    for (size_t q = 0; q < sched->queue_roster_capacity; q++)
        mem_free(sched->queue_rosters[q].tallies);
    mem_free(sched->roster);
    mem_free(sched->queue_rosters);
}

static void archive_card(struct archive *archive, struct victim_card *card)
{
    ARCHIVE_KNOWS(struct victim_card, 64);
    ARCHIVE(archive, card->is_firm);
    ARCHIVE(archive, card->is_spent);
    ARCHIVE(archive, card->is_claiming);
    ARCHIVE(archive, card->is_starting);
    ARCHIVE(archive, card->is_leaving);
    ARCHIVE(archive, card->has_surplus);
    ARCHIVE(archive, card->decided);
    ARCHIVE(archive, card->decided_cycle);
    ARCHIVE(archive, card->held_milli);
    ARCHIVE(archive, card->growth_milli);
    ARCHIVE(archive, card->lost_at_least);
    ARCHIVE(archive, card->unsaved_since);
    ARCHIVE(archive, card->save_interval);
}

static void archive_queue(struct archive *archive, struct queue_roster *roster)
{
    ARCHIVE_KNOWS(struct queue_roster, 40);
    ARCHIVE_KNOWS(struct priority_tally, 2 * 4);
    ARCHIVE_ARRAY(archive, roster->tallies, roster->tally_capacity, roster->tally_count);
    ARCHIVE(archive, roster->version);
    ARCHIVE(archive, roster->is_floor_known);
    ARCHIVE(archive, roster->floor_gpu_ns);
}

/* A card that is not there yet, or is not known, is read from the job when it is asked for. */
void roster_archive(struct archive *archive, struct sched *sched)
{
    for (uint32_t s = 0; s < sched->jobs.used; s++) {
        bool is_known = s < sched->roster_capacity && sched->roster[s].is_known;
        ARCHIVE(archive, is_known);
        if (!is_known)
            continue;
        MEM_GROW(sched->roster, sched->roster_capacity, (size_t)s + 1);
        sched->roster[s].is_known = true;
        archive_card(archive, &sched->roster[s]);
    }
    for (queue_id q = 0; q < sched->tree.count; q++) {
        struct queue_roster none = {0};
        if (archive_is_reading(archive))
            of_queue(sched, q);
        archive_queue(archive, q < sched->queue_roster_capacity ? &sched->queue_rosters[q] : &none);
    }
}
