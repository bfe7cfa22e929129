#include "reports/waterfall.h"

#include <math.h>

void waterfall_of(const double spent[SPENT_COUNT], const double use[USE_COUNT], double active, double parts[FALL_COUNT])
{
    /* in the order in which they give what others lack */
    static const enum waterfall_part givers[] = {FALL_UNUSED,  FALL_UNASKED, FALL_WAITING, FALL_RESERVED,
                                                 FALL_CUT,     FALL_START,   FALL_HOST,    FALL_NETWORK,
                                                 FALL_UNKNOWN, FALL_DOWN,    FALL_LOST,    FALL_ACTIVE};
    const double worked = spent[SPENT_USEFUL] + spent[SPENT_COMMUNICATION] + spent[SPENT_NEIGHBOURS] +
                          spent[SPENT_SLICED] - use[USE_UNCOVERED] + spent[SPENT_LOST] + spent[SPENT_IDLE_HELD];
    double lacking = 0;
    parts[FALL_UNASKED] = spent[SPENT_IDLE] - use[USE_WAITED];
    parts[FALL_WAITING] = use[USE_WAITED];
    parts[FALL_RESERVED] = spent[SPENT_RESERVED];
    parts[FALL_DOWN] = spent[SPENT_DOWN];
    parts[FALL_CUT] = spent[SPENT_REPARTITION] + use[USE_UNCOVERED];
    parts[FALL_START] = spent[SPENT_RESTART];
    parts[FALL_HOST] = use[USE_HOST];
    parts[FALL_NETWORK] = use[USE_NETWORK];
    parts[FALL_UNKNOWN] = use[USE_UNKNOWN];
    parts[FALL_LOST] = fmin(use[USE_ACTIVE_LOST], active);
    parts[FALL_ACTIVE] = active - parts[FALL_LOST];
    parts[FALL_UNUSED] = worked - use[USE_HOST] - use[USE_NETWORK] - use[USE_UNKNOWN] - active;
    for (int part = 0; part < FALL_COUNT; part++) {
        lacking += fmax(0, -parts[part]);
        parts[part] = fmax(0, parts[part]);
    }
    for (int giver = 0; giver < FALL_COUNT; giver++) {
        const double given = fmin(lacking, parts[givers[giver]]);
        parts[givers[giver]] -= given;
        lacking -= given;
    }
}
