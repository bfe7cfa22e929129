#include "workloads/readers/json_nodes.h"

bool json_nodes_member(struct json_nodes *nodes, struct text key, struct text value)
{
    struct text *place = text_is(key, "node_selector")   ? &nodes->selector
                         : text_is(key, "node_affinity") ? &nodes->affinity
                         : text_is(key, "tolerations")   ? &nodes->tolerations
                                                         : NULL;
    if (place != NULL)
        *place = text_is(value, "null") ? (struct text){0} : value;
    return place != NULL;
}

static struct error refuse(const struct line *line, struct text place, const char *what)
{
    return input_error(line->input, line->text, place, "%s", what);
}

/* Copy a string into the arena. */
static struct error text_read(const struct reader *reader, const struct line *line, struct text value, const char *name,
                              const char **out)
{
    struct field field = {.name = name};
    TRY(json_line_field(line, value, FIELD_TEXT, reader->arena, &field));
    *out = arena_copy(reader->arena, field.value);
    return ERROR_OK;
}

/* Copy a key of an object, which has no quotes here. */
static struct error key_read(const struct reader *reader, const struct line *line, struct text key, const char **out)
{
    return text_read(reader, line, (struct text){key.at - 1, key.length + 2}, "key", out);
}

static struct error choice_read(const struct reader *reader, const struct line *line, struct text value,
                                const char *name, const char *const *names, int *out)
{
    struct field field = {.name = name};
    TRY(json_line_field(line, value, FIELD_TEXT, reader->arena, &field));
    return field_choice(line, &field, names, out);
}

/* ---- the selector ---- */

static struct error selector_read(const struct reader *reader, const struct line *line, struct text value,
                                  struct node_ask *draft)
{
    struct node_expression *list = arena_alloc_array(reader->arena, NODE_ASK_MAX, struct node_expression);
    struct text rest = value, key, label;
    uint16_t count = 0;
    if (value.at[0] == '"') {
        const char *text;
        TRY(text_read(reader, line, value, "node_selector", &text));
        const char *complaint = node_ask_selector_of(text_of(text), reader->arena, draft);
        return complaint == NULL ? ERROR_OK
                                 : input_error(line->input, line->text, value, "'node_selector' must be %s", complaint);
    }
    if (value.at[0] != '{')
        return refuse(line, value, "'node_selector' must be an object of labels");
    while (json_line_member(&rest, &key, &label)) {
        if (count == NODE_ASK_MAX)
            return refuse(line, key, "'node_selector' must hold at most 64 labels");
        const char **own = arena_alloc_array(reader->arena, 1, const char *);
        TRY(key_read(reader, line, key, &list[count].key));
        TRY(text_read(reader, line, label, list[count].key, &own[0]));
        if (own[0][0] == '\0' && text_is(label, "null"))
            return refuse(line, label, "a label must be a text");
        list[count].values = own;
        list[count].value_count = 1;
        list[count++].operator= NODE_IN;
    }
    draft->selector = (struct node_term){list, count};
    return ERROR_OK;
}

/* ---- the affinity ---- */

static struct error values_read(const struct reader *reader, const struct line *line, struct text value,
                                struct node_expression *expression)
{
    const char **values = arena_alloc_array(reader->arena, NODE_ASK_MAX, const char *);
    struct text rest = value, key, one;
    if (value.at[0] != '[')
        return refuse(line, value, "'values' must be an array");
    while (json_line_member(&rest, &key, &one)) {
        if (expression->value_count == NODE_ASK_MAX)
            return refuse(line, one, "'values' must hold at most 64");
        TRY(text_read(reader, line, one, "values", &values[expression->value_count++]));
    }
    expression->values = values;
    return ERROR_OK;
}

static struct error expression_read(const struct reader *reader, const struct line *line, struct text value,
                                    struct node_expression *expression)
{
    struct text rest = value, key, member;
    int operator= NODE_OPERATOR_COUNT;
    *expression = (struct node_expression){.key = ""};
    if (value.at[0] != '{')
        return refuse(line, value, "an expression must be an object");
    while (json_line_member(&rest, &key, &member)) {
        if (text_is(key, "key"))
            TRY(text_read(reader, line, member, "key", &expression->key));
        else if (text_is(key, "operator"))
            TRY(choice_read(reader, line, member, "operator", node_operator_names, &operator));
        else if (text_is(key, "values"))
            TRY(values_read(reader, line, member, expression));
        else
            return refuse(line, key, "an expression has 'key', 'operator' and 'values'");
    }
    if (operator== NODE_OPERATOR_COUNT)
        return refuse(line, value, "an expression needs an 'operator'");
    expression->operator=(uint8_t) operator;
    const char *complaint = node_expression_complaint(expression);
    return complaint == NULL ? ERROR_OK : refuse(line, value, complaint);
}

