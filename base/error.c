/* base/error.c -- see base/error.h.
 *
 * Everything here allocates with malloc itself, not with base/mem.h: an error must survive
 * the exhaustion of memory, so a text that cannot be had is left out.
 */
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
    EXCERPT_COLUMNS_MAX = 100, /* wider lines are cut on both sides of the column */
    EXCERPT_LEFT_COLUMNS = 60, /* shown at most to the left of the column */
};

struct error_detail {
    char *message; /* each text is owned, or NULL */
    char *file;
    char *excerpt;
    char *where;
    char *hint;
    size_t excerpt_length; /* the excerpt may hold NUL bytes */
    size_t line;
    size_t column;
    size_t span;
};

static char *format_new(const char *format, va_list arguments)
{
    char *text;
    return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

static struct error error_make(enum error_kind kind, const char *format, va_list arguments)
{
    struct error error = {kind, calloc(1, sizeof(struct error_detail))};
    if (error.detail != NULL)
        error.detail->message = format_new(format, arguments);
    return error;
}

struct error error_new(enum error_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct error error = error_make(kind, format, arguments);
    va_end(arguments);
    return error;
}

struct error error_at(enum error_kind kind, const char *file, size_t line, size_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct error error = error_make(kind, format, arguments);
    va_end(arguments);
    if (error.detail != NULL) {
        error.detail->file = file != NULL ? strdup(file) : NULL;
        error.detail->line = line;
        error.detail->column = column;
    }
    return error;
}

struct error error_io(const char *verb, const char *path, int errno_value)
{
    /* unlike strerror: neither locale nor shared storage */
    const char *reason = strerrordesc_np(errno_value);
    const enum error_kind kind = errno_value == ENOMEM ? ERROR_INTERNAL : ERROR_IO;
    if (reason == NULL)
        return error_new(kind, "cannot %s %s: error %d", verb, path, errno_value);
    return error_new(kind, "cannot %s %s: %s", verb, path, reason);
}

void error_set_excerpt(struct error *error, const char *line_text, size_t length, size_t span)
{
    if (error->detail == NULL)
        return;
    free(error->detail->excerpt);
    error->detail->excerpt = malloc(length + 1);
    if (error->detail->excerpt == NULL)
        return;
    if (length != 0)
        memcpy(error->detail->excerpt, line_text, length);
    error->detail->excerpt[length] = '\0';
    error->detail->excerpt_length = length;
    error->detail->span = span;
}

void error_set_where(struct error *error, const char *where)
{
    if (error->detail == NULL)
        return;
    free(error->detail->where);
    error->detail->where = where != NULL ? strdup(where) : NULL;
}

void error_set_hint(struct error *error, const char *format, ...)
{
    if (error->detail == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *hint = format_new(format, arguments); /* formatted first, because an argument may be the old hint */
    va_end(arguments);
    free(error->detail->hint);
    error->detail->hint = hint;
}

bool error_hint_nearest(struct error *error, struct text word, const char *const *names)
{
    const char *near = text_nearest(word, names);
    if (near != NULL)
        error_set_hint(error, "did you mean '%s'?", near);
    return near != NULL;
}

void error_move_down(struct error *error, size_t lines)
{
    if (error->detail != NULL && error->detail->line != 0)
        error->detail->line += lines;
}

const char *error_message(const struct error *error)
{
    if (error->detail == NULL || error->detail->message == NULL)
        return "";
    return error->detail->message;
}

const char *error_hint(const struct error *error)
{
    return error->detail == NULL || error->detail->hint == NULL ? "" : error->detail->hint;
}

int error_exit_status(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE:
        return 0;
    case ERROR_USAGE:
    case ERROR_CONFIG:
        return 2;
    case ERROR_DATA:
        return 3;
    case ERROR_IO:
        return 4;
    case ERROR_INTERNAL:
        break;
    }
    return 5;
}

void error_release(struct error *error)
{
    if (error->detail != NULL) {
        free(error->detail->message);
        free(error->detail->file);
        free(error->detail->excerpt);
        free(error->detail->where);
        free(error->detail->hint);
        free(error->detail);
    }
    *error = ERROR_OK;
}

/* Write one character of foreign text to a terminal: characters that could move the cursor, and bytes that are not
 * UTF-8, become '?'; a tab becomes a blank.  Returns the bytes taken, at least 1. */
static size_t show_char(FILE *out, struct text rest)
{
    bool is_shown;
    const size_t bytes = text_shown_bytes(rest, &is_shown);
    if (is_shown)
        fwrite(rest.at, 1, bytes, out);
    else
        fputc(rest.at[0] == '\t' ? ' ' : '?', out);
    return bytes;
}

static void show(FILE *out, const char *c_string)
{
    struct text rest = text_of(c_string);
    while (rest.length != 0) {
        size_t bytes = show_char(out, rest);
        rest.at += bytes;
        rest.length -= bytes;
    }
}

/* "FILE:LINE:COLUMN: message". */
static void show_message(FILE *out, const struct error *error)
{
    const struct error_detail *detail = error->detail;
    if (detail != NULL && detail->file != NULL) {
        show(out, detail->file);
        if (detail->line != 0)
            fprintf(out, ":%zu", detail->line);
        if (detail->line != 0 && detail->column != 0)
            fprintf(out, ":%zu", detail->column);
        fputs(": ", out);
    }
    if (detail != NULL && detail->message != NULL)
        show(out, detail->message);
    else
        fputs("out of memory; the details are lost", out);
}

/* The part of a line that is shown, in bytes from 0, and the underline, in columns of that part. */
struct excerpt_window {
    size_t begin;
    size_t end;
    bool has_left; /* text was cut off on the left */
    bool has_right;
    size_t caret_column; /* from 0 */
    size_t caret_span;   /* 0: no underline */
};

static size_t next_char(struct text line, size_t at)
{
    size_t bytes = text_utf8_bytes((struct text){line.at + at, line.length - at});
    return at + (bytes != 0 ? bytes : 1);
}

/* Moves by whole characters, so that none is cut and the caret is placed correctly. */
static struct excerpt_window window_of(struct text line, size_t column, size_t span)
{
    size_t caret_begin = column != 0 ? column - 1 : SIZE_MAX;
    size_t caret_end = column != 0 ? caret_begin + (span != 0 ? span : 1) : SIZE_MAX;
    size_t columns = 0;
    size_t caret_column = 0; /* in the whole line */
    for (size_t at = 0; at < line.length; at = next_char(line, at)) {
        columns++;
        if (at < caret_begin && column != 0)
            caret_column++;
    }
    size_t skipped = 0;
    if (columns > EXCERPT_COLUMNS_MAX && caret_column > EXCERPT_LEFT_COLUMNS) {
        skipped = caret_column - EXCERPT_LEFT_COLUMNS;
        if (skipped > columns - EXCERPT_COLUMNS_MAX)
            skipped = columns - EXCERPT_COLUMNS_MAX;
    }
    struct excerpt_window window = {.has_left = skipped != 0};
    for (size_t i = 0; i < skipped; i++)
        window.begin = next_char(line, window.begin);
    window.end = window.begin;
    for (size_t i = 0; i < EXCERPT_COLUMNS_MAX && window.end < line.length; i++) {
        window.caret_span += window.end >= caret_begin && window.end < caret_end;
        window.end = next_char(line, window.end);
    }
    window.has_right = window.end < line.length;
    window.caret_column = caret_column - skipped;
    if (column != 0 && window.caret_span == 0)
        window.caret_span = 1; /* the place is the end of the line, where something is missing */
    return window;
}

static void show_excerpt(FILE *out, const struct error_detail *detail)
{
    static const char ellipsis[] = "...";
    struct text line = {detail->excerpt, detail->excerpt_length};
    struct excerpt_window window = window_of(line, detail->column, detail->span);
    char number[32] = "";
    int number_width = 0;
    if (detail->line != 0)
        number_width = snprintf(number, sizeof number, "%zu", detail->line);
    fprintf(out, " %s | %s", number, window.has_left ? ellipsis : "");
    for (size_t at = window.begin; at < window.end;)
        at += show_char(out, (struct text){line.at + at, line.length - at});
    fprintf(out, "%s\n", window.has_right ? ellipsis : "");
    if (window.caret_span == 0)
        return;
    size_t indent = window.caret_column + (window.has_left ? strlen(ellipsis) : 0);
    fprintf(out, " %*s | %*s^", number_width, "", (int)indent, "");
    for (size_t i = 1; i < window.caret_span; i++)
        fputc('~', out);
    fputc('\n', out);
}

static void show_where_and_hint(FILE *out, const struct error_detail *detail)
{
    if (detail->where == NULL && detail->hint == NULL)
        return;
    fputs("  ", out);
    if (detail->where != NULL) {
        fputs("at ", out);
        show(out, detail->where[0] != '\0' ? detail->where : "the root");
    }
    if (detail->where != NULL && detail->hint != NULL)
        fputs("; ", out);
    if (detail->hint != NULL)
        show(out, detail->hint);
    fputc('\n', out);
}

static void show_report(FILE *out, const struct error *error)
{
    show_message(out, error);
    fputc('\n', out);
    if (error->detail != NULL && error->detail->excerpt != NULL)
        show_excerpt(out, error->detail);
    if (error->detail != NULL)
        show_where_and_hint(out, error->detail);
}

static void show_line(FILE *out, const struct error *error)
{
    show_message(out, error);
    if (error->detail != NULL && error->detail->hint != NULL) {
        fputs("; ", out);
        show(out, error->detail->hint);
    }
}

static char *shown_new(const struct error *error, const char *before, void (*show_error)(FILE *, const struct error *))
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    fputs(before, out);
    show_error(out, error);
    bool has_failed = ferror(out) != 0;
    if (fclose(out) != 0 || has_failed) {
        free(text);
        return NULL;
    }
    return text;
}

char *error_text_new(const struct error *error)
{
    return shown_new(error, "error: ", show_report);
}

char *error_warning_new(const struct error *error)
{
    return shown_new(error, "warning: ", show_report);
}

char *error_line_new(const struct error *error)
{
    return shown_new(error, "", show_line);
}
