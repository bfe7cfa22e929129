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

#include "reports/show.h"
#include "studies/comparison/verdicts.h"

struct comparison_show {
    bool is_all;                                 /* list all metrics of the whole run and of all cuts */
    const char *winner_metric;                   /* by which keys of cuts win and lose; one that cuts have */
    const struct verdicts *verdicts;             /* what the verdict depends on; NULL: it was not asked */
    void (*open)(void *self, struct show *show); /* first lines and sections of the caller's; NULL: none */
    void *open_self;
};

enum comparison_format {
    COMPARISON_TEXT,
    COMPARISON_MARKDOWN,
    COMPARISON_JSON,
    COMPARISON_JUNIT,
    COMPARISON_GITHUB,
};
extern const char *const comparison_format_names[]; /* NULL-terminated */

/* Where the page will be, and the records that it draws and leads to. */
struct comparison_page {
    const char *folder;                        /* that the page will be in; links are relative to it */
    const char *records[COMPARISON_SIDES_MAX]; /* comparison_shown_run, for the curves; NULL: none */
    const char *folders[COMPARISON_SIDES_MAX]; /* the name of a record that will be in `folder`; NULL: it stays */
};

/* The comparison as a document, to be freed with show_free.  page NULL: for words alone.  Every value on the page is
 * one of COMPARISON_JSON, or the mean of its values by seed. */
struct show *comparison_show_new(const struct comparison *comparison, const struct comparison_show *how,
                                 const struct comparison_page *page);

void comparison_write(const struct comparison *comparison, enum comparison_format format,
                      const struct comparison_show *show, struct buffer *out);

#endif
