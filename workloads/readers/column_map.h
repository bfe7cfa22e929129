/* workloads/readers/column_map.h -- what the columns of a table mean: a JSON file by which a CSV of any publisher is
 * read.
 *
 *   { "summary": "CSV of SenseTime's Helios clusters",
 *     "recognize": ["vc", "gpu_num"],
 *     "tz_offset": "8h",
 *     "fields": {
 *       "submit_s":   {"column": "submit_time", "unit": "date"},
 *       "duration_s": {"column": "end_time", "since": "start_time", "unit": "date", "missing": "it never started"},
 *       "gpus":       "gpu_num",
 *       "outcome":    {"column": "state", "words": {"COMPLETED": "completed", "CANCELLED": "cancelled",
 *                                                   "*": "failed"}}}}
 *
 * A field is one of the native names (workloads/readers/native_row.h), or `count`.  It gets the value of a column; or,
 * of two columns, the difference (`since`), the sum (`after`) or the product (`times`); where there is none, a constant
 * (`value`).
 * docs/traces.md explains each key.
 *
 * A map may have tables: further files of the trace (workloads/readers/side_files.h), whose rows are found by values of
 * the trace's row.  "job.user" is the column "user" of the table "job".  A table has fields of its own, which are in
 * place of the map's if the file is given; a table that the map's own fields use must be given.
 *
 *   "tables": {"job": {"key": {"job_name": "job_name"}, "fields": {"user": "job.user"}}}
 *
 * Laws
 *  - A value becomes what the native column would hold, and is checked as that: one rule for both.
 *  - Errors name the file's own column.
 *  - With `count` the job is that many equal members, and gpus, gpu_fraction, cpus and memory_gb are of each; without
 *    it they are of the whole job.
 *
 * It does not: read what is no table.
 */
#ifndef WORKLOADS_READERS_COLUMN_MAP_H
#define WORKLOADS_READERS_COLUMN_MAP_H

#include "base/embedded.h"
#include "base/json.h"
#include "base/mem.h"
#include "workloads/readers/csv.h"
#include "workloads/readers/native_row.h"
#include "workloads/readers/side_files.h"
#include "workloads/readers/zone.h"

/* Fields of a map: the native ones, then these. */
enum { MAP_COUNT = NATIVE_FIELD_COUNT, MAP_FIELD_COUNT };
bool map_field_is_time(int field);
bool map_field_is_amount(int field); /* it is scaled and multiplied */

#define AMOUNT_SCALE INT64_C(1000000) /* amounts are computed in millionths */

enum map_combination { MAP_ALONE, MAP_SINCE, MAP_AFTER, MAP_TIMES };

enum map_unit {
    UNIT_S,
    UNIT_MS,
    UNIT_US,
    UNIT_MIN,
    UNIT_H,
    UNIT_D,
    UNIT_DATE,
    UNIT_DAY_FIRST,
    UNIT_MONTH_FIRST,
    UNIT_COUNT
};

struct map_word {
    const char *word; /* "*": any; a '*' at its end: any that begins so */
    const char *means;
};

/* How a field is made. */
struct map_source {
    int16_t column, other; /* among the map's columns; -1: none */
    uint8_t combination;   /* enum map_combination */
    uint8_t unit;          /* enum map_unit, of a field that is a time */
    const char *value;     /* a constant, where the column has no value; NULL: none */
    int64_t scale;         /* factor of an amount, in 10^-6 */
    struct map_word *words;
    uint32_t word_count;
    const char *if_missing; /* a row without a value is no job, for this reason; NULL: as the native field */
    int16_t or_column;      /* used where the first has no value; -1: none */
    bool has_no_negative;   /* a negative difference is no value; false: it is an error */
    int16_t only_column;    /* the field is made only if this column has one of `only`; -1: always */
    const char **only;      /* NULL-terminated */
};

/* Rows that are no jobs; of a table, rows that are not used. */
struct map_skip {
    int16_t column;
    const char **words; /* NULL-terminated; "": the column is empty */
    const char *why;
};

enum { MAP_TABLES_MAX = SIDE_FILES_MAX, TABLE_KEYS_MAX = 4, TABLE_COLUMNS_MAX = 16 };

/* Which of several rows with one key counts. */
enum map_several { SEVERAL_REFUSED, SEVERAL_FIRST, SEVERAL_LAST, SEVERAL_LEAST };

/* A part of a key: a column of the table, and the column of the map that has the same value. */
struct map_key {
    int16_t column, of;
    bool is_optional; /* left out where the table's header has no such column */
};

struct map_table {
    const char *name;
    const char *summary; /* what the file is, for messages */
    char separator;
    bool has_quotes;
    const char *names;                        /* as of the map */
    struct column columns[TABLE_COLUMNS_MAX]; /* the columns of the table that the map uses */
    uint32_t column_count;
    struct map_key keys[TABLE_KEYS_MAX];
    uint32_t key_count;
    uint8_t several;      /* enum map_several */
    int16_t least_column; /* SEVERAL_LEAST: the row with the least number there counts */
    struct map_skip *skips;
    uint32_t skip_count;
    const char
        *if_missing; /* a row of the trace without a row here is no job, for this reason; NULL: it has no values */
    struct map_source *sources; /* MAP_FIELD_COUNT of them, in place of the map's; NULL: none */
    const bool *has_source;
};

struct column_map {
    const char *summary;
    char separator;
    bool has_quotes;            /* fields may be quoted (RFC 4180) */
    const char *names;          /* the columns, joined by the separator, of a file without a header; NULL: it has one */
    const char *const *missing; /* words that mean that there is no value; NULL-terminated */
    struct zone zone;           /* of dates without one */
    struct column columns[CSV_WANTED_MAX]; /* those of the file that are used */
    uint32_t column_count;
    int8_t table_of[CSV_WANTED_MAX];           /* of a column: 0: of the trace; else the number of its table + 1 */
    int16_t column_in[CSV_WANTED_MAX];         /* its number there */
    const char *recognize[CSV_WANTED_MAX + 1]; /* columns that tell such a file from others; NULL-terminated */
    struct map_source sources[MAP_FIELD_COUNT];
    struct map_skip *skips;
    uint32_t skip_count;
    struct map_table tables[MAP_TABLES_MAX];
    uint32_t table_count;
};

/* The maps of workloads/maps, built into the program. */
extern const struct embedded_text column_map_texts[]; /* sorted by name; ends with a NULL name */

/* Read a map; what it points to lives in `arena`.  Fails through the sticky error of the value. */
void column_map_read(struct column_map *map, const struct json_value *value, struct arena *arena);

/* Read a map of the project, by name, or that of a file: ERROR_CONFIG with its line. */
struct error column_map_named(struct column_map *map, const char *name, struct arena *arena) MUST_CHECK;
struct error column_map_load(struct column_map *map, const char *path, struct arena *arena) MUST_CHECK;

/* Does the first line have all columns by which files of the map are recognized?  False if it names none. */
bool column_map_knows(const struct column_map *map, struct text first_line);

#endif
