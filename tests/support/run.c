#include "tests/support/run.h"
#include "policies/policy_config.h"
#include "sim/plugins/guard.h"
#include "tests/support/test.h"

#include "policies/config/presets.h"

struct run_setup run_setup_default(const struct cluster *cluster)
{
    return (struct run_setup){
        .cluster = cluster, .policy = policy_config_default(), .world = world_config_default(), .seed = 1};
}

static void must(struct error error)
{
    if (!error_is(error))
        return;
    char *text = error_text_new(&error);
    print_error("%s", text != NULL ? text : "out of memory");
    free(text);
    error_release(&error);
    fail();
}

struct policy_config run_preset(const char *name)
{
    struct policy_config config;
    const struct embedded_text *preset = policy_preset_texts;
    while (preset->name != NULL && strcmp(preset->name, name) != 0)
        preset++;
    assert_non_null(preset->name);
    struct json_doc *doc;
    struct error error = ERROR_OK;
    struct text text = {preset->text, preset->length};
    must(json_doc_parse(&doc, name, text, ERROR_CONFIG));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&config, &root);
    must(error);
    json_doc_free(doc);
    return config;
}

struct run_job run_job_make(time_ns submit, time_ns duration, uint32_t members, uint16_t gpus)
{
    struct run_job made = {.job = job_default(), .truth = {.duration = duration, .outcome = OUTCOME_COMPLETED}};
    made.job.submit = submit;
    made.job.first.count = made.job.first.min_count = members;
    made.job.first.request.gpus = gpus;
    return made;
}

/* ---- Taking rows ------------------------------------------------------------------------------- */

enum { NOT_SEEN = END_STATE_COUNT }; /* in job_row.state */

static struct error take_job(void *self, const struct job_row *row)
{
    struct run_log *log = self;
    assert_true(row->id < log->job_count);
    assert_int_equal(log->jobs[row->id].state, NOT_SEEN); /* a job's row comes once */
    log->jobs[row->id] = *row;
    log->faults[row->id] = row->faults != NULL ? *row->faults : (struct fault_row){0};
    log->jobs[row->id].faults = NULL;
    log->idle[row->id] = row->idle != NULL ? *row->idle : (struct idle_row){0};
    log->jobs[row->id].idle = NULL;
    log->jobs[row->id].name = log->jobs[row->id].queue = log->jobs[row->id].user = NULL;
    log->jobs[row->id].lost = NULL;
    log->pulls[row->id] = row->pulls != NULL ? *row->pulls : (struct pull_row){0};
    log->jobs[row->id].pulls = NULL;
    if (row->lost != NULL)
        log->lost[row->id] = *row->lost;
    return ERROR_OK;
}

static struct error take_attempt(void *self, const struct attempt_row *row)
{
    struct run_log *log = self;
    assert_true(row->id < log->job_count);
    assert_int_equal(log->jobs[row->id].state, NOT_SEEN); /* attempts' rows come before */
    MEM_GROW(log->attempts, log->attempt_capacity, (size_t)log->attempt_count + 1);
    struct attempt_row *copy = &log->attempts[log->attempt_count++];
    *copy = *row;
    copy->placement = mem_copy_text(row->placement);
    return ERROR_OK;
}

static struct error take_sample(void *self, const struct timeline_row *row)
{
    struct run_log *log = self;
    if (log->sample_count > 0)
        assert_true(row->time >= log->samples[log->sample_count - 1].time);
    MEM_GROW(log->samples, log->sample_capacity, (size_t)log->sample_count + 1);
    log->samples[log->sample_count++] = *row;
    return ERROR_OK;
}

/* ---- Runs -------------------------------------------------------------------------------------- */

struct engine_result run_source(const struct run_setup *setup, struct job_source *source,
                                const struct record_sink *sink)
{
    struct engine_result result;
    if (setup->fill_queues != NULL)
        setup->fill_queues(job_source_queues(source));
    struct engine_config config = {.watch = &guard_watch,
                                   .cluster = setup->cluster,
                                   .source = source,
                                   .policy = &setup->policy,
                                   .world = setup->world,
                                   .seed = setup->seed,
                                   .sinks = sink,
                                   .sink_count = 1,
                                   .is_checked = !setup->is_unchecked};
    must(engine_run(&config, &result));
    must(result.stall);
    job_source_close(source);
    return result;
}

struct list { /* the list that a custom source reads */
    const struct run_job *jobs;
    uint32_t count, next;
};

