/* What programs do on pieces of GPUs: measured rows, closed forms, laws in random worlds, and a twin. */
#include <math.h>

#include "base/random.h"
#include "tests/support/test.h"
#include "topologies/gpu_demand.h"

static const struct gpu_grant whole = {1, 1};

static void near(const char *what, double is, double should, double tolerance)
{
    if (fabs(is / should - 1) > tolerance)
        fail_msg("%s: %g, not %g", what, is, should);
}

/* Equal clients without latency: the SMs are busy all the time, and each takes N times as long. */
TEST(those_who_only_compute_share_equally)
{
    const struct gpu_demand demand = {.compute = 1};
    struct gpu_client client = {.demand = demand, .count = 5};
    gpu_demand_share(&client, 1, whole, GPU_TOGETHER);
    near("five", client.time, 5, 1e-3);
    gpu_demand_share(&client, 1, whole, GPU_IN_TURNS);
    near("five in turns", client.time, 5 * 1.11, 1e-3);
    client.count = 1;
    gpu_demand_share(&client, 1, whole, GPU_IN_TURNS);
    near("one", client.time, 1, 1e-9);
    near("on a quarter", gpu_demand_alone(&demand, (struct gpu_grant){0.25, 0.5}), 4, 1e-9);
}

/* Two closed clients of compute D and latency 1 - D: one finds the other at the SMs with chance D, as if alone. */
TEST(two_clients_have_a_closed_form)
{
    const double d = 0.4;
    struct gpu_client client = {.demand = {.compute = d, .latency = 1 - d}, .count = 2};
    gpu_demand_share(&client, 1, whole, GPU_TOGETHER);
    near("two", client.time, 1 - d + d * (1 + d), 0.01); /* the approximation is off by half a percent */
}

TEST(an_open_program_serves_what_its_piece_can)
{
    const struct gpu_demand demand = gpu_demand_of(GPU_SERVICE, 0.25, 0);
    const struct gpu_grant seventh = {16 / 132.0, 1 / 8.0};
    near("whole", gpu_demand_alone(&demand, whole), 1, 1e-12);
    const double time = gpu_demand_alone(&demand, seventh);
    assert_true(time > 1 && demand.compute / time <= seventh.sms);
    const struct gpu_demand small = gpu_demand_of(GPU_SERVICE, 0.05, 0);
    near("small", gpu_demand_alone(&small, seventh), 1, 1e-12);
}

static double kernels_of(struct gpu_demand demand, uint32_t count, enum gpu_sharing sharing)
{
    struct gpu_client client = {.demand = demand, .count = count};
    gpu_demand_share(&client, 1, whole, sharing);
    return gpu_demand_kernels(&client, 1, sharing);
}

/* A closed program has a kernel there for all but its host's time, an open one for 1.81 of its SM activity. */
TEST(a_kernel_is_there_for_longer_than_the_sms_are_busy)
{
    const struct gpu_demand training = gpu_demand_of(GPU_TRAINING, 0.5, 0),
                            service = gpu_demand_of(GPU_SERVICE, 0.1, 0);
    near("training", gpu_demand_parts(&training, whole).kernel, 0.5 + 0.26, 1e-9);
    near("its host", gpu_demand_parts(&training, whole).host, 0.24, 1e-9);
    near("a service", gpu_demand_parts(&service, whole).kernel, 0.181, 1e-9);
    assert_true(gpu_demand_parts(&service, whole).host == 0);
    near("one of it", kernels_of(service, 1, GPU_TOGETHER), 0.181, 1e-3);
    near("three", kernels_of(service, 3, GPU_TOGETHER), 1 - 0.819 * 0.819 * 0.819, 0.03);
    near("in turns", kernels_of(service, 1, GPU_IN_TURNS), 0.181, 1e-3);
    near("nine in turns", kernels_of(training, 9, GPU_IN_TURNS), 1, 0.06);
}

/* ---- Laws ---- */

static struct gpu_demand random_demand(struct random_stream *random)
{
    const enum gpu_program program = (enum gpu_program)random_below(random, GPU_PROGRAM_COUNT);
    const double compute = random_uniform(random);
    return gpu_demand_of(program, compute, random_below(random, 2) ? compute * random_uniform(random) : 0);
}

static void print_clients(const struct gpu_client *clients, uint32_t count, struct gpu_grant grant,
                          enum gpu_sharing sharing)
{
    print_message("%s, on %.3f of the SMs and %.3f of the bandwidth:\n",
                  sharing == GPU_TOGETHER ? "together" : "in turns", grant.sms, grant.bandwidth);
    for (uint32_t c = 0; c < count; c++) {
        const struct gpu_demand *demand = &clients[c].demand;
        print_message("  %u %s, compute %.3f, bandwidth %.3f, latency %.3f, host %.3f: %.4f\n", clients[c].count,
                      demand->is_open ? "open" : "closed", demand->compute, demand->bandwidth, demand->latency,
                      demand->host, clients[c].time);
    }
}

