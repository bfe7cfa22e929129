/* studies/comparison/change.h -- a change of a folder that holds a scenario: two sides, what differs, who judges.
 *
 *   base/scenario.json   base/policy.json   base/gates.json      as it was: the merge base of a pull request
 *   scenario.json        policy.json        gates.json           as it is with the change
 *
 *   struct change change;
 *   TRY(change_open(&change, &(struct change_options){.folder = "base", .scenario = {.path = "scenario.json"},
 *                                                     .gates = "gates.json"}));
 *   options.sides = change.sides, options.side_count = 2, options.gates = &change.gates, options.change = &change;
 *   TRY(comparison_run(&comparison, &options));
 *   change_release(&change);                                    (on error too)
 *
 * Laws
 *  1. Each side has its own cluster, queues, policy, plug-ins and world.
 *  2. Both sides run the same jobs: the workload of the change, or with `runs_base_jobs` that of the base.  A load that
 *     is relative to the cluster is that of the cluster of these jobs.
 *  3. What the base's gates, seeds and alpha are, judges.  What the change does to them is a line.  Gates that the base
 *     does not have are in `new_gates`: they are shown, and judge nothing.
 *  4. What differs is a line, by path and value; of a file that is not read as settings (a plug-in, a trace) the value
 *     is its digest.  Without a line of CHANGE_OF_SIDES both sides make the same runs.
 *
 * It does not: run anything, or know a version control system.
 */
#ifndef STUDIES_COMPARISON_CHANGE_H
#define STUDIES_COMPARISON_CHANGE_H

#include "studies/comparison/comparison.h"

struct change_options {
    const char *folder;               /* of the base */
    struct scenario_options scenario; /* of the change; its path is relative to both folders */
    const char *gates;                /* a file, relative to both folders; NULL: the gates of the scenarios */
    bool runs_base_jobs;              /* both sides run the jobs of the base */
};

enum change_kind {
    CHANGE_OF_SIDES, /* the sides may make other runs */
    CHANGE_OF_JOBS,
    CHANGE_OF_RULES, /* of a gate, the seeds, alpha */
    CHANGE_OF_FORM,  /* of a file of which nothing that is read differs */
};

struct change_line {
    enum change_kind kind;
    const char *path;           /* "queues.research.quota_gpus"; of a gate what it selects */
    const char *before, *after; /* NULL: not set */
    const struct gate *gate;    /* of the change, if it has one */
};

struct change_input {
    const char *role, *path; /* as in the manifest of a record (reports/result.h); relative to the side's folder */
    const char *digests[2];  /* base, change: 32 hex digits; NULL: that side does not read it */
};

enum { CHANGE_SIDES = 2 };

struct change {
    struct comparison_side_options sides[CHANGE_SIDES]; /* "base", "change" */
    struct change_line *lines;
    size_t line_count, line_capacity;
    struct change_input *inputs;
    size_t input_count, input_capacity;
    bool runs_base_jobs;
    struct gates gates;     /* of the base; each with its place in the file of the change, if that has it too */
    struct gates new_gates; /* of the change alone */
    struct arena arena;     /* owns the texts */
};

/* ERROR_CONFIG and ERROR_IO as scenario_load; ERROR_USAGE if the folder is the one of the change. */
struct error change_open(struct change *change, const struct change_options *options) MUST_CHECK;
void change_release(struct change *change);

size_t change_count(const struct change *change, enum change_kind kind);

/* Append "queues.research.quota_gpus: 48 -> 32", without a line end. */
void change_write(const struct change_line *line, struct buffer *out);

#endif
