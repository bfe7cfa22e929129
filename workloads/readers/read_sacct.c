/* workloads/readers/read_sacct.c -- jobs as Slurm's accounting lists them: `sacct -P`, a row per attempt with `-D`.
 *
 * A job that was requeued has a row for each attempt, and the later ones come anywhere behind the first (sacct sorts by
 * submission, which a requeue moves).  An attempt that may be followed by another is kept until that comes, or the end.
 * The job has the run time of the last, unless `workload.attempts` says otherwise.
 *
 * The components of a heterogeneous job become one job (sacct_het.h), when the row that follows them is read.
 *
 * Times are dates of the cluster's clocks, without a zone, or seconds since 1970 (sacct_times.h).
 *
 * Sources: SchedMD/slurm, src/sacct/print.c (columns and their values), sacct(1); rows of Slurm 22.05. */
#include <assert.h>
#include <string.h>

#include "workloads/readers/reader.h"
#include "workloads/readers/sacct_het.h"
#include "workloads/readers/sacct_times.h"
#include "workloads/request/ask.h"

enum {
    SACCT_ID,
    SACCT_USER,
    SACCT_ACCOUNT,
    SACCT_PARTITION,
    SACCT_SUBMIT,
    SACCT_ELIGIBLE,
    SACCT_START,
    SACCT_END,
    SACCT_LIMIT,
    SACCT_STATE,
    SACCT_NODES,
    SACCT_ASKED,
    SACCT_GIVEN,
    SACCT_ELAPSED,
    SACCT_COLUMN_COUNT
};

static const struct column columns[SACCT_COLUMN_COUNT] = {
    [SACCT_ID] = {"JobID", true, FIELD_TEXT},
    [SACCT_USER] = {"User", false, FIELD_TEXT},
    [SACCT_ACCOUNT] = {"Account", false, FIELD_TEXT},
    [SACCT_PARTITION] = {"Partition", false, FIELD_TEXT},
    [SACCT_SUBMIT] = {"Submit", true, FIELD_TEXT},
    [SACCT_ELIGIBLE] = {"Eligible", false, FIELD_TEXT},
    [SACCT_START] = {"Start", true, FIELD_TEXT},
    [SACCT_END] = {"End", true, FIELD_TEXT},
    [SACCT_LIMIT] = {"TimelimitRaw", false, FIELD_TEXT},
    [SACCT_STATE] = {"State", true, FIELD_TEXT},
    [SACCT_NODES] = {"NNodes", false, FIELD_NUMBER},
    [SACCT_ASKED] = {"ReqTRES", false, FIELD_TEXT},
    [SACCT_GIVEN] = {"AllocTRES", false, FIELD_TEXT},
    [SACCT_ELAPSED] = {"Elapsed", false, FIELD_TEXT},
};

/* Columns whose texts may hold the separator: sacct does not escape it. */
static const char *const texts[] = {"JobName",    "Constraints", "Comment", "AdminComment", "SystemComment",
                                    "SubmitLine", "WorkDir",     "Extra",   "Licenses",     "StdOut",
                                    "StdErr",     "StdIn",       NULL};

/* The last attempt of a job so far; submission, eligibility and first start are of its first. */
struct kept {
    struct sacct_attempt attempt;
    bool is_open; /* no final row of the job came yet */
};

struct sacct_state {
    struct arena times; /* owns the arrays `earlier` and `groups` of the attempts in `kept` */
    struct names *ids;  /* of the jobs in `kept` */
    struct kept *kept;  /* by id */
    size_t capacity;
    uint32_t next; /* at the end: the next of them */
    struct sacct_het het;
};

static struct error sacct_first_line(struct reader *reader, struct text line, bool *is_header)
{
    struct sacct_state *state = reader->state;
    (void)is_header;
    state->ids = names_new();
    reader_tell_columns(reader, line);
    return ERROR_OK;
}

/* Minutes; UNLIMITED and Partition_Limit are none. */
static struct error limit_read(const struct line *line, const struct field *field, time_ns *out)
{
    enum { MINUTES_MAX = INT32_MAX };
    int64_t minutes = 0;
    *out = TIME_NEVER;
    if (sacct_is_unknown(field->value) || text_is(field->value, "UNLIMITED") ||
        text_is(field->value, "Partition_Limit"))
        return ERROR_OK;
    TRY(field_int(line, field, 0, MINUTES_MAX, &minutes));
    if (minutes > 0 && minutes < TIME_NS_MAX / (60 * TIME_NS_PER_S))
        *out = minutes * 60 * TIME_NS_PER_S;
    return ERROR_OK;
}

