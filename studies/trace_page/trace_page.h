/* studies/trace_page/trace_page.h -- a page about a trace, with plots: `windtunnel trace info --html`.
 *
 *   struct trace_page *page = trace_page_new();
 *   TRY(trace_page_read(page, source, cluster));          (reads the source to its end)
 *   struct show *show = trace_page_show_new(page, source, "jobs.csv", cluster);
 *   trace_page_free(page);
 *
 * It shows GPUs in demand over time (what all jobs would hold if each started when it was submitted) and by the record,
 * jobs over time and by the hour of the week, distributions of run times and recorded waits, sizes, outcomes, and the
 * queues and users that ask for most.
 *
 * Law: one reading; memory does not grow with the number of jobs, only with the hours, queues and users that they span.
 * Shares of jobs are exact at the points that are drawn.
 */
#ifndef STUDIES_TRACE_PAGE_TRACE_PAGE_H
#define STUDIES_TRACE_PAGE_TRACE_PAGE_H

#include "reports/show.h"
#include "workloads/readers/source.h"

struct trace_page; /* opaque */

struct trace_page *trace_page_new(void);
struct error trace_page_read(struct trace_page *page, struct job_source *source,
                             const struct cluster *cluster) MUST_CHECK;

/* The page as a document, to be freed with show_free.  source: the one that was read.  cluster: to whose GPUs the
 * demand is compared. */
struct show *trace_page_show_new(const struct trace_page *page, const struct job_source *source, const char *name,
                                 const struct cluster *cluster);
void trace_page_free(struct trace_page *page); /* NULL is allowed */

#endif
