#include "tests/support/trace_case.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "tests/support/json_text.h"

static void file_write(char path[], const char *text)
{
    int file = mkstemp(path);
    assert_true(file >= 0);
    size_t length = strlen(text);
    assert_int_equal(write(file, text, length), (ssize_t)length);
    close(file);
}

/* Open and read the trace; an error stays in the case. */
static struct trace_case trace_case_try(const char *text, const struct workload_spec *spec,
                                        const struct cluster *cluster)
{
    char path[] = "/tmp/trace-case-XXXXXX";
    struct workload_spec own = *spec;
    struct trace_case trace = {.error = ERROR_OK};
    bool has = true;
    char *json_or_not = *text == '{' ? json_text_new(text) : strdup(text);
    file_write(path, json_or_not);
    free(json_or_not);
    own.trace = path;
    trace.error = job_source_open(&trace.source, &own, cluster, 1);
    unlink(path);
    while (!error_is(trace.error)) {
        assert_true(trace.count < TRACE_CASE_JOBS_MAX);
        trace.error = job_source_next(trace.source, &trace.jobs[trace.count], &trace.truths[trace.count], &has);
        if (!has || error_is(trace.error))
            break;
        assert_null(job_complaint(&trace.jobs[trace.count]));
        assert_int_equal(trace.jobs[trace.count].id, trace.count);
        trace.count++;
    }
    if (trace.source != NULL)
        trace.facts = *job_source_facts(trace.source);
    return trace;
}

struct trace_case trace_case_read(const char *text, const struct workload_spec *spec, const struct cluster *cluster)
{
    struct trace_case trace = trace_case_try(text, spec, cluster);
    if (error_is(trace.error)) {
        char *report = error_text_new(&trace.error);
        fail_msg("%s", report);
    }
    return trace;
}

void trace_case_refused(const char *text, const struct workload_spec *spec, const struct cluster *cluster,
                        unsigned line, unsigned column, const char *says)
{
    struct trace_case trace = trace_case_try(text, spec, cluster);
    char place[64];
    assert_int_equal(trace.error.kind, ERROR_DATA);
    char *report = error_text_new(&trace.error);
    if (column != 0)
        snprintf(place, sizeof place, ":%u:%u: ", line, column);
    else
        snprintf(place, sizeof place, "%s%.0u", line != 0 ? ":" : "", line);
    if (strstr(report, place) == NULL || strstr(report, says) == NULL)
        fail_msg("wanted '%s' and '%s' in:\n%s", place, says, report);
    free(report);
    trace_case_release(&trace);
}

void trace_case_release(struct trace_case *trace)
{
    job_source_close(trace->source);
    error_release(&trace->error);
    *trace = (struct trace_case){.error = ERROR_OK};
}

const char *trace_case_queue(const struct trace_case *trace, uint32_t index)
{
    return job_source_queues(trace->source)->queues[trace->jobs[index].queue].name;
}

const char *trace_real(const char *name)
{
    static char path[4096];
    const char *folder = getenv("WINDTUNNEL_TRACES");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "../shared/traces", name);
    if (access(path, R_OK) == 0)
        return path;
    print_message("skipped: no real trace %s (set WINDTUNNEL_TRACES)\n", path);
    return NULL;
}

struct workload_facts trace_real_read(const struct workload_spec *spec, const struct cluster *cluster)
{
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    time_ns previous = 0;
    uint64_t count = 0;
    struct error error = job_source_open(&source, spec, cluster, 1);
    while (!error_is(error)) {
        error = job_source_next(source, &job, &truth, &has);
        if (!has || error_is(error))
            break;
        assert_null(job_complaint(&job));
        assert_true(job.submit >= previous && job.id == count);
        previous = job.submit;
        count++;
    }
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    struct workload_facts facts = *job_source_facts(source);
    assert_true(facts.job_count == count);
    job_source_close(source);
    return facts;
}