TEST(a_piece_never_gives_more_than_it_has)
{
    struct random_stream random;
    random_stream_init(&random, 4201, "demands", 0);
    for (int world = 0; world < 20000; world++) {
        struct gpu_client clients[6];
        const uint32_t count = 1 + (uint32_t)random_below(&random, 6);
        const struct gpu_grant grant = {0.1 + 0.9 * random_uniform(&random), 0.1 + 0.9 * random_uniform(&random)};
        const enum gpu_sharing sharing = (enum gpu_sharing)random_below(&random, 2);
        for (uint32_t c = 0; c < count; c++)
            clients[c] =
                (struct gpu_client){.demand = random_demand(&random), .count = 1 + (uint32_t)random_below(&random, 3)};
        gpu_demand_share(clients, count, grant, sharing);
        double sms = 0, bytes = 0;
        for (uint32_t c = 0; c < count; c++) {
            const struct gpu_demand *demand = &clients[c].demand;
            const double alone = gpu_demand_alone(demand, grant);
            sms += clients[c].count * demand->compute / clients[c].time;
            bytes += clients[c].count * demand->bandwidth / clients[c].time;
            assert_true(gpu_demand_alone(demand, whole) < 1 + 1e-9 && alone >= gpu_demand_alone(demand, whole) - 1e-9);
            assert_true(alone <= 1e-9 + 1 / fmin(grant.sms, grant.bandwidth));
            assert_true(clients[c].time >= alone - 1e-6);
        }
        if (sms > grant.sms * (1 + 1e-9) || bytes > grant.bandwidth * (1 + 1e-9)) {
            print_clients(clients, count, grant, sharing);
            fail_msg("world %d: %g of %g SMs, %g of %g bytes", world, sms, grant.sms, bytes, grant.bandwidth);
        }
    }
}

/* Another client makes nobody faster, if none waits for memory: who does leaves the SMs to others. */
TEST(one_more_neighbour_helps_nobody)
{
    struct random_stream random;
    random_stream_init(&random, 4202, "demands", 0);
    for (int world = 0; world < 2000; world++) {
        struct gpu_client clients[5], more[5];
        const struct gpu_grant grant = {0.1 + 0.8 * random_uniform(&random), 0.1 + 0.8 * random_uniform(&random)};
        const enum gpu_sharing sharing = (enum gpu_sharing)random_below(&random, 2);
        for (uint32_t c = 0; c < 5; c++) {
            clients[c] = (struct gpu_client){.demand = random_demand(&random), .count = 1};
            clients[c].demand.bandwidth = 0;
            more[c] = clients[c];
        }
        gpu_demand_share(clients, 4, grant, sharing);
        gpu_demand_share(more, 5, grant, sharing);
        for (uint32_t c = 0; c < 4; c++)
            if (more[c].time < clients[c].time * 0.97) {
                print_clients(clients, 4, grant, sharing);
                print_clients(more, 5, grant, sharing);
                fail_msg("world %d, client %u: %g; one more: %g", world, c, clients[c].time, more[c].time);
            }
    }
}

/* ---- The twin: kernels one by one, on SMs and memory that serve all that are there in equal parts ----
 *
 * It is written from the words of the header: a unit of work is KERNELS kernels of random size.  A kernel's latency
 * passes before its compute and its bytes, or, for `overlap` of the kernels, beside them; then the host works.  An open
 * program's kernels are asked for at random times, and wait in its own queue. */

enum { CLIENTS = 5, KERNELS = 10 };
static const double horizon_s = 1000;

enum { LATENCY, COMPUTE, BYTES, HOST, TASKS };

struct twin {
    const struct gpu_demand *demand;
    double left[TASKS];
    double asked_at; /* when the next kernel of an open program is asked for */
    double waiting;  /* kernels that are asked for */
    double done;     /* kernels */
    bool is_busy, is_at_once;
};

static void begin_kernel(struct twin *twin, struct random_stream *random)
{
    const double size = (0.5 + random_uniform(random)) / KERNELS;
    twin->is_busy = true;
    twin->waiting -= twin->demand->is_open ? 1 : 0;
    twin->is_at_once = random_uniform(random) < twin->demand->overlap;
    twin->left[LATENCY] = twin->demand->latency * size;
    twin->left[COMPUTE] = twin->demand->compute * size;
    twin->left[BYTES] = twin->demand->bandwidth * size;
    twin->left[HOST] = twin->demand->host * size;
}

static bool is_there(const struct twin *twin, int task)
{
    const bool first = twin->left[LATENCY] > 0;
    const bool works = twin->left[COMPUTE] > 0 || twin->left[BYTES] > 0;
    return twin->is_busy && twin->left[task] > 0 &&
           (task == LATENCY || (task == HOST ? !first && !works : twin->is_at_once || !first));
}

static bool is_on_device(const struct twin *twin)
{
    return twin->is_busy && (twin->left[LATENCY] > 0 || twin->left[COMPUTE] > 0 || twin->left[BYTES] > 0);
}

