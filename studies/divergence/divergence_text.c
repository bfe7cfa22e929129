/* The first difference in words and as JSON. */
#include <string.h>

#include "reports/view.h"
#include "sim/record/record.h"
#include "studies/divergence/divergence.h"

enum { NAME_WIDTH_MAX = 60, LINE_WIDTH_MAX = 160 };

static const struct divergence_job *job_of(const struct divergence *divergence, job_id id)
{
    for (uint32_t j = 0; j < divergence->job_count; j++)
        if (divergence->jobs[j].is.id == id)
            return &divergence->jobs[j];
    return NULL;
}

static void write_place(const char *before, const struct divergence_act *act, struct buffer *out)
{
    if (act->place[0] == '\0')
        return;
    buffer_string(out, before);
    view_name(out, act->place, LINE_WIDTH_MAX);
}

static void write_start(const struct divergence_act *act, struct buffer *out)
{
    static const char *const sources[SOURCE_COUNT] = {
        [SOURCE_FREE] = "",
        [SOURCE_HEADROOM] = ", on headroom",
        [SOURCE_GRACE_0] = ", where others were killed for it",
        [SOURCE_EVICTION] = ", where others were evicted for it",
        [SOURCE_GAP] = ", in the gap before a planned start",
    };
    buffer_string(out, act->is_partial ? "gives it more members" : "starts it");
    write_place(" on ", act, out);
    buffer_string(out, sources[act->source]);
}

static void write_eviction(const struct divergence *divergence, const struct divergence_act *act, struct buffer *out)
{
    const struct divergence_job *preemptor = job_of(divergence, act->for_job);
    buffer_string(out, act->is_partial ? "evicts members of it" : "evicts it");
    write_place(" from ", act, out);
    if (preemptor != NULL) {
        buffer_string(out, " for ");
        named_job_write_name(&preemptor->is, out);
    }
    if (act->grace > 0) {
        buffer_string(out, " within ");
        buffer_scaled(out, act->grace, TIME_NS_PER_S);
        buffer_string(out, " s");
    }
    if (act->reason != REASON_NONE)
        buffer_format(out, ": %s", reason_name(act->reason));
}

static void write_act(const struct divergence *divergence, const struct divergence_act *act, struct buffer *out)
{
    switch (act->kind) {
    case DECISION_START:
        write_start(act, out);
        break;
    case DECISION_EVICT:
        write_eviction(divergence, act, out);
        break;
    case DECISION_RESERVE:
        buffer_string(out, "holds space for it");
        write_place(" on ", act, out);
        break;
    case DECISION_RELEASE:
        buffer_string(out, "gives up its reservation");
        break;
    case DECISION_REJECT:
        buffer_format(out, "rejects it: %s", reason_name(act->reason));
        break;
    case DECISION_REPARTITION:
        buffer_string(out, "cuts a GPU anew for it");
        write_place(": ", act, out);
        break;
    case DECISION_NOTIFY:
        buffer_format(out, "notifies its submitter: %s", reason_name(act->reason));
        break;
    }
    buffer_format(out, " (decision %llu)", (unsigned long long)act->number);
}

/* What the side does not do, but the other one does. */
static const char *word_of_lack(const struct divergence_view *other)
{
    static const char *const words[] = {
        [DECISION_START] = "does not start it",
        [DECISION_EVICT] = "does not evict it",
        [DECISION_RESERVE] = "holds no space for it",
        [DECISION_RELEASE] = "gives up no reservation of it",
        [DECISION_REJECT] = "does not reject it",
        [DECISION_REPARTITION] = "cuts no GPU for it",
        [DECISION_NOTIFY] = "does not notify its submitter",
    };
    if (other->act.number != 0)
        return words[other->act.kind];
    return other->evictions_for_it > 0 ? "evicts nobody for it" : "decides nothing for it";
}

static void write_lack(const struct divergence_view *view, const struct divergence_view *other, struct buffer *out)
{
    buffer_string(out, word_of_lack(other));
    if (!view->is_known)
        buffer_string(out, ": it has not come there");
    else if (view->is_explained)
        buffer_format(out, ": %s. %s", reason_name(view->code), view->needs);
    else if (view->state == END_RUNNING)
        buffer_string(out, ": it runs");
    else
        buffer_format(out, ": it is %s there", job_end_names[view->state]);
}

static void write_view(const struct divergence *divergence, const struct divergence_job *job, int who,
                       struct buffer *out)
{
    const struct divergence_view *view = &job->on[who], *other = &job->on[1 - who];
    if (view->act.number != 0)
        write_act(divergence, &view->act, out);
    else if (view->evictions_for_it == 0)
        write_lack(view, other, out);
    if (view->evictions_for_it > 0)
        buffer_format(out, "%s%u eviction%s for it", view->act.number != 0 ? ", and decides " : "decides ",
                      view->evictions_for_it, view->evictions_for_it == 1 ? "" : "s");
}

static void write_side(const char *const names[SIDE_COUNT], int who, struct buffer *out)
{
    size_t width = 0;
    for (int i = 0; i < SIDE_COUNT; i++)
        width = view_width(text_of(names[i])) > width ? view_width(text_of(names[i])) : width;
    buffer_string(out, "  ");
    view_name(out, names[who], NAME_WIDTH_MAX);
    for (size_t i = view_width(text_of(names[who])); i < width + 2; i++)
        buffer_char(out, ' ');
}

