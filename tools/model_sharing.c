/* tools/model_sharing.c -- measured prices of MIG instances, MPS, time-slices and pairs. */
#include "tools/model_sharing.h"

#include <math.h>

#include "topologies/gpu_demand.h"
#include "topologies/mig.h"

enum { A100_SMS = 108 }; /* NVIDIA A100 Tensor Core GPU Architecture, whitepaper */

/* One set of demands for each program.  YOLOS-small is always busy here, so it is closed. */
static const double yolos_alone_s = 0.0882; /* of one client: the nos table, below */
static const struct gpu_demand yolos = {.compute = 0.553, .latency = 1, .overlap = 1};
static const struct gpu_demand gromacs = {.compute = 0.365, .bandwidth = 0.34, .latency = 1, .overlap = 1};

struct sharing_row {
    const char *name;
    double measured, model;
};

static bool print_row(const struct sharing_row *row, double tolerance, struct buffer *out)
{
    const double error = row->model / row->measured - 1;
    const bool holds = fabs(error) <= tolerance;
    buffer_format(out, "  %-28s  %8.4f  %8.4f  %+7.1f %%  %s\n", row->name, row->measured, row->model, 100 * error,
                  holds ? "ok" : "NOT OK");
    return holds;
}

static bool print_rows(const char *title, const char *source, double tolerance, const struct sharing_row *rows,
                       size_t count, struct buffer *out)
{
    bool holds = true;
    buffer_format(out, "%s\n  source: %s\n  tested: each row within %.0f %%\n  %-28s  %8s  %8s  %9s\n", title, source,
                  100 * tolerance, "", "measured", "model", "error");
    for (size_t i = 0; i < count; i++)
        holds &= print_row(&rows[i], tolerance, out);
    buffer_char(out, '\n');
    return holds;
}

#define PRINT(title, source, tolerance, rows, out)                                                                     \
    print_rows(title, source, tolerance, rows, sizeof(rows) / sizeof *(rows), out)

static double yolos_s(uint32_t clients, enum gpu_sharing sharing)
{
    struct gpu_client client = {.demand = yolos, .count = clients};
    gpu_demand_share(&client, 1, (struct gpu_grant){1, 1}, sharing);
    return yolos_alone_s * client.time;
}

static const struct mig_profile *a100(enum mig_profile_id profile)
{
    return &mig_profiles(MIG_A100_80)[profile];
}

static struct gpu_grant a100_grant(enum mig_profile_id profile)
{
    return (struct gpu_grant){a100(profile)->sm_count / (double)A100_SMS,
                              a100(profile)->memory_slices / (double)MIG_SLICES};
}

/* Neighbours on other instances do not enter. */
static double mig_slow(void)
{
    return gpu_demand_alone(&yolos, a100_grant(MIG_1G));
}

static bool print_latencies(struct buffer *out)
{
    const double mig_s = yolos_alone_s * mig_slow();
    const struct sharing_row rows[] = {
        {"time-slices, 1 client", 0.0882, yolos_s(1, GPU_IN_TURNS)},
        {"time-slices, 3 clients", 0.2931, yolos_s(3, GPU_IN_TURNS)},
        {"time-slices, 5 clients", 0.4890, yolos_s(5, GPU_IN_TURNS)},
        {"time-slices, 7 clients", 0.6849, yolos_s(7, GPU_IN_TURNS)},
        {"MPS, 1 client", 0.0880, yolos_s(1, GPU_TOGETHER)},
        {"MPS, 3 clients", 0.1640, yolos_s(3, GPU_TOGETHER)},
        {"MPS, 5 clients", 0.2409, yolos_s(5, GPU_TOGETHER)},
        {"MPS, 7 clients", 0.3198, yolos_s(7, GPU_TOGETHER)},
        {"MIG 1g.10gb, 1 client", 0.3424, mig_s},
        {"MIG 1g.10gb, 3 clients", 0.3413, mig_s},
        {"MIG 1g.10gb, 5 clients", 0.3453, mig_s},
        {"MIG 1g.10gb, 7 clients", 0.3442, mig_s},
    };
    return PRINT("Latency of YOLOS-small beside copies of itself on one A100 80GB, s",
                 "nebuly-ai/nos, demos/gpu-sharing-comparison/README.md; compute 0.553 and latency 1 were fitted", 0.12,
                 rows, out);
}

