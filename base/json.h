/* base/json.h -- JSON documents whose every value knows its file, line and column.
 *
 * jansson parses; this adds places, refusal of unknown and duplicate keys with a
 * suggestion, ranges, and `path=value` overrides.
 *
 * Law: reading is linear code.  All reads of a document share one sticky error;
 * after the first one every read returns its default and does nothing.  A key
 * that was never asked for is an error at json_object_close, except "$comment".
 *
 *   struct error error = ERROR_OK;
 *   struct json_value root = json_doc_root(doc, &error);
 *   struct json_object pool;
 *   json_object_open(&pool, &root);
 *   json_need(&pool, "nodes");
 *   int64_t nodes = json_get_int(&pool, "nodes", 1, 1000000, 0);
 *   json_object_close(&pool);
 *   return error;
 *
 * It does not: write JSON (base/buffer.h), or read anything larger than memory.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"
#include "base/time.h"

struct json_doc; /* the text, its name, the tree, the overrides */

/* Parse `text` (copied).  name: for messages, a path.  On error *out is NULL; kind: ERROR_CONFIG or ERROR_DATA. */
struct error json_doc_parse(struct json_doc **out, const char *name, struct text text, enum error_kind kind) MUST_CHECK;
/* A document of a text that is parsed already: `tree` is owned by it. */
struct json_doc *json_doc_of(const char *name, struct text text, json_t *tree, enum error_kind kind);
void json_doc_free(struct json_doc *doc);

/* Apply an override "a.b.c=value".  value: JSON if it parses as JSON, else a string.  A step names an object's key, or
 * an array's element by its "name" or its index.  Missing objects on the way are created.  Messages about such a value
 * name "--set a.b.c". */
struct error json_doc_set(struct json_doc *doc, const char *assignment) MUST_CHECK;

/* The same for what the user typed: files that such a value names are the user's own choice (see below). */
struct error json_doc_set_typed(struct json_doc *doc, const char *assignment) MUST_CHECK;

/* Replace the value at the dotted path (as above) by the whole tree of `other`; messages about it then name
 * other's file and lines.  If the value that it replaces was typed, so is what `other` holds.  `other` is owned by doc
 * from then on, on error too. */
struct error json_doc_graft(struct json_doc *doc, const char *path, struct json_doc *other) MUST_CHECK;

/* The value at the dotted path (as above); borrowed; NULL: there is none. */
const json_t *json_doc_at(const struct json_doc *doc, const char *path);

/* ---- What a reader asks for ----
 * A listener hears each question about a document's values, before it is answered and also where the value is absent,
 * so that what a reader accepts can be learned by running it (tools/schema.h).  Questions after the sticky error are
 * not heard. */
enum json_question {
    JSON_ASK_MEMBER, /* the value, a member of an object, may be there */
    JSON_ASK_NEEDED, /* it must be there */
    JSON_ASK_OBJECT, /* is it an object? */
    JSON_ASK_CLOSED, /* has this object only keys that were asked for? */
    JSON_ASK_ARRAY,
    JSON_ASK_KEYS, /* what are the keys of this object? */
    JSON_ASK_INT,
    JSON_ASK_REAL,
    JSON_ASK_SCALED,
    JSON_ASK_BOOL,
    JSON_ASK_STRING,
    JSON_ASK_FILE, /* which file does this string name? */
    JSON_ASK_DURATION,
    JSON_ASK_NEVER,  /* is it the string "never"? */
    JSON_ASK_CHOICE, /* which of these strings is it? */
    JSON_ASK_LIKE    /* the other keys of this object are asked as those of another one */
};

struct json_value;

/* ---- Files that a document names ----
 * Law: a string of a document is opened as a file only after json_value_file returned it.  A gate says which files a
 * document may name; so a new key that names a file cannot forget to ask.  It once was a list of keys, which did not
 * know `policy.set.plugins`, and a stranger's file loaded code.  tests/property/test_gate.c tries each key. */
struct json_gate {
    void *self;
    /* *path: the name, to be replaced by the path that is opened for it.  The document takes a copy, so that it says
     * what was opened, and may ask again about that path.  An error: it may not.
     * is_typed: the user typed the name, or it stands in a file whose name the user typed. */
    struct error (*on_file)(void *self, const char *role, bool is_typed, const char **path);
};

struct json_ask {
    enum json_question question;
    int64_t low, high; /* JSON_ASK_INT; JSON_ASK_SCALED in its units */
    double real_low, real_high;
    int64_t scale;
    const char *const *choices;    /* NULL-terminated */
    const struct json_value *like; /* of JSON_ASK_LIKE */
};

struct json_listener {
    void *self;
    void (*on_ask)(void *self, const struct json_value *value, const struct json_ask *ask);
};

/* listener: borrowed; NULL: none.  Grafts and overrides of the document are heard as the rest of it. */
void json_doc_listen(struct json_doc *doc, const struct json_listener *listener);

/* gate: borrowed; NULL: the document may name any file. */
void json_doc_guard(struct json_doc *doc, const struct json_gate *gate);

