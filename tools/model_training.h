/* tools/model_training.h -- measured training steps beside the model's (topologies/training_rows.h).
 *
 * Law: the result is whether every tested row and slope holds; each line says what was tested.
 *
 *   bool holds = model_training_print(&out);
 */
#ifndef TOOLS_MODEL_TRAINING_H
#define TOOLS_MODEL_TRAINING_H

#include <stdbool.h>

#include "base/buffer.h"

bool model_training_print(struct buffer *out);

#endif
