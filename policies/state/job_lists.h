/* policies/state/job_lists.h -- jobs listed and counted by what they hold.
 *
 * Law: policies/booking alone writes them; policies/cycle/check.c counts them again.
 */
#ifndef POLICIES_STATE_JOB_LISTS_H
#define POLICIES_STATE_JOB_LISTS_H

#include <stddef.h>
#include <stdint.h>

struct slot_list;

struct job_lists {
    struct slot_list *running; /* by queue_id: jobs that hold something and may be evicted, in no order */
    size_t running_capacity;
    uint32_t *below; /* slots of jobs that hold something, but less than their minimum */
    size_t below_capacity;
    uint32_t below_count;
    uint32_t booked_count;       /* jobs that hold something other than claims and leaving pieces */
    uint32_t held_count;         /* jobs in SJOB_HELD */
    uint32_t leaving_count;      /* holdings on their way out */
    uint32_t leaving_firm_count; /* those of jobs that cannot be preempted */
};

#endif
