#include "studies/sweep/sweep_merge.h"

#include <math.h>
#include <string.h>

#include "base/output.h"

const char *const sweep_format_names[] = {"csv", "json", "sqlite", NULL};

static const struct sweep_level *level_of(const struct sweep_plan *plan, size_t run, size_t factor)
{
    const size_t combination = plan->runs[run].combination;
    return &plan->factors[factor].levels[plan->levels[combination * plan->factor_count + factor]];
}

/* ---- CSV ---- */

static bool is_csv_column(const struct sweep_column *column, bool is_all)
{
    return is_all || column->of.cut == NULL || strcmp(column->of.cut, "class") == 0;
}

static void write_head(const struct sweep_results *results, bool is_all, struct buffer *out)
{
    const struct sweep_plan *plan = &results->plan;
    buffer_string(out, "run,seed,state");
    for (size_t f = 0; f < plan->factor_count; f++) {
        buffer_char(out, ',');
        buffer_csv(out, text_of(plan->factors[f].name));
    }
    for (size_t c = 0; c < results->column_count; c++) {
        const struct metric_selector *of = &results->columns[c].of;
        struct buffer name = {0};
        if (!is_csv_column(&results->columns[c], is_all))
            continue;
        buffer_string(&name, of->metric);
        if (of->cut != NULL && strcmp(of->cut, "class") == 0)
            buffer_format(&name, " of %s", of->key);
        else if (of->cut != NULL)
            buffer_format(&name, " of %s=%s", of->cut, of->key);
        buffer_char(out, ',');
        buffer_csv(out, (struct text){name.bytes, name.length});
        buffer_release(&name);
    }
    buffer_char(out, '\n');
}

static void sweep_merge_csv(const struct sweep_results *results, bool is_all, struct buffer *out)
{
    const struct sweep_plan *plan = &results->plan;
    write_head(results, is_all, out);
    for (size_t r = 0; r < plan->run_count; r++) {
        buffer_format(out, "%zu,%llu,%s", r, (unsigned long long)plan->runs[r].seed,
                      run_state_names[results->books.entries[r].state]);
        for (size_t f = 0; f < plan->factor_count; f++) {
            buffer_char(out, ',');
            buffer_csv(out, text_of(level_of(plan, r, f)->name));
        }
        for (size_t c = 0; c < results->column_count; c++) {
            const double number = results->cells[r * results->column_count + c];
            if (!is_csv_column(&results->columns[c], is_all))
                continue;
            buffer_char(out, ',');
            if (!isnan(number))
                buffer_double(out, number);
        }
        buffer_char(out, '\n');
    }
}

/* ---- JSON ---- */

static void write_level(struct buffer *out, const struct sweep_level *level)
{
    if (level->is_number)
        buffer_double(out, level->number);
    else
        buffer_json(out, text_of(level->name));
}

static void write_factors(const struct sweep_plan *plan, struct buffer *out)
{
    buffer_members(out, ",\n'factors': [");
    for (size_t f = 0; f < plan->factor_count; f++) {
        const struct sweep_factor *factor = &plan->factors[f];
        buffer_members(out, ",\n  {'name': %s, 'levels': [", factor->name);
        for (size_t l = 0; l < factor->level_count; l++) {
            buffer_members(out, ", ");
            write_level(out, &factor->levels[l]);
        }
        buffer_string(out, "]}");
    }
    buffer_members(out, "],\n'seeds': [");
    for (size_t s = 0; s < plan->seed_count; s++)
        buffer_members(out, ", %llu", (unsigned long long)plan->seeds[s]);
    buffer_char(out, ']');
}

static void write_metrics(const struct sweep_results *results, struct buffer *out)
{
    static const char *const better[] = {
        [BETTER_LOWER] = "lower", [BETTER_HIGHER] = "higher", [BETTER_NEITHER] = "neither"};
    buffer_members(out, ",\n'metrics': {");
    for (size_t m = 0; metrics_name_at(m) != NULL; m++) {
        const struct metric *metric = metric_find(metrics_name_at(m));
        bool is_there = false;
        for (size_t c = 0; c < results->column_count && !is_there; c++)
            is_there = strcmp(results->columns[c].of.metric, metric->name) == 0;
        if (is_there)
            buffer_members(out, ",\n  %s: {'unit': %s, 'better': %s}", metric->name, metric->unit,
                           better[metric->better]);
    }
    buffer_char(out, '}');
}

