/* How the planned start of a waiting job is found: the time and the GPUs.
 *
 * A running job is assumed to end after the length that the estimate policy gives it (never, if it gives none), in the
 * next instant if it has outlived that, and a leaving job at the end of its grace.  A trial in the ledger removes the
 * running jobs in the order of their ends, until the waiting job fits beside the space that earlier planned starts need
 * while it runs.  The planned start names the pieces.  Of the space of a planned start, a job that starts now and ends
 * after it begins must leave free the part that is free now and that the ends before then do not replace.
 * Departure: if two planned starts use shares of one GPU, or CPUs or memory of a node, one after the other, both are
 * counted.
 * Cost: O(running jobs) to list the ends, in order; for a planned start at worst a placement for each of them. */
#include "policies/reservation/planned_start.h"
#include "policies/booking/booking.h"
#include "policies/booking/planned_end.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/reservation/profile.h"
#include "policies/reservation/reservation.h"
#include "policies/state/over_quota.h"
#include "policies/state/request_classes.h"
#include "policies/state/sched_state.h"

void planned_start_let_go(struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    for (uint32_t h = 0; h < job->holding_count; h++) {
        uint8_t phase = sched_job_holding(job, h)->phase;
        sched_move(sched, slot, h,
                   phase == HOLDING_LEAVING   ? ledger_arrive
                   : phase == HOLDING_CLAIMED ? ledger_unclaim
                                              : ledger_give);
    }
}

