/* reports/export/row_tables.c -- the columns of the tables. */
#include <stddef.h>

#include "reports/export/rows.h"

static const struct column job_columns[] = {
    {"submit_s", COLUMN_REAL},
    {"job_id", COLUMN_INT},
    {"eligible_s", COLUMN_REAL},
    {"name", COLUMN_TEXT},
    {"start_s", COLUMN_REAL},
    {"run_s", COLUMN_REAL},
    {"work_s", COLUMN_REAL},
    {"work_asked_s", COLUMN_REAL},
    {"held_gpu_s", COLUMN_REAL},
    {"gpus", COLUMN_REAL},
    {"sm_active_ratio", COLUMN_REAL},
    {"wait_s", COLUMN_REAL},
    {"wait_total_s", COLUMN_REAL},
    {"recorded_wait_s", COLUMN_REAL},
    {"queue", COLUMN_TEXT},
    {"user", COLUMN_TEXT},
    {"class", COLUMN_TEXT},
    {"workload_class", COLUMN_TEXT},
    {"priority", COLUMN_INT},
    {"members", COLUMN_INT},
    {"gpu_model", COLUMN_TEXT},
    {"gpu_model_asked", COLUMN_TEXT},
    {"state", COLUMN_TEXT},
    {"reason", COLUMN_TEXT},
    {"is_counted", COLUMN_INT},
    {"source", COLUMN_TEXT},
    {"evictions", COLUMN_INT},
    {"lost_gpu_s", COLUMN_REAL},
    {"overhead_gpu_s", COLUMN_REAL},
    {"resizes", COLUMN_INT},
    {"preempted_gpu_s", COLUMN_REAL},
    {"evictions_wasted", COLUMN_INT},
    {"lost_write_gpu_s", COLUMN_REAL},
    {"lost_leave_gpu_s", COLUMN_REAL},
    {"lost_load_gpu_s", COLUMN_REAL},
    {"lost_warmup_gpu_s", COLUMN_REAL},
    {"lost_pull_gpu_s", COLUMN_REAL},
    {"lost_work_preempted_gpu_s", COLUMN_REAL},
    {"lost_work_node_gpu_s", COLUMN_REAL},
    {"lost_work_neighbour_gpu_s", COLUMN_REAL},
    {"lost_work_other_gpu_s", COLUMN_REAL},
    {"communication", COLUMN_TEXT},
    {"exposed_gpu_s", COLUMN_REAL},
    {"slowed_gpu_s", COLUMN_REAL},
    {"network_gpu_s", COLUMN_REAL},
    {"network_gb_per_s", COLUMN_REAL},
    {"planned_gpu_s", COLUMN_REAL},
    {"mfu_ratio", COLUMN_REAL},
    {"activity", COLUMN_TEXT},
    {"active_gpu_s", COLUMN_REAL},
    {"idle_held_gpu_s", COLUMN_REAL},
    {"unserved_gpu_s", COLUMN_REAL},
    {"faults", COLUMN_INT},
    {"killed_by_memory", COLUMN_INT},
    {"killed_by_runaway", COLUMN_INT},
    {"killed_by_fatal", COLUMN_INT},
    {"neighbour_gpu_s", COLUMN_REAL},
    {"blast_gpus", COLUMN_REAL},
    {"ready_s", COLUMN_REAL},
    {"pulled_registry_gb", COLUMN_REAL},
    {"pulled_rack_gb", COLUMN_REAL},
    {"pulled_local_gb", COLUMN_REAL},
    {"idle_told", COLUMN_INT},
    {"idle_shrunk", COLUMN_INT},
    {"idle_evicted", COLUMN_INT},
    {"idle_disturbed", COLUMN_INT},
    {"given_back_gpu_s", COLUMN_REAL},
    {"wait_by_reason_s", COLUMN_LIST},
    {"limit_s", COLUMN_REAL},
    {"estimate_s", COLUMN_REAL},
    {"deadline_s", COLUMN_REAL},
    {"end_s", COLUMN_REAL},
    {NULL, COLUMN_ANY},
};

static const struct column wait_columns[] = {
    {"job_id", COLUMN_INT},
    {"reason", COLUMN_TEXT},
    {"wait_s", COLUMN_REAL},
    {NULL, COLUMN_ANY},
};

static const struct column attempt_columns[] = {
    {"job_id", COLUMN_INT},  {"start_s", COLUMN_REAL},   {"saved_s", COLUMN_REAL},   {"placement", COLUMN_TEXT},
    {"gpus", COLUMN_REAL},   {"why", COLUMN_TEXT},       {"reason", COLUMN_TEXT},    {"attempt", COLUMN_INT},
    {"lost_s", COLUMN_REAL}, {"is_partial", COLUMN_INT}, {"link_tier", COLUMN_TEXT}, {"link_gb_per_s", COLUMN_REAL},
    {"end_s", COLUMN_REAL},  {NULL, COLUMN_ANY},
};

