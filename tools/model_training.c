/* tools/model_training.c -- measured training steps, and what the model says of the same. */
#include "tools/model_training.h"

#include <math.h>

#include "topologies/training_rows.h"

#define SLOPE_ERROR 0.5 /* of MFU by doublings in strong scaling, relative */

static const double nic = 50e9; /* DGX H100 */

static const char *verdict(bool holds)
{
    return holds ? "ok" : "NOT OK";
}

static struct training_time time_on_h100(const struct training_plan *plan, double network_bytes_per_s,
                                         uint32_t tp_domains)
{
    const struct collective_system *system = collective_system_find(TEXT("h100"));
    const struct training_links links = training_links_packed(plan, system, network_bytes_per_s, tp_domains);
    return training_time(plan, &links, training_peak_tflops(system, plan->precision));
}

/* ---- rows ---- */

/* What is tested of a table. */
struct table {
    const char *title, *source;
    double row_error, rms; /* most; 0: not tested */
    double slope_error;    /* of MFU by doublings between the rows of a name, relative; 0: not tested */
};

static const struct table tables[TRAINING_TABLE_COUNT] = {
    [TRAINING_TABLE_MEGATRON] = {"Training on H100, Megatron-Core r0.8, weak scaling",
                                 "NVIDIA/Megatron-LM core_r0.8.0, images/model_table.png", .rms = 0.06},
    [TRAINING_TABLE_LLAMA] = {"Llama 3 405B without context parallelism", "arXiv 2407.21783, table 4", .rms = 0.06},
    [TRAINING_TABLE_SHARDED] = {"Sharded parameters (FSDP), 128 to 512 GPUs",
                                "mosaicml/llm-foundry, scripts/train/benchmarking/README.md", .row_error = 0.1,
                                .slope_error = 0.3},
    [TRAINING_TABLE_FOUNDRY] = {"Sharded parameters (FSDP), 8 to 64 GPUs",
                                "mosaicml/llm-foundry, scripts/train/benchmarking/README.md", .rms = 0.08},
    [TRAINING_TABLE_NEMO] = {"NeMo, BF16, with context parallelism where CP is 2",
                             "NVIDIA/dgxc-benchmarking, README of llama3.1, nemo_megatron and nemotron",
                             .row_error = 0.15},
    [TRAINING_TABLE_FP8] = {"FP8: llm-foundry, and NeMo 24.07 to 25.09",
                            "llm-foundry and dgxc-benchmarking as above; NVIDIA/NeMo and Megatron-Bridge, performance "
                            "summaries",
                            .rms = 0.1},
    [TRAINING_TABLE_MIXTURE] = {"Mixtures of experts, balanced load, BF16 and FP8",
                                "yanring/Megatron-MoE-ModelZoo; Megatron-LM, moe/README.md; NeMo AutoModel and\n"
                                "  Megatron-Bridge, performance summaries; NVIDIA/dgxc-benchmarking, grok1",
                                .row_error = 0.25},
};

static double print_row(const struct training_row *row, const struct table *table, bool *holds, struct buffer *out)
{
    const struct training_plan *plan = &row->plan;
    const double tflops = training_row_model_tflops(row), error = tflops / row->tflops - 1;
    const double peak = training_peak_tflops(collective_system_find(TEXT("h100")), plan->precision);
    const bool is_near = table->row_error == 0 || !row->is_tested || fabs(error) <= table->row_error;
    *holds &= is_near;
    buffer_format(
        out, "  %-18s %6llu %6u %4u %3u %3u %4u %4u %4u  %-4s  %8.1f  %8.1f  %+6.1f %%  %4.1f %%  %s%s\n", row->name,
        (unsigned long long)training_plan_gpus(plan), plan->sequence, plan->tp, plan->pp, plan->cp, plan->dp, plan->ep,
        plan->zero, training_precision_names[plan->precision], row->tflops, tflops, 100 * error, 100 * tflops / peak,
        range_is_inside(training_validated(plan, collective_system_find(TEXT("h100")))) ? "inside" : "outside",
        !row->is_tested ? "  not tested"
        : is_near       ? ""
                        : "  NOT OK");
    return error;
}

