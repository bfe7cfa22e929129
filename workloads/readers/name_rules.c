#include "workloads/readers/name_rules.h"

#include <stdlib.h>
#include <string.h>

static size_t open_bytes(const char *pattern)
{
    size_t count = 0;
    for (; *pattern != '\0'; pattern++)
        count += *pattern == '*' || *pattern == '?';
    return count;
}

int name_rules_order(const char *a, const char *b)
{
    const size_t a_open = open_bytes(a), b_open = open_bytes(b);
    const size_t a_own = strlen(a) - a_open, b_own = strlen(b) - b_open;
    if ((a_open == 0) != (b_open == 0))
        return a_open == 0 ? -1 : 1;
    if (a_own != b_own)
        return a_own > b_own ? -1 : 1;
    return strcmp(a, b);
}

static int by_order(const void *a, const void *b)
{
    return name_rules_order(((const struct name_rule *)a)->pattern, ((const struct name_rule *)b)->pattern);
}

static void read(struct name_rules *rules, const struct json_value *value, bool is_factor, double most,
                 struct arena *arena)
{
    struct json_object object;
    *rules = (struct name_rules){NULL, 0};
    if (value->node == NULL)
        return;
    struct name_rule *made = arena_alloc_array(arena, NAME_RULES_MAX, struct name_rule);
    json_object_open(&object, value);
    for (const char *pattern; (pattern = json_object_key(&object, rules->count)) != NULL; rules->count++) {
        if (rules->count == NAME_RULES_MAX) {
            json_fail(value, "at most %d names can be given a meaning", NAME_RULES_MAX);
            break;
        }
        struct name_rule *rule = &made[rules->count];
        rule->pattern = arena_copy(arena, text_of(pattern));
        if (is_factor)
            rule->factor = json_get_real(&object, pattern, 0, most, 1);
        else
            rule->means = arena_copy(arena, text_of(json_get_string(&object, pattern, "")));
    }
    json_object_close(&object);
    if (rules->count > 0)
        qsort(made, rules->count, sizeof *made, by_order);
    rules->rules = made;
}

void name_rules_read(struct name_rules *rules, const struct json_value *value, struct arena *arena)
{
    read(rules, value, false, 0, arena);
}

void name_rules_read_factors(struct name_rules *rules, const struct json_value *value, double most, struct arena *arena)
{
    read(rules, value, true, most, arena);
}

/* After a mismatch the last '*' takes one character more.  O(pattern x name). */
bool name_rule_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *taken = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            taken = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

const struct name_rule *name_rules_find(const struct name_rules *rules, const char *name)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (name_rule_matches(rules->rules[i].pattern, name))
            return &rules->rules[i];
    return NULL;
}
