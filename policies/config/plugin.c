/* policies/config/plugin.c -- may a plug-in be used here? */
#include "policies/plugin.h"

#include <string.h>

#include "policies/config/plugin_params.h"
#include "policies/config/registry.h"

static const struct {
    const char *name;
    uint32_t policy_size, view_size;
} seams[] = {
    [PLUGIN_NONE] = {"none", 0, 0},
    [PLUGIN_ORDER] = {"order", PLUGIN_SIZES_ORDER},
    [PLUGIN_QUOTA] = {"quota", PLUGIN_SIZES_QUOTA},
    [PLUGIN_PLACEMENT] = {"placement", PLUGIN_SIZES_PLACEMENT},
    [PLUGIN_GANG] = {"gang", PLUGIN_SIZES_GANG},
    [PLUGIN_ESTIMATE] = {"estimate", PLUGIN_SIZES_ESTIMATE},
    [PLUGIN_VICTIM] = {"victims", PLUGIN_SIZES_VICTIM},
    [PLUGIN_PREEMPTION] = {"preemption", PLUGIN_SIZES_PREEMPTION},
    [PLUGIN_BACKFILL] = {"backfill", PLUGIN_SIZES_BACKFILL},
};

const char *plugin_seam_name(enum plugin_seam seam)
{
    return seams[seam].name;
}

uint32_t plugin_policy_size(enum plugin_seam seam)
{
    return seams[seam].policy_size;
}

uint32_t plugin_view_size(enum plugin_seam seam)
{
    return seams[seam].view_size;
}

/* The required hook that is missing; NULL: none. */
static const char *missing_hook(const struct windtunnel_plugin *plugin)
{
    const void *policy = plugin->policy;
    switch ((enum plugin_seam)plugin->seam) {
    case PLUGIN_ORDER:
        return ((const struct order_policy *)policy)->rank == NULL ? "rank" : NULL;
    case PLUGIN_PLACEMENT:
        return ((const struct placement_policy *)policy)->score == NULL ? "score" : NULL;
    case PLUGIN_GANG:
        return ((const struct gang_policy *)policy)->next == NULL ? "next" : NULL;
    case PLUGIN_ESTIMATE: {
        const struct estimate_policy *estimate = policy;
        if (estimate->length == NULL)
            return "length";
        if (estimate->state_size == 0)
            return NULL;
        return estimate->note_run == NULL ? "note_run" : estimate->predict == NULL ? "predict" : NULL;
    }
    case PLUGIN_VICTIM:
        return ((const struct victim_key *)policy)->rank == NULL ? "rank" : NULL;
    case PLUGIN_QUOTA: {
        const struct quota_policy *quota = policy;
        if (!quota->is_flat && quota->compare == NULL)
            return "compare";
        return quota->may_reclaim != NULL && quota->may_take == NULL ? "may_take" : NULL;
    }
    case PLUGIN_PREEMPTION: /* its hook is optional */
    case PLUGIN_BACKFILL:
    case PLUGIN_NONE:
    case PLUGIN_SEAM_COUNT:
        break;
    }
    return NULL;
}

const char *plugin_summary(const struct windtunnel_plugin *plugin)
{
    const void *policy = plugin->policy;
    switch ((enum plugin_seam)plugin->seam) {
    case PLUGIN_ORDER:
        return ((const struct order_policy *)policy)->summary;
    case PLUGIN_QUOTA:
        return ((const struct quota_policy *)policy)->summary;
    case PLUGIN_PLACEMENT:
        return ((const struct placement_policy *)policy)->summary;
    case PLUGIN_GANG:
        return ((const struct gang_policy *)policy)->summary;
    case PLUGIN_ESTIMATE:
        return ((const struct estimate_policy *)policy)->summary;
    case PLUGIN_VICTIM:
        return ((const struct victim_key *)policy)->summary;
    case PLUGIN_PREEMPTION:
        return ((const struct preemption_policy *)policy)->summary;
    case PLUGIN_BACKFILL:
        return ((const struct backfill_policy *)policy)->summary;
    case PLUGIN_NONE:
    case PLUGIN_SEAM_COUNT:
        break;
    }
    return NULL;
}

/* A field of the struct with which the engine would divide by 0 or wait for ever; NULL: none. */
static const char *odd_backfill(const struct backfill_policy *backfill)
{
    const struct backfill_config *defaults = &backfill->defaults;
    if (defaults->keeps && backfill->reserves != NULL)
        return "reserves";
    if (!defaults->overtakes)
        return defaults->keeps ? "keeps" : NULL;
    if (defaults->reservations < 1 || defaults->depth < 1 || defaults->per_user < 0 || defaults->window <= 0 ||
        defaults->resolution < 0 || defaults->interval < 0)
        return "defaults";
    return NULL;
}

