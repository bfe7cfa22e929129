/* windtunnel trace convert: a trace in another format. */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "tools/progress_line.h"
#include "tools/trace_options.h"
#include "tools/verbs.h"
#include "workloads/readers/convert.h"
#include "workloads/readers/freeze.h"

enum target { TO_NATIVE, TO_JSONL, TO_SWF, TARGET_COUNT };
static const char *const endings[TARGET_COUNT] = {".csv", ".jsonl", ".swf"};

static bool ends_in(struct text text, const char *end)
{
    const size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

/* What the name of the file asks for. */
static struct error target_of(const char *path, enum target *target, bool *is_zstd)
{
    struct text name = text_of(path);
    *is_zstd = ends_in(name, ".zst");
    if (*is_zstd)
        name.length -= strlen(".zst");
    for (int t = 0; t < TARGET_COUNT; t++)
        if (ends_in(name, endings[t])) {
            *target = (enum target)t;
            return ERROR_OK;
        }
    return error_new(ERROR_USAGE,
                     "--out must end in .csv (native), .jsonl or .swf, or in one of these and .zst; got %s", path);
}

static struct error write_as(struct job_source *source, const struct cluster *cluster, enum target target,
                             struct output *output, struct reason_tally *lost)
{
    switch (target) {
    case TO_NATIVE:
        return convert_native(source, cluster, &(struct convert_form){0}, output, lost);
    case TO_SWF:
        return convert_swf(source, cluster, output, lost);
    default:
        return freeze_write(source, cluster, output, lost);
    }
}

static struct error convert_of(const struct args *args, struct workload_spec *spec, uint64_t seed, struct buffer *said)
{
    struct cluster *cluster = NULL;
    struct job_source *source = NULL;
    struct output *output = NULL;
    struct reason_tally lost = {0};
    struct progress_line progress;
    const char *path = args_string(args, "out");
    enum target target = TO_NATIVE;
    bool is_zstd;
    int64_t bad_max;
    if (path == NULL)
        return error_new(ERROR_USAGE,
                         "--out names the file to write: FILE.csv, FILE.jsonl or FILE.swf, with .zst behind "
                         "to compress it");
    TRY(target_of(path, &target, &is_zstd));
    TRY(args_int64(args, "max-bad", 0, INT64_MAX, (int64_t)spec->bad_lines_max, &bad_max));
    spec->bad_lines_max = (uint64_t)bad_max;
    spec->tells_unread = true;
    TRY(trace_options_cluster(args, &cluster));
    progress_line_begin(&progress, true);
    spec->reading = progress_line_reading(&progress);
    struct error error = job_source_open(&source, spec, cluster, seed);
    if (!error_is(error))
        error = output_open(&output, path, is_zstd ? OUTPUT_ZSTD : OUTPUT_PLAIN);
    if (!error_is(error)) {
        error = write_as(source, cluster, target, output, &lost);
        if (!error_is(error))
            error = job_source_check(source);
        if (!error_is(error))
            error = output_commit(&output);
        output_discard(&output);
    }
    progress_line_end(&progress);
    if (!error_is(error)) {
        const struct workload_facts *facts = job_source_facts(source);
        buffer_format(said, "%s: %" PRIu64 " jobs read\n", facts->format, facts->job_count);
        reason_tally_show(&facts->skipped, "left out", said);
        if (facts->bad_line_count > 0)
            buffer_format(said, "unreadable   %" PRIu64 " lines\n", facts->bad_line_count);
        if (facts->guessed_hours > 0)
            buffer_format(said,
                          "hours        %" PRIu64 " rows have a time in an hour that comes twice: the first was "
                          "taken\n",
                          facts->guessed_hours);
        reason_tally_join(&lost, &facts->unread);
        reason_tally_show(&lost, "lost", said);
        const uint64_t dropped = job_source_dropped_waits(source);
        if (dropped > 0)
            buffer_format(said,
                          "waits        %" PRIu64 " that are recorded are left out: 'workload.%s' makes other work\n",
                          dropped, facts->unrecorded);
    }
    job_source_close(source);
    cluster_free(cluster);
    return error;
}

static struct error convert(const struct args *args, struct buffer *said)
{
    struct workload_spec spec;
    uint64_t seed;
    struct error error = trace_options_read(args, &spec, &seed);
    if (!error_is(error))
        error = convert_of(args, &spec, seed, said);
    workload_release(&spec);
    return error;
}

int verb_trace_convert(const struct args *args)
{
    struct buffer said = {0};
    struct error error = convert(args, &said);
    if (error_is(error)) {
        buffer_release(&said);
        return tool_fail(&error);
    }
    return tool_print(&said);
}