/* Tell the listener that the value, a string that is read by its user, may be one of these. */
void json_note_choices(const struct json_value *value, const char *const *choices);

/* Tell the listener that from here on the keys of the object are asked as those of `like` are, so that what it hears of
 * them is nothing new. */
void json_note_like(const struct json_value *object, const struct json_value *like);

/* A value and its path.  Lives on the caller's stack; a child must not outlive its parent. */
struct json_value {
    struct json_doc *doc;
    json_t *node;                    /* borrowed; NULL: absent */
    const struct json_value *parent; /* NULL at the root */
    const char *key;                 /* in an object, else NULL */
    size_t index;                    /* in an array */
    struct error *error;             /* the sticky error, shared */
};

struct json_value json_doc_root(struct json_doc *doc, struct error *sticky);

/* Set the sticky error (if none is set) at the value's place, with an excerpt and the JSON pointer. */
void json_fail(const struct json_value *value, const char *format, ...) LIKE_PRINTF(2, 3);

/* Where the value stands, for errors that are found later: its file, borrowed from the document (for an override,
 * "--set a.b.c"), its line and its column; 0: unknown. */
const char *json_value_place(const struct json_value *value, size_t *line, size_t *column);

enum { JSON_KEYS_MAX = 96 };

struct json_object {
    struct json_value value;
    const char *asked[JSON_KEYS_MAX]; /* keys read so far; borrowed until the object is closed */
    size_t asked_count;
    size_t walked_count; /* keys that json_object_key returned, which all count as asked */
    void *walk;          /* position of json_object_key */
    size_t walk_index;
};

/* Open an object for reading; anything else sets the sticky error. */
void json_object_open(struct json_object *object, const struct json_value *value);
/* Open the object at a key of `owner`.  False: the key is absent or null, and nothing is open. */
bool json_object_at(struct json_object *object, struct json_object *owner, const char *key);
/* Unknown keys set the sticky error, with the nearest known key as a hint. */
void json_object_close(struct json_object *object);

bool json_has(struct json_object *object, const char *key);                 /* present and not null */
void json_need(struct json_object *object, const char *key);                /* its absence sets the sticky error */
struct json_value json_member(struct json_object *object, const char *key); /* node NULL if absent or null */

/* Each returns `otherwise` when the key is absent or null, or an error is set.  Ranges are inclusive. */
int64_t json_get_int(struct json_object *object, const char *key, int64_t low, int64_t high, int64_t otherwise);
double json_get_real(struct json_object *object, const char *key, double low, double high, double otherwise);
bool json_get_bool(struct json_object *object, const char *key, bool otherwise);
const char *json_get_string(struct json_object *object, const char *key, const char *otherwise); /* borrowed from doc */
/* One of `names` (NULL-terminated); the index; otherwise when absent. */
int json_get_choice(struct json_object *object, const char *key, const char *const *names, int otherwise);
/* A number times `scale`, rounded toward 0 as by text_to_scaled: 0.25 with 1000 -> 250. */
int64_t json_get_scaled(struct json_object *object, const char *key, int64_t scale, int64_t low, int64_t high,
                        int64_t otherwise);
/* Seconds as a number, or a string with a unit ("14d"); not negative. */
time_ns json_get_duration(struct json_object *object, const char *key, time_ns otherwise);
/* As above, or "never": TIME_NEVER. */
time_ns json_get_patience(struct json_object *object, const char *key, time_ns otherwise);

/* Arrays: count is 0 and the sticky error set when `value` is present but not an array. */
size_t json_array_count(const struct json_value *array);
struct json_value json_array_item(const struct json_value *array, size_t index);

/* The array at a key of `owner`, and the number of its items.  0: it is absent, is no array, or has more than `most`,
 * which sets the sticky error. */
size_t json_array_at(struct json_value *array, struct json_object *owner, const char *key, size_t most);

/* As json_array_count and json_array_item, where one item may stand without its array. */
size_t json_list_count(const struct json_value *list);
struct json_value json_list_item(const struct json_value *list, size_t index);

/* The keys of an open object in the order of the text, for maps with free names; each key then counts as asked. */
const char *json_object_key(struct json_object *object, size_t index); /* NULL past the end */

/* A scalar value itself (for arrays of scalars); `low` or "" if it is no such scalar or an error is set. */
int64_t json_value_int(const struct json_value *value, int64_t low, int64_t high);
double json_value_real(const struct json_value *value, double low, double high);
const char *json_value_string(const struct json_value *value);

/* The path of the file that the value, a string, names; role: what it is for, in one word.  NULL: the value is absent;
 * "": it is no string, or the gate refuses it, or an error is set.  Borrowed from the document. */
const char *json_value_file(const struct json_value *value, const char *role);

/* Did the user type the value, or the name of the file in which it stands? */
bool json_value_is_typed(const struct json_value *value);

/* The document as canonical text (sorted keys, no blanks), for digests and manifests; caller frees with free(). */
char *json_doc_canonical_new(const struct json_doc *doc);
char *json_value_canonical_new(const struct json_value *value); /* of a part of the document; absent: "null" */

#endif
