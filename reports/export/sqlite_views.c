/* reports/export/sqlite_views.c -- what is made after the rows are in: indexes, and a view per question. */
#include "reports/export/sqlite_views.h"

#include <stddef.h>

/* Sizes as the cuts of result.json name them: GPUs in powers of two (reports/cuts.c). */
static const char sizes[] =
    "CREATE TABLE sizes (size TEXT, above_gpus REAL, up_to_gpus REAL);"
    "INSERT INTO sizes VALUES ('0', -1, 0), ('<1', 0, 0.9999), ('1', 0.9999, 1), ('2', 1, 2);"
    "INSERT INTO sizes WITH RECURSIVE size(up_to) AS (SELECT 4 UNION ALL SELECT up_to * 2 FROM size"
    "  WHERE up_to < 268435456)"
    "  SELECT (up_to / 2 + 1) || '-' || up_to, up_to / 2, up_to FROM size;"
    "INSERT INTO sizes VALUES ('>268435456', 268435456, 1e30);";

static const char indexes[] = "CREATE INDEX jobs_by_queue ON jobs (queue);"
                              "CREATE INDEX jobs_by_user ON jobs (user);"
                              "CREATE INDEX jobs_by_submit ON jobs (submit_s);"
                              "CREATE INDEX jobs_by_name ON jobs (name);"
                              "CREATE INDEX wait_by_reason_by_job ON wait_by_reason (job_id);"
                              "CREATE UNIQUE INDEX attempts_by_job ON attempts (job_id, attempt);"
                              "CREATE INDEX attempts_by_start ON attempts (start_s);"
                              "CREATE INDEX attempts_evicted ON attempts (job_id) WHERE why = 'evicted';"
                              "CREATE INDEX placement_by_job ON placement (job_id, attempt);"
                              "CREATE INDEX placement_by_node ON placement (node);"
                              "CREATE INDEX timeline_by_time ON timeline (time_s);"
                              "CREATE UNIQUE INDEX metrics_by_name ON metrics (name, cut, key);";

/* Of each hour the last sample up to its end; integrals are differences to the hour before. */
static const char utilization[] =
    "CREATE VIEW utilization_by_hour AS"
    " WITH numbered AS (SELECT *, CAST(time_s / 3600 AS INTEGER) + (time_s / 3600 > CAST(time_s / 3600 AS INTEGER)) - 1"
    "   AS hour FROM timeline),"
    "  lasts AS (SELECT hour, max(time_s) AS until_s, max(allocated_gpu_s) AS allocated, max(active_gpu_s) AS active,"
    "   max(reserved_gpu_s) AS reserved, max(down_gpu_s) AS down, max(pending_job_s) AS pending,"
    "   max(running_job_s) AS running, max(spent_absent_gpu_s) AS absent FROM numbered GROUP BY hour),"
    "  steps AS (SELECT hour, until_s, until_s - lag(until_s) OVER before AS span_s,"
    "   allocated - lag(allocated) OVER before AS allocated_gpu_s, active - lag(active) OVER before AS active_gpu_s,"
    "   reserved - lag(reserved) OVER before AS reserved_gpu_s, down - lag(down) OVER before AS down_gpu_s,"
    "   pending - lag(pending) OVER before AS pending_job_s, running - lag(running) OVER before AS running_job_s,"
    "   absent - lag(absent) OVER before AS absent_gpu_s"
    "   FROM lasts WINDOW before AS (ORDER BY hour)),"
    "  cluster AS (SELECT value AS gpus FROM manifest WHERE key = 'facts.gpus'),"
    "  in_service AS (SELECT *, gpus * span_s - absent_gpu_s AS gpu_s FROM steps, cluster)"
    " SELECT hour, until_s, allocated_gpu_s / 3600 AS allocated_gpu_h,"
    "  allocated_gpu_s / gpu_s AS allocation_ratio, active_gpu_s / gpu_s AS sm_active_ratio,"
    "  reserved_gpu_s / gpu_s AS reserved_ratio, down_gpu_s / gpu_s AS down_ratio,"
    "  pending_job_s / span_s AS pending_jobs_mean, running_job_s / span_s AS running_jobs_mean"
    " FROM in_service WHERE span_s > 0 ORDER BY hour;";

