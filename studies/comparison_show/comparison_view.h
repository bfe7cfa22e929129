/* studies/comparison_show/comparison_view.h -- what the formats share; for this room only. */
#ifndef STUDIES_COMPARISON_SHOW_COMPARISON_VIEW_H
#define STUDIES_COMPARISON_SHOW_COMPARISON_VIEW_H

#include "studies/comparison_show/comparison_show.h"

/* The differences of a side that are shown, what moved most first (differences_sort, by the sizes of
 * reports/difference.h): of the whole run, or with is_all of the cuts too.
 * The caller frees it with mem_free. */
struct difference *comparison_sorted_new(const struct comparison *comparison, size_t side, bool is_all, size_t *count);

/* The rows of a sorted list that are shown, from its start: those that clearly moved, or if none did, those that seem
 * to have moved; all of them if as many may be shown.  *clear: those that clearly moved. */
size_t comparison_shown_count(const struct difference *list, size_t count, size_t shown_max, size_t *clear);

enum { COMPARISON_MARKS = 6 };
extern const char comparison_marks[]; /* "+-*~=?" */
/* How many differences have each mark; cut NULL: of the whole run, "": all. */
void comparison_count_marks(const struct comparison *comparison, size_t side, const char *cut, const char *metric,
                            size_t counts[COMPARISON_MARKS]);

/* The keys of a cut by one metric, the largest clear gains first and the largest clear losses last. */
const struct difference **comparison_cut_new(const struct comparison *comparison, size_t side, const char *cut,
                                             const char *metric, size_t *count);

/* Are there tenants other than the queues themselves? */
bool comparison_has_tenants(const struct comparison *comparison);

/* Append "4h 12m", "87.3 %" or "42": a value of the metric. */
void comparison_write_value(const struct difference *difference, double value, struct buffer *out);

/* Append "5 seeds (1 to 5)", "this replay alone, n = 1", ... */
void comparison_write_seeds(const struct comparison *comparison, struct buffer *out);

/* Append which run the record, the curves and the first decision are of: "with seed 1", "as it is". */
void comparison_write_shown(const struct comparison *comparison, struct buffer *out);

/* Append the name of the base, and the program that runs it if that is another one. */
void comparison_write_base(const struct comparison *comparison, struct buffer *out);

/* Append the verdict in a line without its end: "Verdict: failed: 1 of 3 gates failed". */
void comparison_write_verdict(const struct comparison *comparison, struct buffer *out);

/* Append the last lines of what a run said, each behind `indent`; nothing if it said nothing. */
void comparison_write_said(const struct comparison_run *run, const char *indent, struct buffer *out);

/* A line of options->proposal as a sentence, without a line end. */
struct proposal_line;
void comparison_write_change(const struct comparison *comparison, const struct proposal_line *line, struct buffer *out);

/* What a change changes, and the files that its sides read; nothing without one. */
void comparison_add_changes(struct show *show, const struct comparison *comparison);
void comparison_add_inputs(struct show *show, const struct comparison *comparison);
void comparison_write_change_json(const struct comparison *comparison, struct buffer *out);

/* The run that failed with this index among them; NULL past the end.  Replays as they are come last. */
const struct comparison_run *comparison_failed(const struct comparison *comparison, size_t index, size_t *side);

/* The first run of the side that is done; NULL: none is. */
const struct comparison_run *comparison_first_run(const struct comparison *comparison, size_t side);

/* Append where the candidate of this name first decided otherwise than the base, each line behind `indent`: the heading
 * "The first decision of mine that differs, with seed 1" is the caller's.  False: nothing is known, nothing is written,
 * since it was not sought. */
bool comparison_write_first(const struct comparison *comparison, size_t side, const char *indent, struct buffer *out);

/* The side of this name; SIZE_MAX: there is none. */
size_t comparison_find_side(const struct comparison *comparison, const char *name);

/* Of a comparison that is shaken, the replays as they are beside the shaken ones. */
void comparison_add_replays(struct show *show, const struct comparison *comparison);

/* Of each side that has failed its first run that did, with its last words. */
void comparison_add_failed_sides(struct show *show, const struct comparison *comparison);

/* Sections of the page: the sides with their settings and records; what made the runs. */
void comparison_add_sides(struct show *show, const struct comparison *comparison, const struct comparison_page *page);
void comparison_add_origin(struct show *show, const struct comparison *comparison);

void comparison_write_json(const struct comparison *comparison, const struct comparison_show *how, struct buffer *out);
void comparison_write_junit(const struct comparison *comparison, struct buffer *out);
void comparison_write_github(const struct comparison *comparison, struct buffer *out);

#endif
