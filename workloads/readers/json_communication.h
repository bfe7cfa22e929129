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

#include "workloads/readers/json_line.h"
#include "workloads/readers/reader.h"

/* Is it a key that this reads? */
bool json_communication_key(struct text key);

/* Read it from the line of the job, whose groups are read already. */
struct error json_communication_read(const struct reader *reader, const struct line *line, struct job *job) MUST_CHECK;

/* The name of a sensitivity; a field that is not set changes nothing. */
struct error communication_field_read(const struct reader *reader, const struct line *line, const struct field *field,
                                      struct job *job) MUST_CHECK;

#endif
