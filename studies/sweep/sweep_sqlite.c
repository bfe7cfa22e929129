/* studies/sweep/sweep_sqlite.c -- the results of a sweep as an SQLite database; see studies/sweep/sweep_merge.h. */
#include <math.h>
#include <string.h>

#include "reports/export/sqlite_file.h"
#include "studies/sweep/sweep_merge.h"

struct writer {
    struct sqlite_file *file;
    const struct sweep_results *results;
};

/* A name between double quotes, as SQL wants it. */
static void write_name(struct buffer *out, const char *name)
{
    buffer_char(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            buffer_char(out, '"');
        buffer_char(out, *name);
    }
    buffer_char(out, '"');
}

/* The columns of the factors must not have the names of the others; SQLite does not tell cases apart. */
static bool is_taken(const struct sweep_plan *plan, size_t factor)
{
    static const char *const taken[] = {"run",         "key",    "seed",  "state", "failure",
                                        "fingerprint", "metric", "value", NULL};
    const char *name = plan->factors[factor].name;
    for (size_t i = 0; taken[i] != NULL; i++)
        if (strcasecmp(taken[i], name) == 0)
            return true;
    for (size_t f = 0; f < factor; f++)
        if (strcasecmp(plan->factors[f].name, name) == 0)
            return true;
    return false;
}

static void write_factor_names(const struct sweep_plan *plan, const char *before, struct buffer *out)
{
    for (size_t f = 0; f < plan->factor_count; f++) {
        struct buffer name = {0};
        buffer_string(out, before);
        if (is_taken(plan, f))
            buffer_format(&name, "factor %zu: ", f + 1);
        buffer_string(&name, plan->factors[f].name);
        write_name(out, buffer_c_string(&name));
        buffer_release(&name);
    }
}

static struct error make_tables(struct writer *writer)
{
    const struct sweep_plan *plan = &writer->results->plan;
    struct buffer sql = {0};
    buffer_string(&sql, "CREATE TABLE factors (factor INTEGER PRIMARY KEY, name TEXT);"
                        "CREATE TABLE levels (factor INTEGER, level INTEGER, name TEXT, number REAL);"
                        "CREATE TABLE metrics (name TEXT PRIMARY KEY, unit TEXT, better TEXT, definition TEXT);"
                        "CREATE TABLE runs (run INTEGER PRIMARY KEY, key TEXT, seed INTEGER, state TEXT, failure TEXT, "
                        "fingerprint TEXT");
    write_factor_names(plan, ", ", &sql);
    buffer_string(&sql, "); CREATE TABLE results (run INTEGER, metric TEXT, cut TEXT, key TEXT, value REAL);"
                        "CREATE VIEW whole_runs AS SELECT runs.run AS run, seed");
    write_factor_names(plan, ", runs.", &sql);
    buffer_string(&sql, ", metric, value FROM runs JOIN results ON results.run = runs.run WHERE cut IS NULL;");
    struct error error = sqlite_file_run(writer->file, buffer_c_string(&sql));
    buffer_release(&sql);
    return error;
}

/* ---- rows ---- */

static bool bind_text(sqlite3_stmt *insert, int place, const char *text)
{
    return (text == NULL ? sqlite3_bind_null(insert, place)
                         : sqlite3_bind_text(insert, place, text, -1, SQLITE_STATIC)) == SQLITE_OK;
}

static bool bind_int(sqlite3_stmt *insert, int place, uint64_t value)
{
    return sqlite3_bind_int64(insert, place, (sqlite3_int64)value) == SQLITE_OK;
}

static bool bind_level(sqlite3_stmt *insert, int place, const struct sweep_level *level)
{
    return level->is_number ? sqlite3_bind_double(insert, place, level->number) == SQLITE_OK
                            : bind_text(insert, place, level->name);
}

static bool step(sqlite3_stmt *insert)
{
    return sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK;
}

static bool insert_factors(const struct sweep_results *results, sqlite3_stmt *insert)
{
    bool is_good = true;
    for (size_t f = 0; f < results->plan.factor_count && is_good; f++)
        is_good = bind_int(insert, 1, f + 1) && bind_text(insert, 2, results->plan.factors[f].name) && step(insert);
    return is_good;
}

static bool insert_levels(const struct sweep_results *results, sqlite3_stmt *insert)
{
    bool is_good = true;
    for (size_t f = 0; f < results->plan.factor_count; f++)
        for (size_t l = 0; l < results->plan.factors[f].level_count && is_good; l++) {
            const struct sweep_level *level = &results->plan.factors[f].levels[l];
            is_good = bind_int(insert, 1, f + 1) && bind_int(insert, 2, l + 1) && bind_text(insert, 3, level->name) &&
                      (level->is_number ? sqlite3_bind_double(insert, 4, level->number)
                                        : sqlite3_bind_null(insert, 4)) == SQLITE_OK &&
                      step(insert);
        }
    return is_good;
}

