/* studies/run/replay_place.h -- where the value of one replay lies among those of shaken ones: how far it may be an
 * accident.
 *
 *   struct replay_place place = replay_place_of(311.5, values, 5);
 *   replay_place_write(&place, &out);                   "0.8 deviations above; 3 of 5 are smaller"
 */
#ifndef STUDIES_RUN_REPLAY_PLACE_H
#define STUDIES_RUN_REPLAY_PLACE_H

#include "base/buffer.h"

struct replay_place {
    double value;           /* of the replay; NAN: it has none */
    double mean, deviation; /* of the shaken ones; NAN: there are none; less than two */
    double deviations;      /* (value - mean) / deviation; NAN: not known */
    size_t below, count;    /* shaken ones with a smaller value, and all with a value */
};

/* shaken: NAN where one has no value. */
struct replay_place replay_place_of(double value, const double *shaken, size_t count);
void replay_place_write(const struct replay_place *place, struct buffer *out);

#endif
