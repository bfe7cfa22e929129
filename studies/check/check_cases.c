#include "studies/check/check_cases.h"

#include "studies/check/laws.h"

enum { STARTS = 1 << CHECK_STARTS, RECLAIM = 1 << CHECK_RECLAIM, MINIMAL = 1 << CHECK_MINIMAL };

#define CLUSTER(nodes, gpus)                                                                                           \
    "'cluster': {'name': 'c', 'pools': [{'nodes': " #nodes ", 'gpus_per_node': " #gpus ", 'gpu_model': "               \
    "'h100-80gb'}]}, "

/* All jobs are of one queue, whose quota is the cluster. */
#define ONE_QUEUE(nodes, gpus, all) CLUSTER(nodes, gpus) "'queues': [{'name': 'all', 'quota_gpus': " #all "}], "

/* A job that asks for one GPU and runs for `duration` seconds. */
#define FILLER(id, duration)                                                                                           \
    "{'job_id': " #id ", 'submit_s': 0, 'duration_s': " #duration ", 'gpus': 1, 'queue': 'all'}\n"

const struct check_case check_cases[] = {
    {.name = "one job",
     .laws = STARTS,
     .setup = ONE_QUEUE(1, 8, 8),
     .jobs = "{'job_id': 0, 'submit_s': 0, 'duration_s': 60, 'gpus': 1, 'queue': 'all'}\n"},
    {.name = "many jobs at once",
     .laws = STARTS,
     .setup = ONE_QUEUE(1, 8, 8),
     .jobs = FILLER(0, 60) FILLER(1, 1) FILLER(2, 5) FILLER(3, 60) FILLER(4, 600) FILLER(5, 7) FILLER(6, 60)
         FILLER(7, 60) FILLER(8, 1) FILLER(9, 60) FILLER(10, 60) FILLER(11, 60) FILLER(12, 60) FILLER(13, 60)
             FILLER(14, 60) FILLER(15, 60) FILLER(16, 60) FILLER(17, 60) FILLER(18, 60) FILLER(19, 600) FILLER(20, 60)
                 FILLER(21, 60) FILLER(22, 60) FILLER(23, 60)},
    /* GPUs come free in ones and twos, and each gang takes what suits its members: 4 of 6 GPUs each, in the end. */
    {.name = "two gangs that could block each other",
     .laws = STARTS,
     .setup = ONE_QUEUE(1, 8, 8),
     .jobs = FILLER(0, 100) FILLER(1, 100) FILLER(2, 200) FILLER(3, 300) FILLER(4, 300) FILLER(5, 400) FILLER(6, 500)
         FILLER(7, 600) "{'job_id': 8, 'submit_s': 1, 'duration_s': 60, 'gpus': 6, 'nodes': 3, 'queue': 'all'}\n"
                        "{'job_id': 9, 'submit_s': 1, 'duration_s': 60, 'gpus': 6, 'nodes': 6, 'queue': 'all'}\n"},
    {.name = "an owner takes back what others borrow",
     .laws = RECLAIM | MINIMAL,
     .setup = CLUSTER(1, 4) "'queues': [{'name': 'owner', 'quota_gpus': 2}, {'name': 'borrower', 'quota_gpus': 2}], ",
     .jobs = "{'job_id': 0, 'submit_s': 0, 'duration_s': 864000, 'gpus': 1, 'queue': 'borrower', 'preemptible': true}\n"
             "{'job_id': 1, 'submit_s': 0, 'duration_s': 864000, 'gpus': 1, 'queue': 'borrower', 'preemptible': true}\n"
             "{'job_id': 2, 'submit_s': 0, 'duration_s': 864000, 'gpus': 1, 'queue': 'borrower', 'preemptible': true}\n"
             "{'job_id': 3, 'submit_s': 0, 'duration_s': 864000, 'gpus': 1, 'queue': 'borrower', 'preemptible': true}\n"
             "{'job_id': 4, 'submit_s': 7200, 'duration_s': 600, 'gpus': 2, 'queue': 'owner', 'preemptible': true}\n"},
    {.name = "a job larger than the cluster",
     .setup = ONE_QUEUE(2, 8, 16),
     .jobs = "{'job_id': 0, 'submit_s': 0, 'duration_s': 60, 'gpus': 24, 'nodes': 3, 'queue': 'all'}\n"
             "{'job_id': 1, 'submit_s': 1, 'duration_s': 60, 'gpus': 1, 'queue': 'all'}\n"},
    {.name = "three equal jobs for one GPU",
     .laws = STARTS | MINIMAL,
     .setup = ONE_QUEUE(1, 1, 1),
     .jobs = "{'job_id': 0, 'submit_s': 0, 'duration_s': 86400, 'gpus': 1, 'queue': 'all'}\n"
             "{'job_id': 1, 'submit_s': 0, 'duration_s': 86400, 'gpus': 1, 'queue': 'all'}\n"
             "{'job_id': 2, 'submit_s': 0, 'duration_s': 86400, 'gpus': 1, 'queue': 'all'}\n"},
    {.name = "urgent jobs that keep coming",
     .laws = STARTS | MINIMAL,
     .setup = ONE_QUEUE(1, 2, 2),
     .jobs = "{'job_id': 0, 'submit_s': 0, 'duration_s': 5000, 'gpus': 2, 'priority': 10, 'queue': 'all'}\n"
             "{'job_id': 1, 'submit_s': 100, 'duration_s': 300, 'gpus': 1, 'priority': 90, 'queue': 'all'}\n"
             "{'job_id': 2, 'submit_s': 700, 'duration_s': 300, 'gpus': 1, 'priority': 90, 'queue': 'all'}\n"
             "{'job_id': 3, 'submit_s': 1300, 'duration_s': 300, 'gpus': 2, 'priority': 90, 'queue': 'all'}\n"
             "{'job_id': 4, 'submit_s': 1900, 'duration_s': 300, 'gpus': 1, 'priority': 90, 'queue': 'all'}\n"
             "{'job_id': 5, 'submit_s': 2500, 'duration_s': 300, 'gpus': 1, 'priority': 90, 'queue': 'all'}\n"},
    {.name = "a gang that grows and shrinks",
     .setup = ONE_QUEUE(2, 4, 8),
     .jobs =
         "{'job_id': 0, 'submit_s': 0, 'duration_s': 5000, 'gpus': 8, 'nodes': 8, 'min_members': 2, 'queue': 'all'}\n"
         "{'job_id': 1, 'submit_s': 60, 'duration_s': 600, 'gpus': 4, 'nodes': 1, 'priority': 90, 'queue': 'all'}\n"
         "{'job_id': 2, 'submit_s': 120, 'duration_s': 600, 'gpus': 8, 'nodes': 8, 'min_members': 8, 'queue': "
         "'all'}\n"},
    {.name = "halves of GPUs",
     .setup = ONE_QUEUE(1, 2, 2),
     .jobs = "{'job_id': 0, 'submit_s': 0, 'duration_s': 600, 'gpus': 1, 'gpu_fraction': 0.5, 'queue': 'all'}\n"
             "{'job_id': 1, 'submit_s': 0, 'duration_s': 600, 'gpus': 1, 'gpu_fraction': 0.5, 'queue': 'all'}\n"
             "{'job_id': 2, 'submit_s': 0, 'duration_s': 600, 'gpus': 1, 'gpu_fraction': 0.6, 'queue': 'all'}\n"
             "{'job_id': 3, 'submit_s': 1, 'duration_s': 600, 'gpus': 2, 'queue': 'all'}\n"},
};
const size_t check_case_count = sizeof check_cases / sizeof *check_cases;
