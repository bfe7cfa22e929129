/* policies/own.h -- what a plug-in's policy has of its own: parameters from the policy file, and a state.
 *
 * Words.  Parameters are integers, read as the plug-in declares them (policies/plugin.h).  A state is a block of bytes
 * that the scheduler allocates, zeroed, and keeps for one plug-in.
 *
 * Laws
 *  - A state is written by the plug-in's `on_job` alone, when something happened to a job.  All other hooks read it,
 *    so that they stay pure: asked twice in between they answer the same.
 *
 * Hooks find them in their view: order_view.own, victim_view.own, gang_view.own, spot.own, queue_tree.policy_own, and
 * as the last argument of estimate's `length`.  NULL: the policy is built in.
 */
#ifndef POLICIES_OWN_H
#define POLICIES_OWN_H

#include <stddef.h>
#include <stdint.h>

enum { OWNS_MAX = 8, OWN_PARAMS_MAX = 16, OWN_CHOICES_MAX = 16 };

struct windtunnel_plugin;
struct policy_config;

struct policy_own {
    const int64_t *params; /* in the order of their declaration */
    const void *state;     /* NULL: it declares none */
};

/* A plug-in that a policy file uses. */
struct plugin_use {
    const struct windtunnel_plugin *plugin;
    int64_t params[OWN_PARAMS_MAX];
};

struct owned {
    const struct windtunnel_plugin *plugin;
    const void *policy; /* the seam's struct */
    struct policy_own own;
    void *state; /* own.state, to be written */
};

struct owns { /* of one scheduler */
    struct owned of[OWNS_MAX];
    uint32_t count;
    uint32_t listener_count; /* those with an on_job */
};

/* policy: borrowed, and must stay where it is. */
void owns_init(struct owns *owns, const struct policy_config *policy);
void owns_release(struct owns *owns);

/* What that policy (a seam's struct) has of its own; NULL: nothing.  O(plug-ins used). */
static inline const struct policy_own *owns_of(const struct owns *owns, const void *policy)
{
    for (uint32_t i = 0; owns != NULL && i < owns->count; i++)
        if (owns->of[i].policy == policy)
            return &owns->of[i].own;
    return NULL;
}

#endif
