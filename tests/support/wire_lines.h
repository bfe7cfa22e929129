/* tests/support/wire_lines.h -- lines of policies/wire.h as they are written: one of every kind, and every field at
 * least once with a value other than its default.
 *
 *   struct wire_lines wire;
 *   wire_lines_open(&wire);
 *   char *text = wire_lines_new(0);
 *   ... wire_read(wire.wire, "events", 1, wire_lines_text(text), WIRE_TOLD | WIRE_ANSWERED, &line) ...
 *   free(text);
 *   wire_lines_write(&wire, &line, &out);
 *   wire_lines_close(&wire);
 */
#ifndef TESTS_SUPPORT_WIRE_LINES_H
#define TESTS_SUPPORT_WIRE_LINES_H

#include "policies/wire.h"

struct wire_lines {
    struct wire_header header;
    struct wire *wire;
};

/* The header, and the lines in their order; the caller's to free.  NULL: there is no line of that index. */
char *wire_lines_header_new(void);
char *wire_lines_new(size_t index);

/* As wire_read and wire_header_parse, of a line written with ' for " (json_text.h). */
struct error wire_lines_read(struct wire *wire, uint64_t number, const char *quoted, unsigned awaited,
                             struct wire_line *line) MUST_CHECK;
struct error wire_lines_header_parse(struct json_doc **doc, const char *quoted) MUST_CHECK;

struct text wire_lines_text(const char *line); /* without the end of the line */

void wire_lines_open(struct wire_lines *wire); /* with that header */
void wire_lines_close(struct wire_lines *wire);

void wire_lines_write(const struct wire_lines *wire, const struct wire_line *line, struct buffer *out);

#endif