/* In turns all that a client does on the device goes on at its share of the turns; together what it does at the SMs. */
static double rate_of(const struct twin *twins, const struct twin *twin, int task, struct gpu_grant grant,
                      enum gpu_sharing sharing)
{
    const double grants[TASKS] = {1, grant.sms, grant.bandwidth, 1};
    uint32_t there = 0, on_device = 0;
    for (uint32_t c = 0; c < CLIENTS; c++) {
        there += is_there(&twins[c], task);
        on_device += is_on_device(&twins[c]);
    }
    if (task == HOST || (task == LATENCY && sharing == GPU_TOGETHER))
        return 1;
    if (sharing == GPU_TOGETHER)
        return grants[task] / there;
    (void)twin;
    return grants[task] / (on_device * (on_device > 1 ? 1.11 : 1));
}

/* The part of the time in which a kernel is on the device. */
static double run_twin(struct twin *twins, struct gpu_grant grant, enum gpu_sharing sharing,
                       struct random_stream *random)
{
    double with_kernel_s = 0;
    for (double now = 0; now < horizon_s;) {
        double rates[CLIENTS][TASKS], step = horizon_s - now;
        for (uint32_t c = 0; c < CLIENTS; c++) {
            struct twin *twin = &twins[c];
            while (twin->demand->is_open && twin->asked_at <= now) {
                twin->waiting++;
                twin->asked_at -= log(random_uniform(random)) / KERNELS;
            }
            if (!twin->is_busy && (!twin->demand->is_open || twin->waiting > 0))
                begin_kernel(twin, random);
            if (twin->demand->is_open)
                step = fmin(step, twin->asked_at - now);
        }
        for (uint32_t c = 0; c < CLIENTS; c++)
            for (int t = 0; t < TASKS; t++) {
                rates[c][t] = is_there(&twins[c], t) ? rate_of(twins, &twins[c], t, grant, sharing) : 0;
                if (rates[c][t] > 0)
                    step = fmin(step, twins[c].left[t] / rates[c][t]);
            }
        now += step;
        bool has_kernel = false;
        for (uint32_t c = 0; c < CLIENTS; c++)
            has_kernel |= is_on_device(&twins[c]);
        with_kernel_s += has_kernel ? step : 0;
        for (uint32_t c = 0; c < CLIENTS; c++) {
            double left = 0;
            for (int t = 0; t < TASKS; t++) {
                twins[c].left[t] -= step * rates[c][t];
                if (twins[c].left[t] < 1e-12)
                    twins[c].left[t] = 0;
                left += twins[c].left[t];
            }
            if (twins[c].is_busy && left == 0) {
                twins[c].is_busy = false;
                twins[c].done++;
            }
        }
    }
    return with_kernel_s / horizon_s;
}

TEST(a_twin_of_kernels_agrees)
{
    enum { WORLDS = 200, QUIET_WORLDS = 150 };
    struct random_stream random;
    double worst = 0, worst_kernels = 0;
    random_stream_init(&random, 4203, "twin", 0);
    for (int world = 0; world < WORLDS + QUIET_WORLDS; world++) {
        struct gpu_client clients[CLIENTS];
        struct twin twins[CLIENTS] = {0};
        const bool is_quiet = world >= WORLDS; /* the device has no kernel for some of the time */
        const bool is_small = random_below(&random, 2) == 0 && !is_quiet;
        const struct gpu_grant grant = {is_small ? 0.4 : 1, is_small ? 0.5 : 1};
        const enum gpu_sharing sharing = (enum gpu_sharing)random_below(&random, 2);
        for (uint32_t c = 0; c < CLIENTS; c++) {
            clients[c] = (struct gpu_client){.demand = random_demand(&random), .count = 1};
            if (is_quiet)
                clients[c].demand = gpu_demand_of(GPU_SERVICE, 0.2 * random_uniform(&random), 0);
            twins[c].demand = &clients[c].demand;
        }
        gpu_demand_share(clients, CLIENTS, grant, sharing);
        const double kernels = gpu_demand_kernels(clients, CLIENTS, sharing);
        const double twin_kernels = run_twin(twins, grant, sharing, &random);
        worst_kernels = fmax(worst_kernels, fabs(kernels - twin_kernels));
        if (fabs(kernels - twin_kernels) > 0.08) {
            print_clients(clients, CLIENTS, grant, sharing);
            print_message("world %d: a kernel is there for %.3f of the time, twin %.3f\n", world, kernels,
                          twin_kernels);
        }
        for (uint32_t c = 0; c < CLIENTS && !is_quiet; c++) {
            const double rate = twins[c].done / KERNELS / horizon_s, error = 1 / clients[c].time / rate - 1;
            worst = fmax(worst, fabs(error));
            if (fabs(error) > 0.10)
                print_message("world %d %s client %u (%s %.2f %.2f): serves %.3f, twin %.3f\n", world,
                              sharing == GPU_TOGETHER ? "together" : "in turns", c,
                              clients[c].demand.is_open ? "open" : "closed", clients[c].demand.compute,
                              clients[c].demand.bandwidth, 1 / clients[c].time, rate);
        }
    }
    print_message("worst %.3f, of kernels %.3f, of %d worlds\n", worst, worst_kernels, WORLDS);
    assert_true(worst <= 0.10);
    assert_true(worst_kernels <= 0.08);
}
