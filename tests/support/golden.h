/* tests/support/golden.h -- compares a text with the file that holds its earlier state.  WINDTUNNEL_GOLDEN_UPDATE=1
 * (make golden-update) writes the file again.
 *
 * A text of hashes tells that something changed, but not where; trails tell where.  A second file has a line per run,
 * with one character per step of the run (a decision, a row, an edit), computed from a hash of the run up to that step.
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
 * Law: the named step is the first one whose hash differs, or once in 64 times a later one, because two hashes may give
 * the same character.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdint.h>

#include "base/buffer.h"

/* Does the text differ from the file?  Prints the lines that do.  Takes ownership of the text. */
bool golden_differs(const char *path, struct buffer *told);

/* Fails the test if golden_differs. */
void golden_compare(const char *path, struct buffer *told);

struct golden_trails {
    struct buffer text;
    char group[96];
    uint32_t steps; /* of the run begun last */
};                  /* {0} is empty */

/* A run `GROUP/NAME`.  name: without a slash.  Runs of one group follow each other. */
void golden_trails_begin(struct golden_trails *trails, const char *group, const char *name);
void golden_trails_step(struct golden_trails *trails, uint64_t hash);
void golden_trails_release(struct golden_trails *trails);

struct golden_difference {
    char run[128];                /* the first run that differs */
    uint32_t step;                /* its first step that differs, from 1; 0: the run is new, or is gone */
    uint32_t steps_before, steps; /* steps of that run */
    uint32_t runs_differing, run_count;
};

/* Does any trail differ from the file?  Prints how many do, and the first one.  Takes ownership of the trails. */
bool golden_trails_differ(const char *path, struct golden_trails *trails, struct golden_difference *first);

/* Prints the command that shows all steps of the run: this program, with the run as its argument. */
void golden_print_replay(const char *run);

/* Splits the name of a run at its last slash: "kai/busy/3" into "kai/busy" and "3".  NULL: it has no slash. */
const char *golden_split_run(char *run);

#endif
