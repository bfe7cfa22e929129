/* studies/comparison_page/comparison_page_inside.h -- the parts of the page of a comparison; for comparison_page*.c
 * only.  Each appends its part. */
#ifndef STUDIES_COMPARISON_PAGE_COMPARISON_PAGE_INSIDE_H
#define STUDIES_COMPARISON_PAGE_COMPARISON_PAGE_INSIDE_H

#include "reports/html_page.h"
#include "studies/comparison_page/comparison_page.h"
#include "studies/comparison_show/comparison_view.h"

/* Metrics and classes of interest that at least one side has. */
struct page_headline {
    const char *label; /* "Real use (SM-active)" */
    size_t row;        /* of the comparison */
    bool is_told;      /* in the words of a verdict */
};
enum { PAGE_HEADLINES_MAX = 40 };
size_t page_headlines(const struct comparison *comparison, struct arena *arena, struct page_headline *list);

/* The verdict in words; a table of headline numbers. */
void page_verdict(const struct comparison *comparison, const struct page_headline *headlines, size_t count,
                  struct buffer *out);
void page_numbers(const struct comparison *comparison, const struct page_headline *headlines, size_t count,
                  struct buffer *out);

void page_sides(const struct comparison *comparison, const struct comparison_page *page, struct buffer *out);
/* What made the runs: versions, seeds, fingerprints. */
void page_origin(const struct comparison *comparison, struct buffer *out);

/* What moved on this side, who won and who lost, and the first decision that differs. */
void page_candidate(const struct comparison *comparison, size_t side, const struct comparison_show *show,
                    struct buffer *out);

/* ---- what the parts share ---- */

/* "<td><data value="0.283">28.3 %</data>", without the end of the cell. */
void page_value(const struct difference *of, double value, struct buffer *out);
/* The difference: "<small class="met">+80.1 %</small>"; with its interval if has_interval, else
 * with a ~ where it is not clear. */
void page_difference(const struct difference *difference, bool has_interval, struct buffer *out);
/* "met", "unmet", "unknown": the class of what a mark means. */
const char *page_mark_class(char mark);

/* The first run of the side that is done; NULL: none is. */
const struct comparison_run *page_first_run(const struct comparison_side *side, size_t seed_count);

#endif
