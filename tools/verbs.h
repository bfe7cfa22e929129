/* tools/verbs.h -- the verbs there are, and what all of them need. */
#ifndef TOOLS_VERBS_H
#define TOOLS_VERBS_H

#include "base/buffer.h"
#include "base/embedded.h"
#include "base/error.h"
#include "sim/scenario/scenario.h"
#include "tools/args.h"

/* What runs each of the commands of tools/commands.txt, from which come the tables below: the verbs, what exit statuses
 * mean, where files are. */
args_run_fn verb_run, verb_compare, verb_validate, verb_validate_model, verb_report, verb_topology_show,
    verb_topology_mig, verb_policy_list, verb_policy_show, verb_policy_check, verb_trace_info, verb_trace_validate,
    verb_trace_convert, verb_trace_freeze, verb_trace_fit, verb_trace_synth, verb_trace_compare, verb_case, verb_decide,
    verb_plan, verb_explain, verb_metrics, verb_export, verb_schema, verb_sweep_plan, verb_sweep_run, verb_sweep_resume,
    verb_sweep_work, verb_sweep_status, verb_sweep_merge, verb_sweep_submit, verb_sweep_report, verb_bundle,
    verb_reproduce, verb_completion;
extern const struct args_verb *const tool_verbs[];
extern const struct args_example tool_exit_statuses[], tool_files[];
extern const struct embedded_text tool_completion_texts[]; /* scripts of tools/completions, by their shells */

/* tool_files: the data folder and the folder of the documents (tools/installed.h).  The manual page names them below
 * /usr/local, which `make install` replaces; `windtunnel help` shows where they really are. */
enum { TOOL_FILES = 2 };
extern const struct args_command tool_command;
extern const struct args_value tool_values[]; /* what PRESET and the like stand for; ends with a NULL word */

/* The kinds of files that `windtunnel schema` knows; NULL past the end. */
const char *schema_kind_name(size_t index);
struct schema *schema_kind_learn_new(size_t index); /* tools/schema.h */

struct scenario_options tool_scenario_options(const struct args *args);
void tool_trust(const struct args *args, struct scenario_options *options);
struct error tool_fork_at(const char *text, time_ns *at) MUST_CHECK; /* the value of --fork-at */
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
