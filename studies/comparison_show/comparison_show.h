/* studies/comparison_show/comparison_show.h -- a comparison for people and for programs.
 *
 *   text       a screen for a terminal: verdict, gates, what moved most, who won and who lost
 *   markdown   the same for a pull request
 *   json       everything: values by seed, differences, verdicts
 *   junit      JUnit XML: a test case for each gate and for each run that failed.  A gate that is inconclusive or not
 *              defined is skipped
 *   github     GitHub's workflow commands: ::error for a gate that failed or a run that did, ::warning for one that is
 *              inconclusive, ::notice if all passed
 *
 * Law: the bytes depend on the comparison and the options only.
 */
#ifndef STUDIES_COMPARISON_SHOW_COMPARISON_SHOW_H
#define STUDIES_COMPARISON_SHOW_COMPARISON_SHOW_H

#include "studies/comparison/comparison.h"

struct comparison_show {
    bool is_all;               /* list all metrics of the whole run and of all cuts */
    const char *winner_metric; /* by which keys of cuts win and lose; one that cuts have */
};

enum comparison_format {
    COMPARISON_TEXT,
    COMPARISON_MARKDOWN,
    COMPARISON_JSON,
    COMPARISON_JUNIT,
    COMPARISON_GITHUB,
};
extern const char *const comparison_format_names[]; /* NULL-terminated */

void comparison_write(const struct comparison *comparison, enum comparison_format format,
                      const struct comparison_show *show, struct buffer *out);

#endif