/* "12_3" is a task of the array 12; "12_[4-9]" are tasks that never started. */
static uint32_t array_of(struct reader *reader, struct text id)
{
    const char *mark = memchr(id.at, '_', id.length);
    return mark != NULL ? trace_ids_array(&reader->ids, (struct text){id.at, (size_t)(mark - id.at)}) : 0;
}

/* What it asked for.  A job that was given more GPUs had its nodes for itself (--exclusive): then all that it was given
 * counts, since nothing else could run there. */
static struct error tres_read(const struct line *line, const struct field *fields, struct sacct_attempt *attempt)
{
    struct sacct_attempt given = *attempt;
    if (field_is_set(&fields[SACCT_ASKED]))
        TRY(sacct_tres_read(line, &fields[SACCT_ASKED], attempt));
    if (text_equal(fields[SACCT_ASKED].value, fields[SACCT_GIVEN].value))
        return ERROR_OK;
    TRY(sacct_tres_read(line, &fields[SACCT_GIVEN], &given));
    if (!field_is_set(&fields[SACCT_ASKED]) || given.gpus > attempt->gpus)
        *attempt = given;
    return ERROR_OK;
}

static struct error attempt_read(struct reader *reader, const struct line *line, struct sacct_attempt *attempt)
{
    const struct field *fields = reader->csv.fields;
    *attempt =
        (struct sacct_attempt){.submit = TIME_NEVER, .eligible = TIME_NEVER, .start = TIME_NEVER, .end = TIME_NEVER};
    const struct sacct_time_fields times = {&fields[SACCT_SUBMIT], &fields[SACCT_ELIGIBLE], &fields[SACCT_START],
                                            &fields[SACCT_END], &fields[SACCT_ELAPSED]};
    bool is_guessed = false;
    TRY(sacct_times_read(line, &times, &reader->spec->zone, attempt, &is_guessed));
    reader->guessed_hours += is_guessed;
    attempt->first_start = attempt->start;
    TRY(limit_read(line, &fields[SACCT_LIMIT], &attempt->limit));
    if (!sacct_state_read(fields[SACCT_STATE].value, attempt))
        return field_error(line, &fields[SACCT_STATE], "a state of Slurm, such as COMPLETED");
    TRY(field_int(line, &fields[SACCT_NODES], 0, CLUSTER_NODES_MAX, &attempt->nodes));
    TRY(tres_read(line, fields, attempt));
    TRY(field_utf8(line, &fields[SACCT_ID]));
    TRY(field_utf8(line, &fields[SACCT_USER]));
    const struct field *queue = &fields[field_is_set(&fields[SACCT_ACCOUNT]) ? SACCT_ACCOUNT : SACCT_PARTITION];
    TRY(field_utf8(line, queue));
    attempt->queue = reader_queue(reader, queue->value);
    attempt->user = reader_user(reader, fields[SACCT_USER].value);
    attempt->array = array_of(reader, fields[SACCT_ID].value);
    return ERROR_OK;
}

/* Set group 0 of the job.  Returns NULL, or why its request is not valid. */
static const char *shape(const struct sacct_attempt *attempt, struct job *job)
{
    enum ask_field culprit;
    struct ask ask = {.gpus = attempt->gpus,
                      .nodes = attempt->nodes,
                      .cpu_milli = attempt->cpu_milli,
                      .memory_mib = attempt->memory_mib};
    if (ask.nodes == 0 || ask.gpus % ask.nodes != 0)
        ask.nodes = ask.gpus == 0 ? 1 : 0;
    return ask_shape(&ask, job, &culprit);
}

static struct job_group *groups_copy(struct arena *arena, const struct job_group *groups, uint32_t count)
{
    struct job_group *copy = arena_alloc_array(arena, count, struct job_group);
    memcpy(copy, groups, count * sizeof *copy);
    return copy;
}

/* The groups of a heterogeneous job, whose requests were found valid. */
static const char *groups_take(const struct reader *reader, const struct sacct_attempt *attempt, struct job *job)
{
    job->group_count = (uint16_t)attempt->group_count;
    job->first = attempt->groups[0];
    if (attempt->group_count > 1)
        job->more = groups_copy(reader->arena, attempt->groups + 1, attempt->group_count - 1);
    return NULL;
}

/* The job of its last attempt.  It could start when it was eligible: its wait counts from then, not from a submission
 * with a dependency or a time to begin.  Returns NULL, or why its request is not valid. */
