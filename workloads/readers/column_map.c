#include "workloads/readers/column_map.h"
#include "workloads/readers/name_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_file.h"
#include "workloads/readers/zone.h"

enum { MAP_BYTES_MAX = 1 << 20, WORDS_MAX = 1000 };

#define AMOUNT_SCALE_MAX INT64_C(1000000000000)

static const char *const unit_names[] = {"s", "ms", "us", "min", "h", "d", "date", "date_day_first", "date_month_first",
                                         NULL};
static const char *const negative_names[] = {"error", "unknown", NULL};
static const char *const several_names[] = {"refused", "first", "last", NULL}; /* enum map_several */
static const char *const missing_default[] = {"NaN", "nan", "None", "NULL", "null", "\\N", "NA", "Unknown", NULL};
static const struct map_source no_source = {
    .column = -1, .other = -1, .scale = AMOUNT_SCALE, .or_column = -1, .only_column = -1};

/* What is needed while a map is read. */
struct reading {
    struct column_map *map;
    struct arena *arena;
};

bool map_field_is_time(int field)
{
    return field == NATIVE_SUBMIT || field == NATIVE_DURATION ||
           (field != MAP_COUNT && native_texts[field].at.bytes != 0 && native_texts[field].form == TEXT_TIME);
}

bool map_field_is_amount(int field)
{
    return field == MAP_COUNT || (native_columns[field].kind == FIELD_NUMBER && !map_field_is_time(field));
}

static const char *field_name(int field)
{
    return field == MAP_COUNT ? "count" : native_columns[field].name;
}

static const char *kept(const struct reading *reading, const char *text)
{
    return arena_copy(reading->arena, text_of(text));
}

/* The number of the table's column of that name; -1: there can be none. */
static int16_t table_column(const struct reading *reading, const struct json_value *at, struct map_table *table,
                            const char *name)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int16_t)i;
    if (name[0] == '\0')
        json_fail(at, "a column needs a name");
    else if (table->column_count == TABLE_COLUMNS_MAX)
        json_fail(at, "a map can use at most %d columns of a table", TABLE_COLUMNS_MAX);
    if (name[0] == '\0' || table->column_count == TABLE_COLUMNS_MAX)
        return -1;
    table->columns[table->column_count] = (struct column){kept(reading, name), true, FIELD_TEXT};
    return (int16_t)table->column_count++;
}

/* The table that "job.user" names; NULL: it is a column of the trace. */
static struct map_table *table_named(struct column_map *map, const char *name)
{
    const char *dot = strchr(name, '.');
    const struct text first = {name, dot != NULL ? (size_t)(dot - name) : 0};
    for (uint32_t i = 0; i < map->table_count && dot != NULL; i++)
        if (text_is(first, map->tables[i].name))
            return &map->tables[i];
    return NULL;
}

/* The number of the column of that name; -1: there can be none.  at: for errors. */
static int16_t column_named(const struct reading *reading, const struct json_value *at, const char *name)
{
    struct column_map *map = reading->map;
    for (uint32_t i = 0; i < map->column_count; i++)
        if (strcmp(map->columns[i].name, name) == 0)
            return (int16_t)i;
    if (name[0] == '\0')
        json_fail(at, "a column needs a name");
    else if (map->column_count == CSV_WANTED_MAX)
        json_fail(at, "a map can use at most %d columns", CSV_WANTED_MAX);
    if (name[0] == '\0' || map->column_count == CSV_WANTED_MAX)
        return -1;
    struct map_table *table = table_named(map, name);
    if (table != NULL) {
        map->table_of[map->column_count] = (int8_t)(table - map->tables + 1);
        map->column_in[map->column_count] = table_column(reading, at, table, strchr(name, '.') + 1);
    }
    map->columns[map->column_count] = (struct column){kept(reading, name), false, FIELD_TEXT};
    return (int16_t)map->column_count++;
}

