/* studies/comparison_show/verdicts_show.h -- what the verdict of a comparison depends on, for people and for programs
 * (studies/comparison/verdicts.h).
 *
 * Law: whether a verdict turns or fades is said once, by verdicts_change; this shows it.
 */
#ifndef STUDIES_COMPARISON_SHOW_VERDICTS_SHOW_H
#define STUDIES_COMPARISON_SHOW_VERDICTS_SHOW_H

#include "reports/show.h"
#include "studies/comparison/verdicts.h"

/* A section: a sentence for each verdict that turns or fades, then the table of assumption and verdict. */
void verdicts_show(struct show *show, const struct verdicts *verdicts);

/* {"metric": ..., "assumed": [...], "cases": [{"assumption", "taken", "setting", "gates", "verdicts": [...]}]} */
void verdicts_json(const struct verdicts *verdicts, struct buffer *out);

#endif
