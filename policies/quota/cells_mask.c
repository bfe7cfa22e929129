/* Buddy cells of a node, computed on masks of GPUs. */
#include "policies/quota/cells.h"

static const uint16_t aligned[CELL_LEVELS] = {0xffff, 0x5555, 0x1111, 0x0101, 0x0001};

uint16_t cells_inside(uint16_t mask, uint32_t level)
{
    for (uint32_t l = 0; l < level; l++)
        mask &= (uint16_t)(mask >> (1u << l));
    return mask & aligned[level];
}

uint16_t cells_maximal(uint16_t mask, uint32_t level)
{
    if (level + 1 == CELL_LEVELS)
        return cells_inside(mask, level);
    uint16_t larger = cells_inside(mask, level + 1);
    return cells_inside(mask, level) & (uint16_t) ~(larger | larger << (1u << level));
}

static uint16_t window(uint32_t first, uint32_t level)
{
    return (uint16_t)(((1u << (1u << level)) - 1) << first);
}

/* The first aligned window of that level that holds `gpus` GPUs of the mask; NODE_GPUS_MAX: none. */
static uint32_t window_of(uint16_t mask, uint32_t gpus, uint32_t level)
{
    uint32_t first = 0;
    while (first < NODE_GPUS_MAX && (uint32_t)__builtin_popcount(mask & window(first, level)) < gpus)
        first += 1u << level;
    return first;
}

uint32_t cells_fit(uint16_t mask, uint32_t gpus)
{
    for (uint32_t l = cells_level(gpus); l < CELL_LEVELS; l++)
        if (cells_maximal(mask, l) != 0)
            return l;
    for (uint32_t l = cells_level(gpus); l < CELL_LEVELS; l++)
        if (window_of(mask, gpus, l) < NODE_GPUS_MAX)
            return CELL_LEVELS + l;
    return CELL_NOWHERE;
}

uint16_t cells_choose(uint16_t mask, uint32_t gpus)
{
    uint32_t fit = cells_fit(mask, gpus);
    uint16_t out = 0;
    if (fit == CELL_NOWHERE)
        return 0;
    if (fit < CELL_LEVELS)
        mask = window((uint32_t)__builtin_ctz(cells_maximal(mask, fit)), fit);
    else
        mask &= window(window_of(mask, gpus, fit - CELL_LEVELS), fit - CELL_LEVELS);
    for (; gpus > 0; gpus--, mask &= (uint16_t)(mask - 1))
        out |= (uint16_t)(mask & -mask);
    return out;
}
