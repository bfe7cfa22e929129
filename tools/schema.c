/* tools/schema.c -- hears a reader's questions, and tries documents until nothing new is heard. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "tools/schema_inside.h"

/* ---- What is heard ---- */

static struct schema_node *node_new(struct schema *schema, struct schema_node *parent, const char *key)
{
    struct schema_node *node = mem_zalloc(1, sizeof *node);
    node->key = key != NULL ? mem_copy_text(key) : NULL;
    node->parent = parent;
    node->home = schema->running;
    MEM_GROW(schema->nodes, schema->node_capacity, schema->node_count + 1);
    schema->nodes[schema->node_count++] = node;
    schema->news++;
    return node;
}

/* NULL: it is asked as a member of another node. */
static struct schema_node *member_of(struct schema *schema, struct schema_node *node, const char *key)
{
    if (schema_is_asked(node, JSON_ASK_KEYS) && strcmp(key, SCHEMA_SAMPLE) == 0) {
        if (node->any == NULL)
            node->any = node_new(schema, node, NULL);
        return node->any;
    }
    for (size_t i = 0; i < node->member_count; i++)
        if (node->members[i]->key[0] == key[0] && strcmp(node->members[i]->key, key) == 0)
            return node->members[i];
    if (node->like != NULL)
        return NULL;
    MEM_GROW(node->members, node->member_capacity, node->member_count + 1);
    struct schema_node *member = node_new(schema, node, key);
    node->members[node->member_count++] = member;
    return member;
}

/* NULL: it lies in a value that is asked as another one. */
static struct schema_node *node_of(struct schema *schema, const struct json_value *value)
{
    if (value->parent == NULL)
        return schema->nodes[0];
    struct schema_node *parent = node_of(schema, value->parent);
    if (parent == NULL)
        return NULL;
    if (value->key != NULL)
        return member_of(schema, parent, value->key);
    if (parent->item == NULL)
        parent->item = node_new(schema, parent, NULL);
    return parent->item;
}

static void hear_bound(struct schema *schema, struct schema_bound *bound, int64_t integer, double real)
{
    const bool differs = bound->integer != integer || bound->real < real || bound->real > real;
    if (bound->is_known && differs && !bound->is_varied) {
        bound->is_varied = true;
        schema->news++;
    }
    if (!bound->is_known)
        *bound = (struct schema_bound){.is_known = true, .integer = integer, .real = real};
}

static void hear_choices(struct schema *schema, struct schema_node *node, const char *const *choices)
{
    for (size_t c = 0; choices[c] != NULL; c++) {
        bool is_known = false;
        for (size_t i = 0; i < node->choice_count && !is_known; i++)
            is_known = strcmp(node->choices[i], choices[c]) == 0;
        if (is_known)
            continue;
        MEM_GROW(node->choices, node->choice_capacity, node->choice_count + 2);
        node->choices[node->choice_count++] = mem_copy_text(choices[c]);
        node->choices[node->choice_count] = NULL;
        schema->news++;
    }
}

static void on_ask(void *self, const struct json_value *value, const struct json_ask *ask)
{
    struct schema *schema = self;
    struct schema_node *node = node_of(schema, value);
    if (node == NULL)
        return;
    if (ask->question == JSON_ASK_LIKE)
        node->like = node_of(schema, ask->like);
    const bool is_new = !schema_is_asked(node, ask->question);
    schema->news += is_new;
    node->questions |= 1u << ask->question;
    node->asked_at = schema->run;
    node->is_needed_now |= ask->question == JSON_ASK_NEEDED;
    node->closed += ask->question == JSON_ASK_CLOSED;
    for (size_t i = 0; i < node->member_count; i++) {
        if (ask->question == JSON_ASK_OBJECT)
            node->members[i]->is_needed_now = false;
        if (ask->question == JSON_ASK_CLOSED)
            node->members[i]->needed += node->members[i]->is_needed_now;
    }
    if (ask->question == JSON_ASK_SCALED)
        node->scale = ask->scale;
    if (ask->question == JSON_ASK_INT || ask->question == JSON_ASK_REAL || ask->question == JSON_ASK_SCALED) {
        const bool is_real = ask->question == JSON_ASK_REAL;
        hear_bound(schema, &node->low[ask->question], is_real ? 0 : ask->low, is_real ? ask->real_low : 0);
        hear_bound(schema, &node->high[ask->question], is_real ? 0 : ask->high, is_real ? ask->real_high : 0);
    }
    if (ask->question == JSON_ASK_CHOICE)
        hear_choices(schema, node, ask->choices);
}

/* ---- Running the reader ---- */

static void note_accepted(struct schema *schema, json_t *document)
{
    for (size_t i = 0; i < schema->node_count; i++) {
        struct schema_node *node = schema->nodes[i];
        if (node->asked_at == schema->run && node->accepted_home == NULL) {
            node->accepted_home = document;
            schema->news++;
        }
    }
}

static void keep(struct schema *schema, json_t *document)
{
    MEM_GROW(schema->documents, schema->document_capacity, schema->document_count + 1);
    schema->documents[schema->document_count++] = document;
}

