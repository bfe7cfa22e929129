/* studies/sizing/sizing_show.h -- a plan for people and for programs: the answer first, then the curve, then the runs.
 *
 * Law: the bytes depend on the plan only.
 */
#ifndef STUDIES_SIZING_SIZING_SHOW_H
#define STUDIES_SIZING_SIZING_SHOW_H

#include "reports/show.h"
#include "studies/sizing/sizing.h"

/* The plan as a document, to be freed with show_free.  title NULL: what is sought.  command: what runs one of the
 * numbers again, such as "windtunnel run main.json"; the settings and the seed are written behind it. */
struct show *sizing_show_new(const struct sizing *sizing, const char *title, const char *command);

/* One JSON object: per case the answer, its points, and the value of each level in each run. */
void sizing_json(const struct sizing *sizing, struct buffer *out);

#endif
