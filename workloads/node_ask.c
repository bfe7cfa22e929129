#include "workloads/node_ask.h"

#include <assert.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"

const char *const node_operator_names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", NULL};

/* ---- labels ---- */

static const char *label_of(const struct node_type *type, const char *key)
{
    for (uint32_t i = 0; i < type->label_count; i++)
        if (strcmp(type->labels[i].key, key) == 0)
            return type->labels[i].value;
    return NULL;
}

static bool is_among(const struct node_expression *expression, const char *label)
{
    for (uint32_t v = 0; label != NULL && v < expression->value_count; v++)
        if (strcmp(expression->values[v], label) == 0)
            return true;
    return false;
}

/* Compares 64-bit integers, as Kubernetes does.  A text that is no integer is neither above nor below. */
static bool is_beyond(const struct node_expression *expression, const char *label, bool above)
{
    int64_t have, bound;
    return label != NULL && text_to_int64(text_of(label), INT64_MIN, INT64_MAX, &have) &&
           text_to_int64(text_of(expression->values[0]), INT64_MIN, INT64_MAX, &bound) &&
           (above ? have > bound : have < bound);
}

static bool node_expression_holds(const struct node_expression *expression, const struct node_type *type)
{
    const char *label = label_of(type, expression->key);
    switch ((enum node_operator)expression->operator) {
    case NODE_IN:
        return is_among(expression, label);
    case NODE_NOT_IN:
        return !is_among(expression, label);
    case NODE_EXISTS:
        return label != NULL;
    case NODE_DOES_NOT_EXIST:
        return label == NULL;
    case NODE_GT:
        return is_beyond(expression, label, true);
    case NODE_LT:
        return is_beyond(expression, label, false);
    case NODE_OPERATOR_COUNT:
        break;
    }
    return false;
}

static bool holds(const struct node_term *term, const struct node_type *type)
{
    for (uint32_t e = 0; e < term->count; e++)
        if (!node_expression_holds(&term->expressions[e], type))
            return false;
    return true;
}

bool node_ask_matches(const struct node_ask *ask, const struct node_type *type)
{
    if (!holds(&ask->selector, type))
        return false;
    for (uint32_t t = 0; t < ask->term_count; t++)
        if (ask->terms[t].count > 0 && holds(&ask->terms[t], type))
            return true;
    return ask->term_count == 0;
}

/* ---- taints ---- */

static bool meets(const struct toleration *toleration, const struct taint *taint)
{
    if (toleration->effect != TAINT_EFFECT_COUNT && toleration->effect != taint->effect)
        return false;
    if (toleration->key[0] != '\0' && strcmp(toleration->key, taint->key) != 0)
        return false;
    return toleration->exists || strcmp(toleration->value, taint->value) == 0;
}

static bool is_met(const struct node_ask *ask, const struct taint *taint)
{
    for (uint32_t t = 0; ask != NULL && t < ask->toleration_count; t++)
        if (meets(&ask->tolerations[t], taint))
            return true;
    return false;
}

bool node_ask_tolerates(const struct node_ask *ask, const struct node_type *type)
{
    for (uint32_t i = 0; i < type->taint_count; i++)
        if (type->taints[i].effect != TAINT_PREFER_NO_SCHEDULE && !is_met(ask, &type->taints[i]))
            return false;
    return true;
}

/* ---- complaints ---- */

const char *node_expression_complaint(const struct node_expression *expression)
{
    int64_t bound;
    if (expression->key[0] == '\0')
        return "an expression needs a key";
    switch ((enum node_operator)expression->operator) {
    case NODE_IN:
    case NODE_NOT_IN:
        return expression->value_count == 0 ? "In and NotIn need values" : NULL;
    case NODE_EXISTS:
    case NODE_DOES_NOT_EXIST:
        return expression->value_count > 0 ? "Exists and DoesNotExist take no values" : NULL;
    default:
        if (expression->value_count != 1 ||
            !text_to_int64(text_of(expression->values[0]), INT64_MIN, INT64_MAX, &bound))
            return "Gt and Lt need one value, an integer as a text";
        return NULL;
    }
}

const char *toleration_complaint(const struct toleration *toleration)
{
    if (toleration->exists && toleration->value[0] != '\0')
        return "a toleration with Exists takes no value";
    if (!toleration->exists && toleration->key[0] == '\0')
        return "a toleration without a key needs Exists";
    return NULL;
}

/* ---- making ---- */

static void put_term(struct buffer *out, const struct node_term *term)
{
    buffer_members(out, ",{'match_expressions':[");
    for (uint32_t e = 0; e < term->count; e++) {
        const struct node_expression *one = &term->expressions[e];
        buffer_members(out, ",{'key':%s,'operator':%s", one->key, node_operator_names[one->operator]);
        if (one->value_count > 0)
            buffer_members(out, ",'values':[");
        for (uint32_t v = 0; v < one->value_count; v++)
            buffer_members(out, ",%s", one->values[v]);
        buffer_string(out, one->value_count > 0 ? "]}" : "}");
    }
    buffer_string(out, "]}");
}

static void put_toleration(struct buffer *out, const struct toleration *toleration)
{
    buffer_members(out, ",{");
    if (toleration->key[0] != '\0')
        buffer_members(out, ",'key':%s", toleration->key);
    buffer_members(out, ",'operator':%s", toleration->exists ? "Exists" : "Equal");
    if (toleration->value[0] != '\0')
        buffer_members(out, ",'value':%s", toleration->value);
    if (toleration->effect != TAINT_EFFECT_COUNT)
        buffer_members(out, ",'effect':%s", taint_effect_names[toleration->effect]);
    buffer_char(out, '}');
}

