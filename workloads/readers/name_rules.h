/* workloads/readers/name_rules.h -- what names mean: patterns in order, of which the first that matches holds.
 *
 *   {"vc-*": "research", "prod": "prod", "*": "other"}
 *
 * In a pattern '*' stands for any characters, also none, and '?' for one byte; all others stand for themselves.
 */
#ifndef WORKLOADS_READERS_NAME_RULES_H
#define WORKLOADS_READERS_NAME_RULES_H

#include "base/json.h"
#include "base/mem.h"

enum { NAME_RULES_MAX = 1024 };

struct name_rule {
    const char *pattern;
    const char *means; /* of rules to names; else NULL */
    double factor;     /* of rules to factors; else 0 */
};

struct name_rules {
    const struct name_rule *rules;
    uint32_t count; /* 0: no rule */
};

/* Read the object; its texts live in the arena.  An absent value has no rules.  Fails through the sticky error. */
void name_rules_read(struct name_rules *rules, const struct json_value *value, struct arena *arena);

/* The same with numbers from 0 to `most` in place of names. */
void name_rules_read_factors(struct name_rules *rules, const struct json_value *value, double most,
                             struct arena *arena);

/* The first rule that matches; NULL: none.  O(rules). */
const struct name_rule *name_rules_find(const struct name_rules *rules, const char *name);
bool name_rule_matches(const char *pattern, const char *name);

#endif
