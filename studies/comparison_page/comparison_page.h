/* studies/comparison_page/comparison_page.h -- a comparison as one page without network, script or other file.
 *
 * From top to bottom: the verdict, the sides, headline numbers side by side, curves of the sides over each other, and
 * for each candidate what moved, who won and who lost, and the first decision that differs; then what made the runs.
 *
 *   struct comparison_page page = {.folder = "out/two", .records = {"out/fifo", "out/windtunnel"}, .show = &show};
 *   comparison_page_write(&comparison, &page, &out);
 *
 * Law: every value is one of COMPARISON_JSON, or the mean of its values by seed; it stands in a <data> element to the
 * last bit.  Names are escaped.  The bytes depend on the comparison, the records and the options only (and on gnuplot's
 * version).  What is partial or incomplete is said on top.
 */
#ifndef STUDIES_COMPARISON_PAGE_COMPARISON_PAGE_H
#define STUDIES_COMPARISON_PAGE_COMPARISON_PAGE_H

#include "reports/plot.h"
#include "studies/comparison_show/comparison_show.h"

struct comparison_page {
    const char *folder;                        /* that the page will be in; links are relative to it */
    const char *records[COMPARISON_SIDES_MAX]; /* of the run with the first seed, for the curves; NULL: none */
    const char *folders[COMPARISON_SIDES_MAX]; /* the name of a record that will be in `folder`; NULL: it stays */
    const struct comparison_show *show;
    struct plot_tool tool; /* {0}: the defaults */
};

void comparison_page_write(const struct comparison *comparison, const struct comparison_page *page, struct buffer *out);

#endif
