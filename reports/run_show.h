/* reports/run_show.h -- a run as a document: what `windtunnel run` prints for a planner, and report.html.
 *
 * What was run; service levels; GPU time with allocated and SM-active side by side, and by cause; waits by class, by
 * reason and by queue; what communication cost, if a job declares any; what became of the jobs, and what evictions
 * cost.  On the page also the headline numbers as tiles, curves over time, tables of all cuts, and what made the run.
 *
 *   struct show *show = run_show_new(metrics, &(struct run_show){.cluster = "dgx-h100-500", .policy = "fifo"});
 *   show_text(show, &out);
 *   show_free(show);
 */
#ifndef REPORTS_RUN_SHOW_H
#define REPORTS_RUN_SHOW_H

#include "reports/metrics.h"
#include "reports/result.h"
#include "reports/show.h"

enum { RUN_QUEUES_SHOWN = 10, RUN_CLASSES_SHOWN = 12, RUN_QUEUES_MAX = 200 /* on the page */ };

struct run_show {
    const char *title;                      /* NULL: "Windtunnel run" */
    const char *cluster;                    /* NULL: not shown */
    const char *policy;                     /* NULL: not shown */
    const char *const *arguments;           /* the command line, NULL-terminated; NULL: not shown */
    const struct service_levels *levels;    /* NULL: none */
    const struct assumed_list *assumed;     /* NULL: not shown */
    const struct result_manifest *manifest; /* NULL: no page is made of it */
    bool is_activity_assumed;               /* the workload is synthesized: its activity was not measured */
};

struct show *run_show_new(const struct metrics *metrics, const struct run_show *options);

/* Write the page to FOLDER/report.html; the folder must exist. */
struct error run_show_write(const struct show *show, const char *folder) MUST_CHECK;

#endif
