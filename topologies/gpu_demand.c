#include "topologies/gpu_demand.h"

#include <math.h>
#include <stddef.h>

/* Fitted to the table of nebuly-ai/nos, demos/gpu-sharing-comparison/README.md: compute 0.553, latency 1, overlap 1 of
 * YOLOS-small on an A100.  Under time-slices a unit of N clients takes 1.11 N. */
static const double turn_cost = 0.11;

const struct gpu_program_defaults gpu_programs[GPU_PROGRAM_COUNT] = {
    [GPU_TRAINING] = {"training", 0.26, 0, 0, false, "Lucid's pairs: SM activity = GPU utilization - 0.26"},
    [GPU_NOTEBOOK] = {"notebook", 0, 1.81, 1, true, "assumed: as a service"},
    [GPU_SERVICE] = {"service", 0, 1.81, 1, true, "YOLOS-small (nebuly-ai/nos): latency 1, compute 0.553"},
};

static double device(const struct gpu_demand *demand, double compute, double bandwidth)
{
    const double kernel = fmax(compute, bandwidth);
    return (1 - demand->overlap) * (demand->latency + kernel) + demand->overlap * fmax(demand->latency, kernel);
}

static double unit(const struct gpu_demand *demand, double on_device)
{
    const double time = demand->host + on_device;
    return demand->is_open ? fmax(1, time) : time;
}

/* Alone on a whole GPU. */
static double device_alone(const struct gpu_demand *demand)
{
    return device(demand, demand->compute, demand->bandwidth);
}

struct gpu_demand gpu_demand_of(enum gpu_program program, double compute, double bandwidth)
{
    const struct gpu_program_defaults *kind = &gpu_programs[program];
    const double kernel = fmax(compute, bandwidth);
    struct gpu_demand demand = {.compute = compute,
                                .bandwidth = bandwidth,
                                .latency = kind->latency + kind->latency_per_compute * kernel,
                                .overlap = kind->overlap,
                                .is_open = kind->is_open};
    const double excess = device_alone(&demand) - 1;
    if (excess > 0)
        demand.latency = fmax(0, 1 - kernel);
    demand.host = kind->is_open ? 0 : fmax(0, 1 - device_alone(&demand));
    return demand;
}

double gpu_demand_alone(const struct gpu_demand *demand, struct gpu_grant grant)
{
    return unit(demand, device(demand, demand->compute / grant.sms, demand->bandwidth / grant.bandwidth));
}

/* What the demand of a client is on its piece. */
struct phases {
    double compute, memory;
};

static struct phases phases_on(const struct gpu_demand *demand, struct gpu_grant grant)
{
    return (struct phases){demand->compute / grant.sms, demand->bandwidth / grant.bandwidth};
}

static double device_on(const struct gpu_demand *demand, struct phases on)
{
    return device(demand, on.compute, on.memory);
}

/* The parts of its time in which client [j] is at the SMs, and at the memory, while client [i] is not there. */
enum { PAIRS_MAX = 16 };
struct pairs {
    struct phases of[PAIRS_MAX][PAIRS_MAX];
};

/* Of the client, where `other` of another is not in its way. */
static struct phases without(const struct gpu_client *client, struct phases alone, struct phases other)
{
    const struct phases there = {client->at_compute * client->time - alone.compute * other.compute,
                                 client->at_memory * client->time - alone.memory * other.memory};
    const double time = unit(&client->demand, device_on(&client->demand, there));
    return (struct phases){there.compute / time, there.memory / time};
}

static void set_pairs(struct pairs *pairs, const struct gpu_client *clients, uint32_t client_count,
                      struct gpu_grant grant)
{
    for (uint32_t i = 0; i < client_count; i++)
        for (uint32_t j = i; j < client_count; j++) {
            const struct phases before = pairs->of[i][j];
            pairs->of[i][j] = without(&clients[j], phases_on(&clients[j].demand, grant), pairs->of[j][i]);
            pairs->of[j][i] = without(&clients[i], phases_on(&clients[i].demand, grant), before);
        }
}

/* Other clients that are at the SMs, and at the memory, while client `self` is not.  pairs NULL: as if it made no
 * difference to them. */
static struct phases others_of(const struct gpu_client *clients, uint32_t client_count, uint32_t self,
                               const struct pairs *pairs, struct phases all)
{
    struct phases others = {0};
    if (pairs == NULL)
        return (struct phases){all.compute - clients[self].at_compute, all.memory - clients[self].at_memory};
    for (uint32_t c = 0; c < client_count; c++) {
        const uint32_t count = clients[c].count - (c == self);
        others.compute += count * pairs->of[self][c].compute;
        others.memory += count * pairs->of[self][c].memory;
    }
    return others;
}

