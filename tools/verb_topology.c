/* windtunnel topology show, topology mig: a cluster as text; MIG of a GPU model. */
#include "tools/installed.h"
#include "tools/verbs.h"
#include "topologies/cluster_load.h"
#include "topologies/cluster_show.h"
#include "topologies/mig_arrange.h"
#include "topologies/mig_show.h"

int verb_topology_show(const struct args *args)
{
    struct cluster *cluster;
    struct buffer out = {0};
    struct error error = cluster_load(&cluster, installed_find(args_operand(args, 0), "topologies"));
    if (error_is(error))
        return tool_fail(&error);
    cluster_show(cluster, &out);
    cluster_free(cluster);
    return tool_print(&out);
}

/* ---- MIG ---- */

enum { MODELS_MAX = 64 };

static void hint_models_with_mig(struct error *error)
{
    uint32_t count;
    const struct gpu_model *models = gpu_model_table(&count);
    struct buffer names = {0};
    for (uint32_t i = 0; i < count; i++)
        if (models[i].mig != MIG_NONE)
            buffer_format(&names, "%s%s", names.length > 0 ? ", " : "", models[i].name);
    error_set_hint(error, "these have MIG: %s", buffer_c_string(&names));
    buffer_release(&names);
}

/* Find a built-in model that has MIG. */
static struct error find_model(const char *name, const struct gpu_model **out)
{
    uint32_t count, kept = 0;
    const char *names[MODELS_MAX + 1];
    const struct gpu_model *models = gpu_model_table(&count);
    *out = gpu_model_find(text_of(name));
    if (*out != NULL && (*out)->mig != MIG_NONE)
        return ERROR_OK;
    struct error error = *out == NULL ? error_new(ERROR_USAGE, "there is no GPU model '%s'", name)
                                      : error_new(ERROR_USAGE, "GPU model '%s' has no MIG", (*out)->name);
    for (uint32_t i = 0; i < count && kept < MODELS_MAX; i++)
        if (models[i].mig != MIG_NONE)
            names[kept++] = models[i].name;
    names[kept] = NULL;
    const char *nearest = *out == NULL ? text_nearest(text_of(name), names) : NULL;
    if (nearest != NULL)
        error_set_hint(&error, "did you mean '%s'?", nearest);
    else
        hint_models_with_mig(&error);
    return error;
}

static struct error tell_mig(const struct args *args, struct buffer *out)
{
    const struct gpu_model *model;
    struct gpu_layout layout;
    const char *text = args_string(args, "layout");
    bool is_json = args_flag(args, "json");
    TRY(find_model(args_operand(args, 0), &model));
    if (text == NULL) {
        (is_json ? mig_show_model_json : mig_show_model)(model, out);
        return ERROR_OK;
    }
    TRY(mig_layout_read(&layout, model, text_of(text)));
    (is_json ? mig_show_layout_json : mig_show_layout)(model, &layout, out);
    return ERROR_OK;
}

int verb_topology_mig(const struct args *args)
{
    struct buffer out = {0};
    struct error error = tell_mig(args, &out);
    return error_is(error) ? tool_fail(&error) : tool_print(&out);
}
