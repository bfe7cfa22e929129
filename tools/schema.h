/* tools/schema.h -- the JSON Schema of what a reader accepts, learned from the reader itself.
 *
 * A reader of base/json.h asks for keys with their types, ranges and choices, and a json_listener hears each question,
 * also if the document lacks the key.  schema_learn_new runs the reader on seed documents.  It then adds one value at a
 * time where the reader asked for one, and runs the reader again.  It keeps a document if the reader asked something
 * new, and extends that document in turn.  It stops when no document brings a new question.
 *
 * Laws: the schema is meant to refuse nothing that the reader accepts, and does so as far as the questions were heard;
 * tests/cli/schema.sh tries that with edited files.  A key or a choice that is known in some document is known in all.
 * A bound that differs from document to document is left out.  A key is required only if it was needed each time that
 * the reader was done with its object.  What a reader refuses by rules of its own ("a least time is above its most"),
 * the schema accepts.
 *
 *   struct schema *schema = schema_learn_new(read, NULL, (const char *const[]){"{}", NULL});
 *   schema_print(schema, "A policy of Windtunnel", &out);
 *   schema_free(schema);
 *
 * It does not: know plug-ins.  A reader that opens files finds none: the only name that is tried is SCHEMA_SAMPLE.
 */
#ifndef TOOLS_SCHEMA_H
#define TOOLS_SCHEMA_H

#include "base/buffer.h"
#include "base/json.h"

struct schema; /* opaque */

/* The string that is tried, as a value and as a key of maps. */
#define SCHEMA_SAMPLE "schema_sample"

/* Read a document and say whether it is accepted.  The listener hears what is asked of it.  The reader must not depend
 * on anything but the text and `self`, and must not act on the world. */
typedef struct error schema_read_fn(void *self, const char *text, const struct json_listener *listener);

/* Some thousand runs of the reader.  seeds: documents to begin with; ends with NULL. */
struct schema *schema_learn_new(schema_read_fn *read, void *self, const char *const *seeds);

/* Any key may come from elsewhere, as from options of the command line: none is required. */
void schema_require_nothing(struct schema *schema);
void schema_free(struct schema *schema); /* NULL is allowed */

/* As JSON, draft 2020-12. */
void schema_print(const struct schema *schema, const char *title, struct buffer *out);

#endif
