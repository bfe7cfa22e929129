/* policies/wire/wire_facts.c -- the parts of the lines of facts, and the table of the parts that each kind has. */
#include "policies/wire/wire_facts.h"

#include <assert.h>

#include "policies/wire/wire_kinds.h"

typedef void put_part_fn(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                         const struct fact *fact);
typedef void get_part_fn(struct wire *wire, struct json_object *object, struct fact *fact);

struct fact_part {
    const struct wire_field *fields; /* NULL: the functions below write and read it */
    put_part_fn *put;
    get_part_fn *get;
};

enum { FACT_PARTS_MAX = 3 };

/* ---- parts that are plain fields ---- */

static const struct wire_field job_id_fields[] = {
    WIRE_INT(struct fact, id, "job", 0, JOB_NONE - 1, WIRE_NEEDED),
    {0},
};
static const struct wire_field started_fields[] = {
    WIRE_INT(struct fact, started, "started_ns", 0, TIME_NEVER - 1, WIRE_NEEDED),
    {0},
};
static const struct wire_field evict_end_fields[] = {
    WIRE_NAME(struct fact, evicted, "end", wire_evict_ends, WIRE_NEEDED),
    {0},
};
static const struct wire_field job_end_fields[] = {
    WIRE_NAME(struct fact, end, "end", wire_job_ends, WIRE_NEEDED),
    WIRE_BOOL(struct fact, will_retry, "will_retry", false),
    {0},
};
static const struct wire_field observed_fields[] = {
    WIRE_INT(struct fact, observed.since, "since_ns", 0, TIME_NEVER - 1, WIRE_NEEDED),
    WIRE_INT(struct fact, observed.until, "until_ns", 0, TIME_NEVER - 1, WIRE_NEEDED),
    WIRE_FIELD(struct fact, observed.sm_active_milli, "sm_active", WIRE_FORM_MILLI, 0, GPU_MILLI, WIRE_NEEDED, NULL),
    {0},
};
static const struct wire_field refusal_fields[] = {
    WIRE_NAME(struct fact, refusal, "why", wire_refusals, WIRE_NEEDED),
    {0},
};
static const struct wire_field node_state_fields[] = {
    WIRE_NAME(struct fact, state, "state", wire_node_states, WIRE_NEEDED),
    {0},
};

static const struct wire_field history_fields[] = {
    WIRE_INT(struct fact, history.evictions, "evictions", 0, UINT32_MAX, 0),
    WIRE_INT(struct fact, history.stale_count, "stale_count", 0, UINT8_MAX, 0),
    WIRE_INT(struct fact, history.waiting_since, "waiting_since_ns", 0, TIME_NEVER - 1, WIRE_NEEDED),
    WIRE_INT(struct fact, history.below_since, "below_since_ns", 0, TIME_NEVER - 1, TIME_NEVER),
    WIRE_INT(struct fact, history.saved_at, "saved_at_ns", 0, TIME_NEVER - 1, TIME_NEVER),
    WIRE_INT(struct fact, history.ran, "ran_ns", 0, TIME_NEVER - 1, 0),
    WIRE_INT(struct fact, history.attained_gpu_ns, "attained_gpu_ns", 0, INT64_MAX, 0),
    {0},
};
static const struct wire_field usage_fields[] = {
    WIRE_INT(struct fact, user, "user", 0, NAMES_NONE - 1, NAMES_NONE),
    WIRE_INT(struct fact, usage_milli, "usage_milli", 0, INT64_MAX, WIRE_NEEDED),
    {0},
};

static const struct fact_part job_id_part = {.fields = job_id_fields};
static const struct fact_part started_part = {.fields = started_fields};
static const struct fact_part evict_end_part = {.fields = evict_end_fields};
static const struct fact_part job_end_part = {.fields = job_end_fields};
static const struct fact_part observed_part = {.fields = observed_fields};
static const struct fact_part refusal_part = {.fields = refusal_fields};
static const struct fact_part node_state_part = {.fields = node_state_fields};
static const struct fact_part history_part = {.fields = history_fields};
static const struct fact_part usage_part = {.fields = usage_fields};

