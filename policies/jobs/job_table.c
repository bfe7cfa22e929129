#include "policies/jobs/job_table.h"

#include <assert.h>

#include "policies/jobs/request_class.h"

static void release_job(struct sched_job *job)
{
    if (job->more != NULL)
        mem_free(job->more);
    if (job->held_more != NULL)
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

/* Make room in slot_of for this id and all below. */
static void know(struct job_table *table, job_id id)
{
    if (id < table->id_count)
        return;
    if (id >= table->slot_capacity)
        MEM_GROW(table->slot_of, table->slot_capacity, (size_t)id + 1);
    while (table->id_count <= id)
        table->slot_of[table->id_count++] = SLOT_NONE;
}

uint32_t job_table_add(struct job_table *table, job_id id, uint32_t group_count)
{
    uint32_t slot = new_slot(table);
    know(table, id);
    assert(job_table_find(table, id) == SLOT_NONE);
    table->slot_of[id] = slot;
    table->jobs[slot] = (struct sched_job){.id = id, .class_queue = UINT32_MAX, .ranked_fill = UINT8_MAX};
    if (group_count > 1)
        table->jobs[slot].held_more = mem_zalloc(group_count, sizeof(uint32_t));
    return slot;
}

void job_table_drop(struct job_table *table, uint32_t slot)
{
    struct sched_job *job = &table->jobs[slot];
    release_job(job);
    table->slot_of[job->id] = SLOT_NONE;
    job->state = SJOB_NONE; /* the other fields are written when the slot is used again */
    if (table->free_count == table->free_capacity)
        MEM_GROW(table->free_slots, table->free_capacity, table->free_count + 1);
    table->free_slots[table->free_count++] = slot;
}

void job_table_note_end(struct job_table *table, job_id id, enum ended end)
{
    know(table, id);
    assert(job_table_find(table, id) == SLOT_NONE);
    table->slot_of[id] = SLOT_NONE - (uint32_t)end;
}

enum ended job_table_end(const struct job_table *table, job_id id)
{
    if (id >= table->id_count || table->slot_of[id] < SLOT_NONE - ENDED_OTHERWISE)
        return ENDED_NOT;
    return (enum ended)(SLOT_NONE - table->slot_of[id]);
}

struct holding *sched_job_hold(struct sched_job *job, const struct piece *piece, enum holding_phase phase,
                               decision_id decision)
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
    job->phase_counts[phase]++;
    job->running_milli += phase == HOLDING_RUNNING ? piece_milli(piece) : 0;
    return at;
}

void sched_job_unhold(struct sched_job *job, uint32_t index)
{
    struct holding *holdings = sched_job_holdings(job);
    assert(index < job->holding_count);
    job->phase_counts[holdings[index].phase]--;
    if (holdings[index].phase == HOLDING_RUNNING)
        job->running_milli -= piece_milli(&holdings[index].piece);
    job->open_from -= index < job->open_from;
    job->unheld++;
    for (job->holding_count--; index < job->holding_count; index++)
        holdings[index] = holdings[index + 1];
}

const char *sched_job_check(const struct sched_job *job)
{
    enum { FEW = 64 };
    uint32_t counts[HOLDING_PHASES] = {0};
    int64_t running_milli = 0;
    decision_id last = 0; /* of the STARTING holding before */
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        counts[holding->phase]++;
        running_milli += holding->phase == HOLDING_RUNNING ? piece_milli(&holding->piece) : 0;
        if (holding->phase != HOLDING_STARTING)
            continue;
        if (i < job->open_from)
            return "a holding of an open START is not looked at";
        const bool is_first = holding->decision != last && job->holding_count <= FEW; /* O(holdings^2) */
        for (uint32_t k = job->open_from; k + 1 < i && is_first; k++)
            if (sched_job_holding(job, k)->phase == HOLDING_STARTING &&
                sched_job_holding(job, k)->decision == holding->decision)
                return "the holdings of a START do not stand side by side";
        last = holding->decision;
    }
    return memcmp(counts, job->phase_counts, sizeof counts) != 0 || running_milli != job->running_milli
               ? "a job's holdings are counted wrongly"
               : NULL;
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
