/* reports/table.h -- what `windtunnel run` prints for a planner: one screen of text, at most 100 columns wide.
 *
 * GPU time with allocated and SM-active side by side, waits by class of the workload, the queues that asked most, what
 * communication cost (if a job declares any), what became of the jobs, rejections by reason, preemptions and what they
 * cost.
 *
 *   table_run(metrics, &(struct table_options){.cluster = "dgx-h100-500", .policy = "fifo"}, &out);
 */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include "base/buffer.h"
#include "reports/metrics.h"
#include "reports/service_levels.h"

enum { TABLE_WIDTH_MAX = 100, TABLE_QUEUES_MAX = 10, TABLE_CLASSES_MAX = 12 };

struct table_options {
    const char *cluster;                 /* NULL: not shown */
    const char *policy;                  /* NULL: not shown */
    const struct service_levels *levels; /* NULL: none */
    bool is_activity_assumed;            /* the workload is synthesized: its activity was not measured */
    bool is_ascii;                       /* bars of # and . for terminals without UTF-8 */
};

/* options NULL: the defaults. */
void table_run(const struct metrics *metrics, const struct table_options *options, struct buffer *out);

#endif