/* The members of an object, after a comma. */
static void put_ask(struct buffer *out, const struct node_ask *ask)
{
    if (ask->selector.count > 0)
        buffer_members(out, ",'node_selector':{");
    for (uint32_t e = 0; e < ask->selector.count; e++)
        buffer_members(out, ",%s:%s", ask->selector.expressions[e].key, ask->selector.expressions[e].values[0]);
    if (ask->selector.count > 0)
        buffer_char(out, '}');
    if (ask->term_count > 0)
        buffer_members(out, ",'node_affinity':[");
    for (uint32_t t = 0; t < ask->term_count; t++)
        put_term(out, &ask->terms[t]);
    if (ask->term_count > 0)
        buffer_char(out, ']');
    if (ask->toleration_count > 0)
        buffer_members(out, ",'tolerations':[");
    for (uint32_t t = 0; t < ask->toleration_count; t++)
        put_toleration(out, &ask->tolerations[t]);
    if (ask->toleration_count > 0)
        buffer_char(out, ']');
}

static struct node_term copy_term(struct arena *arena, const struct node_term *term)
{
    struct node_expression *copy = arena_alloc_array(arena, term->count, struct node_expression);
    for (uint32_t e = 0; e < term->count; e++) {
        const struct node_expression *one = &term->expressions[e];
        const char **values = arena_alloc_array(arena, one->value_count, const char *);
        for (uint32_t v = 0; v < one->value_count; v++)
            values[v] = arena_copy(arena, text_of(one->values[v]));
        copy[e] =
            (struct node_expression){arena_copy(arena, text_of(one->key)), values, one->value_count, one->operator};
    }
    return (struct node_term){copy, term->count};
}

/* Copies all but the types. */
static struct node_ask *copy_ask(struct arena *arena, const struct node_ask *ask, const char *text)
{
    struct node_ask *copy = arena_alloc_array(arena, 1, struct node_ask);
    struct node_term *terms = arena_alloc_array(arena, ask->term_count, struct node_term);
    struct toleration *tolerations = arena_alloc_array(arena, ask->toleration_count, struct toleration);
    for (uint32_t t = 0; t < ask->term_count; t++)
        terms[t] = copy_term(arena, &ask->terms[t]);
    for (uint32_t t = 0; t < ask->toleration_count; t++)
        tolerations[t] = (struct toleration){arena_copy(arena, text_of(ask->tolerations[t].key)),
                                             arena_copy(arena, text_of(ask->tolerations[t].value)),
                                             ask->tolerations[t].exists, ask->tolerations[t].effect};
    *copy = (struct node_ask){.selector = copy_term(arena, &ask->selector),
                              .terms = terms,
                              .tolerations = tolerations,
                              .term_count = ask->term_count,
                              .toleration_count = ask->toleration_count,
                              .text = arena_copy(arena, text_of(text)),
                              .hash = hash_bytes(text, strlen(text), 0)};
    return copy;
}

static size_t words_of(uint32_t type_count)
{
    return (type_count + 63) / 64;
}

const struct node_ask *node_ask_make(struct arena *arena, const struct cluster *cluster, const struct node_ask *draft)
{
    if (draft->selector.count == 0 && draft->term_count == 0 && draft->toleration_count == 0)
        return NULL;
    struct buffer text = {0};
    put_ask(&text, draft);
    struct node_ask *ask = copy_ask(arena, draft, buffer_c_string(&text) + 1); /* without the comma */
    buffer_release(&text);
    if (cluster == NULL)
        return ask;
    uint64_t *types = arena_alloc_array(arena, words_of(cluster->type_count), uint64_t);
    for (uint32_t t = 0; t < cluster->type_count; t++)
        if (node_ask_matches(ask, &cluster->types[t]) && node_ask_tolerates(ask, &cluster->types[t]))
            types[t >> 6] |= UINT64_C(1) << (t & 63);
    ask->types = types;
    ask->type_count = cluster->type_count;
    return ask;
}

/* ---- asks that are kept ---- */

const struct node_ask *node_asks_own(struct node_asks *asks, const struct node_ask *ask)
{
    if (ask == NULL)
        return NULL;
    if (asks->texts == NULL)
        asks->texts = names_new();
    const uint32_t number = names_add(asks->texts, text_of(ask->text));
    if (number < asks->count)
        return asks->asks[number];
    struct node_ask *own = copy_ask(&asks->arena, ask, ask->text);
    if (ask->types != NULL) {
        uint64_t *types = arena_alloc_array(&asks->arena, words_of(ask->type_count), uint64_t);
        memcpy(types, ask->types, words_of(ask->type_count) * sizeof *types);
        own->types = types;
        own->type_count = ask->type_count;
    }
    MEM_GROW(asks->asks, asks->capacity, (size_t)asks->count + 1);
    asks->asks[asks->count++] = own;
    return own;
}

void node_asks_release(struct node_asks *asks)
{
    if (asks->texts != NULL)
        names_free(asks->texts);
    mem_free(asks->asks);
    arena_release(&asks->arena);
    *asks = (struct node_asks){0};
}
