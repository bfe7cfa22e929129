/* studies/sweep/sweep_sqlite.c -- the results of a sweep as an SQLite database; see studies/sweep/sweep_merge.h. */
#include <math.h>
#include <string.h>

#include "reports/export/sqlite_file.h"
#include "studies/sweep/sweep_merge.h"

enum { RUN_COLUMNS = 6 }; /* without the factors */

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

static struct cell text_cell(const char *text)
{
    return text != NULL ? cell_text(text_of(text)) : (struct cell){0};
}

static struct error add_factors(const struct sweep_results *results, struct sqlite_table *table)
{
    for (size_t f = 0; f < results->plan.factor_count; f++)
        TRY(sqlite_table_add(table,
                             (struct cell[]){cell_int((int64_t)f + 1), text_cell(results->plan.factors[f].name)}));
    return ERROR_OK;
}

static struct error add_levels(const struct sweep_results *results, struct sqlite_table *table)
{
    for (size_t f = 0; f < results->plan.factor_count; f++)
        for (size_t l = 0; l < results->plan.factors[f].level_count; l++) {
            const struct sweep_level *level = &results->plan.factors[f].levels[l];
            TRY(sqlite_table_add(
                table, (struct cell[]){cell_int((int64_t)f + 1), cell_int((int64_t)l + 1), text_cell(level->name),
                                       level->is_number ? cell_real(level->number) : (struct cell){0}}));
        }
    return ERROR_OK;
}

static struct error add_metrics(const struct sweep_results *results, struct sqlite_table *table)
{
    static const char *const better[] = {
        [BETTER_LOWER] = "lower", [BETTER_HIGHER] = "higher", [BETTER_NEITHER] = "neither"};
    (void)results;
    for (size_t m = 0; metrics_name_at(m) != NULL; m++) {
        const struct metric *metric = metric_find(metrics_name_at(m));
        TRY(sqlite_table_add(table, (struct cell[]){text_cell(metric->name), text_cell(metric->unit),
                                                    text_cell(better[metric->better]), text_cell(metric->definition)}));
    }
    return ERROR_OK;
}

static struct error add_runs(const struct sweep_results *results, struct sqlite_table *table)
{
    const struct sweep_plan *plan = &results->plan;
    struct cell *cells = mem_zalloc(RUN_COLUMNS + plan->factor_count, sizeof *cells);
    struct error error = ERROR_OK;
    for (size_t r = 0; r < plan->run_count && !error_is(error); r++) {
        const struct sweep_entry *entry = &results->books.entries[r];
        const uint32_t *levels = &plan->levels[plan->runs[r].combination * plan->factor_count];
        const struct cell first[RUN_COLUMNS] = {
            cell_int((int64_t)r),
            text_cell(plan->runs[r].key),
            cell_int((int64_t)plan->runs[r].seed),
            text_cell(run_state_names[entry->state]),
            text_cell(entry->failure),
            text_cell(results->fingerprints[r]),
        };
        memcpy(cells, first, sizeof first);
        for (size_t f = 0; f < plan->factor_count; f++) {
            const struct sweep_level *level = &plan->factors[f].levels[levels[f]];
            cells[RUN_COLUMNS + f] = level->is_number ? cell_real(level->number) : text_cell(level->name);
        }
        error = sqlite_table_add(table, cells);
    }
    mem_free(cells);
    return error;
}

static struct error add_results(const struct sweep_results *results, struct sqlite_table *table)
{
    for (size_t r = 0; r < results->plan.run_count; r++)
        for (size_t c = 0; c < results->column_count; c++) {
            const double number = results->cells[r * results->column_count + c];
            const struct metric_selector *of = &results->columns[c].of;
            if (!isnan(number))
                TRY(sqlite_table_add(table,
                                     (struct cell[]){cell_int((int64_t)r), text_cell(of->metric), text_cell(of->cut),
                                                     text_cell(of->key), cell_real(number)}));
        }
    return ERROR_OK;
}

static struct error fill_table(struct writer *writer, const char *name, size_t columns,
                               struct error (*add_rows)(const struct sweep_results *, struct sqlite_table *))
{
    struct sqlite_table table;
    struct error error = sqlite_table_open(&table, writer->file, name, columns);
    if (!error_is(error))
        error = add_rows(writer->results, &table);
    sqlite_table_close(&table);
    return error;
}

static struct error fill(struct writer *writer)
{
    TRY(sqlite_file_run(writer->file, "BEGIN"));
    TRY(make_tables(writer));
    TRY(fill_table(writer, "factors", 2, add_factors));
    TRY(fill_table(writer, "levels", 4, add_levels));
    TRY(fill_table(writer, "metrics", 4, add_metrics));
    TRY(fill_table(writer, "runs", RUN_COLUMNS + writer->results->plan.factor_count, add_runs));
    TRY(fill_table(writer, "results", 5, add_results));
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
