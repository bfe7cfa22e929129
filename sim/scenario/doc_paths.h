/* sim/scenario/doc_paths.h -- names and paths of files in a scenario's document.
 *
 * Words: a dotted path is as in base/json.h.  A path of a file counts from the folder of the file in which it stands.
 */
#ifndef SIM_SCENARIO_DOC_PATHS_H
#define SIM_SCENARIO_DOC_PATHS_H

#include "base/json.h"

/* Set the value at the dotted path to a string, whatever it looks like. */
struct error doc_set_string(struct json_doc *doc, const char *path, const char *value) MUST_CHECK;

/* The string at the dotted path; borrowed; NULL: there is none. */
const char *doc_string(const struct json_doc *doc, const char *path);

/* Make the path of a file at the dotted path relative to the present folder.  folder: "" or ends in '/'. */
struct error doc_rebase(struct json_doc *doc, const char *folder, const char *path) MUST_CHECK;

/* The same for all files that the workload names, also in the parts of a merge. */
struct error doc_rebase_workload(struct json_doc *doc, const char *folder) MUST_CHECK;

/* Replace each model of a workload that is given by name or file by its content. */
struct error doc_expand_models(struct json_doc *doc) MUST_CHECK;

#endif
