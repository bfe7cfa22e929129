/* Finds the first difference: trail.h narrows it down to a unit, then both sides are run up to its time. */
#include "studies/divergence/divergence.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "policies/explain.h"
#include "sim/job/placement_text.h"
#include "studies/divergence/steps.h"

enum { FACTS, DECISIONS, KIND_COUNT };
enum { PASSES_MAX = 200 }; /* each narrows the difference down by half at least */

/* The decisions of one cycle. */
struct decision_list {
    struct decided { /* without pieces */
        struct decision decision;
        const char *place, *line; /* line: with the id 0 */
    } * at;
    size_t count;
};

struct search {
    struct side sides[SIDE_COUNT];
    struct steps steps; /* of the side that runs */
    struct divergence_options options;
    volatile sig_atomic_t is_over; /* ends the run that goes on */
    time_ns enough_at;             /* side A is not needed behind this time */
    struct trail kept[KIND_COUNT]; /* of side A */
    struct trail_match match[KIND_COUNT];
    struct trail_unit met[KIND_COUNT]; /* the unit of side B in which the match was found; at TIME_NEVER: none */
    time_ns at[KIND_COUNT];            /* of the first difference; TIME_NEVER: none */
    struct decision_list lists[SIDE_COUNT];
    struct buffer fact_lines[SIDE_COUNT]; /* of the unit that differs */
    int who;                              /* the side that runs */
    struct arena arena;
    struct divergence *out;
};

/* ---- Which unit: side A leaves a trail, side B follows it ---- */

static bool is_stopped(const struct search *search)
{
    return search->options.stop != NULL && *search->options.stop != 0;
}

static void heed_stop(struct search *search)
{
    if (is_stopped(search))
        search->is_over = 1;
}

/* The run may end when nothing more can come at the time of the last decision that is of interest. */
static void end_behind(struct search *search, time_ns at)
{
    heed_stop(search);
    if (at > search->enough_at)
        search->is_over = 1;
}

static void keep_facts(void *self, const struct trail_unit *unit)
{
    struct search *search = self;
    trail_add(&search->kept[FACTS], unit);
    end_behind(search, unit->at);
}

static void keep_decisions(void *self, const struct trail_unit *unit, const struct decision *decisions, size_t count)
{
    struct search *search = self;
    struct trail *kept = &search->kept[DECISIONS];
    (void)decisions;
    (void)count;
    trail_add(kept, unit);
    end_behind(search, unit->at);
    if (kept->count >= kept->last && search->enough_at == TIME_NEVER)
        search->enough_at = unit->at;
}

/* Compare the next unit of side B.  True: it is the one in which the difference was found. */
static bool match_unit(struct search *search, int kind, const struct trail_unit *unit)
{
    struct trail_match *match = &search->match[kind];
    if (match->is_found)
        return false;
    trail_match_add(match, unit);
    if (match->is_found)
        search->met[kind] = *unit;
    return match->is_found;
}

static void match_facts(void *self, const struct trail_unit *unit)
{
    struct search *search = self;
    heed_stop(search);
    if (!search->match[DECISIONS].is_found)
        match_unit(search, FACTS, unit);
}

static void list_decisions(struct search *search, int who, const struct decision *decisions, size_t count)
{
    struct decision_list *list = &search->lists[who];
    struct buffer place = {0};
    *list = (struct decision_list){.at = arena_alloc_many(&search->arena, count, sizeof *list->at), .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct text line = steps_decision_line(&search->steps, &decisions[i], 0);
        place.length = 0;
        placement_text(&place, search->sides[who].scenario.cluster, decisions[i].pieces, decisions[i].piece_count);
        list->at[i].decision = decisions[i];
        list->at[i].decision.pieces = NULL;
        list->at[i].decision.waited = NULL;
        list->at[i].line = arena_copy(&search->arena, (struct text){line.at, line.length - 1});
        list->at[i].place = arena_copy(&search->arena, (struct text){place.bytes, place.length});
    }
    buffer_release(&place);
}

static void match_decisions(void *self, const struct trail_unit *unit, const struct decision *decisions, size_t count)
{
    struct search *search = self;
    heed_stop(search);
    if (!match_unit(search, DECISIONS, unit))
        return;
    list_decisions(search, SIDE_B, decisions, count);
    search->is_over = 1;
}