static bool insert_metrics(const struct sweep_results *results, sqlite3_stmt *insert)
{
    static const char *const better[] = {
        [BETTER_LOWER] = "lower", [BETTER_HIGHER] = "higher", [BETTER_NEITHER] = "neither"};
    bool is_good = true;
    (void)results;
    for (size_t m = 0; metrics_name_at(m) != NULL && is_good; m++) {
        const struct metric *metric = metric_find(metrics_name_at(m));
        is_good = bind_text(insert, 1, metric->name) && bind_text(insert, 2, metric->unit) &&
                  bind_text(insert, 3, better[metric->better]) && bind_text(insert, 4, metric->definition) &&
                  step(insert);
    }
    return is_good;
}

static bool insert_runs(const struct sweep_results *results, sqlite3_stmt *insert)
{
    const struct sweep_plan *plan = &results->plan;
    bool is_good = true;
    for (size_t r = 0; r < plan->run_count && is_good; r++) {
        const struct sweep_entry *entry = &results->books.entries[r];
        const uint32_t *levels = &plan->levels[plan->runs[r].combination * plan->factor_count];
        is_good = bind_int(insert, 1, r) && bind_text(insert, 2, plan->runs[r].key) &&
                  bind_int(insert, 3, plan->runs[r].seed) && bind_text(insert, 4, run_state_names[entry->state]) &&
                  bind_text(insert, 5, entry->failure) && bind_text(insert, 6, results->fingerprints[r]);
        for (size_t f = 0; f < plan->factor_count && is_good; f++)
            is_good = bind_level(insert, 7 + (int)f, &plan->factors[f].levels[levels[f]]);
        is_good = is_good && step(insert);
    }
    return is_good;
}

static bool insert_results(const struct sweep_results *results, sqlite3_stmt *insert)
{
    bool is_good = true;
    for (size_t r = 0; r < results->plan.run_count; r++)
        for (size_t c = 0; c < results->column_count && is_good; c++) {
            const double number = results->cells[r * results->column_count + c];
            const struct metric_selector *of = &results->columns[c].of;
            if (isnan(number))
                continue;
            is_good = bind_int(insert, 1, r) && bind_text(insert, 2, of->metric) && bind_text(insert, 3, of->cut) &&
                      bind_text(insert, 4, of->key) && sqlite3_bind_double(insert, 5, number) == SQLITE_OK &&
                      step(insert);
        }
    return is_good;
}

static struct error fill_table(struct writer *writer, const char *table, size_t columns,
                               bool (*insert_rows)(const struct sweep_results *, sqlite3_stmt *))
{
    struct buffer sql = {0};
    sqlite3_stmt *insert = NULL;
    buffer_format(&sql, "INSERT INTO %s VALUES (", table);
    for (size_t c = 0; c < columns; c++)
        buffer_string(&sql, c > 0 ? ", ?" : "?");
    buffer_char(&sql, ')');
    bool is_good =
        sqlite3_prepare_v2(sqlite_file_database(writer->file), buffer_c_string(&sql), -1, &insert, NULL) == SQLITE_OK &&
        insert_rows(writer->results, insert);
    struct error error = is_good ? ERROR_OK : sqlite_file_error(writer->file);
    sqlite3_finalize(insert);
    buffer_release(&sql);
    return error;
}

static struct error fill(struct writer *writer)
{
    enum { RUN_COLUMNS = 6 };
    TRY(sqlite_file_run(writer->file, "BEGIN"));
    TRY(make_tables(writer));
    TRY(fill_table(writer, "factors", 2, insert_factors));
    TRY(fill_table(writer, "levels", 4, insert_levels));
    TRY(fill_table(writer, "metrics", 4, insert_metrics));
    TRY(fill_table(writer, "runs", RUN_COLUMNS + writer->results->plan.factor_count, insert_runs));
    TRY(fill_table(writer, "results", 5, insert_results));
    return sqlite_file_run(writer->file, "CREATE INDEX results_by_run ON results (run, metric); COMMIT");
}

struct error sweep_merge_sqlite(const struct sweep_results *results, const char *path)
{
    struct writer writer = {.results = results};
    TRY(sqlite_file_open(&writer.file, path));
    struct error error = fill(&writer);
    if (!error_is(error))
        return sqlite_file_commit(&writer.file);
    sqlite_file_discard(&writer.file);
    return error;
}
