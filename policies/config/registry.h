/* policies/config/registry.h -- the policies a policy file may name: those built in, and those of plug-ins beside
 * them. */
#ifndef POLICIES_CONFIG_REGISTRY_H
#define POLICIES_CONFIG_REGISTRY_H

#include "policies/plugin.h"

enum { REGISTRY_ENTRIES_MAX = 32 }; /* of a seam, with the NULL at the end */

/* By enum plugin_seam: a NULL-terminated array, as policies/util/choose.h wants it. */
struct policy_registry {
    const void *entries[PLUGIN_SEAM_COUNT][REGISTRY_ENTRIES_MAX];
};

/* plugins: NULL for none; checked before (plugin_check).  The registry borrows their policies. */
void policy_registry_fill(struct policy_registry *registry, const struct plugin_set *plugins);

/* The policies built in; a NULL-terminated array of pointers to the seam's struct. */
const void *policy_registry_builtin(enum plugin_seam seam);

#endif
