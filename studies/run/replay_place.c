#include "studies/run/replay_place.h"

#include <math.h>

struct replay_place replay_place_of(double value, const double *shaken, size_t count)
{
    struct replay_place place = {.value = value};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(shaken[i]))
            continue;
        place.count++;
        place.below += shaken[i] < value;
        sum += shaken[i];
    }
    place.mean = place.count > 0 ? sum / (double)place.count : NAN;
    for (size_t i = 0; i < count; i++)
        if (!isnan(shaken[i]))
            squares += (shaken[i] - place.mean) * (shaken[i] - place.mean);
    place.deviation = place.count > 1 ? sqrt(squares / (double)(place.count - 1)) : NAN;
    place.deviations = (value - place.mean) / place.deviation;
    if (!isfinite(place.deviations))
        place.deviations = place.count > 1 && value == place.mean ? 0 : NAN;
    return place;
}

void replay_place_write(const struct replay_place *place, struct buffer *out)
{
    if (isnan(place->value) || place->count == 0)
        buffer_string(out, "\xe2\x80\x93"); /* U+2013 */
    else if (isnan(place->deviations))
        buffer_string(out, place->count == 1 ? "not known from one" : "beside all of them, which are equal");
    else if (place->deviations == 0)
        buffer_string(out, "on their mean");
    else
        buffer_format(out, "%.1f deviations %s; %zu of %zu are smaller", fabs(place->deviations),
                      place->deviations > 0 ? "above" : "below", place->below, place->count);
}
