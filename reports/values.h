/* reports/values.h -- all metrics of a run as one flat list, from the run or from its result.json.
 *
 * A value is a metric of the whole run, or of one key of a cut; "by.arrived_pct" is a cut like the others.
 *
 *   struct values values;
 *   TRY(values_read(&values, "out/base"));
 *   for (size_t i = 0; i < values.count; i++)
 *       values.list[i].of.metric, values.list[i].number
 *   values_release(&values);
 *
 * Law: a list holds the values that are defined, in the order of result.json; that of a run and that of the text which
 * the run wrote are equal to the last bit.
 */
#ifndef REPORTS_VALUES_H
#define REPORTS_VALUES_H

#include "reports/metrics.h"
#include "reports/result.h"
#include "reports/service_levels.h"

struct value {
    struct metric_selector of;
    const struct metric *metric; /* its unit, and which way is better; not its value */
    double number;
};

struct values {
    struct result result;
    struct value *list;
    size_t count, capacity;
    struct arena arena; /* owns the texts of `list` */
};

/* From a record folder, or from the text of its result.json (name: for messages).  ERROR_DATA with file, line and
 * column; on error nothing needs to be released. */
struct error values_read(struct values *out, const char *folder) MUST_CHECK;
struct error values_read_text(struct values *out, const char *name, struct text text) MUST_CHECK;

/* The value that this selects; NAN: the list has none. */
double values_number(const struct values *values, const struct metric_selector *of);

void values_release(struct values *values);

#endif
