#include "workloads/readers/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "workloads/readers/job_ids.h"

#define DAY  (INT64_C(86400) * TIME_NS_PER_S)
#define WEEK (7 * DAY)

enum { BLOCKS_MIN = 2 }; /* with fewer there is nothing to draw */

const char *const blocks_names[] = {"users", "weeks", NULL};

/* One block in its place.  Its jobs are the entries from `entry` on, in the order of the trace. */
struct draw {
    uint32_t block, copy; /* copy: from 1 */
    time_ns later;        /* by how much its jobs come later than in the trace */
    uint64_t entry;
};

/* An entry: a job of a draw. */
struct entry {
    time_ns submit;
    uint32_t job, draw;
};

struct drawing {
    const struct held *held;
    const struct blocks_plan *plan;
    struct names *users;
    struct arena *arena;
    uint32_t count;     /* blocks that are drawn; one more stays, and may be empty */
    uint32_t *block_of; /* by job */
    uint32_t *rank;     /* by job: its place within its block */
    uint32_t *leader;   /* by job: the first job of its block with the same array */
    uint64_t *first;    /* by block, and one more: its first place in `jobs` */
    uint32_t *jobs;     /* block after block */
    struct draw *draws; /* count + 1: the last is the block that stays */
    struct entry *entries;
    uint64_t entry_count;
    uint32_t *place; /* by entry as drawn: its place after sorting */
    size_t marks;    /* '#' before the number of a copy */
};

/* ---- which job is in which block ---- */

static void find_weeks(struct drawing *drawing)
{
    const struct blocks_plan *plan = drawing->plan;
    const struct held *held = drawing->held;
    time_ns end = plan->end;
    if (end == TIME_NEVER) {
        time_ns last = plan->begin;
        for (size_t i = 0; i < held->count; i++)
            last = held->jobs[i].job.submit > last ? held->jobs[i].job.submit : last;
        end = plan->begin + ((last - plan->begin) / DAY + 1) * DAY;
    }
    const time_ns weeks = (end - plan->begin) / WEEK;
    drawing->count = weeks < UINT32_MAX - 1 ? (uint32_t)weeks : UINT32_MAX - 1;
    for (size_t i = 0; i < held->count; i++) {
        const time_ns since = held->jobs[i].job.submit - plan->begin, week = since > 0 ? since / WEEK : 0;
        drawing->block_of[i] = week < drawing->count ? (uint32_t)week : drawing->count;
    }
}

/* Users are numbered by their first job. */
static void find_users(struct drawing *drawing)
{
    const struct held *held = drawing->held;
    uint32_t *number = mem_zalloc((size_t)names_count(drawing->users) + 1, sizeof *number); /* from 1 */
    for (size_t i = 0; i < held->count; i++) {
        const uint32_t user = held->jobs[i].job.user;
        if (user != NAMES_NONE && number[user] == 0)
            number[user] = ++drawing->count;
    }
    for (size_t i = 0; i < held->count; i++) {
        const uint32_t user = held->jobs[i].job.user;
        drawing->block_of[i] = user != NAMES_NONE ? number[user] - 1 : drawing->count;
    }
    mem_free(number);
}

static struct error too_few(const struct drawing *drawing)
{
    const char *trace = drawing->plan->trace;
    const bool is_users = drawing->plan->kind == BLOCKS_USERS;
    struct error error;
    if (is_users && drawing->count == 0)
        error = error_new(ERROR_DATA, "%s cannot be drawn by users: it names none", trace);
    else if (is_users)
        error = error_new(ERROR_DATA, "%s cannot be drawn by users: all its jobs are of one", trace);
    else
        error = error_new(ERROR_DATA, "%s cannot be drawn by weeks: it has %u whole week%s, and at least %d are needed",
                          trace, drawing->count, drawing->count == 1 ? "" : "s", BLOCKS_MIN);
    error_set_hint(&error, "use 'workload.blocks': \"%s\", or 'workload.shake'", is_users ? "weeks" : "users");
    return error;
}

/* List the jobs of each block in the order of the trace. */
static void list_jobs(struct drawing *drawing)
{
    const size_t jobs = drawing->held->count, blocks = (size_t)drawing->count + 1;
    uint64_t *next = mem_zalloc(blocks + 1, sizeof *next);
    for (size_t i = 0; i < jobs; i++)
        drawing->first[drawing->block_of[i] + 1]++;
    for (size_t b = 0; b < blocks; b++)
        next[b + 1] = drawing->first[b + 1] += drawing->first[b];
    for (size_t i = 0; i < jobs; i++) {
        const uint32_t block = drawing->block_of[i];
        drawing->rank[i] = (uint32_t)(next[block] - drawing->first[block]);
        drawing->jobs[next[block]++] = (uint32_t)i;
    }
    mem_free(next);
}

