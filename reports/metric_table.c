/* reports/metric_table.c -- what every metric is: its name, unit, which way is better, and its definition in words.
 *
 * `windtunnel metrics` prints this table.  "The window" and "the jobs" are those of reports/metrics.h. */
#include <math.h>

#include "reports/metrics_inside.h"

const struct metric metric_table[METRIC_COUNT] = {
    [METRIC_ALLOCATION_RATIO] =
        {"allocation_ratio", NAN, "ratio", BETTER_HIGHER,
         "GPU time allocated to jobs that run / all GPU time of the cluster in the window. Work "
         "that is thrown away and done again counts each time; useful_ratio leaves it out."},
    [METRIC_SM_ACTIVE_RATIO] =
        {"sm_active_ratio", NAN, "ratio", BETTER_HIGHER,
         "Allocated GPU time x the SM activity of the job that holds it / "
         "all GPU time of the cluster in the window. The activity is what "
         "the workload says; not defined if some job that ran has none. Work that is thrown away "
         "and done again counts each time; useful_ratio leaves it out."},
    [METRIC_GPU_UTIL_RATIO] =
        {"gpu_util_ratio", NAN, "ratio", BETTER_HIGHER,
         "GPU time in which a kernel is on the GPU, however few SMs it keeps busy, as nvidia-smi shows it (GPU-Util) / "
         "all GPU time of the cluster in the window. It follows from the SM activity by the law of docs/activity.md, "
         "and is not defined where that is not."},
    [METRIC_IDLE_RESERVED_RATIO] =
        {"idle_reserved_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time that is reserved and idle / all GPU time of the cluster in the window: held for "
         "a job while the rest of its space is being freed, or held by a gang below its minimum of "
         "members."},
    [METRIC_IDLE_HELD_RATIO] = {"idle_held_ratio", NAN, "ratio", BETTER_LOWER,
                                "GPU time held by jobs that run while no SM of theirs is busy / all GPU time of the "
                                "cluster in the window; part "
                                "of allocation_ratio. Of jobs whose SM activity over their lives the workload declares "
                                "(workload.activity); not "
                                "defined without such jobs."},
    [METRIC_DOWN_RATIO] = {"down_ratio", NAN, "ratio", BETTER_LOWER,
                           "GPU time of nodes that are down / all GPU time of the cluster in the window."},
    [METRIC_OFFERED_LOAD_RATIO] =
        {"offered_load_ratio", NAN, "ratio", BETTER_NEITHER,
         "GPU time that all jobs of the run ask / GPU time of the nodes in service, from the first submission to the "
         "last: of all jobs that come before world.end, also those of the warm-up and those that never fit. So it is "
         "the same under every policy. Not defined for a batch, whose jobs come in less time than they run on average, "
         "a closed loop, and jobs that fill the cluster."},
    [METRIC_IDLE_RESERVED_GPU_H] = {"idle_reserved_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                    "GPU time in the window that is reserved and idle: see idle_reserved_ratio."},
    [METRIC_PARTIAL_GANG_GPU_H] =
        {"partial_gang_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "The part of idle_reserved_gpu_h that is held by gangs below their minimum of members."},
    [METRIC_JAIN_FAIRNESS] = {"jain_fairness", NAN, "ratio", BETTER_HIGHER,
                              "(sum x)^2 / (n sum x^2) over the n queues that asked for GPUs, x = "
                              "allocated / asked GPU time of a queue: 1 if all were served alike, "
                              "1/n if one got everything (Jain, Chiu, Hawe: DEC-TR-301, 1984)."},
    [METRIC_COST_USD] = {"cost_usd", NAN, "usd", BETTER_LOWER,
                         "Price of a GPU hour x all GPUs of the cluster x the time from the end of the warm-up to "
                         "where the window ends, used or not. Not defined if the cluster has no price."},
    [METRIC_COST_PER_JOB_USD] = {"cost_per_job_usd", NAN, "usd", BETTER_LOWER, "cost_usd / jobs_completed."},
    [METRIC_MAKESPAN_S] = {"makespan_s", NAN, "s", BETTER_LOWER, "From the first submission to the last end of a job."},
    [METRIC_MAKESPAN_BOUND_S] =
        {"makespan_bound_s", NAN, "s", BETTER_NEITHER,
         "A lower bound of the makespan of a batch (jobs that come in less time than they run on average): the larger "
         "of the GPU time that its jobs ask / all GPUs of the cluster, and the makespan if no job waited. Not defined "
         "for other jobs."},
    [METRIC_MAKESPAN_OVER_BOUND] =
        {"makespan_over_bound", NAN, "ratio", BETTER_LOWER,
         "makespan_s / makespan_bound_s. Not defined if a job was rejected, was killed at its limit or has not ended."},
    [METRIC_QUEUE_LENGTH_MEAN] = {"queue_length_mean", NAN, "jobs", BETTER_LOWER,
                                  "Mean number of pending jobs over the window."},
    [METRIC_LITTLE_ERROR_RATIO] =
        {"little_error_ratio", NAN, "ratio", BETTER_LOWER,
         "A check of the run itself by Little's law: |L - lambda W| / L over the whole run, "
         "warm-up included, where L T is the integral of pending jobs and lambda W T the sum of "
         "all waits. 1 if jobs waited and L is 0."},
    [METRIC_IDLE_RATIO] =
        {"idle_ratio", NAN, "ratio", BETTER_LOWER,
         "Sampled mean of the free GPUs / all GPUs over the window: a row of the timeline (world.sample_s) holds "
         "until the next one. Known only if the jobs are known "
         "before they come and this program decides, as are all metrics of free GPUs below."},
    [METRIC_STRANDED_RATIO] = {"stranded_ratio", NAN, "ratio", BETTER_LOWER,
                               "Sampled mean of the free GPUs that no waiting member can use / all GPUs; 0 "
                               "while no job that asks for GPUs waits."},
    [METRIC_FGD_FRAGMENTATION_RATIO] =
        {"fgd_fragmentation_ratio", NAN, "ratio", BETTER_LOWER,
         "Sampled mean of the fragmented GPUs / all GPUs: free GPUs that typical members of the workload "
         "cannot use, weighed by how often such members come (Weng et al., FGD, USENIX ATC 2023). "
         "The sum of the fragmented_*_ratio."},
    [METRIC_FGD_FRAGMENTATION_OF_IDLE_RATIO] = {"fgd_fragmentation_of_idle_ratio", NAN, "ratio", BETTER_LOWER,
                                                "Sampled mean of the fragmented GPUs / sampled mean of the free GPUs."},
    [METRIC_FRAGMENTED_BY_FROM] =
        {"fragmented_no_gpu_ratio", NAN, "ratio", BETTER_LOWER,
         "Sampled mean: the part of fgd_fragmentation_ratio due to typical members that ask no GPU."},
    {"fragmented_type_ratio", NAN, "ratio", BETTER_LOWER,
     "Sampled mean: the part of fgd_fragmentation_ratio where the node has another GPU model than the member "
     "asks."},
    {"fragmented_host_ratio", NAN, "ratio", BETTER_LOWER,
     "Sampled mean: the part of fgd_fragmentation_ratio where the CPUs or the memory of the node are short."},
    {"fragmented_gpu_count_ratio", NAN, "ratio", BETTER_LOWER,
     "Sampled mean: the part of fgd_fragmentation_ratio where the node has too few GPUs that are wholly free."},
    {"fragmented_share_ratio", NAN, "ratio", BETTER_LOWER,
     "Sampled mean: the part of fgd_fragmentation_ratio where a GPU has less left than the member asks of one."},
    {"fragmented_geometry_ratio", NAN, "ratio", BETTER_LOWER,
     "Sampled mean: the part of fgd_fragmentation_ratio where a GPU has no free MIG instance of the profile that "
     "the member asks."},
    {"fragmented_topology_ratio", NAN, "ratio", BETTER_LOWER,
     "Sampled mean: the part of fgd_fragmentation_ratio where the domain has no room for all members that must "
     "be together."},
    [METRIC_LARGEST_GANG_GPUS] =
        {"largest_gang_gpus", NAN, "gpus", BETTER_HIGHER,
         "Sampled mean over the window of the largest gang that could start at once, in GPUs: members of 8 "
         "GPUs each, by the GPUs that are wholly free. CPUs, memory and quotas do not count."},
    [METRIC_MIG_SLICES_UNPLACEABLE] =
        {"mig_slices_unplaceable", NAN, "slices", BETTER_LOWER,
         "Sampled mean over the window of the memory slices that are free on GPUs with MIG instances, but "
         "in no free instance of a profile that typical members ask."},
    [METRIC_GANG_LINK_GB_PER_S_MEAN] =
        {"gang_link_gb_per_s_mean", NAN, "gb_per_s", BETTER_HIGHER,
         "Bandwidth of each GPU over the narrowest link between the members of its job "
         "(topologies/links.h), mean by GPU time of the attempts with more than one GPU, warm-up "
         "included."},
    [METRIC_GANG_LINK_GB_PER_S_P10] = {"gang_link_gb_per_s_p10", NAN, "gb_per_s", BETTER_HIGHER,
                                       "The same bandwidth: a tenth of that GPU time has this or less."},
    [METRIC_GANG_LINKS_FROM] = {"gang_link_nvlink_ratio", NAN, "ratio", BETTER_HIGHER,
                                "The part of that GPU time in jobs whose members are joined by NVLink."},
    [METRIC_GANG_LINKS_FROM + 1] = {"gang_link_pcie_ratio", NAN, "ratio", BETTER_NEITHER,
                                    "The part of that GPU time in jobs on one node whose traffic crosses PCIe."},
    [METRIC_GANG_LINKS_FROM + 2] = {"gang_link_leaf_ratio", NAN, "ratio", BETTER_NEITHER,
                                    "The part of that GPU time in jobs on several nodes of one "
                                    "unit, on the same rails: one leaf switch each."},
    [METRIC_GANG_LINKS_FROM + 3] = {"gang_link_spine_ratio", NAN, "ratio", BETTER_LOWER,
                                    "The part of that GPU time in jobs whose traffic crosses the spine switches."},
    [METRIC_GANG_LINKS_FROM + 4] = {"gang_link_core_ratio", NAN, "ratio", BETTER_LOWER,
                                    "The part of that GPU time in jobs whose traffic crosses the core switches."},
    [METRIC_USEFUL_RATIO] = {"useful_ratio", NAN, "ratio", BETTER_HIGHER,
                             "spent_useful_gpu_h / all GPU time of the cluster in the window: the goodput of the "
                             "cluster."},
    [METRIC_RECORDED_ALLOCATION_RATIO] =
        {"recorded_allocation_ratio", NAN, "ratio", BETTER_NEITHER,
         "GPU time that jobs held by the record of the trace (from their recorded start, for as long as their work "
         "takes) / all GPU time of the cluster in the window. As the two metrics below it is defined only if the trace "
         "tells waits; jobs without one are left out."},
    [METRIC_ALLOCATION_ERROR_RATIO] = {"allocation_error_ratio", NAN, "ratio", BETTER_NEITHER,
                                       "allocation_ratio minus recorded_allocation_ratio."},
    [METRIC_ALLOCATION_ERROR_ABS_RATIO] =
        {"allocation_error_abs_ratio", NAN, "ratio", BETTER_NEITHER,
         "Sampled mean over the hours of the window of the difference between the GPUs that are allocated and those "
         "that were by the record, without its sign / all GPUs. Between rows of the timeline (world.sample_s) GPU time "
         "is on the straight line."},
    [METRIC_CLOSED_LOOP_JOBS] =
        {"closed_loop_jobs", NAN, "jobs", BETTER_NEITHER,
         "Jobs that were submitted a think time after the end of another job, warm-up included. As the three metrics "
         "below it is defined only if workload.loop is closed."},
    [METRIC_CLOSED_LOOP_HELD] =
        {"closed_loop_held_jobs", NAN, "jobs", BETTER_LOWER,
         "Jobs of the trace that were not submitted before the run ended, because a job that they follow had not "
         "ended. They count in no other metric."},
    [METRIC_CLOSED_LOOP_SHIFT_MEAN_S] =
        {"closed_loop_shift_mean_s", NAN, "s", BETTER_NEITHER,
         "The mean over all jobs submitted of the time of submission less that in an open loop: above 0 if the jobs "
         "that they follow end later than by the record."},
    [METRIC_CLOSED_LOOP_SHIFT_ABS_MEAN_S] = {"closed_loop_shift_abs_mean_s", NAN, "s", BETTER_NEITHER,
                                             "The same mean of the shifts without their signs."},
    [METRIC_SPENT_FROM +
        SPENT_USEFUL] = {"spent_useful_gpu_h", NAN, "gpu_h", BETTER_HIGHER,
                         "GPU time of the cluster in the window in which work was done at the speed of the trace, less "
                         "that of work thrown away in the window. As all metrics of GPU time by cause (spent_*) it is "
                         "of the timeline, for all jobs; they add up to all GPU time of the cluster in the window."},
    [METRIC_SPENT_FROM +
        SPENT_COMMUNICATION] = {"spent_communication_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                "GPU time that jobs lost to communication, against the best place for them alone."},
    [METRIC_SPENT_FROM + SPENT_NEIGHBOURS] = {"spent_neighbours_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                              "GPU time that jobs lost to other jobs on the same GPU."},
    [METRIC_SPENT_FROM + SPENT_SLICED] = {"spent_sliced_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                          "GPU time that jobs lost on MIG instances, against what they ask for alone, "
                                          "and GPU time of partitioned GPUs that is in no instance."},
    [METRIC_SPENT_FROM +
        SPENT_REPARTITION] = {"spent_repartition_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                              "GPU time of GPUs that were being repartitioned, without the instances that stayed."},
    [METRIC_SPENT_FROM + SPENT_RESTART] = {"spent_restart_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                           "GPU time that running jobs held without work: restarts, loads, warm-ups "
                                           "and writes of checkpoints; with what asynchronous writes slowed down."},
    [METRIC_SPENT_FROM + SPENT_LOST] = {"spent_lost_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                        "GPU time of work that was thrown away, counted when it was thrown away."},
    [METRIC_SPENT_FROM + SPENT_IDLE_HELD] = {"spent_idle_held_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                             "GPU time that running jobs held while no SM of theirs was busy, by the "
                                             "SM activity that the workload declares; 0 without such jobs."},
    [METRIC_SPENT_FROM + SPENT_RESERVED] = {"spent_reserved_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                            "GPU time that was kept for a job that did not run yet, held by gangs that "
                                            "were not complete, or held by members that could not work."},
    [METRIC_SPENT_FROM + SPENT_IDLE] = {"spent_idle_gpu_h", NAN, "gpu_h", BETTER_LOWER, "GPU time that was free."},
    [METRIC_SPENT_FROM +
        SPENT_DOWN] = {"spent_down_gpu_h", NAN, "gpu_h", BETTER_LOWER, "GPU time of nodes that were down."},
    [METRIC_SPENT_FROM +
        SPENT_ABSENT] = {"spent_absent_gpu_h", NAN, "gpu_h", BETTER_NEITHER,
                         "GPU time of nodes that were out of service by world.capacity, without GPUs that jobs still "
                         "held there. Ratios to all GPU time of the cluster, and its cost, leave it out. Only if there "
                         "is any."},
    [METRIC_WATERFALL_FROM + FALL_UNASKED] =
        {"waterfall_unasked_ratio", NAN, "ratio", BETTER_NEITHER,
         "GPU time that was free and that no waiting job asked for / all GPU time of the cluster in the window. All "
         "waterfall_*_ratio add up to 1: they lead from all GPU time to SM activity (docs/activity.md)."},
    [METRIC_WATERFALL_FROM + FALL_WAITING] =
        {"waterfall_waiting_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time that was free while jobs waited, at most what they asked for / all GPU time of the cluster in the "
         "window: fragmentation, quotas, gangs, priorities, reservations."},
    [METRIC_WATERFALL_FROM + FALL_RESERVED] = {"waterfall_reserved_ratio", NAN, "ratio", BETTER_LOWER,
                                               "spent_reserved_gpu_h / all GPU time of the cluster in the window."},
    [METRIC_WATERFALL_FROM + FALL_DOWN] = {"waterfall_down_ratio", NAN, "ratio", BETTER_LOWER,
                                           "spent_down_gpu_h / all GPU time of the cluster in the window."},
    [METRIC_WATERFALL_FROM + FALL_CUT] =
        {"waterfall_cut_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time of GPUs that were being repartitioned, and of partitioned GPUs that was in no instance / all GPU "
         "time of the cluster in the window."},
    [METRIC_WATERFALL_FROM + FALL_START] =
        {"waterfall_start_ratio", NAN, "ratio", BETTER_LOWER,
         "spent_restart_gpu_h / all GPU time of the cluster in the window: pulls, loads, restarts, warm-ups and "
         "checkpoints."},
    [METRIC_WATERFALL_FROM + FALL_UNUSED] =
        {"waterfall_unused_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time that jobs held while they worked, on SMs that they did not keep busy, for no reason below / all GPU "
         "time of the cluster in the window: pieces larger than needed, idle users, kernels of few blocks."},
    [METRIC_WATERFALL_FROM + FALL_HOST] =
        {"waterfall_host_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time that training held while it worked without a kernel, for its host and input / all GPU time of the "
         "cluster in the window."},
    [METRIC_WATERFALL_FROM + FALL_NETWORK] =
        {"waterfall_network_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time that jobs held while they waited for communication that they would not have at the best place alone "
         "/ all GPU time of the cluster in the window."},
    [METRIC_WATERFALL_FROM + FALL_UNKNOWN] =
        {"waterfall_unknown_ratio", NAN, "ratio", BETTER_NEITHER,
         "GPU time that jobs held while they worked, and of which the workload tells no SM activity / all GPU time of "
         "the cluster in the window."},
    [METRIC_WATERFALL_FROM + FALL_LOST] =
        {"waterfall_lost_ratio", NAN, "ratio", BETTER_LOWER,
         "GPU time x SM activity of work that was thrown away in the window / all GPU time of the cluster in the "
         "window."},
    [METRIC_WATERFALL_FROM + FALL_ACTIVE] =
        {"waterfall_active_ratio", NAN, "ratio", BETTER_HIGHER,
         "GPU time x SM activity of work that was not thrown away in the window / all GPU time of the cluster in the "
         "window."},
    [METRIC_QUEUE_TIME_P50_S] =
        {"queue_time_p50_s", NAN, "s", BETTER_LOWER,
         "Median of the wait from eligible to first start (eligible: submitted, and every job it "
         "depends on has ended). A job that still waits at the end counts with its wait so far, a "
         "rejected job does not count. Percentiles are exact: the ceil(p n)-th smallest."},
    [METRIC_QUEUE_TIME_P95_S] = {"queue_time_p95_s", NAN, "s", BETTER_LOWER,
                                 "95th percentile of the wait from eligible to first start; see queue_time_p50_s."},
    [METRIC_QUEUE_TIME_P99_S] = {"queue_time_p99_s", NAN, "s", BETTER_LOWER,
                                 "99th percentile of the wait from eligible to first start; see queue_time_p50_s."},
    [METRIC_QUEUE_TIME_MEAN_S] = {"queue_time_mean_s", NAN, "s", BETTER_LOWER,
                                  "Mean of the wait from eligible to first start; of the jobs of queue_time_p50_s."},
    [METRIC_QUEUE_TIME_MAX_S] = {"queue_time_max_s", NAN, "s", BETTER_LOWER,
                                 "Longest wait from eligible to first start; of the jobs of queue_time_p50_s."},
    [METRIC_ADMISSION_P99_S] = {"admission_p99_s", NAN, "s", BETTER_LOWER,
                                "99th percentile of the time from submission to first start. Of "
                                "the whole run: inference jobs only; in a cut: all its jobs."},
    [METRIC_SLOWDOWN_BOUNDED_MEAN] =
        {"slowdown_bounded_mean", NAN, "ratio", BETTER_LOWER,
         "Mean over the jobs that ran and ended, in whatever state, of max(1, (all waits + run "
         "time) / max(work, 10 s)) (Feitelson, JSSPP 2001)."},
    [METRIC_SLOWDOWN_BOUNDED_COMPLETED_MEAN] = {"slowdown_bounded_completed_mean", NAN, "ratio", BETTER_LOWER,
                                                "As slowdown_bounded_mean, but over completed jobs only: without those "
                                                "that failed, were cancelled or were killed at their time limit."},
    [METRIC_ASKED_GPU_H] = {"asked_gpu_h", NAN, "gpu_h", BETTER_NEITHER,
                            "Sum over the jobs of GPUs x reference work asked: the demand."},
    [METRIC_ALLOCATED_GPU_H] = {"allocated_gpu_h", NAN, "gpu_h", BETTER_NEITHER,
                                "Sum over the attempts of GPUs held x run time."},
    [METRIC_HELD_COST_USD] =
        {"held_cost_usd", NAN, "usd", BETTER_NEITHER,
         "allocated_gpu_h x the price of a GPU hour of the pools with the GPU model on which a job "
         "ran last (the mean over their GPUs, if they differ): what the GPUs that jobs held cost, "
         "work done twice included. Over the queues it adds up to that of the run; cost_usd has "
         "the idle GPUs too, and the window alone. Not defined if a pool has no price."},
    [METRIC_GOODPUT_RATIO] = {"goodput_ratio", NAN, "ratio", BETTER_HIGHER,
                              "Sum over the jobs of GPUs x work that was kept / allocated GPU time. Work of a job that "
                              "was killed at its time limit is not kept; limit_gpu_h tells it."},
    [METRIC_LIMIT_GPU_H] = {"limit_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                            "GPU time allocated to jobs that were killed at their time limit, all of "
                            "their attempts together. It is part of allocated_gpu_h; what evictions "
                            "lost of it is also in lost_gpu_h."},
    [METRIC_LOST_GPU_H] =
        {"lost_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "GPU time of work that was thrown away, of checkpoints made in order to "
         "leave, and of restarts; if checkpoints are charged (world.checkpoints), of all checkpoints."},
    [METRIC_LOST_BY_PREEMPTION_GPU_H] =
        {"lost_by_preemption_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "The part of lost_gpu_h due to evictions for the sake of other jobs (preemption, reclaim, "
         "consolidation, headroom); the rest is due to stale gangs, faults and nodes that went down."},
    [METRIC_LOST_PER_EVICTION_S] = {"lost_per_eviction_s", NAN, "gpu_s", BETTER_LOWER,
                                    "lost_gpu_h / preemptions, in GPU seconds."},
    [METRIC_PREEMPTIONS] = {"preemptions", NAN, "evictions", BETTER_LOWER,
                            "How often a job was evicted, taken by a fault, or cut below its minimum of members."},
    [METRIC_EVICTIONS_WASTED] =
        {"evictions_wasted", NAN, "evictions", BETTER_LOWER,
         "Evictions decided for a job that then had no use of them: its reservation was given up, "
         "or it never started. Counted at the job that should have gained."},
    [METRIC_ADMISSIONS_FREE] = {"admissions_free", NAN, "jobs", BETTER_NEITHER,
                                "Jobs whose first start used space that was free."},
    [METRIC_ADMISSIONS_HEADROOM] = {"admissions_headroom", NAN, "jobs", BETTER_NEITHER,
                                    "Jobs whose first start used space that was kept free for their class (headroom)."},
    [METRIC_ADMISSIONS_GRACE_0] = {"admissions_grace_0", NAN, "jobs", BETTER_NEITHER,
                                   "Jobs whose first start used space of victims that needed no grace."},
    [METRIC_ADMISSIONS_EVICTION] =
        {"admissions_eviction", NAN, "jobs", BETTER_LOWER,
         "Jobs whose first start used space of victims that were given a grace; of a gang that "
         "starts in parts, the last part counts."},
    [METRIC_ADMISSIONS_GAP] = {"admissions_gap", NAN, "jobs", BETTER_NEITHER,
                               "Jobs whose first start filled a gap: free space that a planned start needed later, for "
                               "which the job could be evicted (backfill.fills_gaps)."},
    [METRIC_LOST_FROM + LOST_WRITE] =
        {"lost_to_write_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "GPU time in which jobs stood still for periodic checkpoints, and the part that asynchronous ones took of "
         "their speed. This and the next eight add up to lost_gpu_h; they are defined if checkpoints are charged "
         "(world.checkpoints) or jobs start cold (world.cold_starts)."},
    [METRIC_LOST_FROM +
        LOST_LEAVE] = {"lost_to_leave_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                       "GPU time in which jobs stood still for a checkpoint before they, or some members, left."},
    [METRIC_LOST_FROM + LOST_LOAD] = {"lost_to_load_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                      "GPU time in which jobs loaded their last checkpoint after a restart."},
    [METRIC_LOST_FROM + LOST_WARMUP] = {"lost_to_warmup_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                        "GPU time in which jobs warmed up after a restart."},
    [METRIC_LOST_FROM + LOST_PULL] =
        {"lost_to_pull_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "GPU time in which jobs held their GPUs and waited for their image, weights and data (world.cold_starts)."},
    [METRIC_LOST_FROM + LOST_WORK_PREEMPTED] =
        {"lost_work_preempted_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "GPU time of work thrown away by evictions for the sake of other jobs (preemption, reclaim, consolidation, "
         "headroom)."},
    [METRIC_LOST_FROM + LOST_WORK_NODE] = {"lost_work_node_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                           "GPU time of work thrown away because a node went down."},
    [METRIC_LOST_FROM +
        LOST_WORK_NEIGHBOUR] = {"lost_work_neighbour_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                "GPU time of work thrown away by faults of other jobs on the same GPU."},
    [METRIC_LOST_FROM +
        LOST_WORK_OTHER] = {"lost_work_other_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                            "GPU time of work thrown away by evictions for any other reason, such as stale gangs."},
    [METRIC_COMMUNICATION_GPU_H] =
        {"communication_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "GPU time in which the GPUs of jobs waited for communication: its part of a step that compute does not hide. "
         "Of the counted jobs that declare communication and were not rejected, as are all metrics of communication "
         "below; none of them is defined if no such job does."},
    [METRIC_COMMUNICATION_RATIO] = {"communication_ratio", NAN, "ratio", BETTER_LOWER,
                                    "communication_gpu_h / the GPU time that the jobs that declare communication held "
                                    "while they ran."},
    [METRIC_SLOWED_GPU_H] = {"slowed_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                             "GPU time that the work of jobs took more than it takes at the best place on empty nodes, "
                             "with the network to themselves."},
    [METRIC_SLOWED_RATIO] = {"slowed_ratio", NAN, "ratio", BETTER_LOWER,
                             "slowed_gpu_h / the GPU time that the jobs that declare communication held while they "
                             "ran."},
    [METRIC_COMMUNICATION_SLOWDOWN_MEAN] =
        {"communication_slowdown_mean", NAN, "ratio", BETTER_LOWER,
         "Mean over the jobs that declare communication, have more than one GPU and did work, of the GPU time that a "
         "job "
         "worked (held, without checkpoints and restarts) / the same without its part of slowed_gpu_h."},
    [METRIC_COMMUNICATION_SLOWDOWN_P95] = {"communication_slowdown_p95", NAN, "ratio", BETTER_LOWER,
                                           "95th percentile of the slowdowns of communication_slowdown_mean."},
    [METRIC_NETWORK_GB_PER_S_MEAN] =
        {"network_gb_per_s_mean", NAN, "gb_per_s", BETTER_HIGHER,
         "Bandwidth that each GPU got on the network while it sent, one way: mean by the GPU time in which jobs that "
         "declare communication worked in several NVLink domains. Not defined if none did."},
    [METRIC_MFU_RATIO] = {"mfu_ratio", NAN, "ratio", BETTER_HIGHER,
                          "Model FLOPs utilization by the plans of jobs: mean by the GPU time in which jobs with a "
                          "plan worked on GPUs of "
                          "a known rate. Not defined if none did."},
    [METRIC_ACTIVE_GPU_H] =
        {"active_gpu_h", NAN, "gpu_h", BETTER_HIGHER,
         "GPU time that jobs held while they ran x their SM activity. Of the counted jobs whose SM activity over their "
         "lives the workload declares (workload.activity) and that were not rejected. Not defined without such jobs."},
    [METRIC_IDLE_HELD_GPU_H] = {"idle_held_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                                "The GPU time that the same jobs held while they ran and no SM of theirs was busy."},
    [METRIC_UNSERVED_GPU_H] = {"unserved_gpu_h", NAN, "gpu_h", BETTER_LOWER,
                               "What services and notebooks were asked for while they ran, and their pieces of GPUs "
                               "could not serve: SM time on whole GPUs. Of the counted jobs whose SM activity is known "
                               "and that were not rejected. Not defined without such jobs."},
    [METRIC_FAULTS] = {"faults", NAN, "faults", BETTER_LOWER,
                       "Faults of jobs that struck the job itself (world.faults). As all metrics of faults below it is "
                       "defined only if the world has them."},
    [METRIC_KILLED_BY_NEIGHBOUR_FROM +
        RECORD_FAULT_MEMORY] = {"killed_by_neighbour_out_of_memory", NAN, "evictions", BETTER_LOWER,
                                "How often a job was taken because another on the same GPU ran out of memory."},
    [METRIC_KILLED_BY_NEIGHBOUR_FROM + RECORD_FAULT_RUNAWAY] =
        {"killed_by_neighbour_runaway", NAN, "evictions", BETTER_LOWER,
         "How often a job was taken because a kernel of another on the same GPU did not end and was killed."},
    [METRIC_KILLED_BY_NEIGHBOUR_FROM +
        RECORD_FAULT_FATAL] = {"killed_by_neighbour_fatal", NAN, "evictions", BETTER_LOWER,
                               "How often a job was taken by a fatal fault of another on the same GPU."},
    [METRIC_LOST_BY_NEIGHBOUR_GPU_H] =
        {"lost_by_neighbour_gpu_h", NAN, "gpu_h", BETTER_LOWER,
         "The part of lost_gpu_h due to faults of other jobs on the same GPU, restarts after them included."},
    [METRIC_BLAST_RADIUS_GPUS_MAX] =
        {"blast_radius_gpus_max", NAN, "gpus", BETTER_LOWER,
         "The most GPUs that one fault took from other jobs: all that these held, shares by their part. Counted at the "
         "job that had the fault; 0 if no fault took another job."},
    [METRIC_READY_P50_S] =
        {"ready_p50_s", NAN, "s", BETTER_LOWER,
         "Median of the time from submission until the job was ready to work for the first time: it held its GPUs, and "
         "what it pulls was there (world.cold_starts). A job that is not ready at the end counts with its time so far, "
         "a rejected job does not count. As all metrics of cold starts below it is defined only if the world has them. "
         "Percentiles are exact: the ceil(p n)-th smallest."},
    [METRIC_READY_P99_S] = {"ready_p99_s", NAN, "s", BETTER_LOWER,
                            "99th percentile of the time from submission until ready; see ready_p50_s."},
    [METRIC_COLD_START_P50_S] = {"cold_start_p50_s", NAN, "s", BETTER_LOWER,
                                 "Median of the time from the first start until ready; of the jobs that were ready."},
    [METRIC_COLD_START_P99_S] = {"cold_start_p99_s", NAN, "s", BETTER_LOWER,
                                 "99th percentile of the time from the first start until ready; of the same jobs."},
    [METRIC_COLD_START_MEAN_S] = {"cold_start_mean_s", NAN, "s", BETTER_LOWER,
                                  "Mean of the time from the first start until ready; of the same jobs."},
    [METRIC_PULLED_REGISTRY_TB] = {"pulled_registry_tb", NAN, "tb", BETTER_LOWER,
                                   "What jobs pulled from the registry in all attempts, in 10^12 bytes."},
    [METRIC_PULLED_RACK_TB] = {"pulled_rack_tb", NAN, "tb", BETTER_NEITHER,
                               "What jobs pulled from the caches of racks in all attempts, in 10^12 bytes."},
    [METRIC_NODE_CACHE_HIT_RATIO] =
        {"node_cache_hit_ratio", NAN, "ratio", BETTER_HIGHER,
         "Of the bytes that jobs needed on their nodes the part that was there, or came for another job."},
    [METRIC_RACK_CACHE_HIT_RATIO] = {"rack_cache_hit_ratio", NAN, "ratio", BETTER_HIGHER,
                                     "Of the bytes that jobs pulled the part that came from the caches of racks."},
    [METRIC_IDLE_JOBS_TOLD] = {"idle_jobs_told", NAN, "jobs", BETTER_NEITHER,
                               "Jobs whose submitter was told that they seem idle (policy idle). As the four metrics "
                               "below it is defined only if the world has a monitor (world.monitor)."},
    [METRIC_IDLE_SHRINKS] = {"idle_shrinks", NAN, "evictions", BETTER_NEITHER,
                             "How often a job lost the members above its minimum because it seemed idle."},
    [METRIC_IDLE_EVICTIONS] = {"idle_evictions", NAN, "evictions", BETTER_NEITHER,
                               "How often a job was evicted because it seemed idle."},
    [METRIC_IDLE_DISTURBED] =
        {"idle_disturbed", NAN, "evictions", BETTER_LOWER,
         "The part of idle_shrinks and idle_evictions that disturbed a job wrongly: in truth a SM of it was busy when "
         "that was decided, or would have been within world.monitor.disturbed_within_s."},
    [METRIC_GIVEN_BACK_GPU_H] =
        {"given_back_gpu_h", NAN, "gpu_h", BETTER_HIGHER,
         "GPU time of the GPUs that jobs lost because they seemed idle: from when the job left them until it got GPUs "
         "again or ended, at most until its work at full speed, or its limit, would have ended it."},
    [METRIC_RECORDED_JOBS] = {"recorded_jobs", NAN, "jobs", BETTER_NEITHER,
                              "Jobs whose wait from their submission to their first start was recorded with the trace. "
                              "As the four metrics below it is defined only if there are some; rejected jobs are left "
                              "out."},
    [METRIC_RECORDED_WAIT_MEAN] = {"recorded_wait_mean_s", NAN, "s", BETTER_NEITHER,
                                   "The mean of the waits that were recorded."},
    [METRIC_WAIT_ERROR_MEAN] =
        {"wait_error_mean_s", NAN, "s", BETTER_NEITHER,
         "The mean of the simulated minus the recorded wait: above 0, jobs wait longer here. A job "
         "that has not started has the wait so far."},
    [METRIC_WAIT_ERROR_ABS_MEAN] = {"wait_error_abs_mean_s", NAN, "s", BETTER_NEITHER,
                                    "The mean of the differences between the simulated and the recorded wait, without "
                                    "their signs."},
    [METRIC_WAIT_NEAR_RATIO] =
        {"wait_near_ratio", NAN, "ratio", BETTER_NEITHER,
         "The part of these jobs whose simulated wait differs from the recorded one by at most a "
         "minute, or a tenth of the recorded one."},
    [METRIC_DEADLINE_JOBS] = {"deadline_jobs", NAN, "jobs", BETTER_NEITHER,
                              "Jobs that have a deadline (deadline_s of a trace). This metric and the next three are "
                              "not defined without such jobs."},
    [METRIC_DEADLINES_MISSED] = {"deadlines_missed", NAN, "jobs", BETTER_LOWER,
                                 "Jobs that had not ended by their deadlines, in whatever state. A job that has not "
                                 "ended when the run does has missed its deadline if that is before."},
    [METRIC_DEADLINES_MISSED_RATIO] = {"deadlines_missed_ratio", NAN, "ratio", BETTER_LOWER,
                                       "deadlines_missed / deadline_jobs."},
    [METRIC_TARDINESS_MEAN_S] = {"tardiness_mean_s", NAN, "s", BETTER_LOWER,
                                 "Mean over the jobs that have a deadline of max(0, end - deadline); a job that has "
                                 "not ended counts with the end of the run."},
    [METRIC_JOBS_SUBMITTED] = {"jobs_submitted", NAN, "jobs", BETTER_NEITHER,
                               "Jobs submitted after the warm-up; the states below add up to it."},
    [METRIC_JOBS_ACCEPTED] = {"jobs_accepted", NAN, "jobs", BETTER_HIGHER,
                              "Jobs submitted after the warm-up and not rejected: those of which "
                              "the queue times are."},
    [METRIC_REJECTED_RATIO] = {"rejected_ratio", NAN, "ratio", BETTER_LOWER, "jobs_rejected / jobs_submitted."},
    [METRIC_JOBS_COMPLETED] = {"jobs_completed", NAN, "jobs", BETTER_HIGHER, "Jobs that did all their work."},
    [METRIC_JOBS_FAILED] = {"jobs_failed", NAN, "jobs", BETTER_LOWER, "Jobs that ended by a failure of their own."},
    [METRIC_JOBS_CANCELLED] = {"jobs_cancelled", NAN, "jobs", BETTER_NEITHER, "Jobs that were cancelled."},
    [METRIC_JOBS_LIMIT] = {"jobs_limit", NAN, "jobs", BETTER_LOWER, "Jobs that were killed at their time limit."},
    [METRIC_JOBS_REJECTED] = {"jobs_rejected", NAN, "jobs", BETTER_LOWER,
                              "Jobs that were never admitted: they can never fit, another program that decides refused "
                              "them, the queue limit was reached, or a "
                              "dependency ended otherwise than asked. They count in no wait."},
    [METRIC_JOBS_PENDING] = {"jobs_pending", NAN, "jobs", BETTER_LOWER,
                             "Jobs that had not started when the run ended."},
    [METRIC_JOBS_RUNNING] = {"jobs_running", NAN, "jobs", BETTER_NEITHER,
                             "Jobs that had started and not ended when the run ended."},
    [METRIC_WAIT_RESOURCES_JOB_H] =
        {"wait_resources_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because fewer GPUs, CPUs or memory are free than the job asks; "
         "all their waits from the submission on. Not defined if no job did, or if the run did not "
         "keep reasons."},
    [METRIC_WAIT_FRAGMENTATION_JOB_H] =
        {"wait_fragmentation_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because enough GPUs are free, but not where and as the job "
         "asks them; all their waits from the submission on. Not defined if no job did, or if the "
         "run did not keep reasons."},
    [METRIC_WAIT_TOPOLOGY_JOB_H] =
        {"wait_topology_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because enough GPUs are free, but not inside the domain that "
         "the job must stay within; all their waits from the submission on. Not defined if no job "
         "did, or if the run did not keep reasons."},
    [METRIC_WAIT_RESERVED_FOR_OTHER_JOB_H] =
        {"wait_reserved_for_other_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because enough GPUs would be free but for those that "
         "reservations hold; all their waits from the submission on. Not defined if no job did, or "
         "if the run did not keep reasons."},
    [METRIC_WAIT_HEADROOM_JOB_H] =
        {"wait_headroom_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because enough GPUs would be free but for those that are kept "
         "free for inference; all their waits from the submission on. Not defined if no job did, "
         "or if the run did not keep reasons."},
    [METRIC_WAIT_QUOTA_LIMIT_JOB_H] =
        {"wait_quota_limit_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because the queue, or one above it, is at its limit; all their "
         "waits from the submission on. Not defined if no job did, or if the run did not keep "
         "reasons."},
    [METRIC_WAIT_PRIORITY_JOB_H] =
        {"wait_priority_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because another job goes first in the order; all their waits "
         "from the submission on. Not defined if no job did, or if the run did not keep reasons."},
    [METRIC_WAIT_RESERVED_JOB_H] =
        {"wait_reserved_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because its space is reserved and still being freed; all their "
         "waits from the submission on. Not defined if no job did, or if the run did not keep "
         "reasons."},
    [METRIC_WAIT_HELD_JOB_H] = {"wait_held_job_h", NAN, "job_h", BETTER_LOWER,
                                "Time that the jobs waited because its submitter holds it; all their waits from the "
                                "submission on. Not defined if no job did, or if the run did not keep reasons."},
    [METRIC_WAIT_DEPENDENCY_JOB_H] = {"wait_dependency_job_h", NAN, "job_h", BETTER_LOWER,
                                      "Time that the jobs waited because a job that it depends on "
                                      "has not ended; all their waits from the submission on. Not "
                                      "defined if no job did, or if the run did not keep reasons."},
    [METRIC_WAIT_ARRAY_LIMIT_JOB_H] =
        {"wait_array_limit_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because enough elements of its array run; all their waits from "
         "the submission on. Not defined if no job did, or if the run did not keep reasons."},
    [METRIC_WAIT_SCHEDULING_JOB_H] =
        {"wait_scheduling_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because no scheduling cycle has looked at it yet; all their "
         "waits from the submission on. Not defined if no job did, or if the run did not keep "
         "reasons."},
    [METRIC_WAIT_CONFIGURING_JOB_H] =
        {"wait_configuring_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because its start is decided and has not taken effect; all "
         "their waits from the submission on. Not defined if no job did, or if the run did not "
         "keep reasons."},
    [METRIC_WAIT_NEVER_FITS_JOB_H] =
        {"wait_never_fits_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because no state of this cluster could hold it, and its "
         "rejection was still to come; all their waits from the submission on. Not defined if no "
         "job did, or if the run did not keep reasons."},
    [METRIC_WAIT_DEPENDENCY_NEVER_JOB_H] =
        {"wait_dependency_never_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because a job that it depends on ended otherwise than asked, "
         "and its rejection was still to come; all their waits from the submission on. Not defined "
         "if no job did, or if the run did not keep reasons."},
    [METRIC_WAIT_GANG_ON_SLICES_JOB_H] =
        {"wait_gang_on_slices_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because its members must run together on pieces of GPUs, which "
         "the policy refuses; all their waits from the submission on. Not defined if no job did, "
         "or if the run did not keep reasons."},
    [METRIC_WAIT_AFFINITY_JOB_H] =
        {"wait_affinity_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs waited because affinity rules of tags, its own or those of other "
         "jobs, shut the places that are free; all their waits from the submission on. Not defined "
         "if no job did, or if the run did not keep reasons."},
    [METRIC_WAIT_IDLE_JOB_H] =
        {"wait_idle_job_h", NAN, "job_h", BETTER_LOWER,
         "Time that the jobs rested after they were evicted because they seemed idle (policy idle). "
         "Not defined if no job did, or if the run did not keep reasons."},
};