static struct error run(struct search *search, int who, time_ns until, const struct steps_hooks *hooks,
                        const struct record_sink *sink, void (*on_end)(void *, struct sched *, time_ns))
{
    search->is_over = 0;
    search->who = who;
    steps_begin(&search->steps, &search->sides[who], hooks);
    struct error error = side_run(&search->sides[who], &(struct side_run){.until = until,
                                                                          .listener = &search->steps.listener,
                                                                          .sink = sink,
                                                                          .stop = &search->is_over,
                                                                          .on_end = on_end,
                                                                          .end_self = search});
    steps_end(&search->steps);
    return error;
}

static struct error run_both(struct search *search)
{
    const struct steps_hooks keep = {.self = search, .on_facts = keep_facts, .on_decisions = keep_decisions};
    const struct steps_hooks match = {.self = search, .on_facts = match_facts, .on_decisions = match_decisions};
    search->enough_at = TIME_NEVER;
    TRY(run(search, SIDE_A, TIME_NEVER, &keep, NULL, NULL));
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        search->match[kind] = trail_match_of(&search->kept[kind]);
        search->met[kind].at = TIME_NEVER;
    }
    search->lists[SIDE_B] = (struct decision_list){0};
    TRY(run(search, SIDE_B, TIME_NEVER, &match, NULL, NULL));
    trail_match_end(&search->match[DECISIONS]);
    if (search->met[DECISIONS].at == TIME_NEVER) /* else side B has not told all its facts */
        trail_match_end(&search->match[FACTS]);
    return ERROR_OK;
}

/* Is the unit known in which the sides differ, or that they do not; and when side A had it? */
static bool is_settled(const struct search *search, int kind)
{
    const struct trail_match *match = &search->match[kind];
    const struct trail *kept = &search->kept[kind];
    if (!match->is_found && (kind == DECISIONS || search->met[DECISIONS].at == TIME_NEVER))
        return true;
    if (!match->is_found) /* side B was stopped: side A may have one fact more before its decision */
        return match->same >= match->count &&
               (match->same > match->count || match->count >= kept->count || trail_mark_of(kept, match->count) != NULL);
    return trail_match_is_exact(match) && (match->same >= kept->count || trail_mark_of(kept, match->same) != NULL);
}

/* The trail that side A leaves next: with marks between these units, and up to a power of two, so that every stride
 * divides what it covers. */
static void renew_trail(struct search *search, int kind, uint64_t first, uint64_t last)
{
    uint64_t span = 1;
    while (last != UINT64_MAX && first + span < last)
        span *= 2;
    last = last == UINT64_MAX ? last : first + span;
    trail_release(&search->kept[kind]);
    search->kept[kind] = trail_from(first, last);
    if (search->options.marks_max != 0)
        search->kept[kind].marks_max = search->options.marks_max;
}

static time_ns earlier(time_ns a, time_ns b)
{
    return a < b ? a : b;
}

static time_ns time_of(const struct search *search, int kind)
{
    const struct trail_mark *mark = trail_mark_of(&search->kept[kind], search->match[kind].same);
    if (!search->match[kind].is_found)
        return TIME_NEVER;
    return earlier(mark != NULL ? mark->at : TIME_NEVER, search->met[kind].at);
}

/* Side B was stopped where its decision differs.  A fact that side A alone has is found by what comes next there. */
static void find_fact_of_a(struct search *search)
{
    struct trail_match *match = &search->match[FACTS];
    const struct trail_mark *mark = trail_mark_of(&search->kept[FACTS], match->count);
    if (match->is_found || !search->match[DECISIONS].is_found || match->same != match->count || mark == NULL)
        return;
    match->is_found = true;
    match->until = match->same + 1;
}

/* Does the fact that differs come before the decision that does?  If not, it follows from it. */
static bool is_fact_first(const struct search *search)
{
    const struct trail_mark *mark = trail_mark_of(&search->kept[FACTS], search->match[FACTS].same);
    const struct trail_unit *met = &search->met[FACTS];
    const time_ns at = search->at[FACTS];
    if (at != search->at[DECISIONS])
        return at < search->at[DECISIONS];
    const uint64_t same = search->match[DECISIONS].same;
    return at != TIME_NEVER &&
           ((mark != NULL && mark->at == at && mark->after <= same) || (met->at == at && met->after <= same));
}

/* Beyond this unit nothing needs to be looked at again. */
static uint64_t last_of(const struct search *search, int kind)
{
    const struct trail_match *match = &search->match[kind];
    if (match->is_found)
        return match->until;
    return kind == FACTS && search->match[DECISIONS].is_found ? match->count + 1 : UINT64_MAX;
}

