#include "studies/sweep/sweep_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* Columns while they are found: each has a name, and ranks that give the order in the end. */
struct found {
    struct sweep_column column;
    size_t cut, key, metric; /* ranks; cut 0: the whole run */
};

struct cell {
    uint32_t column; /* as found */
    double number;
};

struct collecting {
    struct sweep_results *results;
    struct names *columns, *keys;
    struct found *found;
    size_t found_capacity;
    struct cell **cells; /* by run; NULL: not done */
    size_t *cell_counts;
};

/* ---- columns ---- */

static size_t rank_of_cut(const char *cut)
{
    size_t rank = 1;
    if (cut == NULL)
        return 0;
    for (size_t c = 0; metrics_cut_names[c] != NULL; c++, rank++)
        if (strcmp(metrics_cut_names[c], cut) == 0)
            return rank;
    return rank; /* "arrived_pct" */
}

static size_t rank_of_metric(const char *name)
{
    size_t rank = 0;
    for (const char *at; (at = metrics_name_at(rank)) != NULL && strcmp(at, name) != 0;)
        rank++;
    return rank;
}

static const char *or_nothing(const char *text)
{
    return text != NULL ? text : "";
}

static void name_column(const struct metric_selector *of, struct buffer *out)
{
    out->length = 0;
    buffer_format(out, "%s%c%s%c%s", or_nothing(of->cut), '\0', or_nothing(of->key), '\0', of->metric);
}

static uint32_t find_column(struct collecting *collecting, const struct value *value, struct buffer *name)
{
    struct arena *arena = &collecting->results->arena;
    const uint32_t known = names_count(collecting->columns);
    name_column(&value->of, name);
    const uint32_t column = names_add(collecting->columns, (struct text){name->bytes, name->length});
    if (column != known)
        return column;
    MEM_GROW(collecting->found, collecting->found_capacity, known + 1);
    struct found *found = &collecting->found[known];
    *found = (struct found){.column = {.metric = value->metric},
                            .cut = rank_of_cut(value->of.cut),
                            .metric = rank_of_metric(value->of.metric)};
    found->column.of.metric = value->metric->name;
    if (value->of.cut != NULL) {
        found->column.of.cut = arena_copy(arena, text_of(value->of.cut));
        found->column.of.key = arena_copy(arena, text_of(value->of.key));
        found->key = names_add(collecting->keys, text_of(value->of.key));
    }
    return column;
}

static int compare_found(const void *a, const void *b)
{
    const struct found *one = *(const struct found *const *)a, *other = *(const struct found *const *)b;
    if (one->cut != other->cut)
        return one->cut < other->cut ? -1 : 1;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return one->metric < other->metric ? -1 : one->metric > other->metric;
}

/* ---- one result ---- */

static struct error differ(const char *path, const char *what, const char *is, const char *should)
{
    return error_new(ERROR_DATA, "%s is not the run of the plan: its %s is %s, not %s", path, what, is, should);
}

/* Is it the result that the key names? */
static struct error check_result(const struct sweep_plan *plan, size_t run, const char *path,
                                 const struct result_manifest *manifest)
{
    if (strcmp(manifest->version, plan->version) != 0)
        return differ(path, "version", manifest->version, plan->version);
    if (manifest->seed != plan->runs[run].seed)
        return differ(path, "seed", "another", "the plan's");
    for (size_t i = 0; i < manifest->input_count; i++) {
        const struct result_input *input = &manifest->inputs[i];
        const char *digest = sweep_plan_digest(plan, input->role, input->name);
        if (digest == NULL || strcmp(digest, input->digest) != 0)
            return differ(path, input->role, input->digest, or_nothing(digest));
    }
    return ERROR_OK;
}

static void take_values(struct collecting *collecting, size_t run, const struct values *values)
{
    struct buffer name = {0};
    struct cell *cells = mem_zalloc(values->count + 1, sizeof *cells);
    for (size_t i = 0; i < values->count; i++)
        cells[i] =
            (struct cell){.column = find_column(collecting, &values->list[i], &name), .number = values->list[i].number};
    collecting->cells[run] = cells;
    collecting->cell_counts[run] = values->count;
    collecting->results->fingerprints[run] =
        arena_copy(&collecting->results->arena, text_of(or_nothing(values->result.manifest.fingerprint)));
    buffer_release(&name);
}

