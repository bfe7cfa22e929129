#include "studies/divergence/decision.h"

#include <stdio.h>
#include <string.h>

#include "sim/job/placement_text.h"

enum { HEADS_NAMED = 8 }; /* heads whose jobs get names: see studies/divergence/decision_text.c */

struct seeking {
    struct decision_study *study;
    uint64_t number, last; /* last: the highest number so far */
    uint64_t cycle;        /* number of the next cycle */
    uint64_t *reserved_by; /* by job: the number of its last RESERVE */
    size_t reserved_capacity;
    bool is_found;
    volatile sig_atomic_t is_over;
};

static struct error pass_fact(void *self, const struct fact *fact)
{
    (void)self;
    (void)fact;
    return ERROR_OK;
}

/* ---- The first run: which cycle ---- */

static struct decision copy_of(struct arena *arena, const struct decision *decision)
{
    struct decision copy = *decision;
    struct piece *pieces = arena_alloc_array(arena, decision->piece_count + 1, struct piece);
    if (decision->piece_count > 0)
        memcpy(pieces, decision->pieces, decision->piece_count * sizeof *pieces);
    copy.pieces = pieces;
    copy.waited = NULL;
    return copy;
}

static void note_reserve(struct seeking *seeking, const struct decision *decision)
{
    if (decision->kind != DECISION_RESERVE)
        return;
    MEM_GROW(seeking->reserved_by, seeking->reserved_capacity, (size_t)decision->job + 1);
    seeking->reserved_by[decision->job] = decision_number(decision->id);
}

static struct error find_in_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                                  const struct wire_done *done)
{
    struct seeking *seeking = self;
    struct decision_study *study = seeking->study;
    (void)done;
    for (size_t i = 0; i < count && !seeking->is_found; i++) {
        seeking->last = decision_number(decisions[i].id);
        note_reserve(seeking, &decisions[i]);
        if (seeking->last != seeking->number)
            continue;
        seeking->is_found = true;
        seeking->is_over = 1;
        study->at = now;
        study->cycle = seeking->cycle;
        study->decision = copy_of(&study->arena, &decisions[i]);
        study->before = arena_alloc_array(&study->arena, i + 1, struct decision);
        study->before_count = i;
        if (decisions[i].kind == DECISION_START && decisions[i].job < seeking->reserved_capacity)
            study->reserved_by = seeking->reserved_by[decisions[i].job];
        for (size_t b = 0; b < i; b++)
            study->before[b] = copy_of(&study->arena, &decisions[b]);
    }
    if (seeking->last > seeking->number)
        seeking->is_over = 1;
    seeking->cycle++;
    return ERROR_OK;
}

static struct error find(struct seeking *seeking)
{
    const struct port_outside listener = {.self = seeking, .on_fact = pass_fact, .on_cycle = find_in_cycle};
    const struct side_run run = {.until = TIME_NEVER, .listener = &listener, .stop = &seeking->is_over};
    TRY(side_run(&seeking->study->side, &run));
    if (seeking->is_found)
        return ERROR_OK;
    struct error error = error_new(ERROR_DATA, "the run has no decision %llu", (unsigned long long)seeking->number);
    if (seeking->last < seeking->number)
        error_set_hint(&error, "its last decision is %llu", (unsigned long long)seeking->last);
    else
        error_set_hint(&error, "it was taken back within its cycle; the next one is %llu",
                       (unsigned long long)seeking->last);
    return error;
}

/* ---- The second run: what it weighed ---- */

static void name_job(struct decision_study *study, job_id id)
{
    for (uint32_t j = 0; j < study->job_count; j++)
        if (study->jobs[j].id == id)
            return;
    if (id == JOB_NONE)
        return;
    MEM_GROW(study->jobs, study->job_capacity, (size_t)study->job_count + 1);
    study->jobs[study->job_count++] = (struct named_job){.id = id};
}

static void weigh(void *self, struct sched *sched, time_ns now)
{
    struct seeking *seeking = self;
    struct decision_study *study = seeking->study;
    (void)now;
    if (seeking->cycle++ != study->cycle)
        return;
    seeking->is_over = 1;
    name_job(study, study->decision.job);
    name_job(study, study->decision.for_job);
    if (study->weighed == JOB_NONE)
        return;
    study->is_weighed = sched_weigh(sched, study->weighed, study->before, study->before_count, &study->weighing);
    if (study->is_weighed)
        study->why = study->weighing.why;
    study->is_explained = study->is_weighed || sched_explain(sched, study->weighed, &study->why);
    for (uint32_t h = 0; h < study->weighing.head_count; h++)
        if (h < HEADS_NAMED || h + 1 == study->weighing.head_count)
            name_job(study, study->weighing.heads[h].job);
}

static struct error pass_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                               const struct wire_done *done)
{
    (void)self;
    (void)now;
    (void)decisions;
    (void)count;
    (void)done;
    return ERROR_OK;
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct seeking *seeking = self;
    struct decision_study *study = seeking->study;
    for (uint32_t j = 0; j < study->job_count; j++)
        if (study->jobs[j].id == row->id)
            named_job_take(&study->jobs[j], row, &study->arena);
    return ERROR_OK;
}

static struct error weigh_decision(struct seeking *seeking)
{
    struct decision_study *study = seeking->study;
    const struct port_outside listener = {
        .self = seeking, .on_fact = pass_fact, .on_cycle_begin = weigh, .on_cycle = pass_cycle};
    const struct record_sink sink = {.self = seeking, .on_job = on_job};
    struct buffer place = {0};
    study->weighed = study->decision.kind == DECISION_EVICT ? study->decision.for_job : study->decision.job;
    seeking->is_over = 0;
    seeking->cycle = 0;
    placement_text(&place, study->side.scenario.cluster, study->decision.pieces, study->decision.piece_count);
    study->place = arena_copy(&study->arena, (struct text){place.bytes, place.length});
    buffer_release(&place);
    return side_run(
        &study->side,
        &(struct side_run){.until = study->at, .listener = &listener, .sink = &sink, .stop = &seeking->is_over});
}

struct error decision_study_find(struct decision_study *study, const struct scenario_options *options, uint64_t number)
{
    struct seeking seeking = {.study = study, .number = number};
    *study = (struct decision_study){0};
    TRY(side_open(&study->side, options));
    struct error error = find(&seeking);
    if (!error_is(error))
        error = weigh_decision(&seeking);
    mem_free(seeking.reserved_by);
    if (error_is(error))
        decision_study_release(study);
    return error;
}

void decision_study_release(struct decision_study *study)
{
    side_release(&study->side);
    arena_release(&study->weighing.arena);
    arena_release(&study->arena);
    mem_free(study->jobs);
    *study = (struct decision_study){0};
}
