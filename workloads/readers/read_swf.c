/* workloads/readers/read_swf.c -- the Standard Workload Format 2.2 of the Parallel Workloads Archive.
 * Eighteen numbers a line, -1 unknown, comments after ';'.  Processors become GPUs, flat.
 *
 * A line that begins with a letter and stands before the first job is one of the header, whose ';' some writers forget.
 *
 * With twenty-one columns (aleasimulator/AleaNG, src/xklusac/environment/SWFLoader.java) GPUs have a column of their
 * own, processors are CPUs, the user may be a text, memory is KB per node, and the last column has the shape,
 * [queue:]<nodes>x<processors per node>.  In the logs of MetaCentrum (JobSchedulingRodeo, Parallel Workloads Archive)
 * the column of GPUs is a list of nodes in braces, the next is the queue's name, and the last the request of PBS,
 * <nodes>:ppn=<processors>[:gpu=<GPUs>]:...; without gpu= processors become GPUs as in lines of eighteen columns.
 *
 * A job that ran in parts has a line for each, anywhere in the file, beside a line for the whole, which is the job.
 * Where `workload.attempts` asks for its attempts, the parts are read before all jobs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum {
    SWF_JOB,
    SWF_SUBMIT,
    SWF_WAIT,
    SWF_RUN_TIME,
    SWF_PROCESSORS,
    SWF_CPU_TIME,
    SWF_MEMORY,
    SWF_PROCESSORS_ASKED,
    SWF_TIME_ASKED,
    SWF_MEMORY_ASKED,
    SWF_STATUS,
    SWF_USER,
    SWF_GROUP,
    SWF_PROGRAM,
    SWF_QUEUE,
    SWF_PARTITION,
    SWF_PRECEDING,
    SWF_THINK_TIME,
    SWF_FIELD_COUNT,
    SWF_GPUS = SWF_FIELD_COUNT, /* of the whole job */
    SWF_SOFT_LIMIT,             /* MetaCentrum: the queue's name */
    SWF_SHAPE,
    SWF_LONG_COUNT
};

static const char *const names[SWF_LONG_COUNT] = {
    "job number",     "submit time",      "wait time", "run time",
    "processors",     "CPU time",         "memory",    "requested processors",
    "requested time", "requested memory", "status",    "user",
    "group",          "program",          "queue",     "partition",
    "preceding job",  "think time",       "GPUs",      "soft limit",
    "shape",
};

/* Status codes of the standard; 2 to 4 are parts of a job, whose summary has a line of its own. */
enum { SWF_FAILED = 0, SWF_PART_FIRST = 2, SWF_PART_LAST = 4, SWF_CANCELLED = 5 };

static inline bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool text_starts(struct text text, const char *start)
{
    const size_t length = strlen(start);
    return text.length >= length && memcmp(text.at, start, length) == 0;
}

static inline bool is_blank(char c)
{
    return (unsigned char)c <= ' ' && (c == ' ' || c == '\t' || c == '\r');
}

/* Split a line at blanks; returns the number of fields, which may exceed `max`.  Their names stay as they are. */
static uint32_t pieces_cut(struct text line, struct field *fields, uint32_t max)
{
    const char *at = line.at, *end = at + line.length;
    for (uint32_t count = 0;; count++) {
        while (at != end && is_blank(*at))
            at++;
        if (at == end)
            return count;
        const char *start = at;
        while (at != end && !is_blank(*at))
            at++;
        if (count < max) {
            fields[count].value = fields[count].place = (struct text){start, (size_t)(at - start)};
        }
    }
}

/* Names of fields are set once per reading, not once per line. */
struct swf_state {
    struct field fields[SWF_LONG_COUNT];
    bool has_lines; /* of jobs, so that no header follows */
};

static void fields_name(struct field fields[SWF_LONG_COUNT])
{
    for (int i = 0; i < SWF_LONG_COUNT; i++)
        fields[i].name = names[i];
}

static bool swf_is_mine(const struct trace_format *self, struct text first_line)
{
    (void)self;
    struct field fields[SWF_LONG_COUNT];
    double number;
    struct text line = text_trim(first_line);
    if (line.length != 0 && (line.at[0] == ';' || text_starts(line, "Version:")))
        return true;
    const uint32_t count = pieces_cut(line, fields, SWF_LONG_COUNT);
    if (count != SWF_FIELD_COUNT && count != SWF_LONG_COUNT)
        return false;
    for (int i = 0; i < SWF_FIELD_COUNT; i++)
        if (!text_to_double(fields[i].value, &number) && (count == SWF_FIELD_COUNT || i != SWF_USER))
            return false;
    return true;
}

