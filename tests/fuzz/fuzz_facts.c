/* libFuzzer: facts of every kind, in any order, with any values; the bytes are the choices of
 * tests/support/any_facts.h.  `make fuzz` runs it (needs clang). */
#include "tests/support/any_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct any_world *world = any_world_new(bytes, size);
    while (any_world_step(world))
        ;
    any_world_free(world);
    return 0;
}