/* Index of the first end after `at`. */
static uint32_t first_end_after(const struct sched *sched, time_ns at)
{
    uint32_t low = 0, high = sched->planned_starts->end_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (planned_start_end(sched, middle) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The sum of the space that leaves the node, or its one GPU, after `from` and up to `until`. */
static struct planned_start_need leaving(struct sched *sched, node_id node, uint16_t gpu_mask, time_ns from,
                                         time_ns until)
{
    const struct planned_start_book *book = sched->planned_starts;
    struct planned_start_need sum = {0};
    for (uint32_t e = first_end_after(sched, from); e < book->end_count && planned_start_end(sched, e) <= until; e++) {
        const struct sched_job *job = &sched->jobs.jobs[book->ends[e].slot];
        const struct request_class *request_class = &sched->request_classes.at[job->request_class];
        for (uint32_t h = 0; h < job->holding_count; h++) {
            const struct piece *piece = &sched_job_holding(job, h)->piece;
            struct space space = request_class_space(request_class, piece, book->ends[e].slot);
            if (space.node != node)
                continue;
            sum.milli += (space.gpu_mask & gpu_mask) != 0 ? space.gpu_milli : 0;
            sum.excess += (space.gpu_mask & gpu_mask) != 0 ? ledger_excess_of(sched->ledger, &space) : 0;
            sum.cpu_milli += space.cpu_milli;
            sum.memory_mib += space.memory_mib;
        }
    }
    return sum;
}

/* Add to what planned starts need of the node, or of its one GPU; its start is the earliest of theirs. */
static void add_need(struct planned_start_book *book, const struct planned_start_need *need)
{
    uint32_t *last = &book->need_of[need->node];
    for (uint32_t n = *last; n > 0; n = book->needs[n - 1].next) {
        struct planned_start_need *known = &book->needs[n - 1];
        if (known->gpu_mask != need->gpu_mask)
            continue;
        known->milli += need->milli;
        known->excess += need->excess;
        known->cpu_milli += need->cpu_milli;
        known->memory_mib += need->memory_mib;
        known->start = need->start < known->start ? need->start : known->start;
        return;
    }
    MEM_GROW(book->needs, book->need_capacity, (size_t)book->need_count + 1);
    book->needs[book->need_count] = *need;
    book->needs[book->need_count].next = *last;
    *last = ++book->need_count;
}

/* An instance is taken as a whole, if it is free. */
static void keep_instance(struct sched *sched, const struct space *space)
{
    uint8_t starts = ledger_mig_starts(sched->ledger, space->node, (uint32_t)__builtin_ctz(space->gpu_mask),
                                       (enum mig_profile_id)(space->mig - 1));
    if (starts >> space->mig_start & 1)
        ledger_take(sched->ledger, space);
}

/* Take wholly free GPUs and MIG instances in the ledger at once; add CPUs, memory, shares and GPUs in use to
 * book->needs. */
static void need_space(struct sched *sched, struct space space, time_ns start)
{
    const bool is_whole = space.gpu_milli == GPU_MILLI;
    const uint16_t untouched = is_whole ? space.gpu_mask & sched->ledger->index->free_mask[space.node] : 0;
    struct planned_start_need need = {.node = space.node,
                                      .owner = space.owner,
                                      .cpu_milli = space.cpu_milli,
                                      .memory_mib = space.memory_mib,
                                      .start = start};
    if (need.cpu_milli != 0 || need.memory_mib != 0)
        add_need(sched->planned_starts, &need);
    need.cpu_milli = need.memory_mib = space.cpu_milli = space.memory_mib = 0;
    space.member_count = 0;
    if (space.mig != 0) {
        keep_instance(sched, &space);
        return;
    }
    need.milli = space.gpu_milli;
    need.excess = ledger_excess_of(sched->ledger, &space);
    for (uint32_t rest = space.gpu_mask & ~untouched; rest != 0; rest &= rest - 1) {
        need.gpu_mask = (uint16_t)(rest & -rest);
        add_need(sched->planned_starts, &need);
    }
    space.gpu_mask = untouched;
    if (untouched != 0)
        ledger_take(sched->ledger, &space);
}

/* The part of `free` that must stay free so that `needed` is there after `comes` has been freed. */
static uint32_t kept(uint32_t needed, uint32_t comes, uint32_t free)
{
    uint32_t lacking = needed > comes ? needed - comes : 0;
    return lacking < free ? lacking : free;
}

/* The same of a GPU: milli, and memory where the excess of a share counts (struct gpu_excess). */
static void keep_share(const struct ledger *ledger, gpu_id gpu, const struct planned_start_need *need,
                       const struct planned_start_need *comes, struct space *space)
{
    const uint32_t memory_mib =
        ledger->cluster->models[cluster_node_type(ledger->cluster, need->node)->model].memory_mib;
    const int64_t taken = ledger_gpu_excess(ledger, gpu);
    space->gpu_milli = (uint16_t)kept(need->milli, comes->milli, ledger->gpus[gpu].free);
    if (need->excess == 0 && comes->excess == 0 && taken == 0)
        return;
    const int64_t free = (int64_t)ledger->gpus[gpu].free * memory_mib - taken;
    const int64_t lacks = ((int64_t)need->milli - comes->milli) * memory_mib + need->excess - comes->excess;
    const int64_t keeps = lacks < 0 ? 0 : lacks < free ? lacks : free;
    space->gpu_milli = (uint16_t)(keeps / memory_mib);
    space->gpu_memory_mib = (uint32_t)((keeps + GPU_MILLI - 1) / GPU_MILLI);
}

/* Take, in the trial, what must stay free at `from` so that the need is met when it begins. */
static void keep_need(struct sched *sched, const struct planned_start_need *need, time_ns from)
{
    const struct ledger *ledger = sched->ledger;
    const struct node_cell *cell = &ledger->nodes[need->node];
    struct space space = {.node = need->node, .gpu_mask = need->gpu_mask, .owner = need->owner};
    if (need->gpu_mask != 0) {
        gpu_id gpu = sched->cluster->nodes[need->node].first_gpu + (gpu_id)__builtin_ctz(need->gpu_mask);
        if ((ledger_layout_mask(ledger, need->node) & need->gpu_mask) != 0)
            return; /* it was cut since */
        if (ledger->gpus[gpu].free == 0)
            return;
        const struct planned_start_need comes = leaving(sched, need->node, need->gpu_mask, from, need->start);
        keep_share(ledger, gpu, need, &comes, &space);
    } else {
        const struct planned_start_need comes = leaving(sched, need->node, need->gpu_mask, from, need->start);
        space.cpu_milli = kept(need->cpu_milli, comes.cpu_milli, cell->cpu_free);
        space.memory_mib = kept(need->memory_mib, comes.memory_mib, cell->memory_free);
    }
    if (space.gpu_milli != 0 || space.gpu_memory_mib != 0 || space.cpu_milli != 0 || space.memory_mib != 0)
        ledger_take(sched->ledger, &space);
}

/* Take, in the trial, the space of planned starts that begin before `until` and end after `from`. */
static void keep_for_planned_starts(struct sched *sched, time_ns from, time_ns until)
{
    struct planned_start_book *book = sched->planned_starts;
    book->need_count = 0;
    if (book->need_of == NULL)
        book->need_of = mem_zalloc(sched->cluster->node_count, sizeof *book->need_of);
    for (uint32_t f = 0; f < book->count; f++) {
        const struct planned_start *planned_start = &book->of[f];
        if (f == book->skipped || planned_start->is_ignored || planned_start->start >= until ||
            planned_start->end <= from)
            continue;
        for (uint32_t p = 0; p < planned_start->piece_count; p++)
            need_space(sched, planned_start_space(sched, planned_start, p), planned_start->start);
    }
    for (uint32_t n = 0; n < book->need_count; n++) {
        book->need_of[book->needs[n].node] = 0;
        keep_need(sched, &book->needs[n], from);
    }
}

bool planned_start_fits_at(struct sched *sched, uint32_t slot, time_ns at, struct piece_list *pieces)
{
    const struct request_class *ask = sched_ask(sched, &sched->jobs.jobs[slot]);
    if (!placement_may_fit(sched->ledger, ask))
        return false; /* with planned starts there is no more space */
    size_t mark = ledger_mark(sched->ledger);
    keep_for_planned_starts(sched, at, planned_end_after(sched, at, slot));
    bool fits = placement_may_fit(sched->ledger, ask) && sched_place(sched, slot, pieces);
    ledger_rollback(sched->ledger, mark);
    return fits;
}

/* The planned length; rounded up to the resolution of the backfill policy. */
static time_ns plain_length(const struct sched *sched, uint32_t slot)
{
    return planned_end_after(sched, 0, slot);
}

/* Can the profile alone decide where jobs of the request class fit, if its groups allow that? */
static bool is_plain(const struct sched *sched, const struct request_class *ask)
{
    const struct placement_policy *placement = ask->is_preemptible || sched->policy.placement_firm == NULL
                                                   ? sched->policy.placement
                                                   : sched->policy.placement_firm;
    return sched->policy.quota->homes.confines == NULL && !sched->ledger->limits_tasks &&
           request_class_goes_anywhere(ask, sched->cluster) && !placement->looks_at_nodes &&
           placement->one_node != ONE_NODE_REQUIRED;
}

/* The index of its only group, if members of that request whole GPUs or none; JOB_GROUPS_MAX: there is no such group.
 */
static uint32_t plain_group(const struct request_class *ask)
{
    uint32_t only = JOB_GROUPS_MAX;
    for (uint32_t g = 0; g < ask->group_count; g++) {
        const struct request *request = &ask->groups[g].request;
        if (ask->groups[g].count == 0)
            continue;
        if (only != JOB_GROUPS_MAX || request->gpu_milli != 0 || request->gpu_memory_mib != 0 || request->mig != 0)
            return JOB_GROUPS_MAX;
        only = g;
    }
    return only;
}

/* The query of the profile for the job at any time; false: the profile cannot decide, and the ledger must. */
static bool make_plain(const struct sched *sched, uint32_t slot, struct profile_ask *out)
{
    const struct request_class *ask = &sched->request_classes.at[sched->jobs.jobs[slot].ask];
    const uint32_t group = is_plain(sched, ask) ? plain_group(ask) : JOB_GROUPS_MAX;
    if (group == JOB_GROUPS_MAX)
        return false;
    *out = (struct profile_ask){.request = &ask->groups[group].request,
                                .count = ask->groups[group].count,
                                .group = (uint8_t)group,
                                .from = sched->now,
                                .latest = TIME_NEVER,
                                .length = plain_length(sched, slot)};
    return true;
}

/* A group of one member is searched on the nodes of `only` alone, if that is given. */
static time_ns find_plain(struct sched *sched, const struct profile_ask *ask, const struct node_marks *only,
                          struct piece_list *pieces)
{
    struct profile *profile = &sched->planned_starts->profile;
    return only != NULL && ask->count == 1 ? profile_find_on(profile, ask, only, pieces)
                                           : profile_find(profile, ask, pieces);
}

/* Place the job now, with the space taken that planned starts need while it runs. */
static bool fits_in_profile(struct sched *sched, uint32_t slot, struct piece_list *pieces)
{
    const time_ns until = time_after(sched->now, plain_length(sched, slot));
    size_t mark = ledger_mark(sched->ledger);
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        struct space space;
        if (profile_kept(&sched->planned_starts->profile, n, sched->now, until, &space)) {
            space.owner = slot;
            ledger_take(sched->ledger, &space);
        }
    }
    bool fits = sched_place(sched, slot, pieces);
    ledger_rollback(sched->ledger, mark);
    return fits;
}

/* Place the job now if enough units are free now, and enough stay free of planned starts while it runs.  Then any free
 * units will do. */
static bool fits_by_count(struct sched *sched, uint32_t slot, struct piece_list *pieces)
{
    const uint32_t count = planned_units_asked(sched, sched->jobs.jobs[slot].ask);
    if (!placement_may_fit(sched->ledger, sched_ask(sched, &sched->jobs.jobs[slot])) ||
        planned_units_find(sched, count, sched->now, sched->now, plain_length(sched, slot), TIME_NEVER) == TIME_NEVER)
        return false;
    size_t mark = ledger_mark(sched->ledger);
    const bool fits = sched_place(sched, slot, pieces);
    ledger_rollback(sched->ledger, mark);
    return fits;
}

bool planned_start_fits_now(struct sched *sched, uint32_t slot, const struct node_marks *only,
                            struct piece_list *pieces)
{
    struct profile_ask ask;
    if (sched->planned_starts->units.gpus > 0)
        return fits_by_count(sched, slot, pieces);
    if (sched->reserves || !make_plain(sched, slot, &ask)) /* where queues compete there is no profile */
        return planned_start_fits_at(sched, slot, sched->now, pieces);
    ask.latest = sched->now;
    return placement_may_fit(sched->ledger, sched_ask(sched, &sched->jobs.jobs[slot])) &&
           find_plain(sched, &ask, only, pieces) != TIME_NEVER && fits_in_profile(sched, slot, pieces);
}

static bool is_free(const struct ledger *ledger, const struct space *space)
{
    const struct node_cell *cell = &ledger->nodes[space->node];
    const gpu_id first = ledger->cluster->nodes[space->node].first_gpu;
    if (!ledger->index->is_listed[space->node] || cell->cpu_free < space->cpu_milli ||
        cell->memory_free < space->memory_mib || cell->tasks_free < space->member_count ||
        !ledger_admits(ledger, space) ||
        (space->mig == 0 && (ledger_layout_mask(ledger, space->node) & space->gpu_mask) != 0))
        return false;
    for (uint32_t rest = space->gpu_mask; rest != 0; rest &= rest - 1) {
        const uint32_t gpu = (uint32_t)__builtin_ctz(rest);
        if (space->mig != 0 ? !(ledger_mig_starts(ledger, space->node, gpu, (enum mig_profile_id)(space->mig - 1)) >>
                                    space->mig_start &
                                1)
                            : ledger->gpus[first + gpu].free < space->gpu_milli)
            return false;
    }
    return true;
}

bool planned_start_is_there(struct sched *sched, uint32_t index)
{
    const struct planned_start *planned_start = &sched->planned_starts->of[index];
    if (planned_start->units > 0)
        return planned_start_fits_now(sched, planned_start->slot, NULL, &sched->pieces);
    bool is_there = (sched->request_classes.at[planned_start->ask].closed & ~REQUEST_CLASS_BLOCKED) == 0;
    const struct job_tags *tags = sched->request_classes.at[planned_start->ask].tags;
    for (uint32_t p = 0; p < planned_start->piece_count && is_there && tags != NULL; p++)
        is_there = ledger_tags_admit(sched->ledger, tags, planned_start_space(sched, planned_start, p).node);
    size_t mark = ledger_mark(sched->ledger);
    for (uint32_t p = 0; p < planned_start->piece_count && is_there; p++) {
        struct space space = planned_start_space(sched, planned_start, p);
        is_there = is_free(sched->ledger, &space);
        if (is_there)
            ledger_take(sched->ledger, &space);
    }
    ledger_rollback(sched->ledger, mark);
    return is_there;
}

bool planned_start_is_all(struct sched *sched, uint32_t slot)
{
    if (sched->planned_starts->units.gpus > 0)
        return planned_units_are_free(sched, planned_units_asked(sched, sched->jobs.jobs[slot].ask));
    size_t mark = ledger_mark(sched->ledger);
    bool fits = sched_place(sched, slot, &sched->pieces);
    ledger_rollback(sched->ledger, mark);
    return fits;
}

/* The next time at which space is freed: the end of running job `first`, or of a planned start after `at`; TIME_NEVER:
 * no such end is known. */
static time_ns next_end(const struct sched *sched, uint32_t first, time_ns at)
{
    const struct planned_start_book *book = sched->planned_starts;
    time_ns next = first < book->end_count ? planned_start_end(sched, first) : TIME_NEVER;
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].end > at && book->of[f].end < next)
            next = book->of[f].end;
    return next;
}

