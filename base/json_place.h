/* base/json_place.h -- places in a JSON text: from steps to line and column, and back.
 *
 * jansson forgets where a value stood.  When a message needs it, the text is walked
 * again, token by token, which costs the length of the text and only happens once.
 *
 * Law: a walk makes no assumptions.  On a text that is not JSON it continues as well as it
 * can and always reaches the end.
 *
 *   struct json_walk walk = {.text = text};
 *   while (json_walk_next(&walk))
 *       if (walk.is_value && walk.depth == 2) ...
 *   json_walk_release(&walk);
 */
#ifndef BASE_JSON_PLACE_H
#define BASE_JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/text.h"

struct json_step {
    const char *key; /* of an object; NULL: an element of an array */
    size_t index;
};

/* ---- the walk ---- */

struct json_frame {
    size_t begin;    /* position of the bracket, in bytes */
    struct text key; /* of the present member, as written, without quotes; at NULL: none yet */
    size_t index;    /* of the present element */
    bool is_object;
};

struct json_walk {
    struct text text;          /* set by the caller; all other fields start as zeros */
    size_t begin;              /* of the present token, in bytes */
    size_t end;                /* after the token */
    size_t comma;              /* position of the last comma, in bytes */
    struct json_frame *frames; /* owned; the open brackets, outermost first */
    size_t depth;              /* frames around the token; a closing bracket is in its own frame */
    size_t frame_capacity;
    bool is_value;   /* a scalar or an opening bracket */
    bool is_key;     /* a string before a colon */
    bool is_opening; /* an opening bracket; the next step goes inside */
    bool is_closing; /* a closing bracket; the next step goes outside */
};

/* Go to the next token; false at the end of the text. */
bool json_walk_next(struct json_walk *walk);
void json_walk_release(struct json_walk *walk);

/* The first byte of the present token. */
char json_walk_char(const struct json_walk *walk);

/* The JSON pointer (RFC 6901) to the present members of the outermost `depth` frames. */
void json_walk_pointer(const struct json_walk *walk, size_t depth, struct buffer *out);

/* ---- places ---- */

/* A part of a text, as shown in messages. */
struct json_place {
    size_t line;   /* from 1 */
    size_t column; /* from 1, in bytes */
    size_t span;   /* bytes in that line, at least 1 */
    struct text line_text;
};

struct json_place json_place_of(struct text text, size_t begin, size_t end);

/* The place of the value at the end of the steps; with of_key, of its key.  False: it is not in the text. */
bool json_place_find(struct text text, const struct json_step *steps, size_t count, bool of_key,
                     struct json_place *out);

bool json_step_equal(const struct json_step *a, const struct json_step *b);

/* The JSON pointer of steps. */
void json_pointer_of(const struct json_step *steps, size_t count, struct buffer *out);

#endif