/* As above, of a value; -1: it is absent. */
static int16_t column_of(const struct reading *reading, const struct json_value *value)
{
    return value->node != NULL ? column_named(reading, value, json_value_string(value)) : -1;
}

/* A list of words, NULL-terminated; NULL: the value is absent. */
static const char **words_of(const struct reading *reading, const struct json_value *value)
{
    if (value->node == NULL)
        return NULL;
    size_t count = json_array_count(value);
    const char **words = arena_alloc(reading->arena, (count + 1) * sizeof *words);
    for (size_t i = 0; i < count; i++) {
        struct json_value word = json_array_item(value, i);
        words[i] = kept(reading, json_value_string(&word));
    }
    words[count] = NULL;
    return words;
}

static int by_order(const void *a, const void *b)
{
    return name_rules_order(((const struct map_word *)a)->word, ((const struct map_word *)b)->word);
}

static void meanings_read(const struct reading *reading, struct json_object *object, struct map_source *source)
{
    struct json_object words;
    const char *key;
    if (!json_object_at(&words, object, "words"))
        return;
    while (json_object_key(&words, source->word_count) != NULL && source->word_count < WORDS_MAX)
        source->word_count++;
    source->words = arena_alloc(reading->arena, (source->word_count + 1) * sizeof *source->words);
    uint32_t count = 0;
    for (; count < source->word_count && (key = json_object_key(&words, count)) != NULL; count++)
        source->words[count] = (struct map_word){kept(reading, key), kept(reading, json_get_string(&words, key, ""))};
    source->word_count = count; /* no key is told after an error */
    json_object_close(&words);
    if (source->word_count > 0)
        qsort(source->words, source->word_count, sizeof *source->words, by_order);
}

/* "only": {"job_type": ["strict"]} */
static void only_read(const struct reading *reading, struct json_object *object, struct map_source *source)
{
    struct json_object only;
    if (!json_object_at(&only, object, "only"))
        return;
    const char *key = json_object_key(&only, 0);
    if (key == NULL || json_object_key(&only, 1) != NULL) {
        json_fail(&only.value, "'only' must name one column and its words");
        return;
    }
    struct json_value words = json_member(&only, key);
    source->only_column = column_named(reading, &words, key);
    source->only = words_of(reading, &words);
    json_object_close(&only);
}

static void combination_read(const struct reading *reading, struct json_object *object, struct map_source *source)
{
    static const char *const keys[] = {[MAP_SINCE] = "since", [MAP_AFTER] = "after", [MAP_TIMES] = "times"};
    for (int c = MAP_SINCE; c <= MAP_TIMES; c++) {
        struct json_value value = json_member(object, keys[c]);
        if (value.node == NULL)
            continue;
        if (source->combination != MAP_ALONE)
            json_fail(&value, "'since', 'after' and 'times' exclude each other");
        source->combination = (uint8_t)c;
        source->other = column_of(reading, &value);
    }
}

static void source_check(const struct json_value *value, int field, const struct map_source *source)
{
    const bool is_time = map_field_is_time(field);
    if (source->column < 0 && source->value == NULL)
        json_fail(value, "a field needs a 'column' or a 'value'");
    else if (source->combination != MAP_ALONE && source->column < 0)
        json_fail(value, "'since', 'after' and 'times' combine a column with another: 'column' is missing");
    else if (source->or_column >= 0 && source->column < 0)
        json_fail(value, "'or' is used where a 'column' has no value: 'column' is missing");
    else if (is_time && source->combination == MAP_TIMES)
        json_fail(value, "'times' is for amounts, '%s' is a time", field_name(field));
    else if (!is_time && (source->combination == MAP_SINCE || source->combination == MAP_AFTER))
        json_fail(value, "'since' and 'after' are for times, '%s' is none", field_name(field));
    else if (source->unit >= UNIT_DATE && source->combination == MAP_AFTER)
        json_fail(value, "a date is not added to another time");
}

