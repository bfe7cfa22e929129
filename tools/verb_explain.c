/* windtunnel explain: why jobs wait at a moment of a run, or waited in one that is recorded. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "policies/explain.h"
#include "reports/record_read.h"
#include "reports/result.h"
#include "reports/view.h"
#include "studies/divergence/decision.h"
#include "studies/run/fork.h"
#include "studies/run/record_gate.h"
#include "tools/progress_line.h"
#include "tools/verbs.h"

/* A job to explain: it was named, or all are explained. */
struct told {
    job_id id;
    char *name, *queue;
    uint8_t state; /* enum job_end_state, of its row */
    int64_t gpu_milli;
    time_ns waited;
    struct wait_times waits;
    bool is_explained, fills_gap;
    job_id gap_of; /* if it fills a gap: the job that it gives way to; JOB_NONE: none waits now */
    time_ns gap_end;
    struct explanation why;
};

struct explaining {
    const struct args *args;
    struct scenario scenario;
    struct job_source *source;
    struct progress_line progress;
    struct fork fork;       /* of a record that is run again; else {0} */
    bool is_record, is_all; /* is_record: its rows are told, and nothing is run */
    time_ns at;             /* the time at which the run is examined */
    uint64_t waiting_count;
    struct told *told;
    size_t told_capacity, told_count;
    struct timeline_row busiest;
    const char **asked; /* names of the jobs to explain */
    size_t asked_count;
};

/* ---- The request ---- */

static struct error read_asked(struct explaining *self)
{
    size_t listed, operands = args_operand_count(self->args);
    const char *const *jobs = args_list(self->args, "job", &listed);
    self->is_all = args_flag(self->args, "all");
    self->asked = mem_zalloc(operands + listed + 1, sizeof *self->asked);
    for (size_t i = 1; i < operands; i++)
        self->asked[self->asked_count++] = args_operand(self->args, i);
    for (size_t i = 0; i < listed; i++)
        self->asked[self->asked_count++] = jobs[i];
    if (self->is_all == (self->asked_count > 0))
        return error_new(ERROR_USAGE, self->is_all ? "'--all' explains every job: name none besides"
                                                   : "name the jobs to explain, or give '--all'");
    return ERROR_OK;
}

static bool is_asked(const struct explaining *self, const char *name)
{
    for (size_t i = 0; i < self->asked_count; i++)
        if (strcmp(self->asked[i], name) == 0)
            return true;
    return false;
}

/* Read "busiest" (the default) or a time; *is_busiest: which of both. */
static struct error read_at(struct explaining *self, bool *is_busiest)
{
    const char *text = args_string(self->args, "at");
    *is_busiest = text == NULL || strcmp(text, "busiest") == 0;
    if (*is_busiest || time_parse_duration(text_of(text), &self->at))
        return ERROR_OK;
    return error_new(ERROR_USAGE,
                     "'--at' must be a time from the start of the run, such as 3600, 36h or 2d, or "
                     "'busiest', got '%s'",
                     text);
}

/* ---- Rows ---- */

static bool is_told(const struct explaining *self, const struct job_row *row, const char *name)
{
    return self->is_all ? row->state == END_PENDING || self->is_record : is_asked(self, name);
}

static struct error on_job(void *self_as_void, const struct job_row *row)
{
    struct explaining *self = self_as_void;
    char number[24];
    const char *name = row->name;
    if (name == NULL) {
        snprintf(number, sizeof number, "%u", row->id);
        name = number;
    }
    self->waiting_count += row->state == END_PENDING;
    if (!is_told(self, row, name))
        return ERROR_OK;
    MEM_GROW(self->told, self->told_capacity, self->told_count + 1);
    struct told *told = &self->told[self->told_count++];
    *told = (struct told){.id = row->id,
                          .name = mem_copy_text(name),
                          .queue = mem_copy_text(row->queue),
                          .state = row->state,
                          .gpu_milli = row->gpu_milli,
                          .waited = row->state == END_REJECTED ? row->end - row->submit : row->wait_total};
    if (row->waits != NULL)
        told->waits = *row->waits;
    return ERROR_OK;
}