static void write_job(const struct divergence *divergence, const struct divergence_job *job,
                      const char *const names[SIDE_COUNT], struct buffer *out)
{
    named_job_write_name(&job->is, out);
    named_job_write_kind(&job->is, out);
    buffer_char(out, '\n');
    for (int who = 0; who < SIDE_COUNT; who++) {
        write_side(names, who, out);
        write_view(divergence, job, who, out);
        buffer_char(out, '\n');
    }
}

static void write_time(time_ns at, struct buffer *out)
{
    buffer_scaled(out, at, TIME_NS_PER_S);
    buffer_string(out, " s");
    if (at < 60 * TIME_NS_PER_S)
        return;
    buffer_string(out, " (");
    view_duration(out, time_to_seconds(at));
    buffer_char(out, ')');
}

static void write_fact(const struct divergence *divergence, const char *const names[SIDE_COUNT], struct buffer *out)
{
    buffer_string(out, "first fact that differs, so the inputs do: at ");
    write_time(divergence->fact_at, out);
    buffer_char(out, '\n');
    for (int who = 0; who < SIDE_COUNT; who++) {
        const char *line = divergence->fact_line[who];
        write_side(names, who, out);
        view_name(out, line[0] != '\0' ? line : "no such fact at that time", LINE_WIDTH_MAX);
        buffer_char(out, '\n');
    }
}

void divergence_text(const struct divergence *divergence, const char *a, const char *b, struct buffer *out)
{
    const char *const names[SIDE_COUNT] = {a, b};
    if (divergence->is_stopped) {
        buffer_string(out, "first decision that differs: not known, the search was stopped\n");
        return;
    }
    if (divergence->has_fact)
        write_fact(divergence, names, out);
    if (!divergence->has_decision) {
        buffer_string(out, "first decision that differs: none\n");
        return;
    }
    buffer_string(out, "first decision that differs: at ");
    write_time(divergence->at, out);
    buffer_format(out, "; before it, %llu cycle%s decided the same\n", (unsigned long long)divergence->same_count,
                  divergence->same_count == 1 ? "" : "s");
    for (uint32_t j = 0; j < divergence->job_count; j++)
        write_job(divergence, &divergence->jobs[j], names, out);
}

/* ---- JSON ---- */

static void json_line(struct buffer *out, const char *line)
{
    buffer_string(out, line[0] != '\0' ? line : "null");
}

static void json_view(const struct divergence_view *view, const char *name, struct buffer *out)
{
    buffer_members(out, ",\n   {'side': %s, 'decision': ", name);
    json_line(out, view->act.number != 0 ? view->act.line : "");
    buffer_members(out, ", 'evictions_for_it': %u, 'state': %s", view->evictions_for_it,
                   view->is_known ? job_end_names[view->state] : "unknown");
    if (view->is_explained)
        buffer_members(out, ", 'code': %s, 'needs': %s", reason_name(view->code), view->needs);
    buffer_char(out, '}');
}

static void json_job(const struct divergence_job *job, const char *const names[SIDE_COUNT], struct buffer *out)
{
    buffer_members(out, ",\n  {");
    named_job_write_json(&job->is, out);
    buffer_members(out, ", 'sides': [");
    for (int who = 0; who < SIDE_COUNT; who++)
        json_view(&job->on[who], names[who], out);
    buffer_string(out, "]}");
}

static void json_fact(const struct divergence *divergence, struct buffer *out)
{
    buffer_members(out, "'fact': {'at_s': %.9lld, 'lines': [", (long long)divergence->fact_at);
    json_line(out, divergence->fact_line[SIDE_A]);
    buffer_string(out, ", ");
    json_line(out, divergence->fact_line[SIDE_B]);
    buffer_string(out, "]}");
}

static void json_decision(const struct divergence *divergence, const char *const names[SIDE_COUNT], struct buffer *out)
{
    buffer_members(out, ", 'at_s': %.9lld, 'same_cycles': %llu, 'decisions': [", (long long)divergence->at,
                   (unsigned long long)divergence->same_count);
    for (int who = 0; who < SIDE_COUNT; who++)
        if (divergence->number[who] != 0)
            buffer_members(out, ", %llu", (unsigned long long)divergence->number[who]);
        else
            buffer_members(out, ", null");
    buffer_members(out, "], 'jobs': [");
    for (uint32_t j = 0; j < divergence->job_count; j++)
        json_job(&divergence->jobs[j], names, out);
    buffer_char(out, ']');
}

void divergence_json(const struct divergence *divergence, const char *a, const char *b, struct buffer *out)
{
    const char *const names[SIDE_COUNT] = {a, b};
    if (!divergence->has_fact && !divergence->has_decision) {
        buffer_string(out, "null");
        return;
    }
    buffer_char(out, '{');
    if (divergence->has_fact)
        json_fact(divergence, out);
    if (divergence->has_decision)
        json_decision(divergence, names, out);
    buffer_char(out, '}');
}