static const char *job_make(const struct reader *reader, const struct sacct_attempt *attempt, struct text id,
                            struct trace_row *row)
{
    struct job *job = &row->job;
    const char *complaint = attempt->groups != NULL ? groups_take(reader, attempt, job) : shape(attempt, job);
    if (complaint != NULL)
        return complaint;
    const bool is_later = attempt->eligible != TIME_NEVER && attempt->eligible > attempt->submit &&
                          attempt->eligible <= attempt->first_start;
    job->submit = is_later ? attempt->eligible : attempt->submit;
    job->limit = attempt->limit;
    job->queue = attempt->queue;
    job->user = attempt->user;
    job->array = attempt->array;
    if (!text_to_int64(id, 0, INT64_MAX, &job->trace_id))
        job->name = arena_copy(reader->arena, id);
    time_ns *times = arena_alloc_array(reader->arena, attempt->earlier_count + 1, time_ns);
    if (attempt->earlier_count > 0)
        memcpy(times, attempt->earlier, attempt->earlier_count * sizeof *times);
    times[attempt->earlier_count] = attempt->end - attempt->start;
    reader_attempts(reader, times, attempt->earlier_count + 1, ATTEMPTS_LAST, &row->truth);
    row->truth.outcome = attempt->outcome;
    if (attempt->first_start >= job->submit)
        row->truth.recorded_wait = attempt->first_start - job->submit;
    return NULL;
}

/* Why the row is no job that ran to its end; NULL: it is one. */
static const char *skip_reason(const struct csv *csv, const struct sacct_attempt *attempt)
{
    const struct text id = csv->fields[SACCT_ID].value;
    if (attempt->start == TIME_NEVER || memchr(id.at, '[', id.length) != NULL)
        return "they never started";
    if (attempt->end == TIME_NEVER)
        return "they had not ended";
    if (csv->is_there[SACCT_GIVEN] && !field_is_set(&csv->fields[SACCT_GIVEN]) && attempt->start == attempt->end)
        return "they were given nothing: refused at their submission, or cancelled before they started";
    if (attempt->gpus == 0 && attempt->cpu_milli == 0 && attempt->memory_mib == 0)
        return "they ask for no GPU, CPU or memory";
    return NULL;
}

/* The kept job of that id that goes on; NULL: there is none. */
static struct kept *kept_find(const struct sacct_state *state, struct text id)
{
    const uint32_t number = names_count(state->ids) != 0 ? names_find(state->ids, id) : NAMES_NONE;
    return number != NAMES_NONE && state->kept[number].is_open ? &state->kept[number] : NULL;
}

static void attempt_keep(struct sacct_state *state, struct text id, const struct sacct_attempt *attempt)
{
    const uint32_t number = names_add(state->ids, id);
    MEM_GROW(state->kept, state->capacity, (size_t)number + 1);
    state->kept[number] = (struct kept){*attempt, true};
    if (attempt->groups != NULL)
        state->kept[number].attempt.groups = groups_copy(&state->times, attempt->groups, attempt->group_count);
}

/* The attempts of a job before `attempt`: those before the one that was kept, and that one. */
static void earlier_add(struct sacct_state *state, const struct sacct_attempt *kept, struct sacct_attempt *attempt)
{
    time_ns *times = arena_alloc_array(&state->times, kept->earlier_count + 1, time_ns);
    if (kept->earlier_count > 0)
        memcpy(times, kept->earlier, kept->earlier_count * sizeof *times);
    times[kept->earlier_count] = kept->end - kept->start;
    attempt->earlier = times;
    attempt->earlier_count = kept->earlier_count + 1;
}

/* The attempt is followed by another, or by none: then the row is its job.  Returns NULL, or why its request is not
 * valid. */
static const char *attempt_take(struct reader *reader, struct text id, struct sacct_attempt *attempt,
                                struct trace_row *row)
{
    struct sacct_state *state = reader->state;
    struct kept *kept = kept_find(state, id);
    if (kept != NULL) {
        attempt->submit = kept->attempt.submit;
        attempt->eligible = kept->attempt.eligible;
        attempt->first_start = kept->attempt.first_start;
        kept->is_open = false;
        earlier_add(state, &kept->attempt, attempt);
        if (reader->spec->attempts == ATTEMPTS_AS_FORMAT || reader->spec->attempts == ATTEMPTS_LAST)
            reason_tally_add(&reader->skipped, "they are earlier attempts of jobs that were started again");
    }
    row->why = attempt->groups != NULL ? NULL : skip_reason(&reader->csv, attempt);
    if (row->why != NULL)
        return NULL;
    if (!attempt->may_go_on)
        return job_make(reader, attempt, id, row);
    attempt_keep(state, id, attempt);
    row->is_nothing = true;
    return NULL;
}

