/* workloads/load_model/load_rows.h -- drawn jobs as rows of a trace: native CSV or JSON lines (workloads/README.md).
 *
 * Law: the rows read back as the jobs that were drawn, with queue and user.
 */
#ifndef WORKLOADS_LOAD_MODEL_LOAD_ROWS_H
#define WORKLOADS_LOAD_MODEL_LOAD_ROWS_H

#include "base/output.h"
#include "workloads/load_model/load_draw.h"

enum load_form { LOAD_CSV, LOAD_JSON_LINES };

/* Write all jobs that are drawn, their number in *count.  The output is not committed. */
struct error load_rows_write(struct load_draw *draw, enum load_form form, struct output *output,
                             uint64_t *count) MUST_CHECK;

#endif
