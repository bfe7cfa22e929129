/* studies/sizing/setting.h -- numbers in a resolved scenario, by the paths of `--set`.
 *
 *   struct setting_doc doc;
 *   TRY(setting_open(&doc, &scenario));
 *   TRY(setting_number(&doc, "cluster.pools.h100.nodes", &nodes));                  500
 *   TRY(setting_change(&doc, "pools.h100.nodes=+50", &assignment));                 "cluster.pools.h100.nodes=550"
 *   setting_close(&doc);
 *
 * "pools." at the start of a path stands for "cluster.pools.", for short.
 */
#ifndef STUDIES_SIZING_SETTING_H
#define STUDIES_SIZING_SETTING_H

#include "base/buffer.h"
#include "sim/scenario/scenario.h"

struct setting_doc {
    struct json_doc *doc; /* owned */
};

/* Load the scenario that the options name. */
struct error setting_open(struct setting_doc *doc, const struct scenario_options *options) MUST_CHECK;
void setting_close(struct setting_doc *doc); /* {0} is allowed */

/* Append the whole path. */
void setting_path(const char *path, struct buffer *out);

/* The number at a path; ERROR_USAGE if there is none. */
struct error setting_number(const struct setting_doc *doc, const char *path, double *number) MUST_CHECK;

/* Append "path=value" from "path=CHANGE": +50 and -50 are added to the number that is there, +10% and -10% are parts of
 * it, x1.5 is a factor; all else is a value as for --set.  ERROR_USAGE if what is changed is no number. */
struct error setting_change(const struct setting_doc *doc, const char *change, struct buffer *out) MUST_CHECK;

/* The path of the load of a scenario, and the load that it has: where none is set, that of its jobs, which are read for
 * it.  options: of the scenario.  ERROR_USAGE if it has none that can be scaled, such as a batch. */
struct error setting_load(const struct setting_doc *doc, const struct scenario_options *options, const char **path,
                          double *load) MUST_CHECK;

/* The pool of this name (NULL: the only one): its path "cluster.pools.h100.nodes" is appended. */
struct error setting_pool(const struct setting_doc *doc, const char *name, struct buffer *path) MUST_CHECK;

#endif
