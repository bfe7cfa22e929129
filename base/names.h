/* base/names.h -- names as small integers: queues, users, labels.
 *
 * Law: ids are dense, from 0, in the order of first appearance, and never change.
 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdint.h>

#include "base/text.h"

#define NAMES_NONE UINT32_MAX

struct names; /* opaque */

struct names *names_new(void);
void names_free(struct names *names);
uint32_t names_add(struct names *names, struct text name);        /* the id, new or known; O(1) */
uint32_t names_find(const struct names *names, struct text name); /* NAMES_NONE if unknown */
const char *names_text(const struct names *names, uint32_t id);   /* borrowed, stable, NUL-terminated */
uint32_t names_count(const struct names *names);

#endif
