/* tests/support/json_edits.h -- all edits of a JSON text that change one thing.
 *
 * A key is dropped; an unknown key is added to an object; a number becomes one near usual limits, or another type; a
 * string becomes empty, another one, longer at either end, or another type; an item of a list is dropped or doubled; a
 * list becomes empty.
 *
 *   struct json_edits edits = {.text = "{\"a\":1}", .self = &mine, .judge = judge};
 *   json_edits_all(&edits);
 *
 * The text must be written without blanks.  Empty objects are left as they are.
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