/* Relative loss of MFU for each doubling of GPUs. */
static double loss(double first, double last, double doublings)
{
    return 1 - pow(last / first, 1 / doublings);
}

/* The rows from `first` to `last` are of one plan by number of GPUs. */
static bool print_slope(const struct training_row *first, const struct training_row *last, double most,
                        struct buffer *out)
{
    const double doublings = log2((double)training_plan_gpus(&last->plan) / (double)training_plan_gpus(&first->plan));
    const double measured = loss(first->tflops, last->tflops, doublings);
    const double model = loss(training_row_model_tflops(first), training_row_model_tflops(last), doublings);
    const bool holds = fabs(model / measured - 1) <= most;
    buffer_format(out, "  %-18s MFU lost for each doubling: measured %.2f %%, model %.2f %%, error %+.0f %%  %s\n",
                  first->name, 100 * measured, 100 * model, 100 * (model / measured - 1), verdict(holds));
    return holds;
}

static bool print_table(enum training_table which, struct buffer *out)
{
    const struct table *table = &tables[which];
    double sum = 0;
    uint32_t count = 0;
    bool holds = true;
    struct training_row first = {0};
    buffer_format(out, "%s, TFLOP/s of a GPU\n  source: %s\n", table->title, table->source);
    buffer_format(out, "  %-18s %6s %6s %4s %3s %3s %4s %4s %4s  %-4s  %8s  %8s  %8s  %6s  %s\n", "model", "GPUs",
                  "tokens", "TP", "PP", "CP", "DP", "EP", "zero", "", "measured", "model", "error", "MFU", "range");
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        if (row.table != which)
            continue;
        const double error = print_row(&row, table, &holds, out);
        sum += row.is_tested ? error * error : 0;
        count += row.is_tested;
    }
    for (uint32_t i = 0; table->slope_error > 0 && i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        if (row.table != which)
            continue;
        if (first.name == NULL || !text_is(text_of(row.name), first.name))
            first = row;
        else if (i + 1 == training_row_count() || training_row_at(i + 1).table != which ||
                 !text_is(text_of(training_row_at(i + 1).name), row.name))
            holds &= print_slope(&first, &row, table->slope_error, out);
    }
    const double rms = sqrt(sum / count);
    const bool is_near = table->rms == 0 || rms <= table->rms;
    buffer_format(out, "  root mean square of the errors %.1f %%", 100 * rms);
    if (table->rms > 0)
        buffer_format(out, "; tested: at most %.0f %%", 100 * table->rms);
    if (table->row_error > 0)
        buffer_format(out, "; tested: each row within %.0f %%", 100 * table->row_error);
    if (table->slope_error > 0)
        buffer_format(out, ", each slope within %.0f %%", 100 * table->slope_error);
    buffer_format(out, "  %s\n\n", verdict(holds && is_near));
    return holds && is_near;
}

/* ---- errors ---- */

/* The model's errors over the tested rows of one kind of plan and one precision.  The same rows give the range. */
struct error_sum {
    const char *what; /* "dense plans in bf16" */
    double squares, worst;
    struct training_row worst_row;
    uint32_t count;
};

static void print_error_sums(struct buffer *out)
{
    enum { SUMS_MAX = 8 };
    const struct collective_system *system = collective_system_find(TEXT("h100"));
    struct error_sum sums[SUMS_MAX] = {{0}};
    uint32_t count = 0;
    buffer_format(
        out, "Errors of the tested rows above by system, kind of plan and precision\n  %-7s %-30s  %4s  %7s  %8s  %s\n",
        "system", "plans", "rows", "rms", "worst", "worst row");
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        const char *what = training_range(&row.plan, system).what;
        const double error = training_row_model_tflops(&row) / row.tflops - 1;
        uint32_t s = 0;
        while (s < count && sums[s].what != what)
            s++;
        if (!row.is_tested || s == SUMS_MAX)
            continue;
        count += s == count;
        sums[s].what = what;
        sums[s].squares += error * error;
        sums[s].count++;
        if (fabs(error) >= fabs(sums[s].worst)) {
            sums[s].worst = error;
            sums[s].worst_row = row;
        }
    }
    for (uint32_t s = 0; s < count; s++)
        buffer_format(out, "  %-7s %-30s  %4u  %5.1f %%  %+6.1f %%  %s on %llu GPUs, %u tokens\n", system->name,
                      sums[s].what, sums[s].count, 100 * sqrt(sums[s].squares / sums[s].count), 100 * sums[s].worst,
                      sums[s].worst_row.name, (unsigned long long)training_plan_gpus(&sums[s].worst_row.plan),
                      sums[s].worst_row.plan.sequence);
    buffer_char(out, '\n');
}

