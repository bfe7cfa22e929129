/* base/json_place.c -- see base/json_place.h. */
#include "base/json_place.h"

#include <jansson.h>
#include <string.h>

/* ---- the walk ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_structure(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

/* The position after the closing quote; a string without one ends with its line. */
static size_t string_end(struct text text, size_t begin)
{
    size_t at = begin + 1;
    while (at < text.length && text.at[at] != '"' && text.at[at] != '\n')
        at += text.at[at] == '\\' && at + 1 < text.length && text.at[at + 1] != '\n' ? 2 : 1;
    return at < text.length && text.at[at] == '"' ? at + 1 : at;
}

static size_t word_end(struct text text, size_t begin)
{
    size_t at = begin + 1;
    while (at < text.length && !is_blank(text.at[at]) && !is_structure(text.at[at]) && text.at[at] != '"')
        at++;
    return at;
}

static size_t skip_blanks(struct text text, size_t at)
{
    while (at < text.length && is_blank(text.at[at]))
        at++;
    return at;
}

static struct json_frame *innermost(const struct json_walk *walk)
{
    return walk->depth != 0 ? &walk->frames[walk->depth - 1] : NULL;
}

static void open_frame(struct json_walk *walk)
{
    bool is_object = walk->text.at[walk->begin] == '{';
    MEM_GROW(walk->frames, walk->frame_capacity, walk->depth + 1);
    walk->frames[walk->depth++] = (struct json_frame){.begin = walk->begin, .is_object = is_object};
}

/* A string at a place for keys is a key. */
static void take_string(struct json_walk *walk)
{
    struct json_frame *frame = innermost(walk);
    walk->end = string_end(walk->text, walk->begin);
    walk->is_key = frame != NULL && frame->is_object && frame->key.at == NULL;
    walk->is_value = !walk->is_key;
    if (!walk->is_key)
        return;
    size_t length = walk->end - walk->begin - 1;
    if (length != 0 && walk->text.at[walk->end - 1] == '"')
        length--;
    frame->key = (struct text){walk->text.at + walk->begin + 1, length};
}

static void take_structure(struct json_walk *walk, char c)
{
    struct json_frame *frame = innermost(walk);
    walk->end = walk->begin + 1;
    if (c == '{' || c == '[') {
        walk->is_value = true;
        walk->is_opening = true;
    } else if (c == ',') {
        walk->comma = walk->begin;
        if (frame != NULL) {
            frame->index++;
            frame->key = (struct text){0};
        }
    } else {
        walk->is_closing = c != ':';
    }
}

bool json_walk_next(struct json_walk *walk)
{
    if (walk->is_opening)
        open_frame(walk);
    if (walk->is_closing && walk->depth != 0)
        walk->depth--;
    walk->is_value = walk->is_key = walk->is_opening = walk->is_closing = false;
    walk->begin = skip_blanks(walk->text, walk->end);
    walk->end = walk->begin;
    if (walk->begin >= walk->text.length)
        return false;
    char c = walk->text.at[walk->begin];
    if (c == '"') {
        take_string(walk);
    } else if (is_structure(c)) {
        take_structure(walk, c);
    } else {
        walk->end = word_end(walk->text, walk->begin);
        walk->is_value = true;
    }
    return true;
}

void json_walk_release(struct json_walk *walk)
{
    mem_free(walk->frames);
    *walk = (struct json_walk){0};
}

char json_walk_char(const struct json_walk *walk)
{
    return walk->begin < walk->text.length ? walk->text.at[walk->begin] : '\0';
}

/* ---- keys and pointers ---- */

/* Is the key in the text equal to `key`?  Escapes are rare, so jansson decodes them. */
static bool key_is(struct text written, const char *key)
{
    if (memchr(written.at, '\\', written.length) == NULL)
        return text_is(written, key);
    json_t *string = json_loadb(written.at - 1, written.length + 2, JSON_DECODE_ANY, NULL);
    bool is = json_is_string(string) && strcmp(json_string_value(string), key) == 0;
    json_decref(string);
    return is;
}