/* Try the job in the ledger after each end in turn, not before `from` and not after `latest`.  What a job with tags
 * holds itself stays: placement takes its members out of the counts of tags. */
static bool find_in_ledger(struct sched *sched, uint32_t slot, time_ns from, time_ns latest)
{
    struct planned_start_book *book = sched->planned_starts;
    const size_t mark = ledger_mark(sched->ledger);
    bool is_found = false;
    const bool has_tags = sched_ask(sched, &sched->jobs.jobs[slot])->tags != NULL;
    uint32_t e = 0;
    for (time_ns at = next_end(sched, 0, sched->now); at != TIME_NEVER && at <= latest && !is_found;
         at = next_end(sched, e, at)) {
        for (; e < book->end_count && planned_start_end(sched, e) <= at; e++)
            if (!has_tags || book->ends[e].slot != slot)
                planned_start_let_go(sched, book->ends[e].slot);
        is_found = at >= from && planned_start_fits_at(sched, slot, at, &sched->pieces);
        if (is_found)
            planned_start_add(sched, slot, PLANNED_START_MANY, at);
    }
    ledger_rollback(sched->ledger, mark);
    return is_found;
}

bool planned_start_find(struct sched *sched, uint32_t slot, time_ns from, time_ns latest, const struct node_marks *only)
{
    struct profile_ask ask;
    const struct planned_start_book *book = sched->planned_starts;
    const bool is_counted = book->units.gpus > 0;
    if (!make_plain(sched, slot, &ask) && !is_counted)
        return find_in_ledger(sched, slot, from, latest);
    ask.from = book->end_count > 0 ? planned_start_end(sched, 0) : next_end(sched, 0, sched->now);
    ask.from = from > ask.from ? from : ask.from;
    ask.latest = latest;
    const time_ns at = ask.from > latest ? TIME_NEVER
                       : is_counted ? planned_units_find(sched, ask.count, ask.from, latest, ask.length, TIME_NEVER)
                                    : find_plain(sched, &ask, only, &sched->pieces);
    if (at == TIME_NEVER)
        return false;
    planned_start_add(sched, slot, ask.group, at);
    return true;
}

