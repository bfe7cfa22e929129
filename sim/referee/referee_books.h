/* sim/referee/referee_books.h -- the referee's books of jobs (referee_books.c) and of space (referee_space.c), on which
 * referee.c bases its verdicts. */
#ifndef SIM_REFEREE_REFEREE_BOOKS_H
#define SIM_REFEREE_REFEREE_BOOKS_H

#include "policies/ledger/ledger.h"
#include "sim/job/job_pieces.h"
#include "sim/referee/referee.h"

/* Members that are starting or leaving. */
struct referee_part {
    decision_id decision;
    struct piece *pieces; /* owned */
    uint32_t piece_count;
    bool is_join;
};

struct referee_job {
    struct job job;            /* its lists are owned */
    struct job_pieces running; /* including members that are leaving */
    struct referee_part *parts;
    size_t part_capacity;
    uint32_t part_count;
    bool is_leaving;         /* all its members are leaving */
    decision_id leaving_for; /* by this decision */
    bool is_held;
    bool is_reserved;
    struct piece *reserved; /* owned: the pieces of its reservation */
    uint32_t reserved_count;
    bool is_waiting; /* it holds nothing, and no members of it are starting */
};

enum referee_end { ENDED_NOT, ENDED_WELL, ENDED_BADLY };

/* The clients that share a GPU, or a node. */
struct referee_share {
    uint32_t clients, domain;
    uint8_t kind; /* enum share_kind; SHARE_MIXED: clients of several kinds, until all have left */
};

struct referee_gpu {
    uint16_t used_milli;
    uint64_t used_memory; /* in thousandths of a MiB, as struct gpu_excess of policies/ledger/ledger.h counts it */
    uint8_t used_slices;  /* MIG: memory slices of the instances in use */
    struct gpu_cut cut;   /* its layout */
    struct gpu_cut next;  /* its next layout, while `cutting` */
    decision_id cutting;  /* the repartition that is under way; 0: none */
    struct referee_share share;
};

struct referee_node {
    uint64_t cpu_milli, memory_mib; /* used */
    uint32_t tasks;
    uint32_t reservations; /* pieces of reservations on the node */
    struct referee_share share;
    uint8_t state; /* enum node_state */
};

enum { REFEREE_COMPLAINT_BYTES = 400 };

struct referee {
    const struct cluster *cluster;
    bool gangs_are_whole;
    struct sharing sharing;     /* policy NULL: pieces are as requested */
    struct referee_gpu *gpus;   /* by gpu_id */
    struct referee_node *nodes; /* by node_id */
    struct referee_job **jobs;  /* by job_id; NULL: not known, or ended */
    size_t job_capacity;
    uint8_t *ends; /* by job_id: enum referee_end */
    size_t end_capacity;
    uint64_t told_count; /* jobs that have come */
    uint32_t id_count;   /* all known ids are below it */
    uint32_t *arrays;    /* by array id: elements of the array that hold members */
    size_t array_capacity;
    uint32_t waiting_count, reserved_count, placed_count;
    decision_id last_decision;
    struct job_pieces stand; /* scratch: the pieces that a job would hold */
    struct node_asks asks;   /* of the jobs */
    char complaint[REFEREE_COMPLAINT_BYTES];
};

/* Set the complaint.  Returns false, for the caller to return. */
bool referee_says(struct referee *referee, const char *format, ...) LIKE_PRINTF(2, 3);

/* NULL if the job is not known or has ended. */
struct referee_job *referee_job(const struct referee *referee, job_id id);

/* Space. */
void referee_take(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count);
void referee_give(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count);

/* Is the piece of the kind that its group requests?  Free space is not considered. */
bool referee_piece_is_asked(struct referee *referee, const struct referee_job *job, const struct piece *piece);
/* Is its space free?  is_new: the node must also accept new work. */
bool referee_piece_is_free(struct referee *referee, const struct referee_job *job, const struct piece *piece,
                           bool is_new);

/* May the GPU of the decision get this layout?  Whatever is in use on it must survive.  If so, the repartition is
 * noted. */
bool referee_allows_cut(struct referee *referee, const struct decision *decision);
/* A GPU has this layout now; or the decision to repartition one was refused. */
void referee_cut_done(struct referee *referee, const struct fact *fact);
void referee_cut_refused(struct referee *referee, decision_id decision);

void referee_add_part(struct referee_job *job, decision_id decision, const struct piece *pieces, uint32_t count,
                      bool is_join);

/* After a change, count the job among the waiting or the placed jobs.  job->is_waiting must still be as before the
 * change. */
void referee_settle(struct referee *referee, struct referee_job *job);
/* Replace the job's reservation by these pieces; count 0: by none. */
void referee_reserve(struct referee *referee, struct referee_job *job, const struct piece *pieces, uint32_t count);
void referee_release(struct referee *referee, struct referee_job *job);
void referee_forget(struct referee *referee, job_id id, enum referee_end end);

/* May new members of the job be on these pieces, by the job's rules of tags (struct job_tags) and by those of other
 * jobs?  O(pieces * rules * what all jobs hold) if it has tags. */
bool referee_tags_hold(struct referee *referee, const struct referee_job *job, const struct piece *pieces,
                       uint32_t count);

#endif
