/* sim/referee/referee_books.h -- the referee's inside: jobs and space; shared by referee.c (verdicts) and
 * referee_books.c. */
#ifndef SIM_REFEREE_REFEREE_BOOKS_H
#define SIM_REFEREE_REFEREE_BOOKS_H

#include "policies/ledger/ledger.h"
#include "sim/job/job_pieces.h"
#include "sim/referee/referee.h"

/* Members on their way in or out. */
struct referee_part {
    decision_id decision;
    struct piece *pieces; /* owned */
    uint32_t piece_count;
    bool is_join;
};

struct referee_job {
    struct job job;            /* its lists are owned */
    struct job_pieces running; /* those that leave included */
    struct referee_part *parts;
    size_t part_capacity;
    uint32_t part_count;
    bool is_leaving;         /* all of it */
    decision_id leaving_for; /* the decision of that */
    bool is_held;
    bool is_reserved;
    struct piece *reserved; /* owned: on which pieces */
    uint32_t reserved_count;
    bool is_waiting; /* it holds nothing and nothing is on its way to it */
};

enum referee_end { ENDED_NOT, ENDED_WELL, ENDED_BADLY };

/* Who shares a GPU, or a node. */
struct referee_share {
    uint32_t clients, domain;
    uint8_t kind; /* enum share_kind; SHARE_MIXED: of several, until all have left */
};

struct referee_gpu {
    uint16_t used_milli;
    uint8_t used_slices; /* MIG: those of instances in use, by their memory slices */
    struct gpu_cut cut;  /* how it is cut */
    struct gpu_cut next; /* how it is to be, while `cutting` */
    decision_id cutting; /* the repartition that is not done yet; 0: none */
    struct referee_share share;
};

struct referee_node {
    uint64_t cpu_milli, memory_mib; /* used */
    uint32_t tasks;
    uint32_t reservations; /* pieces of them on the node */
    struct referee_share share;
    uint8_t state; /* enum node_state */
};

enum { REFEREE_COMPLAINT_BYTES = 400 };

struct referee {
    const struct cluster *cluster;
    bool gangs_are_whole;
    struct sharing sharing;     /* policy NULL: as asked */
    struct referee_gpu *gpus;   /* by gpu_id */
    struct referee_node *nodes; /* by node_id */
    struct referee_job **jobs;  /* by job_id; NULL: not known, or over */
    size_t job_capacity;
    uint8_t *ends; /* by job_id: enum referee_end */
    size_t end_capacity;
    uint64_t told_count; /* jobs that ever came */
    uint32_t id_count;   /* ids below it may be known */
    uint32_t *arrays;    /* by array id: elements that hold members */
    size_t array_capacity;
    uint32_t waiting_count, reserved_count, placed_count;
    decision_id last_decision;
    struct job_pieces stand; /* scratch: what a job would hold */
    struct node_asks asks;   /* of the jobs */
    char complaint[REFEREE_COMPLAINT_BYTES];
};

/* Set the complaint; false, to be returned. */
bool referee_says(struct referee *referee, const char *format, ...) LIKE_PRINTF(2, 3);

/* NULL if it is not known or over. */
struct referee_job *referee_job(const struct referee *referee, job_id id);

/* Space. */
void referee_take(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count);
void referee_give(struct referee *referee, const struct referee_job *job, const struct piece *pieces, uint32_t count);

/* Whether this piece is what its group asks, whatever is free. */
bool referee_piece_is_asked(struct referee *referee, const struct referee_job *job, const struct piece *piece);
/* Whether its space is free.  is_new: the node must take new work. */
bool referee_piece_is_free(struct referee *referee, const struct referee_job *job, const struct piece *piece,
                           bool is_new);

/* Whether what is in use stays when the one GPU of the piece is cut so. */
bool referee_allows_cut(struct referee *referee, const struct decision *decision);
/* Whether such a piece is still there when its GPUs, as far as they are being cut, have been. */
bool referee_outlives_cut(struct referee *referee, const struct request *request, const struct piece *piece);
/* A GPU is cut so now; or the decision to cut one was refused. */
void referee_cut_done(struct referee *referee, const struct fact *fact);
void referee_cut_refused(struct referee *referee, decision_id decision);

void referee_add_part(struct referee_job *job, decision_id decision, const struct piece *pieces, uint32_t count,
                      bool is_join);

/* Count it among the waiting or the placed after a change; call with what is_waiting was before any. */
void referee_settle(struct referee *referee, struct referee_job *job);
/* Pieces of the reservation that takes the place of what it had; none: it has none any more. */
void referee_reserve(struct referee *referee, struct referee_job *job, const struct piece *pieces, uint32_t count);
void referee_release(struct referee *referee, struct referee_job *job);
void referee_forget(struct referee *referee, job_id id, enum referee_end end);

/* May new members of the job be on these pieces, by the rules of tags (struct job_tags): its own, and those of others?
 * O(pieces * rules * what all jobs hold) if it has tags. */
bool referee_tags_hold(struct referee *referee, const struct referee_job *job, const struct piece *pieces,
                       uint32_t count);

/* Members on the piece come, or leave (members below 0). */
void referee_move_share(struct referee *referee, const struct request *request, const struct piece *piece,
                        int64_t members);
/* May the piece be beside those that share its GPU and its node? */
bool referee_has_company(struct referee *referee, const struct request *request, const struct piece *piece);

#endif
