#include "sim/job/fault.h"

#include <assert.h>
#include <math.h>

#include "base/hash.h"
#include "base/random.h"

static double rate_of_all(const struct fault_rates *rates)
{
    double sum = 0;
    for (int cause = 0; cause < FAULT_CAUSE_COUNT; cause++)
        sum += rates->per_job_h[cause];
    return sum;
}

bool fault_rates_are_set(const struct fault_rates *rates)
{
    return rate_of_all(rates) > 0;
}

static uint8_t draw_cause(const struct fault_rates *rates, double point)
{
    int last = 0;
    for (int cause = 0; cause < FAULT_CAUSE_COUNT; cause++) {
        if (rates->per_job_h[cause] <= 0)
            continue;
        last = cause;
        if (point < rates->per_job_h[cause])
            break;
        point -= rates->per_job_h[cause];
    }
    return (uint8_t)last;
}

void fault_next(const struct fault_rates *rates, uint64_t seed, job_id job, struct fault *fault)
{
    static const double ns_per_hour = 3600e9;
    const double all = rate_of_all(rates);
    struct random_stream stream;
    assert(all > 0);
    random_stream_init(&stream, seed, "job faults", (uint64_t)job << 32 | fault->number);
    const double gap_ns = ceil(-log(random_uniform(&stream)) / all * ns_per_hour);
    fault->at = gap_ns < (double)(TIME_NS_MAX - fault->at) ? fault->at + (time_ns)gap_ns : TIME_NEVER;
    fault->number++;
    fault->cause = draw_cause(rates, random_uniform(&stream) * all);
    fault->salt = random_below(&stream, UINT32_MAX);
}

bool fault_takes_clients(enum fault_cause cause, enum share_kind kind)
{
    return kind == SHARE_MPS || cause == FAULT_OUT_OF_MEMORY;
}

uint64_t fault_key(const struct fault *fault, node_id node, uint32_t gpu_index)
{
    return hash_mix(fault->salt, (uint64_t)node << 8 | gpu_index);
}
