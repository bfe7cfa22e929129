/* studies/sizing/sizing_words.c -- the answer of a plan, in words. */
#include <math.h>
#include <string.h>

#include "reports/view.h"
#include "studies/sizing/sizing_show_inside.h"

bool sizing_is_least(const struct sizing *sizing)
{
    return sizing->options->question.aim == SIZING_SMALLEST;
}

/* The name of the pool whose nodes are sought; empty: something else is. */
static struct text pool_of(const struct sizing_question *question)
{
    static const struct text pools = TEXT("cluster.pools."), nodes = TEXT(".nodes");
    const struct text path = text_of(question->path);
    if (path.length <= pools.length + nodes.length || memcmp(path.at, pools.at, pools.length) != 0 ||
        memcmp(path.at + path.length - nodes.length, nodes.at, nodes.length) != 0)
        return TEXT("");
    return (struct text){path.at + pools.length, path.length - pools.length - nodes.length};
}

/* The load that is sought, in words; NULL: something else is. */
static const char *load_of(const struct sizing_question *question)
{
    if (strcmp(question->path, "workload.load") == 0)
        return "offered load";
    return strcmp(question->path, "workload.synth.load_whole_gpu") == 0 ? "load of whole-GPU jobs" : NULL;
}

void sizing_write_sought(const struct sizing_question *question, struct buffer *out)
{
    const struct text pool = pool_of(question);
    if (pool.length > 0)
        buffer_format(out, "number of nodes of the pool %.*s", (int)pool.length, pool.at);
    else
        buffer_string(out, load_of(question) != NULL ? load_of(question) : question->path);
}

void sizing_write_amount(const struct sizing_question *question, double number, struct buffer *out)
{
    const struct text pool = pool_of(question);
    if (pool.length > 0)
        buffer_format(out, "%.12g node%s of the pool %.*s", number, number == 1 ? "" : "s", (int)pool.length, pool.at);
    else if (load_of(question) != NULL)
        buffer_format(out, "a%s %s of %.12g", load_of(question)[0] == 'o' ? "n" : "", load_of(question), number);
    else
        sizing_write_setting(question, number, out);
}

void sizing_write_verdict(const struct sizing_point *point, struct buffer *out)
{
    if (point->is_sure)
        buffer_string(out, point->holds ? "met" : "not met");
    else
        buffer_format(out, "met in %zu of %zu seed%s, not sure", point->met_count, point->run_count,
                      point->run_count == 1 ? "" : "s");
}

/* ---- The answer ---- */

static void write_confidence(const struct sizing *sizing, struct buffer *out)
{
    buffer_format(out, "Sure to %g %%", 100 * (1 - sizing->options->alpha));
}

/* No number that was tried meets the levels. */
static void write_none(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_question *question = &sizing->options->question;
    if (answer->run_count == 0) {
        buffer_string(out, "Nothing is known: no run had ended.");
    } else if (answer->is_whole) {
        buffer_string(out, "No ");
        sizing_write_sought(question, out);
        buffer_format(out, " from %.12g to %.12g meets the service levels%s.", question->low, question->high,
                      answer->is_sure ? "" : ", as far as the runs tell");
    } else {
        buffer_format(out, "The %s ", sizing_is_least(sizing) ? "least" : "largest");
        sizing_write_sought(question, out);
        buffer_format(out, " that meets the service levels was not found in %zu runs.", answer->run_count);
    }
}

static void write_sure(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_question *question = &sizing->options->question;
    buffer_format(out, "The %s ", sizing_is_least(sizing) ? "least" : "largest");
    sizing_write_sought(question, out);
    buffer_format(out, " that meets the service levels is %.12g.", answer->number);
    if (answer->number == (sizing_is_least(sizing) ? question->low : question->high))
        buffer_format(out, " It is the end of the range: a %s one may do too.",
                      sizing_is_least(sizing) ? "smaller" : "larger");
    if (answer->is_exact) {
        buffer_string(out, " One run of each number decided: it is that of this replay alone.");
    } else {
        buffer_char(out, ' ');
        write_confidence(sizing, out);
        buffer_char(out, '.');
    }
}

