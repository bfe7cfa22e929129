/* studies/comparison/proposal.h -- a proposed change of a folder that holds a scenario: two sides, what differs, who
 * judges.
 *
 *   base/scenario.json   base/policy.json   base/gates.json      as it was: the merge base of a pull request
 *   scenario.json        policy.json        gates.json           as it is with the change
 *
 *   struct proposal proposal;
 *   TRY(proposal_open(&proposal, &(struct proposal_options){.folder = "base", .scenario = {.path = "scenario.json"},
 *                                                         .gates = "gates.json"}));
 *   options.sides = proposal.sides, options.side_count = PROPOSAL_SIDES;
 *   options.gates = &proposal.gates, options.proposal = &proposal;
 *   TRY(comparison_run(&comparison, &options));
 *   proposal_release(&proposal);                                (on error too)
 *
 * Laws
 *  1. Each side has its own cluster, queues, policy, plug-ins and world.
 *  2. Both sides run the same jobs: the workload of the change, or with `runs_base_jobs` that of the base.  A load that
 *     is relative to the cluster is that of the cluster of these jobs.
 *  3. What the base's gates, seeds and alpha are, judges.  What the change does to them is a line.  Gates that the base
 *     does not have are in `new_gates`: they are shown, and judge nothing.
 *  4. What differs is a line, by path and value; of a file that is not read as settings (a plug-in, a trace) the value
 *     is its digest.  Without a line of PROPOSAL_OF_SIDES both sides make the same runs.
 *
 * It does not: run anything, or know a version control system.
 */
#ifndef STUDIES_COMPARISON_PROPOSAL_H
#define STUDIES_COMPARISON_PROPOSAL_H

#include "studies/comparison/comparison.h"

struct proposal_options {
    const char *folder;               /* of the base */
    struct scenario_options scenario; /* of the change; its path is relative to both folders */
    const char *gates;                /* a file, relative to both folders; NULL: the gates of the scenarios */
    bool runs_base_jobs;              /* both sides run the jobs of the base */
};

enum proposal_kind {
    PROPOSAL_OF_SIDES, /* the sides may make other runs */
    PROPOSAL_OF_JOBS,
    PROPOSAL_OF_RULES, /* of a gate, the seeds, alpha */
    PROPOSAL_OF_FORM,  /* of a file of which nothing that is read differs */
};

struct proposal_line {
    enum proposal_kind kind;
    const char *path;           /* "queues.research.quota_gpus"; of a gate what it selects */
    const char *before, *after; /* NULL: not set */
    const struct gate *gate;    /* of the change, if it has one */
};

struct proposal_input {
    const char *role, *path; /* as in the manifest of a record (reports/result.h); relative to the side's folder */
    const char *digests[2];  /* base, change: 32 hex digits; NULL: that side does not read it */
};

enum { PROPOSAL_SIDES = 2 };

struct proposal {
    struct comparison_side_options sides[PROPOSAL_SIDES]; /* "base", "change" */
    struct proposal_line *lines;
    size_t line_count, line_capacity;
    struct proposal_input *inputs;
    size_t input_count, input_capacity;
    bool runs_base_jobs;
    struct gates gates;     /* of the base; each with its place in the file of the change, if that has it too */
    struct gates new_gates; /* of the change alone */
    struct arena arena;     /* owns the texts */
};

/* ERROR_CONFIG and ERROR_IO as scenario_load; ERROR_USAGE if the folder is the one of the change. */
struct error proposal_open(struct proposal *proposal, const struct proposal_options *options) MUST_CHECK;
void proposal_release(struct proposal *proposal);

size_t proposal_count(const struct proposal *proposal, enum proposal_kind kind);

/* Append "queues.research.quota_gpus: 48 -> 32", without a line end. */
void proposal_write(const struct proposal_line *line, struct buffer *out);

#endif
