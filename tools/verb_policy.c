/* windtunnel policy list, policy show: the presets and the policies of each seam. */
#include <string.h>

#include "base/json.h"
#include "policies/backfill/backfill.h"
#include "policies/config/presets.h"
#include "policies/defrag/defrag.h"
#include "policies/estimate/estimate.h"
#include "policies/geometry/geometry.h"
#include "policies/order/order.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemption.h"
#include "policies/quota/quota.h"
#include "policies/sharing/sharing.h"
#include "tools/verbs.h"

static void line(struct buffer *out, const char *name, const char *summary)
{
    buffer_format(out, "  %-14s %s\n", name, summary);
}

/* The "summary" of a preset's JSON, which always parses. */
static void preset_line(struct buffer *out, const struct embedded_text *preset)
{
    struct json_doc *doc;
    struct error error = json_doc_parse(&doc, preset->name, (struct text){preset->text, preset->length}, ERROR_CONFIG);
    if (error_is(error)) {
        line(out, preset->name, error_message(&error));
        error_release(&error);
        return;
    }
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    line(out, preset->name, json_get_string(&object, "summary", ""));
    json_doc_free(doc);
}

static void param_lines(struct buffer *out, const struct windtunnel_plugin *plugin)
{
    for (uint32_t i = 0; i < plugin->param_count; i++) {
        const struct plugin_param *param = &plugin->params[i];
        buffer_format(out, "  %-14s parameter %s: ", "", param->name);
        plugin_param_describe(param, out);
        buffer_string(out, ", default ");
        plugin_param_write(param, param->otherwise, out);
        buffer_format(out, "; %s\n", param->help);
    }
}

/* Lists plug-ins with the name for a policy file and the purpose, also those that are loaded from a file. */
static void plugin_lines(struct buffer *out, const struct plugins *plugins)
{
    if (plugins->set.count > 0)
        buffer_string(out, "\nplug-ins (--plugin FILE.so)\n");
    for (uint32_t p = 0; p < plugins->set.count; p++) {
        const struct windtunnel_plugin *plugin = plugins->set.plugins[p];
        line(out, plugin_policy_name(plugin), plugin_summary(plugin));
        buffer_format(out, "  %-14s %s policy; %s %s, %s\n", "", plugin_seam_name((enum plugin_seam)plugin->seam),
                      plugin->name, plugin->version, plugins_file(plugins, p).path);
        param_lines(out, plugin);
    }
}

int verb_policy_list(const struct args *args)
{
    struct plugin_options given = tool_plugin_options(args);
    struct plugins plugins = {.timeout_s = 0};
    struct error error = plugins_load_all(&plugins, &given);
    if (error_is(error)) {
        plugins_release(&plugins);
        return tool_fail(&error);
    }
    struct buffer out = {0};
    buffer_string(&out, "presets (--policy NAME)\n");
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++)
        preset_line(&out, preset);
    buffer_string(&out, "\nquota: may this queue have it\n");
    for (size_t i = 0; quota_policies[i] != NULL; i++)
        line(&out, quota_policies[i]->name, quota_policies[i]->summary);
    buffer_string(&out, "\norder: who is next (a chain, first difference wins)\n");
    for (size_t i = 0; order_policies[i] != NULL; i++)
        line(&out, order_policies[i]->name, order_policies[i]->summary);
    buffer_string(&out, "\nplacement: where\n");
    for (size_t i = 0; placement_policies[i] != NULL; i++)
        line(&out, placement_policies[i]->name, placement_policies[i]->summary);
    buffer_string(&out, "\nsharing: on what kind of piece\n");
    for (size_t i = 0; sharing_policies[i] != NULL; i++)
        line(&out, sharing_policies[i]->name, sharing_policies[i]->summary);
    buffer_string(&out, "\nestimate: how long\n");
    for (size_t i = 0; estimate_policies[i] != NULL; i++)
        line(&out, estimate_policies[i]->name, estimate_policies[i]->summary);
    buffer_string(&out, "\nbackfill: what may overtake\n");
    for (size_t i = 0; backfill_policies[i] != NULL; i++)
        line(&out, backfill_policies[i]->name, backfill_policies[i]->summary);
    buffer_string(&out, "\npreemption: who gives way\n");
    for (size_t i = 0; preemption_policies[i] != NULL; i++)
        line(&out, preemption_policies[i]->name, preemption_policies[i]->summary);
    buffer_string(&out, "\ndefrag: what should move\n");
    for (size_t i = 0; defrag_policies[i] != NULL; i++)
        line(&out, defrag_policies[i]->name, defrag_policies[i]->summary);
    buffer_string(&out, "\ngeometry: how GPUs are cut\n");
    for (size_t i = 0; geometry_policies[i] != NULL; i++)
        line(&out, geometry_policies[i]->name, geometry_policies[i]->summary);
    buffer_string(&out, "\nidle: what becomes of jobs that leave their GPUs idle\n");
    for (size_t i = 0; idle_policies[i] != NULL; i++)
        line(&out, idle_policies[i]->name, idle_policies[i]->summary);
    plugin_lines(&out, &plugins);
    plugins_release(&plugins);
    return tool_print(&out);
}

/* Show the policy of that name of a plug-in; false: no plug-in has it. */
static bool show_plugin(const struct plugins *plugins, const char *name, struct buffer *out)
{
    for (uint32_t p = 0; p < plugins->set.count; p++)
        if (strcmp(plugin_policy_name(plugins->set.plugins[p]), name) == 0) {
            tool_plugin_policy(out, plugins->set.plugins[p], plugins_file(plugins, p).path);
            return true;
        }
    return false;
}

int verb_policy_show(const struct args *args)
{
    const char *name = args_operand(args, 0);
    struct buffer out = {0};
    struct plugin_options given = tool_plugin_options(args);
    struct plugins plugins = {.timeout_s = 0};
    struct error loaded = plugins_load_all(&plugins, &given);
    const bool is_shown = !error_is(loaded) && show_plugin(&plugins, name, &out);
    plugins_release(&plugins);
    if (error_is(loaded))
        return tool_fail(&loaded);
    if (is_shown)
        return tool_print(&out);
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++)
        if (strcmp(preset->name, name) == 0) {
            buffer_bytes(&out, preset->text, preset->length);
            return tool_print(&out);
        }
    struct error error = error_new(ERROR_USAGE, "there is no policy preset '%s'", name);
    error_set_hint(&error, "`windtunnel policy list` lists them");
    return tool_fail(&error);
}
