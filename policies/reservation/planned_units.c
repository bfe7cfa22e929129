/* Planned starts by count: where any GPUs will do, a planned start holds a number of units and names no GPUs.
 *
 * A unit is `gpus` whole GPUs of one node.  Units are interchangeable if each member of each job that holds something
 * or waits asks exactly one unit of any node, and the GPUs of a node run out before its CPUs and memory.
 *
 * Law: where units are interchangeable, planned starts whose number of units is free at each moment can be kept,
 * whatever units other jobs take.  (A job that starts takes any units that are free then and keeps them until it ends.)
 * So planned starts in the order of their starts can be named at any time, too.  Checked against schedulers that
 * count, by tests/property/test_counted_backfill.c.  The fault that it caught: planned starts named GPUs of one-GPU
 * nodes, and jobs that would not have delayed them did not start.
 *
 * `free` is computed again in each pass.  A planned start under which a node went away, and that does not fit any more,
 * is dropped.
 * Cost: O(class queues + running jobs + planned starts) a pass; O(GPUs held) where a job has a claim. */
#include "base/bits.h"
#include "policies/booking/booking.h"
#include "policies/booking/planned_end.h"
#include "policies/reservation/planned_start.h"
#include "policies/reservation/reservation.h"
#include "policies/state/sched_state.h"

/* ---- The unit ---- */

/* The GPUs that each member asks, if the request class has one group, goes to all nodes and fills a node by GPUs alone;
 * 0: there is no such number. */
static uint32_t unit_of(const struct request_class *class, const struct cluster *cluster)
{
    uint32_t unit = 0;
    if (!request_class_goes_anywhere(class, cluster))
        return 0;
    for (uint32_t g = 0; g < class->group_count; g++) {
        const struct request *request = &class->groups[g].request;
        if (class->groups[g].count == 0)
            continue;
        if (request->gpus == 0 || unit != 0)
            return 0;
        unit = request->gpus;
        for (uint32_t t = 0; t < cluster->type_count; t++)
            if (request_class_members_per_node(request, cluster, t, false) != cluster->types[t].gpu_count / unit)
                return 0;
    }
    return unit;
}

/* unit_of, remembered. */
static uint32_t unit_of_class(struct sched *sched, uint32_t id)
{
    struct planned_units *units = &sched->planned_starts->units;
    MEM_GROW(units->known, units->known_capacity, (size_t)id + 1);
    if (units->known[id] == 0)
        units->known[id] = (uint8_t)(unit_of(&sched->request_classes.at[id], sched->cluster) + 1);
    return units->known[id] - 1u;
}

/* Can planned starts be counted at all under this policy? */
static bool may_count(const struct sched *sched)
{
    const struct placement_policy *policies[] = {sched->policy.placement, sched->policy.placement_firm};
    for (int p = 0; p < 2; p++)
        if (policies[p] != NULL && (policies[p]->looks_at_nodes || policies[p]->one_node == ONE_NODE_REQUIRED))
            return false;
    return !sched->policy.backfill_config.names_gpus && !sched->policy.backfill_config.fills_gaps &&
           sched->policy.quota->homes.confines == NULL && !sched->ledger->limits_tasks &&
           sched->ledger->node_shares == NULL;
}

/* The unit of all jobs that hold something or wait; 0: they have none in common. */
static uint32_t common_unit(struct sched *sched)
{
    const struct planned_units *units = &sched->planned_starts->units;
    const struct pending *pending = &sched->pending;
    uint32_t unit = 0;
    if (!may_count(sched) || units->holders[0] > 0)
        return 0;
    for (uint32_t gpus = 1; gpus <= NODE_GPUS_MAX; gpus++)
        if (units->holders[gpus] > 0) {
            if (unit != 0)
                return 0;
            unit = gpus;
        }
    for (uint32_t b = 0; b < pending->busy_count; b++) {
        const uint32_t own = unit_of_class(sched, pending->class_queues[pending->busy[b]].request_class);
        if (own == 0 || (unit != 0 && own != unit))
            return 0;
        unit = own;
    }
    return unit;
}

/* ---- What jobs hold ---- */