static struct error on_sample(void *self_as_void, const struct timeline_row *row)
{
    struct explaining *self = self_as_void;
    if (row->pending_jobs > self->busiest.pending_jobs)
        self->busiest = *row;
    return ERROR_OK;
}

static void on_end(void *self_as_void, struct sched *sched, time_ns now)
{
    struct explaining *self = self_as_void;
    self->at = now;
    for (size_t i = 0; i < self->told_count; i++) {
        struct told *told = &self->told[i];
        told->is_explained = sched_explain(sched, told->id, &told->why);
        told->fills_gap = sched_fills_gap(sched, told->id, &told->gap_of, &told->gap_end);
    }
}

/* ---- The run ---- */

/* Run the simulation up to `end` with that sink. */
static struct error simulate(struct explaining *self, time_ns end, const struct record_sink *sink, bool is_asking)
{
    struct engine_result result;
    TRY(scenario_open(&self->scenario, &self->source));
    struct engine_config config = scenario_engine(&self->scenario, self->source);
    config.sinks = sink;
    config.sink_count = 1;
    config.on_progress = progress_line_show;
    config.progress_self = &self->progress;
    config.on_end = is_asking ? on_end : NULL;
    config.end_self = self;
    if (end < config.world.end)
        config.world.end = end;
    TRY(engine_run(&config, &result));
    return result.stall;
}

static struct error explain_run(struct explaining *self)
{
    struct scenario_options options = tool_scenario_options(self->args);
    const struct record_sink samples = {.self = self, .on_sample = on_sample};
    const struct record_sink jobs = {.self = self, .on_job = on_job};
    bool is_busiest;
    if (options.path == NULL && options.trace == NULL && options.set_count == 0)
        return error_new(ERROR_USAGE, "there is nothing to run: name a scenario, a record or a trace");
    TRY(read_at(self, &is_busiest));
    TRY(scenario_load(&self->scenario, &options));
    if (is_busiest) {
        TRY(simulate(self, TIME_NEVER, &samples, false));
        self->at = self->busiest.time;
        job_source_close(self->source);
        self->source = NULL;
    }
    return simulate(self, self->at, &jobs, true);
}

/* What a record tells: how long jobs waited, and for what. */
static struct error explain_rows(struct explaining *self)
{
    const struct record_sink sink = {.self = self, .on_job = on_job};
    return record_read(args_operand(self->args, 0), &sink);
}

/* The run of a record is made again up to a moment, which is the last instant that is examined. */
static struct error explain_moment(struct explaining *self)
{
    const char *folder = args_operand(self->args, 0);
    struct scenario_options options = tool_scenario_options(self->args);
    const struct record_sink samples = {.self = self, .on_sample = on_sample};
    const struct record_sink jobs = {.self = self, .on_job = on_job};
    bool is_busiest;
    tool_trust(self->args, &options);
    TRY(read_at(self, &is_busiest));
    if (is_busiest) {
        TRY(record_read(folder, &samples));
        self->at = self->busiest.time;
    }
    TRY(fork_open(&self->fork, folder, self->at, &options));
    if (self->fork.record.facts.is_decided_outside)
        return error_new(ERROR_USAGE, "another program decided in this record, and does not say why jobs wait");
    TRY(fork_replay(&self->fork, &(struct fork_how){.until = self->at,
                                                    .on_end = on_end,
                                                    .end_self = self,
                                                    .on_progress = progress_line_show,
                                                    .progress_self = &self->progress}));
    return fork_go_on(&self->fork, fork_last(&self->fork), &jobs, 1);
}

