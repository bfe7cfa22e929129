/* base/json_doc.h -- the inside of a JSON document, for the base/json*.c files only.
 *
 * A document is a text, the tree jansson made of it, and patches: values put over the
 * tree by an override or a graft.  A place in the tree is named by steps from the root;
 * its line and column are found again only when a message needs them.
 *
 * Law: the last patch whose steps lead to a value or to something around it says where
 * the value comes from; without one it comes from the text.
 */
#ifndef BASE_JSON_DOC_H
#define BASE_JSON_DOC_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/json_place.h"
#include "base/mem.h"

struct json_patch {
    const struct json_step *steps; /* where the value was put */
    size_t step_count;
    const char *assigned;     /* the dotted path, as messages name it */
    struct json_doc *grafted; /* owned; NULL: an override */
    bool is_typed;            /* by the user */
};

struct json_doc {
    struct arena arena; /* owns everything here except the trees and `patches` */
    const char *name;
    struct text text; /* without byte order mark */
    enum error_kind kind;
    json_t *root;
    struct json_patch *patches; /* oldest first */
    size_t patch_count;
    size_t patch_capacity;
    const struct json_listener *listener; /* NULL: none */
    const struct json_gate *gate;         /* NULL: none */
};

/* Is what stands at these steps typed?  The newest patch around it says. */
bool json_is_typed(const struct json_doc *doc, const struct json_step *steps, size_t count);

/* Tell the listener of the document, if there is one and no error is set. */
static inline void json_hear(const struct json_value *value, const struct json_ask *ask)
{
    const struct json_listener *listener = value->doc->listener;
    if (__builtin_expect(listener != NULL, 0) && !error_is(*value->error))
        listener->on_ask(listener->self, value, ask);
}

/* The error for a text that jansson refused (base/json_syntax.c). */
struct error json_syntax_error(const char *name, struct text text, enum error_kind kind, const json_error_t *refusal);

/* "'nodes'", "'pools[2]'" or "the document". */
void json_name_value(struct buffer *out, const struct json_value *value);

/* A value as quoted in messages: a short scalar, a long one cut, "an object", "an array". */
void json_describe(struct buffer *out, const json_t *node);

/* A number, true, false or null. */
void json_write_leaf(struct buffer *out, const json_t *node);

#endif