/* Seconds, 0 or more, or -1 for unknown. */
static struct error swf_seconds(const struct line *line, const struct field *field, time_ns *out)
{
    if (!time_parse_seconds(field->value, out) || (*out < 0 && *out != -TIME_NS_PER_S))
        return field_error(line, field, "a number of seconds, 0 or more, or -1");
    return ERROR_OK;
}

/* Is it a line of MetaCentrum, with a list of nodes in place of the number of GPUs? */
static bool has_node_list(const struct field *fields)
{
    return fields[SWF_GPUS].value.at[0] == '{';
}

static struct error swf_fields(const struct line *line, struct field fields[SWF_LONG_COUNT],
                               int64_t numbers[SWF_LONG_COUNT], bool *is_long)
{
    static const uint8_t whole[] = {SWF_JOB, SWF_PROCESSORS, SWF_PROCESSORS_ASKED, SWF_STATUS, SWF_QUEUE, SWF_USER};
    const size_t whole_count = sizeof whole;
    const uint32_t count = pieces_cut(line->text, fields, SWF_LONG_COUNT);
    *is_long = count == SWF_LONG_COUNT;
    if (count != SWF_FIELD_COUNT && !*is_long)
        return input_error(line->input, line->text, (struct text){NULL, 0},
                           "a line of SWF must have %d fields, got %u; with a column of GPUs it has %d",
                           SWF_FIELD_COUNT, count, SWF_LONG_COUNT);
    for (size_t i = 0; i < whole_count - *is_long; i++) { /* the user may be a text there */
        const bool is_job = whole[i] == SWF_JOB;
        TRY(field_int(line, &fields[whole[i]], is_job ? 0 : -1, is_job ? INT64_MAX - 1 : INT32_MAX,
                      &numbers[whole[i]]));
    }
    if (!*is_long || has_node_list(fields))
        return ERROR_OK;
    return field_int(line, &fields[SWF_GPUS], -1, ASK_GPUS_MAX, &numbers[SWF_GPUS]);
}

/* Processors to GPUs, rounded up. */
static int64_t swf_gpus(const struct reader *reader, int64_t processors)
{
    double per_gpu = reader->spec->processors_per_gpu;
    if (per_gpu == 0 || per_gpu == 1)
        return processors;
    return (int64_t)ceil((double)processors / per_gpu);
}

/* "q12"; no text for an unknown number. */
static struct text numbered(char text[24], char letter, int64_t number)
{
    char *at = text + 24;
    if (number < 0)
        return (struct text){text, 0};
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    *--at = letter;
    return (struct text){at, (size_t)(text + 24 - at)};
}

/* "queue:2x8" or "2x8": nodes, and processors of each; 0: it is something else. */
static void shape_of(struct text text, int64_t *nodes, int64_t *per_node)
{
    struct text rest = text, piece;
    *nodes = *per_node = 0;
    if (memchr(text.at, ':', text.length) != NULL)
        text_cut(&rest, ':', &piece);
    const char *mark = memchr(rest.at, 'x', rest.length);
    if (mark == NULL || !text_to_int64((struct text){rest.at, (size_t)(mark - rest.at)}, 1, CLUSTER_NODES_MAX, nodes) ||
        !text_to_int64((struct text){mark + 1, (size_t)(rest.at + rest.length - mark - 1)}, 1, INT32_MAX / 1000,
                       per_node))
        *nodes = *per_node = 0;
}

/* The number behind `key` in "1:ppn=8:gpu=2:x86_64"; -1: it has none. */
static int64_t pbs_number(struct text request, const char *key)
{
    struct text piece;
    int64_t number;
    const size_t length = strlen(key);
    while (text_cut(&request, ':', &piece)) {
        const struct text value = {piece.at + length, piece.length - length};
        if (text_starts(piece, key))
            return text_to_int64(value, 0, INT32_MAX / 1000, &number) ? number : -1;
    }
    return -1;
}

/* The nodes of a request of PBS, and the processors of each; 0: it does not tell them. */
static void pbs_shape(struct text request, int64_t *nodes, int64_t *per_node)
{
    struct text rest = request, piece;
    *per_node = pbs_number(request, "ppn=");
    if (!text_cut(&rest, ':', &piece) || !text_to_int64(piece, 1, CLUSTER_NODES_MAX, nodes) || *per_node <= 0)
        *nodes = *per_node = 0;
}

