/* workloads/readers/join.h -- the tables of a map of columns (workloads/readers/column_map.h), held in memory and
 * joined to the rows of a trace.
 *
 *   TRY(joins_open(reader, &map));                 from here on the map describes the trace with the given tables
 *   joins_add(reader->sides->content, &map, &csv, &why);      a row's columns of tables get their values
 *
 * Laws
 *  - A table is read once, before the trace's first row.  A line of it that cannot be read is an ERROR_DATA with its
 *    line and column, and counts among the bad lines that are allowed.
 *  - A row is found by the text of its key, byte by byte.
 *  - A table that fields use, and that was not given, is an ERROR_CONFIG that names it.
 *
 * Memory: about 130 bytes for each distinct key, its text, and the texts of the columns that are used.
 */
#ifndef WORKLOADS_READERS_JOIN_H
#define WORKLOADS_READERS_JOIN_H

#include "workloads/readers/column_map.h"
#include "workloads/readers/reader.h"

struct joins; /* opaque; the content of reader->sides */

struct error joins_open(struct reader *reader, struct column_map *map) MUST_CHECK;

/* Set the fields of csv that are columns of tables; they are borrowed from `joins`.  *why: becomes the reason why the
 * row is no job, if one of the tables has no row for it and the map says so; else it stays. */
void joins_add(struct joins *joins, const struct column_map *map, struct csv *csv, const char **why);

#endif
