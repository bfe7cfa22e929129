/* topologies/communication_json.c -- what a job exchanges, as members of a JSON object; compared and hashed. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "topologies/communication.h"

enum { SENSITIVITIES_MAX = 31 };

#define RATIO_MAX 0.95
#define BYTES_MAX 1e15

/* ---- read ---- */

static struct sensitivity named_read(struct json_object *object)
{
    const char *names[SENSITIVITIES_MAX + 1] = {NULL};
    uint32_t count;
    const struct sensitivity *table = sensitivity_table(&count);
    assert(count <= SENSITIVITIES_MAX);
    for (uint32_t i = 0; i < count; i++)
        names[i] = table[i].name;
    return table[json_get_choice(object, "sensitivity", names, 0)];
}

static struct sensitivity own_read(const struct json_value *value)
{
    struct json_object object;
    struct sensitivity own = {.name = ""};
    json_object_open(&object, value);
    json_need(&object, "collective");
    own.kind = (enum collective_kind)json_get_choice(&object, "collective", collective_kind_names, 0);
    json_need(&object, "exposed_ratio");
    own.exposed_ratio = 0.0 + json_get_real(&object, "exposed_ratio", 0, RATIO_MAX, 0); /* -0 is 0 */
    own.hidden_ratio = 0.0 + json_get_real(&object, "hidden_ratio", 0, RATIO_MAX, 0);
    json_need(&object, "bytes");
    own.bytes = json_get_real(&object, "bytes", 1, BYTES_MAX, 1);
    json_object_close(&object);
    return own;
}

bool communication_read(struct communication *communication, struct json_object *object, uint32_t gpu_count)
{
    const struct json_value plan = json_member(object, "plan"), sensitivity = json_member(object, "sensitivity");
    if (plan.node == NULL && sensitivity.node == NULL)
        return false;
    *communication = (struct communication){.has_plan = plan.node != NULL, .sensitivity = {.name = ""}};
    if (plan.node != NULL && sensitivity.node != NULL)
        json_fail(&sensitivity, "there is a 'plan' or a 'sensitivity', not both");
    else if (plan.node != NULL)
        communication->plan = training_plan_read_for(&plan, gpu_count);
    else if (json_is_string(sensitivity.node))
        communication->sensitivity = named_read(object);
    else if (json_is_object(sensitivity.node))
        communication->sensitivity = own_read(&sensitivity);
    else
        json_fail(&sensitivity, "'sensitivity' must be a name, or an object with 'collective', 'exposed_ratio' and "
                                "'bytes'");
    return true;
}

bool communication_fit(const struct communication *declared, uint64_t gpu_count, struct communication *fitted,
                       struct training_complaint *why)
{
    *fitted = *declared;
    return !declared->has_plan || training_plan_fit(&declared->plan, gpu_count, &fitted->plan, why);
}

/* ---- written ---- */

void communication_write(const struct communication *communication, struct buffer *out)
{
    const struct sensitivity *sensitivity = &communication->sensitivity;
    if (communication->has_plan) {
        buffer_string(out, "\"plan\":");
        training_plan_write(&communication->plan, out);
        return;
    }
    buffer_string(out, "\"sensitivity\":");
    if (sensitivity->name[0] != '\0') {
        buffer_json(out, text_of(sensitivity->name));
        return;
    }
    buffer_members(out, "{'collective':%s,'exposed_ratio':%g,'hidden_ratio':%g,'bytes':%g}",
                   collective_kind_names[sensitivity->kind], sensitivity->exposed_ratio, sensitivity->hidden_ratio,
                   sensitivity->bytes);
}

const char *communication_name(const struct communication *communication)
{
    const char *name = communication->sensitivity.name;
    return communication->has_plan ? "plan" : name[0] != '\0' ? name : "own";
}

/* ---- compared ---- */

static bool sensitivity_is_same(const struct sensitivity *a, const struct sensitivity *b)
{
    return a->kind == b->kind && a->exposed_ratio == b->exposed_ratio && a->hidden_ratio == b->hidden_ratio &&
           a->bytes == b->bytes && strcmp(a->name, b->name) == 0;
}

bool communication_is_same(const struct communication *a, const struct communication *b)
{
    if (a->has_plan != b->has_plan)
        return false;
    return a->has_plan ? training_plan_is_same(&a->plan, &b->plan)
                       : sensitivity_is_same(&a->sensitivity, &b->sensitivity);
}

static uint64_t sensitivity_hash(const struct sensitivity *sensitivity)
{
    const double values[] = {sensitivity->exposed_ratio, sensitivity->hidden_ratio, sensitivity->bytes};
    return hash_mix(hash_bytes(values, sizeof values, 2),
                    hash_bytes(sensitivity->name, strlen(sensitivity->name), 3) + sensitivity->kind);
}

uint64_t communication_hash(const struct communication *communication)
{
    return communication->has_plan ? training_plan_hash(&communication->plan)
                                   : sensitivity_hash(&communication->sensitivity);
}