/* The GPUs that a request of PBS names; 0: it names none. */
static int64_t pbs_gpus(struct text request)
{
    int64_t nodes, per_node;
    const int64_t gpus = pbs_number(request, "gpu=");
    pbs_shape(request, &nodes, &per_node);
    return gpus > 0 && nodes > 0 && gpus * nodes <= ASK_GPUS_MAX ? gpus * nodes : 0;
}

/* The request of a line with GPUs. */
static struct error long_shape(const struct line *line, const struct field *fields, const int64_t *numbers,
                               struct job *job)
{
    int64_t nodes, per_node, memory_kb = -1;
    enum ask_field culprit;
    if (has_node_list(fields))
        pbs_shape(fields[SWF_SHAPE].value, &nodes, &per_node);
    else
        shape_of(fields[SWF_SHAPE].value, &nodes, &per_node);
    TRY(field_int(line, &fields[SWF_MEMORY_ASKED], -1, INT64_C(1) << 40, &memory_kb));
    const int64_t flat = numbers[SWF_PROCESSORS_ASKED] > 0 ? numbers[SWF_PROCESSORS_ASKED] : numbers[SWF_PROCESSORS];
    struct ask ask = {.gpus = numbers[SWF_GPUS] > 0 ? numbers[SWF_GPUS] : 0, .nodes = nodes > 0 ? nodes : 1};
    ask.cpu_milli = 1000 * (nodes > 0 ? nodes * per_node : flat > 0 ? flat : 0);
    ask.memory_mib = memory_kb > 0 ? (memory_kb + 1023) / 1024 * ask.nodes : 0;
    if (ask.gpus % ask.nodes != 0)
        ask.nodes = 0;
    const char *complaint = ask_shape(&ask, job, &culprit);
    if (complaint == NULL)
        return ERROR_OK;
    return input_error(line->input, line->text, fields[SWF_GPUS].place, "%s", complaint);
}

static struct error flat_shape(const struct reader *reader, const struct line *line, const struct field *fields,
                               const int64_t *numbers, struct job *job)
{
    const bool has_asked = numbers[SWF_PROCESSORS_ASKED] > 0;
    const int64_t gpus = swf_gpus(reader, numbers[has_asked ? SWF_PROCESSORS_ASKED : SWF_PROCESSORS]);
    if (gpus > ASK_GPUS_MAX)
        return field_error(line, &fields[has_asked ? SWF_PROCESSORS_ASKED : SWF_PROCESSORS],
                           "at most a million GPUs' worth of processors");
    job_shape_gpus(job, (uint32_t)gpus, 0);
    return ERROR_OK;
}

/* ---- Parts: kept while the trace is read ---- */

struct part {
    int64_t job; /* its number */
    time_ns submit, run_time;
    uint64_t line;
};

struct parts {
    struct part *parts; /* by job, submission and line */
    size_t count, capacity;
};

static void parts_free(void *content)
{
    struct parts *parts = content;
    mem_free(parts->parts);
    mem_free(parts);
}

