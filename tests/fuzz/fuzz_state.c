/* libFuzzer: a saved state of a small random world, with numbers changed and the checksum repaired, is loaded, and the
 * scheduler goes on from it (tests/support/forged.h).  The first two bytes choose the world, each seven further ones a
 * change: a place, a width and a number.  `make fuzz` runs it (needs clang). */
#include <string.h>

#include "tests/support/any_facts.h"
#include "tests/support/forged.h"

enum { WORLD_BYTES = 1200, WORLDS = 64, CHANGE_BYTES = 7 };

/* A world, and its state; made when first asked for, and kept. */
struct kept {
    struct any_world *world;
    struct buffer state;
};

static const struct kept *world_of(uint32_t seed)
{
    static struct kept kept[WORLDS];
    struct kept *own = &kept[seed % WORLDS];
    if (own->world != NULL)
        return own;
    static uint8_t bytes[WORLD_BYTES];
    struct random_stream stream;
    random_stream_init(&stream, seed % WORLDS, "forged", 0);
    for (size_t i = 0; i < WORLD_BYTES; i++)
        bytes[i] = (uint8_t)random_below(&stream, 256);
    own->world = any_world_new(bytes, WORLD_BYTES);
    while (any_world_step(own->world))
        ;
    struct error error = sched_save(own->world->sched, &own->state);
    error_release(&error);
    return own;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const size_t widths[] = {1, 2, 4, 4};
    if (size < 2)
        return 0;
    const struct kept *kept = world_of(bytes[0]);
    struct buffer state = {0};
    buffer_bytes(&state, kept->state.bytes, kept->state.length);
    for (size_t at = 2; at + CHANGE_BYTES <= size && state.length > FORGED_HEADER_BYTES + 4; at += CHANGE_BYTES) {
        const size_t place = (size_t)bytes[at] | (size_t)bytes[at + 1] << 8;
        memcpy(state.bytes + FORGED_HEADER_BYTES + place % (state.length - FORGED_HEADER_BYTES - 4), bytes + at + 3,
               widths[bytes[at + 2] % 4]);
    }
    forged_repair(&state);
    forged_live(&state, kept->world->cluster, kept->world->queues, &kept->world->policy.config);
    buffer_release(&state);
    return 0;
}
