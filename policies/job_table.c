#include "policies/job_table.h"

#include <assert.h>

void job_table_release(struct job_table *table)
{
    for (uint32_t s = 0; s < table->used; s++)
        sched_job_clear_pieces(&table->jobs[s]);
    mem_free(table->jobs);
    mem_free(table->free_slots);
    mem_free(table->slot_of);
    *table = (struct job_table){0};
}

/* `one` lives inside the job, so pointers to it must follow when the array moves. */
static void grow_jobs(struct job_table *table)
{
    const struct sched_job *before = table->jobs;
    MEM_GROW(table->jobs, table->capacity, table->used + 1);
    if (table->jobs == before)
        return;
    for (uint32_t s = 0; s < table->used; s++)
        if (table->jobs[s].piece_count == 1)
            table->jobs[s].pieces = &table->jobs[s].one;
}

uint32_t job_table_add(struct job_table *table, job_id id)
{
    uint32_t slot;
    if (table->free_count > 0) {
        slot = table->free_slots[--table->free_count];
    } else {
        if (table->used == table->capacity)
            grow_jobs(table);
        slot = table->used++;
    }
    if (id >= table->id_count) {
        if (id >= table->slot_capacity)
            MEM_GROW(table->slot_of, table->slot_capacity, (size_t)id + 1);
        while (table->id_count <= id)
            table->slot_of[table->id_count++] = SLOT_NONE;
    }
    assert(table->slot_of[id] == SLOT_NONE);
    table->slot_of[id] = slot;
    table->jobs[slot] = (struct sched_job){.id = id};
    return slot;
}

void job_table_drop(struct job_table *table, uint32_t slot)
{
    struct sched_job *job = &table->jobs[slot];
    sched_job_clear_pieces(job);
    table->slot_of[job->id] = SLOT_NONE;
    job->state = SJOB_NONE;
    if (table->free_count == table->free_capacity)
        MEM_GROW(table->free_slots, table->free_capacity, table->free_count + 1);
    table->free_slots[table->free_count++] = slot;
}

uint32_t job_table_find(const struct job_table *table, job_id id)
{
    return id < table->id_count ? table->slot_of[id] : SLOT_NONE;
}

void sched_job_set_pieces(struct sched_job *job, const struct piece *pieces, uint32_t count)
{
    sched_job_clear_pieces(job);
    job->piece_count = count;
    job->pieces = count == 1 ? &job->one : mem_alloc(count * sizeof *pieces);
    for (uint32_t i = 0; i < count; i++)
        job->pieces[i] = pieces[i];
}

void sched_job_clear_pieces(struct sched_job *job)
{
    if (job->piece_count > 1)
        mem_free(job->pieces);
    job->pieces = NULL;
    job->piece_count = 0;
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