/* ---- parts whose meaning the cluster and the queues give ---- */

/* The value of a key that must be there.  True if it is, and nothing has failed so far. */
static bool need_member(struct json_object *object, const char *key, struct json_value *value)
{
    json_need(object, key);
    *value = json_member(object, key);
    return !error_is(*object->value.error);
}

static void put_job(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                    const struct fact *fact)
{
    wire_put_key(out, "job");
    wire_put_job(out, cluster, queues, fact->job);
}

static void get_job(struct wire *wire, struct json_object *object, struct fact *fact)
{
    struct json_value value;
    if (!need_member(object, "job", &value))
        return;
    fact->job = wire_get_job(wire, &value);
    fact->id = fact->job->id;
}

static const struct fact_part job_part = {.put = put_job, .get = get_job};

static void put_pieces(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                       const struct fact *fact)
{
    (void)queues;
    wire_put_pieces(out, cluster, fact->pieces, fact->piece_count);
}

static void get_pieces(struct wire *wire, struct json_object *object, struct fact *fact)
{
    fact->pieces = wire_get_pieces(wire, object, &fact->piece_count);
}

static const struct fact_part pieces_part = {.put = put_pieces, .get = get_pieces};

/* A decision goes by its number.  Its id has the job as well, which most lines name. */
static void put_decision(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                         const struct fact *fact)
{
    (void)cluster;
    (void)queues;
    wire_put_int(out, "decision", (int64_t)decision_number(fact->decision));
}

static void get_decision(struct wire *wire, struct json_object *object, struct fact *fact)
{
    (void)wire;
    json_need(object, "decision");
    fact->decision = wire_get_decision(object, "decision", fact->id);
}

static const struct fact_part decision_part = {.put = put_decision, .get = get_decision};

/* A refusal need not name the job: the number says which decision it is. */
static void put_refused(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                        const struct fact *fact)
{
    put_decision(out, cluster, queues, fact);
    if ((job_id)fact->decision != JOB_NONE)
        wire_put_int(out, "job", (job_id)fact->decision);
}

static void get_refused(struct wire *wire, struct json_object *object, struct fact *fact)
{
    (void)wire;
    json_need(object, "decision");
    fact->decision =
        wire_get_decision(object, "decision", (job_id)json_get_int(object, "job", 0, JOB_NONE - 1, JOB_NONE));
}

static const struct fact_part refused_part = {.put = put_refused, .get = get_refused};

static void put_members(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                        const struct fact *fact)
{
    (void)queues;
    if (fact->which.decision != 0)
        wire_put_int(out, "decision", (int64_t)decision_number(fact->which.decision));
    if (fact->which.node != NODE_NONE)
        wire_put_text(out, "node", cluster->nodes[fact->which.node].name);
}

static void get_members(struct wire *wire, struct json_object *object, struct fact *fact)
{
    fact->which.decision = wire_get_decision(object, "decision", fact->id);
    fact->which.node = wire_get_node(wire, object, "node");
}

static const struct fact_part members_part = {.put = put_members, .get = get_members};

static void put_node(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                     const struct fact *fact)
{
    (void)queues;
    wire_put_text(out, "node", cluster->nodes[fact->node].name);
}

static void get_node(struct wire *wire, struct json_object *object, struct fact *fact)
{
    json_need(object, "node");
    fact->node = wire_get_node(wire, object, "node");
}

static const struct fact_part node_part = {.put = put_node, .get = get_node};

static void put_cut(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                    const struct fact *fact)
{
    (void)queues;
    wire_put_cut(out, cluster, fact->node, fact->gpu, fact->layout);
}

static void get_cut(struct wire *wire, struct json_object *object, struct fact *fact)
{
    wire_get_cut(wire, object, &fact->node, &fact->gpu, &fact->layout);
}

static const struct fact_part cut_part = {.put = put_cut, .get = get_cut};