static bool print_whole(struct buffer *out)
{
    const struct sharing_row rows[] = {
        {"SMs of a 7g instance", 0.9075, a100(MIG_7G)->sm_count / (double)A100_SMS},
        {"work of 7 x 1g, over 1 alone", 1.79, 7 / mig_slow()},
    };
    return PRINT("What partitioning leaves of an A100, of the whole GPU",
                 "CERN: 9.25 % of the SMs are lost with MIG; nebuly-ai/nos, as above", 0.12, rows, out);
}

static double gromacs_speed(enum mig_profile_id profile)
{
    return 1 / gpu_demand_alone(&gromacs, a100_grant(profile));
}

static bool print_gromacs(struct buffer *out)
{
    const double full_ns_per_day = 118.6;
    const struct sharing_row rows[] = {
        {"1 of 8 memory slices (10gb)", 43.28 / full_ns_per_day, gromacs_speed(MIG_1G)},
        {"2 of 8 memory slices (20gb)", 81.2 / full_ns_per_day, gromacs_speed(MIG_2G)},
        {"4 of 8 memory slices (40gb)", 115.5 / full_ns_per_day, gromacs_speed(MIG_3G)},
    };
    return PRINT("GROMACS on instances of an A100 80GB, speed over that on the GPU",
                 "NJIT, GROMACS on MIG: ns/day of 118.6; compute 0.365 and bandwidth 0.34 were fitted", 0.12, rows,
                 out);
}

/* Two equal jobs, each with half of the sum: that utilization, of which the latency of training is no SM activity. */
static double pair_speed(double together)
{
    const double utilization = together / 2, latency = gpu_programs[GPU_TRAINING].latency;
    const double compute = fmax(0, utilization - latency);
    const struct gpu_demand demand = {.compute = compute, .latency = utilization - compute, .host = 1 - utilization};
    struct gpu_client client = {.demand = demand, .count = 2};
    gpu_demand_share(&client, 1, (struct gpu_grant){1, 1}, GPU_TOGETHER);
    return 1 / client.time;
}

/* The middle of each range of the pair's sum. */
static bool print_pairs(struct buffer *out)
{
    const struct sharing_row rows[] = {
        {"pair, together 0 to 40 %", 0.99, pair_speed(0.2)},    {"pair, together 40 to 60 %", 1.02, pair_speed(0.5)},
        {"pair, together 60 to 80 %", 0.99, pair_speed(0.7)},   {"pair, together 80 to 100 %", 0.97, pair_speed(0.9)},
        {"pair, together 100 to 120 %", 0.93, pair_speed(1.1)}, {"pair, together 120 to 140 %", 0.87, pair_speed(1.3)},
        {"pair, together 140 to 160 %", 0.80, pair_speed(1.5)}, {"pair, together 160 to 180 %", 0.73, pair_speed(1.7)},
        {"pair, together 180 to 200 %", 0.68, pair_speed(1.9)},
    };
    return PRINT("Mean speed of two jobs on one GPU, by the sum of their GPU utilization when alone",
                 "Lucid (Hu et al., ASPLOS 2023), colocate_info.csv, 1388 pairs; latency 0.26 was fitted", 0.03, rows,
                 out);
}

/* What is taken of a program that does not state it. */
static void print_kinds(struct buffer *out)
{
    buffer_string(out, "What a job needs of a GPU, where the workload states its SM activity alone\n");
    for (int p = 0; p < GPU_PROGRAM_COUNT; p++) {
        const struct gpu_program_defaults *kind = &gpu_programs[p];
        buffer_format(out, "  %-10s %-7s  latency %.2f + %.2f x compute, overlap %.0f  %s\n", kind->name,
                      kind->is_open ? "open" : "closed", kind->latency, kind->latency_per_compute, kind->overlap,
                      kind->source);
    }
    buffer_char(out, '\n');
}

bool model_sharing_print(struct buffer *out)
{
    bool holds = print_latencies(out);
    holds &= print_whole(out);
    holds &= print_gromacs(out);
    holds &= print_pairs(out);
    print_kinds(out);
    return holds;
}
