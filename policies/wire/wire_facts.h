/* policies/wire/wire_facts.h -- what stands in the line of a fact behind its kind and its time.
 *
 * One table (wire_facts.c) says which parts the line of each kind has; a part is written and read beside each other.
 */
#ifndef POLICIES_WIRE_WIRE_FACTS_H
#define POLICIES_WIRE_WIRE_FACTS_H

#include "policies/wire/wire_fields.h"

void wire_put_fact(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                   const struct fact *fact);
/* fact->kind is known.  Fails through the sticky error of the object. */
void wire_get_fact(struct wire *wire, struct json_object *object, struct fact *fact);

#endif
