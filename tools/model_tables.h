/* tools/model_tables.h -- the models of collectives, training, sharing and SM activity beside what was measured.
 *
 * Law: a table has a source; one with a tolerance is tested, the others are printed alone.  The rows are public
 * measurements, none is of this program's making; a table that has none says so.
 *
 *   struct buffer out = {0};
 *   bool holds = model_tables_print(&out);
 */
#ifndef TOOLS_MODEL_TABLES_H
#define TOOLS_MODEL_TABLES_H

#include "base/buffer.h"

/* All tables as text.  True if every tested row and sum holds. */
bool model_tables_print(struct buffer *out);

/* The last of these tables: SM activity (model_activity.c). */
bool model_activity_print(struct buffer *out);

#endif