/* One reference token; RFC 6901, section 3: '~' is "~0" and '/' is "~1". */
static void pointer_key(struct buffer *out, struct text key)
{
    buffer_char(out, '/');
    for (size_t i = 0; i < key.length; i++) {
        if (key.at[i] == '~')
            buffer_string(out, "~0");
        else if (key.at[i] == '/')
            buffer_string(out, "~1");
        else
            buffer_char(out, key.at[i]);
    }
}

static void pointer_index(struct buffer *out, size_t index)
{
    buffer_char(out, '/');
    buffer_int(out, (int64_t)index);
}

static void pointer_written_key(struct buffer *out, struct text written)
{
    json_t *string = NULL;
    if (memchr(written.at, '\\', written.length) != NULL)
        string = json_loadb(written.at - 1, written.length + 2, JSON_DECODE_ANY, NULL);
    pointer_key(out, string != NULL ? text_of(json_string_value(string)) : written);
    json_decref(string);
}

void json_walk_pointer(const struct json_walk *walk, size_t depth, struct buffer *out)
{
    for (size_t i = 0; i < depth; i++) {
        const struct json_frame *frame = &walk->frames[i];
        if (!frame->is_object)
            pointer_index(out, frame->index);
        else if (frame->key.at != NULL)
            pointer_written_key(out, frame->key);
    }
}

void json_pointer_of(const struct json_step *steps, size_t count, struct buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].key != NULL)
            pointer_key(out, text_of(steps[i].key));
        else
            pointer_index(out, steps[i].index);
    }
}

bool json_step_equal(const struct json_step *a, const struct json_step *b)
{
    if (a->key == NULL || b->key == NULL)
        return a->key == b->key && a->index == b->index;
    return strcmp(a->key, b->key) == 0;
}

/* ---- places ---- */

struct json_place json_place_of(struct text text, size_t begin, size_t end)
{
    struct json_place place = {.line = 1};
    size_t line_begin = 0;
    for (size_t i = 0; i < begin && i < text.length; i++) {
        if (text.at[i] != '\n')
            continue;
        place.line++;
        line_begin = i + 1;
    }
    size_t line_end = line_begin;
    while (line_end < text.length && text.at[line_end] != '\n')
        line_end++;
    place.column = begin - line_begin + 1;
    place.span = 1;
    if (end > begin && line_end > begin)
        place.span = (end < line_end ? end : line_end) - begin;
    if (line_end > line_begin && text.at[line_end - 1] == '\r')
        line_end--;
    place.line_text = (struct text){text.at + line_begin, line_end - line_begin};
    return place;
}

static bool frame_is(const struct json_frame *frame, const struct json_step *step)
{
    if (step->key == NULL)
        return !frame->is_object && frame->index == step->index;
    return frame->is_object && frame->key.at != NULL && key_is(frame->key, step->key);
}

/* The position after the value whose first token the walk is at. */
static size_t value_end(struct json_walk *walk)
{
    size_t depth = walk->depth;
    size_t end = walk->end;
    if (!walk->is_opening)
        return end;
    while (json_walk_next(walk)) {
        end = walk->end;
        if (walk->is_closing && walk->depth == depth + 1)
            break;
    }
    return end;
}

bool json_place_find(struct text text, const struct json_step *steps, size_t count, bool of_key, struct json_place *out)
{
    struct json_walk walk = {.text = text};
    size_t matched = 0; /* leading frames that match their steps */
    bool is_found = false;
    while (!is_found && json_walk_next(&walk)) {
        if (!walk.is_value && !walk.is_key)
            continue;
        /* outer frames do not change while an inner one moves */
        if (walk.depth != 0 && walk.depth <= count && matched >= walk.depth - 1)
            matched = walk.depth - 1 + frame_is(innermost(&walk), &steps[walk.depth - 1]);
        is_found = walk.depth == count && matched == count && (of_key ? walk.is_key : walk.is_value);
    }
    if (is_found) {
        size_t begin = walk.begin; /* value_end moves the walk, so its position is saved */
        *out = json_place_of(text, begin, of_key ? walk.end : value_end(&walk));
    }
    json_walk_release(&walk);
    return is_found;
}
