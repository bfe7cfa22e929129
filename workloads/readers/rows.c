#include "workloads/readers/rows.h"

static bool has_growth(const struct workload_spec *spec)
{
    return spec->growth.queues.count > 0;
}

void rows_init(struct rows *rows, const struct workload_spec *spec, struct job_tables *tables, struct side_files *sides,
               uint64_t seed)
{
    *rows = (struct rows){.spec = spec, .tables = tables, .sides = sides, .seed = seed};
    if (tenants_plan_is_on(&spec->tenants))
        tenants_init(&rows->tenants, &spec->tenants, tables->queues, tables->users);
}

struct error rows_open(struct rows *rows)
{
    struct job_tables *tables = rows->tables;
    const struct tenants *tenants = &rows->tenants;
    const bool is_folded = tenants->plan != NULL;
    rows->reader = (struct reader){
        .cluster = tables->cluster,
        .queues = is_folded ? tenants->recorded_queues : tables->queues,
        .users = is_folded ? tenants->recorded_users : tables->users,
        .asks = &tables->asks,
        .communications = &tables->declared.set,
        .tags = tables->tags,
        .classes = tables->classes,
        .ids = {.arrays = tables->arrays},
        .arena = &rows->arena,
        .kept = &rows->kept,
        .sides = rows->sides,
        .is_again = rows->is_read,
    };
    rows->is_read = true;
    rows->copies = rows->copy = 1;
    rows->place = 0;
    arena_reset(&rows->arena);
    TRY(reader_open(&rows->reader, rows->spec));
    if (!rows->reader.frozen.is_frozen || rows->spec->tenants.queues.count == 0)
        return ERROR_OK;
    struct error error =
        error_new(ERROR_CONFIG, "%s is frozen and brings its tree of queues, which 'tenants.queues' cannot fold",
                  rows->spec->trace);
    error_set_hint(&error, "fold the queues of the trace from which it was frozen");
    return error;
}

/* The name of a queue as the next steps see it. */
static const char *queue_name(const struct rows *rows, const struct job *job)
{
    return rows->tables->queues->queues[job->queue].name;
}

/* How often the row comes.  Its job gets its tenant. */
static uint32_t choose(struct rows *rows, struct job *job)
{
    const struct workload_spec *spec = rows->spec;
    if (workload_has_window(spec) && (job->submit < spec->window_from || job->submit >= spec->window_to))
        return 0;
    if (spec->sample.share > 0 && !sample_takes(&spec->sample, job, rows->reader.users, rows->seed))
        return 0;
    if (rows->tenants.plan != NULL)
        tenants_apply(&rows->tenants, job);
    return has_growth(spec) ? growth_count(&spec->growth, job, queue_name(rows, job), rows->seed) : 1;
}

/* ---- Dependencies ---- */

/* Do the places of rows differ from the numbers that the reader gives? */
static bool moves_places(const struct rows *rows)
{
    return rows->reader.has_ties && (rows->spec->sample.share > 0 || has_growth(rows->spec));
}

/* Remember the place of the row that was read; one outside of the window has no number. */
static void note_place(struct rows *rows, uint32_t numbers_before)
{
    const uint32_t numbers = rows->reader.ids.job_count;
    if (numbers == numbers_before)
        return;
    MEM_GROW(rows->places, rows->place_capacity, numbers);
    for (uint32_t i = numbers_before; i + 1 < numbers; i++)
        rows->places[i] = JOB_NONE; /* of lines that could not be read */
    rows->places[numbers - 1] = rows->copies > 0 ? rows->place : JOB_NONE;
}

/* Name the jobs by their places, and leave out those that went. */
static void turn_after(const struct rows *rows, struct job *job)
{
    struct job_after *after = (struct job_after *)(uintptr_t)job->after; /* in our arena */
    uint16_t count = 0;
    for (uint16_t a = 0; a < job->after_count; a++) {
        const uint32_t place = rows->places[after[a].job];
        if (place == JOB_NONE)
            continue;
        after[count] = after[a];
        after[count++].job = place;
    }
    job->after_count = count;
    if (count == 0)
        job->after = NULL;
}

/* ---- The next row ---- */

static void rows_stretch(struct job *job, struct job_truth *truth, double factor)
{
    truth->duration = rows_scaled(truth->duration, factor);
    job->limit = rows_scaled(job->limit, factor);
    job->estimate = rows_scaled(job->estimate, factor);
    if (job->limit == 0)
        job->limit = TIME_NS_PER_US; /* scaling made it 0, which is no limit */
}

/* A job that comes more than once has its failures in common with its copies, so they are not changed in place. */
void rows_stretch_all(struct job *job, struct job_truth *truth, double factor, struct arena *arena)
{
    const struct job_failures *failures = truth->failures;
    rows_stretch(job, truth, factor);
    if (failures == NULL)
        return;
    struct job_failures *scaled = arena_alloc(arena, sizeof *scaled + failures->count * sizeof scaled->work[0]);
    scaled->count = failures->count;
    for (uint32_t i = 0; i < failures->count; i++) {
        const time_ns work = rows_scaled(failures->work[i], factor);
        scaled->work[i] = work > 0 ? work : 1;
    }
    truth->failures = scaled;
}

/* Read on until a row comes at least once. */
static struct error read_on(struct rows *rows, struct trace_row *row, bool *has)
{
    do {
        const uint32_t numbers = rows->reader.ids.job_count;
        if (!rows->is_kept)
            arena_reset(&rows->arena);
        TRY(reader_next(&rows->reader, row, has));
        if (!*has)
            return ERROR_OK;
        rows->copies = choose(rows, &row->job);
        if (moves_places(rows))
            note_place(rows, numbers);
    } while (rows->copies == 0);
    if (moves_places(rows))
        turn_after(rows, &row->job);
    rows_stretch(&row->job, &row->truth, rows->spec->duration_scale != 0 ? rows->spec->duration_scale : 1);
    return ERROR_OK;
}

struct error rows_next(struct rows *rows, struct trace_row *row, bool *has)
{
    const struct workload_spec *spec = rows->spec;
    *has = true;
    if (rows->copy < rows->copies) {
        *row = rows->last;
        rows->copy++;
        growth_copy(&spec->growth, &row->job, &row->truth, rows->copy,
                    workload_has_window(spec) ? spec->window_to : TIME_NEVER, rows->seed, &rows->arena);
    } else {
        TRY(read_on(rows, row, has));
        rows->copy = 1;
        if (rows->copies > 1)
            rows->last = *row;
    }
    rows->place += *has;
    return ERROR_OK;
}

void rows_close(struct rows *rows)
{
    reader_close(&rows->reader);
}

void rows_release(struct rows *rows)
{
    reader_close(&rows->reader);
    tenants_release(&rows->tenants);
    mem_free(rows->places);
    arena_release(&rows->arena);
    arena_release(&rows->kept);
    *rows = (struct rows){0};
}
