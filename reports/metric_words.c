/* reports/metric_words.c -- the table of metrics in words, as `windtunnel metrics` prints it, and searched by name. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "reports/metrics_inside.h"

enum { WIDTH_COLUMNS = 100, INDENT = 4, CUTS_MAX = 8 };

const char *const better_names[] = {"lower", "higher", "neither"};

/* The cuts that have this metric, apart from the whole run; returns how many. */
static size_t cuts_of(size_t index, const char *cuts[CUTS_MAX])
{
    size_t count = 0;
    for (size_t c = 0; index >= METRIC_CUTS_FROM && metrics_cut_names[c] != NULL; c++)
        cuts[count++] = metrics_cut_names[c];
    if (index == METRIC_ALLOCATION_RATIO || index == METRIC_FGD_FRAGMENTATION_RATIO)
        cuts[count++] = METRICS_ARRIVED;
    assert(count <= CUTS_MAX);
    return count;
}

static void wrap(struct buffer *out, const char *words)
{
    struct text rest = text_of(words), word;
    size_t column = 0;
    while (text_cut(&rest, ' ', &word)) {
        if (column == 0 || column + 1 + word.length > WIDTH_COLUMNS) {
            buffer_format(out, "%s%*s", column == 0 ? "" : "\n", INDENT, "");
            column = INDENT;
        } else {
            buffer_char(out, ' ');
            column++;
        }
        buffer_text(out, word);
        column += word.length;
    }
    buffer_char(out, '\n');
}

static void explain_text(size_t index, struct buffer *out)
{
    const struct metric *metric = &metric_table[index];
    const char *cuts[CUTS_MAX];
    size_t count = cuts_of(index, cuts);
    buffer_format(out, "%s%s  [%s; ", out->length > 0 ? "\n" : "", metric->name, metric->unit);
    buffer_string(out, metric->better == BETTER_NEITHER ? "neither is better"
                       : metric->better == BETTER_LOWER ? "lower is better"
                                                        : "higher is better");
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "%s%s", i == 0 ? "; also by " : ", ", cuts[i]);
    buffer_string(out, "]\n");
    wrap(out, metric->definition);
}

static void explain_json(size_t index, struct buffer *out)
{
    const struct metric *metric = &metric_table[index];
    const char *cuts[CUTS_MAX];
    size_t count = cuts_of(index, cuts);
    buffer_format(out, "%s\n {\"name\": \"%s\", \"unit\": \"%s\", \"better\": \"%s\", \"by\": [",
                  out->length > 1 ? "," : "", metric->name, metric->unit, better_names[metric->better]);
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "%s\"%s\"", i == 0 ? "" : ", ", cuts[i]);
    buffer_string(out, "],\n  \"definition\": ");
    buffer_json(out, text_of(metric->definition));
    buffer_char(out, '}');
}

static struct error no_such_metric(const char *name)
{
    const char *names[METRIC_COUNT + 1] = {NULL};
    for (size_t m = 0; m < METRIC_COUNT; m++)
        names[m] = metric_table[m].name;
    struct error error = error_new(ERROR_USAGE, "there is no metric '%s'", name);
    error_hint_nearest(&error, text_of(name), names);
    return error;
}

const struct metric *metric_find(const char *name)
{
    for (size_t m = 0; m < METRIC_COUNT; m++)
        if (strcmp(metric_table[m].name, name) == 0)
            return &metric_table[m];
    return NULL;
}

struct error metrics_explain(const char *name, bool is_json, struct buffer *out)
{
    size_t found = 0;
    if (is_json)
        buffer_char(out, '[');
    for (size_t m = 0; m < METRIC_COUNT; m++) {
        if (name != NULL && strcmp(metric_table[m].name, name) != 0)
            continue;
        (is_json ? explain_json : explain_text)(m, out);
        found++;
    }
    if (is_json)
        buffer_string(out, "\n]\n");
    return found > 0 ? ERROR_OK : no_such_metric(name);
}

const char *metrics_name_at(size_t index)
{
    return index < METRIC_COUNT ? metric_table[index].name : NULL;
}
