/* The parameters of plug-ins: checks their declarations, reads their values and prints them. */
#include "policies/config/plugin_params.h"
#include "policies/policy_config.h"

#include <string.h>

enum { NAME_MAX_BYTES = 40 };

static const char *const kind_names[] = {[PARAM_INT] = "an integer",
                                         [PARAM_MILLI] = "a number",
                                         [PARAM_BOOL] = "true or false",
                                         [PARAM_DURATION] = "a duration",
                                         [PARAM_CHOICE] = "one of"};

/* ---- Declarations ---- */

static bool is_param_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) <= NAME_MAX_BYTES &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool is_line(const char *text)
{
    bool is_good = text != NULL && text[0] != '\0';
    for (const char *c = text; is_good && *c != '\0'; c++)
        is_good = (unsigned char)*c >= ' ' && *c != 127;
    return is_good;
}

static int64_t choice_count(const struct plugin_param *param)
{
    int64_t count = 0;
    while (param->choices != NULL && count <= OWN_CHOICES_MAX && param->choices[count] != NULL)
        count++;
    return count;
}

/* The fault in the declaration; NULL: none. */
static const char *param_complaint(const struct plugin_param *param)
{
    if (param->kind >= PARAM_KIND_COUNT)
        return "is of an unknown kind";
    if (!is_line(param->help))
        return "has no help";
    if (param->kind == PARAM_BOOL)
        return param->otherwise != 0 && param->otherwise != 1 ? "has a default other than 0 and 1" : NULL;
    if (param->kind == PARAM_CHOICE) {
        const int64_t count = choice_count(param);
        if (count < 2 || count > OWN_CHOICES_MAX)
            return "has fewer than 2 or more than 16 choices";
        return param->otherwise < 0 || param->otherwise >= count ? "has a default that is not a choice" : NULL;
    }
    if (param->kind == PARAM_DURATION && param->low < 0)
        return "may be a negative duration";
    return param->low > param->otherwise || param->otherwise > param->high ? "has a default out of its bounds" : NULL;
}

struct error plugin_check_own(const struct windtunnel_plugin *plugin, const char *path)
{
    const char *name = plugin_policy_name(plugin);
    if (plugin->param_count > OWN_PARAMS_MAX || (plugin->param_count > 0) != (plugin->params != NULL))
        return error_new(ERROR_CONFIG,
                         "plug-in %s: '%s' has a bad 'param_count': at most %d, and 0 "
                         "without 'params'",
                         path, name, OWN_PARAMS_MAX);
    for (uint32_t i = 0; i < plugin->param_count; i++) {
        const struct plugin_param *param = &plugin->params[i];
        if (!is_param_name(param->name))
            return error_new(ERROR_CONFIG,
                             "plug-in %s: the name of parameter %u of '%s' must be 1 to %d of a-z, "
                             "0-9 and '_'",
                             path, i, name, NAME_MAX_BYTES);
        const char *complaint = param_complaint(param);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(plugin->params[k].name, param->name) == 0)
                complaint = "is declared twice";
        if (complaint != NULL)
            return error_new(ERROR_CONFIG, "plug-in %s: the parameter '%s' of '%s' %s", path, param->name, name,
                             complaint);
    }
    if (plugin->state_size > PLUGIN_STATE_BYTES_MAX)
        return error_new(ERROR_CONFIG, "plug-in %s: '%s' has a 'state_size' of more than %d bytes", path, name,
                         PLUGIN_STATE_BYTES_MAX);
    if ((plugin->state_size > 0) != (plugin->on_job != NULL))
        return error_new(ERROR_CONFIG,
                         plugin->state_size > 0 ? "plug-in %s: '%s' has a state and no 'on_job' that writes it"
                                                : "plug-in %s: '%s' has an 'on_job' and no 'state_size' for it",
                         path, name);
    return ERROR_OK;
}

/* ---- Values ---- */

static bool is_used(const struct policy_config *config, const void *policy)
{
    bool is_there = policy == config->quota || policy == config->estimate || policy == config->backfill ||
                    policy == config->gang || policy == config->placement || policy == config->placement_firm ||
                    policy == config->preemption;
    for (uint32_t r = 0; r < config->order_count; r++)
        is_there |= policy == config->order[r];
    for (uint32_t k = 0; k < config->preempt.victim_key_count; k++)
        is_there |= policy == config->preempt.victims[k];
    return is_there;
}

static int64_t read_duration(struct json_object *object, const struct plugin_param *param)
{
    const time_ns duration = json_get_duration(object, param->name, param->otherwise);
    struct json_value value = json_member(object, param->name);
    if (value.node != NULL && (duration < param->low || duration > param->high)) {
        struct buffer allowed = {0};
        plugin_param_describe(param, &allowed);
        json_fail(&value, "'%s' must be %s", param->name, buffer_c_string(&allowed));
        buffer_release(&allowed);
    }
    return duration;
}

