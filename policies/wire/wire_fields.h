/* policies/wire/wire_fields.h -- tables that map keys of a line to fields of a struct; one table reads and writes them.
 *
 * A field with its default value is left out of the line.
 *
 *   static const struct wire_field fields[] = {
 *       WIRE_INT(struct job, array_max, "array_max", 0, UINT32_MAX, 0), ..., {0}};
 *   wire_put_fields(out, fields, &job);
 *   wire_get_fields(&object, fields, &job);
 *
 * It does not: handle fields that need names of the cluster (nodes, queues, profiles): policies/wire/wire_job.c.
 */
#ifndef POLICIES_WIRE_WIRE_FIELDS_H
#define POLICIES_WIRE_WIRE_FIELDS_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/member.h"
#include "policies/wire.h"
#include "workloads/job_json.h"

enum wire_form {
    WIRE_FORM_INT,
    WIRE_FORM_MILLI, /* thousandths, as a decimal */
    WIRE_FORM_MIB,   /* 1024ths, as a decimal */
    WIRE_FORM_BOOL,
    WIRE_FORM_NAME, /* the index of one of `names` */
};

#define WIRE_NEEDED INT64_MIN

struct wire_field {
    const char *key; /* NULL ends the table */
    struct member at;
    enum wire_form form;
    int64_t low, high; /* bounds of the value in the struct */
    int64_t usual;     /* the default; WIRE_NEEDED: the key is required */
    const char *const *names;
};

#define WIRE_FIELD(type, member, text, as, from, to, otherwise, choices)                                               \
    {                                                                                                                  \
        .key = (text), .at = MEMBER(type, member), .form = (as), .low = (from), .high = (to), .usual = (otherwise),    \
        .names = (choices)                                                                                             \
    }
#define WIRE_INT(type, member, text, from, to, otherwise)                                                              \
    WIRE_FIELD(type, member, text, WIRE_FORM_INT, from, to, otherwise, NULL)
#define WIRE_BOOL(type, member, text, otherwise) WIRE_FIELD(type, member, text, WIRE_FORM_BOOL, 0, 1, otherwise, NULL)
#define WIRE_NAME(type, member, text, choices, otherwise)                                                              \
    WIRE_FIELD(type, member, text, WIRE_FORM_NAME, 0, INT16_MAX, otherwise, choices)
#define WIRE_TIME(type, member, text, otherwise)                                                                       \
    WIRE_FIELD(type, member, text, WIRE_FORM_INT, 0, TIME_NS_MAX, otherwise, NULL)

void wire_put_fields(struct buffer *out, const struct wire_field *fields, const void *base);
void wire_get_fields(struct json_object *object, const struct wire_field *fields, void *base);

/* Append a key, with a comma unless it is the first of its object; and with a value. */
#define wire_put_key  job_key_put
#define wire_put_int  job_int_put
#define wire_put_text job_string_put

/* Maps names to numbers. */
struct wire {
    const struct cluster *cluster;
    struct queue_table *queues;
    struct names *nodes;      /* id: node_id */
    struct arena arena;       /* until wire_forget */
    const char *unknown_node; /* the line that was read names it; NULL: none; of the arena */
};

/* The node named by a key; NODE_NONE if there is no such key, or an error. */
node_id wire_get_node(struct wire *wire, struct json_object *object, const char *key);
queue_id wire_get_queue(const struct wire *wire, struct json_object *object, const char *key);

/* The id of a decision about the job, whose number the key has; 0 if there is no such key, or an error. */
decision_id wire_get_decision(struct json_object *object, const char *key, job_id job);

/* Jobs: policies/wire/wire_job.c. */
void wire_put_job(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                  const struct job *job);
const struct job *wire_get_job(struct wire *wire, const struct json_value *value);

/* What a job exchanges, as the keys "plan" or "sensitivity" of its object: policies/wire/wire_communication.c.  When
 * the job's members are known, a plan is fitted to their GPUs. */
void wire_put_communication(struct buffer *out, const struct communication *communication);
const struct communication *wire_get_communication(struct wire *wire, struct json_object *object);
void wire_fit_communication(struct json_object *object, struct job *job);

/* Pieces, as the member "pieces": policies/wire/wire_job.c. */
void wire_put_pieces(struct buffer *out, const struct cluster *cluster, const struct piece *pieces, uint32_t count);
const struct piece *wire_get_pieces(struct wire *wire, struct json_object *object, uint32_t *count);

/* The MIG layout of a GPU, as the keys "node", "gpu" and "layout": in the form of topologies/mig_arrange.h, or "whole".
 */
void wire_put_cut(struct buffer *out, const struct cluster *cluster, node_id node, uint32_t gpu_index,
                  mig_layout_id layout);
void wire_get_cut(struct wire *wire, struct json_object *object, node_id *node, uint32_t *gpu_index,
                  mig_layout_id *layout);

#endif