/* The GPUs that become free when the job leaves: those of nodes that take work, without those that other jobs claim. */
static uint32_t gpus_held(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    uint32_t sum = 0;
    for (uint32_t h = 0; h < job->holding_count; h++) {
        const struct holding *holding = sched_job_holding(job, h);
        const gpu_id first = sched->cluster->nodes[holding->piece.node].first_gpu;
        const bool is_leaving = holding->phase == HOLDING_LEAVING;
        if (!sched->ledger->index->is_listed[holding->piece.node])
            continue;
        for (uint32_t rest = holding->piece.gpu_mask; rest != 0; rest &= rest - 1)
            sum += !is_leaving || sched->ledger->gpus[first + (gpu_id)__builtin_ctz(rest)].claimed == 0;
    }
    return sum;
}

void planned_units_settle(struct sched *sched, uint32_t slot)
{
    struct planned_units *units = &sched->planned_starts->units;
    const struct sched_job *job = &sched->jobs.jobs[slot];
    MEM_GROW(units->held, units->held_capacity, sched->jobs.used);
    struct units_held *held = &units->held[slot];
    if (held->is_holder)
        units->holders[held->unit]--;
    *held = (struct units_held){0};
    if (job->holding_count == 0)
        return;
    held->is_holder = true;
    held->unit = (uint8_t)unit_of_class(sched, job->request_class);
    held->gpus = held->unit > 0 ? gpus_held(sched, slot) : 0;
    units->holders[held->unit]++;
}

void planned_units_forget(struct sched *sched, uint32_t slot)
{
    struct planned_units *units = &sched->planned_starts->units;
    if (slot >= units->held_capacity || !units->held[slot].is_holder)
        return;
    units->holders[units->held[slot].unit]--;
    units->held[slot] = (struct units_held){0};
}

/* After a node changed, or a load. */
static void count_anew(struct sched *sched)
{
    if (!sched->planned_starts->units.is_unsure)
        return;
    sched->planned_starts->units.is_unsure = false;
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++)
        if (sched->jobs.jobs[slot].state != SJOB_NONE)
            planned_units_settle(sched, slot);
        else
            planned_units_forget(sched, slot);
}

static int64_t free_now(const struct sched *sched)
{
    const uint32_t unit = sched->planned_starts->units.gpus;
    int64_t sum = 0;
    for (uint32_t t = 0; t < sched->cluster->type_count; t++)
        for (uint32_t gpus = unit; gpus <= sched->cluster->types[t].gpu_count; gpus++)
            sum += (int64_t)sched->ledger->index->types[t].whole[gpus].member_count * (gpus / unit);
    return sum;
}

bool planned_units_are_free(const struct sched *sched, uint32_t count)
{
    return free_now(sched) >= count;
}

uint32_t planned_units_starting(const struct sched *sched, uint32_t slot)
{
    const struct sched_job *job = &sched->jobs.jobs[slot];
    uint32_t gpus = 0;
    for (uint32_t h = 0; h < job->holding_count; h++)
        if (sched_job_holding(job, h)->phase == HOLDING_STARTING)
            gpus += bits_count16(sched_job_holding(job, h)->piece.gpu_mask);
    return gpus / sched->planned_starts->units.gpus;
}

/* ---- The units that are free over time ---- */

static void change(struct planned_units *units, time_ns from, time_ns until, int64_t count, int32_t steps)
{
    const struct free_amount less = {.gpus = -count}, more = {.gpus = count};
    if (from >= until)
        return;
    free_total_change(&units->free, from, steps, &less);
    if (until != TIME_NEVER)
        free_total_change(&units->free, until, steps, &more);
}

void planned_units_take(struct sched *sched, time_ns from, time_ns until, uint32_t count)
{
    change(&sched->planned_starts->units, from, until, count, 1);
}

void planned_units_give(struct sched *sched, time_ns from, time_ns until, uint32_t count)
{
    change(&sched->planned_starts->units, from, until, -(int64_t)count, -1);
}

time_ns planned_units_find(const struct sched *sched, uint32_t count, time_ns from, time_ns latest, time_ns length,
                           time_ns until)
{
    const struct free_amount need = {.gpus = count};
    struct free_search search =
        free_search_begin(&sched->planned_starts->units.free, &need, from, length, latest, until);
    return free_search_next(&search);
}

