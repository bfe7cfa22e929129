/* reports/figure_files.h -- a figure of a run as files for a paper: SVG, PDF or both.
 *
 * Law: the files appear whole or not at all, and both or none.  Their bytes depend on the run and on gnuplot's version
 * only, but a PDF also holds the date (SOURCE_DATE_EPOCH sets it).
 *
 *   TRY(figure_files_find("timeline", &figure));
 *   TRY(figure_files_write(show, figure, "timeline.svg", NULL));
 */
#ifndef REPORTS_FIGURE_FILES_H
#define REPORTS_FIGURE_FILES_H

#include "reports/run_figures.h"
#include "reports/show.h"

/* Find the figure of that name.  An unknown name is ERROR_USAGE, and the error's hint lists all names. */
struct error figure_files_find(const char *name, const struct run_figure **figure) MUST_CHECK;

/* Write the figure to the files.  A path that is NULL is left out. */
struct error figure_files_write(const struct show *show, const struct run_figure *figure, const char *svg_path,
                                const char *pdf_path) MUST_CHECK;

#endif
