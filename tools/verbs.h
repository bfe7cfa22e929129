/* tools/verbs.h -- the verbs there are, and what all of them need. */
#ifndef TOOLS_VERBS_H
#define TOOLS_VERBS_H

#include "base/buffer.h"
#include "base/error.h"
#include "sim/scenario/scenario.h"
#include "tools/args.h"

extern const struct args_verb verb_run, verb_compare, verb_validate, verb_validate_model, verb_report,
    verb_topology_show, verb_topology_mig, verb_policy_list, verb_policy_show, verb_policy_check, verb_trace_info,
    verb_trace_validate, verb_trace_convert, verb_trace_freeze, verb_trace_fit, verb_trace_synth, verb_trace_compare,
    verb_case, verb_decide, verb_plan, verb_explain, verb_metrics, verb_export, verb_schema, verb_sweep_plan,
    verb_sweep_run, verb_sweep_resume, verb_sweep_work, verb_sweep_status, verb_sweep_merge, verb_sweep_submit,
    verb_sweep_report, verb_bundle, verb_reproduce;

/* The options that name plug-ins; see plugin_options. */
#define PLUGIN_OPTIONS                                                                                                 \
    {.name = "plugin",                                                                                                 \
     .metavar = "FILE.so",                                                                                             \
     .help = "Load a policy of your own (docs/policies.md), which the policy may then name.",                          \
     .is_repeatable = true},                                                                                           \
    {                                                                                                                  \
        .name = "plugin-timeout", .metavar = "SECONDS",                                                                \
        .help = "CPU time after which a scheduling cycle with plug-ins is given up; 60."                               \
    }

/* For records (studies/run/record_gate.h). */
#define TRUST_OPTION                                                                                                   \
    {                                                                                                                  \
        .name = "trust", .metavar = "FOLDER",                                                                          \
        .help = "A record may open the data files that it names: with its own folder here all of them, with another "  \
                "folder those in it. Each must be as it was. Plug-ins of a record are loaded only if --plugin names "  \
                "them.",                                                                                               \
        .is_repeatable = true                                                                                          \
    }

/* The options that name a scenario; see scenario_options. */
#define SCENARIO_OPTIONS                                                                                               \
    {.name = "trace",                                                                                                  \
     .letter = 't',                                                                                                    \
     .metavar = "FILE",                                                                                                \
     .help = "Replay this trace (plain or zstd) in place of the scenario's workload."},                                \
        {.name = "format",                                                                                             \
         .letter = 'f',                                                                                                \
         .metavar = "FORMAT",                                                                                          \
         .help = "Its format (docs/traces.md). Guessed where possible."},                                              \
        {.name = "cluster",                                                                                            \
         .letter = 'c',                                                                                                \
         .metavar = "FILE",                                                                                            \
         .help = "The cluster: JSON, or a node list with openb's columns."},                                           \
        {.name = "policy",                                                                                             \
         .letter = 'p',                                                                                                \
         .metavar = "PRESET|FILE",                                                                                     \
         .help = "The policy: a preset's name, or a file if it holds '/' or ends in .json."},                          \
        {.name = "title", .metavar = "TEXT", .help = "The title of report.html."},                                     \
        {.name = "seed",                                                                                               \
         .letter = 's',                                                                                                \
         .metavar = "N",                                                                                               \
         .help = "The seed of all chance; the same seed gives the same run."},                                         \
        PLUGIN_OPTIONS,                                                                                                \
    {                                                                                                                  \
        .name = "set", .metavar = "PATH=VALUE",                                                                        \
        .help = "Override a field of the scenario: names joined by dots, an element of an array "                      \
                "by its name or "                                                                                      \
                "index. Applied in order.",                                                                            \
        .is_repeatable = true                                                                                          \
    }

/* The prefix that the manual page names for files; `make install` replaces it by its own, and `windtunnel help` shows
 * where the files really are. */
#define TOOL_PREFIX "/usr/local"
enum { TOOL_FILES = 2 }; /* the data folder and the folder of the documents: tools/installed.h */
extern const struct args_command tool_command;
extern const struct args_value tool_values[]; /* what PRESET and the like stand for; ends with a NULL word */

/* The kinds of files that `windtunnel schema` knows; NULL past the end. */
const char *schema_kind_name(size_t index);
struct schema *schema_kind_learn_new(size_t index); /* tools/schema.h */

struct scenario_options tool_scenario_options(const struct args *args);
void tool_trust(const struct args *args, struct scenario_options *options); /* TRUST_OPTION */
struct error tool_fork_at(const char *text, time_ns *at) MUST_CHECK;        /* the value of --fork-at */
struct plugin_options tool_plugin_options(const struct args *args);

/* A policy file that uses the plug-in, with all its parameters, as a start.  path: of its shared object. */
void tool_plugin_policy(struct buffer *out, const struct windtunnel_plugin *plugin, const char *path);

/* The program's arguments, NULL-terminated, without its name. */
char *const *tool_arguments(void);
void tool_set_arguments(char *const *arguments);

/* Print the error to stderr and release it; returns its exit status. */
int tool_fail(struct error *error);

/* Print the buffer to stdout and release it; returns 0, or the status of a failed write. */
int tool_print(struct buffer *out);

/* All that a verb writes for a person goes through these: names from traces, scenarios and records may hold characters
 * that control a terminal, and are written without them (buffer_shown).
 * tool_show: write the buffer to a stream; false and errno if that fails.  tool_say: to standard error. */
bool tool_show(FILE *stream, const struct buffer *out);
void tool_say(const char *format, ...) LIKE_PRINTF(1, 2);

#endif
