/* workloads/readers/json_communication.h -- the `plan` or `sensitivity` of a JSON line, and of a native column.
 *
 *   "plan": {"tp": 8, "pp": 2, "layers": 96, ...}
 *   "sensitivity": "all_reduce_bound"
 *
 * topologies/communication.h says what they are.  A plan must be for exactly the job's whole GPUs.  A job that is not
 * on whole GPUs may have a sensitivity, which is read and then ignored.
 */
#ifndef WORKLOADS_READERS_JSON_COMMUNICATION_H
#define WORKLOADS_READERS_JSON_COMMUNICATION_H

#include "base/json.h"
#include "workloads/readers/reader.h"

/* Read it from the object of the job, whose groups are read already; fails through the object's error. */
void json_communication_read(const struct reader *reader, const struct line *line, struct json_object *object,
                             struct job *job);

/* The name of a sensitivity; a field that is not set changes nothing. */
struct error communication_field_read(const struct reader *reader, const struct line *line, const struct field *field,
                                      struct job *job) MUST_CHECK;

#endif
