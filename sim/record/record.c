/* sim/record/record.c -- the words and header lines of the record. */
#include "sim/record/record.h"

const char *const job_end_names[] = {
    [END_COMPLETED] = "completed", [END_FAILED] = "failed",   [END_CANCELLED] = "cancelled", [END_LIMIT] = "limit",
    [END_REJECTED] = "rejected",   [END_PENDING] = "pending", [END_RUNNING] = "running",     [END_STATE_COUNT] = NULL,
};

const char *const attempt_end_names[] = {
    [ATTEMPT_ENDED] = "ended",
    [ATTEMPT_EVICTED] = "evicted",
    [ATTEMPT_UNFINISHED] = "unfinished",
    [ATTEMPT_RESIZED] = "resized",
    NULL,
};

const char *const record_source_names[] = {"free", "headroom", "grace_0", "eviction", "gap", NULL};

const char *const spent_names[] = {
    [SPENT_USEFUL] = "useful",
    [SPENT_COMMUNICATION] = "communication",
    [SPENT_NEIGHBOURS] = "neighbours",
    [SPENT_SLICED] = "sliced",
    [SPENT_REPARTITION] = "repartition",
    [SPENT_RESTART] = "restart",
    [SPENT_LOST] = "lost",
    [SPENT_IDLE_HELD] = "idle_held",
    [SPENT_RESERVED] = "reserved",
    [SPENT_IDLE] = "idle",
    [SPENT_DOWN] = "down",
    [SPENT_ABSENT] = "absent",
    [SPENT_COUNT] = NULL,
};

const char *const use_names[] = {
    [USE_WAITED] = "waited",   [USE_UNCOVERED] = "uncovered",     [USE_HOST] = "host",     [USE_NETWORK] = "network",
    [USE_UNKNOWN] = "unknown", [USE_ACTIVE_LOST] = "active_lost", [USE_KERNEL] = "kernel", [USE_COUNT] = NULL,
};

double space_fragmented_gpus(const struct space_row *row)
{
    double sum = 0;
    for (int c = 0; c < RECORD_CAUSE_COUNT; c++)
        sum += row->fragmented_gpus[c];
    return sum;
}

/* The order of columns is chosen for compression, in ratio and speed.  Columns that differ from row to row come first;
 * columns that often repeat stand together.  Rows come in the order of their ends, so the first digits of the ends
 * repeat.  Start, submission and eligibility of a job, its number and its name, and its three times of work are mostly
 * equal texts: one match each. */
const char record_job_columns[] =
    "submit_s,job_id,eligible_s,name,start_s,run_s,work_s,work_asked_s,held_gpu_s,"
    "gpus,sm_active_ratio,wait_s,wait_total_s,recorded_wait_s,"
    "queue,user,class,workload_class,priority,members,gpu_model,gpu_model_asked,state,reason,is_counted,source,"
    "evictions,lost_gpu_s,overhead_gpu_s,resizes,preempted_gpu_s,evictions_wasted,"
    "lost_write_gpu_s,lost_leave_gpu_s,lost_load_gpu_s,lost_warmup_gpu_s,lost_pull_gpu_s,"
    "lost_work_preempted_gpu_s,lost_work_node_gpu_s,lost_work_neighbour_gpu_s,lost_work_other_gpu_s,"
    "communication,exposed_gpu_s,slowed_gpu_s,network_gpu_s,network_gb_per_s,planned_gpu_s,mfu_ratio,"
    "activity,active_gpu_s,idle_held_gpu_s,unserved_gpu_s,"
    "faults,killed_by_memory,killed_by_runaway,killed_by_fatal,neighbour_gpu_s,blast_gpus,"
    "ready_s,pulled_registry_gb,pulled_rack_gb,pulled_local_gb,"
    "idle_told,idle_shrunk,idle_evicted,idle_disturbed,given_back_gpu_s,"
    "wait_by_reason_s,limit_s,estimate_s,deadline_s,end_s";

const char record_attempt_columns[] = "job_id,start_s,saved_s,placement,gpus,why,reason,attempt,"
                                      "lost_s,is_partial,link_tier,link_gb_per_s,end_s";

const char record_timeline_columns[] =
    "time_s,pending_jobs,running_jobs,pending_gpus,allocated_gpus,active_gpus,reserved_gpus,"
    "down_gpus,submitted,started,ended,evicted,rejected,allocated_gpu_s,active_gpu_s,reserved_gpu_"
    "s,"
    "down_gpu_s,pending_job_s,running_job_s,partial_gang_gpu_s,idle_held_gpu_s,idle_held_gpus,"
    "idle_gpus,stranded_gpus,fragmented_no_gpu_gpus,fragmented_type_gpus,fragmented_host_gpus,"
    "fragmented_gpu_count_gpus,fragmented_share_gpus,fragmented_geometry_gpus,"
    "fragmented_topology_gpus,largest_gang_1_gpus,largest_gang_2_gpus,largest_gang_4_gpus,"
    "largest_gang_8_gpus,mig_slices_unplaceable,"
    "spent_useful_gpu_s,spent_communication_gpu_s,spent_neighbours_gpu_s,spent_sliced_gpu_s,"
    "spent_repartition_gpu_s,spent_restart_gpu_s,spent_lost_gpu_s,spent_idle_held_gpu_s,"
    "spent_reserved_gpu_s,spent_idle_gpu_s,spent_down_gpu_s,spent_absent_gpu_s,"
    "use_waited_gpu_s,use_uncovered_gpu_s,use_host_gpu_s,use_network_gpu_s,use_unknown_gpu_s,"
    "use_active_lost_gpu_s,use_kernel_gpu_s";
