/* reports/export/sqlite_views.h -- what an SQLite export has besides its tables: the table `sizes`, indexes and views.
 */
#ifndef REPORTS_EXPORT_SQLITE_VIEWS_H
#define REPORTS_EXPORT_SQLITE_VIEWS_H

/* Statements, to be run in this order once the rows are in.  NULL-terminated. */
extern const char *const sqlite_views[];

#endif
