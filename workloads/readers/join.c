#include "workloads/readers/join.h"

#include <string.h>

enum { KEY_SEPARATOR = '\n' }; /* which no value holds */

/* One table. */
struct join {
    bool is_given;
    bool has_key[TABLE_KEYS_MAX]; /* of optional parts: the file has that column */
    struct names *keys;
    char **rows;    /* by key: the values that are used, in the order of the map's columns, each with its NUL */
    int64_t *least; /* by key, if the least row counts: its number */
    size_t row_capacity, least_capacity;
    struct arena texts;
};

struct joins {
    struct join tables[MAP_TABLES_MAX];
    uint32_t count;
    struct buffer key, values;
};

static void joins_free(void *content)
{
    struct joins *joins = content;
    for (uint32_t t = 0; t < joins->count; t++) {
        names_free(joins->tables[t].keys);
        mem_free(joins->tables[t].rows);
        mem_free(joins->tables[t].least);
        arena_release(&joins->tables[t].texts);
    }
    buffer_release(&joins->key);
    buffer_release(&joins->values);
    mem_free(joins);
}

/* ---- Reading a table ---- */

struct table_reading {
    struct reader *reader;
    const struct column_map *map;
    uint32_t number; /* of the table */
    struct joins *joins;
    struct csv csv;
};

static const struct map_table *table_of(const struct table_reading *reading)
{
    return &reading->map->tables[reading->number];
}

static struct text row_key(const struct table_reading *reading)
{
    const struct map_table *table = table_of(reading);
    struct buffer *key = &reading->joins->key;
    key->length = 0;
    for (uint32_t k = 0; k < table->key_count; k++) {
        if (!reading->joins->tables[reading->number].has_key[k])
            continue;
        const struct text value = reading->csv.fields[table->keys[k].column].value;
        buffer_bytes(key, value.at, value.length);
        buffer_char(key, KEY_SEPARATOR);
    }
    return (struct text){key->bytes, key->length};
}

/* The values that are used, each with its NUL. */
static struct text row_values(const struct table_reading *reading)
{
    struct buffer *values = &reading->joins->values;
    values->length = 0;
    for (uint32_t c = 0; c < reading->map->column_count; c++) {
        if (reading->map->table_of[c] != (int)reading->number + 1)
            continue;
        const struct text value = reading->csv.fields[reading->map->column_in[c]].value;
        buffer_bytes(values, value.at, value.length);
        buffer_char(values, '\0');
    }
    return (struct text){values->bytes, values->length};
}

static bool is_one_of(struct text text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (text_is(text, *words))
            return true;
    return false;
}

static bool is_left_out(const struct table_reading *reading)
{
    const struct map_table *table = table_of(reading);
    for (uint32_t i = 0; i < table->skip_count; i++)
        if (is_one_of(reading->csv.fields[table->skips[i].column].value, table->skips[i].words))
            return true;
    const struct field *least = &reading->csv.fields[table->least_column];
    return table->several == SEVERAL_LEAST && (!field_is_set(least) || is_one_of(least->value, reading->map->missing));
}

static void row_put(struct join *join, uint32_t id, struct text values)
{
    const size_t length = values.length != 0 ? values.length : 1;
    MEM_GROW(join->rows, join->row_capacity, (size_t)id + 1);
    join->rows[id] = arena_alloc(&join->texts, length);
    if (values.length != 0)
        memcpy(join->rows[id], values.at, values.length);
}

/* Does this row count, of those with its key?  number: in the column of which the least counts. */
static struct error row_counts(const struct table_reading *reading, const struct line *line, uint32_t id, bool is_new,
                               struct text values, int64_t number, bool *counts)
{
    struct join *join = &reading->joins->tables[reading->number];
    const struct map_table *table = table_of(reading);
    *counts = is_new || table->several == SEVERAL_LAST || (table->several == SEVERAL_LEAST && number < join->least[id]);
    if (*counts || table->several != SEVERAL_REFUSED || values.length == 0 ||
        memcmp(join->rows[id], values.at, values.length) == 0)
        return ERROR_OK;
    return input_error(line->input, line->text, reading->csv.fields[table->keys[0].column].place,
                       "another row of the table '%s' has this key, and other values", table->name);
}

static struct error row_read(struct table_reading *reading, const struct line *line, struct side_file *file)
{
    struct join *join = &reading->joins->tables[reading->number];
    const struct map_table *table = table_of(reading);
    int64_t number = 0;
    bool counts;
    TRY(csv_row(&reading->csv, line));
    file->row_count++;
    if (is_left_out(reading)) {
        file->left_out_count++;
        return ERROR_OK;
    }
    const struct field *least = &reading->csv.fields[table->least_column];
    if (table->several == SEVERAL_LEAST && !text_to_scaled(least->value, AMOUNT_SCALE, &number))
        return field_error(line, least, "a number");
    const uint32_t known = names_count(join->keys), id = names_add(join->keys, row_key(reading));
    const struct text values = row_values(reading);
    TRY(row_counts(reading, line, id, id == known, values, number, &counts));
    if (!counts)
        return ERROR_OK;
    row_put(join, id, values);
    if (table->several == SEVERAL_LEAST) {
        MEM_GROW(join->least, join->least_capacity, (size_t)id + 1);
        join->least[id] = number;
    }
    return ERROR_OK;
}

