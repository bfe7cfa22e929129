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

int verb_trace_compare(const struct args *args)
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
