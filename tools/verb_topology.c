/* windtunnel topology show, topology mig: a cluster as text; MIG profiles of a GPU model. */
#include "tools/installed.h"
#include "tools/verbs.h"
#include "topologies/cluster_load.h"
#include "topologies/cluster_show.h"
#include "topologies/mig.h"

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

/* Memory is cut to two digits, as nvidia-smi prints it. */
static void put_profile(const struct mig_profile *profile, struct buffer *out)
{
    const uint32_t hundredths = profile->memory_mib * 100 / 1024;
    buffer_format(out, "%-12s %7u %7u %5u.%02u ", profile->name, profile->compute_slices, profile->memory_slices,
                  hundredths / 100, hundredths % 100);
    if (profile->sm_count != 0)
        buffer_format(out, "%8u", profile->sm_count);
    else
        buffer_format(out, "%8s", "unknown");
    buffer_format(out, " %5u  ", profile->max_count);
    buffer_indices(out, profile->starts);
    buffer_char(out, '\n');
}

int verb_topology_mig(const struct args *args)
{
    const struct gpu_model *model;
    struct buffer out = {0};
    struct error error = find_model(args_operand(args, 0), &model);
    if (error_is(error))
        return tool_fail(&error);
    buffer_format(&out, "%-12s %7s %7s %8s %8s %5s  %s\n", "profile", "compute", "memory", "GiB", "SMs", "most",
                  "starts");
    for (int p = 0; p < MIG_PROFILE_COUNT; p++)
        put_profile(&mig_profiles(model->mig)[p], &out);
    return tool_print(&out);
}
