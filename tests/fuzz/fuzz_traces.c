/* libFuzzer: bytes as a trace.  The first byte chooses the format, as tests/fuzz/starts numbers them, the second
 * whether unreadable lines are skipped, whether the trace is read twice, to scale its arrivals, whether what stands
 * behind a form feed is the table of the format, and whether its dates are of a zone whose clocks change.  With
 * FUZZ_FORMAT=NAME in the environment all inputs are of that format.  `make fuzz` runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_file.h"

#include "workloads/readers/source.h"

enum { JOBS_MAX = 10000 };

static struct cluster *some_cluster(void)
{
    static const char text[] = "{\"pools\": [{\"name\": \"a\", \"nodes\": 3, \"gpus_per_node\": 8, \"gpu_model\": "
                               "\"h100-80gb\", \"cpus\": 64, \"memory_gb\": 512}]}";
    struct json_doc *doc;
    struct error error = json_doc_parse(&doc, "cluster", (struct text){text, sizeof text - 1}, ERROR_CONFIG);
    if (error_is(error))
        abort();
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    json_doc_free(doc);
    if (cluster == NULL)
        abort();
    return cluster;
}

/* UTC on a machine without a tz database. */
static struct zone some_zone(void)
{
    static struct arena arena;
    static struct zone zone;
    if (!zone.is_given) {
        struct error error = zone_of(&zone, "Europe/Berlin", &arena);
        error_release(&error);
        zone.is_given = true;
    }
    return zone;
}

static struct error read_jobs(struct job_source *source)
{
    struct job job;
    struct job_truth truth;
    bool has = true;
    time_ns last = 0;
    for (int i = 0; has && i < JOBS_MAX; i++) {
        TRY(job_source_next(source, &job, &truth, &has));
        if (has && (job.submit < last || job_complaint(&job) != NULL))
            abort(); /* its laws */
        last = has ? job.submit : last;
    }
    return job_source_check(source);
}

/* The table that the format may have; NULL: none. */
static const char *table_of(const char *format)
{
    static const struct {
        const char *format, *table;
    } tables[] = {{"gavel", "throughputs"}, {"pollux", "run_times"}, {"pai", "job"}, {"borg", "instance"}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i].format, format) == 0)
            return tables[i].table;
    return NULL;
}

static void answer(const struct workload_spec *spec, const struct cluster *cluster)
{
    struct job_source *source;
    struct error error = job_source_open(&source, spec, cluster, 1);
    if (!error_is(error)) {
        error = read_jobs(source);
        job_source_close(source);
    }
    fuzz_answered(error);
}

/* The format of all inputs, by the environment; NULL: it names none. */
static const char *only_format(void)
{
    const char *name = getenv("FUZZ_FORMAT");
    if (name == NULL)
        return NULL;
    for (size_t i = 0; trace_format_names[i] != NULL; i++)
        if (strcmp(trace_format_names[i], name) == 0)
            return trace_format_names[i];
    fprintf(stderr, "FUZZ_FORMAT: there is no format '%s'\n", name);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct cluster *cluster;
    static const char *only;
    size_t formats = 0;
    if (cluster == NULL) {
        cluster = some_cluster();
        only = only_format();
    }
    while (trace_format_names[formats] != NULL)
        formats++;
    if (size < 2)
        return 0;
    const char *format = only != NULL ? only : trace_format_names[bytes[0] % formats];
    const char *table = table_of(format);
    const uint8_t *end = bytes + size;
    const uint8_t *cut = bytes[1] & 8 && table != NULL ? memchr(bytes + 2, '\f', size - 2) : NULL;
    const uint8_t *table_begin = cut != NULL ? cut + 1 : end;
    struct fuzz_file file = fuzz_file_new(bytes + 2, (size_t)((cut != NULL ? cut : end) - bytes) - 2);
    struct fuzz_file other = fuzz_file_new(table_begin, (size_t)(end - table_begin));
    struct workload_spec spec = {.trace = file.path,
                                 .format = format,
                                 .duration_scale = 1,
                                 .processors_per_gpu = 1,
                                 .gpus_per_node = 8,
                                 .default_duration = bytes[1] & 4 ? TIME_NS_PER_S : 0,
                                 .bad_lines_max = bytes[1] & 1 ? 5 : 0,
                                 .tells_unread = bytes[1] & 16,
                                 .load = bytes[1] & 2 ? 0.5 : 0,
                                 .table_count = cut != NULL};
    if (bytes[1] & 16)
        spec.zone = some_zone();
    if (cut != NULL)
        spec.tables[0] = (struct table_path){text_of(table), other.path};
    answer(&spec, cluster);
    fuzz_file_free(&file);
    fuzz_file_free(&other);
    return 0;
}