static struct map_source source_read(const struct reading *reading, const struct json_value *value, int field)
{
    struct map_source source = no_source;
    if (value->node != NULL && json_is_string(value->node)) {
        source.column = column_of(reading, value);
        return source;
    }
    struct json_object object;
    json_object_open(&object, value);
    struct json_value column = json_member(&object, "column");
    source.column = column_of(reading, &column);
    if (json_has(&object, "value"))
        source.value = kept(reading, json_get_string(&object, "value", ""));
    struct json_value or = json_member(&object, "or");
    source.or_column = column_of(reading, & or);
    combination_read(reading, &object, &source);
    if (map_field_is_time(field))
        source.has_no_negative = json_get_choice(&object, "negative", negative_names, 0) == 1;
    if (map_field_is_time(field))
        source.unit = (uint8_t)json_get_choice(&object, "unit", unit_names, UNIT_S);
    if (map_field_is_amount(field))
        source.scale = json_get_scaled(&object, "scale", AMOUNT_SCALE, 1, AMOUNT_SCALE_MAX, AMOUNT_SCALE);
    meanings_read(reading, &object, &source);
    only_read(reading, &object, &source);
    const char *missing = json_get_string(&object, "missing", "");
    source.if_missing = missing[0] != '\0' ? kept(reading, missing) : NULL;
    source_check(value, field, &source);
    json_object_close(&object);
    return source;
}

/* A file that lacks the column is none of the map's. */
static void column_require(struct column_map *map, int16_t column)
{
    if (column >= 0 && map->table_of[column] == 0)
        map->columns[column].is_required = true;
}

static void fields_read(const struct reading *reading, struct json_object *object)
{
    static const int needed[] = {NATIVE_SUBMIT, NATIVE_DURATION, NATIVE_GPUS};
    struct json_object fields;
    json_need(object, "fields");
    if (!json_object_at(&fields, object, "fields"))
        return;
    for (int field = 0; field < MAP_FIELD_COUNT; field++) {
        struct json_value source = json_member(&fields, field_name(field));
        reading->map->sources[field] = source.node != NULL ? source_read(reading, &source, field) : no_source;
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        json_need(&fields, field_name(needed[i]));
        const struct map_source *source = &reading->map->sources[needed[i]];
        column_require(reading->map, source->column);
        column_require(reading->map, source->other);
    }
    json_object_close(&fields);
}

/* table: to which the rows belong; NULL: the trace. */
static struct map_skip *skips_read(const struct reading *reading, struct json_object *object, struct map_table *table,
                                   uint32_t *skip_count)
{
    struct json_value value = json_member(object, "skip");
    size_t count = value.node != NULL ? json_array_count(&value) : 0;
    struct map_skip *skips = arena_alloc(reading->arena, (count + 1) * sizeof *skips);
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&value, i);
        struct json_object skip;
        json_object_open(&skip, &item);
        json_need(&skip, "column");
        json_need(&skip, "is");
        json_need(&skip, "why");
        struct json_value column = json_member(&skip, "column"), is = json_member(&skip, "is");
        skips[i].column = table == NULL ? column_of(reading, &column)
                                        : table_column(reading, &column, table, json_value_string(&column));
        skips[i].words = words_of(reading, &is);
        skips[i].why = kept(reading, json_get_string(&skip, "why", ""));
        json_object_close(&skip);
    }
    *skip_count = (uint32_t)count;
    return skips;
}

/* "columns": the names of a file without a header, as its first line would be. */
static const char *names_read(const struct reading *reading, struct json_object *object, char separator)
{
    struct json_value value = json_member(object, "columns");
    struct buffer names = {0};
    if (value.node == NULL)
        return NULL;
    for (size_t i = 0; i < json_array_count(&value); i++) {
        struct json_value name = json_array_item(&value, i);
        if (i > 0)
            buffer_char(&names, separator);
        buffer_string(&names, json_value_string(&name));
    }
    const char *joined = arena_copy(reading->arena, (struct text){names.bytes, names.length});
    buffer_release(&names);
    return joined;
}

