/* reports/record_rows.h -- a row of a record's CSV file to a row of a run; for record_read.c only.
 *
 * Law: what is read is what the run wrote, or the place of the wrong field is told (csv_fail).
 */
#ifndef REPORTS_RECORD_ROWS_H
#define REPORTS_RECORD_ROWS_H

#include "base/buffer.h"
#include "base/names.h"
#include "reports/csv_rows.h"
#include "sim/record/record.h"

struct reading {
    struct csv_rows *rows;
    const char *folder, *name;              /* of the record; of the file */
    const struct result_manifest *manifest; /* of the record */
    const struct record_sink *sink;
    const struct run_facts *facts;
    struct names *names; /* of queues and users: gives them a fixed address */
    const char *reasons[REASON_COUNT + 1];
    time_ns latest;          /* of the sample read last */
    struct buffer texts;     /* of the row: its strings, with a NUL after each */
    struct wait_times waits; /* of the row */
    struct fault_row faults; /* likewise */
    struct idle_row idle;    /* likewise */
    struct lost_row lost;    /* likewise */
    struct pull_row pulls;   /* likewise */
};

/* False: the row sets the sticky error of the rows.  Texts live until the next row, names of queues and users as long
 * as `names`. */
bool record_row_job(struct reading *reading, struct job_row *out);
bool record_row_attempt(struct reading *reading, struct attempt_row *out);
bool record_row_sample(struct reading *reading, struct timeline_row *out);

#endif
