/* tools/model_tables.c -- measured tables, and what the models say of the same. */
#include "tools/model_tables.h"

#include <assert.h>
#include <math.h>

#include "base/json.h"
#include "tools/model_sharing.h"
#include "tools/model_training.h"
#include "topologies/collective_rows.h"
#include "topologies/communication.h"
#include "topologies/nccl_tuning.h"

#define KIB 0x1p10
#define MIB 0x1p20
#define GIB 0x1p30

#define APART_MIN 0.25 /* where nothing was measured, models that differ by more do not tell the time */

static const char *verdict(bool holds)
{
    return holds ? "ok" : "NOT OK";
}

static void put_bytes(struct buffer *out, int width, double bytes)
{
    const double unit = bytes >= GIB ? GIB : bytes >= MIB ? MIB : KIB;
    buffer_format(out, "%*.0f %s", width, bytes / unit, bytes >= GIB ? "GiB" : bytes >= MIB ? "MiB" : "KiB");
}

/* ---- collectives ---- */

enum { SUMS_COUNT = LINKS_COUNT + TRANSPORT_COUNT }; /* InfiniBand by links, then other networks */

/* The errors of the tested rows of a system, or of a network. */
struct error_sum {
    double squares, nccl_squares, worst;
    const struct collective_row *worst_row;
    uint32_t count, nccl_count;
};

static double bus_gb_per_s(const struct collective_row *row, double s)
{
    return isfinite(s) ? collective_bus_factor(row->kind, row->domains * row->gpus) * row->bytes / s / 1e9 : 0;
}

static void add_error(struct error_sum *sum, const struct collective_row *row, double error, double nccl_error)
{
    sum->squares += error * error;
    sum->count++;
    if (fabs(error) >= fabs(sum->worst)) {
        sum->worst = error;
        sum->worst_row = row;
    }
    if (isfinite(nccl_error)) {
        sum->nccl_squares += nccl_error * nccl_error;
        sum->nccl_count++;
    }
}

static bool print_collective_row(const struct collective_table *table, const struct collective_row *row,
                                 struct error_sum *sum, struct buffer *out)
{
    const struct collective_system system = collective_row_system(table, row);
    const struct collective_place place = collective_row_place(row, &system);
    const double model = bus_gb_per_s(row, collective_row_s(table, row));
    const double nccl = bus_gb_per_s(row, nccl_tuning_time(row->kind, &place, row->bytes, table->algorithm).s);
    const double error = model / row->gb_per_s - 1;
    const bool is_tested = table->tolerance > 0, holds = !is_tested || fabs(error) <= table->tolerance;
    const enum collective_algorithm algorithm = table->algorithm != COLLECTIVE_NOTHING
                                                    ? table->algorithm
                                                    : collective_time(row->kind, &place, row->bytes).algorithm;
    if (is_tested)
        add_error(sum, row, error, nccl > 0 ? nccl / row->gb_per_s - 1 : INFINITY);
    buffer_format(out, "  %-14s %7u %4u  %-4s ", collective_kind_names[row->kind], row->domains, place.gpu_count,
                  row->has_nvls ? "on" : "off");
    put_bytes(out, 5, row->bytes);
    buffer_format(out, "  %8.2f  %8.2f  %+7.1f %%  %-9s  %8.2f  %-7s  %s\n", row->gb_per_s, model, 100 * error,
                  collective_algorithm_names[algorithm], nccl,
                  range_is_inside(collective_validated(row->kind, &place, row->bytes)) ? "inside" : "outside",
                  is_tested ? verdict(holds) : "not tested");
    return holds;
}

static bool print_collective_table(const struct collective_table *table, struct error_sum *sums, struct buffer *out)
{
    bool holds = true;
    buffer_format(out, "%s\n  source: %s\n", table->title, table->source);
    if (table->tolerance > 0)
        buffer_format(out, "  tested: each row within %.0f %%\n", 100 * table->tolerance);
    buffer_format(out, "  %-14s %7s %4s  %-4s %9s  %8s  %8s  %9s  %-9s  %8s  %s\n", "GB/s", "domains", "GPUs", "NVLS",
                  "bytes", "measured", "model", "error", "algorithm", "NCCL's", "range");
    for (size_t i = 0; i < table->count; i++) {
        const struct collective_system system = collective_row_system(table, &table->rows[i]);
        const size_t sum =
            system.transport == transports ? system.links : LINKS_COUNT + (size_t)(system.transport - transports);
        holds &= print_collective_row(table, &table->rows[i], &sums[sum], out);
    }
    buffer_char(out, '\n');
    return holds;
}

