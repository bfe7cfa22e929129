/* reports/html_page.h -- what every page is framed by: its head with the style sheet, names, and the end.
 *
 *   html_page_open("Two policies", &out);
 *   buffer_string(&out, "<section><h2>Sides</h2>\n<p>");
 *   html_name(&out, side);
 *   buffer_string(&out, "</p></section>\n");
 *   html_page_close(&out);
 *
 * Law: the page forbids itself everything but its own styles (Content-Security-Policy).
 */
#ifndef REPORTS_HTML_PAGE_H
#define REPORTS_HTML_PAGE_H

#include "base/buffer.h"

/* Up to <main>. */
void html_page_open(const char *title, struct buffer *out);
void html_page_close(struct buffer *out);

/* Escapes the name, which may hold any character. */
void html_name(struct buffer *out, const char *name);

#endif