/* Find the columns; *has: the line was a header. */
static struct error header_read(struct table_reading *reading, const struct line *line, bool *is_header)
{
    const struct map_table *table = table_of(reading);
    csv_init(&reading->csv, table->columns, table->column_count);
    reading->csv.separator = table->separator;
    reading->csv.has_quotes = table->has_quotes;
    *is_header = table->names == NULL;
    TRY(csv_header(&reading->csv, &(struct line){line->input, *is_header ? line->text : text_of(table->names)}));
    reading->csv.required_count = 0;
    for (uint32_t k = 0; k < table->key_count; k++)
        reading->joins->tables[reading->number].has_key[k] = reading->csv.is_there[table->keys[k].column];
    return ERROR_OK;
}

static struct error rows_read(struct table_reading *reading, struct input *input, struct side_file *file)
{
    struct line line = {.input = input};
    bool has, has_columns = false;
    while (true) {
        bool is_header = false;
        TRY(input_line(input, &line.text, &has));
        if (!has)
            return ERROR_OK;
        if (text_trim(line.text).length == 0)
            continue;
        if (!has_columns)
            TRY(header_read(reading, &line, &is_header));
        has_columns = true;
        struct error error = is_header ? ERROR_OK : row_read(reading, &line, file);
        if (error_is(error) && !reader_forgives(reading->reader, &error))
            return error;
    }
}

static struct error table_load(struct reader *reader, const struct column_map *map, uint32_t number,
                               struct joins *joins, struct side_file *file)
{
    struct table_reading reading = {reader, map, number, joins, {0}};
    struct input *input;
    TRY(side_file_open(file, &input));
    joins->tables[number].keys = names_new();
    joins->tables[number].is_given = true;
    struct error error = rows_read(&reading, input, file);
    csv_release(&reading.csv);
    if (!error_is(error))
        return side_file_close(file, input);
    input_close(input);
    return error;
}

/* ---- Which fields hold ---- */

static struct error column_check(const struct reader *reader, const struct column_map *map,
                                 struct side_file *const *files, int16_t column)
{
    if (column < 0 || map->table_of[column] == 0 || files[map->table_of[column] - 1] != NULL)
        return ERROR_OK;
    const struct map_table *table = &map->tables[map->table_of[column] - 1];
    return side_files_missing(reader->format->name, table->name, table->summary);
}

/* Put the fields of the tables that are given in place of the map's, and test that all tables which are used are
 * given. */
static struct error fields_choose(const struct reader *reader, struct column_map *map, struct side_file *const *files)
{
    for (uint32_t t = 0; t < map->table_count; t++) {
        const struct map_table *table = &map->tables[t];
        for (int f = 0; f < MAP_FIELD_COUNT && files[t] != NULL && table->sources != NULL; f++)
            if (table->has_source[f])
                map->sources[f] = table->sources[f];
        for (uint32_t k = 0; k < table->key_count && files[t] != NULL; k++)
            TRY(column_check(reader, map, files, table->keys[k].of));
    }
    for (int f = 0; f < MAP_FIELD_COUNT; f++) {
        const struct map_source *source = &map->sources[f];
        TRY(column_check(reader, map, files, source->column));
        TRY(column_check(reader, map, files, source->other));
        TRY(column_check(reader, map, files, source->or_column));
        TRY(column_check(reader, map, files, source->only_column));
    }
    for (uint32_t i = 0; i < map->skip_count; i++)
        TRY(column_check(reader, map, files, map->skips[i].column));
    return ERROR_OK;
}

struct error joins_open(struct reader *reader, struct column_map *map)
{
    struct side_file *files[MAP_TABLES_MAX] = {NULL};
    struct side_files *sides = reader->sides;
    bool has_any = false;
    for (uint32_t t = 0; t < map->table_count; t++) {
        files[t] = side_files_ask(sides, map->tables[t].name);
        has_any |= files[t] != NULL;
    }
    TRY(fields_choose(reader, map, files));
    if (!has_any || sides->content != NULL)
        return ERROR_OK;
    struct joins *joins = mem_zalloc(1, sizeof *joins);
    sides->content = joins;
    sides->on_release = joins_free;
    joins->count = map->table_count;
    for (uint32_t t = 0; t < map->table_count; t++)
        if (files[t] != NULL)
            TRY(table_load(reader, map, t, joins, files[t]));
    return ERROR_OK;
}

/* ---- Rows of the trace ---- */

/* The values of the table's row for that of the trace; NULL: it has none. */
static const char *row_find(struct joins *joins, const struct map_table *table, const struct join *join,
                            const struct csv *csv)
{
    joins->key.length = 0;
    for (uint32_t k = 0; k < table->key_count; k++) {
        if (!join->has_key[k])
            continue;
        const struct text value = csv->fields[table->keys[k].of].value;
        buffer_bytes(&joins->key, value.at, value.length);
        buffer_char(&joins->key, KEY_SEPARATOR);
    }
    const uint32_t id = names_find(join->keys, (struct text){joins->key.bytes, joins->key.length});
    return id != NAMES_NONE ? join->rows[id] : NULL;
}

void joins_add(struct joins *joins, const struct column_map *map, struct csv *csv, const char **why)
{
    for (uint32_t t = 0; t < joins->count; t++) {
        const struct map_table *table = &map->tables[t];
        if (!joins->tables[t].is_given)
            continue;
        const char *value = row_find(joins, table, &joins->tables[t], csv);
        if (value == NULL && table->if_missing != NULL && *why == NULL)
            *why = table->if_missing;
        for (uint32_t c = 0; c < map->column_count; c++) {
            if (map->table_of[c] != (int)t + 1)
                continue;
            csv->fields[c].value = text_of(value);
            csv->fields[c].place = csv->fields[table->keys[0].of].place;
            if (value != NULL)
                value += csv->fields[c].value.length + 1;
        }
    }
}