static void print_error_sums(const struct error_sum *sums, struct buffer *out)
{
    static const char *const links[LINKS_COUNT] = {
        [LINKS_NVLINK4_NODE] = "h100, h200", [LINKS_NVLINK5_NODE] = "b200", [LINKS_NVLINK5_RACK] = "nvl72"};
    buffer_format(out,
                  "Errors of the tested rows above by system, over InfiniBand, and by network; beside, those of NCCL's "
                  "own tuning model\n"
                  "  source: NVIDIA/nccl 2.28, src/graph/tuning.cc\n"
                  "  %-10s  %4s  %9s  %9s  %10s  %s\n",
                  "system", "rows", "rms", "worst", "NCCL's rms", "worst row");
    for (int l = 0; l < SUMS_COUNT; l++) {
        const char *name = l < LINKS_COUNT ? links[l] : transport_names[l - LINKS_COUNT];
        const struct collective_row *row = sums[l].worst_row;
        if (sums[l].count == 0 || name == NULL)
            continue;
        buffer_format(out, "  %-10s  %4u  %7.1f %%  %+7.1f %%  %8.1f %%  %s of ", name, sums[l].count,
                      100 * sqrt(sums[l].squares / sums[l].count), 100 * sums[l].worst,
                      100 * sqrt(sums[l].nccl_squares / sums[l].nccl_count), collective_kind_names[row->kind]);
        put_bytes(out, 0, row->bytes);
        buffer_format(out, ", %u x %u GPUs, NVLS %s\n", row->domains, row->gpus, row->has_nvls ? "on" : "off");
    }
}

/* Where no row stands, the model and NCCL's own are all there is. */
static void print_beyond(struct buffer *out)
{
    static const struct {
        const char *system;
        uint32_t domains, gpus;
    } places[] = {{"h100", 4, 8},   {"h100", 32, 8},  {"h100", 256, 8}, {"b200", 16, 8},
                  {"b200", 128, 8}, {"nvl72", 3, 72}, {"nvl72", 8, 72}, {"nvl72", 32, 72}};
    static const double bytes[] = {16 * MIB, 256 * MIB, 4 * GIB};
    buffer_format(out,
                  "\nAll-reduce beyond the rows, GB/s; nothing of this was measured\n"
                  "  not validated here: the models differ by more than %.0f %%\n"
                  "  %-7s %7s %5s %9s  %8s  %-9s  %8s  %-9s  %9s\n",
                  100 * APART_MIN, "system", "domains", "GPUs", "bytes", "model", "by", "NCCL's", "by", "apart");
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++) {
            const struct collective_row row = {
                places[p].system, COLLECTIVE_ALL_REDUCE, places[p].domains, places[p].gpus, true, bytes[b], 0};
            const struct collective_place place =
                collective_row_place(&row, collective_system_find(text_of(row.system)));
            const struct collective_time time = collective_time(row.kind, &place, row.bytes);
            const struct nccl_tuning nccl = nccl_tuning_time(row.kind, &place, row.bytes, COLLECTIVE_NOTHING);
            buffer_format(out, "  %-7s %7u %5u ", row.system, row.domains, place.gpu_count);
            put_bytes(out, 5, row.bytes);
            buffer_format(out, "  %8.2f  %-9s  %8.2f  %-9s  %+7.0f %%%s\n", bus_gb_per_s(&row, time.s),
                          collective_algorithm_names[time.algorithm], bus_gb_per_s(&row, nccl.s),
                          collective_algorithm_names[nccl.algorithm], 100 * (nccl.s / time.s - 1),
                          fmax(nccl.s / time.s, time.s / nccl.s) > 1 + APART_MIN ? "  not validated here" : "");
        }
    buffer_char(out, '\n');
}

static bool print_collectives(struct buffer *out)
{
    bool holds = true;
    uint32_t count;
    struct error_sum sums[SUMS_COUNT] = {{0}};
    const struct collective_table *tables = collective_tables(&count);
    for (uint32_t i = 0; i < count; i++)
        holds &= print_collective_table(&tables[i], sums, out);
    print_error_sums(sums, out);
    print_beyond(out);
    return holds;
}

/* ---- sensitivities ---- */

/* stanford-futuredata/gavel, simulation_throughputs.json: steps per second of the same job on GPUs of several servers
 * over those on GPUs of one; the mean, the least and the most of its batch sizes. */
struct spread_row {
    const char *model;       /* NULL: not measured */
    const char *sensitivity; /* that stands for it */
    uint32_t gpus;
    double mean, least, most;
};

