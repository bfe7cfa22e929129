#include "workloads/readers/feed.h"

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
    offered_add(&feed->counts, job, truth);
}

void feed_count_again(struct feed *feed)
{
    feed->facts->job_count = 0;
    offered_begin(&feed->counts, OFFERED_STREAM, feed->tables->cluster, TIME_NEVER);
}

void feed_count_end(struct feed *feed)
{
    feed->facts->recorded = offered_end(&feed->counts, NULL);
}