static void find_leaders(struct drawing *drawing)
{
    uint32_t *latest = NULL; /* by array: its leader in the latest block that has it */
    size_t capacity = 0;
    for (size_t i = 0; i < drawing->held->count; i++) {
        const uint32_t job = drawing->jobs[i], array = drawing->held->jobs[job].job.array;
        MEM_GROW(latest, capacity, (size_t)array + 1);
        const uint32_t before = latest[array];
        if (before == 0 || drawing->block_of[before - 1] != drawing->block_of[job])
            latest[array] = job + 1;
        drawing->leader[job] = latest[array] - 1;
    }
    mem_free(latest);
}

/* ---- drawing ---- */

static struct error draw_blocks(struct drawing *drawing)
{
    const bool is_weeks = drawing->plan->kind == BLOCKS_WEEKS;
    const uint32_t count = drawing->count;
    uint32_t *copies = mem_zalloc((size_t)count + 1, sizeof *copies);
    struct random_stream stream;
    random_stream_init(&stream, drawing->plan->seed, is_weeks ? "blocks_weeks" : "blocks_users", 0);
    for (uint32_t d = 0; d <= count; d++) {
        const uint32_t block = d < count ? random_below(&stream, count) : count;
        drawing->draws[d] = (struct draw){.block = block,
                                          .copy = ++copies[block],
                                          .later = is_weeks ? ((time_ns)d - (time_ns)block) * WEEK : 0,
                                          .entry = drawing->entry_count};
        drawing->entry_count += drawing->first[block + 1] - drawing->first[block];
    }
    mem_free(copies);
    if (drawing->entry_count >= JOB_NONE)
        return error_new(ERROR_DATA, "%s, drawn by %s, gives %llu jobs; a run can have no more than %u",
                         drawing->plan->trace, is_weeks ? "weeks" : "users", (unsigned long long)drawing->entry_count,
                         JOB_NONE);
    if (drawing->entry_count == 0)
        return error_new(ERROR_DATA, "%s, drawn by weeks with the seed %llu, gives no jobs: most weeks have none",
                         drawing->plan->trace, (unsigned long long)drawing->plan->seed);
    return ERROR_OK;
}

static int on_compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->draw < b->draw ? -1 : a->draw > b->draw;
}

/* The entry as drawn. */
static uint64_t entry_of(const struct drawing *drawing, uint32_t draw, uint32_t job)
{
    return drawing->draws[draw].entry + drawing->rank[job];
}

static void sort_entries(struct drawing *drawing)
{
    uint64_t count = 0;
    drawing->entries = mem_zalloc(drawing->entry_count, sizeof *drawing->entries);
    drawing->place = mem_zalloc(drawing->entry_count, sizeof *drawing->place);
    for (uint32_t d = 0; d <= drawing->count; d++) {
        const struct draw *draw = &drawing->draws[d];
        for (uint64_t i = drawing->first[draw->block]; i < drawing->first[draw->block + 1]; i++) {
            const uint32_t job = drawing->jobs[i];
            const time_ns submit = drawing->held->jobs[job].job.submit + draw->later;
            drawing->entries[count++] = (struct entry){.submit = submit, .job = job, .draw = d};
        }
    }
    qsort(drawing->entries, drawing->entry_count, sizeof *drawing->entries, on_compare);
    for (uint64_t i = 0; i < drawing->entry_count; i++)
        drawing->place[entry_of(drawing, drawing->entries[i].draw, drawing->entries[i].job)] = (uint32_t)i;
}

/* ---- copies ---- */

