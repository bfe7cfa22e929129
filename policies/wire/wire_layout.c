/* policies/wire/wire_layout.c -- the MIG layout of a GPU as text. */
#include <string.h>

#include "policies/wire/wire_fields.h"
#include "topologies/mig_arrange.h"

static const char whole[] = "whole";

static const struct gpu_model *model_of(const struct cluster *cluster, node_id node)
{
    return &cluster->models[cluster_node_type(cluster, node)->model];
}

void wire_put_cut(struct buffer *out, const struct cluster *cluster, node_id node, uint32_t gpu_index,
                  mig_layout_id layout)
{
    wire_put_text(out, "node", cluster->nodes[node].name);
    wire_put_int(out, "gpu", gpu_index);
    if (layout == MIG_LAYOUT_WHOLE) {
        wire_put_text(out, "layout", whole);
        return;
    }
    const struct gpu_layout instances = mig_layout_get(layout);
    wire_put_key(out, "layout");
    buffer_char(out, '"');
    mig_layout_write(&instances, model_of(cluster, node)->mig, out);
    buffer_char(out, '"');
}

static mig_layout_id get_layout(struct json_object *object, const struct gpu_model *model)
{
    struct gpu_layout instances;
    json_need(object, "layout");
    const char *text = json_get_string(object, "layout", whole);
    if (strcmp(text, whole) == 0 || error_is(*object->value.error))
        return MIG_LAYOUT_WHOLE;
    const struct json_value value = json_member(object, "layout");
    if (model->mig == MIG_NONE) {
        json_fail(&value, "GPU model '%s' has no MIG", model->name);
        return MIG_LAYOUT_WHOLE;
    }
    struct error error = mig_layout_read(&instances, model, text_of(text));
    if (!error_is(error))
        return mig_layout_of(&instances);
    json_fail(&value, "%s", error_message(&error));
    error_release(&error);
    return MIG_LAYOUT_WHOLE;
}

void wire_get_cut(struct wire *wire, struct json_object *object, node_id *node, uint32_t *gpu_index,
                  mig_layout_id *layout)
{
    json_need(object, "node");
    json_need(object, "gpu");
    *node = wire_get_node(wire, object, "node");
    *gpu_index = 0;
    *layout = MIG_LAYOUT_WHOLE;
    if (*node == NODE_NONE)
        return;
    const int64_t gpus = cluster_node_gpus(wire->cluster, *node);
    if (gpus == 0) {
        const struct json_value value = json_member(object, "node");
        json_fail(&value, "node '%s' has no GPUs", wire->cluster->nodes[*node].name);
        return;
    }
    *gpu_index = (uint32_t)json_get_int(object, "gpu", 0, gpus - 1, 0);
    *layout = get_layout(object, model_of(wire->cluster, *node));
}
