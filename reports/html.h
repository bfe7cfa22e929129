/* reports/html.h -- report.html: the run as one page that needs no network, no script and no other file.
 *
 * Headline tiles, where the GPU time went, utilization over time, queue times as a distribution, queue length over
 * time, tables by class, tenant, queue, size and GPU model, and what made the run.  Every plot has a title, a
 * description and a table of its data; without gnuplot the tables stand alone and the page says so.
 *
 * Law: every name is escaped; the page forbids itself everything but its own styles (Content-Security-Policy); its
 * bytes depend on the arguments only (and on gnuplot's version).  At most HTML_QUEUES_MAX queues are listed.
 *
 *   TRY(html_write("out/run", metrics, &manifest, &(struct html_options){.cluster = "dgx-h100-500"}));
 */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "base/buffer.h"
#include "reports/metrics.h"
#include "reports/plot.h"
#include "reports/result.h"

#define HTML_FILE "report.html"

enum { HTML_QUEUES_MAX = 200 };

struct html_options {
    const char *title;            /* NULL: "Windtunnel run" */
    const char *cluster;          /* NULL: not shown */
    const char *policy;           /* NULL: not shown */
    const char *const *arguments; /* the command line, NULL-terminated; NULL: not shown */
    struct plot_tool tool;        /* {0}: the defaults */
};

/* Write the page as text.  options NULL: the defaults. */
void html_text(const struct metrics *metrics, const struct result_manifest *manifest,
               const struct html_options *options, struct buffer *out);

/* Write it to FOLDER/report.html; the folder must exist. */
struct error html_write(const char *folder, const struct metrics *metrics, const struct result_manifest *manifest,
                        const struct html_options *options) MUST_CHECK;

#endif