/* The fact brings its own table: the queues of the stream, once the line has changed them. */
static void put_queues(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                       const struct fact *fact)
{
    (void)cluster;
    (void)queues;
    wire_put_key(out, "queues");
    queue_table_write(fact->queues, fact->first_queue, out);
}

static void get_queues(struct wire *wire, struct json_object *object, struct fact *fact)
{
    struct json_value array;
    fact->queues = wire->queues;
    fact->first_queue = wire->queues->count;
    if (!need_member(object, "queues", &array))
        return;
    queue_table_merge(wire->queues, &array);
    if (wire->queues->count - fact->first_queue != json_array_count(&array)) /* some were known */
        fact->first_queue = QUEUE_ROOT + 1;
}

static const struct fact_part queues_part = {.put = put_queues, .get = get_queues};

static void put_kinds(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                      const struct fact *fact)
{
    (void)queues;
    wire_put_key(out, "members");
    wire_write_kinds(out, cluster, fact->kinds, fact->kind_count);
}

static void get_kinds(struct wire *wire, struct json_object *object, struct fact *fact)
{
    struct json_value array;
    if (need_member(object, "members", &array))
        fact->kinds = wire_read_kinds(wire, &array, &fact->kind_count);
}

static const struct fact_part kinds_part = {.put = put_kinds, .get = get_kinds};

static void put_queue(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                      const struct fact *fact)
{
    (void)cluster;
    wire_put_text(out, "queue", queues->queues[fact->queue].name);
}

static void get_queue(struct wire *wire, struct json_object *object, struct fact *fact)
{
    json_need(object, "queue");
    fact->queue = wire_get_queue(wire, object, "queue");
}

static const struct fact_part queue_part = {.put = put_queue, .get = get_queue};

/* ---- the table ---- */

static const struct fact_part *const parts_of[FACT_COUNT][FACT_PARTS_MAX + 1] = {
    [FACT_JOB_SUBMITTED] = {&job_part},
    [FACT_JOB_RELEASED] = {&job_id_part},
    [FACT_JOB_CANCELLED] = {&job_id_part},
    [FACT_JOB_ADOPTED] = {&job_part, &started_part, &pieces_part},
    [FACT_JOB_STARTED] = {&job_id_part, &decision_part},
    [FACT_JOB_LEAVING] = {&job_id_part, &members_part},
    [FACT_JOB_EVICTED] = {&job_id_part, &members_part, &evict_end_part},
    [FACT_JOB_ENDED] = {&job_id_part, &job_end_part},
    [FACT_JOB_CHECKPOINTED] = {&job_id_part},
    [FACT_JOB_OBSERVED] = {&job_id_part, &observed_part},
    [FACT_DECISION_REFUSED] = {&refused_part, &refusal_part},
    [FACT_NODE_CHANGED] = {&node_part, &node_state_part},
    [FACT_GPU_CHANGED] = {&cut_part},
    [FACT_QUEUES_CHANGED] = {&queues_part},
    [FACT_TYPICAL_TOLD] = {&kinds_part},
    [FACT_JOB_HISTORY_TOLD] = {&job_id_part, &history_part},
    [FACT_USER_USAGE_TOLD] = {&queue_part, &usage_part},
};

void wire_put_fact(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                   const struct fact *fact)
{
    assert(parts_of[fact->kind][0] != NULL && "every kind of fact has a row");
    for (const struct fact_part *const *part = parts_of[fact->kind]; *part != NULL; part++)
        if ((*part)->fields != NULL)
            wire_put_fields(out, (*part)->fields, fact);
        else
            (*part)->put(out, cluster, queues, fact);
}

void wire_get_fact(struct wire *wire, struct json_object *object, struct fact *fact)
{
    for (const struct fact_part *const *part = parts_of[fact->kind]; *part != NULL; part++)
        if ((*part)->fields != NULL)
            wire_get_fields(object, (*part)->fields, fact);
        else
            (*part)->get(wire, object, fact);
}
