#include "studies/run/fork.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/input.h"
#include "reports/record_read.h"
#include "reports/view.h"
#include "sim/live/event_file.h"
#include "studies/run/record_gate.h"

/* ---- The record ---- */

/* A duration as it can be typed: whole days, hours or seconds. */
static void write_time(struct buffer *out, time_ns at)
{
    const int64_t hour = 3600 * TIME_NS_PER_S, day = 24 * hour;
    const int64_t unit = at % day == 0 ? day : at % hour == 0 ? hour : TIME_NS_PER_S;
    buffer_scaled(out, at / unit * TIME_NS_PER_S + at % unit, TIME_NS_PER_S);
    buffer_string(out, unit == day ? "d" : unit == hour ? "h" : "s");
}

static struct error open_record(struct fork *fork)
{
    struct buffer path = {0};
    struct error error = result_read(&fork->record, fork->folder);
    if (error_is(error)) {
        error_set_hint(&error, "a fork begins in the folder of a record, which `windtunnel run SCENARIO --out` makes");
        return error;
    }
    buffer_format(&path, "%s/" RESULT_FILE, fork->folder);
    error = input_digest(buffer_c_string(&path), fork->digest);
    buffer_release(&path);
    return error;
}

/* A record of a fork has the time from its own moment on. */
static struct error check_time(const struct fork *fork)
{
    const struct result_fork *own = &fork->record.manifest.fork;
    if (own->fingerprint == NULL || fork->at >= own->at)
        return ERROR_OK;
    struct buffer from = {0};
    write_time(&from, own->at);
    struct error error =
        error_new(ERROR_DATA, "the record %s is a fork, and begins at %s", fork->folder, buffer_c_string(&from));
    error_set_hint(&error, "fork it at that time or later, or fork the record that it was forked from");
    buffer_release(&from);
    return error;
}

static struct error read_decisions(struct fork *fork)
{
    const struct result_manifest *manifest = &fork->record.manifest;
    for (size_t i = 0; i < manifest->fork.before_count; i++)
        if (manifest->fork.before[i].is_outside)
            return error_new(ERROR_DATA,
                             "the record %s is a fork of a run in which another program decided: fork that one",
                             fork->folder);
    if (!fork->record.facts.is_decided_outside)
        return ERROR_OK;
    for (size_t i = 0; i < manifest->file_count; i++)
        if (strcmp(manifest->files[i].name, EVENT_FILE) == 0)
            return event_file_answers(fork->folder, &fork->decisions);
    struct error error = error_new(
        ERROR_DATA, "another program decided in the record %s, and its decisions are not recorded", fork->folder);
    error_set_hint(&error, "run it again with --events");
    return error;
}

/* ---- The scenarios of its parts ---- */

static void set_json(json_t *scenario, const char *key, const char *text)
{
    if (text != NULL)
        json_object_set_new(scenario, key, json_loads(text, JSON_DECODE_ANY, NULL));
    else
        json_object_del(scenario, key);
}