/* Every named job must have been seen. */
static struct error find_missing(const struct explaining *self)
{
    for (size_t a = 0; a < self->asked_count; a++) {
        size_t i = 0;
        while (i < self->told_count && strcmp(self->told[i].name, self->asked[a]) != 0)
            i++;
        if (i < self->told_count)
            continue;
        if (self->is_record)
            return error_new(ERROR_DATA, "the record has no job '%s'", self->asked[a]);
        return error_new(ERROR_DATA, "no job '%s' was submitted until %.9g s", self->asked[a],
                         time_to_seconds(self->at));
    }
    return ERROR_OK;
}

/* ---- As text ---- */

static void write_amount(struct buffer *out, int64_t milli)
{
    buffer_scaled(out, milli, GPU_MILLI);
}

static void write_waits(const struct told *told, struct buffer *out)
{
    buffer_string(out, "  waited  ");
    for (uint32_t left = told->waits.mask; left != 0; left &= left - 1) {
        int reason = __builtin_ctz(left);
        buffer_format(out, "%s%s ", left == told->waits.mask ? "" : ", ", reason_name((enum reason)reason));
        buffer_scaled(out, told->waits.of[reason], TIME_NS_PER_S);
        buffer_string(out, " s");
    }
    buffer_string(out, told->waits.mask == 0 ? "never, or the run did not keep it\n" : "\n");
}

static void write_nodes(const struct explanation *why, struct buffer *out)
{
    uint32_t sum = 0;
    const char *between = " = ";
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++)
        sum += why->nodes[i];
    buffer_format(out, "  nodes   %u", sum);
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++) {
        if (why->nodes[i] == 0)
            continue;
        buffer_format(out, "%s%u %s", between, why->nodes[i], explain_node_words[i]);
        between = " + ";
    }
    buffer_char(out, '\n');
}

static const char *name_of(const struct explaining *self, job_id id)
{
    for (size_t i = 0; i < self->told_count; i++)
        if (self->told[i].id == id)
            return self->told[i].name;
    return NULL;
}

/* Why the job runs though a planned start needs its space later. */
static void write_gap(const struct explaining *self, const struct told *told, struct buffer *out)
{
    const char *name = told->gap_of != JOB_NONE ? name_of(self, told->gap_of) : NULL;
    if (told->gap_of == JOB_NONE) {
        buffer_string(out, "  fills   a gap; no job that it gives way to waits now\n");
        return;
    }
    buffer_string(out, "  fills   the gap before ");
    if (name != NULL)
        buffer_format(out, "job %s", name);
    else
        buffer_format(out, "job %u", told->gap_of);
    buffer_string(out, ", planned at ");
    buffer_scaled(out, told->gap_end, TIME_NS_PER_S);
    buffer_string(out, " s, and is evicted when that can start\n");
}

static void write_job(const struct explaining *self, const struct told *told, struct buffer *out)
{
    buffer_format(out, "job %s: ", told->name);
    if (told->is_explained)
        buffer_string(out, reason_name(told->why.code));
    else
        buffer_string(out,
                      told->state == END_REJECTED || self->is_record ? job_end_names[told->state] : "does not wait");
    buffer_string(out, told->queue[0] != '\0' ? ", queue " : "");
    view_name(out, told->queue, 60);
    buffer_string(out, ", ");
    write_amount(out, told->gpu_milli);
    buffer_string(out, told->gpu_milli == GPU_MILLI ? " GPU, waited " : " GPUs, waited ");
    view_duration(out, time_to_seconds(told->waited));
    buffer_char(out, '\n');
    if (told->is_explained) {
        write_nodes(&told->why, out);
        buffer_format(out, "  needs   %s\n", told->why.text);
    }
    if (told->fills_gap)
        write_gap(self, told, out);
    write_waits(told, out);
}

