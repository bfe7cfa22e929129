/* sim/scenario/scenario_files.h -- the fields of a scenario that name files.
 *
 *   {"cluster": "c.json", "workload": {"trace": "jobs.csv"}, "plugins": ["mine.so"]}
 *
 *   field            role
 *   cluster          cluster
 *   world.capacity   capacity
 *   workload.trace   trace
 *   plugins.0        plugin
 *   workload.tables.job  table
 *
 * The parts of workload.merge are workloads too: workload.merge.0.trace.  A pool's hwloc file is not in the list: it
 * is found from the file that names it, and what it tells takes its place (topologies/cluster_load.h).
 *
 * It is for relative paths and for bundles, which change them.  What may be opened is no matter of this list: each name
 * passes the gate (scenario.h).  A field that holds something else, such as the object itself, names no file.
 */
#ifndef SIM_SCENARIO_SCENARIO_FILES_H
#define SIM_SCENARIO_SCENARIO_FILES_H

#include "base/json.h"

struct scenario_file {
    const char *role;  /* of such an input in the manifest of a record (reports/result.h) */
    const char *field; /* dotted, as json_doc_set takes it; borrowed during the call */
    const char *path;  /* borrowed; gone when the field is set */
};

typedef struct error scenario_file_fn(void *self, const struct scenario_file *file);

/* Call `fn` for each such field of a scenario's document, or of a policy's own, in a fixed order; it may set that
 * field.  An error ends the walk. */
struct error scenario_files_each(const struct json_doc *scenario, scenario_file_fn *fn, void *self) MUST_CHECK;

/* Make the paths that are not absolute relative to the present folder.  folder: that of the file in which they stand;
 * "" or ends in '/'. */
struct error scenario_files_rebase(struct json_doc *scenario, const char *folder) MUST_CHECK;
struct error scenario_files_rebase_policy(struct json_doc *policy, const char *folder) MUST_CHECK;

/* Set a field to a string, whatever it looks like. */
struct error scenario_files_set(struct json_doc *doc, const char *field, const char *value) MUST_CHECK;

/* Replace the names of workload models (ready ones, too) and the paths of maps of columns by their content. */
struct error scenario_files_expand(struct json_doc *scenario) MUST_CHECK;

/* Read and parse a file of JSON.  digest: NULL, or takes that of the file. */
struct error scenario_files_read(struct json_doc **doc, const char *path, char digest[33]) MUST_CHECK;

#endif
