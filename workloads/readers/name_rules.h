/* workloads/readers/name_rules.h -- what names mean: the pattern that says most of a name holds.
 *
 *   {"vc-*": "research", "prod": "prod", "*": "other"}
 *
 * In a pattern '*' stands for any characters, also none, and '?' for one byte; all others stand for themselves.
 *
 * Law: the order in which the rules are written does not matter, because JSON objects have none.  A name goes before
 * patterns; of two patterns the one with more bytes that stand for themselves goes first, of equal ones the smaller.
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

/* Which of two patterns is tried first: below 0, the first one.  For tables of words that are patterns, too. */
int name_rules_order(const char *a, const char *b);

/* The rule that holds; NULL: none.  O(rules). */
const struct name_rule *name_rules_find(const struct name_rules *rules, const char *name);
bool name_rule_matches(const char *pattern, const char *name);

#endif