/* ---- other tables ---- */

static struct training_plan plan_named(enum training_table table, const char *name)
{
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        if (row.table == table && text_is(text_of(row.name), name))
            return row.plan;
    }
    return (struct training_plan){0};
}

static bool print_strong_scaling(struct buffer *out)
{
    static const uint32_t replicas[] = {2, 4, 8, 16, 32, 48, 96};
    enum { COUNT = sizeof replicas / sizeof *replicas };
    const double first_measured = 47, last_measured = 42, doublings = log2(96.0 / 2);
    double first = 0, last = 0;
    buffer_format(out,
                  "Strong scaling, 177B, batch 1152, MFU\n"
                  "  source: NVIDIA/Megatron-LM, README: 47 %% on 96 GPUs, 42 %% on 4608\n"
                  "  %6s  %8s  %8s\n",
                  "GPUs", "measured", "model");
    for (size_t i = 0; i < COUNT; i++) {
        struct training_plan plan = plan_named(TRAINING_TABLE_MEGATRON, "177B");
        plan.dp = replicas[i];
        last = 100 * time_on_h100(&plan, nic, 1).mfu_ratio;
        first = i == 0 ? last : first;
        buffer_format(out, "  %6llu", (unsigned long long)training_plan_gpus(&plan));
        if (i == 0 || i + 1 == COUNT)
            buffer_format(out, "  %6.1f %%", i == 0 ? first_measured : last_measured);
        else
            buffer_format(out, "  %8s", "");
        buffer_format(out, "  %6.1f %%\n", last);
    }
    const double measured = (last_measured - first_measured) / doublings, model = (last - first) / doublings;
    const bool holds = fabs(model / measured - 1) <= SLOPE_ERROR;
    buffer_format(out,
                  "  points per doubling: measured %.2f, model %.2f, error %+.0f %%; tested: within %.0f %%  %s\n\n",
                  measured, model, 100 * (model / measured - 1), 100 * SLOPE_ERROR, verdict(holds));
    return holds;
}

/* Nothing of this was measured: the figures beside are of a coarser formula, one rate a GPU and no latency. */
static void print_bandwidth(struct buffer *out)
{
    static const struct {
        double gb_per_s; /* of a GPU on the network, as it is reached */
        uint32_t tp_domains;
        double tflops;
    } cases[] = {{40, 1, 437}, {20, 1, 430}, {10, 1, 306}, {5, 1, 165}, {40, 8, 237}};
    const struct training_plan plan = plan_named(TRAINING_TABLE_MEGATRON, "70B");
    buffer_format(out,
                  "What the network is worth, 70B on 768 GPUs, TFLOP/s of a GPU; not measured, not tested\n"
                  "  beside: a coarser formula, one rate for each GPU and no latency\n"
                  "  %-34s  %8s  %8s  %6s\n",
                  "network, of a GPU", "beside", "model", "loss");
    double most = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double network = cases[i].gb_per_s * 1e9 / 0.966; /* nominal: topologies/collective.c */
        const double tflops = time_on_h100(&plan, network, cases[i].tp_domains).tflops_per_gpu;
        most = i == 0 ? tflops : most;
        buffer_format(out, "  %2.0f GB/s%-27s  %8.0f  %8.1f  %4.0f %%\n", cases[i].gb_per_s,
                      cases[i].tp_domains > 1 ? ", each TP group over 8 nodes" : "", cases[i].tflops, tflops,
                      100 * (1 - tflops / most));
    }
}

bool model_training_print(struct buffer *out)
{
    bool holds = true;
    for (int i = 0; i < TRAINING_TABLE_COUNT; i++)
        holds &= print_table((enum training_table)i, out);
    print_error_sums(out);
    holds &= print_strong_scaling(out);
    print_bandwidth(out);
    return holds;
}
