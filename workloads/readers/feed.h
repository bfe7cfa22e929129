/* workloads/readers/feed.h -- jobs in the order of submission, before a source numbers them: what a source is made of.
 *
 * Words: a feed is one way to make jobs: a trace (trace_feed.h), a mix of classes (synth_feed.h).  struct job_source
 * (source.h) takes jobs from one feed, applies what holds for jobs of any origin, and numbers them.
 *
 * Laws
 *  - Submit times never decrease and start at 0 or later.
 *  - What a job points to is borrowed until the next call of `next`, but its constraint on nodes and its communication
 *    as long as the tables.
 *  - job->after names jobs by their place in the feed, from 0; job->id is not set.
 *  - Ids of queues, users, tags and classes are those of the tables.
 *  - The facts are complete when the stream has ended.
 *
 * It does not: number jobs, apply tables of a scenario, hash arrivals.
 */
#ifndef WORKLOADS_READERS_FEED_H
#define WORKLOADS_READERS_FEED_H

#include "workloads/readers/declared.h"
#include "workloads/readers/source.h"

/* What the jobs of a source name by number or point to. */
struct job_tables {
    const struct cluster *cluster; /* borrowed; NULL: models are ignored */
    struct queue_table *queues;
    struct names *users, *tags, *classes;
    struct names *arrays;  /* of a trace, by number - 1; of a merge there are none */
    struct node_asks asks; /* the jobs' constraints on nodes */
    struct declared declared;
};

struct feed;

struct feed_ops {
    /* The next job; *has false at the end, and from then on. */
    struct error (*next)(struct feed *feed, struct job *job, struct job_truth *truth, bool *has);

    /* As job_source_preview.  NULL: it shows none. */
    struct error (*preview)(struct feed *feed, job_source_seen_fn *seen, void *self);

    /* As job_source_check.  NULL: nothing is read twice. */
    struct error (*check)(struct feed *feed);

    void (*free)(struct feed *feed); /* also after an opening that failed */
};

/* Make the feed of a workload.  tables, facts: of the source.  *out must be freed through its ops, also after an
 * error. */
typedef struct error feed_open_fn(struct feed **out, const struct workload_spec *spec, struct job_tables *tables,
                                  struct workload_facts *facts, uint64_t seed);

/* The first member of the struct of each kind of feed. */
struct feed {
    const struct feed_ops *ops;
    struct job_tables *tables;    /* borrowed: of the source */
    struct workload_facts *facts; /* borrowed: of the source */
    struct offered_counts counts; /* of the jobs counted; feed_count_again begins it */
    uint32_t preview_max;         /* as job_source_preview_max */
};

enum { FEED_PREVIEW_MADE = 4000 }; /* jobs that a feed shows which makes them up */

/* The users of the source that copies stand for (blocks.h); NULL: no user is a copy. */
const struct blocks_users *job_source_copies(const struct job_source *source);

/* Count a job in the facts: number, first and last submission, GPU time that it asks. */
void feed_count(struct feed *feed, const struct job *job, const struct job_truth *truth);
void feed_count_again(struct feed *feed); /* from zero; also before the first job */

/* Compute the facts that follow from the counts. */
void feed_count_end(struct feed *feed);

#endif
