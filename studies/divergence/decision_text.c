/* A decision in words and as JSON. */
#include <string.h>

#include "reports/view.h"
#include "studies/divergence/decision.h"

enum { HEADS_SHOWN = 8, SPOTS_SHOWN = 10, NODES_NAMED = 3, PLACE_WIDTH_MAX = 160 };

static const struct named_job *job_of(const struct decision_study *study, job_id id)
{
    for (uint32_t j = 0; j < study->job_count; j++)
        if (study->jobs[j].id == id)
            return &study->jobs[j];
    return NULL;
}

static void write_job(const struct decision_study *study, job_id id, struct buffer *out)
{
    const struct named_job unknown = {.id = id}, *known = job_of(study, id);
    const struct named_job *job = known != NULL ? known : &unknown;
    named_job_write_name(job, out);
    named_job_write_kind(job, out);
}

static void write_decision(const struct decision_study *study, struct buffer *out)
{
    static const char *const words[] = {
        [DECISION_START] = "start",
        [DECISION_EVICT] = "evict",
        [DECISION_RESERVE] = "hold space for",
        [DECISION_RELEASE] = "release",
        [DECISION_REJECT] = "reject",
        [DECISION_REPARTITION] = "cut a GPU for",
        [DECISION_NOTIFY] = "tell of its idle GPUs",
    };
    const struct decision *decision = &study->decision;
    buffer_format(out, "decision %llu at ", (unsigned long long)decision_number(decision->id));
    buffer_scaled(out, study->at, TIME_NS_PER_S);
    buffer_format(out, " s: %s ", words[decision->kind]);
    write_job(study, decision->job, out);
    if (study->place[0] != '\0') {
        buffer_string(out, decision->kind == DECISION_EVICT ? " from " : " on ");
        view_name(out, study->place, PLACE_WIDTH_MAX);
    }
    if (decision->for_job != JOB_NONE) {
        buffer_string(out, " for ");
        write_job(study, decision->for_job, out);
    }
    if (decision->reason != REASON_NONE)
        buffer_format(out, ": %s", reason_name(decision->reason));
    if (decision->kind == DECISION_START && decision->source == SOURCE_GAP)
        buffer_string(out, ", in a gap before a planned start, for which it can be evicted");
    buffer_char(out, '\n');
}

static void write_before(const struct decision_study *study, struct buffer *out)
{
    const size_t count = study->before_count;
    if (count == 0) {
        buffer_string(out, "  it is the first decision of its cycle\n");
        return;
    }
    buffer_format(out, "  %zu decision%s came before it in its cycle", count, count == 1 ? "" : "s");
    if (study->is_weighed)
        buffer_format(out, "; the nodes are as after %u start%s among them", study->weighing.taken_count,
                      study->weighing.taken_count == 1 ? "" : "s");
    buffer_char(out, '\n');
}

/* ---- The order ---- */

static void write_head(const struct decision_study *study, uint32_t h, struct buffer *out)
{
    const struct weighed_head *head = &study->weighing.heads[h];
    buffer_format(out, "  %3u  ", h + 1);
    write_job(study, head->job, out);
    if (head->waiting > 1)
        buffer_format(out, " and %u more like it", head->waiting - 1);
    if (head->reason != REASON_NONE)
        buffer_format(out, ": %s", reason_name(head->reason));
    if (head->behind_by != NULL)
        buffer_format(out, "; behind the one above by %s", head->behind_by);
    buffer_char(out, '\n');
}

static void write_order(const struct decision_study *study, struct buffer *out)
{
    const struct weighing *weighing = &study->weighing;
    if (weighing->head_count == 0)
        return;
    buffer_format(out, "order before the cycle: its class queue is number %u", weighing->head_count);
    if (weighing->ahead_in_class > 0)
        buffer_format(out, ", and %u job%s before it there", weighing->ahead_in_class,
                      weighing->ahead_in_class == 1 ? " goes" : "s go");
    buffer_string(out, weighing->inference_first ? "; inference is tried before all others\n" : "\n");
    for (uint32_t h = 0; h < weighing->head_count; h++) {
        if (h < HEADS_SHOWN || h + 1 == weighing->head_count)
            write_head(study, h, out);
        else if (h == HEADS_SHOWN)
            buffer_string(out, "  ...\n");
    }
}

