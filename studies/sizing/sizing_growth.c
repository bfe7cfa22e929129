#include "studies/sizing/sizing_growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "studies/sizing/sizing_show_inside.h"

#define MONTHS_PER_QUARTER 3
#define DAYS_PER_QUARTER   91.3125 /* of a mean year of 365.25 days */

bool sizing_read_quarters(const char *text, double *quarters)
{
    static const struct {
        const char *unit;
        double quarters;
    } units[] = {
        {"d", 1 / DAYS_PER_QUARTER}, {"w", 7 / DAYS_PER_QUARTER}, {"mo", 1.0 / MONTHS_PER_QUARTER}, {"q", 1}, {"y", 4}};
    char *end;
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return false;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (strcmp(end, units[u].unit) == 0) {
            *quarters = number * units[u].quarters;
            return true;
        }
    return false;
}

enum sizing_growth_state {
    GROWTH_UNKNOWN, /* the plan is not of growth, or a quarter has no answer before it breaks */
    GROWTH_BROKEN,  /* what there is does not suffice now */
    GROWTH_BREAKS,  /* it does until `breaks` */
    GROWTH_LASTS,   /* it does in all quarters of the plan */
};

struct sizing_growth {
    enum sizing_growth_state state;
    double have;          /* nodes, or what else is sought */
    double breaks, order; /* quarters from now; order: less the lead time, NAN without one */
    double before, after; /* the needs of the quarters around `breaks` */
    bool is_sure;         /* the answers that it rests on are */
};

static struct sizing_growth sizing_growth_of(const struct sizing *sizing)
{
    const struct sizing_options *options = sizing->options;
    struct sizing_growth growth = {.have = options->question.start, .breaks = NAN, .order = NAN, .is_sure = true};
    if (!options->is_growth)
        return growth;
    for (size_t q = 0; q < sizing->answer_count; q++) {
        const struct sizing_answer *answer = &sizing->answers[q];
        if (!answer->is_found && !answer->is_whole)
            return growth;
        const double need = answer->is_found ? answer->number : INFINITY;
        growth.is_sure = growth.is_sure && answer->is_sure;
        growth.after = need;
        if (need > growth.have) {
            const double part = isfinite(need) ? (growth.have - growth.before) / (need - growth.before) : 0;
            growth.state = q == 0 ? GROWTH_BROKEN : GROWTH_BREAKS;
            growth.breaks = q == 0 ? 0 : (double)(q - 1) + part;
            growth.order = growth.breaks - options->lead_quarters;
            return growth;
        }
        growth.before = need;
    }
    if (sizing->answer_count == options->case_count)
        growth.state = GROWTH_LASTS;
    return growth;
}

/* "1.4 quarters (4.2 months)" */
static void write_quarters(double quarters, struct buffer *out)
{
    buffer_format(out, "%.1f quarters (%.1f months)", quarters, quarters * MONTHS_PER_QUARTER);
}

static void write_order(const struct sizing_growth *growth, double lead, struct buffer *out)
{
    buffer_format(out, " With a lead time of %.1f months the order ", lead * MONTHS_PER_QUARTER);
    if (growth->order > 0) {
        buffer_string(out, "must be placed within ");
        write_quarters(growth->order, out);
    } else {
        buffer_format(out, "is %.1f months late", -growth->order * MONTHS_PER_QUARTER);
    }
    buffer_char(out, '.');
}

void sizing_growth_show(struct show *show, const struct sizing *sizing)
{
    const struct sizing_growth growth = sizing_growth_of(sizing);
    if (growth.state == GROWTH_UNKNOWN)
        return;
    struct buffer *out = show_line(show, SHOW_LEAD);
    buffer_string(out, "What there is, ");
    sizing_write_amount(&sizing->options->question, growth.have, out);
    buffer_string(out, growth.state == GROWTH_BROKEN  ? ", does not suffice now"
                       : growth.state == GROWTH_LASTS ? ", suffices in all quarters of this plan"
                                                      : ", suffices for about ");
    if (growth.state == GROWTH_BREAKS) {
        write_quarters(growth.breaks, out);
        if (isfinite(growth.after))
            buffer_format(out, ", while the need grows from %.12g to %.12g", growth.before, growth.after);
    }
    buffer_string(out, growth.is_sure ? "." : "; not sure.");
    if (sizing->options->lead_quarters > 0 && isfinite(growth.order))
        write_order(&growth, sizing->options->lead_quarters, out);
}

void sizing_growth_json(const struct sizing *sizing, struct buffer *out)
{
    static const char *const states[] = {NULL, "broken", "breaks", "lasts"};
    const struct sizing_growth growth = sizing_growth_of(sizing);
    if (growth.state == GROWTH_UNKNOWN) {
        buffer_string(out, "null");
        return;
    }
    buffer_members(out, "{'have': %g, 'state': %s, 'breaks_quarters': %g, 'lead_quarters': %g, 'order_quarters': %g, ",
                   growth.have, states[growth.state], growth.breaks, sizing->options->lead_quarters, growth.order);
    buffer_members(out, "'is_sure': %hhd}", growth.is_sure);
}
