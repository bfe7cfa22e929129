/* reports/html_inside.h -- the parts of the pages; for html*.c only.  Each appends its part. */
#ifndef REPORTS_HTML_INSIDE_H
#define REPORTS_HTML_INSIDE_H

#include "reports/html.h"
#include "reports/html_figure.h"
#include "reports/html_page.h"

#include "reports/show_inside.h"
#define html_style show_style

/* The cluster's GPU time by cause over time: html_spent.c. */
struct html_curves;
void html_spent(const struct metrics *metrics, const struct html_curves *curves, const struct plot_tool *tool,
                struct buffer *out);
void html_plots(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out);
void html_waits(const struct metrics *metrics, const struct plot_tool *tool, struct buffer *out);
void html_tables(const struct metrics *metrics, struct buffer *out);

/* ---- curves over time: html_curves.c ---- */

/* Usability of free GPUs. */
enum space_curve {
    SPACE_IDLE,
    SPACE_FRAGMENTED,
    SPACE_STRANDED,
    SPACE_GANG,
    SPACE_CAUSES,
    SPACE_COUNT = SPACE_CAUSES + RECORD_CAUSE_COUNT
};

struct html_curves {
    size_t count;
    double *time;                                           /* in units of the axis; middle of each interval */
    double *allocated, *active, *reserved, *down, *pending; /* means over the interval */
    double *recorded;                                       /* the same, by the record of the trace */
    double *in_service;                                     /* likewise, GPUs in service (world.capacity) */
    double *space[SPACE_COUNT];                             /* means of the samples in the interval, in GPUs */
    double *spent[SPENT_COUNT]; /* means over the interval, in GPUs; lost work counts where it was done */
    bool has_space;
    double unit_s;    /* of the axis */
    const char *unit; /* "days" */
    double end;       /* in units */
};

/* end_s: the axis reaches that far at least.  The caller frees `time` with mem_free: it holds all columns. */
struct html_curves html_curves_new(const struct metrics *metrics, double end_s);

/* The GPUs in service: a level line of two points if they are always all, else as they were. */
struct plot_series html_capacity_series(const struct metrics *metrics, const struct html_curves *curves, double x[2],
                                        double y[2]);

/* The end of the warm-up, as an upright line of two points.  False: there is none to show. */
bool html_warmup_series(const struct metrics *metrics, const struct html_curves *curves, double top, double x[2],
                        double y[2], struct plot_series *series);

/* Close a section: the drawing, and its numbers. */
void html_over_time(const struct plot *plot, const struct html_curves *curves, const struct plot_tool *tool,
                    const char *y_text, const double *const *columns, const char *const *heads, size_t column_count,
                    struct buffer *out);

/* ---- queue times: html_waits.c ---- */

/* A line of the plot of queue times: for each time t, the share of the jobs that waited at most t. */
struct html_waits_line {
    const char *label;
    const struct metrics *metrics;
    int class; /* enum job_class; -1: all */
    enum plot_colour colour;
    bool is_dashed;
};

/* The drawing and its table.  title, description and id as in struct plot.  Lines without jobs are left out; if all
 * are, nothing is appended, and the result is false. */
bool html_waits_draw(const struct html_waits_line *lines, size_t count, const struct plot *about,
                     const struct plot_tool *tool, struct buffer *out);

#endif
