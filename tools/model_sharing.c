/* tools/model_sharing.c -- measured prices of MIG instances, MPS, time-slices and pairs. */
#include "tools/model_sharing.h"

#include <math.h>

#include "sim/engine/sharing_speed.h"
#include "topologies/mig.h"

enum { A100_SMS = 108 }; /* NVIDIA A100 Tensor Core GPU Architecture, whitepaper */

static const double yolos_alone_s = 0.0882; /* of one client: the nos table, below */
static const double yolos_use = 0.443;      /* its part of the issue slots: the slope of the same table under MPS */

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

static double mps_s(double clients)
{
    return yolos_alone_s * sharing_slow_mps(yolos_use, clients * yolos_use);
}

static double timeslice_s(double clients)
{
    return yolos_alone_s * sharing_slow_timeslice(clients);
}

static const struct mig_profile *a100(enum mig_profile_id profile)
{
    return &mig_profiles(MIG_A100_80)[profile];
}

/* Neighbours on other instances do not enter. */
static double mig_slow(void)
{
    return sharing_slow_mig(sharing_small_inference, A100_SMS, a100(MIG_1G)->sm_count, a100(MIG_1G)->memory_slices);
}

static bool print_latencies(struct buffer *out)
{
    const double mig_s = yolos_alone_s * mig_slow();
    const struct sharing_row rows[] = {
        {"time-slices, 1 client", 0.0882, timeslice_s(1)},
        {"time-slices, 3 clients", 0.2931, timeslice_s(3)},
        {"time-slices, 5 clients", 0.4890, timeslice_s(5)},
        {"time-slices, 7 clients", 0.6849, timeslice_s(7)},
        {"MPS, 1 client", 0.0880, mps_s(1)},
        {"MPS, 3 clients", 0.1640, mps_s(3)},
        {"MPS, 5 clients", 0.2409, mps_s(5)},
        {"MPS, 7 clients", 0.3198, mps_s(7)},
        {"MIG 1g.10gb, 1 client", 0.3424, mig_s},
        {"MIG 1g.10gb, 3 clients", 0.3413, mig_s},
        {"MIG 1g.10gb, 5 clients", 0.3453, mig_s},
        {"MIG 1g.10gb, 7 clients", 0.3442, mig_s},
    };
    return PRINT("Latency of YOLOS-small beside copies of itself on one A100 80GB, s",
                 "nebuly-ai/nos, demos/gpu-sharing-comparison/README.md; the model was fitted to these rows", 0.05,
                 rows, out);
}

static bool print_whole(struct buffer *out)
{
    const struct sharing_row rows[] = {
        {"SMs of a 7g instance", 0.9075, a100(MIG_7G)->sm_count / (double)A100_SMS},
        {"work of 7 x 1g, over 1 alone", 1.79, 7 / mig_slow()},
    };
    return PRINT("What partitioning leaves of an A100, of the whole GPU",
                 "CERN: 9.25 % of the SMs are lost with MIG; nebuly-ai/nos, as above", 0.05, rows, out);
}

static double gromacs_speed(enum mig_profile_id profile)
{
    const double demand = 0.365; /* its speed on one memory slice, of that on the GPU: it waits for memory alone */
    return 1 / sharing_slow_bandwidth(demand, a100(profile)->memory_slices / (double)MIG_SLICES);
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
                 "NJIT, GROMACS on MIG: 43.28, 81.2 and 115.5 ns/day of 118.6; speed = min(1, (slices / 8) / 0.365)",
                 0.15, rows, out);
}

/* The middle of each range of the pair's sum. */
static bool print_pairs(struct buffer *out)
{
    const struct sharing_row rows[] = {
        {"pair, together 0 to 40 %", 0.99, 1 / sharing_slow_pairs(0.2)},
        {"pair, together 40 to 60 %", 1.02, 1 / sharing_slow_pairs(0.5)},
        {"pair, together 60 to 80 %", 0.99, 1 / sharing_slow_pairs(0.7)},
        {"pair, together 80 to 100 %", 0.97, 1 / sharing_slow_pairs(0.9)},
        {"pair, together 100 to 120 %", 0.93, 1 / sharing_slow_pairs(1.1)},
        {"pair, together 120 to 140 %", 0.87, 1 / sharing_slow_pairs(1.3)},
        {"pair, together 140 to 160 %", 0.80, 1 / sharing_slow_pairs(1.5)},
        {"pair, together 160 to 180 %", 0.73, 1 / sharing_slow_pairs(1.7)},
        {"pair, together 180 to 200 %", 0.68, 1 / sharing_slow_pairs(1.9)},
    };
    return PRINT("Mean speed of two jobs on one GPU, by the sum of their GPU utilization when alone",
                 "Lucid (Hu et al., ASPLOS 2023), simulation/data/colocate_info.csv, 1388 pairs", 0.05, rows, out);
}

bool model_sharing_print(struct buffer *out)
{
    bool holds = print_latencies(out);
    holds &= print_whole(out);
    holds &= print_gromacs(out);
    holds &= print_pairs(out);
    return holds;
}