static int64_t read_param(struct json_object *object, const struct plugin_param *param)
{
    switch ((enum plugin_param_kind)param->kind) {
    case PARAM_INT:
        return json_get_int(object, param->name, param->low, param->high, param->otherwise);
    case PARAM_MILLI:
        return json_get_scaled(object, param->name, 1000, param->low, param->high, param->otherwise);
    case PARAM_BOOL:
        return json_get_bool(object, param->name, param->otherwise != 0);
    case PARAM_DURATION:
        return read_duration(object, param);
    case PARAM_CHOICE:
        return json_get_choice(object, param->name, param->choices, (int)param->otherwise);
    case PARAM_KIND_COUNT:
        break;
    }
    return param->otherwise;
}

static void read_use(struct plugin_use *use, const struct json_value *value)
{
    struct json_object object;
    json_object_open(&object, value);
    for (uint32_t i = 0; i < use->plugin->param_count; i++)
        use->params[i] = read_param(&object, &use->plugin->params[i]);
    json_object_close(&object);
}

static struct plugin_use *find_use(struct policy_config *config, const char *name, uint32_t *count)
{
    struct plugin_use *found = NULL;
    *count = 0;
    for (uint32_t p = 0; p < config->plugin_count; p++)
        if (strcmp(plugin_policy_name(config->plugins[p].plugin), name) == 0) {
            found = &config->plugins[p];
            ++*count;
        }
    return found;
}

static void refuse_name(const struct policy_config *config, const struct json_value *value, const char *name)
{
    const char *names[OWNS_MAX + 1] = {NULL};
    for (uint32_t p = 0; p < config->plugin_count; p++)
        names[p] = plugin_policy_name(config->plugins[p].plugin);
    json_fail(value, "this policy uses no policy '%s' of a plug-in", name);
    if (!error_hint_nearest(value->error, text_of(name), names))
        error_set_hint(value->error, "\"params\" holds an object for the name of each policy of a "
                                     "plug-in that the seams name");
}

void plugin_params_read(struct policy_config *config, struct json_object *object, const struct plugin_set *plugins)
{
    struct json_value params = json_member(object, "params");
    struct json_object uses;
    const char *name;
    config->plugin_count = 0;
    for (uint32_t p = 0; plugins != NULL && p < plugins->count; p++) {
        struct plugin_use *use = &config->plugins[config->plugin_count];
        if (!is_used(config, plugins->plugins[p]->policy))
            continue;
        use->plugin = plugins->plugins[p];
        for (uint32_t i = 0; i < use->plugin->param_count; i++)
            use->params[i] = use->plugin->params[i].otherwise;
        config->plugin_count++;
    }
    if (params.node == NULL)
        return;
    json_object_open(&uses, &params);
    for (size_t i = 0; (name = json_object_key(&uses, i)) != NULL; i++) {
        struct json_value value = json_member(&uses, name);
        uint32_t count;
        struct plugin_use *use = find_use(config, name, &count);
        if (strcmp(name, "$comment") == 0)
            continue;
        if (use == NULL)
            refuse_name(config, &value, name);
        else if (count > 1)
            json_fail(&value, "two plug-ins have a policy '%s'; give one another name", name);
        else
            read_use(use, &value);
        if (error_is(*params.error))
            return;
    }
}

/* ---- Printing ---- */

void plugin_param_write(const struct plugin_param *param, int64_t value, struct buffer *out)
{
    switch ((enum plugin_param_kind)param->kind) {
    case PARAM_MILLI:
        buffer_scaled(out, value, 1000);
        break;
    case PARAM_BOOL:
        buffer_string(out, value != 0 ? "true" : "false");
        break;
    case PARAM_DURATION:
        buffer_scaled(out, value / (TIME_NS_PER_S / 1000), 1000);
        break;
    case PARAM_CHOICE:
        buffer_format(out, "\"%s\"", param->choices[value]);
        break;
    default:
        buffer_int(out, value);
    }
}

void plugin_param_describe(const struct plugin_param *param, struct buffer *out)
{
    buffer_string(out, kind_names[param->kind]);
    if (param->kind == PARAM_CHOICE)
        for (int64_t i = 0; i < choice_count(param); i++)
            buffer_format(out, "%s\"%s\"", i == 0 ? " " : ", ", param->choices[i]);
    if (param->kind == PARAM_INT || param->kind == PARAM_MILLI || param->kind == PARAM_DURATION) {
        buffer_string(out, " from ");
        plugin_param_write(param, param->low, out);
        buffer_string(out, " to ");
        plugin_param_write(param, param->high, out);
    }
    if (param->kind == PARAM_DURATION)
        buffer_string(out, " s");
}