static void write_table(const struct explaining *self, struct buffer *out)
{
    if (!self->is_record) {
        buffer_string(out, "at ");
        buffer_scaled(out, self->at, TIME_NS_PER_S);
        buffer_format(out, " s: %llu job%s wait%s\n", (unsigned long long)self->waiting_count,
                      self->waiting_count == 1 ? "" : "s", self->waiting_count == 1 ? "s" : "");
    }
    for (size_t i = 0; i < self->told_count; i++)
        write_job(self, &self->told[i], out);
}

/* ---- As JSON ---- */

static void json_amount(struct buffer *out, const char *key, int64_t value, int64_t scale)
{
    buffer_members(out, ", %s: ", key);
    buffer_scaled(out, value, scale);
}

static void json_over(const struct explaining *self, const struct explanation *why, struct buffer *out)
{
    static const int64_t scales[RESOURCE_COUNT] = {GPU_MILLI, 1000, 1};
    static const char *const names[RESOURCE_COUNT] = {"gpus", "cpus", "memory_mib"};
    if (why->over_queue == QUEUE_NONE)
        return;
    const struct queue_table *queues = job_source_queues(self->fork.source != NULL ? self->fork.source : self->source);
    int64_t scale = scales[why->over_resource];
    buffer_members(out, ", 'over': {'queue': %s, 'resource': %s, 'bound_is': %s", queues->queues[why->over_queue].name,
                   names[why->over_resource], why->over_is_quota ? "quota" : "limit");
    json_amount(out, "held", why->over_held, scale);
    json_amount(out, "asked", why->over_asked, scale);
    if (why->over_bound != QUOTA_UNLIMITED)
        json_amount(out, "bound", why->over_bound, scale);
    buffer_char(out, '}');
}

static void json_why(const struct explaining *self, const struct explanation *why, struct buffer *out)
{
    buffer_members(out, ", 'code': %s, 'is_never': %hhd, 'fits_now': %hhd, 'nodes': {", reason_name(why->code),
                   why->is_never, why->fits_now);
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++)
        buffer_members(out, ", %s: %u", explain_node_names[i], why->nodes[i]);
    buffer_members(out, "}, 'members': %u, 'members_fitting': %u, 'ahead': %u", why->members, why->members_fitting,
                   why->ahead);
    const char *first = why->first != JOB_NONE ? name_of(self, why->first) : NULL;
    if (first != NULL)
        buffer_members(out, ", 'first': %s", first);
    buffer_members(out, ", 'short': {'nodes': %u, 'gpus': %.3lld, 'cpus': %.3lld, 'memory_mib': %lld}",
                   why->nodes_short, (long long)why->gpu_milli_short, (long long)why->cpu_milli_short,
                   (long long)why->memory_mib_short);
    json_over(self, why, out);
    buffer_members(out, ", 'needs': %s", why->text);
}

static void json_waits(const struct wait_times *waits, struct buffer *out)
{
    buffer_members(out, ", 'wait_by_reason_s': {");
    for (uint32_t left = waits->mask; left != 0; left &= left - 1) {
        int reason = __builtin_ctz(left);
        buffer_members(out, ", %s: %.9lld", reason_name((enum reason)reason), (long long)waits->of[reason]);
    }
    buffer_char(out, '}');
}

static void write_json(const struct explaining *self, struct buffer *out)
{
    buffer_char(out, '{');
    if (!self->is_record)
        buffer_members(out, "'at_s': %.9lld, 'waiting_jobs': %llu", (long long)self->at,
                       (unsigned long long)self->waiting_count);
    buffer_members(out, ", 'jobs': [");
    for (size_t i = 0; i < self->told_count; i++) {
        const struct told *told = &self->told[i];
        buffer_members(out, ",\n {'job': %s, 'queue': %s, 'gpus': %.3lld, 'state': %s, 'waited_s': %.9lld", told->name,
                       told->queue, (long long)told->gpu_milli, job_end_names[told->state], (long long)told->waited);
        if (told->is_explained)
            json_why(self, &told->why, out);
        json_waits(&told->waits, out);
        buffer_char(out, '}');
    }
    buffer_string(out, "]}\n");
}

