/* workloads/readers/convert.h -- the jobs of a source as a trace in another format.
 *
 *   struct reason_tally lost = {0};
 *   TRY(convert_native(source, cluster, &(struct convert_form){0}, output, &lost));
 *   reason_tally_show(&lost, "lost", &said);
 *
 * JSON lines that keep all of a job are workloads/readers/freeze.h.
 *
 * Laws
 *  - Time 0 is the first submission, as in the source.
 *  - Every loss is said, and native to native loses nothing (job_columns.h).  What a format cannot say is counted in
 *    `lost`, once per job and kind; a job that it cannot express at all is left out, and counted.  What the reader of
 *    the trace does not keep is in job_source_facts()->unread, fully with spec->tells_unread.
 *  - SWF keeps numbers: of jobs, and of queues and users that are named q12 and u12, as the reader names them.  So what
 *    was read from SWF is written as the same rows.
 *  - Reading the result gives jobs with the same submissions, run times and numbers of GPUs; in SWF a share of a GPU
 *    becomes a whole one, which is counted in `lost`.
 *
 * The output is not committed.  On error `lost` is of the jobs until then.  Memory: constant.
 */
#ifndef WORKLOADS_READERS_CONVERT_H
#define WORKLOADS_READERS_CONVERT_H

#include "base/output.h"
#include "workloads/readers/source.h"

/* Which native columns are written, and as what. */
enum convert_columns {
    CONVERT_ALL,  /* all that a row can say */
    CONVERT_DRAWN /* the columns that a model (workloads/load_model) fills */
};
struct convert_form {
    enum convert_columns columns;
    bool is_json; /* JSON lines with these names, without what is absent; false: CSV */
};

/* The native format.  cluster: for the names of GPU models; NULL: no job names one. */
struct error convert_native(struct job_source *source, const struct cluster *cluster, const struct convert_form *form,
                            struct output *output, struct reason_tally *lost) MUST_CHECK;

/* Standard Workload Format 2.2; a GPU is a processor.  cluster: as above. */
struct error convert_swf(struct job_source *source, const struct cluster *cluster, struct output *output,
                         struct reason_tally *lost) MUST_CHECK;

#endif
