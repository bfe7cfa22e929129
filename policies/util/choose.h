/* policies/util/choose.h -- policies by their names in a policy file.
 *
 * A registry is a NULL-terminated array of pointers to structs that begin with their name. */
#ifndef POLICIES_UTIL_CHOOSE_H
#define POLICIES_UTIL_CHOOSE_H

#include "base/json.h"

/* The entry that the string at `key` names; `otherwise` when absent, or with the sticky error set. */
const void *choose_member(struct json_object *object, const char *key, const void *registry, const void *otherwise);

/* The entry that `value`, a string, names; NULL with the sticky error set.  what: "order", for the message. */
const void *choose_value(const struct json_value *value, const char *what, const void *registry);

/* The entries that an array of strings names, each once, from `first` on; how many, 0 with the sticky
 * error set.  At least one and at most `max`. */
uint32_t choose_chain(const struct json_value *array, size_t first, const char *what, const void *registry,
                      const void *chain[], uint32_t max);

#endif