static const struct column placement_columns[] = {
    {"job_id", COLUMN_INT},       {"attempt", COLUMN_INT}, {"node", COLUMN_TEXT},
    {"gpu_indices", COLUMN_TEXT}, {"gpus", COLUMN_REAL},   {NULL, COLUMN_ANY},
};

static const struct column timeline_columns[] = {
    {"time_s", COLUMN_REAL},
    {"pending_jobs", COLUMN_INT},
    {"running_jobs", COLUMN_INT},
    {"pending_gpus", COLUMN_REAL},
    {"allocated_gpus", COLUMN_REAL},
    {"active_gpus", COLUMN_REAL},
    {"reserved_gpus", COLUMN_REAL},
    {"down_gpus", COLUMN_REAL},
    {"submitted", COLUMN_INT},
    {"started", COLUMN_INT},
    {"ended", COLUMN_INT},
    {"evicted", COLUMN_INT},
    {"rejected", COLUMN_INT},
    {"allocated_gpu_s", COLUMN_REAL},
    {"active_gpu_s", COLUMN_REAL},
    {"reserved_gpu_s", COLUMN_REAL},
    {"down_gpu_s", COLUMN_REAL},
    {"pending_job_s", COLUMN_REAL},
    {"running_job_s", COLUMN_REAL},
    {"partial_gang_gpu_s", COLUMN_REAL},
    {"idle_held_gpu_s", COLUMN_REAL},
    {"idle_held_gpus", COLUMN_REAL},
    {"idle_gpus", COLUMN_REAL},
    {"stranded_gpus", COLUMN_REAL},
    {"fragmented_no_gpu_gpus", COLUMN_REAL},
    {"fragmented_type_gpus", COLUMN_REAL},
    {"fragmented_host_gpus", COLUMN_REAL},
    {"fragmented_gpu_count_gpus", COLUMN_REAL},
    {"fragmented_share_gpus", COLUMN_REAL},
    {"fragmented_geometry_gpus", COLUMN_REAL},
    {"fragmented_topology_gpus", COLUMN_REAL},
    {"largest_gang_1_gpus", COLUMN_INT},
    {"largest_gang_2_gpus", COLUMN_INT},
    {"largest_gang_4_gpus", COLUMN_INT},
    {"largest_gang_8_gpus", COLUMN_INT},
    {"mig_slices_unplaceable", COLUMN_INT},
    {"spent_useful_gpu_s", COLUMN_REAL},
    {"spent_communication_gpu_s", COLUMN_REAL},
    {"spent_neighbours_gpu_s", COLUMN_REAL},
    {"spent_sliced_gpu_s", COLUMN_REAL},
    {"spent_repartition_gpu_s", COLUMN_REAL},
    {"spent_restart_gpu_s", COLUMN_REAL},
    {"spent_lost_gpu_s", COLUMN_REAL},
    {"spent_idle_held_gpu_s", COLUMN_REAL},
    {"spent_reserved_gpu_s", COLUMN_REAL},
    {"spent_idle_gpu_s", COLUMN_REAL},
    {"spent_down_gpu_s", COLUMN_REAL},
    {"spent_absent_gpu_s", COLUMN_REAL},
    {NULL, COLUMN_ANY},
};

static const struct column metric_columns[] = {
    {"name", COLUMN_TEXT}, {"cut", COLUMN_TEXT},    {"key", COLUMN_TEXT}, {"value", COLUMN_REAL},
    {"unit", COLUMN_TEXT}, {"better", COLUMN_TEXT}, {NULL, COLUMN_ANY},
};

static const struct column manifest_columns[] = {{"key", COLUMN_TEXT}, {"value", COLUMN_ANY}, {NULL, COLUMN_ANY}};

const struct row_table_facts row_tables[TABLE_COUNT] = {
    [TABLE_JOBS] = {"jobs", job_columns},
    [TABLE_WAIT_BY_REASON] = {"wait_by_reason", wait_columns},
    [TABLE_ATTEMPTS] = {"attempts", attempt_columns},
    [TABLE_PLACEMENT] = {"placement", placement_columns},
    [TABLE_TIMELINE] = {"timeline", timeline_columns},
    [TABLE_METRICS] = {"metrics", metric_columns},
    [TABLE_MANIFEST] = {"manifest", manifest_columns},
};

unsigned row_columns(enum row_table table)
{
    unsigned count = 0;
    while (row_tables[table].columns[count].name != NULL)
        count++;
    return count;
}
