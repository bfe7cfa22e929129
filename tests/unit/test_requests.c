#include <math.h>

#include "tests/support/test.h"

#include "base/mem.h"
#include "base/random.h"
#include "tests/support/trace_case.h"
#include "workloads/readers/service_load.h"

#define S(n) ((time_ns)(n)*TIME_NS_PER_S)

enum { INTERVALS = 400, REPLICAS_MAX = 100000 };

struct asked {
    time_ns at;
    uint64_t prompt, output;
};

/* Requests by time, with bursts and with pauses of many intervals. */
static size_t some_requests(struct random_stream *stream, struct asked *requests, size_t max, time_ns interval)
{
    time_ns at = (time_ns)(random_below(stream, 1000) * TIME_NS_PER_S);
    size_t count = 0;
    while (count < max) {
        const double mean_s = time_to_seconds(interval) * (random_below(stream, 10) == 0 ? 8 : 0.05);
        at += time_from_seconds(2 * mean_s * random_uniform(stream));
        requests[count++] = (struct asked){at, random_below(stream, 200000),
                                           random_below(stream, 3) == 0 ? 0 : random_below(stream, 9000)};
    }
    return count;
}

/* The replicas of each interval, computed from all requests at once. */
static void replicas_naive(const struct service_plan *plan, const struct asked *requests, size_t count, uint32_t *out,
                           size_t intervals)
{
    double *work = mem_zalloc(intervals, sizeof *work);
    const size_t keep = (size_t)(plan->keep / plan->interval);
    for (size_t i = 0; i < count; i++)
        work[(requests[i].at - requests[0].at) / plan->interval] +=
            (double)requests[i].prompt / plan->prompt_tokens_per_s +
            (double)requests[i].output / plan->output_tokens_per_s;
    for (size_t k = 1; k < intervals; k++) {
        out[k] = plan->replicas_min;
        for (size_t back = 1; back <= keep + 1 && back <= k; back++) {
            const double busy = work[k - back] / time_to_seconds(plan->interval);
            const uint32_t wanted = (uint32_t)ceil(busy / plan->target);
            out[k] = wanted > out[k] ? wanted : out[k];
        }
    }
    mem_free(work);
}

static size_t take_left(struct service_load *load, time_ns first, uint32_t *running, size_t intervals)
{
    struct service_replica replica;
    size_t count = 0;
    for (; service_load_next(load, &replica); count++) {
        assert_true(replica.end > replica.begin);
        assert_true((replica.begin - first) % load->plan.interval == 0);
        for (time_ns t = replica.begin; t < replica.end; t += load->plan.interval) {
            const size_t k = (size_t)((t - first) / load->plan.interval);
            assert_true(k < intervals);
            running[k]++;
        }
    }
    return count;
}

/* As many replicas run in each interval as the plain computation over all requests says. */
TEST(test_replicas_are_those_of_the_rule)
{
    enum { REQUESTS = 900 };
    struct asked requests[REQUESTS];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, "requests", 0);
        struct service_plan plan = service_plan_default();
        plan.interval = S(1 + random_below(&stream, 120));
        plan.keep = (time_ns)random_below(&stream, 9) * plan.interval;
        plan.replicas_min = (uint32_t)random_below(&stream, 3);
        plan.target = 0.1 + 0.1 * (double)random_below(&stream, 9);
        const size_t count = some_requests(&stream, requests, REQUESTS, plan.interval);
        const size_t intervals = (size_t)((requests[count - 1].at - requests[0].at) / plan.interval) + 2;
        uint32_t *naive = mem_zalloc(intervals, sizeof *naive), *running = mem_zalloc(intervals, sizeof *running);
        struct service_load load = {0};
        service_load_begin(&load, &plan, requests[0].at);
        for (size_t i = 0; i < count; i++) {
            while (service_load_close_before(&load, requests[i].at))
                take_left(&load, requests[0].at, running, intervals);
            assert_true(service_load_add(&load, requests[i].prompt, requests[i].output));
        }
        while (service_load_end(&load))
            take_left(&load, requests[0].at, running, intervals);
        replicas_naive(&plan, requests, count, naive, intervals);
        for (size_t k = 0; k < intervals; k++)
            if (running[k] != naive[k])
                fail_msg("seed %llu, interval %zu: %u replicas in place of %u", (unsigned long long)seed, k, running[k],
                         naive[k]);
        service_load_release(&load);
        mem_free(naive);
        mem_free(running);
    }
}

static void check(const char *path, const char *format, uint64_t requests, uint64_t prompt, uint64_t output)
{
    const struct workload_spec spec = {.trace = path, .gpus_per_node = 8};
    struct workload_facts facts = trace_real_read(&spec, NULL);
    assert_string_equal(facts.format, format);
    assert_int_equal(facts.requests.count, requests);
    assert_int_equal(facts.requests.prompt_tokens, prompt);
    assert_int_equal(facts.requests.output_tokens, output);
    assert_true(facts.job_count > 0);
}

TEST(test_samples)
{
    check("workloads/samples/azure_llm.csv", "azure-llm", 5, 126956, 10236);
    check("workloads/samples/burstgpt.csv", "burstgpt", 3, 3100, 790);
    check("workloads/samples/mooncake.jsonl", "mooncake", 3, 9858, 820);
}

/* Sums as awk makes them of the files. */
TEST(test_azure)
{
    const char *code = trace_real("azure-llm/AzureLLMInferenceTrace_code.csv.zst");
    if (code == NULL)
        skip();
    check(code, "azure-llm", 8819, 18059974, 245896);
    check(trace_real("azure-llm/AzureLLMInferenceTrace_conv.csv.zst"), "azure-llm", 19366, 22361870, 4088665);
}

TEST(test_replicas_as_jobs)
{
    struct workload_spec spec = {.format = "azure-llm", .service = service_plan_default()};
    spec.service.keep = 0;
    spec.service.gpus = 4;
    spec.service.target = 1;
    struct trace_case read = trace_case_read("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                             "2023-11-16 18:00:00,0,150000\n" /* 150 s of 60: three replicas */
                                             "2023-11-16 18:01:30,0,10000\n"
                                             "2023-11-16 18:03:10,0,10000\n",
                                             &spec, NULL);
    assert_int_equal(read.count, 3);
    for (uint32_t i = 0; i < 3; i++) { /* all are added at the end of the first minute, which is time 0 */
        assert_true(read.jobs[i].submit == 0);
        assert_int_equal(read.jobs[i].class, JOB_INFERENCE);
        assert_int_equal(read.jobs[i].first.request.gpus, 4);
        assert_int_equal(read.jobs[i].first.count, 1);
    }
    time_ns longest = 0, sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        sum += read.truths[i].duration;
        longest = read.truths[i].duration > longest ? read.truths[i].duration : longest;
    }
    assert_true(longest == S(240) && sum == S(240 + 60 + 60));
    trace_case_release(&read);
    trace_case_refused("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:10,1,1\n2023-11-16 18:00:09,1,1\n",
                       &spec, NULL, 3, 1, "sorted by time");
    trace_case_refused("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:10,1,x\n", &spec, NULL, 2, 23,
                       "GeneratedTokens");
}
