#include "workloads/load_model/load_rank.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Tells the stream of the sessions from that of the ranks. */
#define SESSIONS UINT64_C(0x53455353494f4e53)

void load_strata_init(struct load_strata *strata, uint64_t seed, const char *purpose, uint64_t entity)
{
    random_stream_init(&strata->stream, seed, purpose, entity);
    for (uint32_t i = 0; i < LOAD_STRATA; i++)
        strata->order[i] = (uint8_t)i;
    strata->at = LOAD_STRATA;
}

double load_strata_next(struct load_strata *strata)
{
    if (strata->at == LOAD_STRATA) {
        for (uint32_t i = LOAD_STRATA - 1; i > 0; i--) {
            const uint32_t other = random_below(&strata->stream, i + 1);
            const uint8_t kept = strata->order[i];
            strata->order[i] = strata->order[other];
            strata->order[other] = kept;
        }
        strata->at = 0;
    }
    return (strata->order[strata->at++] + random_uniform(&strata->stream)) / LOAD_STRATA;
}

void load_rank_init(struct load_rank *rank, const struct load_memory *memory, uint64_t seed, const char *purpose,
                    uint64_t entity)
{
    *rank = (struct load_rank){.memory = *memory};
    load_strata_init(&rank->sessions, seed, purpose, entity ^ SESSIONS);
    load_strata_init(&rank->own, seed, purpose, entity);
    if (memory->strength > 0) { /* the first session has begun at some time before */
        rank->left = random_below(&rank->sessions.stream, memory->jobs) + 1;
        rank->y = gsl_cdf_ugaussian_Pinv(load_strata_next(&rank->sessions));
    }
}

double load_rank_next(struct load_rank *rank)
{
    const double strength = rank->memory.strength, u = load_strata_next(&rank->own);
    if (strength <= 0)
        return u;
    if (rank->left == 0) {
        rank->left = rank->memory.jobs;
        rank->y = gsl_cdf_ugaussian_Pinv(load_strata_next(&rank->sessions));
    }
    rank->left--;
    const double z = sqrt(strength) * rank->y + sqrt(1 - strength) * gsl_cdf_ugaussian_Pinv(u);
    return fmin(fmax(gsl_cdf_ugaussian_P(z), 1e-15), 1 - 1e-15);
}