/* What running jobs leave free.  Overdue jobs end in the next instant. */
static void draw_running(struct sched *sched)
{
    struct planned_start_book *book = sched->planned_starts;
    struct planned_units *units = &book->units;
    struct free_amount more = {.gpus = free_now(sched)};
    count_anew(sched);
    free_total_release(&units->free);
    units->free = (struct free_total){0};
    free_total_change(&units->free, sched->now, 1, &more);
    for (uint32_t e = 0; e < book->end_count; e++) {
        const uint32_t slot = book->ends[e].slot;
        const uint32_t held = sched->claims.count > 0 ? gpus_held(sched, slot) : units->held[slot].gpus;
        more.gpus = held / units->gpus;
        if (more.gpus > 0)
            free_total_change(&units->free, planned_start_end(sched, e), 1, &more);
    }
}

uint32_t planned_units_draw(struct sched *sched, bool drops)
{
    struct planned_start_book *book = sched->planned_starts;
    uint32_t dropped = 0;
    draw_running(sched);
    for (uint32_t f = 0; f < book->count; f++) {
        struct planned_start *own = &book->of[f];
        if (own->job == JOB_NONE)
            continue;
        own->is_ignored = drops && planned_units_find(sched, own->units, own->start, own->start, own->end - own->start,
                                                      TIME_NEVER) == TIME_NEVER;
        if (!own->is_ignored)
            planned_units_take(sched, own->start, own->end, own->units);
        dropped += own->is_ignored;
    }
    return dropped;
}

uint32_t planned_units_asked(const struct sched *sched, uint32_t ask)
{
    return sched->request_classes.at[ask].member_count;
}

void planned_units_choose(struct sched *sched)
{
    count_anew(sched);
    sched->planned_starts->units.gpus = (uint16_t)common_unit(sched);
}

/* ---- For explanations ---- */

/* The units that are free now but not all the time until then. */
static int64_t kept(const struct sched *sched, time_ns until)
{
    int64_t low = 0, high = free_now(sched);
    const int64_t all = high;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (planned_units_find(sched, (uint32_t)middle, sched->now, sched->now, until - sched->now, TIME_NEVER) !=
            TIME_NEVER)
            low = middle;
        else
            high = middle - 1;
    }
    return all - low;
}

void planned_units_keep(struct sched *sched, uint32_t slot)
{
    struct planned_start_book *book = sched->planned_starts;
    const uint32_t unit = book->units.gpus;
    planned_units_draw(sched, false);
    for (uint32_t f = 0; f < book->count; f++)
        if (book->of[f].job != JOB_NONE && book->of[f].slot == slot)
            planned_units_give(sched, book->of[f].start, book->of[f].end, book->of[f].units);
    int64_t left = kept(sched, planned_end_after(sched, sched->now, slot));
    for (node_id n = sched->cluster->node_count; n-- > 0 && left > 0;) {
        uint16_t mask = 0;
        for (uint32_t rest = sched->ledger->index->free_mask[n], taken = 0; rest != 0 && left > 0; rest &= rest - 1) {
            const uint16_t gpu = (uint16_t)(rest & -rest);
            mask |= gpu;
            if (++taken % unit == 0) {
                const struct space space = {.node = n, .gpu_mask = mask, .gpu_milli = GPU_MILLI, .owner = slot};
                ledger_take(sched->ledger, &space);
                mask = 0;
                left--;
            }
        }
    }
}

void planned_units_release(struct planned_units *units)
{
    mem_free(units->known);
    mem_free(units->held);
    free_total_release(&units->free);
}

const char *planned_units_check(const struct sched *sched, const void *own)
{
    const struct planned_units *units = &((const struct planned_start_book *)own)->units;
    uint32_t holders = 0, counted = 0;
    bool is_right = true;
    for (uint32_t gpus = 0; gpus <= NODE_GPUS_MAX; gpus++)
        counted += units->holders[gpus];
    for (uint32_t slot = 0; slot < sched->jobs.used; slot++) {
        const struct sched_job *job = &sched->jobs.jobs[slot];
        if (job->state == SJOB_NONE || job->holding_count == 0)
            continue;
        holders++;
        is_right &= units->is_unsure || sched->claims.count > 0 || units->held[slot].unit == 0 ||
                    units->held[slot].gpus == gpus_held(sched, slot);
    }
    is_right &= units->is_unsure || holders == counted;
    return is_right ? NULL : "the GPUs that running jobs are to free differ from what they hold";
}
