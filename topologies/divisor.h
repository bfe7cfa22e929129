/* topologies/divisor.h -- the greatest common divisor.
 *
 *   common_divisor(12, 8)     (4)
 */
#ifndef TOPOLOGIES_DIVISOR_H
#define TOPOLOGIES_DIVISOR_H

#include <stdint.h>

/* With 0: the other number. */
static inline uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
