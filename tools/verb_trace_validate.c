/* windtunnel trace validate: every line of a trace that cannot be read. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/progress_line.h"
#include "tools/trace_options.h"
#include "tools/verbs.h"

enum { BAD_DEFAULT = 1000, SHOWN_DEFAULT = 20, EXIT_BAD_DATA = 3 };

struct trace_validation {
    struct buffer *out;
    uint64_t shown, shown_max;
};

static void on_bad_line(void *self, const struct error *error)
{
    struct trace_validation *validation = self;
    if (validation->shown == validation->shown_max)
        return;
    char *text = error_text_new(error);
    buffer_string(validation->out, text != NULL ? text : "error: out of memory\n");
    free(text);
    validation->shown++;
}

static struct error validate_of(const struct args *args, struct workload_spec *spec, uint64_t seed, struct buffer *out,
                                uint64_t *bad)
{
    struct cluster *cluster = NULL;
    struct job_source *source = NULL;
    struct trace_validation validation = {.out = out};
    struct progress_line progress;
    int64_t bad_max, shown_max;
    TRY(args_int64(args, "max-bad", 0, INT64_MAX, BAD_DEFAULT, &bad_max));
    TRY(args_int64(args, "show", 0, INT32_MAX, SHOWN_DEFAULT, &shown_max));
    validation.shown_max = (uint64_t)shown_max;
    spec->bad_lines_max = (uint64_t)bad_max;
    spec->bad_lines = (struct bad_line_listener){&validation, on_bad_line};
    spec->is_scanned = true; /* each line is read once, so each error comes once */
    TRY(trace_options_cluster(args, &cluster));
    progress_line_begin(&progress, true);
    spec->reading = progress_line_reading(&progress);
    struct error error = job_source_open(&source, spec, cluster, seed);
    progress_line_end(&progress);
    if (!error_is(error)) {
        const struct workload_facts *facts = job_source_facts(source);
        *bad = facts->bad_line_count;
        if (*bad > validation.shown)
            buffer_format(out, "... and %" PRIu64 " more\n", *bad - validation.shown);
        buffer_format(out, "%s: %" PRIu64 " jobs, %" PRIu64 " rows left out, %" PRIu64 " unreadable lines\n",
                      facts->format, facts->job_count, facts->skipped.count, *bad);
        reason_tally_show(&facts->skipped, "left out", out);
    }
    job_source_close(source);
    cluster_free(cluster);
    return error;
}

static struct error validate(const struct args *args, struct buffer *out, uint64_t *bad)
{
    struct workload_spec spec;
    uint64_t seed;
    struct error error = trace_options_read(args, &spec, &seed);
    if (!error_is(error))
        error = validate_of(args, &spec, seed, out, bad);
    workload_release(&spec);
    return error;
}

int verb_trace_validate(const struct args *args)
{
    struct buffer out = {0};
    uint64_t bad = 0;
    struct error error = validate(args, &out, &bad);
    int status = tool_print(&out);
    if (error_is(error))
        return tool_fail(&error);
    return status == 0 && bad > 0 ? EXIT_BAD_DATA : status;
}