/* ---- The nodes ---- */

static bool is_same_spot(const struct weighed_node *a, const struct weighed_node *b)
{
    return a->score == b->score && a->why == b->why && a->free_gpus == b->free_gpus;
}

/* Is the node one of the decision's? */
static bool is_chosen(const struct decision_study *study, node_id node)
{
    for (uint32_t p = 0; p < study->decision.piece_count; p++)
        if (study->decision.pieces[p].node == node)
            return study->decision.kind != DECISION_EVICT;
    return false;
}

/* The nodes from `first` on with this score, as one line.  Returns the index behind them. */
static uint32_t write_spot(const struct decision_study *study, uint32_t first, struct buffer *out)
{
    const struct weighing *weighing = &study->weighing;
    const struct weighed_node *nodes = weighing->nodes;
    const struct node *names = study->side.scenario.cluster->nodes;
    uint32_t end = first, chosen = NODE_NONE;
    while (end < weighing->node_count && is_same_spot(&nodes[first], &nodes[end])) {
        if (chosen == NODE_NONE && is_chosen(study, nodes[end].node))
            chosen = nodes[end].node;
        end++;
    }
    buffer_string(out, "  ");
    if (!weighing->is_drawn)
        buffer_format(out, "%9lld  ", (long long)nodes[first].score);
    for (uint32_t n = first; n < end && n < first + NODES_NAMED; n++)
        buffer_format(out, "%s%s", n > first ? ", " : "", names[nodes[n].node].name);
    if (end - first > NODES_NAMED)
        buffer_format(out, " and %u more", end - first - NODES_NAMED);
    buffer_format(out, ": %u GPU%s free", nodes[first].free_gpus, nodes[first].free_gpus == 1 ? "" : "s");
    if (nodes[first].why != EXPLAIN_FITS)
        buffer_format(out, ", but %s", explain_node_words[nodes[first].why]);
    if (chosen != NODE_NONE)
        buffer_format(out, "; chosen: %s", names[chosen].name);
    buffer_char(out, '\n');
    return end;
}

static void write_refused(const struct weighing *weighing, struct buffer *out)
{
    const char *between = "  refused: ";
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++) {
        if (weighing->refused[i] == 0)
            continue;
        buffer_format(out, "%s%u %s", between, weighing->refused[i],
                      i == EXPLAIN_FITS ? "by the policy" : explain_node_words[i]);
        between = ", ";
    }
    if (between[0] == ',')
        buffer_char(out, '\n');
}

static void write_nodes(const struct decision_study *study, struct buffer *out)
{
    const struct weighing *weighing = &study->weighing;
    const uint32_t all = study->side.scenario.cluster->node_count;
    if (weighing->has_reservation) {
        buffer_string(out, "place: its space was held for it before");
        if (study->reserved_by != 0)
            buffer_format(out, ", by decision %llu", (unsigned long long)study->reserved_by);
        buffer_char(out, '\n');
        return;
    }
    buffer_format(out, "place: %s, %u of %u node%s with room", weighing->placement, weighing->node_count, all,
                  all == 1 ? "" : "s");
    if (weighing->is_drawn)
        buffer_string(out, ", one of them drawn at random");
    if (weighing->members > 1)
        buffer_format(out, " for the first of %u members", weighing->members);
    buffer_string(out, weighing->has_topology ? "; domains are chosen first, the scores hold within one\n" : "\n");
    uint32_t spots = 0, n = 0;
    while (n < weighing->node_count && spots++ < SPOTS_SHOWN)
        n = write_spot(study, n, out);
    if (n < weighing->node_count)
        buffer_format(out, "  ... and %u nodes with lower scores\n", weighing->node_count - n);
    write_refused(weighing, out);
}

