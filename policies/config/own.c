#include "policies/own.h"

#include "base/mem.h"
#include "policies/plugin.h"
#include "policies/policy_config.h"

void owns_init(struct owns *owns, const struct policy_config *policy)
{
    *owns = (struct owns){.count = policy->plugin_count};
    for (uint32_t i = 0; i < owns->count; i++) {
        struct owned *owned = &owns->of[i];
        owned->plugin = policy->plugins[i].plugin;
        owned->policy = owned->plugin->policy;
        owned->own.params = policy->plugins[i].params;
        if (owned->plugin->state_size > 0)
            owned->state = mem_zalloc(1, owned->plugin->state_size);
        owned->own.state = owned->state;
        owns->listener_count += owned->plugin->on_job != NULL;
    }
}

void owns_release(struct owns *owns)
{
    for (uint32_t i = 0; i < owns->count; i++)
        mem_free(owns->of[i].state);
    *owns = (struct owns){0};
}