/* Percentiles as in result.json: the ceil(p n)-th smallest. */
static const char waits[] =
    "CREATE VIEW waits_by_class_and_size AS"
    " WITH ranked AS (SELECT workload_class, size, above_gpus, wait_s,"
    "   row_number() OVER (PARTITION BY workload_class, size ORDER BY wait_s) AS rank,"
    "   count(*) OVER (PARTITION BY workload_class, size) AS jobs"
    "   FROM jobs JOIN sizes ON gpus > above_gpus AND gpus <= up_to_gpus"
    "   WHERE is_counted AND state <> 'rejected')"
    " SELECT workload_class, size, count(*) AS jobs, avg(wait_s) AS wait_mean_s,"
    "  min(CASE WHEN 100 * rank >= 50 * jobs THEN wait_s END) AS wait_p50_s,"
    "  min(CASE WHEN 100 * rank >= 95 * jobs THEN wait_s END) AS wait_p95_s,"
    "  min(CASE WHEN 100 * rank >= 99 * jobs THEN wait_s END) AS wait_p99_s, max(wait_s) AS wait_max_s"
    " FROM ranked GROUP BY workload_class, size ORDER BY workload_class, above_gpus;"
    "CREATE VIEW waits_by_reason AS"
    " SELECT queue, class, w.reason AS reason, count(*) AS jobs, sum(w.wait_s) / 3600 AS wait_job_h,"
    "  max(w.wait_s) AS wait_max_s"
    " FROM wait_by_reason w JOIN jobs USING (job_id) WHERE is_counted AND state <> 'rejected'"
    " GROUP BY queue, class, w.reason ORDER BY wait_job_h DESC;";

static const char who[] =
    "CREATE VIEW top_users AS"
    " SELECT user, count(*) AS jobs, sum(held_gpu_s) / 3600 AS gpu_h, sum(lost_gpu_s) / 3600 AS lost_gpu_h,"
    "  sum(evictions) AS evictions, avg(wait_s) AS wait_mean_s, max(wait_s) AS wait_max_s"
    " FROM jobs WHERE is_counted GROUP BY user ORDER BY gpu_h DESC;"
    "CREATE VIEW top_queues AS"
    " SELECT queue, count(*) AS jobs, sum(held_gpu_s) / 3600 AS gpu_h, sum(lost_gpu_s) / 3600 AS lost_gpu_h,"
    "  sum(evictions) AS evictions, avg(wait_s) AS wait_mean_s, max(wait_s) AS wait_max_s"
    " FROM jobs WHERE is_counted GROUP BY queue ORDER BY gpu_h DESC;"
    "CREATE VIEW evictions AS"
    " SELECT job_id, attempt, name, queue, user, class, a.gpus AS gpus, a.start_s AS start_s, a.end_s AS end_s,"
    "  a.reason AS reason, a.lost_s AS lost_s, a.lost_s * a.gpus / 3600 AS lost_work_gpu_h"
    " FROM attempts a JOIN jobs USING (job_id) WHERE why = 'evicted' ORDER BY a.end_s;";

static const char where[] =
    "CREATE VIEW fragmentation_over_time AS"
    " SELECT time_s / 3600 AS time_h, idle_gpus, stranded_gpus,"
    "  fragmented_no_gpu_gpus + fragmented_type_gpus + fragmented_host_gpus + fragmented_gpu_count_gpus"
    "  + fragmented_share_gpus + fragmented_geometry_gpus + fragmented_topology_gpus AS fragmented_gpus,"
    "  fragmented_no_gpu_gpus, fragmented_type_gpus, fragmented_host_gpus, fragmented_gpu_count_gpus,"
    "  fragmented_share_gpus, fragmented_geometry_gpus, fragmented_topology_gpus,"
    "  largest_gang_8_gpus AS largest_gang_gpus, mig_slices_unplaceable"
    " FROM timeline WHERE idle_gpus IS NOT NULL ORDER BY time_s;"
    "CREATE VIEW jobs_per_node AS"
    " SELECT node, count(DISTINCT job_id) AS jobs, count(*) AS attempts,"
    "  sum(p.gpus * (end_s - start_s)) / 3600 AS gpu_h"
    " FROM placement p JOIN attempts USING (job_id, attempt) GROUP BY node ORDER BY gpu_h DESC;"
    "CREATE VIEW communication_cost AS"
    " SELECT workload_class, communication, count(*) AS jobs, sum(held_gpu_s) / 3600 AS gpu_h,"
    "  sum(exposed_gpu_s) / 3600 AS exposed_gpu_h, sum(exposed_gpu_s) / sum(held_gpu_s) AS exposed_ratio,"
    "  sum(slowed_gpu_s) / 3600 AS slowed_gpu_h, sum(slowed_gpu_s) / sum(held_gpu_s) AS slowed_ratio,"
    "  sum(network_gb_per_s * network_gpu_s) / sum(network_gpu_s) AS network_gb_per_s,"
    "  sum(mfu_ratio * planned_gpu_s) / sum(planned_gpu_s) AS mfu_ratio"
    " FROM jobs WHERE communication IS NOT NULL AND is_counted GROUP BY workload_class, communication"
    " ORDER BY exposed_gpu_h DESC;"
    "CREATE VIEW links_of_gangs AS"
    " SELECT link_tier, count(*) AS attempts, sum(gpus * (end_s - start_s)) / 3600 AS gpu_h,"
    "  sum(link_gb_per_s * gpus * (end_s - start_s)) / sum(gpus * (end_s - start_s)) AS link_gb_per_s_mean"
    " FROM attempts WHERE link_tier IS NOT NULL AND NOT is_partial GROUP BY link_tier ORDER BY gpu_h DESC;";

const char *const sqlite_views[] = {sizes, indexes, utilization, waits, who, where, NULL};
