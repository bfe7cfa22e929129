#include "studies/run/fork.h"

#include <string.h>

#include "reports/record_check.h"
#include "reports/view.h"
#include "studies/run/record_gate.h"

/* A duration as it can be typed: whole days, hours or seconds. */
static void write_time(struct buffer *out, time_ns at)
{
    const int64_t hour = 3600 * TIME_NS_PER_S, day = 24 * hour;
    const int64_t unit = at % day == 0 ? day : at % hour == 0 ? hour : TIME_NS_PER_S;
    buffer_scaled(out, at / unit * TIME_NS_PER_S + at % unit, TIME_NS_PER_S);
    buffer_string(out, unit == day ? "d" : unit == hour ? "h" : "s");
}

static struct error no_moment(const struct fork *fork, time_ns at)
{
    struct buffer wanted = {0}, has = {0};
    write_time(&wanted, at);
    for (uint32_t i = 0; i < fork->list.count; i++) {
        buffer_string(&has, i == 0 ? "; it has " : ", ");
        write_time(&has, fork->list.moments[i].at);
    }
    struct error error = error_new(ERROR_DATA, "the record %s has no moment at %s%s", fork->folder,
                                   buffer_c_string(&wanted), buffer_c_string(&has));
    error_set_hint(&error, "make one: windtunnel run SCENARIO --save-at %s --out %s", buffer_c_string(&wanted),
                   fork->folder);
    buffer_release(&wanted);
    buffer_release(&has);
    return error;
}

static bool lists_moments(const struct result_manifest *manifest)
{
    for (size_t i = 0; i < manifest->file_count; i++)
        if (strcmp(manifest->files[i].name, MOMENT_FILE) == 0)
            return true;
    return false;
}

static struct error open_record(struct fork *fork)
{
    struct json_doc *doc;
    struct error error = record_check_open(&doc, fork->folder);
    if (error_is(error)) {
        error_set_hint(&error, "a fork begins in the folder of a record, which `windtunnel run SCENARIO --out` makes");
        return error;
    }
    error = result_read_doc(&fork->record, doc);
    json_doc_free(doc);
    return error;
}

static struct error open_moment(struct fork *fork, time_ns at, const char *version)
{
    const struct result_manifest *manifest = &fork->record.manifest;
    if (!lists_moments(manifest))
        return no_moment(fork, at);
    if (strcmp(manifest->version, version) != 0) {
        struct error error = error_new(ERROR_DATA, "the record %s is of version %s of Windtunnel, and this is %s",
                                       fork->folder, manifest->version, version);
        error_set_hint(&error, "run its scenario again with --save-at");
        return error;
    }
    TRY(moment_list_read(&fork->list, fork->folder));
    TRY(record_check_digest(fork->folder, manifest, MOMENT_FILE, fork->list.digest));
    fork->moment = moment_list_find(&fork->list, at);
    return fork->moment != NULL ? ERROR_OK : no_moment(fork, at);
}

struct error fork_open(struct fork *fork, const char *folder, time_ns at, const char *version)
{
    *fork = (struct fork){.folder = folder};
    TRY(open_record(fork));
    struct error error = open_moment(fork, at, version);
    if (error_is(error))
        fork_release(fork);
    return error;
}

/* ---- The scenarios ---- */

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
    struct scenario before = {0};
    record_gate_init(&gate, fork->folder, &fork->record, options);
    struct scenario_options own = *options, alone = {.plugins = options->plugins};
    own.text = alone.text = fork->record.manifest.scenario_json;
    own.gate = alone.gate = &gate.gate;
    struct error error = scenario_load(scenario, &own);
    if (!error_is(error))
        error = scenario_load(&before, &alone);
    record_gate_release(&gate);
    if (!error_is(error))
        error = check_keys(&before, scenario);
    if (!error_is(error))
        error = check_sharing(&before, scenario);
    scenario_release(&before);
    return error;
}

void fork_release(struct fork *fork)
{
    result_release(&fork->record);
    moment_list_release(&fork->list);
    *fork = (struct fork){0};
}