static bool is_same_group(const struct metric_selector *a, const struct metric_selector *b)
{
    return (a->cut == NULL) == (b->cut == NULL) &&
           (a->cut == NULL || (strcmp(a->cut, b->cut) == 0 && strcmp(a->key, b->key) == 0));
}

/* The members of one group of columns, which begins at *column; *column moves behind it.  Nothing is written if no cell
 * is defined. */
static bool write_group(const struct sweep_results *results, size_t run, size_t *column, const char *before,
                        struct buffer *out)
{
    const size_t begin = *column;
    const double *row = &results->cells[run * results->column_count];
    bool is_there = false;
    for (; *column < results->column_count; (*column)++) {
        const struct metric_selector *of = &results->columns[*column].of;
        if (!is_same_group(of, &results->columns[begin].of))
            break;
        if (isnan(row[*column]))
            continue;
        if (!is_there)
            buffer_string(out, before);
        buffer_members(out, ", %s: %g", of->metric, row[*column]);
        is_there = true;
    }
    if (is_there)
        buffer_char(out, '}');
    return is_there;
}

static void write_cuts(const struct sweep_results *results, size_t run, size_t column, struct buffer *out)
{
    const char *cut = NULL;
    buffer_members(out, ", 'by': {");
    while (column < results->column_count) {
        const struct metric_selector of = results->columns[column].of;
        struct buffer before = {0};
        if (cut == NULL || strcmp(cut, of.cut) != 0)
            buffer_members(&before, cut != NULL ? "}, %s: {%s: {" : "%s: {%s: {", of.cut, of.key);
        else
            buffer_members(&before, ", %s: {", of.key);
        if (write_group(results, run, &column, buffer_c_string(&before), out))
            cut = of.cut;
        buffer_release(&before);
    }
    buffer_string(out, cut != NULL ? "}}" : "}");
}

static void write_run(const struct sweep_results *results, size_t r, struct buffer *out)
{
    const struct sweep_plan *plan = &results->plan;
    const struct sweep_entry *entry = &results->books.entries[r];
    size_t column = 0;
    buffer_members(out, ",\n  {'run': %zu, 'key': %s, 'seed': %llu, 'state': %s", r, plan->runs[r].key,
                   (unsigned long long)plan->runs[r].seed, run_state_names[entry->state]);
    if (entry->failure != NULL)
        buffer_members(out, ", 'failure': %s", entry->failure);
    buffer_members(out, ", 'levels': {");
    for (size_t f = 0; f < plan->factor_count; f++) {
        buffer_members(out, ", %s: ", plan->factors[f].name);
        write_level(out, level_of(plan, r, f));
    }
    buffer_char(out, '}');
    if (entry->state == RUN_DONE) {
        buffer_members(out, ", 'fingerprint': %s", results->fingerprints[r]);
        if (!write_group(results, r, &column, ",\n   \"metrics\": {", out))
            buffer_members(out, ", 'metrics': {}");
        write_cuts(results, r, column, out);
    }
    buffer_char(out, '}');
}

static void sweep_merge_json(const struct sweep_results *results, struct buffer *out)
{
    const struct sweep_plan *plan = &results->plan;
    buffer_members(out, "{'sweep_results': 1,\n'version': %s", plan->version);
    if (plan->title != NULL)
        buffer_members(out, ",\n'title': %s", plan->title);
    write_factors(plan, out);
    write_metrics(results, out);
    buffer_members(out, ",\n'runs': [");
    for (size_t r = 0; r < plan->run_count; r++)
        write_run(results, r, out);
    buffer_string(out, "]}\n");
}

/* ---- files ---- */

struct error sweep_merge(const struct sweep_results *results, enum sweep_format format, bool is_all, const char *path)
{
    struct output *output;
    if (format == SWEEP_SQLITE)
        return sweep_merge_sqlite(results, path);
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    if (format == SWEEP_CSV)
        sweep_merge_csv(results, is_all, output_buffer(output));
    else
        sweep_merge_json(results, output_buffer(output));
    return output_commit(&output);
}