/* ---- Heterogeneous jobs ---- */

/* The job of the components gathered.  It has the id of the whole if it has more than one, the first among them; else
 * that of its first component. */
static void het_take(struct reader *reader, struct trace_row *row)
{
    struct sacct_state *state = reader->state;
    struct sacct_het *het = &state->het;
    struct buffer id = {0};
    const bool is_whole = het->count > 1 && het->first.offset == 0;
    buffer_format(&id, is_whole ? "%lld" : "%lld+%lld", (long long)het->first.job, (long long)het->first.offset);
    const char *complaint = attempt_take(reader, (struct text){id.bytes, id.length}, &het->whole, row);
    assert(complaint == NULL && "each request was tested");
    (void)complaint;
    buffer_release(&id);
    het->count = 0;
}

static struct error request_error(const struct reader *reader, const struct line *line, const char *complaint)
{
    const struct field *fields = reader->csv.fields;
    const struct field *asked = &fields[field_is_set(&fields[SACCT_ASKED]) ? SACCT_ASKED : SACCT_GIVEN];
    return input_error(line->input, line->text, asked->place, "'%s': %s", asked->name, complaint);
}

/* A component that never ran is left out. */
static struct error part_take(struct reader *reader, const struct line *line, const struct sacct_part *part,
                              const struct sacct_attempt *attempt, struct trace_row *row)
{
    struct sacct_state *state = reader->state;
    struct job job = job_default();
    row->why = skip_reason(&reader->csv, attempt);
    if (row->why != NULL)
        return ERROR_OK;
    if (state->het.count == SACCT_HET_MAX)
        return input_error(line->input, line->text, reader->csv.fields[SACCT_ID].place,
                           "'JobID': more than %d components of one heterogeneous job", SACCT_HET_MAX);
    const char *complaint = shape(attempt, &job);
    if (complaint != NULL)
        return request_error(reader, line, complaint);
    sacct_het_add(&state->het, part, attempt, &job.first);
    row->is_nothing = true;
    return ERROR_OK;
}

/* ---- Rows ---- */

static struct error sacct_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct sacct_state *state = reader->state;
    struct sacct_attempt attempt;
    struct sacct_part part;
    const struct text id = reader->csv.fields[SACCT_ID].value;
    if (memchr(id.at, '.', id.length) != NULL) {
        row->why = "they are steps of jobs";
        return ERROR_OK;
    }
    const bool is_part = sacct_part_read(id, &part);
    if (state->het.count > 0 && !sacct_het_takes(&state->het, is_part ? &part : NULL)) {
        het_take(reader, row);
        reader_put_back(reader, line->text);
        return ERROR_OK;
    }
    TRY(attempt_read(reader, line, &attempt));
    if (is_part)
        return part_take(reader, line, &part, &attempt, row);
    const char *complaint = attempt_take(reader, id, &attempt, row);
    return complaint == NULL ? ERROR_OK : request_error(reader, line, complaint);
}

/* Attempts that no other followed were the last of their jobs. */
static struct error sacct_end(struct reader *reader, struct trace_row *row, bool *has)
{
    struct sacct_state *state = reader->state;
    if (state->het.count > 0) {
        *has = true;
        het_take(reader, row);
        return ERROR_OK;
    }
    while (state->next < names_count(state->ids) && !state->kept[state->next].is_open)
        state->next++;
    *has = state->next < names_count(state->ids);
    if (!*has)
        return ERROR_OK;
    const uint32_t number = state->next++;
    const struct sacct_attempt *attempt = &state->kept[number].attempt;
    const char *id = names_text(state->ids, number);
    const char *complaint = job_make(reader, attempt, text_of(id), row);
    if (complaint != NULL)
        return error_new(ERROR_DATA, "%s: job %s: %s", input_path(reader->input), id, complaint);
    if (attempt->is_requeued)
        row->why = "they had not ended";
    return ERROR_OK;
}

static void sacct_close(struct reader *reader)
{
    struct sacct_state *state = reader->state;
    names_free(state->ids);
    arena_release(&state->times);
    mem_free(state->kept);
}

const struct trace_format trace_sacct = {
    .name = "sacct",
    .summary = "sacct -P of Slurm, with -D: a row per attempt",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct sacct_state),
    .columns = columns,
    .column_count = SACCT_COLUMN_COUNT,
    .separator = '|',
    .texts = texts,
    .on_first_line = sacct_first_line,
    .on_line = sacct_line,
    .on_end = sacct_end,
    .on_close = sacct_close,
};
