/* What leaves each node when running jobs end as planned.
 *
 * The planned starts of a waiting job keep free what no end replaces in time, so each node of each of them is asked for
 * what leaves it until then.  A list by node answers that without a look at all running jobs.  The lists of nodes where
 * a holding or a planned end has changed are made anew together, at the next question. */
#include "policies/reservation/planned_start.h"
#include "policies/state/planned_end.h"
#include "policies/state/sched_state.h"

time_ns planned_start_end(const struct sched *sched, uint32_t e)
{
    time_ns end = sched->planned_starts->ends[e].end;
    return end > sched->now ? end : planned_end_rounded(sched, sched->now + 1);
}

void planned_leaves_forget(struct sched *sched, node_id node)
{
    struct planned_leaves *leaves = &sched->planned_starts->leaves;
    if (leaves->of != NULL)
        node_marks_add(&leaves->unknown, sched->cluster->node_count, node);
}

static void open_lists(struct sched *sched)
{
    struct planned_leaves *leaves = &sched->planned_starts->leaves;
    leaves->of = mem_zalloc(sched->cluster->node_count, sizeof *leaves->of);
    for (node_id n = 0; n < sched->cluster->node_count; n++)
        node_marks_add(&leaves->unknown, sched->cluster->node_count, n);
}

/* Call `visit` with `own` for each holding of the jobs that have a planned end. */
static void each_holding(const struct sched *sched, void (*visit)(const struct space *, void *), void *own)
{
    const struct planned_start_book *book = sched->planned_starts;
    for (uint32_t e = 0; e < book->end_count; e++) {
        const uint32_t slot = book->ends[e].slot;
        const struct sched_job *job = &sched->jobs.jobs[slot];
        const struct request_class *request_class = &sched->request_classes.at[job->request_class];
        for (uint32_t h = 0; h < job->holding_count; h++) {
            const struct piece *piece = &sched_job_holding(job, h)->piece;
            const struct space space = request_class_space(request_class, piece, slot);
            visit(&space, own);
        }
    }
}

static void list_space(const struct space *space, void *lists)
{
    struct planned_leaves *leaves = lists;
    struct node_leaves *own = &leaves->of[space->node];
    if (!leaves->unknown.is_marked[space->node])
        return;
    MEM_GROW(own->at, own->capacity, (size_t)own->count + 1);
    own->at[own->count++] = (struct planned_leave){.slot = space->owner,
                                                   .gpu_mask = space->gpu_mask,
                                                   .gpu_milli = space->gpu_milli,
                                                   .cpu_milli = space->cpu_milli,
                                                   .memory_mib = space->memory_mib};
}

static void make_lists(struct sched *sched)
{
    struct planned_leaves *leaves = &sched->planned_starts->leaves;
    if (leaves->of == NULL)
        open_lists(sched);
    if (leaves->unknown.count == 0)
        return;
    for (uint32_t i = 0; i < leaves->unknown.count; i++)
        leaves->of[leaves->unknown.nodes[i]].count = 0;
    each_holding(sched, list_space, leaves);
    node_marks_forget(&leaves->unknown);
}

struct planned_start_need planned_leaves_between(struct sched *sched, node_id node, uint16_t gpu_mask, time_ns from,
                                                 time_ns until)
{
    struct planned_start_need sum = {0};
    make_lists(sched);
    const struct planned_start_book *book = sched->planned_starts;
    const struct node_leaves *own = &book->leaves.of[node];
    const time_ns next = planned_end_rounded(sched, sched->now + 1);
    for (uint32_t i = 0; i < own->count; i++) {
        const struct planned_leave *leave = &own->at[i];
        const time_ns known = book->end_of[leave->slot], end = known > sched->now ? known : next;
        if (end <= from || end > until)
            continue;
        sum.milli += (leave->gpu_mask & gpu_mask) != 0 ? leave->gpu_milli : 0;
        sum.cpu_milli += leave->cpu_milli;
        sum.memory_mib += leave->memory_mib;
    }
    return sum;
}

static uint64_t size_of(uint32_t slot, uint32_t gpu_mask, uint32_t gpu_milli, uint32_t cpu_milli, uint32_t memory_mib)
{
    return ((slot + UINT64_C(1)) * 31 + gpu_mask) * 31 + gpu_milli + ((uint64_t)cpu_milli << 20) +
           ((uint64_t)memory_mib << 40);
}

static void count_space(const struct space *space, void *sums)
{
    uint64_t *by_node = sums;
    by_node[space->node] +=
        size_of(space->owner, space->gpu_mask, space->gpu_milli, space->cpu_milli, space->memory_mib);
}

const char *planned_leaves_check(const struct sched *sched)
{
    const struct planned_leaves *leaves = &sched->planned_starts->leaves;
    bool is_right = true;
    const char *broken = profile_check(&sched->planned_starts->profile);
    if (leaves->of == NULL || broken != NULL)
        return broken;
    uint64_t *held = mem_zalloc(sched->cluster->node_count, sizeof *held);
    each_holding(sched, count_space, held);
    for (node_id n = 0; n < sched->cluster->node_count; n++) {
        const struct node_leaves *own = &leaves->of[n];
        uint64_t listed = 0;
        for (uint32_t i = 0; i < own->count; i++)
            listed += size_of(own->at[i].slot, own->at[i].gpu_mask, own->at[i].gpu_milli, own->at[i].cpu_milli,
                              own->at[i].memory_mib);
        is_right &= leaves->unknown.is_marked[n] || listed == held[n];
    }
    mem_free(held);
    return is_right ? NULL : "what leaves a node by planned ends differs from what jobs hold there";
}

void planned_leaves_release(struct sched *sched)
{
    struct planned_leaves *leaves = &sched->planned_starts->leaves;
    for (node_id n = 0; n < sched->cluster->node_count && leaves->of != NULL; n++)
        mem_free(leaves->of[n].at);
    mem_free(leaves->of);
    node_marks_release(&leaves->unknown);
}