static struct phases all_of(const struct gpu_client *clients, uint32_t client_count)
{
    struct phases all = {0};
    for (uint32_t c = 0; c < client_count; c++) {
        all.compute += clients[c].count * clients[c].at_compute;
        all.memory += clients[c].count * clients[c].at_memory;
    }
    return all;
}

/* A step of the fixed point, of all clients at once: by how much it changes them. */
static double step_together(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant,
                            struct phases longer, struct pairs *pairs)
{
    const struct phases all = all_of(clients, client_count);
    double change = 0;
    for (uint32_t c = 0; c < client_count; c++) {
        struct gpu_client *own = &clients[c];
        const struct phases alone = phases_on(&own->demand, grant);
        const struct phases others = others_of(clients, client_count, c, pairs, all);
        const struct phases now = {longer.compute * alone.compute * (1 + others.compute),
                                   longer.memory * alone.memory * (1 + others.memory)};
        const double time = unit(&own->demand, device_on(&own->demand, now));
        change = fmax(change, fabs(time - own->time) + fabs(now.compute / time - own->at_compute) +
                                  fabs(now.memory / time - own->at_memory));
        own->time = time;
        own->at_compute = now.compute / time;
        own->at_memory = now.memory / time;
    }
    if (pairs != NULL)
        set_pairs(pairs, clients, client_count, grant);
    return change;
}

static double step_in_turns(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant)
{
    double all = 0, change = 0;
    for (uint32_t c = 0; c < client_count; c++)
        all += clients[c].count * clients[c].on_device;
    for (uint32_t c = 0; c < client_count; c++) {
        struct gpu_client *own = &clients[c];
        const double others = all - own->on_device;
        const double alone = device_on(&own->demand, phases_on(&own->demand, grant));
        const double turns = alone * (1 + others) * (1 + turn_cost * fmin(1, others));
        const double time = unit(&own->demand, turns);
        change = fmax(change, fabs(time - own->time) + fabs(turns / time - own->on_device));
        own->time = time;
        own->on_device = turns / time;
    }
    return change;
}

static void begin(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant, struct pairs *pairs)
{
    for (uint32_t c = 0; c < client_count; c++) {
        const struct gpu_demand *demand = &clients[c].demand;
        const struct phases alone = phases_on(demand, grant);
        const double on_device = device_on(demand, alone);
        clients[c].time = unit(demand, on_device);
        clients[c].at_compute = alone.compute / clients[c].time;
        clients[c].at_memory = alone.memory / clients[c].time;
        clients[c].on_device = on_device / clients[c].time;
        for (uint32_t i = 0; i < client_count && pairs != NULL; i++)
            pairs->of[i][c] = (struct phases){clients[c].at_compute, clients[c].at_memory};
    }
}

/* What all clients use, of what the piece has. */
static struct phases use_of(const struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant)
{
    struct phases use = {0};
    for (uint32_t c = 0; c < client_count; c++) {
        use.compute += clients[c].count * clients[c].demand.compute / clients[c].time / grant.sms;
        use.memory += clients[c].count * clients[c].demand.bandwidth / clients[c].time / grant.bandwidth;
    }
    return use;
}

/* Where the approximation gives more than the piece has, everything at the SMs, or at the memory, takes longer. */
static double stretch(struct phases use, struct phases *longer)
{
    const struct phases was = *longer;
    longer->compute = fmax(1, longer->compute * sqrt(use.compute));
    longer->memory = fmax(1, longer->memory * sqrt(use.memory));
    return fmax(fabs(longer->compute - was.compute), fabs(longer->memory - was.memory));
}

void gpu_demand_share(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant,
                      enum gpu_sharing sharing)
{
    enum { STEPS_MAX = 40 };
    const double enough = 1e-4;
    struct pairs room, *const pairs = sharing == GPU_TOGETHER && client_count <= PAIRS_MAX ? &room : NULL;
    struct phases longer = {1, 1};
    double change = 1;
    begin(clients, client_count, grant, pairs);
    for (int s = 0; s < STEPS_MAX && change > enough; s++) {
        if (sharing == GPU_IN_TURNS) {
            change = step_in_turns(clients, client_count, grant);
            continue;
        }
        change = step_together(clients, client_count, grant, longer, pairs);
        change = fmax(change, stretch(use_of(clients, client_count, grant), &longer));
    }
    const struct phases use = use_of(clients, client_count, grant);
    for (uint32_t c = 0; c < client_count; c++)
        clients[c].time *= fmax(1, fmax(use.compute, use.memory));
}
