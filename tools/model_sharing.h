/* tools/model_sharing.h -- the prices of sharing a GPU beside what was measured.
 *
 * Law: as tools/model_tables.h, of which these tables are a part: each has a source and a tolerance.
 *
 *   bool holds = model_sharing_print(&out);
 */
#ifndef TOOLS_MODEL_SHARING_H
#define TOOLS_MODEL_SHARING_H

#include "base/buffer.h"

/* The tables as text.  True if every tested row holds. */
bool model_sharing_print(struct buffer *out);

#endif