static int by_job_and_time(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool is_part(const int64_t *numbers)
{
    return numbers[SWF_STATUS] >= SWF_PART_FIRST && numbers[SWF_STATUS] <= SWF_PART_LAST;
}

/* Keep the line if it is a part that ran.  Errors are left to the reading of the jobs. */
static void part_add(struct parts *parts, const struct line *line)
{
    struct field fields[SWF_LONG_COUNT];
    int64_t numbers[SWF_LONG_COUNT] = {0};
    bool is_long;
    fields_name(fields);
    struct part part = {.line = input_line_number(line->input)};
    struct error error = swf_fields(line, fields, numbers, &is_long);
    if (!error_is(error) && is_part(numbers))
        error = field_seconds(line, &fields[SWF_SUBMIT], &part.submit);
    if (!error_is(error) && is_part(numbers))
        error = swf_seconds(line, &fields[SWF_RUN_TIME], &part.run_time);
    if (!error_is(error) && is_part(numbers) && part.run_time >= 0) {
        part.job = numbers[SWF_JOB];
        MEM_GROW(parts->parts, parts->capacity, parts->count + 1);
        parts->parts[parts->count++] = part;
    }
    error_release(&error);
}

static struct error parts_read(struct parts *parts, struct input *input)
{
    struct line line = {.input = input};
    bool has = true;
    while (true) {
        TRY(input_line(input, &line.text, &has));
        if (!has)
            break;
        const struct text trimmed = text_trim(line.text);
        if (trimmed.length != 0 && trimmed.at[0] != ';')
            part_add(parts, &line);
    }
    if (parts->count > 0)
        qsort(parts->parts, parts->count, sizeof *parts->parts, by_job_and_time);
    return ERROR_OK;
}

/* All parts, in advance, if they are asked for. */
static struct error attempts_read(struct reader *reader)
{
    struct side_files *sides = reader->sides;
    struct input *input;
    if (reader->spec->attempts == ATTEMPTS_AS_FORMAT || sides->content != NULL)
        return ERROR_OK;
    if (input_is_once(reader->spec->trace))
        return error_new(ERROR_CONFIG, "%s can be read once only, and its attempts are read before its jobs",
                         reader->spec->trace);
    TRY(input_open(&input, reader->spec->trace, NULL));
    struct parts *parts = mem_zalloc(1, sizeof *parts);
    sides->content = parts;
    sides->on_release = parts_free;
    struct error error = parts_read(parts, input);
    input_close(input);
    return error;
}

/* The run times of the parts of a job in place of its own, if it has any. */
static void attempts_take(const struct reader *reader, int64_t job, struct job_truth *truth)
{
    const struct parts *parts = reader->sides->content;
    size_t low = 0, high = parts != NULL ? parts->count : 0, count = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (parts->parts[middle].job < job)
            low = middle + 1;
        else
            high = middle;
    }
    while (parts != NULL && low + count < parts->count && parts->parts[low + count].job == job)
        count++;
    if (count == 0)
        return;
    time_ns *run_times = arena_alloc_array(reader->arena, count, time_ns);
    for (size_t i = 0; i < count; i++)
        run_times[i] = parts->parts[low + i].run_time;
    reader_attempts(reader, run_times, (uint32_t)count, ATTEMPTS_MERGED, truth);
}

/* Fields 17 and 18, in a closed loop. */
static struct error loop_take(const struct line *line, const struct field *fields, struct job_truth *truth)
{
    int64_t preceding;
    TRY(field_int(line, &fields[SWF_PRECEDING], -1, INT64_MAX - 1, &preceding));
    TRY(swf_seconds(line, &fields[SWF_THINK_TIME], &truth->think));
    truth->preceding = preceding + 1;
    return ERROR_OK;
}

/* ---- Lines ---- */

/* Why the line is no job that ran; NULL: it is one. */
static const char *skip_reason(const int64_t *numbers, time_ns run_time)
{
    if (is_part(numbers))
        return "they are parts of jobs that have a line of their own";
    if (run_time < 0)
        return "they never ran";
    if (numbers[SWF_PROCESSORS_ASKED] <= 0 && numbers[SWF_PROCESSORS] <= 0)
        return "it is not known what they asked for";
    return NULL;
}

/* Count what the line says and no job keeps. */
static void unread_tell(struct reader *reader, const struct field *fields, const int64_t *numbers, bool is_long)
{
    static const struct {
        uint8_t field;
        const char *lost;
    } unread[] = {{SWF_CPU_TIME, "jobs lose the CPU time that they used"},
                  {SWF_MEMORY, "jobs lose the memory that they used"},
                  {SWF_MEMORY_ASKED, "jobs lose the memory that they asked for"},
                  {SWF_GROUP, "jobs lose their group"},
                  {SWF_PROGRAM, "jobs lose their program"},
                  {SWF_PARTITION, "jobs lose their partition"},
                  {SWF_PRECEDING, "jobs lose the job that their user waited for"},
                  {SWF_THINK_TIME, "jobs lose the think time before them"}};
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        if (!text_is(fields[unread[i].field].value, "-1") && !(is_long && unread[i].field == SWF_MEMORY_ASKED))
            reason_tally_add(&reader->unread, unread[i].lost);
    if (numbers[SWF_PROCESSORS] > 0 && numbers[SWF_PROCESSORS_ASKED] > 0 &&
        numbers[SWF_PROCESSORS] != numbers[SWF_PROCESSORS_ASKED])
        reason_tally_add(&reader->unread, "jobs lose the processors that they had, which are not those they asked for");
    if (numbers[SWF_STATUS] < 0 || numbers[SWF_STATUS] > SWF_CANCELLED)
        reason_tally_add(&reader->unread, "jobs of an unknown status count as completed");
    if (reader->spec->processors_per_gpu > 1 && !is_long)
        reason_tally_add(&reader->unread, "jobs lose their processors, which become GPUs");
    if (is_long && fields[SWF_SOFT_LIMIT].value.length > 0 && !has_node_list(fields))
        reason_tally_add(&reader->unread, "jobs lose their soft limit");
    if (is_long && has_node_list(fields))
        reason_tally_add(&reader->unread, "jobs lose the nodes on which they ran, and properties of nodes");
}

