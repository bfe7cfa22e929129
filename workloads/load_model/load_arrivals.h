/* workloads/load_model/load_arrivals.h -- the times at which one client of a stream submits its jobs.
 *
 * Arrivals are a renewal process in a time of its own, which runs faster when there is more to do:
 *
 *   rate(t) = jobs_per_day x the client's share x cycle(t) x state(t) / mean of (cycle, states)
 *
 * The gaps between arrivals, in units of their mean, are added up in that time.  With exponential gaps this is a
 * Poisson process with this rate; with states it is an MMPP; with gamma, Weibull or empirical gaps a renewal process.
 *
 *   memory  of gaps: load_rank.h.  Without it they are independent
 *   cycle   `factors` over equal parts of `period` (a day, a week); time 0 is its beginning, of a week Monday 00:00
 *   states  a Markov chain in time: exponential stays of this mean, then another state, drawn by weight
 *   days    in place of states: a day has jobs_per_day x its factor / the mean of factors arrivals, rounded up with
 *           the probability of the fraction.  Their gaps fill the day: what one more gap would leave of it is at its
 *           end (a bridge; with exponential gaps the times are independent, as those of a Poisson process).  Days
 *           follow each other in runs: with the probability 1 day / `run` a day is drawn at random, else the next one
 *           of the list follows (a stationary bootstrap: Politis and Romano, JASA 89(428), 1994); without `run` the
 *           list is followed from its beginning, again and again
 *   clients `count` of them, each with a process of its own and a share of the rate, r^-exponent / sum for rank r; days
 *           and states are the same for all
 *
 * Laws: times never decrease and are whole microseconds; they depend on (seed, stream, client, plan) alone; the mean
 * rate is jobs_per_day over whole cycles.  If jobs_per_day is not given, it is 86400 / the mean gap in seconds, of all
 * clients together.
 */
#ifndef WORKLOADS_LOAD_MODEL_LOAD_ARRIVALS_H
#define WORKLOADS_LOAD_MODEL_LOAD_ARRIVALS_H

#include "workloads/load_model/load_rank.h"

struct load_arrivals {
    const struct load_arrivals_plan *plan;
    double gap_mean;   /* of the plan's gaps */
    double rate_per_s; /* arrivals when all factors are 1 */
    time_ns now, edge; /* of the process; edge: when the factor changes next */
    double factor;
    uint32_t state;
    time_ns state_end;
    int64_t day;        /* the present one; -1: none yet */
    uint32_t day_index; /* in the list */
    double *parts;      /* of the day that lie before its arrivals and behind the last; owned */
    size_t part_capacity, part_count, part_next;
    double day_s; /* the cycle's factor over the present day, integrated */
    struct load_rank ranks;
    struct random_stream gaps, days, counts, states;
};

/* entity: names the stream; client: its rank, from 0.  *arrivals must not be moved. */
void load_arrivals_init(struct load_arrivals *arrivals, const struct load_arrivals_plan *plan, uint64_t seed,
                        uint64_t entity, uint32_t client);
void load_arrivals_release(struct load_arrivals *arrivals);

/* The next time; TIME_NEVER: none before `until`. */
time_ns load_arrivals_next(struct load_arrivals *arrivals, time_ns until);

/* Share of rank `index` (from 0). */
double load_zipf_share(const struct load_zipf *zipf, uint32_t index);

#endif
