/* workloads/readers/json_claim.h -- the `claim` of a JSON line, of a job or of a group (workloads/request/claim.h).
 *
 * Law: an unknown key of a claim is an error, unlike elsewhere in a line: with an ignored condition the job would get
 * other GPUs than it requested.
 */
#ifndef WORKLOADS_READERS_JSON_CLAIM_H
#define WORKLOADS_READERS_JSON_CLAIM_H

#include "workloads/readers/json_line.h"
#include "workloads/readers/native_row.h"

/* An error of the claim is the value's, one of the fields beside it is returned.
 * A group of `count` claims, of which `min_count` (0: all) must run.  fields: those beside the claim, by enum
 * native_field: CPUs and memory of one claim, and the accepted models if the claim names none. */
struct error json_claim_group(const struct reader *reader, const struct line *line, const struct json_value *value,
                              const struct field *fields, int64_t count, int64_t min_count,
                              struct job_group *group) MUST_CHECK;

#endif