static struct error find_units(struct search *search)
{
    for (int kind = 0; kind < KIND_COUNT; kind++)
        renew_trail(search, kind, 0, UINT64_MAX);
    TRY(run_both(search));
    uint32_t passes = 1;
    while (!is_stopped(search) && !(is_settled(search, FACTS) && is_settled(search, DECISIONS))) {
        if (++passes > PASSES_MAX)
            return error_new(ERROR_INTERNAL, "the search for the first difference does not end");
        for (int kind = 0; kind < KIND_COUNT; kind++) { /* what is settled too, since it is looked for again */
            const struct trail_match match = search->match[kind];
            renew_trail(search, kind, match.same, last_of(search, kind));
        }
        TRY(run_both(search));
    }
    find_fact_of_a(search);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        search->at[kind] = time_of(search, kind);
    search->out->has_decision = search->at[DECISIONS] != TIME_NEVER;
    search->out->has_fact = is_fact_first(search);
    return ERROR_OK;
}

/* ---- What was decided then ---- */

/* The index of the first decision that differs. */
static size_t first_other(const struct search *search)
{
    const struct decision_list *a = &search->lists[SIDE_A], *b = &search->lists[SIDE_B];
    size_t i = 0;
    while (i < a->count && i < b->count && strcmp(a->at[i].line, b->at[i].line) == 0)
        i++;
    return i;
}

static void choose_job(struct divergence *out, job_id id)
{
    for (uint32_t j = 0; j < out->job_count; j++)
        if (out->jobs[j].is.id == id)
            return;
    if (id == JOB_NONE)
        return;
    assert(out->job_count < DIVERGENCE_JOBS_MAX);
    out->jobs[out->job_count++] = (struct divergence_job){.is.id = id};
}

/* The jobs of the first decisions that differ, as far as the lists are known. */
static void choose_jobs(struct search *search)
{
    const size_t i = first_other(search);
    search->out->job_count = 0;
    for (int who = 0; who < SIDE_COUNT; who++) {
        const struct decision_list *list = &search->lists[who];
        search->out->number[who] = i < list->count ? decision_number(list->at[i].decision.id) : 0;
        if (i >= list->count)
            continue;
        choose_job(search->out, list->at[i].decision.job);
        choose_job(search->out, list->at[i].decision.for_job);
    }
}

static struct divergence_act act_of(struct search *search, const struct decided *decided)
{
    static const char no_id[] = ":0,"; /* the id is the first value of the line */
    const struct decision *decision = &decided->decision;
    struct buffer line = {0};
    const char *rest = strstr(decided->line, no_id);
    assert(rest != NULL);
    buffer_bytes(&line, decided->line, (size_t)(rest - decided->line));
    buffer_format(&line, ":%llu,%s", (unsigned long long)decision_number(decision->id), rest + sizeof no_id - 1);
    const struct divergence_act act = {.number = decision_number(decision->id),
                                       .kind = decision->kind,
                                       .is_partial = decision->is_partial,
                                       .for_job = decision->for_job,
                                       .place = arena_copy(&search->out->arena, text_of(decided->place)),
                                       .reason = decision->reason,
                                       .grace = decision->grace,
                                       .source = decision->source,
                                       .line = arena_copy(&search->out->arena, (struct text){line.bytes, line.length})};
    buffer_release(&line);
    return act;
}

/* What each side decided of the chosen jobs: from the first decision that differs on. */
static void fill_acts(struct search *search)
{
    const size_t first = first_other(search);
    for (uint32_t j = 0; j < search->out->job_count; j++)
        for (int who = 0; who < SIDE_COUNT; who++) {
            struct divergence_job *job = &search->out->jobs[j];
            const struct decision_list *list = &search->lists[who];
            for (size_t i = list->count; i-- > first;) {
                if (list->at[i].decision.job == job->is.id)
                    job->on[who].act = act_of(search, &list->at[i]);
                job->on[who].evictions_for_it += list->at[i].decision.for_job == job->is.id;
            }
        }
}

/* ---- What the jobs are, and why they wait ---- */

/* Of the unit that differs, if the side has it at that time and not as a consequence of its decision. */
static void keep_fact_line(void *self, struct text line)
{
    struct search *search = self;
    const struct trail_unit *unit = &search->steps.facts;
    if (search->out->has_fact && search->steps.fact_units == search->match[FACTS].same &&
        unit->at == search->at[FACTS] &&
        (unit->at < search->at[DECISIONS] || unit->after <= search->match[DECISIONS].same))
        buffer_text(&search->fact_lines[search->who], line);
}

