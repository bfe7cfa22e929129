/* A policy that uses a plug-in. */
#include "tools/verbs.h"

/* How a policy file selects a policy of that seam. */
static void write_choice(struct buffer *out, const struct windtunnel_plugin *plugin)
{
    const char *name = plugin_policy_name(plugin);
    const char *seam = plugin_seam_name((enum plugin_seam)plugin->seam);
    switch ((enum plugin_seam)plugin->seam) {
    case PLUGIN_ORDER:
        buffer_format(out, "  \"order\": [\"%s\", \"fifo\"]", name);
        break;
    case PLUGIN_VICTIM:
        buffer_format(out, "  \"preemption\": {\"policy\": \"checkpoint\", \"victims\": [\"%s\"]}", name);
        break;
    case PLUGIN_GANG:
    case PLUGIN_PREEMPTION:
    case PLUGIN_BACKFILL:
        buffer_format(out, "  \"%s\": {\"policy\": \"%s\"}", seam, name);
        break;
    default:
        buffer_format(out, "  \"%s\": \"%s\"", seam, name);
    }
}

void tool_plugin_policy(struct buffer *out, const struct windtunnel_plugin *plugin, const char *path)
{
    buffer_format(out, "{\n  \"name\": \"%s\",\n  \"plugins\": [", plugin_policy_name(plugin));
    buffer_json(out, text_of(path));
    buffer_string(out, "],\n");
    write_choice(out, plugin);
    if (plugin->param_count > 0)
        buffer_format(out, ",\n  \"params\": {\"%s\": {", plugin_policy_name(plugin));
    for (uint32_t i = 0; i < plugin->param_count; i++) {
        buffer_format(out, "%s\"%s\": ", i == 0 ? "" : ", ", plugin->params[i].name);
        plugin_param_write(&plugin->params[i], plugin->params[i].otherwise, out);
    }
    buffer_string(out, plugin->param_count > 0 ? "}}\n}\n" : "\n}\n");
}