static const struct spread_row spread_rows[] = {
    {"ResNet-50", "compute_bound", 2, 0.861, 0.724, 1.026},
    {"ResNet-50", "compute_bound", 4, 0.955, 0.642, 1.178},
    {"ResNet-50", "compute_bound", 8, 1.088, 0.905, 1.355},
    {"ResNet-18", "all_reduce_bound", 2, 0.677, 0.347, 1.241},
    {"ResNet-18", "all_reduce_bound", 4, 0.531, 0.328, 1.088},
    {"ResNet-18", "all_reduce_bound", 8, 0.328, 0.168, 0.661},
    {"Transformer", "all_reduce_bound", 2, 0.600, 0.441, 0.774},
    {"Transformer", "all_reduce_bound", 4, 0.592, 0.524, 0.769},
    {"Transformer", "all_reduce_bound", 8, 0.408, 0.276, 0.700},
    {NULL, "skewed", 8, 0, 0, 0},
    {"LM", "bandwidth_bound", 2, 0.240, 0.215, 0.306},
    {"LM", "bandwidth_bound", 4, 0.325, 0.301, 0.356},
    {"LM", "bandwidth_bound", 8, 0.136, 0.105, 0.207},
};

/* The servers are not described: NVLink in them and a NIC of 25 Gb/s are assumed. */
static struct cluster *v100_servers_new(void)
{
    static const char text[] = "{\"name\": \"servers\", \"pools\": [{\"name\": \"v100\", \"nodes\": 8,"
                               " \"gpus_per_node\": 8, \"gpu_model\": \"v100-16gb\", \"nics\": 1}],"
                               " \"fabric\": {\"rails\": 1, \"rail_gbps\": 25}}";
    struct json_doc *doc = NULL;
    struct error error = json_doc_parse(&doc, "servers", text_of(text), ERROR_CONFIG);
    const struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    assert(cluster != NULL && !error_is(error));
    json_doc_free(doc);
    return cluster;
}

/* A GPU in each server. */
static double speed_apart(const struct cluster *cluster, const struct sensitivity *sensitivity, uint32_t gpus)
{
    struct link_place places[8];
    uint32_t count = gpus;
    for (uint32_t i = 0; i < gpus; i++)
        places[i] = (struct link_place){i, 1};
    const struct communication communication = {.sensitivity = *sensitivity};
    const struct gang_place place = gang_place_of(cluster, places, &count),
                            best = communication_best(&communication, cluster, 0, gpus, 1);
    return communication_time(&communication, &place, &best, place.network_bytes_per_s).speed;
}

static bool print_spread(struct buffer *out)
{
    struct cluster *cluster = v100_servers_new();
    double last = 1;
    bool holds = true;
    buffer_format(out,
                  "\nA V100 in each of 2 to 8 servers, speed over that of as many in one; rows not tested\n"
                  "  source: stanford-futuredata/gavel, simulation_throughputs.json: mean, least, most of batch"
                  " sizes\n"
                  "  the network is not described; a NIC of 25 Gb/s in each server is assumed\n"
                  "  %-12s %-17s %4s  %8s  %-14s  %6s\n",
                  "model", "sensitivity", "GPUs", "measured", "least to most", "model");
    for (size_t i = 0; i < sizeof spread_rows / sizeof *spread_rows; i++) {
        const struct spread_row *row = &spread_rows[i];
        const struct sensitivity *sensitivity = sensitivity_find(text_of(row->sensitivity));
        const double speed = speed_apart(cluster, sensitivity, row->gpus);
        if (row->model != NULL)
            buffer_format(out, "  %-12s %-17s %4u  %8.2f  %4.2f to %4.2f    %6.2f\n", row->model, row->sensitivity,
                          row->gpus, row->mean, row->least, row->most, speed);
        else
            buffer_format(out, "  %-12s %-17s %4u  %8s  %-14s  %6.2f\n", "-", row->sensitivity, row->gpus, "", "",
                          speed);
    }
    uint32_t count;
    const struct sensitivity *table = sensitivity_table(&count);
    for (uint32_t i = 1; i < count; i++) { /* the first is "none" */
        const double speed = speed_apart(cluster, &table[i], 8);
        holds &= speed < last;
        last = speed;
    }
    buffer_format(out, "  compute_bound loses least, then all_reduce_bound, skewed, bandwidth_bound; tested  %s\n",
                  verdict(holds));
    cluster_free(cluster);
    return holds;
}

bool model_tables_print(struct buffer *out)
{
    bool holds = true;
    holds &= print_collectives(out);
    holds &= model_training_print(out);
    holds &= print_spread(out);
    holds &= model_activity_print(out);
    buffer_char(out, '\n');
    holds &= model_sharing_print(out);
    return holds;
}
