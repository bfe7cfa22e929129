#include "studies/sizing/sizing_assumed.h"

#include <math.h>

#include "reports/view.h"

void sizing_assumed(const struct sizing *sizing, struct assumed_list *out)
{
    *out = (struct assumed_list){.count = 0};
    for (size_t a = 0; a < sizing->answer_count; a++)
        for (size_t p = 0; p < sizing->answers[a].point_count; p++)
            if (sizing->answers[a].of->assumption == NULL && sizing->answers[a].points[p].run_count > 0)
                assumed_join(out, &sizing->answers[a].points[p].runs[0].values.result.manifest.workload.assumed);
}

static void put_number(const struct sizing_answer *answer, struct buffer *out)
{
    if (answer->is_found)
        buffer_format(out, "%.12g", answer->number);
    else
        buffer_string(out, "none");
}

/* Is the answer another one, though no more than that? */
static bool moves(const struct sizing_answer *as_it_is, const struct sizing_answer *other)
{
    return as_it_is->is_found != other->is_found || (other->is_found && as_it_is->number != other->number);
}

static void say_moves(struct show *show, const struct sizing *sizing)
{
    const struct sizing_answer *first = &sizing->answers[0];
    size_t count = 0;
    for (size_t a = 1; a < sizing->answer_count; a++) {
        const struct sizing_answer *answer = &sizing->answers[a];
        if (answer->of->assumption == NULL || !moves(first, answer))
            continue;
        const bool is_sure = first->is_sure && answer->is_sure;
        struct buffer *out = show_line(show, is_sure ? SHOW_WARNING : SHOW_PLAIN);
        buffer_string(out, is_sure ? "The answer depends on it: " : "The answer may depend on it: ");
        put_number(first, out);
        buffer_string(out, " as it is, ");
        put_number(answer, out);
        buffer_format(out, " with %s.", answer->of->name);
        count++;
    }
    if (count == 0)
        buffer_string(show_line(show, SHOW_PLAIN), "The answer is the same with each of them.");
}

void sizing_assumed_show(struct show *show, const struct sizing *sizing)
{
    struct assumed_list assumed;
    bool has_cases = false;
    sizing_assumed(sizing, &assumed);
    assumed_lead(show, &assumed);
    for (size_t a = 0; a < sizing->answer_count; a++)
        has_cases |= sizing->answers[a].of->assumption != NULL;
    if (!has_cases)
        return;
    show_section(show, "What the answer depends on");
    show_table(show, "taken", "<in place of", "answer", "moved", "sure?", NULL);
    for (size_t a = 0; a < sizing->answer_count; a++) {
        const struct sizing_answer *answer = &sizing->answers[a], *first = &sizing->answers[0];
        show_row(show, answer->of->name);
        buffer_string(show_cell(show), answer->of->assumption != NULL ? answer->of->assumption : "");
        put_number(answer, show_cell(show));
        if (answer->is_found && first->is_found)
            buffer_format(show_cell(show), "%+.12g", answer->number - first->number);
        else
            view_amount(show_cell(show), NAN);
        buffer_string(show_cell(show), answer->is_exact ? "one run" : answer->is_sure ? "sure" : "not sure");
    }
    say_moves(show, sizing);
}
