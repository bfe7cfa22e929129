/* workloads/readers/read_gavel.c -- traces of the scheduler Gavel (stanford-futuredata/gavel, scheduler/utils.py):
 * tabs, no header, and seven, nine, ten, eleven or twelve fields, by which the kinds of traces are told apart.
 *
 * A job names its work in steps.  Its run time is total_steps / throughput, which a table gives by GPU type, kind of
 * job and number of GPUs: {"v100": {"('LM (batch size 20)', 1)": {"null": 57.6, ...}, ...}, ...}.  With twelve fields
 * the line names a run time itself. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "workloads/readers/native_row.h"
#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum { RATES_BYTES_MAX = 64 << 20, FIELDS_MAX = 12, KEY_BYTES_MAX = 1024 };

#define RATES_TABLE      "throughputs"
#define GPU_TYPE_DEFAULT "v100" /* assumed: the type for which Gavel's authors draw the numbers of steps */

#define STEPS_MAX   1e18
#define SECONDS_MAX (73.0 * 365 * 86400)

enum gavel_field {
    GAVEL_TYPE,
    GAVEL_COMMAND,
    GAVEL_FOLDER,
    GAVEL_STEPS_ARGUMENT,
    GAVEL_NEEDS_DATA,
    GAVEL_STEPS,
    GAVEL_SCALE,
    GAVEL_MODE,
    GAVEL_WEIGHT,
    GAVEL_SLO,
    GAVEL_DURATION,
    GAVEL_ARRIVAL,
    GAVEL_FIELD_COUNT
};

static const char *const field_names[GAVEL_FIELD_COUNT] = {
    "job_type",     "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps",
    "scale_factor", "mode",    "priority_weight",   "SLO",           "duration",       "arrival_time",
};

/* The fields of a line, by their number. */
static const struct {
    uint8_t count;
    uint8_t fields[FIELDS_MAX]; /* enum gavel_field */
} layouts[] = {
    {7, {GAVEL_TYPE, GAVEL_COMMAND, GAVEL_STEPS_ARGUMENT, GAVEL_NEEDS_DATA, GAVEL_STEPS, GAVEL_ARRIVAL, GAVEL_SCALE}},
    {9,
     {GAVEL_TYPE, GAVEL_COMMAND, GAVEL_STEPS_ARGUMENT, GAVEL_NEEDS_DATA, GAVEL_STEPS, GAVEL_SCALE, GAVEL_WEIGHT,
      GAVEL_SLO, GAVEL_ARRIVAL}},
    {10,
     {GAVEL_TYPE, GAVEL_COMMAND, GAVEL_FOLDER, GAVEL_STEPS_ARGUMENT, GAVEL_NEEDS_DATA, GAVEL_STEPS, GAVEL_SCALE,
      GAVEL_WEIGHT, GAVEL_SLO, GAVEL_ARRIVAL}},
    {11,
     {GAVEL_TYPE, GAVEL_COMMAND, GAVEL_FOLDER, GAVEL_STEPS_ARGUMENT, GAVEL_NEEDS_DATA, GAVEL_STEPS, GAVEL_SCALE,
      GAVEL_MODE, GAVEL_WEIGHT, GAVEL_SLO, GAVEL_ARRIVAL}},
    {12,
     {GAVEL_TYPE, GAVEL_COMMAND, GAVEL_FOLDER, GAVEL_STEPS_ARGUMENT, GAVEL_NEEDS_DATA, GAVEL_STEPS, GAVEL_SCALE,
      GAVEL_MODE, GAVEL_WEIGHT, GAVEL_SLO, GAVEL_DURATION, GAVEL_ARRIVAL}},
};

/* ---- The table of throughputs: kept while the trace is read ---- */

struct rates {
    struct names *kinds; /* "('LM (batch size 20)', 1)" */
    double *steps_per_s; /* by kind, on the GPU type that was chosen */
    size_t capacity;
};

static void rates_free(void *content)
{
    struct rates *rates = content;
    names_free(rates->kinds);
    mem_free(rates->steps_per_s);
    mem_free(rates);
}

