/* reports/export/tracks.c -- see reports/export/tracks.h. */
#include "reports/export/tracks.h"

#include <assert.h>

#include "base/mem.h"

struct lanes {
    struct track *tracks;
    size_t count, capacity;
};

struct node_lanes {
    struct lanes gpus[NODE_GPUS_MAX + 1];
};

struct tracks {
    struct node_lanes *nodes;
    size_t node_capacity;
    uint64_t count;
};

struct tracks *tracks_new(void)
{
    return mem_zalloc(1, sizeof(struct tracks));
}

void tracks_free(struct tracks *tracks)
{
    if (tracks == NULL)
        return;
    for (size_t n = 0; n < tracks->node_capacity; n++)
        for (int g = 0; g <= NODE_GPUS_MAX; g++)
            mem_free(tracks->nodes[n].gpus[g].tracks);
    mem_free(tracks->nodes);
    mem_free(tracks);
}

struct track *tracks_lane(struct tracks *tracks, uint32_t node, unsigned gpu_index, uint32_t lane)
{
    assert(node < tracks->node_capacity && lane < tracks->nodes[node].gpus[gpu_index].count);
    return &tracks->nodes[node].gpus[gpu_index].tracks[lane];
}

/* NULL: none is free. */
static struct track *free_track(const struct lanes *lanes, bool is_whole, time_ns start)
{
    struct track *best = NULL;
    for (size_t i = 0; i < lanes->count; i++) {
        struct track *track = &lanes->tracks[i];
        if (track->end > start)
            continue;
        if (best == NULL || track->end > best->end)
            best = track;
        if (is_whole && i == 0)
            break;
    }
    return best;
}

struct track *tracks_take(struct tracks *tracks, uint32_t node, unsigned gpu_index, bool is_whole, time_ns start,
                          time_ns end)
{
    MEM_GROW(tracks->nodes, tracks->node_capacity, (size_t)node + 1);
    struct lanes *lanes = &tracks->nodes[node].gpus[gpu_index];
    struct track *track = free_track(lanes, is_whole, start);
    if (track == NULL) {
        MEM_GROW(lanes->tracks, lanes->capacity, lanes->count + 1);
        track = &lanes->tracks[lanes->count];
        *track = (struct track){.lane = (uint32_t)lanes->count++, .id = ++tracks->count};
    }
    track->end = end;
    return track;
}
