/* tests/support/golden.h -- a text against the file that keeps what it was before.  WINDTUNNEL_GOLDEN_UPDATE=1 (make
 * golden-update) writes the file anew.
 *
 * A text of hashes says that something changed, not where.  Trails say where.  A second file keeps a line per run, with
 * one character per step of it (a decision, a row, an edit), drawn from a hash of the run up to that step.
 *
 *   struct golden_trails trails = {0};
 *   golden_trails_begin(&trails, "kai/busy", "3");      the run kai/busy/3; its steps follow
 *   golden_trails_step(&trails, hash_of_the_run_so_far);
 *   ...
 *   struct golden_difference first;
 *   bool differs = golden_differs("tests/golden/sched_runs.txt", &told);
 *   if (golden_trails_differ("tests/golden/sched_trails.txt", &trails, &first))
 *       ... play the run first.run again, and print what it does in its step first.step ...
 *   assert_false(differs);
 *
 * Law: the step that is named is the first whose hash differs, or, once in 64 differences, one after it: two hashes may
 * draw the same character.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdint.h>

#include "base/buffer.h"

/* Whether the text is other than the file, after printing the lines that are.  Takes the text. */
bool golden_differs(const char *path, struct buffer *told);

/* Fails the test where golden_differs. */
void golden_compare(const char *path, struct buffer *told);

struct golden_trails {
    struct buffer text;
    char group[96];
    uint32_t steps; /* of the run that was begun last */
};                  /* {0} is empty */

/* A run `GROUP/NAME`.  name: without a slash.  Runs of one group follow each other. */
void golden_trails_begin(struct golden_trails *trails, const char *group, const char *name);
void golden_trails_step(struct golden_trails *trails, uint64_t hash);
void golden_trails_release(struct golden_trails *trails);

struct golden_difference {
    char run[128];                /* the first run that differs */
    uint32_t step;                /* its first step that differs, from 1; 0: there was no such run, or is none now */
    uint32_t steps_before, steps; /* steps of that run */
    uint32_t runs_differing, run_count;
};

/* Whether any trail is other than in the file; prints how many are, and the first.  Takes the trails. */
bool golden_trails_differ(const char *path, struct golden_trails *trails, struct golden_difference *first);

/* Prints how to see all that the run does: this program, with the run as its argument. */
void golden_print_replay(const char *run);

/* Splits the name of a run at its last slash: "kai/busy/3" into "kai/busy" and "3".  NULL: it has none. */
const char *golden_split_run(char *run);

#endif
