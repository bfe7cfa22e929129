/* studies/comparison_show/comparison_sides.c -- the sides: settings, records, what made them, which failed. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reports/run_figures.h"
#include "reports/view.h"
#include "studies/comparison/settings.h"
#include "studies/comparison_show/comparison_view.h"

enum { SETTINGS_MAX = 60, VALUE_WIDTH = 60 };

/* ---- links ---- */

/* Append the bytes of a path as a part of a link. */
static void write_escaped(const char *path, struct buffer *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/~";
    for (const char *at = path; *at != '\0'; at++)
        if (strchr(plain, *at) != NULL)
            buffer_char(out, *at);
        else
            buffer_format(out, "%%%02X", (unsigned)(unsigned char)*at);
}

/* From one folder to another: "../fifo".  False: one of them is not there. */
static bool write_relative(const char *from, const char *to, struct buffer *out)
{
    char *start = realpath(from, NULL), *end = realpath(to, NULL);
    const bool is = start != NULL && end != NULL;
    size_t shared = 0;
    for (size_t i = 0; is; i++) {
        const bool ends_a = start[i] == '\0' || start[i] == '/', ends_b = end[i] == '\0' || end[i] == '/';
        if (ends_a && ends_b)
            shared = i;
        if (start[i] == '\0' || end[i] == '\0' || start[i] != end[i])
            break;
    }
    for (const char *at = is ? start + shared : ""; (at = strchr(at, '/')) != NULL; at++)
        if (at[1] != '\0')
            buffer_string(out, "../");
    if (is)
        write_escaped(end + shared + (end[shared] == '/'), out);
    free(start);
    free(end);
    return is;
}

static void add_link(struct show *show, const struct comparison_page *page, size_t side)
{
    struct buffer link = {0};
    bool has_link = page->folders[side] != NULL;
    if (has_link)
        write_escaped(page->folders[side], &link);
    else if (page->records[side] != NULL)
        has_link = write_relative(page->folder, page->records[side], &link);
    buffer_string(show_cell(show), has_link ? "its run" : "\xe2\x80\x93"); /* U+2013 */
    if (has_link)
        buffer_format(show_link(show), "%s%s" HTML_FILE, buffer_c_string(&link), link.length > 0 ? "/" : "");
    buffer_release(&link);
}

/* ---- settings ---- */

static const char *scenario_json(const struct comparison *comparison, size_t side)
{
    const struct comparison_run *run = comparison_first_run(comparison, side);
    return run != NULL ? run->values.result.manifest.scenario_json : NULL;
}

static json_t *scenario_of(const struct comparison *comparison, size_t side)
{
    const char *text = scenario_json(comparison, side);
    return text != NULL ? json_loads(text, 0, NULL) : NULL;
}

static const char *part_of(json_t *scenario, const char *part, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(scenario, part), key));
    return text != NULL ? text : "";
}

static void add_value(struct show *show, const char *value)
{
    view_name(show_cell(show), value != NULL ? value : "not set", VALUE_WIDTH);
}

static void add_settings(struct show *show, const struct comparison *comparison, size_t side)
{
    const char *base = scenario_json(comparison, 0), *own = scenario_json(comparison, side);
    struct settings settings;
    if (base == NULL || own == NULL)
        return;
    settings_compare(&settings, base, own);
    if (settings.count > 0) {
        struct buffer title = {0};
        buffer_format(&title, "Settings of %s that differ from %s", comparison->sides[side].name,
                      comparison->sides[0].name);
        show_fold(show, buffer_c_string(&title), false);
        buffer_release(&title);
        show_table(show, "setting", NULL);
        show_column(show, comparison->sides[side].name);
        show_column(show, comparison->sides[0].name);
    }
    for (size_t i = 0; i < settings.count && i < SETTINGS_MAX; i++) {
        show_row(show, settings.list[i].path);
        add_value(show, settings.list[i].side);
        add_value(show, settings.list[i].base);
    }
    if (settings.count > SETTINGS_MAX)
        buffer_format(show_line(show, SHOW_NOTE), "and %zu more, in result.json", settings.count - SETTINGS_MAX);
    if (settings.count > 0)
        show_unfold(show);
    settings_release(&settings);
}

/* ---- the sections ---- */

