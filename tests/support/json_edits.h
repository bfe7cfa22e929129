/* tests/support/json_edits.h -- every way in which one thing in a JSON text may be other than it is.
 *
 * A key is dropped, one that nobody knows is added to an object, a number is one of those around which limits lie, or
 * no number at all, a text is empty, another, longer at either end or no text, an item of a list is dropped or there
 * twice, a list is empty.
 *
 *   struct json_edits edits = {.text = "{\"a\":1}", .self = &mine, .judge = judge};
 *   json_edits_all(&edits);
 *
 * The text is written without blanks; an empty object is not looked into.
 */
#ifndef TESTS_SUPPORT_JSON_EDITS_H
#define TESTS_SUPPORT_JSON_EDITS_H

enum json_edit { JSON_EDIT_DROP, JSON_EDIT_ADD, JSON_EDIT_NUMBER, JSON_EDIT_TEXT, JSON_EDIT_LIST, JSON_EDIT_COUNT };
extern const char *const json_edit_names[];

struct json_edits {
    const char *text;
    void *self;
    void (*judge)(void *self, enum json_edit edit, const char *text);
};

void json_edits_all(const struct json_edits *edits);

#endif
