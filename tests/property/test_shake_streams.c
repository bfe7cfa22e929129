/* tests/property/test_shake_streams.c -- random traces, shaken: the jobs are those of a naive shaking of the same trace
 * without shaking, whether they are held in memory, streamed, or streamed by way of a file (workloads/readers/shake.h).
 *
 * The naive shaking keeps all jobs in an array, finds the jobs joined by dependencies by search, and sorts. */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/interval.h"
#include "tests/support/scratch.h"
#include "workloads/readers/source.h"

enum { JOBS_MAX = 120, AFTER_MAX = 3 };

TEST_GROUP(scratch_make, scratch_remove)

struct seen {
    time_ns submit, duration, limit, deadline;
    int64_t trace_id;
    uint32_t after[AFTER_MAX], after_count;
    uint32_t place, group; /* in the file */
};

struct trace {
    const char *path;
    struct seen jobs[JOBS_MAX];
    uint32_t count;
};

/* ---- A random trace ---- */

/* Times are few, so that many jobs come at once; a job depends on earlier lines that are not submitted later. */
static void write_trace(struct trace *trace, uint64_t seed)
{
    struct random_stream stream;
    struct buffer text = {0};
    time_ns submit[JOBS_MAX], last = 0;
    random_stream_init(&stream, seed, "test", 0);
    const bool is_sorted = random_below(&stream, 2);
    trace->count = 1 + random_below(&stream, JOBS_MAX);
    buffer_string(&text, "job_id,submit_s,duration_s,gpus,limit_s,deadline_s,after\n");
    for (uint32_t i = 0; i < trace->count; i++) {
        submit[i] = is_sorted ? last + random_below(&stream, 4) : random_below(&stream, 300);
        last = submit[i];
        const uint32_t run = 1 + random_below(&stream, 100);
        buffer_format(&text, "%u,%lld,%u,1,", i, (long long)submit[i], run);
        if (random_below(&stream, 2))
            buffer_format(&text, "%u", 1 + random_below(&stream, 100));
        buffer_char(&text, ',');
        if (random_below(&stream, 3) == 0)
            buffer_format(&text, "%lld", (long long)submit[i] + 500);
        buffer_char(&text, ',');
        const uint32_t wanted = random_below(&stream, 3) == 0 ? 1 + random_below(&stream, AFTER_MAX) : 0;
        uint64_t taken = UINT64_MAX;
        for (uint32_t a = 0, count = 0; a < wanted && i > 0; a++) {
            const uint32_t other = random_below(&stream, i);
            if (submit[other] > submit[i] || other == taken)
                continue;
            buffer_format(&text, "%s%u", count++ > 0 ? ";" : "", other);
            taken = other;
            if (count == 2)
                break;
        }
        buffer_char(&text, '\n');
    }
    trace->path = scratch_write("trace.csv", text.bytes, text.length);
    buffer_release(&text);
}

static uint32_t read_trace(const struct trace *trace, const struct shake_plan *plan, uint64_t held_max, uint64_t seed,
                           struct seen *out)
{
    const struct workload_spec spec = {
        .format = "native", .trace = trace->path, .shake = *plan, .held_max = held_max, .duration_scale = 1};
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has;
    uint32_t count = 0;
    assert_false(error_is(job_source_open(&source, &spec, NULL, seed)));
    while (true) {
        assert_false(error_is(job_source_next(source, &job, &truth, &has)));
        if (!has)
            break;
        assert_true(count < JOBS_MAX && job.after_count <= AFTER_MAX);
        struct seen *seen = &out[count++];
        *seen = (struct seen){.submit = job.submit,
                              .duration = truth.duration,
                              .limit = job.limit,
                              .deadline = job.deadline,
                              .trace_id = job.trace_id,
                              .after_count = job.after_count};
        for (uint32_t a = 0; a < job.after_count; a++)
            seen->after[a] = job.after[a].job;
    }
    job_source_close(source);
    return count;
}

/* ---- The naive shaking ---- */

static time_ns times(time_ns time, double factor)
{
    return time == TIME_NEVER ? time : time_from_seconds(time_to_seconds(time) * factor);
}