/* "With 17 nodes of the pool h100 the service levels are met; with 16 they are met in 15 of 20 seeds, not sure." */
static void write_in_doubt(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    const struct sizing_point *at = sizing_answer_point(answer), *past = sizing_past_point(sizing, answer);
    buffer_string(out, "With ");
    sizing_write_amount(&sizing->options->question, answer->number, out);
    buffer_string(out, " the service levels are ");
    sizing_write_verdict(at, out);
    if (past != NULL && answer->is_whole) {
        buffer_format(out, "; with %.12g they are ", past->number);
        sizing_write_verdict(past, out);
    }
    buffer_char(out, '.');
    if (!answer->is_whole)
        buffer_format(out, " The %s that does was not found in %zu runs.",
                      sizing_is_least(sizing) ? "least" : "largest", answer->run_count);
    const bool has_limit = answer->has_limit && !answer->is_gapped;
    if (!has_limit && !answer->has_enough)
        return;
    buffer_char(out, ' ');
    write_confidence(sizing, out);
    if (has_limit)
        buffer_format(out, sizing_is_least(sizing) ? ": at least %.12g are needed" : ": at most %.12g may do",
                      answer->limit);
    if (answer->has_enough)
        buffer_format(out, sizing_is_least(sizing) ? "%s %.12g are enough" : "%s %.12g does", has_limit ? "," : ":",
                      answer->enough);
    buffer_char(out, '.');
}

/* ---- What the answer takes for granted ---- */

/* "queue_time_p95_s of training is worse with 12 than with 9, by 1h 02m (55m 10s to 1h 09m)" */
static void write_reversal(const struct sizing_answer *answer, const struct sizing_reversal *reversal,
                           struct buffer *out)
{
    const struct gate *gate = reversal->gate;
    metric_selector_write(&gate->of, out);
    buffer_format(out, " is worse with %.12g than with %.12g, by ", reversal->to, reversal->from);
    view_metric(out, gate->of.metric, gate->unit, reversal->worse);
    if (answer->is_exact)
        return;
    buffer_string(out, " (");
    view_metric(out, gate->of.metric, gate->unit, reversal->low);
    buffer_string(out, " to ");
    view_metric(out, gate->of.metric, gate->unit, reversal->high);
    buffer_char(out, ')');
}

bool sizing_write_reversals(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    enum { SHOWN = 3 };
    if (answer->reversal_count == 0 && !answer->is_gapped)
        return false;
    buffer_format(out, "%s is not always better here", sizing_is_least(sizing) ? "More" : "Less");
    for (size_t r = 0; r < answer->reversal_count && r < SHOWN; r++) {
        buffer_string(out, r == 0 ? ": " : "; ");
        write_reversal(answer, &answer->reversals[r], out);
    }
    if (answer->reversal_count > SHOWN)
        buffer_format(out, "; and so on, %zu times", answer->reversal_count);
    buffer_char(out, '.');
    if (!answer->has_beyond || !answer->is_found)
        return true;
    buffer_format(out, " The levels are met with %.12g too", answer->beyond);
    buffer_format(out,
                  answer->is_gapped ? ", but not with some between: " : ", as it seems, but not with some between: ");
    buffer_format(out, "the answer is the %s from which on all that were tried meet them.",
                  sizing_is_least(sizing) ? "least" : "largest");
    return true;
}

void sizing_write_assumption(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    double low = INFINITY, high = -INFINITY;
    size_t count = 0;
    for (size_t p = 0; p < answer->point_count; p++)
        if (answer->points[p].run_count > 0) {
            low = fmin(low, answer->points[p].number);
            high = fmax(high, answer->points[p].number);
            count++;
        }
    buffer_format(out,
                  "It is taken that %s does no harm between the %zu numbers that were tried, from %.12g to %.12g, and "
                  "beyond them.",
                  sizing_is_least(sizing) ? "more" : "less", count, low, high);
    if (answer->reversal_count == 0 && !answer->is_gapped)
        buffer_string(out, " Of these none is worse, for sure, than one before it.");
}

void sizing_write_answer(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out)
{
    if (!answer->is_found)
        write_none(sizing, answer, out);
    else if (answer->is_whole && answer->is_sure)
        write_sure(sizing, answer, out);
    else
        write_in_doubt(sizing, answer, out);
}
