/* history.  A job runs as long as its user's last two did on average: the last two that asked the same, else the last
 * two whatever they asked.  What it declares counts where there is none (as `declared`), and the limit bounds it.
 * Source: Tsafrir, Etsion, Feitelson, "Backfilling Using System-Generated Predictions Rather than User Runtime
 * Estimates", IEEE TPDS 18(6), 2007: the mean of the user's last two run times.  Departures: those that asked the same
 * go first; nothing is predicted anew for a job that outlives its prediction
 * (policies/reservation/planned_start_book.c plans on).
 * Cost: O(1) for a job that comes and for one that ends; 24 to 40 bytes for each user, and for each user and request
 * class. Works where users repeat themselves and limits are far too long.  Known failure: the first jobs of a user are
 * as under `declared`, and a prediction that is too short delays those who were promised its space. */
#include "policies/estimate/estimates.h"

struct last_two { /* 0: there is none */
    time_ns newer, older;
};

static time_ns length(time_ns limit, time_ns estimate, const struct policy_own *own)
{
    (void)own;
    return estimate < limit ? estimate : limit;
}

static void note_run(void *state, time_ns ran)
{
    struct last_two *last = state;
    *last = (struct last_two){.newer = ran, .older = last->newer};
}

static time_ns predict(const void *state)
{
    const struct last_two *last = state;
    if (last->older == 0)
        return last->newer != 0 ? last->newer : TIME_NEVER;
    return last->older + (last->newer - last->older) / 2;
}

const struct estimate_policy estimate_history = {
    .name = "history",
    .version = 1,
    .summary = "the mean of the user's last two runs, at most the limit; learns by itself, wrong "
               "where users do not repeat themselves",
    .length = length,
    .state_size = sizeof(struct last_two),
    .note_run = note_run,
    .predict = predict,
};
