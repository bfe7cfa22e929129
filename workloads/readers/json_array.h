/* workloads/readers/json_array.h -- the objects of one JSON array, one at a time, however its lines are broken.
 *
 *   struct text rest = line;
 *   while (rest.length > 0) {
 *       TRY(json_array_feed(&array, &line, &rest, &is_whole));
 *       if (is_whole) ...array.text, array.first_line, array.first_column...
 *   }
 *
 * Law: memory is that of one object, at most JSON_ARRAY_OBJECT_MAX bytes.  What stands between objects must be commas,
 * blanks and the array's brackets.
 */
#ifndef WORKLOADS_READERS_JSON_ARRAY_H
#define WORKLOADS_READERS_JSON_ARRAY_H

#include <jansson.h>

#include "base/buffer.h"
#include "workloads/readers/fields.h"

enum { JSON_ARRAY_OBJECT_MAX = 16 << 20 };

struct json_array {
    struct buffer text; /* of the object so far */
    uint64_t first_line;
    size_t first_column; /* from 1 */
    uint32_t depth;      /* of brackets within the array; 0: between objects */
    bool is_in_text, is_escaped;
    bool has_begun, has_ended; /* the array */
    bool is_whole;             /* the object in `text` was given; the next feed begins another */
};                             /* {0} is before the array */

/* Take bytes off *rest, a piece at the end of the line, up to the end of an object, or all. */
struct error json_array_feed(struct json_array *array, const struct line *line, struct text *rest,
                             bool *is_whole) MUST_CHECK;

/* The object as a tree; the caller frees it with json_decref.  ERROR_DATA at its place in the file. */
struct error json_array_object(const struct json_array *array, const struct input *input, json_t **out) MUST_CHECK;

/* ERROR_DATA at the object's first line and column. */
struct error json_array_error(const struct json_array *array, const struct input *input, const char *format,
                              ...) MUST_CHECK LIKE_PRINTF(3, 4);

/* Did the array end?  For the end of the file. */
struct error json_array_check_end(const struct json_array *array, const struct input *input) MUST_CHECK;

void json_array_release(struct json_array *array);

#endif