static struct error list_next(void *self, struct job *job, struct job_truth *truth, bool *has)
{
    struct list *list = self;
    *has = list->next < list->count;
    if (!*has)
        return ERROR_OK;
    const struct run_job *made = &list->jobs[list->next++];
    *job = made->job;
    *truth = made->truth;
    job->trace_id = list->next;
    return ERROR_OK;
}

struct run_log *run_jobs(const struct run_setup *setup, const struct run_job *jobs, uint32_t count)
{
    struct run_log *log = mem_zalloc(1, sizeof *log);
    struct list list = {.jobs = jobs, .count = count};
    struct record_sink sink = {.self = log, .on_job = take_job, .on_attempt = take_attempt, .on_sample = take_sample};
    MEM_GROW(log->jobs, log->job_capacity, (size_t)count + 1);
    MEM_GROW(log->faults, log->fault_capacity, (size_t)count + 1);
    MEM_GROW(log->idle, log->idle_capacity, (size_t)count + 1);
    MEM_GROW(log->lost, log->lost_capacity, (size_t)count + 1);
    MEM_GROW(log->pulls, log->pull_capacity, (size_t)count + 1);
    log->job_count = count;
    for (uint32_t i = 0; i < count; i++) {
        assert_null(job_complaint(&jobs[i].job));
        log->jobs[i].state = NOT_SEEN;
    }
    log->result = run_source(setup, job_source_custom(list_next, &list), &sink);
    for (uint32_t i = 0; i < log->result.submitted; i++)
        assert_int_not_equal(log->jobs[i].state, NOT_SEEN); /* every submitted job has its row */
    return log;
}

void run_log_free(struct run_log *log)
{
    for (uint32_t i = 0; i < log->attempt_count; i++)
        mem_free((void *)(uintptr_t)log->attempts[i].placement);
    mem_free(log->jobs);
    mem_free(log->faults);
    mem_free(log->idle);
    mem_free(log->lost);
    mem_free(log->pulls);
    mem_free(log->attempts);
    mem_free(log->samples);
    mem_free(log);
}

const struct attempt_row *run_attempt(const struct run_log *log, job_id id, uint32_t attempt)
{
    for (uint32_t i = 0; i < log->attempt_count; i++)
        if (log->attempts[i].id == id && log->attempts[i].attempt == attempt)
            return &log->attempts[i];
    fail_msg("job %u has no attempt %u", id, attempt);
    return NULL;
}

const struct timeline_row *run_last_sample(const struct run_log *log)
{
    assert_true(log->sample_count > 0);
    return &log->samples[log->sample_count - 1];
}

/* ---- Placements as text ------------------------------------------------------------------------ */

static uint32_t read_number(const char **at)
{
    char *end;
    assert_true(**at >= '0' && **at <= '9');
    unsigned long value = strtoul(*at, &end, 10);
    *at = end;
    return (uint32_t)value;
}

/* "7", or "[7-9]" when bracketed; "0-3" within a list of GPUs. */
static void read_range(const char **at, uint32_t *first, uint32_t *last)
{
    *first = *last = read_number(at);
    if (**at == '-') {
        ++*at;
        *last = read_number(at);
        assert_true(*last > *first);
    }
}

static uint32_t read_mask(const char **at)
{
    uint32_t mask = 0, first, last;
    do {
        ++*at; /* ':' or ',' */
        read_range(at, &first, &last);
        assert_true(last < NODE_GPUS_MAX);
        for (uint32_t i = first; i <= last; i++)
            mask |= 1u << i;
    } while (**at == ',');
    return mask;
}

void run_placement_read(const char *placement, uint32_t node_count, uint16_t *milli)
{
    memset(milli, 0, (size_t)node_count * NODE_GPUS_MAX * sizeof *milli);
    for (const char *at = placement; *at != '\0'; at += *at == ' ') {
        uint32_t first, last, mask = 0, share = GPU_MILLI;
        assert_int_equal(*at++, 'n');
        bool is_bracketed = *at == '[';
        at += is_bracketed;
        read_range(&at, &first, &last);
        if (is_bracketed)
            assert_int_equal(*at++, ']');
        if (*at == ':')
            mask = read_mask(&at);
        if (*at == '@') {
            at++;
            share = read_number(&at);
        }
        assert_true(*at == ' ' || *at == '\0');
        assert_true(last < node_count && share <= GPU_MILLI);
        for (uint32_t n = first; n <= last; n++)
            for (uint32_t i = 0; i < NODE_GPUS_MAX; i++) {
                uint16_t *held = &milli[n * NODE_GPUS_MAX + i];
                if (mask >> i & 1)
                    *held = (uint16_t)(*held + share);
                assert_true(*held <= GPU_MILLI);
            }
    }
}