static struct error swf_first_line(struct reader *reader, struct text line, bool *is_header)
{
    struct swf_state *state = reader->state;
    (void)line;
    *is_header = false;
    fields_name(state->fields);
    return attempts_read(reader);
}

static struct error swf_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    const struct text text = line->text;
    struct swf_state *state = reader->state;
    struct field *fields = state->fields;
    int64_t numbers[SWF_LONG_COUNT] = {0};
    time_ns limit = 0, wait = 0;
    char name[24];
    bool is_long;
    struct text trimmed = text_trim(text);
    const bool is_header = trimmed.at[0] == ';' || (!state->has_lines && is_letter(trimmed.at[0]));
    row->is_nothing = is_header;
    if (is_header && reader->spec->tells_unread && memmem(text.at, text.length, "UnixStartTime:", 14) != NULL &&
        memmem(text.at, text.length, "UnixStartTime: 0", 16) == NULL)
        reason_tally_add(&reader->unread, "times lose their date, which UnixStartTime of the header is");
    if (is_header)
        return ERROR_OK;
    state->has_lines = true;
    TRY(swf_fields(line, fields, numbers, &is_long));
    TRY(field_seconds(line, &fields[SWF_SUBMIT], &row->job.submit));
    TRY(swf_seconds(line, &fields[SWF_RUN_TIME], &row->truth.duration));
    TRY(swf_seconds(line, &fields[SWF_TIME_ASKED], &limit));
    TRY(swf_seconds(line, &fields[SWF_WAIT], &wait));
    row->why = skip_reason(numbers, row->truth.duration);
    if (row->why != NULL)
        return ERROR_OK;
    const bool has_nodes = is_long && has_node_list(fields);
    if (has_nodes)
        numbers[SWF_GPUS] = pbs_gpus(fields[SWF_SHAPE].value);
    if (is_long && (!has_nodes || numbers[SWF_GPUS] > 0))
        TRY(long_shape(line, fields, numbers, &row->job));
    else
        TRY(flat_shape(reader, line, fields, numbers, &row->job));
    const int64_t status = numbers[SWF_STATUS];
    row->job.limit = limit > 0 ? limit : TIME_NEVER;
    row->truth.outcome = status == SWF_FAILED      ? OUTCOME_FAILED
                         : status == SWF_CANCELLED ? OUTCOME_CANCELLED
                                                   : OUTCOME_COMPLETED;
    if (wait >= 0)
        row->truth.recorded_wait = wait;
    row->job.trace_id = numbers[SWF_JOB];
    if (reader->spec->tells_unread)
        unread_tell(reader, fields, numbers, is_long);
    attempts_take(reader, numbers[SWF_JOB], &row->truth);
    if (reader->spec->loop.is_closed)
        TRY(loop_take(line, fields, &row->truth));
    if (has_nodes)
        TRY(field_utf8(line, &fields[SWF_SOFT_LIMIT]));
    row->job.queue =
        reader_queue(reader, has_nodes ? fields[SWF_SOFT_LIMIT].value : numbered(name, 'q', numbers[SWF_QUEUE]));
    const struct text user = fields[SWF_USER].value;
    if (is_long && !text_to_int64(user, -1, INT32_MAX, &numbers[SWF_USER])) {
        TRY(field_utf8(line, &fields[SWF_USER]));
        row->job.user = reader_user(reader, user);
    } else {
        row->job.user = reader_user(reader, numbered(name, 'u', numbers[SWF_USER]));
    }
    return ERROR_OK;
}

const struct trace_format trace_swf = {
    .name = "swf",
    .summary = "Standard Workload Format 2.2; processors become GPUs, unless it has a column of GPUs",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct swf_state),
    .is_mine = swf_is_mine,
    .on_first_line = swf_first_line,
    .on_line = swf_line,
};