static char separator_read(struct json_object *object, bool *has_quotes)
{
    const char *separator = json_get_string(object, "separator", ",");
    if (strlen(separator) != 1 || strchr("\"\r\n", separator[0]) != NULL) {
        struct json_value value = json_member(object, "separator");
        json_fail(&value, "'separator' must be one character, such as \",\", \"|\" or \"\\t\"");
    }
    *has_quotes = json_get_bool(object, "quotes", separator[0] == ',');
    return separator[0];
}

/* ---- Tables ---- */

/* "key": {"job_name": "job_name"}: the table's column, and the map's. */
static void keys_read(const struct reading *reading, struct json_object *object, struct map_table *table,
                      const char *name, bool is_optional)
{
    struct json_object keys;
    if (!json_object_at(&keys, object, name))
        return;
    const char *key;
    for (size_t i = 0; (key = json_object_key(&keys, i)) != NULL; i++) {
        struct json_value of = json_member(&keys, key);
        if (table->key_count == TABLE_KEYS_MAX) {
            json_fail(&keys.value, "a key has at most %d columns", TABLE_KEYS_MAX);
            break;
        }
        struct map_key *at = &table->keys[table->key_count++];
        *at = (struct map_key){table_column(reading, &of, table, key), column_of(reading, &of), is_optional};
        if (at->column >= 0 && is_optional)
            table->columns[at->column].is_required = false;
        column_require(reading->map, at->of);
        if (at->of >= 0 && reading->map->table_of[at->of] > (int)(table - reading->map->tables))
            json_fail(&of, "a key names columns of the trace, or of tables that stand before its own");
    }
    json_object_close(&keys);
}

static void table_fields_read(const struct reading *reading, struct json_object *object, struct map_table *table)
{
    struct json_object fields;
    if (!json_object_at(&fields, object, "fields"))
        return;
    bool *has = arena_alloc(reading->arena, MAP_FIELD_COUNT);
    table->has_source = has;
    table->sources = arena_alloc(reading->arena, MAP_FIELD_COUNT * sizeof *table->sources);
    for (int field = 0; field < MAP_FIELD_COUNT; field++) {
        struct json_value source = json_member(&fields, field_name(field));
        has[field] = source.node != NULL;
        if (has[field])
            table->sources[field] = source_read(reading, &source, field);
    }
    json_object_close(&fields);
}

static void table_read(const struct reading *reading, const struct json_value *value, struct map_table *table)
{
    struct json_object object;
    json_object_open(&object, value);
    table->summary = kept(reading, json_get_string(&object, "summary", ""));
    table->separator = separator_read(&object, &table->has_quotes);
    table->names = names_read(reading, &object, table->separator);
    json_need(&object, "key");
    keys_read(reading, &object, table, "key", false);
    if (table->key_count == 0)
        json_fail(value, "a table needs a 'key' by which its rows are found");
    keys_read(reading, &object, table, "key_if_there", true);
    table->several = (uint8_t)json_get_choice(&object, "several", several_names, SEVERAL_REFUSED);
    struct json_value least = json_member(&object, "least");
    if (least.node != NULL) {
        table->least_column = table_column(reading, &least, table, json_value_string(&least));
        if (json_has(&object, "several"))
            json_fail(&least, "'least' and 'several' exclude each other");
        table->several = SEVERAL_LEAST;
    }
    const char *missing = json_get_string(&object, "missing", "");
    table->if_missing = missing[0] != '\0' ? kept(reading, missing) : NULL;
    table->skips = skips_read(reading, &object, table, &table->skip_count);
    table_fields_read(reading, &object, table);
    json_object_close(&object);
}