static struct error take_result(struct collecting *collecting, size_t run, struct buffer *path, struct buffer *text)
{
    struct values values;
    TRY(sweep_books_result(&collecting->results->books, run, path, text));
    TRY(values_read_text(&values, path->bytes, (struct text){text->bytes, text->length}));
    struct error error = check_result(&collecting->results->plan, run, path->bytes, &values.result.manifest);
    if (!error_is(error))
        take_values(collecting, run, &values);
    values_release(&values);
    return error;
}

/* ---- the table ---- */

static void fill_cells(struct collecting *collecting)
{
    struct sweep_results *results = collecting->results;
    const size_t count = names_count(collecting->columns), run_count = results->plan.run_count;
    struct found **order = mem_zalloc(count + 1, sizeof *order);
    size_t *place = mem_zalloc(count + 1, sizeof *place);
    for (size_t c = 0; c < count; c++)
        order[c] = &collecting->found[c];
    qsort(order, count, sizeof *order, compare_found);
    results->column_count = count;
    results->columns = arena_alloc_array(&results->arena, count + 1, struct sweep_column);
    for (size_t c = 0; c < count; c++) {
        results->columns[c] = order[c]->column;
        place[order[c] - collecting->found] = c;
    }
    results->cells = mem_zalloc(run_count * count + 1, sizeof *results->cells);
    for (size_t r = 0; r < run_count; r++) {
        const size_t from = results->plan.runs[r].first; /* runs with one key have one result */
        double *row = &results->cells[r * count];
        results->fingerprints[r] = results->fingerprints[from];
        for (size_t c = 0; c < count; c++)
            row[c] = NAN;
        for (size_t i = 0; i < collecting->cell_counts[from]; i++)
            row[place[collecting->cells[from][i].column]] = collecting->cells[from][i].number;
    }
    mem_free(order);
    mem_free(place);
}

static struct error collect(struct collecting *collecting)
{
    const struct sweep_results *results = collecting->results;
    struct buffer path = {0}, text = {0};
    struct error error = ERROR_OK;
    for (size_t r = 0; r < results->plan.run_count && !error_is(error); r++)
        if (results->plan.runs[r].first == r && results->books.entries[r].state == RUN_DONE)
            error = take_result(collecting, r, &path, &text);
    buffer_release(&path);
    buffer_release(&text);
    return error;
}

static struct error read_cells(struct sweep_results *results)
{
    const size_t run_count = results->plan.run_count;
    struct collecting collecting = {.results = results,
                                    .columns = names_new(),
                                    .keys = names_new(),
                                    .cells = mem_zalloc(run_count, sizeof *collecting.cells),
                                    .cell_counts = mem_zalloc(run_count, sizeof *collecting.cell_counts)};
    results->fingerprints = arena_alloc_array(&results->arena, run_count, const char *);
    struct error error = collect(&collecting);
    if (!error_is(error))
        fill_cells(&collecting);
    for (size_t r = 0; r < run_count; r++)
        mem_free(collecting.cells[r]);
    mem_free(collecting.cells);
    mem_free(collecting.cell_counts);
    mem_free(collecting.found);
    names_free(collecting.columns);
    names_free(collecting.keys);
    return error;
}

struct error sweep_results_read(struct sweep_results *out, const char *folder)
{
    *out = (struct sweep_results){0};
    TRY(sweep_plan_read(&out->plan, folder));
    struct error error = sweep_books_read(&out->books, &out->plan, folder);
    if (!error_is(error))
        error = read_cells(out);
    if (error_is(error))
        sweep_results_release(out);
    return error;
}

void sweep_results_release(struct sweep_results *results)
{
    mem_free(results->cells);
    sweep_books_release(&results->books);
    sweep_plan_release(&results->plan);
    arena_release(&results->arena);
    *results = (struct sweep_results){0};
}

size_t sweep_results_column(const struct sweep_results *results, const struct metric_selector *of)
{
    for (size_t c = 0; c < results->column_count; c++)
        if (metric_selector_is_same(&results->columns[c].of, of))
            return c;
    return SWEEP_NO_COLUMN;
}
