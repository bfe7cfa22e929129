#include "workloads/readers/user_loop.h"

#include <stdlib.h>

#include "base/names.h"

/* A job by its key.  Keys of equal group are ordered by time and rank. */
struct entry {
    int64_t group; /* its user, or its number; 0 in the order of submission */
    time_ns time;
    uint32_t rank; /* in the order of submission */
    uint32_t place;
};

struct finder {
    const struct held *held;
    const struct loop_plan *plan;
    double duration_scale;
    size_t count;
    struct entry *order;   /* by submission */
    struct entry *ends;    /* of jobs with a user, by user and recorded end */
    struct entry *numbers; /* by number and submission; NULL: no job names another one */
    size_t *seen;          /* by user: the end in `ends` that comes next */
    size_t user_count, end_count;
};

static int by_key(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static time_ns later(time_ns at, time_ns span)
{
    time_ns sum;
    return __builtin_add_overflow(at, span, &sum) ? TIME_NEVER : sum;
}

static time_ns recorded_end(const struct finder *finder, uint32_t place)
{
    const struct held_job *job = &finder->held->jobs[place];
    const time_ns wait = job->truth.recorded_wait;
    time_ns work = job_truth_work(&job->truth);
    if (finder->duration_scale != 1)
        work = time_from_seconds(time_to_seconds(work) / finder->duration_scale);
    return later(later(job->job.submit, wait != TIME_NEVER ? wait : 0), work);
}

static void find_order(struct finder *finder)
{
    finder->order = mem_zalloc(finder->count, sizeof *finder->order);
    for (size_t i = 0; i < finder->count; i++)
        finder->order[i] = (struct entry){0, finder->held->jobs[i].job.submit, (uint32_t)i, (uint32_t)i};
    qsort(finder->order, finder->count, sizeof *finder->order, by_key);
    for (size_t i = 0; i < finder->count; i++)
        finder->order[i].rank = (uint32_t)i;
}

/* The recorded ends of the jobs of each user, and where those of a user begin. */
static void find_ends(struct finder *finder)
{
    finder->ends = mem_zalloc(finder->count, sizeof *finder->ends);
    for (size_t i = 0; i < finder->count; i++) {
        const uint32_t place = finder->order[i].place, user = finder->held->jobs[place].job.user;
        if (user == NAMES_NONE)
            continue;
        finder->ends[finder->end_count++] =
            (struct entry){user, recorded_end(finder, place), finder->order[i].rank, place};
        if (user >= finder->user_count)
            finder->user_count = (size_t)user + 1;
    }
    qsort(finder->ends, finder->end_count, sizeof *finder->ends, by_key);
    finder->seen = mem_zalloc(finder->user_count + 1, sizeof *finder->seen);
    for (size_t i = finder->end_count; i > 0; i--)
        finder->seen[finder->ends[i - 1].group] = i - 1;
}

static void find_numbers(struct finder *finder)
{
    bool has_any = false;
    for (size_t i = 0; i < finder->count; i++)
        has_any |= finder->held->jobs[i].truth.preceding != 0;
    if (!has_any)
        return;
    finder->numbers = mem_zalloc(finder->count, sizeof *finder->numbers);
    for (size_t i = 0; i < finder->count; i++) {
        const struct entry *at = &finder->order[i];
        finder->numbers[i] = (struct entry){finder->held->jobs[at->place].job.trace_id, at->time, at->rank, at->place};
    }
    qsort(finder->numbers, finder->count, sizeof *finder->numbers, by_key);
}

/* The last job of that number before the rank; JOB_NONE: there is none. */
static job_id find_number(const struct finder *finder, int64_t number, const struct entry *before)
{
    const struct entry key = {number, before->time, before->rank, 0};
    size_t low = 0, high = finder->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_key(&finder->numbers[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && finder->numbers[low - 1].group == number ? finder->numbers[low - 1].place : JOB_NONE;
}

/* The job of its user that ended last before it was submitted; JOB_NONE: none did.  Called in the order of
 * submission, for each job once. */
static job_id find_last_ended(struct finder *finder, const struct entry *at)
{
    const uint32_t user = finder->held->jobs[at->place].job.user;
    if (user == NAMES_NONE)
        return JOB_NONE;
    const struct entry key = {user, at->time, at->rank, 0};
    size_t *next = &finder->seen[user];
    while (*next < finder->end_count && by_key(&finder->ends[*next], &key) < 0)
        ++*next;
    return *next > 0 && finder->ends[*next - 1].group == user ? finder->ends[*next - 1].place : JOB_NONE;
}

static struct loop_link link_to(const struct finder *finder, job_id follows, time_ns submit)
{
    const time_ns end = recorded_end(finder, follows), think = end < submit ? submit - end : 0;
    return (struct loop_link){follows, think <= finder->plan->think_max ? think : LOOP_SESSION};
}

static struct loop_link link_of(struct finder *finder, const struct entry *at)
{
    const struct job_truth *truth = &finder->held->jobs[at->place].truth;
    const job_id last = find_last_ended(finder, at); /* also if it is not used: it counts what has ended */
    const job_id follows = truth->preceding == 0 ? last : find_number(finder, truth->preceding - 1, at);
    if (follows == JOB_NONE)
        return (struct loop_link){JOB_NONE, 0};
    if (truth->preceding != 0 && truth->think >= 0)
        return (struct loop_link){follows, truth->think};
    return link_to(finder, follows, at->time);
}

struct loop_link *loop_find(const struct held *held, const struct loop_plan *plan, double duration_scale,
                            struct arena *arena)
{
    struct finder finder = {
        .held = held, .plan = plan, .duration_scale = duration_scale != 0 ? duration_scale : 1, .count = held->count};
    struct loop_link *links = arena_alloc_array(arena, held->count, struct loop_link);
    find_order(&finder);
    find_ends(&finder);
    find_numbers(&finder);
    for (size_t i = 0; i < finder.count; i++)
        links[finder.order[i].place] = link_of(&finder, &finder.order[i]);
    mem_free(finder.order);
    mem_free(finder.ends);
    mem_free(finder.numbers);
    mem_free(finder.seen);
    return links;
}

struct loop_link *loop_order(const struct loop_link *links, const uint64_t *order, size_t count, struct arena *arena)
{
    struct loop_link *ordered = arena_alloc_array(arena, count, struct loop_link);
    uint32_t *rank = mem_zalloc(count, sizeof *rank);
    for (size_t i = 0; i < count; i++)
        rank[order != NULL ? order[i] : i] = (uint32_t)i;
    for (size_t i = 0; i < count; i++) {
        ordered[rank[i]] = links[i];
        if (links[i].follows != JOB_NONE)
            ordered[rank[i]].follows = rank[links[i].follows];
    }
    mem_free(rank);
    return ordered;
}