static size_t longest_run(const char *name)
{
    size_t longest = 0;
    for (size_t run = 0; *name != '\0'; name++) {
        run = *name == '#' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void choose_marks(struct drawing *drawing)
{
    size_t longest = 0;
    for (uint32_t u = 0; u < names_count(drawing->users); u++) {
        const size_t run = longest_run(names_text(drawing->users, u));
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i < drawing->held->count; i++) {
        const char *name = drawing->held->jobs[i].job.name;
        const size_t run = name != NULL ? longest_run(name) : 0;
        longest = run > longest ? run : longest;
    }
    drawing->marks = longest + 1;
}

static void write_copy(const struct drawing *drawing, uint32_t copy, struct buffer *out)
{
    for (size_t i = 0; i < drawing->marks; i++)
        buffer_char(out, '#');
    buffer_format(out, "%u", copy);
}

static const char *copy_name(const struct drawing *drawing, const struct job *job, uint32_t copy, struct buffer *text)
{
    text->length = 0;
    job_id_put(job, text);
    write_copy(drawing, copy, text);
    return arena_copy(drawing->arena, (struct text){text->bytes, text->length});
}

static uint32_t copy_user(const struct drawing *drawing, uint32_t user, uint32_t copy, struct buffer *text)
{
    text->length = 0;
    buffer_string(text, names_text(drawing->users, user));
    write_copy(drawing, copy, text);
    return names_add(drawing->users, (struct text){text->bytes, text->length});
}

/* Dependencies within the draw, by their places after sorting. */
static void take_after(const struct drawing *drawing, const struct entry *entry, struct job *job)
{
    struct job_after *own = NULL;
    uint16_t count = 0;
    for (uint32_t a = 0; a < job->after_count; a++) {
        const uint32_t other = job->after[a].job;
        if (drawing->block_of[other] != drawing->block_of[entry->job])
            continue;
        if (own == NULL)
            own = arena_alloc_array(drawing->arena, job->after_count, struct job_after);
        own[count].kind = job->after[a].kind;
        own[count++].job = drawing->place[entry_of(drawing, entry->draw, other)];
    }
    job->after = own;
    job->after_count = count;
}

static void note_copy(struct blocks_users *copies, uint32_t user, uint32_t original, size_t *capacity)
{
    MEM_GROW(copies->original, *capacity, (size_t)user + 1);
    for (; copies->count <= user; copies->count++)
        copies->original[copies->count] = (uint32_t)copies->count;
    copies->original[user] = original;
}

static void make_jobs(struct drawing *drawing, struct held *out, struct blocks_users *copies)
{
    uint32_t *array = mem_zalloc(drawing->entry_count, sizeof *array); /* by entry of a leader; 0: not numbered yet */
    uint32_t array_count = 0;
    size_t capacity = 0;
    struct buffer text = {0};
    for (uint64_t i = 0; i < drawing->entry_count; i++) {
        const struct entry *entry = &drawing->entries[i];
        const struct draw *draw = &drawing->draws[entry->draw];
        struct held_job taken = drawing->held->jobs[entry->job];
        struct job *job = &taken.job;
        if (job->deadline != TIME_NEVER)
            job->deadline = time_after(job->deadline, draw->later);
        job->submit = entry->submit;
        take_after(drawing, entry, job);
        if (job->array != 0) {
            uint32_t *number = &array[entry_of(drawing, entry->draw, drawing->leader[entry->job])];
            if (*number == 0)
                *number = ++array_count;
            job->array = *number;
        }
        if (draw->copy > 1) {
            job->name = copy_name(drawing, job, draw->copy, &text);
            if (drawing->plan->kind == BLOCKS_USERS) {
                const uint32_t original = job->user;
                job->user = copy_user(drawing, original, draw->copy, &text);
                note_copy(copies, job->user, original, &capacity);
            }
        }
        held_add(out, job, &taken.truth);
    }
    buffer_release(&text);
    mem_free(array);
}

struct error blocks_draw(struct held *held, const struct blocks_plan *plan, struct names *users, struct arena *arena,
                         struct blocks_users *copies)
{
    struct drawing drawing = {.held = held, .plan = plan, .users = users, .arena = arena};
    struct held drawn = {0};
    struct error error = ERROR_OK;
    drawing.block_of = mem_zalloc(held->count, sizeof *drawing.block_of);
    if (plan->kind == BLOCKS_WEEKS)
        find_weeks(&drawing);
    else
        find_users(&drawing);
    if (drawing.count < BLOCKS_MIN)
        error = too_few(&drawing);
    if (!error_is(error)) {
        drawing.rank = mem_zalloc(held->count, sizeof *drawing.rank);
        drawing.leader = mem_zalloc(held->count, sizeof *drawing.leader);
        drawing.jobs = mem_zalloc(held->count, sizeof *drawing.jobs);
        drawing.first = mem_zalloc((size_t)drawing.count + 2, sizeof *drawing.first);
        drawing.draws = mem_zalloc((size_t)drawing.count + 1, sizeof *drawing.draws);
        list_jobs(&drawing);
        find_leaders(&drawing);
        error = draw_blocks(&drawing);
    }
    if (!error_is(error)) {
        sort_entries(&drawing);
        choose_marks(&drawing);
        make_jobs(&drawing, &drawn, copies);
        held_release(held);
        *held = drawn;
    }
    mem_free(drawing.block_of);
    mem_free(drawing.rank);
    mem_free(drawing.leader);
    mem_free(drawing.jobs);
    mem_free(drawing.first);
    mem_free(drawing.draws);
    mem_free(drawing.entries);
    mem_free(drawing.place);
    return error;
}

void blocks_users_release(struct blocks_users *copies)
{
    mem_free(copies->original);
    *copies = (struct blocks_users){0};
}
