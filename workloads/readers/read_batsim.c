/* workloads/readers/read_batsim.c -- a workload of the simulator Batsim: one JSON object with `jobs` and `profiles`.
 * `res` machines become GPUs, flat; `walltime` is the limit; of the profiles only delays say how long a job runs by
 * themselves.  Jobs of other profiles need Batsim's model of machines: they are left out, and counted.
 * Sources: Batsim's documentation of its input, doc/profiles.md (`delay`), and batprotocol of Batsim 5
 * (`DelayProfile`). */
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "workloads/readers/reader.h"
#include "workloads/request/ask.h"

enum { SECONDS_MAX = 1000000000 };

struct batsim_state {
    struct buffer text;
    struct json_doc *doc; /* NULL until the whole file is read */
    struct error error;   /* the sticky one of the document */
    struct json_value root, jobs, profiles;
    struct json_object top, all_profiles;
    size_t count, next;
};

/* The first line is "{" alone, or holds "profiles" or "nb_res", which a job in JSON lines has not. */
static bool batsim_is_mine(const struct trace_format *self, struct text first_line)
{
    (void)self;
    struct text line = text_trim(first_line);
    return text_is(line, "{") || (line.length > 0 && line.at[0] == '{' &&
                                  (memmem(line.at, line.length, "\"profiles\"", 10) != NULL ||
                                   memmem(line.at, line.length, "\"nb_res\"", 8) != NULL));
}

static struct error batsim_line(struct reader *reader, const struct line *line, struct trace_row *row)
{
    struct batsim_state *state = reader->state;
    buffer_text(&state->text, line->text);
    buffer_char(&state->text, '\n');
    row->is_nothing = true;
    return ERROR_OK;
}

/* Other keys of a workload are ignored. */
static void open_any(struct json_object *object, const struct json_value *value)
{
    json_object_open(object, value);
    for (size_t i = 0; json_object_key(object, i) != NULL; i++)
        continue;
}

/* Return the sticky error, which the caller then owns. */
static struct error take_error(struct batsim_state *state)
{
    struct error error = state->error;
    state->error = ERROR_OK;
    return error;
}

static struct error batsim_begin(struct reader *reader)
{
    struct batsim_state *state = reader->state;
    struct text text = {state->text.bytes, state->text.length};
    TRY(json_doc_parse(&state->doc, reader->spec->trace, text, ERROR_DATA));
    state->root = json_doc_root(state->doc, &state->error);
    open_any(&state->top, &state->root);
    json_need(&state->top, "jobs");
    json_need(&state->top, "profiles");
    state->jobs = json_member(&state->top, "jobs");
    state->profiles = json_member(&state->top, "profiles");
    state->count = json_array_count(&state->jobs);
    open_any(&state->all_profiles, &state->profiles);
    return take_error(state);
}

/* The run time of the job, which its profile gives.  *is_delay false: it does not. */
static time_ns read_delay(struct batsim_state *state, struct json_object *job, bool *is_delay)
{
    *is_delay = true;
    const char *name = json_get_string(job, "profile", "");
    struct json_value value = json_member(&state->all_profiles, name), at = json_member(job, "profile");
    struct json_object profile;
    if (value.node == NULL) {
        json_fail(&at, "there is no profile '%s'", name);
        return 0;
    }
    open_any(&profile, &value);
    json_need(&profile, "type");
    const char *type = json_get_string(&profile, "type", "");
    *is_delay = strcmp(type, "delay") == 0 || strcmp(type, "DelayProfile") == 0;
    if (!*is_delay)
        return 0;
    json_need(&profile, "delay");
    return json_get_duration(&profile, "delay", 0);
}

static void read_id(struct reader *reader, struct json_object *object, struct job *job)
{
    struct json_value id = json_member(object, "id");
    if (id.node != NULL && json_is_string(id.node))
        job->name = arena_copy(reader->arena, text_of(json_value_string(&id)));
    else
        job->trace_id = json_get_int(object, "id", INT64_MIN, INT64_MAX, 0);
}

static void read_job(struct reader *reader, const struct json_value *value, struct trace_row *row)
{
    struct batsim_state *state = reader->state;
    struct json_object object;
    bool is_delay;
    open_any(&object, value);
    json_need(&object, "id");
    json_need(&object, "subtime");
    json_need(&object, "res");
    json_need(&object, "profile");
    read_id(reader, &object, &row->job);
    row->job.submit = json_get_duration(&object, "subtime", 0);
    job_shape_gpus(&row->job, (uint32_t)json_get_int(&object, "res", 1, ASK_GPUS_MAX, 1), 0);
    row->job.limit = TIME_NEVER;
    if (json_get_real(&object, "walltime", -1, SECONDS_MAX, -1) > 0) /* -1: none */
        row->job.limit = json_get_duration(&object, "walltime", TIME_NEVER);
    row->job.queue = reader_queue(reader, (struct text){NULL, 0});
    row->truth.duration = read_delay(state, &object, &is_delay);
    if (!is_delay)
        row->why = READER_NO_DELAY;
}

static struct error batsim_end(struct reader *reader, struct trace_row *row, bool *has)
{
    struct batsim_state *state = reader->state;
    if (state->doc == NULL)
        TRY(batsim_begin(reader));
    *has = state->next < state->count;
    if (!*has)
        return ERROR_OK;
    struct json_value value = json_array_item(&state->jobs, state->next++);
    read_job(reader, &value, row);
    return take_error(state);
}

static void batsim_close(struct reader *reader)
{
    struct batsim_state *state = reader->state;
    buffer_release(&state->text);
    json_doc_free(state->doc);
}

const struct trace_format trace_batsim = {
    .name = "batsim",
    .summary = "a workload of Batsim: jobs whose profiles are delays; machines become GPUs",
    .version = TRACE_FORMAT_VERSION,
    .state_bytes = sizeof(struct batsim_state),
    .is_mine = batsim_is_mine,
    .on_line = batsim_line,
    .on_end = batsim_end,
    .on_close = batsim_close,
};
