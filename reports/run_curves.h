/* reports/run_curves.h -- what a run was like over time, as series of a plot; for run_*.c only. */
#ifndef REPORTS_RUN_CURVES_H
#define REPORTS_RUN_CURVES_H

#include "reports/metrics.h"
#include "reports/show.h"

/* Usability of free GPUs. */
enum space_curve {
    SPACE_IDLE,
    SPACE_FRAGMENTED,
    SPACE_STRANDED,
    SPACE_GANG,
    SPACE_CAUSES,
    SPACE_COUNT = SPACE_CAUSES + RECORD_CAUSE_COUNT
};

struct run_curves {
    size_t count;
    double *time;                                                    /* in units of the axis; middle of each interval */
    double *allocated, *active, *kernel, *reserved, *down, *pending; /* means over the interval */
    double *recorded;                                                /* the same, by the record of the trace */
    double *in_service;                                              /* likewise, GPUs in service (world.capacity) */
    double *space[SPACE_COUNT];                                      /* means of the samples in the interval, in GPUs */
    double *spent[SPENT_COUNT]; /* means over the interval, in GPUs; lost work counts where it was done */
    bool has_space;
    double unit_s;    /* of the axis */
    const char *unit; /* "days" */
    double end;       /* in units */
};

/* end_s: the axis reaches that far at least.  The numbers live as long as the document. */
struct run_curves run_curves_of(struct show *show, const struct metrics *metrics, double end_s);

/* The GPUs in service: a level line of two points if they are always all, else as they were.  xy: room for 4. */
struct plot_series run_capacity_series(const struct metrics *metrics, const struct run_curves *curves, double *xy);

/* The end of the warm-up, as an upright line of two points.  False: there is none to show.  xy: room for 4. */
bool run_warmup_series(const struct metrics *metrics, const struct run_curves *curves, double top, double *xy,
                       struct plot_series *series);

#endif
