#include "studies/run/replay_shake.h"

#include <jansson.h>

#include "studies/run/chance.h"

bool replay_shake_apply(const char *resolved, const struct scenario_options *options, struct arena *arena,
                        struct scenario_options *out)
{
    if (chance_of_scenario(resolved))
        return false;
    json_t *root = json_loads(resolved, 0, NULL);
    const size_t parts = json_array_size(json_object_get(json_object_get(root, "workload"), "merge"));
    const size_t count = parts > 0 ? parts : 1;
    const char **sets = arena_alloc_array(arena, options->set_count + count, const char *);
    for (size_t s = 0; s < options->set_count; s++)
        sets[s] = options->sets[s];
    for (size_t part = 0; part < count; part++) {
        struct buffer set = {0};
        buffer_string(&set, "workload.");
        if (parts > 0)
            buffer_format(&set, "merge.%zu.", part);
        buffer_string(&set, "shake=" REPLAY_SHAKE);
        sets[options->set_count + part] = arena_copy(arena, (struct text){set.bytes, set.length});
        buffer_release(&set);
    }
    json_decref(root);
    *out = *options;
    out->sets = sets;
    out->set_count = options->set_count + count;
    return true;
}