static void type_missing(const struct json_value *root, struct json_object *types, const char *gpu_type)
{
    enum { SHOWN_MAX = 16 };
    struct buffer known = {0};
    const char *type;
    for (size_t i = 0; i < SHOWN_MAX && (type = json_object_key(types, i)) != NULL; i++)
        buffer_format(&known, "%s%s", i > 0 ? ", " : "", type);
    json_fail(root, "there are no throughputs of the GPU type '%s'", gpu_type);
    if (known.length > 0 && error_is(*root->error))
        error_set_hint(root->error, "name one with --gpu-type, or workload.gpu_type: %s", buffer_c_string(&known));
    buffer_release(&known);
}

static void rates_read(struct rates *rates, const struct json_value *root, const char *gpu_type)
{
    struct json_object types, kinds;
    const char *kind;
    json_object_open(&types, root);
    const struct json_value value = json_member(&types, gpu_type);
    if (value.node == NULL) {
        type_missing(root, &types, gpu_type);
        return;
    }
    json_object_open(&kinds, &value);
    for (size_t i = 0; (kind = json_object_key(&kinds, i)) != NULL; i++) {
        const struct json_value item = json_member(&kinds, kind);
        struct json_object rate;
        json_object_open(&rate, &item);
        json_need(&rate, "null"); /* beside no other job */
        const uint32_t id = names_add(rates->kinds, text_of(kind));
        MEM_GROW(rates->steps_per_s, rates->capacity, (size_t)id + 1);
        rates->steps_per_s[id] = json_get_real(&rate, "null", 0, STEPS_MAX, 0);
    }
}

static struct error rates_parse(struct rates *rates, const char *path, struct text text, const char *gpu_type)
{
    struct json_doc *doc;
    struct error sticky = ERROR_OK;
    TRY(json_doc_parse(&doc, path, text, ERROR_DATA));
    const struct json_value root = json_doc_root(doc, &sticky);
    rates_read(rates, &root, gpu_type);
    json_doc_free(doc);
    return sticky;
}

static struct error rates_load(struct side_files *sides, struct side_file *file, const char *gpu_type)
{
    char *bytes;
    size_t length;
    struct rates *rates = mem_zalloc(1, sizeof *rates);
    rates->kinds = names_new();
    sides->content = rates;
    sides->on_release = rates_free;
    TRY(input_read_all_digest(file->path, RATES_BYTES_MAX, &bytes, &length, file->digest));
    struct error error = rates_parse(rates, file->path, (struct text){bytes, length}, gpu_type);
    mem_free(bytes);
    file->row_count = names_count(rates->kinds);
    return error;
}

/* ---- Lines ---- */

static const char *gpu_type(const struct reader *reader)
{
    return reader->spec->gpu_type != NULL ? reader->spec->gpu_type : GPU_TYPE_DEFAULT;
}

static struct error gavel_first_line(struct reader *reader, struct text line, bool *is_header)
{
    struct side_file *file = side_files_ask(reader->sides, RATES_TABLE);
    (void)line;
    *is_header = false;
    return file != NULL && reader->sides->content == NULL ? rates_load(reader->sides, file, gpu_type(reader))
                                                          : ERROR_OK;
}

/* Cut a line into fields and return their number, which tells the kind of the line.  Fields that this kind of line does
 * not have become empty. */
static uint32_t fields_cut(struct text line, struct field fields[GAVEL_FIELD_COUNT])
{
    struct text pieces[FIELDS_MAX], rest = line, piece;
    uint32_t count = 0;
    for (int i = 0; i < GAVEL_FIELD_COUNT; i++)
        fields[i] = (struct field){.name = field_names[i]};
    for (; text_cut(&rest, '\t', &piece); count++)
        if (count < FIELDS_MAX)
            pieces[count] = text_trim(piece);
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++)
        for (uint32_t i = 0; layouts[l].count == count && i < count; i++)
            fields[layouts[l].fields[i]].value = fields[layouts[l].fields[i]].place = pieces[i];
    return count;
}

static bool is_layout(uint32_t count)
{
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++)
        if (layouts[l].count == count)
            return true;
    return false;
}

static bool gavel_is_mine(const struct trace_format *self, struct text first_line)
{
    struct field fields[GAVEL_FIELD_COUNT];
    double steps;
    (void)self;
    return is_layout(fields_cut(first_line, fields)) && text_to_double(fields[GAVEL_STEPS].value, &steps) &&
           (text_is(fields[GAVEL_NEEDS_DATA].value, "0") || text_is(fields[GAVEL_NEEDS_DATA].value, "1"));
}