/* ---- The verb ---- */

static bool is_folder(const char *path)
{
    struct stat facts;
    return path != NULL && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static struct error explain_all(struct explaining *self)
{
    TRY(read_asked(self));
    const bool is_record = is_folder(args_operand(self->args, 0));
    self->is_record = is_record && args_string(self->args, "at") == NULL;
    TRY(self->is_record ? explain_rows(self) : is_record ? explain_moment(self) : explain_run(self));
    return find_missing(self);
}

static void release(struct explaining *self)
{
    for (size_t i = 0; i < self->told_count; i++) {
        mem_free(self->told[i].name);
        mem_free(self->told[i].queue);
    }
    mem_free(self->told);
    mem_free((void *)self->asked);
    job_source_close(self->source);
    scenario_release(&self->scenario);
    fork_release(&self->fork);
}

/* Look at one decision; of a record, the run is made again. */
static struct error explain_decision(const struct args *args, struct buffer *out)
{
    struct scenario_options options = tool_scenario_options(args);
    struct result record = {0};
    struct record_gate gate;
    struct decision_study study;
    int64_t number;
    size_t listed;
    tool_trust(args, &options);
    args_list(args, "job", &listed);
    if (!text_to_int64(text_of(args_string(args, "decision")), 1, INT64_MAX, &number))
        return error_new(ERROR_USAGE, "'--decision' must be the number of a decision, from 1, got '%s'",
                         args_string(args, "decision"));
    if (args_string(args, "at") != NULL || args_flag(args, "all") || listed > 0 || args_operand_count(args) > 1)
        return error_new(ERROR_USAGE, "'--decision' explains one decision: name no jobs, '--all' or '--at' besides");
    if (options.path == NULL && options.trace == NULL && options.set_count == 0)
        return error_new(ERROR_USAGE, "there is nothing to run: name a scenario, a record or a trace");
    const bool is_record = is_folder(args_operand(args, 0));
    if (is_record) {
        TRY(result_read(&record, args_operand(args, 0)));
        options.path = NULL;
        options.text = record.manifest.scenario_json;
        options.gate = &gate.gate;
    }
    record_gate_init(&gate, args_operand(args, 0), &record, &options);
    struct error error = ERROR_OK;
    if (is_record && record.manifest.fork.fingerprint != NULL)
        error = error_new(ERROR_USAGE,
                          "the record is a fork, whose decisions have numbers of the run before it too: name a "
                          "record of a whole run");
    if (!error_is(error) && is_record && record.facts.is_decided_outside)
        error = error_new(ERROR_USAGE, "another program decided in this record: its decisions cannot be made again");
    if (!error_is(error))
        error = decision_study_find(&study, &options, (uint64_t)number);
    record_gate_release(&gate);
    if (is_record)
        result_release(&record);
    TRY(error);
    if (args_flag(args, "json"))
        decision_study_json(&study, out);
    else
        decision_study_text(&study, out);
    decision_study_release(&study);
    return ERROR_OK;
}

static int run_decision(const struct args *args)
{
    struct buffer out = {0};
    struct error error = explain_decision(args, &out);
    if (!error_is(error))
        return tool_print(&out);
    buffer_release(&out);
    return tool_fail(&error);
}

int verb_explain(const struct args *args)
{
    if (args_string(args, "decision") != NULL)
        return run_decision(args);
    struct explaining self = {.args = args};
    struct buffer out = {0};
    int status;
    progress_line_begin(&self.progress, !args_flag(args, "quiet"));
    struct error error = explain_all(&self);
    progress_line_end(&self.progress);
    if (error_is(error)) {
        status = tool_fail(&error);
    } else {
        if (args_flag(args, "json"))
            write_json(&self, &out);
        else
            write_table(&self, &out);
        status = tool_print(&out);
    }
    release(&self);
    return status;
}
