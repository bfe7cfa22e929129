/* workloads/readers/json_line.h -- the members of one JSON object on one line, as pieces of that line.
 *
 * A tree of values forgets where they stood and turns decimals into doubles; a trace needs the place for its
 * errors and the digits for its times.  jansson says first whether the text is JSON (json_line_check); then
 * cutting it is simple.
 *
 * Law: json_line_member may be used only on text that json_line_check accepted.
 */
#ifndef WORKLOADS_READERS_JSON_LINE_H
#define WORKLOADS_READERS_JSON_LINE_H

#include <jansson.h>

#include "base/mem.h"
#include "workloads/readers/fields.h"

/* Check that the line is an object without duplicate keys, NaN or 1e400, in valid UTF-8. */
struct error json_line_check(const struct line *line) MUST_CHECK;

/* The same; *tree: its values, to be freed with json_decref; NULL on error. */
struct error json_line_parse(const struct line *line, json_t **tree) MUST_CHECK;

/* The next member of the object, or element of the array (key empty), in *rest; false at the end.  Start with the whole
 * value.  key: without quotes, with its escapes.  value: as in the line, with quotes. */
bool json_line_member(struct text *rest, struct text *key, struct text *value);

/* Fill `field` from a value: null is absent; strings lose their quotes, and escapes are decoded into the arena.
 * ERROR_DATA if the value is not of the kind. */
struct error json_line_field(const struct line *line, struct text value, enum field_kind kind, struct arena *arena,
                             struct field *field) MUST_CHECK;

#endif