static void naive(const struct trace *trace, const struct shake_plan *plan, uint64_t seed, struct seen *out)
{
    uint32_t order[JOBS_MAX];
    struct seen made[JOBS_MAX];
    memcpy(made, trace->jobs, sizeof made);
    for (uint32_t i = 0; i < trace->count; i++) {
        made[i].place = made[i].group = (uint32_t)made[i].trace_id;
        order[i] = i;
    }
    for (bool is_changed = true; is_changed;) { /* the smallest place spreads over dependencies */
        is_changed = false;
        for (uint32_t i = 0; i < trace->count; i++)
            for (uint32_t a = 0; a < made[i].after_count; a++) {
                struct seen *one = &made[i], *other = &made[made[i].after[a]];
                is_changed = is_changed || one->group != other->group;
                one->group = other->group = one->group < other->group ? one->group : other->group;
            }
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        struct random_stream arrival, run_time;
        const double sigma = plan->run_time_sigma;
        time_ns room = plan->arrivals;
        for (uint32_t k = 0; k < trace->count; k++)
            if (made[k].group == made[i].group && trace->jobs[k].submit < room)
                room = trace->jobs[k].submit;
        random_stream_init(&arrival, seed, "shake_arrival", made[i].group);
        random_stream_init(&run_time, seed, "shake_run_time", made[i].place);
        const time_ns by = time_from_seconds((2 * random_uniform(&arrival) - 1) * time_to_seconds(room));
        const double factor = exp(gsl_ran_gaussian(random_gsl(&run_time), sigma) - sigma * sigma / 2);
        made[i].submit += plan->arrivals > 0 ? by : 0;
        made[i].deadline += made[i].deadline != TIME_NEVER && plan->arrivals > 0 ? by : 0;
        made[i].duration = sigma > 0 ? times(made[i].duration, factor) : made[i].duration;
        made[i].limit = sigma > 0 ? times(made[i].limit, factor) : made[i].limit;
    }
    for (uint32_t i = 1; i < trace->count; i++) /* insertion keeps the order of equal submissions */
        for (uint32_t k = i; k > 0 && made[order[k]].submit < made[order[k - 1]].submit; k--) {
            const uint32_t held = order[k];
            order[k] = order[k - 1];
            order[k - 1] = held;
        }
    for (uint32_t i = 0; i < trace->count; i++) {
        out[i] = made[order[i]];
        for (uint32_t a = 0; a < out[i].after_count; a++)
            for (uint32_t k = 0; k < trace->count; k++)
                if (order[k] == made[order[i]].after[a]) {
                    out[i].after[a] = k;
                    break;
                }
    }
}

static void check(const struct seen *one, const struct seen *naive, uint64_t seed, uint64_t held_max, uint32_t i)
{
    bool is_same = one->submit == naive->submit && one->duration == naive->duration && one->limit == naive->limit &&
                   one->deadline == naive->deadline && one->trace_id == naive->trace_id &&
                   one->after_count == naive->after_count;
    for (uint32_t a = 0; is_same && a < one->after_count; a++)
        is_same = one->after[a] == naive->after[a] && one->after[a] < i;
    if (!is_same)
        fail_msg("seed %llu, at most %llu jobs held: job %u is %lld at %lld ns, naively %lld at %lld ns",
                 (unsigned long long)seed, (unsigned long long)held_max, i, (long long)one->trace_id,
                 (long long)one->submit, (long long)naive->trace_id, (long long)naive->submit);
}

TEST(streamed_as_held_as_naive)
{
    static const struct shake_plan plans[] = {{.arrivals = 20 * TIME_NS_PER_S, .run_time_sigma = 0.3},
                                              {.arrivals = 500 * TIME_NS_PER_S},
                                              {.run_time_sigma = 0.01}};
    static const uint64_t held_max[] = {0, 1, 40};
    static struct trace trace;
    static struct seen expected[JOBS_MAX], seen[JOBS_MAX];
    const struct test_seeds seeds = test_seeds(150, 3000);
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
        const struct shake_plan *plan = &plans[seed % 3];
        write_trace(&trace, seed);
        assert_int_equal(read_trace(&trace, &(struct shake_plan){0}, 0, seed, trace.jobs), trace.count);
        naive(&trace, plan, seed, expected);
        for (size_t h = 0; h < sizeof held_max / sizeof *held_max; h++) {
            assert_int_equal(read_trace(&trace, plan, held_max[h], seed, seen), trace.count);
            for (uint32_t i = 0; i < trace.count; i++)
                check(&seen[i], &expected[i], seed, held_max[h], i);
        }
    }
}
