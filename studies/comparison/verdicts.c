#include "studies/comparison/verdicts.h"

#include <math.h>
#include <string.h>

struct error verdicts_check(const struct comparison_options *options)
{
    if (options->fork != NULL)
        return error_new(ERROR_USAGE,
                         "'--assumptions' runs the sides from their beginning, and these go on from a moment");
    for (size_t side = 0; side < options->side_count; side++)
        if (options->sides[side].record != NULL || options->sides[side].baseline != NULL)
            return error_new(ERROR_USAGE,
                             "'--assumptions' runs all sides again, and '%s' has been run: name its scenario",
                             options->sides[side].name);
    return ERROR_OK;
}

/* Alternatives of the same name are the same for all sides: they are about the jobs. */
static void join(struct alternatives *all, const struct alternatives *other)
{
    for (size_t i = 0; i < other->count && all->count < ALTERNATIVES_MAX; i++) {
        size_t at = 0;
        while (at < all->count && strcmp(all->of[at].name, other->of[i].name) != 0)
            at++;
        if (at == all->count)
            all->of[all->count++] = other->of[i];
    }
}

static struct error survey(struct verdicts *verdicts, const struct comparison_options *options)
{
    for (size_t side = 0; side < options->side_count; side++) {
        struct assumed_list list;
        struct alternatives alternatives;
        TRY(assumptions_survey(&options->sides[side].scenario, &verdicts->arena, &list, &alternatives));
        assumed_join(&verdicts->assumed, &list);
        join(&verdicts->alternatives, &alternatives);
    }
    return ERROR_OK;
}

/* The rows of the comparison that are judged. */
static void find_rows(struct verdicts *verdicts, const char *metric)
{
    const struct comparison *comparison = verdicts->comparison;
    for (size_t r = 0; r < comparison->row_count && verdicts->row_count < VERDICT_ROWS_MAX; r++) {
        const struct metric_selector *of = &comparison->rows[r].of;
        if (strcmp(of->metric, metric) == 0 && (of->cut == NULL || strcmp(of->cut, "workload_class") == 0))
            verdicts->rows[verdicts->row_count++] = *of;
    }
}

static const struct difference *find_difference(const struct comparison *comparison, size_t side,
                                                const struct metric_selector *of)
{
    for (size_t r = 0; r < comparison->row_count; r++)
        if (metric_selector_is_same(&comparison->rows[r].of, of))
            return &comparison->differences[side][r];
    return NULL;
}

static void keep_case(struct verdicts *verdicts, const struct comparison *comparison, struct verdict_case *out)
{
    const size_t count = comparison->side_count * verdicts->row_count;
    out->verdicts = arena_alloc_array(&verdicts->arena, count + 1, struct verdict);
    out->gates = comparison_state(comparison);
    for (size_t side = 1; side < comparison->side_count; side++)
        for (size_t r = 0; r < verdicts->row_count; r++) {
            const struct difference *found = find_difference(comparison, side, &verdicts->rows[r]);
            out->verdicts[side * verdicts->row_count + r] =
                found != NULL ? (struct verdict){found->mark, found->base, found->candidate}
                              : (struct verdict){'?', NAN, NAN};
        }
}

/* The sides with one more setting, in the arena. */
static const struct comparison_side_options *sides_with(struct verdicts *verdicts,
                                                        const struct comparison_options *options, const char *set)
{
    struct comparison_side_options *sides =
        arena_alloc_array(&verdicts->arena, options->side_count, struct comparison_side_options);
    for (size_t side = 0; side < options->side_count; side++) {
        sides[side] = options->sides[side];
        struct scenario_options *scenario = &sides[side].scenario;
        const char **sets = arena_alloc_array(&verdicts->arena, scenario->set_count + 1, const char *);
        for (size_t s = 0; s < scenario->set_count; s++)
            sets[s] = scenario->sets[s];
        sets[scenario->set_count++] = set;
        scenario->sets = sets;
    }
    return sides;
}

static void run_case(struct verdicts *verdicts, const struct comparison_options *options, struct verdict_case *out)
{
    struct comparison_options own = *options;
    struct comparison comparison = {.options = NULL};
    own.sides = sides_with(verdicts, options, out->of->set);
    own.gates = &verdicts->comparison->gates;
    own.finds_first = false;
    own.records = NULL;
    own.on_begin = NULL;
    struct error error = comparison_run(&comparison, &own);
    if (error_is(error))
        out->failure = arena_copy(&verdicts->arena, text_of(error_message(&error)));
    else
        keep_case(verdicts, &comparison, out);
    error_release(&error);
    comparison_release(&comparison);
}

struct error verdicts_run(struct verdicts *verdicts, const struct comparison *comparison, const char *metric)
{
    const struct comparison_options *options = comparison->options;
    *verdicts = (struct verdicts){.comparison = comparison};
    TRY(verdicts_check(options));
    TRY(survey(verdicts, options));
    find_rows(verdicts, metric);
    keep_case(verdicts, comparison, &verdicts->cases[verdicts->case_count++]);
    for (size_t a = 0; a < verdicts->alternatives.count; a++) {
        if (options->stop != NULL && *options->stop != 0)
            break;
        struct verdict_case *own = &verdicts->cases[verdicts->case_count];
        *own = (struct verdict_case){.of = &verdicts->alternatives.of[a]};
        run_case(verdicts, options, own);
        verdicts->case_count += options->stop == NULL || *options->stop == 0;
    }
    return ERROR_OK;
}

void verdicts_release(struct verdicts *verdicts)
{
    arena_release(&verdicts->arena);
    *verdicts = (struct verdicts){.comparison = NULL};
}

static int direction(char mark)
{
    return mark == '+' ? 1 : mark == '-' ? -1 : 0;
}

static enum verdict_change change(int as_it_is, int other)
{
    return as_it_is == other ? VERDICT_HOLDS : as_it_is == -other ? VERDICT_TURNS : VERDICT_FADES;
}

enum verdict_change verdicts_change(const struct verdicts *verdicts, size_t of_case, size_t side, size_t row)
{
    const size_t at = side * verdicts->row_count + row;
    if (verdicts->cases[of_case].failure != NULL)
        return VERDICT_HOLDS;
    return change(direction(verdicts->cases[0].verdicts[at].mark),
                  direction(verdicts->cases[of_case].verdicts[at].mark));
}

enum verdict_change verdicts_change_of_gates(const struct verdicts *verdicts, size_t of_case)
{
    static const int directions[] = {[GATE_PASSED] = 1, [GATE_FAILED] = -1};
    const enum gate_state was = verdicts->cases[0].gates, is = verdicts->cases[of_case].gates;
    if (verdicts->cases[of_case].failure != NULL)
        return VERDICT_HOLDS;
    return change(was <= GATE_FAILED ? directions[was] : 0, is <= GATE_FAILED ? directions[is] : 0);
}

void comparison_assumed(const struct comparison *comparison, struct assumed_list *out)
{
    *out = (struct assumed_list){.count = 0};
    for (size_t side = 0; side < comparison->side_count; side++)
        for (size_t seed = 0; seed < comparison->seed_count; seed++)
            if (comparison->sides[side].runs[seed].state == COMPARISON_RUN_DONE)
                assumed_join(out, &comparison->sides[side].runs[seed].values.result.manifest.workload.assumed);
}