static void pass_facts(void *self, const struct trail_unit *unit)
{
    (void)unit;
    heed_stop(self);
}

static void keep_list(void *self, const struct trail_unit *unit, const struct decision *decisions, size_t count)
{
    struct search *search = self;
    if (search->who != SIDE_A || unit->at != search->at[DECISIONS] ||
        search->steps.decision_units != search->match[DECISIONS].same)
        return;
    list_decisions(search, SIDE_A, decisions, count);
    choose_jobs(search);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct search *search = self;
    struct divergence *out = search->out;
    for (uint32_t j = 0; j < out->job_count; j++) {
        struct divergence_job *job = &out->jobs[j];
        if (job->is.id != row->id)
            continue;
        job->on[search->who].is_known = true;
        job->on[search->who].state = row->state;
        if (job->is.name == NULL)
            named_job_take(&job->is, row, &out->arena);
    }
    return ERROR_OK;
}

static void explain_jobs(void *self, struct sched *sched, time_ns now)
{
    struct search *search = self;
    struct explanation why;
    (void)now;
    for (uint32_t j = 0; j < search->out->job_count; j++) {
        struct divergence_view *view = &search->out->jobs[j].on[search->who];
        if (!sched_explain(sched, search->out->jobs[j].is.id, &why))
            continue;
        view->is_explained = true;
        view->code = why.code;
        view->needs = arena_copy(&search->out->arena, text_of(why.text));
    }
}

static struct error read_sides(struct search *search)
{
    const struct steps_hooks hooks = {
        .self = search, .on_fact_line = keep_fact_line, .on_facts = pass_facts, .on_decisions = keep_list};
    const struct record_sink sink = {.self = search, .on_job = on_job};
    const time_ns until = search->out->has_decision ? search->at[DECISIONS] : search->at[FACTS];
    if (search->met[DECISIONS].at != search->at[DECISIONS])
        search->lists[SIDE_B] = (struct decision_list){0}; /* it decides later */
    choose_jobs(search);
    for (int who = 0; who < SIDE_COUNT; who++)
        TRY(run(search, who, until, &hooks, &sink, explain_jobs));
    fill_acts(search);
    return ERROR_OK;
}

/* The first lines of the unit that differ. */
static void tell_fact(struct search *search)
{
    struct text rest[SIDE_COUNT], line[SIDE_COUNT];
    for (int who = 0; who < SIDE_COUNT; who++)
        rest[who] = (struct text){search->fact_lines[who].bytes, search->fact_lines[who].length};
    do
        for (int who = 0; who < SIDE_COUNT; who++) {
            line[who] = TEXT("");
            if (rest[who].length > 0)
                text_cut(&rest[who], '\n', &line[who]);
        }
    while (text_equal(line[SIDE_A], line[SIDE_B]) && line[SIDE_A].length > 0);
    for (int who = 0; who < SIDE_COUNT; who++)
        search->out->fact_line[who] = arena_copy(&search->out->arena, line[who]);
    search->out->fact_at = search->at[FACTS];
}

/* ---- The search ---- */

static struct error find(struct search *search)
{
    struct divergence *out = search->out;
    TRY(find_units(search));
    out->at = search->at[DECISIONS];
    out->same_count = search->match[DECISIONS].same;
    if (!is_stopped(search) && (out->has_decision || out->has_fact))
        TRY(read_sides(search));
    if (is_stopped(search)) {
        divergence_release(out);
        out->is_stopped = true;
    } else if (out->has_fact) {
        tell_fact(search);
    }
    return ERROR_OK;
}

static struct error find_between(struct search *search, const struct scenario_options *b)
{
    TRY(side_open(&search->sides[SIDE_B], b));
    struct error error = find(search);
    side_release(&search->sides[SIDE_B]);
    return error;
}

struct error divergence_find(const struct scenario_options *a, const struct scenario_options *b,
                             const struct divergence_options *options, struct divergence *out)
{
    struct search search = {.out = out};
    if (options != NULL)
        search.options = *options;
    *out = (struct divergence){0};
    TRY(side_open(&search.sides[SIDE_A], a));
    struct error error = find_between(&search, b);
    side_release(&search.sides[SIDE_A]);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        trail_release(&search.kept[kind]);
    for (int who = 0; who < SIDE_COUNT; who++)
        buffer_release(&search.fact_lines[who]);
    arena_release(&search.arena);
    if (error_is(error))
        divergence_release(out);
    return error;
}

void divergence_release(struct divergence *divergence)
{
    arena_release(&divergence->arena);
    *divergence = (struct divergence){0};
}
