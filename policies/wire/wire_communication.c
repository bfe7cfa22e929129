/* policies/wire/wire_communication.c -- what a job exchanges, as members of its object. */
#include "policies/wire/wire_fields.h"
#include "topologies/communication.h"

void wire_put_communication(struct buffer *out, const struct communication *communication)
{
    if (communication == NULL)
        return;
    buffer_char(out, ',');
    communication_write(communication, out);
}

const struct communication *wire_get_communication(struct wire *wire, struct json_object *object)
{
    struct communication *own = arena_alloc_array(&wire->arena, 1, struct communication);
    return communication_read(own, object, 0) ? own : NULL;
}

void wire_fit_communication(struct json_object *object, struct job *job)
{
    /* of this line, so it may be written */
    struct communication *own = (struct communication *)(uintptr_t)job->communication;
    const struct json_value plan = json_member(object, "plan");
    const uint64_t gpus = job_whole_gpus(job);
    struct training_complaint why;
    if (own == NULL)
        return;
    if (own->has_plan && gpus == 0)
        json_fail(&plan, "a plan is for whole GPUs, and the job asks for none or for parts of GPUs");
    else if (!communication_fit(own, gpus, own, &why))
        json_fail(&plan, "%s", why.what);
}
