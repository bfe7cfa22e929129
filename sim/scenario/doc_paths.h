/* sim/scenario/doc_paths.h -- paths in a scenario: those that its file names count from the file's folder.
 *
 *   TRY(doc_rebase(doc, "scenarios/", "workload", "trace"));        "jobs.csv" becomes "scenarios/jobs.csv"
 *
 * Laws: absolute paths stay, and so do all if the folder is "".  What is no string is left to its reader.
 * A place is named by one or two steps; the second may be NULL.
 */
#ifndef SIM_SCENARIO_DOC_PATHS_H
#define SIM_SCENARIO_DOC_PATHS_H

#include "base/json.h"

/* Set the value at the dotted path to a string, whatever it looks like. */
struct error doc_set_string(struct json_doc *doc, const char *path, const char *value) MUST_CHECK;

/* Borrowed; NULL: there is none. */
const char *doc_string_at(struct json_doc *doc, const char *first, const char *second);
json_t *doc_node_at(struct json_doc *doc, const char *first, const char *second);

/* Make the path at that place relative to the folder, which ends with a slash: one path; each of an array; each member
 * of an object, except those with a dot in their name. */
struct error doc_rebase(struct json_doc *doc, const char *folder, const char *first, const char *second) MUST_CHECK;
struct error doc_rebase_list(struct json_doc *doc, const char *folder, const char *first,
                             const char *second) MUST_CHECK;
struct error doc_rebase_members(struct json_doc *doc, const char *folder, const char *first,
                                const char *second) MUST_CHECK;

#endif