static void add_cluster(struct show *show, const struct comparison *comparison)
{
    json_t *base = scenario_of(comparison, 0);
    const struct comparison_run *run = comparison_first_run(comparison, 0);
    const char *title = json_string_value(json_object_get(base, "title"));
    if (run != NULL && base != NULL) {
        const struct run_facts *facts = &run->values.result.facts;
        struct buffer *out = show_line(show, SHOW_NOTE);
        view_words(out, "%s%s%s: %g nodes, %g GPUs \xc2\xb7 %E simulated", title != NULL ? title : "",
                   title != NULL ? " \xc2\xb7 " : "", part_of(base, "cluster", "name"), (double)facts->node_count,
                   (double)facts->gpu_count, time_to_seconds(facts->end));
        if (facts->warmup > 0)
            view_words(out, ", measured after a warm-up of %E", time_to_seconds(facts->warmup));
    }
    json_decref(base);
}

static size_t count_done(const struct comparison *comparison, size_t side)
{
    size_t count = 0;
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        count += comparison->sides[side].runs[seed].state == COMPARISON_RUN_DONE;
    return count;
}

void comparison_add_sides(struct show *show, const struct comparison *comparison, const struct comparison_page *page)
{
    show_section(show, "The sides");
    buffer_string(show_line(show, SHOW_NOTE), "The same jobs and the same chance on each side.");
    add_cluster(show, comparison);
    show_table(show, "side", "<policy", "runs", "record", NULL);
    for (size_t side = 0; side < comparison->side_count; side++) {
        json_t *own = scenario_of(comparison, side);
        const char *policy = part_of(own, "policy", "name");
        show_row(show, comparison->sides[side].name);
        show_colour(show, side < RUN_LINES_MAX ? run_line_colour(side) : 0);
        buffer_string(show_below(show), side == 0 ? "the base" : "");
        buffer_string(show_cell(show), policy[0] != '\0'                                   ? policy
                                       : comparison->options->sides[side].baseline != NULL ? "a baseline"
                                                                                           : "\xe2\x80\x93");
        buffer_string(show_below(show), part_of(own, "policy", "summary"));
        buffer_format(show_cell(show), "%zu of %zu", count_done(comparison, side), comparison->seed_count);
        add_link(show, page, side);
        json_decref(own);
    }
    for (size_t side = 1; side < comparison->side_count; side++)
        add_settings(show, comparison, side);
}

void comparison_add_failed_sides(struct show *show, const struct comparison *comparison)
{
    size_t failed, count, of;
    const struct comparison_run *run;
    for (size_t side = 1; side < comparison->side_count; side++) {
        if (!comparison_side_has_failed(comparison, side, &failed, &count))
            continue;
        size_t i = 0;
        while ((run = comparison_failed(comparison, i, &of)) != NULL && of != side)
            i++;
        struct buffer *out = show_line(show, SHOW_ITEM), said = {0};
        view_name(out, comparison->sides[side].name, 80);
        buffer_format(out, ", seed %llu: ", (unsigned long long)run->seed);
        view_name(out, run->failure, 400);
        show_mark(show, '-');
        comparison_write_said(run, "", &said);
        if (said.length > 0)
            buffer_text(show_line(show, SHOW_CODE), (struct text){said.bytes, said.length - 1});
        buffer_release(&said);
    }
}

void comparison_add_origin(struct show *show, const struct comparison *comparison)
{
    static const char *const states[] = {"not done", "done", "failed"};
    show_section(show, "What made this page");
    buffer_format(show_line(show, SHOW_NOTE),
                  "Windtunnel %s. comparison.json beside it has every value by seed. The same scenarios, seeds and "
                  "version give the same bytes on every machine.",
                  comparison->options->version);
    show_fold(show, "Runs", false);
    show_table(show, "side", "seed", "state", "version", "fingerprint", "arrivals", NULL);
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        for (size_t side = 0; side < comparison->side_count; side++) {
            const struct comparison_run *run = &comparison->sides[side].runs[seed];
            const struct result_manifest *manifest = &run->values.result.manifest;
            const char *const cells[] = {states[run->state], manifest->version, manifest->fingerprint,
                                         manifest->arrivals};
            if (run->state == COMPARISON_RUN_MISSING)
                continue;
            show_row(show, comparison->sides[side].name);
            buffer_format(show_cell(show), "%llu", (unsigned long long)comparison->seeds[seed]);
            for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
                buffer_string(show_cell(show), cells[i] != NULL ? cells[i] : "\xe2\x80\x93");
        }
    show_unfold(show);
}