/* All names come first: fields and keys name columns of tables. */
static void tables_read(const struct reading *reading, struct json_object *object)
{
    struct column_map *map = reading->map;
    struct json_object tables;
    const char *name;
    if (!json_object_at(&tables, object, "tables"))
        return;
    for (; (name = json_object_key(&tables, map->table_count)) != NULL; map->table_count++) {
        if (map->table_count == MAP_TABLES_MAX || name[0] == '\0' || strchr(name, '.') != NULL) {
            json_fail(&tables.value, "a map has at most %d tables, and their names hold no dot", MAP_TABLES_MAX);
            return;
        }
        map->tables[map->table_count].name = kept(reading, name);
    }
    for (uint32_t i = 0; i < map->table_count; i++) {
        struct json_value table = json_member(&tables, map->tables[i].name);
        table_read(reading, &table, &map->tables[i]);
    }
    json_object_close(&tables);
}

static void recognize_read(const struct reading *reading, struct json_object *object)
{
    struct json_value value = json_member(object, "recognize");
    size_t count = value.node != NULL ? json_array_count(&value) : 0;
    if (count > CSV_WANTED_MAX)
        json_fail(&value, "at most %d columns can tell a file from others", CSV_WANTED_MAX);
    for (size_t i = 0; i < count && i < CSV_WANTED_MAX; i++) {
        struct json_value name = json_array_item(&value, i);
        reading->map->recognize[i] = kept(reading, json_value_string(&name));
    }
}

void column_map_read(struct column_map *map, const struct json_value *value, struct arena *arena)
{
    const struct reading reading = {map, arena};
    struct json_object object;
    *map = (struct column_map){0};
    json_object_open(&object, value);
    map->summary = kept(&reading, json_get_string(&object, "summary", ""));
    map->separator = separator_read(&object, &map->has_quotes);
    map->names = names_read(&reading, &object, map->separator);
    tables_read(&reading, &object);
    recognize_read(&reading, &object);
    map->zone = zone_read(&object, "tz_offset", arena);
    struct json_value missing = json_member(&object, "missing");
    map->missing = missing.node != NULL ? words_of(&reading, &missing) : missing_default;
    fields_read(&reading, &object);
    map->skips = skips_read(&reading, &object, NULL, &map->skip_count);
    json_object_close(&object);
}

/* Read the document, and free it. */
static struct error map_read(struct column_map *map, struct json_doc *doc, struct arena *arena)
{
    struct error sticky = ERROR_OK;
    struct json_value root = json_doc_root(doc, &sticky);
    column_map_read(map, &root, arena);
    json_doc_free(doc);
    return sticky;
}

struct error column_map_named(struct column_map *map, const char *name, struct arena *arena)
{
    struct json_doc *doc;
    for (const struct embedded_text *text = column_map_texts; text->name != NULL; text++)
        if (strcmp(text->name, name) == 0) {
            TRY(json_doc_parse(&doc, name, (struct text){text->text, text->length}, ERROR_CONFIG));
            return map_read(map, doc, arena);
        }
    return error_new(ERROR_INTERNAL, "there is no map of columns '%s'", name);
}

struct error column_map_load(struct column_map *map, const char *path, struct arena *arena)
{
    struct json_doc *doc;
    TRY(json_file_read(&doc, path, MAP_BYTES_MAX, ERROR_CONFIG, NULL));
    return map_read(map, doc, arena);
}

bool column_map_knows(const struct column_map *map, struct text first_line)
{
    struct text rest = first_line, piece;
    uint32_t wanted = 0, seen = 0;
    while (map->recognize[wanted] != NULL)
        wanted++;
    while (text_cut(&rest, map->separator, &piece)) {
        piece = text_trim(piece);
        if (piece.length >= 2 && piece.at[0] == '"')
            piece = (struct text){piece.at + 1, piece.length - 2};
        for (uint32_t i = 0; i < wanted; i++)
            seen += text_is(piece, map->recognize[i]);
    }
    return wanted > 0 && seen == wanted;
}
