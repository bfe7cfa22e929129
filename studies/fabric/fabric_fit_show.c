/* studies/fabric/fabric_fit_show.c -- a fit as text, and as the `fabric` of a cluster file. */
#include <math.h>

#include "studies/fabric/fabric_fit.h"

enum { SIGNIFICANT = 4 };

#define DEVIATION_LARGE                                                                                                \
    0.1 /* of the fit's errors, rms: the tested rows of docs/network.md have less on most networks */

static const struct {
    const char *name; /* in a cluster file */
    double scale;     /* of the file's number over the model's */
} parameters[FABRIC_PARAMETER_COUNT] = {{"step_latency_us", 1e6}, {"rate_ratio", 1}, {"nvlink_ratio", 1}};

static double rounded(double value)
{
    const int digits = SIGNIFICANT - 1 - (int)floor(log10(value));
    const double unit = pow(10, abs(digits));
    return digits >= 0 ? round(value * unit) / unit : round(value / unit) * unit;
}

static void put_bytes(struct buffer *out, int width, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    buffer_format(out, "%*.4g %s", width, bytes, units[unit]);
}

static void put_row(const struct fabric_fit *fit, const struct nccl_tests *tests, size_t index,
                    const struct fabric_start *start, struct buffer *out)
{
    const struct nccl_row *row = &tests->rows[index];
    const struct collective_place place = fabric_row_place(row, &start->system, start);
    const double bus_bytes = collective_bus_factor(row->kind, row->ranks) * row->bytes / 1e9;
    buffer_format(out, "  %5llu  %-14s %5u %7u %5u  ", (unsigned long long)row->line, collective_kind_names[row->kind],
                  row->hosts, place.domain_count, row->ranks);
    put_bytes(out, 5, row->bytes);
    buffer_format(out, "%s  %8.4g  %8.4g  %+7.1f %%%s\n", row->bytes < 1024 ? "  " : "", bus_bytes / row->s,
                  bus_bytes / fit->model_s[index], 100 * (row->s / fit->model_s[index] - 1),
                  row->bytes < fit->bytes_min ? "  left out" : "");
}

static void put_errors(const struct fabric_fit *fit, const struct nccl_tests *tests, struct buffer *out)
{
    const struct nccl_row *worst = &tests->rows[fit->worst_row];
    buffer_format(out, "%zu of %zu rows used, from ", fit->used, tests->count);
    put_bytes(out, 1, fit->bytes_min);
    buffer_format(out, " on: rms %.1f %%, worst %+.1f %% (line %llu)\n", 100 * fit->rms, 100 * fit->worst,
                  (unsigned long long)worst->line);
    if (fit->rms > DEVIATION_LARGE)
        buffer_string(out, "the model does not fit these rows well: its answers for this network are rough\n");
}

static void put_estimate(const struct fabric_estimate *estimate, int parameter, struct buffer *out)
{
    const double scale = parameters[parameter].scale;
    buffer_format(out, "%-15s  %.4g  ", parameters[parameter].name, estimate->value * scale);
    if (!estimate->has_rows)
        buffer_format(out, "not fitted: no row is %s\n",
                      parameter == FABRIC_NVLINK_RATIO ? "of one NVLink domain" : "of several NVLink domains");
    else
        buffer_format(out, "%s%.4g to %.4g\n", estimate->is_told ? "95 % interval " : "not fitted: these rows allow ",
                      estimate->low * scale, estimate->high * scale);
}

/* NICs that carry no less than their nominal rate have a higher one. */
static void put_doubt(const struct fabric_fit *fit, const struct fabric_start *start, struct buffer *out)
{
    const struct fabric_estimate *rate = &fit->estimates[FABRIC_RATE_RATIO];
    if (rate->is_told && rate->value > 0.999)
        buffer_format(out,
                      "the NICs carry all of %.4g GB/s for each GPU, the nominal rate taken: if it is higher, say so "
                      "with --nic-gb-per-s or --cluster\n",
                      start->network_bytes_per_s / 1e9);
}

static void put_fabric(const struct fabric_fit *fit, const struct nccl_tests *tests, const struct fabric_start *start,
                       struct buffer *out)
{
    const struct fabric_estimate *step = &fit->estimates[FABRIC_STEP_S], *rate = &fit->estimates[FABRIC_RATE_RATIO];
    const struct transport *transport = start->system.transport;
    const double nic_bytes_per_s = start->system.nic_bytes_per_s;
    buffer_members(out, "{'fabric': {");
    if (strcmp(transport->name, transports[0].name) != 0)
        buffer_members(out, ", 'transport': %s", transport->name);
    if (!start->has_cluster && fabs(nic_bytes_per_s - transport->nic_bytes_per_s) > 1)
        buffer_members(out, ", 'rail_gbps': %g", rounded(nic_bytes_per_s * 8 / 1e9));
    if (step->is_told || rate->is_told) {
        struct buffer source = {0};
        buffer_format(&source, "fit to %s, nccl-tests, %zu rows from ", tests->rows[0].file, fit->used);
        put_bytes(&source, 1, fit->bytes_min);
        buffer_format(&source, ", rms %.1f %%", 100 * fit->rms);
        buffer_members(out, ", 'step_latency_us': %g, 'rate_ratio': %g, 'source': %s", rounded(step->value * 1e6),
                       rounded(rate->value), buffer_c_string(&source));
        buffer_release(&source);
    }
    if (fit->estimates[FABRIC_NVLINK_RATIO].is_told)
        buffer_members(out, ", 'nvlink_ratio': %g", rounded(fit->estimates[FABRIC_NVLINK_RATIO].value));
    buffer_string(out, "}}\n");
}

void fabric_fit_show(const struct fabric_fit *fit, const struct nccl_tests *tests, const struct fabric_start *start,
                     struct buffer *out)
{
    buffer_format(out, "  %5s  %-14s %5s %7s %5s  %9s  %8s  %8s  %9s\n", "line", "GB/s", "hosts", "domains", "GPUs",
                  "bytes", "measured", "model", "error");
    for (size_t i = 0; i < tests->count; i++)
        put_row(fit, tests, i, start, out);
    put_errors(fit, tests, out);
    for (int p = 0; p < FABRIC_PARAMETER_COUNT; p++)
        put_estimate(&fit->estimates[p], p, out);
    put_doubt(fit, start, out);
    put_fabric(fit, tests, start, out);
}
