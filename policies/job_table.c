#include "policies/job_table.h"

#include <assert.h>

static void release_job(struct sched_job *job)
{
    mem_free(job->more);
    mem_free(job->held_more);
}

void job_table_release(struct job_table *table)
{
    for (uint32_t s = 0; s < table->used; s++)
        if (table->jobs[s].state != SJOB_NONE)
            release_job(&table->jobs[s]);
    mem_free(table->jobs);
    mem_free(table->facts);
    mem_free(table->free_slots);
    mem_free(table->slot_of);
    mem_free(table->ends);
    *table = (struct job_table){0};
}

static uint32_t new_slot(struct job_table *table)
{
    if (table->free_count > 0)
        return table->free_slots[--table->free_count];
    if (table->used == table->capacity)
        MEM_GROW(table->jobs, table->capacity, table->used + 1);
    if (table->used == table->facts_capacity)
        MEM_GROW(table->facts, table->facts_capacity, table->used + 1);
    return table->used++;
}

void job_table_know(struct job_table *table, job_id id)
{
    if (id < table->id_count)
        return;
    if (id >= table->slot_capacity)
        MEM_GROW(table->slot_of, table->slot_capacity, (size_t)id + 1);
    if (id >= table->end_capacity)
        MEM_GROW(table->ends, table->end_capacity, (size_t)id + 1);
    while (table->id_count <= id)
        table->slot_of[table->id_count++] = SLOT_NONE;
}

uint32_t job_table_add(struct job_table *table, job_id id, uint32_t group_count)
{
    uint32_t slot = new_slot(table);
    job_table_know(table, id);
    assert(table->slot_of[id] == SLOT_NONE);
    table->slot_of[id] = slot;
    table->jobs[slot] = (struct sched_job){.id = id, .lane = UINT32_MAX, .ranked_fill = UINT8_MAX};
    if (group_count > 1)
        table->jobs[slot].held_more = mem_zalloc(group_count, sizeof(uint32_t));
    return slot;
}

void job_table_drop(struct job_table *table, uint32_t slot)
{
    struct sched_job *job = &table->jobs[slot];
    release_job(job);
    table->slot_of[job->id] = SLOT_NONE;
    job->state = SJOB_NONE; /* all else is written when the slot is used again */
    if (table->free_count == table->free_capacity)
        MEM_GROW(table->free_slots, table->free_capacity, table->free_count + 1);
    table->free_slots[table->free_count++] = slot;
}

uint32_t job_table_find(const struct job_table *table, job_id id)
{
    return id < table->id_count ? table->slot_of[id] : SLOT_NONE;
}

struct holding *sched_job_hold(struct sched_job *job, const struct piece *piece,
                               enum holding_phase phase, decision_id decision)
{
    struct holding holding = {*piece, (uint8_t)phase, decision};
    if (job->holding_count > 0 || job->more != NULL) {
        bool is_second = job->more == NULL;
        if (job->holding_count >= job->holding_capacity)
            MEM_GROW(job->more, job->holding_capacity, (size_t)job->holding_count + 1);
        if (is_second)
            job->more[0] = job->one;
    }
    struct holding *at = &sched_job_holdings(job)[job->holding_count++];
    *at = holding;
    return at;
}

void sched_job_unhold(struct sched_job *job, uint32_t index)
{
    struct holding *holdings = sched_job_holdings(job);
    assert(index < job->holding_count);
    for (job->holding_count--; index < job->holding_count; index++)
        holdings[index] = holdings[index + 1];
}

void slot_list_add(struct slot_list *list, struct job_table *table, uint32_t slot)
{
    if (list->count == list->capacity)
        MEM_GROW(list->slots, list->capacity, list->count + 1);
    table->jobs[slot].list_position = list->count;
    list->slots[list->count++] = slot;
}

void slot_list_remove(struct slot_list *list, struct job_table *table, uint32_t slot)
{
    uint32_t at = table->jobs[slot].list_position;
    assert(at < list->count && list->slots[at] == slot);
    uint32_t last = list->slots[--list->count];
    list->slots[at] = last;
    table->jobs[last].list_position = at;
}
