/* windtunnel trace compare: how alike two traces are. */
#include "base/output.h"
#include "studies/likeness/likeness.h"
#include "tools/installed.h"
#include "tools/trace_options.h"
#include "tools/verbs.h"

enum { NOT_WITHIN = 10 };

static struct error read_side(struct likeness_side *side, const char *path, const struct workload_spec *spec,
                              uint64_t seed, const struct cluster *cluster)
{
    struct job_source *source;
    TRY(job_source_open(&source, spec, cluster, seed));
    struct error error = likeness_side_read(side, path, source);
    job_source_close(source);
    return error;
}

static struct error read_both(struct likeness *likeness, const struct args *args, const struct workload_spec *a,
                              uint64_t seed)
{
    struct cluster *cluster = NULL;
    struct workload_spec b = *a;
    b.trace = installed_find(args_operand(args, 1), "workloads/samples");
    b.format = args_string(args, "format-b");
    b.columns = b.gpu_type = NULL;
    b.table_count = 0;
    TRY(trace_options_cluster(args, &cluster));
    struct error error = read_side(&likeness->sides[0], args_operand(args, 0), a, seed, cluster);
    if (!error_is(error))
        error = read_side(&likeness->sides[1], args_operand(args, 1), &b, seed, cluster);
    cluster_free(cluster);
    return error;
}

static struct error read_sides(struct likeness *likeness, const struct args *args)
{
    struct workload_spec spec;
    uint64_t seed;
    struct error error = trace_options_read(args, &spec, &seed);
    if (!error_is(error))
        error = read_both(likeness, args, &spec, seed);
    workload_release(&spec);
    return error;
}

static struct error write_page(const struct likeness *likeness, const char *path)
{
    struct output *output;
    if (path == NULL)
        return ERROR_OK;
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    struct show *show = likeness_show_new(likeness, "Two traces");
    show_page(show, NULL, output_buffer(output));
    show_free(show);
    return output_commit(&output);
}

static struct error read_within(const struct args *args, double *part)
{
    const char *within = args_string(args, "within");
    struct text text = text_of(within != NULL ? within : "0");
    text.length -= text.length > 0 && text.at[text.length - 1] == '%';
    if (!text_to_double(text, part) || !(*part >= 0 && *part <= 1000))
        return error_new(ERROR_USAGE, "--within must be a percentage from 0 to 1000, got '%s'", within);
    *part /= 100;
    return ERROR_OK;
}

static int tell(const struct likeness *likeness, const struct args *args, double part)
{
    struct buffer out = {0};
    struct show *show = likeness_show_new(likeness, NULL);
    if (args_flag(args, "json"))
        likeness_json(likeness, &out);
    else
        show_text(show, &out);
    show_free(show);
    const int status = tool_print(&out);
    if (status != 0 || args_string(args, "within") == NULL || likeness_is_within(likeness, part))
        return status;
    for (size_t r = 0; r < likeness->row_count; r++)
        if (!likeness_row_is_within(&likeness->rows[r], part))
            tool_say("not within %g %%: %s %s\n", 100 * part * (likeness->rows[r].is_burst ? 2 : 1),
                     likeness->rows[r].group, likeness->rows[r].name);
    return NOT_WITHIN;
}

static int run_compare(const struct args *args)
{
    struct likeness *likeness = mem_zalloc(1, sizeof *likeness);
    double part = 0;
    int status;
    struct error error = read_within(args, &part);
    if (!error_is(error))
        error = read_sides(likeness, args);
    if (!error_is(error)) {
        likeness_judge(likeness);
        error = write_page(likeness, args_string(args, "html"));
    }
    status = error_is(error) ? tool_fail(&error) : tell(likeness, args, part);
    likeness_release(likeness);
    mem_free(likeness);
    return status;
}

static const struct args_option options[] = {
    TRACE_OPTIONS,
    {.name = "format-b",
     .metavar = "FORMAT",
     .help = "The second trace's format. The options before are those of the first trace; zone and shapes are of "
             "both."},
    {.name = "within",
     .metavar = "PERCENT",
     .help =
         "Exit status 10 unless jobs per day, and means and medians of run time and GPUs, differ by at most PERCENT, "
         "and the burstiness of gaps by at most twice that."},
    {.name = "html", .metavar = "FILE", .help = "Write a page there too, with the distributions as plots."},
    {.name = "json", .help = "Print JSON in place of text: of each number an array, of both traces."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel trace compare philly_jobs.csv.zst jobs.csv.zst --within 5",
     "Is what was drawn like what was recorded?"},
    {0},
};

const struct args_verb verb_trace_compare = {
    .name = "trace compare",
    .summary = "say how alike two traces are",
    .synopsis = "TRACE TRACE [OPTION]...",
    .description =
        (const char *const[]){"Prints amounts, means and quantiles of run times, GPUs and gaps between submissions, "
                              "how submissions cluster, autocorrelations, and shares by outcome; of each distribution "
                              "the distance of Kolmogorov and Smirnov and the statistic of Anderson and Darling. "
                              "docs/synthesis.md defines each number.",
                              NULL},
    .options = options,
    .examples = examples,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_compare,
};
