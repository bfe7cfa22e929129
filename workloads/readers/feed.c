#include "workloads/readers/feed.h"

#define MILLI_NS_PER_GPU_S 1e12

void feed_count(struct feed *feed, const struct job *job, const struct job_truth *truth)
{
    struct workload_facts *facts = feed->facts;
    if (facts->job_count == 0)
        facts->first_submit = facts->last_submit = job->submit;
    if (job->submit < facts->first_submit)
        facts->first_submit = job->submit;
    if (job->submit > facts->last_submit)
        facts->last_submit = job->submit;
    facts->job_count++;
    feed->work += (feed_gpu_ns)job_asked_milli(job, feed->tables->cluster) * (uint64_t)job_truth_work(truth);
}

void feed_count_again(struct feed *feed)
{
    feed->facts->job_count = 0;
    feed->work = 0;
}

void feed_count_end(struct feed *feed)
{
    struct workload_facts *facts = feed->facts;
    const struct cluster *cluster = feed->tables->cluster;
    const double span_s = time_to_seconds(facts->last_submit - facts->first_submit);
    const uint32_t gpus = cluster != NULL ? cluster->gpu_count : 0;
    facts->gpu_s = (double)feed->work / MILLI_NS_PER_GPU_S;
    facts->load_recorded = span_s > 0 && gpus > 0 ? facts->gpu_s / (span_s * gpus) : 0;
}