void planned_start_name_all(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    for (uint32_t f = 0; f < book->count; f++) {
        struct planned_start *own = &book->of[f];
        struct profile_ask ask;
        if (own->job == JOB_NONE || own->units == 0)
            continue;
        const bool is_plain = make_plain(sched, own->slot, &ask);
        ask.from = ask.latest = own->start;
        if (is_plain && find_plain(sched, &ask, NULL, &sched->pieces) != TIME_NEVER) {
            own->group = ask.group;
            planned_start_name(sched, own);
            planned_start_take(sched, own);
        } else {
            planned_start_forget_one(sched, own);
        }
    }
}

/* Has a freed node room for a member of the planned start before its time? */
static bool has_freed_room(const struct sched *sched, const struct planned_start *planned_start,
                           const struct request *request)
{
    const struct planned_start_book *book = sched->planned_starts;
    const time_ns length = plain_length(sched, planned_start->slot);
    for (uint32_t i = 0; i < book->freed.count && sched->now < planned_start->start; i++)
        if (profile_find_room(&book->profile, request, book->freed.nodes[i], sched->now, length,
                              planned_start->start) != TIME_NEVER)
            return true;
    return false;
}

/* Only freed nodes can have earlier room.  On its own node the job may use its planned space. */
bool planned_start_may_move_up(struct sched *sched, uint32_t index)
{
    const struct planned_start *planned_start = &sched->planned_starts->of[index];
    if (planned_start->group == PLANNED_START_MANY || planned_start->units > 0)
        return true;
    const bool is_near = planned_start_is_near_freed(sched, planned_start);
    const struct job_group *group = &sched->request_classes.at[planned_start->ask].groups[planned_start->group];
    if (is_near && group->count > 1)
        return true;
    if (is_near)
        planned_start_lift(sched, index);
    const bool has_room = has_freed_room(sched, planned_start, &group->request);
    if (is_near)
        planned_start_put_back(sched, index);
    return has_room;
}