/* Run the reader on the document, which is taken over; NULL: do nothing.  Of a text that it has read before it asks the
 * same again, which is nothing new. */
static void try_document(struct schema *schema, json_t *document)
{
    char *text = document != NULL ? json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY) : NULL, digest[33] = "";
    if (text != NULL)
        hash_hex(text, strlen(text), digest);
    if (text == NULL || names_find(schema->tried, text_of(digest)) != NAMES_NONE) {
        mem_free(text);
        json_decref(document);
        return;
    }
    names_add(schema->tried, text_of(digest));
    const uint32_t news = schema->news;
    const struct json_listener listener = {.self = schema, .on_ask = on_ask};
    schema->run++;
    schema->running = document;
    struct error error = schema->read(schema->self, text, &listener);
    if (!error_is(error))
        note_accepted(schema, document);
    error_release(&error);
    mem_free(text);
    if (schema->news != news)
        keep(schema, document);
    else
        json_decref(document);
}

/* ---- Documents to try ---- */

/* A copy of the document in which the node has this value; NULL if another value stands in the way.  Takes `value`. */
static json_t *with_value(const json_t *document, const struct schema_node *node, json_t *value)
{
    const struct schema_node *path[64];
    size_t depth = 0;
    for (const struct schema_node *at = node; at->parent != NULL && depth < 64; at = at->parent)
        path[depth++] = at;
    if (depth == 0)
        return value;
    json_t *copy = json_deep_copy(document), *at = copy;
    for (; at != NULL && depth > 0; depth--) {
        const struct schema_node *step = path[depth - 1];
        const bool is_item = step == step->parent->item;
        const char *key = step->key != NULL ? step->key : SCHEMA_SAMPLE;
        if (is_item ? !json_is_array(at) : !json_is_object(at))
            break;
        json_t *next = is_item ? json_array_get(at, 0) : json_object_get(at, key);
        if (depth == 1)
            next = value;
        else if (next == NULL || json_is_null(next))
            next = path[depth - 2] == step->item ? json_array() : json_object();
        else
            json_incref(next);
        if (is_item && json_array_size(at) > 0)
            json_array_set_new(at, 0, next);
        else if (is_item)
            json_array_append_new(at, next);
        else
            json_object_set_new(at, key, next);
        at = next;
    }
    if (depth == 0)
        return copy;
    json_decref(copy);
    json_decref(value);
    return NULL;
}

/* A number in the range, small but not at its end where that is far. */
static json_t *number_in(const struct schema_node *node, enum json_question question, double wanted)
{
    const double scale = question == JSON_ASK_SCALED ? (double)node->scale : 1;
    const struct schema_bound *low = &node->low[question], *high = &node->high[question];
    const double least = question == JSON_ASK_REAL ? low->real : (double)low->integer / scale;
    const double most = question == JSON_ASK_REAL ? high->real : (double)high->integer / scale;
    const double number = fmin(fmax(least, wanted), most);
    return question == JSON_ASK_INT && fabs(number) < 1e15 ? json_integer((json_int_t)number) : json_real(number);
}

/* A value that the reader asked for here; NULL: it did not say. */
static json_t *sample(const struct schema_node *node)
{
    for (int question = JSON_ASK_INT; question <= JSON_ASK_SCALED; question++)
        if (schema_is_asked(node, (enum json_question)question))
            return number_in(node, (enum json_question)question, 1);
    if (node->choices != NULL)
        return json_string(node->choices[0]);
    if (schema_is_asked(node, JSON_ASK_STRING))
        return json_string(SCHEMA_SAMPLE);
    if (schema_is_asked(node, JSON_ASK_BOOL))
        return json_true();
    if (schema_is_asked(node, JSON_ASK_DURATION))
        return json_integer(1);
    if (schema_is_asked(node, JSON_ASK_ARRAY)) {
        json_t *array = json_array(), *item = node->item != NULL ? sample(node->item) : NULL;
        if (item != NULL)
            json_array_append_new(array, item);
        return array;
    }
    return schema_is_asked(node, JSON_ASK_OBJECT) ? json_object() : NULL;
}

static bool is_wanted(const struct schema_node *node, const json_t *value)
{
    const uint32_t numbers = 1u << JSON_ASK_INT | 1u << JSON_ASK_REAL | 1u << JSON_ASK_SCALED | 1u << JSON_ASK_DURATION;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return schema_is_asked(node, JSON_ASK_OBJECT) || schema_is_asked(node, JSON_ASK_KEYS);
    case JSON_ARRAY:
        return schema_is_asked(node, JSON_ASK_ARRAY);
    case JSON_STRING:
        return (node->questions & (1u << JSON_ASK_STRING | 1u << JSON_ASK_CHOICE | 1u << JSON_ASK_NEVER)) != 0;
    case JSON_INTEGER:
    case JSON_REAL:
        return (node->questions & numbers) != 0;
    default:
        return schema_is_asked(node, JSON_ASK_BOOL);
    }
}