/* A field of the struct with an invalid value; NULL: none. */
static const char *odd_value(const struct windtunnel_plugin *plugin)
{
    if (plugin->seam == PLUGIN_QUOTA &&
        ((const struct quota_policy *)plugin->policy)->state_size > PLUGIN_STATE_BYTES_MAX)
        return "state_size";
    if (plugin->seam == PLUGIN_ESTIMATE &&
        ((const struct estimate_policy *)plugin->policy)->state_size > PLUGIN_STATE_BYTES_MAX)
        return "state_size";
    if (plugin->seam == PLUGIN_PLACEMENT &&
        ((const struct placement_policy *)plugin->policy)->one_node > ONE_NODE_REQUIRED)
        return "one_node";
    if (plugin->seam == PLUGIN_BACKFILL)
        return odd_backfill(plugin->policy);
    if (plugin->state_size == 0)
        return NULL;
    /* Results that depend on a state are not constant. */
    if (plugin->seam == PLUGIN_ORDER && ((const struct order_policy *)plugin->policy)->is_constant)
        return "is_constant";
    if (plugin->seam == PLUGIN_ORDER && ((const struct order_policy *)plugin->policy)->is_by_fill)
        return "is_by_fill";
    if (plugin->seam == PLUGIN_PLACEMENT && ((const struct placement_policy *)plugin->policy)->is_local)
        return "is_local";
    return NULL;
}

static bool is_plain_text(const char *text)
{
    if (text == NULL || text[0] == '\0')
        return false;
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return false;
    return true;
}

/* Names consist of "a-z0-9_-", so that lists and messages can show them as they are. */
static bool is_policy_name(const char *name)
{
    return is_plain_text(name) && strlen(name) <= 40 &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0';
}

static struct error check_layout(const struct windtunnel_plugin *plugin, const char *path)
{
    struct error error;
    if (plugin->abi != PLUGIN_ABI) {
        error = error_new(ERROR_CONFIG, "plug-in %s was built for plug-in ABI %u, this is ABI %d", path, plugin->abi,
                          PLUGIN_ABI);
        error_set_hint(&error, "build it again with the headers of this version");
        return error;
    }
    if (plugin->seam == PLUGIN_NONE || plugin->seam >= PLUGIN_SEAM_COUNT) {
        error = error_new(ERROR_CONFIG, "plug-in %s is for an unknown seam, number %u", path, plugin->seam);
        error_set_hint(&error, "PLUGIN_FOR of policies/plugin.h writes the seams there are");
        return error;
    }
    const char *seam = seams[plugin->seam].name;
    if (plugin->policy_size != seams[plugin->seam].policy_size) {
        error = error_new(ERROR_CONFIG, "plug-in %s: its %s policy is a struct of %u bytes, here it has %u", path, seam,
                          plugin->policy_size, seams[plugin->seam].policy_size);
    } else if (plugin->view_size != seams[plugin->seam].view_size) {
        error = error_new(ERROR_CONFIG, "plug-in %s: what its %s policy looks at had %u bytes, here it has %u", path,
                          seam, plugin->view_size, seams[plugin->seam].view_size);
    } else {
        return ERROR_OK;
    }
    error_set_hint(&error, "build it again with the headers of this version");
    return error;
}

static struct error taken_name(const char *path, const char *seam, const char *name, const char *by)
{
    struct error error =
        error_new(ERROR_CONFIG, "plug-in %s: the name of its %s policy, '%s', is taken by %s", path, seam, name, by);
    error_set_hint(&error, "give the policy another name");
    return error;
}

/* The name is free among the built-in policies of the seam and those of the set. */
static struct error check_name(const struct windtunnel_plugin *plugin, const char *path,
                               const struct plugin_set *beside)
{
    const char *seam = seams[plugin->seam].name, *name = plugin_policy_name(plugin);
    const char *const *const *built_in = policy_registry_builtin((enum plugin_seam)plugin->seam);
    for (size_t i = 0; built_in[i] != NULL; i++)
        if (strcmp(*built_in[i], name) == 0)
            return taken_name(path, seam, name, "one that is built in");
    if (plugin->seam == PLUGIN_VICTIM && strcmp(name, "queue") == 0)
        return taken_name(path, seam, name, "one that is built in");
    for (uint32_t p = 0; p < beside->count; p++)
        if (beside->plugins[p]->seam == plugin->seam && strcmp(plugin_policy_name(beside->plugins[p]), name) == 0)
            return taken_name(path, seam, name, "another plug-in");
    return ERROR_OK;
}

struct error plugin_check(const struct windtunnel_plugin *plugin, const char *path, const struct plugin_set *beside)
{
    TRY(check_layout(plugin, path));
    const char *seam = seams[plugin->seam].name;
    if (!is_plain_text(plugin->name) || !is_plain_text(plugin->version))
        return error_new(ERROR_CONFIG, "plug-in %s (%s): its name and its version must each be a line of text", path,
                         seam);
    if (plugin->policy == NULL)
        return error_new(ERROR_CONFIG, "plug-in %s (%s): it holds no policy", path, seam);
    const char *name = plugin_policy_name(plugin);
    if (!is_policy_name(name))
        return error_new(ERROR_CONFIG,
                         "plug-in %s: the name of its %s policy must be 1 to 40 of a-z, 0-9, '_' "
                         "and '-'",
                         path, seam);
    if (!is_plain_text(plugin_summary(plugin)))
        return error_new(ERROR_CONFIG, "plug-in %s: its %s policy '%s' has no summary", path, seam, name);
    TRY(check_name(plugin, path, beside));
    const char *hook = missing_hook(plugin);
    if (hook != NULL)
        return error_new(ERROR_CONFIG, "plug-in %s: its %s policy '%s' lacks the hook '%s'", path, seam, name, hook);
    TRY(plugin_check_own(plugin, path));
    const char *odd = odd_value(plugin);
    if (odd != NULL)
        return error_new(ERROR_CONFIG, "plug-in %s: its %s policy '%s' has a bad '%s'", path, seam, name, odd);
    return ERROR_OK;
}
