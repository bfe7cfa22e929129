/* workloads/readers/csv.h -- rows of comma-separated values by the names in their header (RFC 4180).
 *
 * Law: columns are found by name; extra ones are tolerated, a missing required one is an error; so is a row
 * whose number of fields is not the header's.  A quoted field may hold commas and doubled quotes, not a
 * line break.  Where there are no quotes, a separator within a text (`texts`) shifts the fields behind it: those before
 * the first such column are counted from the left, those behind the last from the right, and if a wanted column stands
 * between two of them the row is an error that says so.
 *
 *   struct csv csv;
 *   csv_init(&csv, columns, COLUMN_COUNT);
 *   TRY(csv_header(&csv, &line));                  the first line
 *   TRY(csv_row(&csv, &line));                     each other; then csv.fields[COLUMN]
 *   csv_release(&csv);
 */
#ifndef WORKLOADS_READERS_CSV_H
#define WORKLOADS_READERS_CSV_H

#include "base/buffer.h"
#include "workloads/readers/fields.h"

enum { CSV_WANTED_MAX = 48 };

struct csv {
    const struct column *columns;
    uint32_t column_count;
    struct field fields[CSV_WANTED_MAX]; /* of the last row, by column; borrowed from its line */
    bool is_there[CSV_WANTED_MAX];       /* the header has that column */
    uint8_t required[CSV_WANTED_MAX];    /* the required columns */
    uint32_t required_count;
    int16_t *wanted; /* by position in the file: the column, or -1 */
    size_t wanted_capacity;
    uint32_t position_count;
    char separator;  /* ',' after csv_init */
    bool has_quotes; /* true after csv_init; false: quotes are bytes as any others */
    /* Columns whose texts may hold the separator, where there are no quotes; NULL-terminated.  NULL: none. */
    const char *const *texts;
    uint32_t text_first, text_last; /* positions of the first and the last of them; text_first UINT32_MAX: none */
    struct buffer scratch;          /* values of fields with doubled quotes */
};

/* columns: at most CSV_WANTED_MAX; borrowed for the life of csv. */
void csv_init(struct csv *csv, const struct column *columns, uint32_t column_count);
struct error csv_header(struct csv *csv, const struct line *line) MUST_CHECK;

/* Required fields are not empty after a call without error. */
struct error csv_row(struct csv *csv, const struct line *line) MUST_CHECK;
void csv_release(struct csv *csv);

/* Append the names of the columns that are not wanted, with commas.  Returns their number.  line: the header. */
uint32_t csv_unwanted(const struct csv *csv, struct text line, struct buffer *names);

/* Does `line` look like a header with all required columns? */
bool csv_is_header(struct text line, char separator, const struct column *columns, uint32_t column_count);

#endif