void decision_study_text(const struct decision_study *study, struct buffer *out)
{
    write_decision(study, out);
    write_before(study, out);
    if (study->is_explained && (study->decision.kind == DECISION_EVICT || !study->is_weighed)) {
        write_job(study, study->weighed, out);
        buffer_format(out, " waits: %s. %s\n", reason_name(study->why.code), study->why.text);
    }
    if (!study->is_weighed)
        return;
    write_order(study, out);
    write_nodes(study, out);
}

/* ---- JSON ---- */

static void json_job(const struct decision_study *study, const char *key, job_id id, struct buffer *out)
{
    const struct named_job unknown = {.id = id}, *known = job_of(study, id);
    buffer_members(out, ", %s: {", key);
    named_job_write_json(known != NULL ? known : &unknown, out);
    buffer_char(out, '}');
}

static void json_heads(const struct decision_study *study, struct buffer *out)
{
    const struct weighing *weighing = &study->weighing;
    buffer_members(out, ", 'ahead_in_class_queue': %u, 'heads': [", weighing->ahead_in_class);
    for (uint32_t h = 0; h < weighing->head_count; h++) {
        const struct weighed_head *head = &weighing->heads[h];
        buffer_members(out, ",\n  {");
        json_job(study, "head", head->job, out);
        buffer_members(out, ", 'waiting': %u, 'reason': %s", head->waiting, reason_name(head->reason));
        if (head->behind_by != NULL)
            buffer_members(out, ", 'behind_by': %s", head->behind_by);
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

static void json_nodes(const struct decision_study *study, struct buffer *out)
{
    const struct weighing *weighing = &study->weighing;
    if (weighing->has_reservation) {
        if (study->reserved_by != 0)
            buffer_members(out, ", 'reserved_by': %llu", (unsigned long long)study->reserved_by);
        return;
    }
    buffer_members(out, ", 'placement': %s, 'nodes': [", weighing->placement);
    for (uint32_t n = 0; n < weighing->node_count; n++) {
        const struct weighed_node *node = &weighing->nodes[n];
        buffer_members(out, ",\n  {'node': %s", study->side.scenario.cluster->nodes[node->node].name);
        if (!weighing->is_drawn)
            buffer_members(out, ", 'score': %lld", (long long)node->score);
        buffer_members(out, ", 'free_gpus': %u, 'cause': %s, 'is_chosen': %hhd}", node->free_gpus,
                       explain_node_names[node->why], is_chosen(study, node->node));
    }
    buffer_members(out, "], 'refused': {");
    for (int i = 0; i < EXPLAIN_NODE_COUNT; i++)
        buffer_members(out, ", %s: %u", i == EXPLAIN_FITS ? "policy" : explain_node_names[i], weighing->refused[i]);
    buffer_char(out, '}');
}

void decision_study_json(const struct decision_study *study, struct buffer *out)
{
    static const char *const kinds[] = {
        [DECISION_START] = "start",     [DECISION_EVICT] = "evict",   [DECISION_RESERVE] = "reserve",
        [DECISION_RELEASE] = "release", [DECISION_REJECT] = "reject", [DECISION_REPARTITION] = "repartition",
        [DECISION_NOTIFY] = "notify",
    };
    buffer_members(out, "{'decision': %llu, 'at_s': %.9lld, 'kind': %s",
                   (unsigned long long)decision_number(study->decision.id), (long long)study->at,
                   kinds[study->decision.kind]);
    json_job(study, "job", study->decision.job, out);
    if (study->decision.for_job != JOB_NONE)
        json_job(study, "for_job", study->decision.for_job, out);
    buffer_members(out, ", 'place': %s, 'before_in_cycle': %zu", study->place, study->before_count);
    if (study->is_explained)
        buffer_members(out, ", 'code': %s, 'needs': %s", reason_name(study->why.code), study->why.text);
    if (study->is_weighed) {
        json_heads(study, out);
        json_nodes(study, out);
    }
    buffer_string(out, "}\n");
}
