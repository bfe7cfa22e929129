#include "workloads/readers/sacct_het.h"

#include <assert.h>
#include <string.h>

#include "workloads/job_truth.h"

bool sacct_part_read(struct text id, struct sacct_part *part)
{
    const char *mark = memchr(id.at, '+', id.length);
    if (mark == NULL)
        return false;
    const size_t before = (size_t)(mark - id.at);
    return text_to_int64((struct text){id.at, before}, 0, INT64_MAX, &part->job) &&
           text_to_int64((struct text){mark + 1, id.length - before - 1}, 0, INT64_MAX, &part->offset);
}

bool sacct_het_takes(const struct sacct_het *het, const struct sacct_part *part)
{
    return part != NULL && part->job == het->first.job && part->offset > het->last.offset;
}

static time_ns later(time_ns a, time_ns b)
{
    return a > b ? a : b;
}

static uint8_t worse(uint8_t a, uint8_t b)
{
    if (a == OUTCOME_FAILED || b == OUTCOME_FAILED)
        return OUTCOME_FAILED;
    return a != OUTCOME_COMPLETED ? a : b;
}

/* When the job could start.  TIME_NEVER: it is not known, so the submission counts. */
static time_ns eligible_of(const struct sacct_attempt *a, const struct sacct_attempt *b)
{
    if (a->eligible == TIME_NEVER || b->eligible == TIME_NEVER)
        return a->eligible != TIME_NEVER ? a->eligible : b->eligible;
    return later(a->eligible, b->eligible);
}

static void join(struct sacct_attempt *whole, const struct sacct_attempt *attempt)
{
    const time_ns run_time = later(whole->end - whole->start, attempt->end - attempt->start);
    whole->eligible = eligible_of(whole, attempt);
    whole->submit = whole->submit < attempt->submit ? whole->submit : attempt->submit;
    whole->start = whole->first_start = later(whole->start, attempt->start);
    whole->end = time_after(whole->start, run_time);
    whole->limit = later(whole->limit, attempt->limit);
    whole->outcome = worse(whole->outcome, attempt->outcome);
    whole->may_go_on = whole->may_go_on || attempt->may_go_on;
    whole->is_requeued = whole->is_requeued || attempt->is_requeued;
}

void sacct_het_add(struct sacct_het *het, const struct sacct_part *part, const struct sacct_attempt *attempt,
                   const struct job_group *group)
{
    assert(het->count < SACCT_HET_MAX);
    if (het->count == 0) {
        het->first = *part;
        het->whole = *attempt;
    } else {
        join(&het->whole, attempt);
    }
    het->last = *part;
    het->groups[het->count++] = *group;
    het->whole.groups = het->groups;
    het->whole.group_count = het->count;
}
