/* workloads/node_ask.h -- the nodes on which members may be placed: required labels and tolerated taints.
 *
 *   a selector    labels that a node must have: key and value, all of them
 *   an affinity   alternatives; one of them must hold.  Each is a term: expressions over labels that all must hold
 *   tolerations   taints that are tolerated.  Any other taint keeps the members off, unless it is PreferNoSchedule,
 *                 which is ignored
 *
 * Laws: both the selector and the affinity must hold, as Kubernetes has it for nodeSelector and
 * requiredDuringSchedulingIgnoredDuringExecution: a running member stays on its node.  A term without expressions holds
 * nowhere.  An ask is resolved once for the cluster, as a set of its types, and is const from then on.  For one cluster
 * two asks are equal if and only if their texts are.  The texts keep the order of terms, expressions, values and
 * tolerations.  So asks with one meaning and different texts are different, which makes more request classes, but
 * changes no decision.
 *
 *   struct node_asks asks = {0};
 *   request.nodes = node_asks_own(&asks, node_ask_make(&scratch, cluster, &draft));
 *   if (request_takes_type(&request, cluster, t)) ...            (workloads/job.h)
 *
 * Source: Kubernetes, "Assigning Pods to Nodes" and "Taints and Tolerations".
 * It does not: prefer some nodes (preferredDuringScheduling), match names of nodes (matchFields), or evict members
 * that do not tolerate a NoExecute taint. */
#ifndef WORKLOADS_NODE_ASK_H
#define WORKLOADS_NODE_ASK_H

#include <string.h>

#include "base/json.h"
#include "base/names.h"
#include "topologies/cluster.h"

/* In: the node has the label with one of the values.  NotIn: it does not, so it holds without the label, too.  Gt, Lt:
 * the label is an integer above, below the only value, an integer. */
enum node_operator { NODE_IN, NODE_NOT_IN, NODE_EXISTS, NODE_DOES_NOT_EXIST, NODE_GT, NODE_LT, NODE_OPERATOR_COUNT };
extern const char *const node_operator_names[]; /* "In", "NotIn", "Exists", ..., NULL */

enum { NODE_ASK_MAX = 64 }; /* at most this many labels, terms, expressions, values, tolerations: of each */

struct node_expression {
    const char *key;
    const char *const *values;
    uint16_t value_count;
    uint8_t operator; /* enum node_operator */
};

struct node_term {
    const struct node_expression *expressions;
    uint16_t count;
};

struct toleration {
    const char *key;   /* "" with `exists`: the keys of all taints */
    const char *value; /* "" with `exists` */
    bool exists;       /* tolerates any value of the taint */
    uint8_t effect;    /* enum taint_effect; TAINT_EFFECT_COUNT: all effects */
};

struct node_ask {
    struct node_term selector; /* each expression is In, with one value; none: any labels */
    const struct node_term *terms;
    const struct toleration *tolerations;
    uint16_t term_count; /* 0: no affinity */
    uint16_t toleration_count;

    /* Set by node_ask_make. */
    const char
        *text;     /* the members "node_selector", "node_affinity" and "tolerations" of an object, as canonical JSON */
    uint64_t hash; /* of `text` */
    const uint64_t *types; /* bit t: cluster.types[t] is accepted; NULL: made without a cluster */
    uint32_t type_count;
};

/* A copy of `draft` in the arena, resolved for the cluster.  cluster NULL: the types are left out.  NULL if it asks for
 * nothing and tolerates nothing.  O(types x expressions). */
const struct node_ask *node_ask_make(struct arena *arena, const struct cluster *cluster, const struct node_ask *draft);

static inline bool node_ask_is_same(const struct node_ask *a, const struct node_ask *b)
{
    return a == b || (a != NULL && b != NULL && a->hash == b->hash && strcmp(a->text, b->text) == 0);
}

static inline bool node_ask_takes(const struct node_ask *ask, uint32_t type)
{
    return ask->types[type >> 6] >> (type & 63) & 1;
}

/* The two parts of node_ask_takes, by labels and by taints. */
bool node_ask_matches(const struct node_ask *ask, const struct node_type *type);
/* ask NULL: tolerates nothing */
bool node_ask_tolerates(const struct node_ask *ask, const struct node_type *type);

/* Why the ask is not valid; NULL: it is. */
const char *node_expression_complaint(const struct node_expression *expression);
const char *toleration_complaint(const struct toleration *toleration);

/* ---- asks that are kept ---- */

/* Each of several equal asks is kept once.  They are numbered from 0 in the order in which they came.  {0} is empty. */
struct node_asks {
    struct names *texts; /* by text, id is the number; NULL until the first */
    const struct node_ask **asks;
    size_t capacity;
    uint32_t count;
    struct arena arena;
};

/* The table's copy of the ask, borrowed until its release; NULL for NULL.  O(length) if the table has an equal one. */
const struct node_ask *node_asks_own(struct node_asks *asks, const struct node_ask *ask);
void node_asks_release(struct node_asks *asks);

/* ---- as JSON: workloads/node_ask_json.c ---- */

/* The members of an object: {"node_selector": {"zone": "a"},
 *  "node_affinity": [{"match_expressions": [{"key": "gpu", "operator": "In", "values": ["a", "b"]}]}],
 *  "tolerations": [{"key": "team", "operator": "Equal", "value": "x", "effect": "NoSchedule"}, "spot:NoSchedule"]}
 * A toleration is an object, or a text as node_ask_tolerations_of takes it.  What stays unmade lies in the arena.
 * Fails through the sticky error. */
struct node_ask node_ask_read(struct json_object *object, struct arena *arena);

/* Parse "zone=a;disk=ssd" as a selector; returns the complaint or NULL. */
const char *node_ask_selector_of(struct text text, struct arena *arena, struct node_ask *draft);
/* Parse "key=value:Effect", "key:Effect" (any value), "key" (any value, any effect), or "*" (everything); several are
 * separated by ";". */
const char *node_ask_tolerations_of(struct text text, struct arena *arena, struct node_ask *draft);

/* Parse struct node_ask.text, for loading.  False if it is not valid. */
bool node_ask_of_text(const char *text, struct arena *arena, struct node_ask *draft);

#endif
