/* studies/comparison/comparison_long.c -- one run of each side: the queue times of the same jobs as a series. */
#include <string.h>

#include "reports/record_read.h"
#include "studies/comparison/comparison_inside.h"

/* ---- from the run to the comparison ---- */

/* Behind a NUL, since it is no JSON: both ends are the same program on the same machine. */
void comparison_write_waits(const struct job_waits *waits, struct buffer *out)
{
    buffer_char(out, '\0');
    buffer_bytes(out, (const char *)waits->jobs, waits->count * sizeof *waits->jobs);
}

struct text comparison_take_waits(struct text bytes, struct job_waits *waits)
{
    const size_t length = strnlen(bytes.at, bytes.length);
    *waits = (struct job_waits){0};
    if (length < bytes.length) {
        waits->count = (bytes.length - length - 1) / sizeof *waits->jobs;
        MEM_GROW(waits->jobs, waits->capacity, waits->count + 1);
        memcpy(waits->jobs, bytes.at + length + 1, waits->count * sizeof *waits->jobs);
    }
    return (struct text){bytes.at, length};
}

/* ---- the series ---- */

static bool is_done(const struct comparison *comparison, size_t side)
{
    return comparison->sides[side].runs[0].state == COMPARISON_RUN_DONE;
}

static const struct result *result_of(const struct comparison *comparison, size_t side)
{
    return &comparison->sides[side].runs[0].values.result;
}

/* Read what a record has.  Why the queue times of a side are not known, in a text that the caller frees; NULL: they
 * are. */
static char *get_waits(struct comparison *comparison, size_t side)
{
    const struct comparison_side_options *options = &comparison->options->sides[side];
    if (options->baseline != NULL)
        return mem_copy_text("a baseline has no queue times of single jobs");
    if (comparison->sides[side].rerun.program != NULL)
        return mem_copy_text("another program ran it, and tells no queue times of single jobs");
    if (options->record == NULL)
        return NULL;
    struct long_run run = {0};
    struct record_sink sink = long_run_sink(&run);
    sink.on_sample = NULL;
    sink.on_finished = NULL;
    struct error error = record_read(options->record, &sink);
    comparison->sides[side].waits = run.waits;
    if (!error_is(error))
        return NULL;
    char *why = mem_copy_text(error_message(&error));
    error_release(&error);
    return why;
}

static char *with_name(const struct comparison *comparison, size_t side, const char *why)
{
    struct buffer text = {0};
    buffer_format(&text, "%s: %s", comparison->sides[side].name, why);
    char *copy = mem_copy_text(buffer_c_string(&text));
    buffer_release(&text);
    return copy;
}

static void compare(struct comparison *comparison, size_t side, char *const why[])
{
    struct comparison_long *one_run = &comparison->sides[side].one_run;
    const double level = 1 - comparison->options->alpha;
    const char *arrivals = result_of(comparison, 0)->manifest.arrivals,
               *own_arrivals = result_of(comparison, side)->manifest.arrivals;
    const size_t missing = why[0] != NULL ? 0 : side;
    if (why[missing] != NULL) {
        one_run->unknown = with_name(comparison, missing, why[missing]);
        return;
    }
    if (arrivals == NULL || own_arrivals == NULL || strcmp(arrivals, own_arrivals) != 0) {
        one_run->unknown = mem_copy_text("the sides have other jobs");
        return;
    }
    const struct job_waits *base = &comparison->sides[0].waits, *own = &comparison->sides[side].waits;
    one_run->all = long_run_differences(base, own, LONG_RUN_ALL, level);
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        one_run->by_class[c] = long_run_differences(base, own, c, level);
    one_run->is_known = true;
}

void comparison_find_long(struct comparison *comparison)
{
    char *why[COMPARISON_SIDES_MAX] = {NULL};
    const bool is_one = comparison->seed_count == 1 && comparison->keeps_waits;
    for (size_t side = 0; side < comparison->side_count && is_one; side++)
        if (is_done(comparison, side))
            why[side] = get_waits(comparison, side);
    for (size_t side = 1; side < comparison->side_count && is_one; side++)
        if (is_done(comparison, 0) && is_done(comparison, side))
            compare(comparison, side, why);
    for (size_t side = 0; side < comparison->side_count; side++) {
        job_waits_release(&comparison->sides[side].waits);
        mem_free(why[side]);
    }
}
