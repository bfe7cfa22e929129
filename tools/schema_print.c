/* tools/schema_print.c -- what was heard of a reader, as a JSON Schema (json-schema.org/draft/2020-12). */
#include <float.h>
#include <string.h>

#include "tools/schema_inside.h"

enum { INDENT = 2 };

/* A new line, after a comma where something stands before it. */
static void line(struct buffer *out, int depth)
{
    buffer_members(out, ",\n");
    for (int i = 0; i < depth * INDENT; i++)
        buffer_char(out, ' ');
}

/* ,"minimum": 0 -- unless the bound is none. */
static void print_bound(struct buffer *out, const struct schema_node *node, enum json_question question, bool is_high)
{
    const struct schema_bound *bound = is_high ? &node->high[question] : &node->low[question];
    /* One unit from the end is no limit either, as for the messages of base/json_read.c. */
    const bool is_none = question == JSON_ASK_REAL ? bound->real <= -DBL_MAX || bound->real >= DBL_MAX
                                                   : bound->integer <= INT64_MIN + 1 || bound->integer == INT64_MAX;
    if (bound->is_varied || is_none)
        return;
    buffer_format(out, ", \"%simum\": ", is_high ? "max" : "min");
    if (question == JSON_ASK_REAL)
        buffer_double(out, bound->real);
    else if (question == JSON_ASK_SCALED)
        buffer_scaled(out, bound->integer, node->scale);
    else
        buffer_int(out, bound->integer);
}

static void print_type(struct buffer *out, const char *type, bool has_null)
{
    buffer_members(out, has_null ? "'type': [%s, 'null']" : "'type': %s", type);
}

static void print_number(struct buffer *out, const struct schema_node *node, enum json_question question, bool has_null)
{
    print_type(out, question == JSON_ASK_INT ? "integer" : "number", has_null);
    print_bound(out, node, question, false);
    print_bound(out, node, question, true);
}

static void print_choices(struct buffer *out, const struct schema_node *node, bool has_null)
{
    buffer_members(out, "'enum': [");
    for (size_t i = 0; node->choices[i] != NULL; i++)
        buffer_members(out, ", %s", node->choices[i]);
    buffer_string(out, has_null ? ", null]" : "]");
}

static void print_value(struct buffer *out, const struct schema_node *node, bool is_optional, int depth);

/* Was the member needed each time that the reader was done with the object? */
static bool is_required(const struct schema_node *node, const struct schema_node *member)
{
    return schema_is_asked(member, JSON_ASK_NEEDED) && node->closed > 0 && member->needed == node->closed;
}

/* Where the node stands in the schema: "#/properties/workload".  The values on the way are of one kind each. */
static void print_pointer(struct buffer *out, const struct schema_node *node)
{
    if (node->parent == NULL) {
        buffer_char(out, '#');
        return;
    }
    print_pointer(out, node->parent);
    if (node->key != NULL)
        buffer_format(out, "/properties/%s", node->key);
    else
        buffer_string(out, node == node->parent->item ? "/items" : "/additionalProperties");
}

static bool has_member(const struct schema_node *node, const char *key)
{
    for (size_t i = 0; i < node->member_count; i++)
        if (strcmp(node->members[i]->key, key) == 0)
            return true;
    return false;
}

/* The members that are asked as those of another node. */
static void print_like(struct buffer *out, const struct schema_node *node, int depth)
{
    for (size_t i = 0; node->like != NULL && i < node->like->member_count; i++) {
        const struct schema_node *member = node->like->members[i];
        line(out, depth);
        buffer_members(out, "%s: {'$ref': '", member->key);
        print_pointer(out, member);
        buffer_string(out, "\"}");
    }
}

static void print_object(struct buffer *out, const struct schema_node *node, bool has_null, int depth)
{
    print_type(out, "object", has_null);
    if (node->member_count > 0) {
        line(out, depth);
        buffer_members(out, "'properties': {");
        line(out, depth + 1);
        buffer_members(out, "'$comment': true");
    }
    size_t required = 0;
    for (size_t i = 0; i < node->member_count; i++) {
        const struct schema_node *member = node->members[i];
        if (node->like != NULL && has_member(node->like, member->key))
            continue; /* print_like has it */
        required += is_required(node, member);
        line(out, depth + 1);
        buffer_members(out, "%s: ", member->key);
        print_value(out, member, !is_required(node, member), depth + 1);
    }
    print_like(out, node, depth + 1);
    if (node->member_count > 0)
        buffer_format(out, "\n%*s}", depth * INDENT, "");
    if (required > 0) {
        line(out, depth);
        buffer_members(out, "'required': [");
        for (size_t i = 0; i < node->member_count; i++)
            if (is_required(node, node->members[i]) &&
                (node->like == NULL || !has_member(node->like, node->members[i]->key)))
                buffer_members(out, ", %s", node->members[i]->key);
        buffer_char(out, ']');
    }
    line(out, depth);
    buffer_members(out, "'additionalProperties': ");
    if (node->any != NULL)
        print_value(out, node->any, true, depth);
    else
        buffer_string(out, schema_is_asked(node, JSON_ASK_CLOSED) && !schema_is_asked(node, JSON_ASK_KEYS) ? "false"
                                                                                                           : "true");
}