/* before: what decided then; NULL: the policy of the record. */
static struct error load_part(struct fork *fork, const struct scenario_options *options,
                              const struct result_before *before)
{
    struct record_gate gate;
    struct fork_part *part = &fork->parts[fork->part_count++];
    struct scenario_options own = {
        .plugins = options->plugins, .trusted = options->trusted, .trusted_count = options->trusted_count};
    json_t *scenario = json_loads(fork->record.manifest.scenario_json, 0, NULL);
    if (before != NULL) {
        set_json(scenario, "policy", before->policy);
        set_json(scenario, "plugins", before->plugins);
    }
    char *text = json_dumps(scenario, JSON_COMPACT | JSON_SORT_KEYS);
    part->plugins = json_dumps(json_object_get(scenario, "plugins"), JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(scenario);
    record_gate_init(&gate, fork->folder, &fork->record, &own);
    own.text = text;
    own.gate = &gate.gate;
    part->until = before != NULL ? before->until : TIME_NEVER;
    struct error error = scenario_load(&part->scenario, &own);
    record_gate_release(&gate);
    free(text);
    return error;
}

static struct error load_parts(struct fork *fork, const struct scenario_options *options)
{
    const struct result_fork *own = &fork->record.manifest.fork;
    fork->parts = mem_zalloc(own->before_count + 1, sizeof *fork->parts);
    for (size_t i = 0; i < own->before_count; i++)
        TRY(load_part(fork, options, &own->before[i]));
    return load_part(fork, options, NULL);
}

struct error fork_open(struct fork *fork, const char *folder, time_ns at, const struct scenario_options *options)
{
    *fork = (struct fork){.folder = folder, .at = at};
    struct error error = open_record(fork);
    if (!error_is(error))
        error = check_time(fork);
    if (!error_is(error))
        error = read_decisions(fork);
    if (!error_is(error))
        error = load_parts(fork, options);
    if (error_is(error))
        fork_release(fork);
    return error;
}

/* ---- The scenario of the fork ---- */

const struct scenario *fork_last(const struct fork *fork)
{
    return &fork->parts[fork->part_count - 1].scenario;
}

/* Read the resolved scenario without what may differ.  The caller frees it. */
static json_t *world_of(const char *resolved)
{
    static const char *const free_to_differ[] = {"policy",         "plugins", "name",    "title",
                                                 "service_levels", "gates",   "$comment"};
    json_t *root = json_loads(resolved, 0, NULL);
    for (size_t i = 0; i < sizeof free_to_differ / sizeof *free_to_differ; i++)
        json_object_del(root, free_to_differ[i]);
    return root;
}

/* The first key of `one` whose value `other` does not have; NULL: none. */
static const char *other_key(json_t *one, json_t *other)
{
    const char *key;
    json_t *value;
    json_object_foreach(one, key, value) if (!json_equal(value, json_object_get(other, key))) return key;
    return NULL;
}

/* Do both policies give jobs the same pieces of GPUs?  Whether gangs on pieces are refused (refuses_gangs) matters when
 * a job is submitted, and so not here. */
static bool shares_alike(const struct policy_config *a, const struct policy_config *b)
{
    const struct sharing_config *one = &a->sharing_config, *other = &b->sharing_config;
    return a->sharing == b->sharing && memcmp(one->clients_max, other->clients_max, sizeof one->clients_max) == 0 &&
           one->trust == other->trust && one->isolation == other->isolation;
}

static struct error check_keys(const struct scenario *before, const struct scenario *scenario)
{
    json_t *record = world_of(before->resolved), *own = world_of(scenario->resolved);
    struct error error = ERROR_OK;
    const char *key = other_key(own, record);
    key = key != NULL ? key : other_key(record, own);
    if (key != NULL) {
        error = error_new(ERROR_CONFIG, "a fork cannot change '%s' of its record: its policy alone may differ", key);
        error_set_hint(&error, "leave out options other than --policy and '--set policy....'; to change the rest, "
                               "run the whole scenario");
    }
    json_decref(record);
    json_decref(own);
    return error;
}

/* What runs holds the pieces that the policy of the record gave it.  The world reckons speeds and SM activity by the
 * pieces that the present policy gives, and would be wrong about these jobs. */
static struct error check_sharing(const struct scenario *before, const struct scenario *scenario)
{
    if (shares_alike(&before->policy, &scenario->policy))
        return ERROR_OK;
    struct error error = error_new(ERROR_CONFIG, "a fork cannot change how GPUs are shared ('policy.sharing'): jobs "
                                                 "run on pieces of the other kind");
    error_set_hint(&error, "run the whole scenario, or set policy.sharing as in the record");
    return error;
}

struct error fork_scenario(const struct fork *fork, struct scenario *scenario, const struct scenario_options *options)
{
    struct record_gate gate;
    record_gate_init(&gate, fork->folder, &fork->record, options);
    struct scenario_options own = *options;
    own.text = fork->record.manifest.scenario_json;
    own.gate = &gate.gate;
    struct error error = scenario_load(scenario, &own);
    record_gate_release(&gate);
    if (!error_is(error))
        error = check_keys(fork_last(fork), scenario);
    if (!error_is(error))
        error = check_sharing(fork_last(fork), scenario);
    return error;
}

/* Does another policy take over in this scenario of fork_scenario? */
static bool fork_adopts(const struct fork *fork, const struct scenario *scenario)
{
    const struct scenario *before = fork_last(fork);
    bool differs = strcmp(before->policy_text, scenario->policy_text) != 0 ||
                   before->plugins.set.count != scenario->plugins.set.count;
    for (uint32_t p = 0; p < before->plugins.set.count && !differs; p++)
        differs = strcmp(plugins_file(&before->plugins, p).digest, plugins_file(&scenario->plugins, p).digest) != 0;
    return differs;
}

/* ---- The replay ---- */

static bool is_counted(const struct fork_rows *rows, const struct job_row *row)
{
    return row->end >= rows->from && row->end < rows->until;
}

static struct error count_row(void *self, const struct job_row *row)
{
    struct fork_rows *rows = self;
    if (!is_counted(rows, row))
        return ERROR_OK;
    rows->count++;
    rows->hash = hash_mix(hash_mix(rows->hash, row->id), (uint64_t)row->start ^ row->state);
    rows->hash = hash_mix(hash_mix(rows->hash, (uint64_t)row->end), row->evictions);
    return ERROR_OK;
}

static struct error check_rows(const struct fork *fork)
{
    struct fork_rows recorded = {.from = fork->replayed.from, .until = fork->replayed.until};
    const struct record_sink sink = {.self = &recorded, .on_job = count_row};
    TRY(record_read(fork->folder, &sink));
    if (recorded.count == fork->replayed.count && recorded.hash == fork->replayed.hash)
        return ERROR_OK;
    struct error error = error_new(
        ERROR_DATA, "the run of the record %s cannot be made again: its jobs end otherwise now", fork->folder);
    error_set_hint(&error, "it was made by version %s of Windtunnel: run its scenario again",
                   fork->record.manifest.version);
    return error;
}

static struct engine_policy policy_of(const struct scenario *scenario)
{
    return (struct engine_policy){&scenario->policy, scenario->typical, scenario->typical_count};
}

static struct error adopt(struct engine *engine, const struct scenario *scenario)
{
    struct job_source *again;
    const struct engine_policy policy = policy_of(scenario);
    TRY(scenario_open(scenario, &again));
    struct error error = engine_adopt(engine, &policy, again);
    job_source_close(again);
    return error;
}

static struct error open_process(struct fork *fork)
{
    const struct scenario *scenario = &fork->parts[0].scenario;
    const struct process_options options = {.command = "the recorded decisions",
                                            .answers = {fork->decisions.bytes, fork->decisions.length},
                                            .cluster = scenario->cluster,
                                            .queues = job_source_queues(fork->source),
                                            .policy = text_of(scenario->policy_text),
                                            .gangs_are_whole = (scenario->policy.guarantees & GUARANTEE_GANG) != 0,
                                            .sharing = &scenario->policy,
                                            .stop = fork->config.stop};
    return process_open(&fork->process, &options);
}

static bool is_stopped(const struct fork *fork)
{
    return fork->config.stop != NULL && *fork->config.stop != 0;
}

struct error fork_replay(struct fork *fork, const struct fork_how *how)
{
    const struct run_facts *facts = &fork->record.facts;
    const struct scenario *first = &fork->parts[0].scenario;
    TRY(scenario_open(first, &fork->source));
    job_source_keep_arrivals(fork->source);
    fork->replayed = (struct fork_rows){.from = fork->record.manifest.fork.at,
                                        .until = fork->at < facts->end ? fork->at : facts->end};
    fork->replay_sink = (struct record_sink){.self = &fork->replayed, .on_job = count_row};
    fork->config = scenario_engine(first, fork->source);
    fork->config.sinks = &fork->replay_sink;
    fork->config.sink_count = 1;
    fork->config.shows_later = true;
    fork->config.is_checked = how->is_checked;
    fork->config.on_end = how->on_end;
    fork->config.end_self = how->end_self;
    fork->config.stop = how->stop;
    fork->config.on_progress = how->on_progress;
    fork->config.progress_self = how->progress_self;
    if (how->until > 0 && how->until < first->world.end)
        fork->config.world.end = how->until;
    if (fork->decisions.length > 0) {
        TRY(open_process(fork));
        fork->config.decider = process_decider(fork->process);
    }
    TRY(engine_open(&fork->engine, &fork->config, &fork->result));
    for (uint32_t p = 0; p + 1 < fork->part_count && !is_stopped(fork); p++) {
        TRY(engine_replay(fork->engine, fork->parts[p].until));
        TRY(adopt(fork->engine, &fork->parts[p + 1].scenario));
    }
    TRY(engine_replay(fork->engine, fork->at));
    return is_stopped(fork) ? ERROR_OK : check_rows(fork);
}

struct error fork_go_on(struct fork *fork, const struct scenario *scenario, const struct record_sink *sinks,
                        size_t sink_count)
{
    if (fork_adopts(fork, scenario) && !is_stopped(fork))
        TRY(adopt(fork->engine, scenario));
    engine_show(fork->engine, sinks, sink_count);
    return engine_finish(&fork->engine);
}

/* ---- The record of the fork ---- */

static struct result_before before_of(const struct fork *fork, uint32_t part)
{
    const struct scenario *scenario = &fork->parts[part].scenario;
    const bool is_last = part + 1 == fork->part_count;
    return (struct result_before){.until = is_last ? fork->at : fork->parts[part].until,
                                  .policy = scenario->policy_text,
                                  .plugins = fork->parts[part].plugins,
                                  .is_outside = is_last && fork->decisions.length > 0};
}

struct result_fork fork_told(const struct fork *fork, const struct scenario *scenario, struct result_before *before)
{
    const struct result_manifest *manifest = &fork->record.manifest;
    const bool adopts = fork_adopts(fork, scenario);
    const uint32_t count = fork->part_count - !adopts;
    for (uint32_t p = 0; p < count; p++)
        before[p] = before_of(fork, p);
    return (struct result_fork){.fingerprint = manifest->fingerprint,
                                .at = fork->at,
                                .is_adopted = adopts,
                                .before = before,
                                .before_count = count};
}

void fork_release(struct fork *fork)
{
    engine_drop(&fork->engine);
    error_release(&fork->result.stall);
    process_close(&fork->process);
    job_source_close(fork->source);
    for (uint32_t p = 0; p < fork->part_count; p++) {
        scenario_release(&fork->parts[p].scenario);
        free(fork->parts[p].plugins);
    }
    mem_free(fork->parts);
    buffer_release(&fork->decisions);
    result_release(&fork->record);
    *fork = (struct fork){0};
}