bool planned_start_may_fit_earlier(const struct sched *sched, uint32_t index)
{
    const struct planned_start_book *book = sched->planned_starts;
    const struct planned_start *planned_start = &book->of[index];
    if (planned_start->units > 0)
        return planned_units_find(sched, planned_start->units, sched->now, planned_start->start - 1,
                                  plain_length(sched, planned_start->slot), planned_start->start) != TIME_NEVER;
    const struct job_group *group = planned_start->group == PLANNED_START_MANY
                                        ? NULL
                                        : &sched->request_classes.at[planned_start->ask].groups[planned_start->group];
    if (group == NULL || group->count == 1)
        return true; /* one member: planned_start_may_move_up was exact */
    const struct profile_ask ask = {.request = &group->request,
                                    .count = group->count,
                                    .from = sched->now,
                                    .latest = planned_start->start - 1,
                                    .length = plain_length(sched, planned_start->slot)};
    return profile_may_fit(&book->profile, &ask);
}

/* ---- For explanations ------------------------------------------------------------------------------ */

bool planned_start_exempts(const struct sched *sched, uint32_t request_class)
{
    return sched->policy.inference_first && sched->request_classes.at[request_class].class == JOB_INFERENCE;
}

/* Is the job outside of the queue that the planned start takes beyond what it deserves? */
static bool is_outside(const struct sched *sched, uint32_t slot, const struct planned_start *planned_start)
{
    queue_id queue = planned_start->owed_by == QUEUE_NONE ? QUEUE_NONE : sched->jobs.jobs[slot].queue;
    while (queue != QUEUE_NONE && queue != planned_start->owed_by)
        queue = sched->tree.queues[queue].parent;
    return planned_start->owed_by != QUEUE_NONE && queue == QUEUE_NONE;
}

void planned_start_ignore_harmless(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    const bool is_entitled = sched_is_entitled(sched, slot);
    bool is_behind = planned_start_exempts(sched, sched->jobs.jobs[slot].ask);
    for (uint32_t f = 0; f < book->count; f++) {
        is_behind |= book->of[f].slot == slot;
        book->of[f].is_ignored = is_behind || (is_entitled && is_outside(sched, slot, &book->of[f]));
    }
}

void planned_start_keep(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    if (book->units.gpus > 0) {
        planned_units_keep(sched, slot);
        return;
    }
    if (sched->reserves)
        planned_start_ignore_harmless(sched, slot);
    book->skipped = 0;
    while (book->skipped < book->count &&
           (book->of[book->skipped].job == JOB_NONE || book->of[book->skipped].slot != slot))
        book->skipped++; /* its own */
    keep_for_planned_starts(sched, sched->now, planned_end_after(sched, sched->now, slot));
    book->skipped = UINT32_MAX;
}