static struct error term_read(const struct reader *reader, const struct line *line, struct text value,
                              struct node_term *term)
{
    struct node_expression *list = arena_alloc_array(reader->arena, NODE_ASK_MAX, struct node_expression);
    struct text rest = value, key, array = {0}, one;
    if (value.at[0] != '{')
        return refuse(line, value, "a term must be an object");
    while (json_line_member(&rest, &key, &one)) {
        if (!text_is(key, "match_expressions"))
            return refuse(line, key, "a term has 'match_expressions' alone");
        array = one;
    }
    if (array.at == NULL || array.at[0] != '[')
        return refuse(line, value, "a term needs 'match_expressions', an array");
    term->count = 0;
    while (json_line_member(&array, &key, &one)) {
        if (term->count == NODE_ASK_MAX)
            return refuse(line, one, "'match_expressions' must hold at most 64");
        TRY(expression_read(reader, line, one, &list[term->count++]));
    }
    term->expressions = list;
    return ERROR_OK;
}

static struct error affinity_read(const struct reader *reader, const struct line *line, struct text value,
                                  struct node_ask *draft)
{
    struct node_term *terms = arena_alloc_array(reader->arena, NODE_ASK_MAX, struct node_term);
    struct text rest = value, key, one;
    if (value.at[0] != '[')
        return refuse(line, value, "'node_affinity' must be an array of terms");
    while (json_line_member(&rest, &key, &one)) {
        if (draft->term_count == NODE_ASK_MAX)
            return refuse(line, one, "'node_affinity' must hold at most 64 terms");
        TRY(term_read(reader, line, one, &terms[draft->term_count++]));
    }
    draft->terms = terms;
    return draft->term_count > 0 ? ERROR_OK : refuse(line, value, "'node_affinity' must hold at least one term");
}

/* ---- tolerations ---- */

static struct error toleration_read(const struct reader *reader, const struct line *line, struct text value,
                                    struct toleration *toleration)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    struct text rest = value, key, member;
    int exists = 0, effect = TAINT_EFFECT_COUNT;
    *toleration = (struct toleration){.key = "", .value = ""};
    if (value.at[0] == '"') {
        const char *text;
        TRY(text_read(reader, line, value, "tolerations", &text));
        const char *complaint = node_ask_toleration_of(text_of(text), reader->arena, toleration);
        return complaint == NULL ? ERROR_OK
                                 : input_error(line->input, line->text, value, "a toleration must be %s", complaint);
    }
    if (value.at[0] != '{')
        return refuse(line, value, "a toleration must be an object or a text");
    while (json_line_member(&rest, &key, &member)) {
        if (text_is(key, "key"))
            TRY(text_read(reader, line, member, "key", &toleration->key));
        else if (text_is(key, "value"))
            TRY(text_read(reader, line, member, "value", &toleration->value));
        else if (text_is(key, "operator"))
            TRY(choice_read(reader, line, member, "operator", operators, &exists));
        else if (text_is(key, "effect"))
            TRY(choice_read(reader, line, member, "effect", taint_effect_names, &effect));
        else
            return refuse(line, key, "a toleration has 'key', 'operator', 'value' and 'effect'");
    }
    toleration->exists = exists == 1;
    toleration->effect = (uint8_t)effect;
    const char *complaint = toleration_complaint(toleration);
    return complaint == NULL ? ERROR_OK : refuse(line, value, complaint);
}

static struct error tolerations_read(const struct reader *reader, const struct line *line, struct text value,
                                     struct node_ask *draft)
{
    struct toleration *list = arena_alloc_array(reader->arena, NODE_ASK_MAX, struct toleration);
    struct text rest = value, key, one;
    if (value.at[0] == '"') {
        const char *text;
        TRY(text_read(reader, line, value, "tolerations", &text));
        const char *complaint = node_ask_tolerations_of(text_of(text), reader->arena, draft);
        return complaint == NULL ? ERROR_OK
                                 : input_error(line->input, line->text, value, "'tolerations' must be %s", complaint);
    }
    if (value.at[0] != '[')
        return refuse(line, value, "'tolerations' must be an array");
    while (json_line_member(&rest, &key, &one)) {
        if (draft->toleration_count == NODE_ASK_MAX)
            return refuse(line, one, "'tolerations' must hold at most 64");
        TRY(toleration_read(reader, line, one, &list[draft->toleration_count++]));
    }
    draft->tolerations = list;
    return ERROR_OK;
}

struct error json_nodes_read(const struct reader *reader, const struct line *line, const struct json_nodes *nodes,
                             const struct node_ask **out)
{
    struct node_ask draft = {.term_count = 0};
    if (nodes->selector.at != NULL)
        TRY(selector_read(reader, line, nodes->selector, &draft));
    if (nodes->affinity.at != NULL)
        TRY(affinity_read(reader, line, nodes->affinity, &draft));
    if (nodes->tolerations.at != NULL)
        TRY(tolerations_read(reader, line, nodes->tolerations, &draft));
    *out = reader_nodes(reader, &draft);
    return ERROR_OK;
}