static void print_array(struct buffer *out, const struct schema_node *node, bool has_null, int depth)
{
    print_type(out, "array", has_null);
    if (node->item == NULL)
        return;
    buffer_members(out, ", 'items': ");
    print_value(out, node->item, true, depth); /* some readers take null as an item left out */
}

/* The keywords of what answers a question; false: the question says nothing of the type. */
static bool print_answer(struct buffer *out, const struct schema_node *node, enum json_question question, bool has_null,
                         int depth)
{
    const bool has_choices = node->choice_count > 0;
    switch (question) {
    case JSON_ASK_OBJECT:
        print_object(out, node, has_null, depth);
        return true;
    case JSON_ASK_ARRAY:
        print_array(out, node, has_null, depth);
        return true;
    case JSON_ASK_INT:
    case JSON_ASK_REAL:
    case JSON_ASK_SCALED:
        print_number(out, node, question, has_null);
        return true;
    case JSON_ASK_BOOL:
        print_type(out, "boolean", has_null);
        return true;
    case JSON_ASK_STRING:
        if (!has_choices)
            print_type(out, "string", has_null);
        if (!has_choices && schema_is_asked(node, JSON_ASK_FILE))
            buffer_string(out, ", \"format\": \"path\"");
        return !has_choices;
    case JSON_ASK_CHOICE:
        if (has_choices)
            print_choices(out, node, has_null);
        else if (!schema_is_asked(node, JSON_ASK_STRING))
            print_type(out, "string", has_null);
        return has_choices || !schema_is_asked(node, JSON_ASK_STRING);
    case JSON_ASK_DURATION:
        buffer_string(out, has_null ? "\"anyOf\": [{\"$ref\": \"#/$defs/duration\"}, {\"type\": \"null\"}]"
                                    : "\"$ref\": \"#/$defs/duration\"");
        return true;
    case JSON_ASK_NEVER:
        buffer_string(out, has_null ? "\"enum\": [\"never\", null]" : "\"const\": \"never\"");
        return true;
    default:
        return false;
    }
}

static void print_value(struct buffer *out, const struct schema_node *node, bool is_optional, int depth)
{
    int kinds = 0;
    for (int question = 0; question <= JSON_ASK_CHOICE; question++) {
        struct buffer unused = {0};
        kinds += schema_is_asked(node, (enum json_question)question) &&
                 print_answer(&unused, node, (enum json_question)question, false, depth);
        buffer_release(&unused);
    }
    if (kinds == 0) {
        buffer_string(out, "true");
        return;
    }
    buffer_char(out, '{');
    buffer_string(out, kinds > 1 ? "\"anyOf\": [" : "");
    for (int question = 0, written = 0; question <= JSON_ASK_CHOICE; question++) {
        struct buffer answer = {0};
        if (schema_is_asked(node, (enum json_question)question) &&
            print_answer(&answer, node, (enum json_question)question, is_optional && kinds == 1,
                         depth + (kinds > 1 ? 2 : 1))) {
            buffer_string(out, written++ > 0 ? ", " : "");
            buffer_string(out, kinds > 1 ? "{" : "");
            buffer_bytes(out, answer.bytes, answer.length);
            buffer_string(out, kinds > 1 ? "}" : "");
        }
        buffer_release(&answer);
    }
    if (kinds > 1)
        buffer_string(out, is_optional ? ", {\"type\": \"null\"}]" : "]");
    buffer_char(out, '}');
}

void schema_print(const struct schema *schema, const char *title, struct buffer *out)
{
    struct buffer root = {0};
    buffer_members(out,
                   "{\n  '$schema': 'https://json-schema.org/draft/2020-12/schema',\n  'title': %s,\n"
                   "  '$defs': {'duration': {'anyOf': [{'type': 'number', 'minimum': 0}, "
                   "{'type': 'string', 'pattern': '^[0-9.][0-9.eE+-]*(ns|us|ms|s|m|h|d|w)?$'}]}},\n  ",
                   title);
    print_value(&root, schema->nodes[0], false, 0);
    buffer_bytes(out, root.bytes + 1, root.length - 2); /* without its braces */
    buffer_string(out, "\n}\n");
    buffer_release(&root);
}