/* The throughput of the job's kind, in steps a second. */
static struct error rate_find(const struct reader *reader, const struct line *line, const struct field *type,
                              int64_t gpus, double *steps_per_s)
{
    const struct rates *rates = reader->sides->content;
    char key[KEY_BYTES_MAX];
    if (rates == NULL)
        return side_files_missing("gavel", RATES_TABLE, "a run time is total_steps / throughput");
    const int length =
        snprintf(key, sizeof key, "('%.*s', %lld)", (int)type->value.length, type->value.at, (long long)gpus);
    const uint32_t id = length < KEY_BYTES_MAX ? names_find(rates->kinds, text_of(key)) : NAMES_NONE;
    if (id == NAMES_NONE)
        return input_error(line->input, line->text, type->place,
                           "the table of throughputs has no \"('%.*s', %lld)\" on the GPU type %s",
                           (int)(type->value.length < 80 ? type->value.length : 80), type->value.at, (long long)gpus,
                           gpu_type(reader));
    *steps_per_s = rates->steps_per_s[id];
    return ERROR_OK;
}

static struct error run_time(const struct reader *reader, const struct line *line, const struct field *fields,
                             int64_t gpus, struct trace_row *row)
{
    double steps, steps_per_s = 0;
    if (field_is_set(&fields[GAVEL_DURATION]))
        return field_seconds(line, &fields[GAVEL_DURATION], &row->truth.duration);
    if (!text_to_double(fields[GAVEL_STEPS].value, &steps) || !(steps >= 0 && steps <= STEPS_MAX))
        return field_error(line, &fields[GAVEL_STEPS], "a number of steps, 0 or more");
    TRY(rate_find(reader, line, &fields[GAVEL_TYPE], gpus, &steps_per_s));
    if (steps_per_s == 0) {
        row->why = "the GPU type cannot run them: their throughput is 0";
        return ERROR_OK;
    }
    if (steps / steps_per_s > SECONDS_MAX)
        return field_error(line, &fields[GAVEL_STEPS], "steps of at most 73 years");
    row->truth.duration = time_from_seconds(steps / steps_per_s);
    return ERROR_OK;
}

/* "LM (batch size 20)" is of the class "LM". */
static struct text class_of(struct text type)
{
    const char *bracket = memchr(type.at, '(', type.length);
    return bracket != NULL && bracket != type.at ? text_trim((struct text){type.at, (size_t)(bracket - type.at)})
                                                 : type;
}

static struct error gavel_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct field fields[GAVEL_FIELD_COUNT];
    int64_t gpus = 0;
    const uint32_t count = fields_cut(line->text, fields);
    if (!is_layout(count))
        return input_error(line->input, line->text, (struct text){NULL, 0},
                           "a line of Gavel must have 7, 9, 10, 11 or 12 fields between tabs, got %u", count);
    if (!field_is_set(&fields[GAVEL_TYPE]))
        return field_error(line, &fields[GAVEL_TYPE], "the kind of the job");
    TRY(field_utf8(line, &fields[GAVEL_TYPE]));
    if (!field_is_set(&fields[GAVEL_ARRIVAL]))
        return field_error(line, &fields[GAVEL_ARRIVAL], "a number of seconds");
    TRY(field_seconds(line, &fields[GAVEL_ARRIVAL], &row->job.submit));
    TRY(field_int(line, &fields[GAVEL_SCALE], 1, ASK_GPUS_MAX, &gpus));
    if (gpus == 0)
        return field_error(line, &fields[GAVEL_SCALE], "a number of GPUs");
    TRY(run_time(reader, line, fields, gpus, row));
    if (row->why != NULL)
        return ERROR_OK;
    job_shape_gpus(&row->job, (uint32_t)gpus, reader->spec->gpus_per_node);
    row->job.trace_id = (int64_t)reader->row_count + 1;
    row->job.queue = reader_queue(reader, (struct text){NULL, 0});
    struct field class = fields[GAVEL_TYPE];
    class.value = class_of(class.value);
    return native_row_class(reader, line, &class, &row->truth);
}

const struct trace_format trace_gavel = {
    .name = "gavel",
    .summary = "traces of the scheduler Gavel; run times by its table of throughputs",
    .version = TRACE_FORMAT_VERSION,
    .has_gpu_types = true,
    .is_mine = gavel_is_mine,
    .on_first_line = gavel_first_line,
    .on_line = gavel_line,
};
