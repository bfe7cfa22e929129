#include "sim/monitor/monitor.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#include "base/hash.h"
#include "base/random.h"

enum { READING_MAX = 1000 };

uint64_t monitor_noise(uint64_t seed)
{
    return random_purpose(seed, "monitor");
}

bool monitor_reads(const struct monitor_config *config, uint64_t noise, uint64_t job, uint64_t tick, double mean_milli,
                   uint16_t *reading)
{
    if (config->noise > 0 || config->missing > 0) {
        struct random_stream stream;
        random_stream_of(&stream, noise, hash_mix(job, tick));
        if (random_uniform(&stream) < config->missing)
            return false;
        if (config->noise > 0)
            mean_milli += gsl_ran_gaussian_ziggurat(random_gsl(&stream), config->noise * READING_MAX);
    }
    const long milli = lround(mean_milli);
    *reading = (uint16_t)(milli < 0 ? 0 : milli > READING_MAX ? READING_MAX : milli);
    return true;
}
