/* reports/export/result_rows.h -- the metrics and the manifest of result.json, value by value, as the file holds them.
 *
 * A metric of the whole run has the cut and the key "all".  The manifest is the members of "manifest" by their names,
 * then those of "facts", named "facts.gpus" and so on; "host" is left out, because it differs between equal runs.
 */
#ifndef REPORTS_EXPORT_RESULT_ROWS_H
#define REPORTS_EXPORT_RESULT_ROWS_H

#include <jansson.h>

#include "base/error.h"

struct metric_value {
    const char *name, *cut, *key, *unit, *better;
    double value;
};

struct result_rows {
    void *self;
    struct error (*on_metric)(void *self, const struct metric_value *metric);      /* NULL: not read */
    struct error (*on_manifest)(void *self, const char *key, const json_t *value); /* NULL: not read */
};

/* ERROR_DATA with file, line and column if a value is not what it should be. */
struct error result_rows_read(const char *folder, const struct result_rows *rows) MUST_CHECK;

#endif
