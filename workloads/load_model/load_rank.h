/* workloads/load_model/load_rank.h -- ranks (cumulative probabilities) that are alike for a while, and evenly spread.
 *
 *   u = Phi(sqrt(s) y + sqrt(1 - s) e)
 *
 * s is the strength; e is drawn for each rank and y for each session of `jobs` ranks, both normal.  So ranks are
 * uniform, and the normal scores of ranks l apart have the correlation s max(0, 1 - l / jobs).
 * If they are to be even, values of e come in blocks: each block has one value in each of LOAD_STRATA equally likely
 * intervals, in random order.  Values of y are then a scrambled van der Corput sequence (A. Owen, 1995), each block of
 * LOAD_STRATA in random order: 2^k blocks, from a multiple of 2^k on, have one value in each of 2^k LOAD_STRATA equally
 * likely intervals.  So a long sequence has the distribution of the model more closely than independent draws would.
 * Otherwise all are independent.
 *
 * Law: the ranks depend on (seed, purpose, entity, memory) alone.
 */
#ifndef WORKLOADS_LOAD_MODEL_LOAD_RANK_H
#define WORKLOADS_LOAD_MODEL_LOAD_RANK_H

#include "base/random.h"
#include "workloads/load_model/load_model.h"

enum { LOAD_STRATA = 128 };

struct load_strata {
    uint8_t order[LOAD_STRATA];
    uint32_t at; /* LOAD_STRATA: the block is used up */
    struct random_stream stream;
};

struct load_rank {
    struct load_memory memory;
    uint32_t session, left;     /* number of the next session; ranks that are left of the present one */
    uint32_t key;               /* of the scrambling */
    uint8_t order[LOAD_STRATA]; /* of the sessions of a block */
    bool is_even;
    struct random_stream sessions;
    double y;
    struct load_strata own;
};

/* *rank must not be moved.  purpose: names the streams. */
void load_rank_init(struct load_rank *rank, const struct load_memory *memory, bool is_even, uint64_t seed,
                    const char *purpose, uint64_t entity);

double load_rank_next(struct load_rank *rank); /* 0 < u < 1 */

/* Evenly spread alone, such as e: uniform numbers, 0 < u < 1.  *strata must not be moved. */
void load_strata_init(struct load_strata *strata, uint64_t seed, const char *purpose, uint64_t entity);
double load_strata_next(struct load_strata *strata);

#endif
