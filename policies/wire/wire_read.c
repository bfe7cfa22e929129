/* policies/wire/wire_read.c -- reads lines as facts and decisions. */
#include <assert.h>
#include <string.h>

#include "base/names.h"
#include "policies/wire/wire_facts.h"
#include "policies/wire/wire_fields.h"
#include "policies/wire/wire_kinds.h"

struct wire *wire_new(const struct cluster *cluster, struct queue_table *queues)
{
    struct wire *wire = mem_zalloc(1, sizeof *wire);
    wire->cluster = cluster;
    wire->queues = queues;
    wire->nodes = names_new();
    for (node_id n = 0; n < cluster->node_count; n++)
        names_add(wire->nodes, text_of(cluster->nodes[n].name));
    return wire;
}

void wire_free(struct wire *wire)
{
    if (wire == NULL)
        return;
    names_free(wire->nodes);
    arena_release(&wire->arena);
    mem_free(wire);
}

void wire_forget(struct wire *wire)
{
    wire->unknown_node = NULL;
    arena_reset(&wire->arena);
}

/* ---- parts ---- */

static enum reason get_reason(struct json_object *object)
{
    const char *names[REASON_COUNT + 1] = {NULL};
    for (int r = 0; r < REASON_COUNT; r++)
        names[r] = reason_name((enum reason)r);
    return (enum reason)json_get_choice(object, "reason", names, REASON_NONE);
}

/* A decision holds the GPU as a piece. */
static void get_cut(struct wire *wire, struct json_object *object, struct decision *decision)
{
    struct piece *piece = arena_alloc_array(&wire->arena, 1, struct piece);
    uint32_t gpu = 0;
    wire_get_cut(wire, object, &piece->node, &gpu, &decision->layout);
    piece->gpu_mask = (uint16_t)(1u << gpu);
    piece->gpu_milli = GPU_MILLI;
    decision->pieces = piece;
    decision->piece_count = 1;
}

static void get_decision(struct wire *wire, struct json_object *object, struct decision *decision)
{
    wire_get_fields(object, wire_decision_fields, decision);
    decision->id = wire_get_decision(object, wire_decision_keys[decision->kind], decision->job);
    decision->reason = get_reason(object);
    if (decision->kind == DECISION_REPARTITION)
        get_cut(wire, object, decision);
    else
        decision->pieces = wire_get_pieces(wire, object, &decision->piece_count);
}

/* ---- the line ---- */

/* The index of the first of the keys that the object has; -1: none. */
static int find_kind(struct json_object *object, const char *const *keys)
{
    for (int i = 0; keys[i] != NULL; i++)
        if (json_has(object, keys[i]))
            return i;
    return -1;
}

static bool is_answer(struct json_object *object)
{
    return find_kind(object, wire_decision_keys) >= 0 || json_has(object, WIRE_DONE_KEY) ||
           json_has(object, WIRE_UNKNOWN_KEY) || json_has(object, WIRE_BAD_LINE_KEY) ||
           json_has(object, WIRE_REPLAYED_KEY);
}

static void get_line(struct wire *wire, struct json_object *object, unsigned wanted, struct wire_line *out)
{
    int kind;
    if (wanted >> WIRE_FACT & 1 && (kind = find_kind(object, wire_fact_keys)) >= 0) {
        out->kind = WIRE_FACT;
        out->fact.kind = (enum fact_kind)kind;
        out->fact.now = json_get_int(object, wire_fact_keys[kind], 0, TIME_NEVER - 1, 0);
        wire_get_fact(wire, object, &out->fact);
    } else if (wanted >> WIRE_CYCLE & 1 && json_has(object, WIRE_CYCLE_KEY)) {
        out->kind = WIRE_CYCLE;
        out->now = json_get_int(object, WIRE_CYCLE_KEY, 0, TIME_NEVER - 1, 0);
    } else if (wanted >> WIRE_DECISION & 1 && (kind = find_kind(object, wire_decision_keys)) >= 0) {
        out->kind = WIRE_DECISION;
        out->decision.kind = (enum decision_kind)kind;
        get_decision(wire, object, &out->decision);
    } else if (wanted >> WIRE_DONE & 1 && json_has(object, WIRE_DONE_KEY)) {
        out->kind = WIRE_DONE;
        out->done.decision_count = (uint64_t)json_get_int(object, WIRE_DONE_KEY, 0, INT64_MAX, 0);
        wire_get_fields(object, wire_done_fields, &out->done);
    } else if (wanted & WIRE_PASSED && is_answer(object)) {
        out->kind = WIRE_ANSWER;
    } else {
        json_fail(&object->value, "such a line has no place here");
        error_set_hint(object->value.error, "docs/decide.md lists the lines that may come");
    }
}

struct error wire_read(struct wire *wire, const char *file, uint64_t number, struct text line, unsigned wanted,
                       struct wire_line *out)
{
    struct error error = ERROR_OK;
    struct json_doc *doc;
    *out = (struct wire_line){.fact = {.which = MEMBERS_ALL}};
    wire->unknown_node = NULL;
    error = json_doc_parse(&doc, file, line, ERROR_DATA);
    if (!error_is(error)) {
        struct json_value root = json_doc_root(doc, &error);
        struct json_object object;
        json_object_open(&object, &root);
        if (!error_is(error))
            get_line(wire, &object, wanted, out);
        if (out->kind != WIRE_ANSWER) /* else some keys were not read */
            json_object_close(&object);
        json_doc_free(doc);
    }
    out->unknown_node = error_is(error) ? wire->unknown_node : NULL;
    error_move_down(&error, (size_t)number - 1);
    return error;
}

/* ---- the header ---- */

struct error wire_header_parse(struct json_doc **doc, const char *file, struct text line)
{
    struct error error = json_doc_parse(doc, file, line, ERROR_DATA);
    TRY(error);
    struct json_value root = json_doc_root(*doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    if (!error_is(error) && !json_has(&object, WIRE_HEADER_KEY)) {
        json_fail(&root, "the first line is no header of events");
        error_set_hint(&error, "it begins with {\"" WIRE_HEADER_KEY "\":%d", WIRE_VERSION);
    }
    int64_t version = json_get_int(&object, WIRE_HEADER_KEY, 1, INT64_MAX, WIRE_VERSION);
    if (!error_is(error) && version != WIRE_VERSION) {
        struct json_value value = json_member(&object, WIRE_HEADER_KEY);
        json_fail(&value, "this program reads version %d, not %lld", WIRE_VERSION, (long long)version);
    }
    if (error_is(error)) {
        json_doc_free(*doc);
        *doc = NULL;
    }
    return error;
}

struct error wire_header_read(struct wire_header *out, struct json_doc *doc)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    *out = (struct wire_header){.queues = queue_table_new()};
    json_object_open(&object, &root);
    json_has(&object, WIRE_HEADER_KEY);
    json_need(&object, "cluster");
    json_need(&object, "queues");
    json_need(&object, "policy");
    struct json_value cluster = json_member(&object, "cluster"), queues = json_member(&object, "queues"),
                      policy = json_member(&object, "policy");
    if (!error_is(error))
        out->cluster = cluster_read(&cluster);
    if (!error_is(error))
        queue_table_read(out->queues, &queues);
    if (!error_is(error))
        policy_config_read(&out->policy, &policy);
    if (!error_is(error))
        policy_config_need_allocate(&out->policy, &policy);
    json_object_close(&object);
    if (error_is(error))
        wire_header_release(out);
    return error;
}

void wire_header_release(struct wire_header *header)
{
    cluster_free(header->cluster);
    queue_table_free(header->queues);
    *header = (struct wire_header){0};
}
