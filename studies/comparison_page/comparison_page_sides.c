/* studies/comparison_page/comparison_page_sides.c -- the sides, their settings, their records, what made them. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html.h"
#include "reports/html_overlay.h"
#include "reports/view.h"
#include "studies/comparison/baseline.h"
#include "studies/comparison_page/comparison_page_inside.h"

enum { CHANGES_AT_ONCE = 4, CHANGES_MAX = 60, VALUE_WIDTH = 60, TEXT_WIDTH = 400 };

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

static void write_link(const struct comparison_page *page, size_t side, struct buffer *out)
{
    struct buffer link = {0};
    bool has_link = page->folders[side] != NULL;
    if (has_link)
        write_escaped(page->folders[side], &link);
    else if (page->records[side] != NULL)
        has_link = write_relative(page->folder, page->records[side], &link);
    if (has_link)
        buffer_format(out, "<a href=\"%s%s" HTML_FILE "\">its run</a>", buffer_c_string(&link),
                      link.length > 0 ? "/" : "");
    else
        buffer_string(out, "\xe2\x80\x93"); /* U+2013 */
    buffer_release(&link);
}

/* ---- settings ---- */

/* What differs between two resolved scenarios, path by path. */
struct changes {
    struct buffer lines[CHANGES_MAX]; /* HTML */
    size_t count;                     /* all of them, also those beyond CHANGES_MAX */
};

static void write_json(const json_t *value, struct buffer *out)
{
    char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
    struct buffer shown = {0};
    if (text == NULL) {
        buffer_string(out, "not set");
        return;
    }
    view_name(&shown, text, VALUE_WIDTH);
    buffer_string(out, "<code>");
    buffer_html(out, (struct text){shown.bytes, shown.length});
    buffer_string(out, "</code>");
    buffer_release(&shown);
    free(text);
}

static void add_change(struct changes *changes, const char *path, const json_t *base, const json_t *side)
{
    const size_t at = changes->count++;
    if (at >= CHANGES_MAX)
        return;
    buffer_string(&changes->lines[at], "<code>");
    html_name(&changes->lines[at], path);
    buffer_string(&changes->lines[at], "</code> ");
    write_json(side, &changes->lines[at]);
    buffer_string(&changes->lines[at], " (base: ");
    write_json(base, &changes->lines[at]);
    buffer_char(&changes->lines[at], ')');
}

/* Of a policy as a whole these are told in words; a seed is the comparison's. */
static bool is_told_elsewhere(const char *path, const char *key)
{
    static const char *const of_scenario[] = {"seed", "title", "name", "$comment"};
    static const char *const of_policy[] = {"name", "summary", "guarantees", "$comment"};
    for (size_t i = 0; i < 4; i++)
        if ((path[0] == '\0' && strcmp(key, of_scenario[i]) == 0) ||
            (strcmp(path, "policy") == 0 && strcmp(key, of_policy[i]) == 0))
            return true;
    return false;
}

