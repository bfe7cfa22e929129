#include "workloads/readers/name_rules.h"

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