/* The value with what lies in it made such as the reader asked for, as far as it said: types, and keys that are needed.
 * A new reference, or NULL where the value is to be dropped. */
static json_t *mended(const struct schema_node *node, json_t *value)
{
    if (!is_wanted(node, value)) {
        json_t *other = sample(node);
        if (other == NULL || (!json_is_object(other) && !json_is_array(other)))
            return other != NULL ? other : json_incref(value);
        value = other;
    } else {
        value = json_copy(value);
    }
    for (size_t i = 0; json_is_array(value) && node->item != NULL && i < json_array_size(value); i++)
        json_array_set_new(value, i, mended(node->item, json_array_get(value, i)));
    for (size_t i = 0; json_is_object(value) && i < node->member_count; i++) {
        const struct schema_node *member = node->members[i];
        json_t *present = json_object_get(value, member->key);
        json_t *needed = present == NULL && schema_is_asked(member, JSON_ASK_NEEDED) ? sample(member) : NULL;
        if (present != NULL || needed != NULL)
            json_object_set_new(value, member->key, mended(member, present != NULL ? present : needed));
        json_decref(needed);
    }
    return value;
}

/* Try the value where it was asked for first, where a document was accepted, and within a mended document. */
static void try_value(struct schema *schema, const struct schema_node *node, json_t *value)
{
    json_t *whole = mended(schema->nodes[0], node->home);
    json_t *homes[] = {node->home, node->accepted_home, whole};
    for (size_t h = 0; h < 3; h++)
        if (homes[h] != NULL && (h != 1 || homes[1] != homes[0]) && (h != 2 || !json_equal(whole, node->home)))
            try_document(schema, with_value(homes[h], node, json_incref(value)));
    json_decref(whole);
    json_decref(value);
}

/* Values of a shape, and of what may lie in it. */
static void try_shapes(struct schema *schema, const struct schema_node *node)
{
    static const char *const shapes[] = {"{}",
                                         "[]",
                                         "[{}]",
                                         "[[]]",
                                         "[1]",
                                         "[\"" SCHEMA_SAMPLE "\"]",
                                         "{\"" SCHEMA_SAMPLE "\":1}",
                                         "{\"" SCHEMA_SAMPLE "\":\"" SCHEMA_SAMPLE "\"}",
                                         "{\"" SCHEMA_SAMPLE "\":{}}",
                                         "{\"" SCHEMA_SAMPLE "\":[]}",
                                         "\"" SCHEMA_SAMPLE "\"",
                                         "1",
                                         "2",
                                         "true",
                                         "false",
                                         "\"never\""};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        try_value(schema, node, json_loads(shapes[i], JSON_DECODE_ANY, NULL));
}

/* The ends of a range, and numbers inside it. */
static void try_numbers(struct schema *schema, const struct schema_node *node, enum json_question question)
{
    static const double wanted[] = {-INFINITY, 4, 8, 64};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        try_value(schema, node, number_in(node, question, wanted[i]));
}

static void try_node(struct schema *schema, const struct schema_node *node)
{
    try_shapes(schema, node);
    for (size_t i = 0; i < node->choice_count; i++)
        try_value(schema, node, json_string(node->choices[i]));
    for (int question = JSON_ASK_INT; question <= JSON_ASK_SCALED; question++)
        if (schema_is_asked(node, (enum json_question)question))
            try_numbers(schema, node, (enum json_question)question);
}

struct schema *schema_learn_new(schema_read_fn *read, void *self, const char *const *seeds)
{
    struct schema *schema = mem_zalloc(1, sizeof *schema);
    schema->read = read;
    schema->self = self;
    schema->tried = names_new();
    for (size_t i = 0; seeds[i] != NULL; i++) {
        json_t *seed = json_loads(seeds[i], 0, NULL);
        schema->running = seed;
        if (i == 0)
            node_new(schema, NULL, NULL);
        try_document(schema, seed);
    }
    /* Nodes are added on the way.  A value that was tried may be worth it again, once more is known around it. */
    for (uint32_t news = 0; news != schema->news;) {
        news = schema->news;
        for (size_t i = 0; i < schema->node_count; i++)
            try_node(schema, schema->nodes[i]);
    }
    return schema;
}

void schema_require_nothing(struct schema *schema)
{
    for (size_t i = 0; i < schema->node_count; i++)
        schema->nodes[i]->closed = 0;
}

void schema_free(struct schema *schema)
{
    if (schema == NULL)
        return;
    for (size_t i = 0; i < schema->node_count; i++) {
        struct schema_node *node = schema->nodes[i];
        for (size_t c = 0; c < node->choice_count; c++)
            mem_free(node->choices[c]);
        mem_free(node->choices);
        mem_free(node->members);
        mem_free(node->key);
        mem_free(node);
    }
    for (size_t i = 0; i < schema->document_count; i++)
        json_decref(schema->documents[i]);
    names_free(schema->tried);
    mem_free(schema->nodes);
    mem_free(schema->documents);
    mem_free(schema);
}