static void find_changes(struct changes *changes, const char *path, json_t *base, json_t *side)
{
    const char *key;
    json_t *value;
    json_t *all = json_object();
    if (json_equal(base, side) || !json_is_object(base) || !json_is_object(side)) {
        if (!json_equal(base, side))
            add_change(changes, path, base, side);
        json_decref(all);
        return;
    }
    json_object_update(all, base);
    json_object_update(all, side);
    json_object_foreach(all, key, value)
    {
        struct buffer inner = {0};
        buffer_format(&inner, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
        if (!is_told_elsewhere(path, key))
            find_changes(changes, buffer_c_string(&inner), json_object_get(base, key), json_object_get(side, key));
        buffer_release(&inner);
    }
    json_decref(all);
}

static void write_changes(const struct changes *changes, const char *base, struct buffer *out)
{
    const size_t listed = changes->count < CHANGES_MAX ? changes->count : CHANGES_MAX;
    if (changes->count > CHANGES_AT_ONCE) {
        buffer_format(out, "<details><summary>%zu settings differ from ", changes->count);
        html_name(out, base);
        buffer_string(out, "</summary>");
    }
    for (size_t i = 0; i < listed; i++) {
        buffer_string(out, "<div>");
        buffer_bytes(out, changes->lines[i].bytes, changes->lines[i].length);
        buffer_string(out, "</div>");
    }
    if (changes->count > listed)
        buffer_format(out, "<div>and %zu more, in result.json</div>", changes->count - listed);
    if (changes->count > CHANGES_AT_ONCE)
        buffer_string(out, "</details>");
}

static const char *scenario_json(const struct comparison *comparison, size_t side)
{
    const struct comparison_run *run = page_first_run(&comparison->sides[side], comparison->seed_count);
    return run != NULL ? run->values.result.manifest.scenario_json : NULL;
}

static void write_part(json_t *scenario, const char *part, const char *key, struct buffer *out)
{
    const char *text = json_string_value(json_object_get(json_object_get(scenario, part), key));
    struct buffer shown = {0};
    if (text != NULL)
        view_name(&shown, text, TEXT_WIDTH);
    buffer_html(out, (struct text){shown.bytes, shown.length});
    buffer_release(&shown);
}

static void write_settings(const struct comparison *comparison, size_t side, struct buffer *out)
{
    const char *own_text = scenario_json(comparison, side), *base_text = scenario_json(comparison, 0);
    json_t *own = own_text != NULL ? json_loads(own_text, 0, NULL) : NULL;
    json_t *base = base_text != NULL ? json_loads(base_text, 0, NULL) : NULL;
    struct changes changes = {0};
    const size_t from = out->length;
    write_part(own, "policy", "name", out);
    if (out->length == from)
        buffer_string(out, comparison->options->sides[side].baseline != NULL ? "a baseline" : "\xe2\x80\x93");
    buffer_string(out, " <small>");
    write_part(own, "policy", "summary", out);
    buffer_string(out, "</small>");
    if (side > 0 && own != NULL && base != NULL)
        find_changes(&changes, "", base, own);
    write_changes(&changes, comparison->sides[0].name, out);
    for (size_t i = 0; i < CHANGES_MAX; i++)
        buffer_release(&changes.lines[i]);
    json_decref(own);
    json_decref(base);
}

/* ---- the sections ---- */

static void write_cluster(const struct comparison *comparison, struct buffer *out)
{
    const char *text = scenario_json(comparison, 0);
    json_t *base = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const struct comparison_run *run = page_first_run(&comparison->sides[0], comparison->seed_count);
    const char *title = json_string_value(json_object_get(base, "title"));
    if (run != NULL && base != NULL) {
        const struct run_facts *facts = &run->values.result.facts;
        buffer_string(out, "<p class=\"note\">");
        if (title != NULL) {
            html_name(out, title);
            buffer_string(out, " \xc2\xb7 ");
        }
        write_part(base, "cluster", "name", out);
        buffer_string(out, ": ");
        view_count(out, (double)facts->node_count);
        buffer_string(out, " nodes, ");
        view_count(out, (double)facts->gpu_count);
        buffer_string(out, " GPUs \xc2\xb7 ");
        view_duration(out, time_to_seconds(facts->end));
        buffer_string(out, " simulated");
        if (facts->warmup > 0) {
            buffer_string(out, ", measured after a warm-up of ");
            view_duration(out, time_to_seconds(facts->warmup));
        }
        buffer_string(out, ".</p>\n");
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

void page_sides(const struct comparison *comparison, const struct comparison_page *page, struct buffer *out)
{
    buffer_string(out, "<section><h2>The sides</h2>\n");
    write_cluster(comparison, out);
    buffer_string(out, "<div class=\"scroll\"><table class=\"sides\">\n<thead><tr><th scope=\"col\">side</th><th "
                       "scope=\"col\">policy and settings</th><th scope=\"col\">runs</th><th scope=\"col\">record"
                       "</th></tr></thead>\n<tbody>\n");
    for (size_t side = 0; side < comparison->side_count; side++) {
        buffer_format(out, "<tr><th scope=\"row\"><span class=\"c%d\"><i class=\"box fill\"></i></span>",
                      side < HTML_OVERLAY_MAX ? (int)html_overlay_colour(side) : 0);
        html_name(out, comparison->sides[side].name);
        buffer_string(out, side == 0 ? " <small>the base</small></th><td>" : "</th><td>");
        write_settings(comparison, side, out);
        buffer_format(out, "</td><td>%zu of %zu</td><td>", count_done(comparison, side), comparison->seed_count);
        write_link(page, side, out);
        buffer_string(out, "</td></tr>\n");
    }
    buffer_string(out, "</tbody></table></div></section>\n");
}

static void write_run(const char *side, const struct comparison_run *run, uint64_t seed, struct buffer *out)
{
    static const char *const states[] = {"not done", "done", "failed"};
    const struct result_manifest *manifest = &run->values.result.manifest;
    const char *const cells[] = {states[run->state], manifest->version, manifest->fingerprint, manifest->arrivals};
    buffer_string(out, "<tr><th scope=\"row\">");
    html_name(out, side);
    buffer_format(out, "</th><td>%llu</td>", (unsigned long long)seed);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        buffer_string(out, "<td><code>");
        html_name(out, cells[i] != NULL ? cells[i] : "\xe2\x80\x93");
        buffer_string(out, "</code></td>");
    }
    buffer_string(out, "</tr>\n");
}

void page_origin(const struct comparison *comparison, struct buffer *out)
{
    buffer_string(out, "<section><h2>What made this page</h2>\n<p class=\"note\">comparison.json beside it has every "
                       "value by seed. The same scenarios, seeds and version give the same bytes on every "
                       "machine.</p>\n<details><summary>Runs</summary><div class=\"scroll\"><table>\n<thead><tr><th "
                       "scope=\"col\">side</th><th scope=\"col\">seed</th><th scope=\"col\">state</th><th "
                       "scope=\"col\">version</th><th scope=\"col\">fingerprint</th><th scope=\"col\">arrivals</th>"
                       "</tr></thead>\n<tbody>\n");
    for (size_t seed = 0; seed < comparison->seed_count; seed++)
        for (size_t side = 0; side < comparison->side_count; side++)
            if (comparison->sides[side].runs[seed].state != COMPARISON_RUN_MISSING)
                write_run(comparison->sides[side].name, &comparison->sides[side].runs[seed], comparison->seeds[seed],
                          out);
    buffer_string(out, "</tbody></table></div></details></section>\n");
}
