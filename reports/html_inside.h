/* reports/html_inside.h -- the parts of the page; for html*.c only.  Each appends its section. */
#ifndef REPORTS_HTML_INSIDE_H
#define REPORTS_HTML_INSIDE_H

#include "reports/html.h"

extern const char html_style[]; /* the style sheet */

void html_plots(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out);
void html_tables(const struct metrics *metrics, struct buffer *out);

/* Escapes the name, which may hold any character. */
void html_name(struct buffer *out, const char *name);

#endif
