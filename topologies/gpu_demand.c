#include "topologies/gpu_demand.h"

#include <math.h>

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

struct gpu_parts gpu_demand_parts(const struct gpu_demand *demand, struct gpu_grant grant)
{
    const double there = device(demand, demand->compute / grant.sms, demand->bandwidth / grant.bandwidth);
    const double time = unit(demand, there);
    return (struct gpu_parts){demand->host / time, fmin(1, there / time)};
}

/* At the SMs, and at the memory. */
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

/* How much less of its time a client is at a queue for each second that it waits less there: d(there / time), where
 * `there` makes the time longer or not. */
static double gain(double part, double time, bool counts)
{
    return (counts ? 1 - part : 1) / time;
}

/* Of a client: the parts of its time in which it is at the queues, and what they lose by each client less there. */
struct presence {
    struct phases part, loss;
};

static struct presence presence_of(const struct gpu_client *client, struct gpu_grant grant)
{
    const struct gpu_demand *demand = &client->demand;
    const struct phases alone = phases_on(demand, grant);
    const double compute = client->at_compute * client->time, memory = client->at_memory * client->time;
    const bool is_late = !demand->is_open || client->time > 1; /* else it has time to spare */
    const bool is_kernel = is_late && (demand->overlap == 0 || fmax(compute, memory) > demand->latency);
    const double compute_loss = alone.compute * gain(client->at_compute, client->time, is_kernel && compute >= memory);
    const double memory_loss = alone.memory * gain(client->at_memory, client->time, is_kernel && memory > compute);
    return (struct presence){{client->at_compute, client->at_memory}, {compute_loss, memory_loss}};
}

/* Sums over all clients: of the parts, of the losses, and of their products. */
struct crowd {
    struct phases part, loss, product;
};

static struct crowd crowd_of(const struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant)
{
    struct crowd all = {0};
    for (uint32_t c = 0; c < client_count; c++) {
        const struct presence one = presence_of(&clients[c], grant);
        const double count = clients[c].count;
        all.part.compute += count * one.part.compute;
        all.part.memory += count * one.part.memory;
        all.loss.compute += count * one.loss.compute;
        all.loss.memory += count * one.loss.memory;
        all.product.compute += count * one.part.compute * one.loss.compute;
        all.product.memory += count * one.part.memory * one.loss.memory;
    }
    return all;
}

/* Others that are at a queue while one client is not: each would be there for its part, less what that client's being
 * there adds to it, to the second order. */
static double others(double all, double losses, double products, double part, double loss)
{
    return all - part - part * (losses - loss) + loss * (products - part * loss);
}

/* A step of the fixed point, of all clients at once: by how much it changes them. */
static double step_together(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant,
                            struct phases longer)
{
    const struct crowd all = crowd_of(clients, client_count, grant);
    double change = 0;
    for (uint32_t c = 0; c < client_count; c++) {
        struct gpu_client *own = &clients[c];
        const struct presence one = presence_of(own, grant);
        const struct phases alone = phases_on(&own->demand, grant);
        const double at_compute =
            others(all.part.compute, all.loss.compute, all.product.compute, one.part.compute, one.loss.compute);
        const double at_memory =
            others(all.part.memory, all.loss.memory, all.product.memory, one.part.memory, one.loss.memory);
        const struct phases now = {longer.compute * alone.compute * (1 + fmax(0, at_compute)),
                                   longer.memory * alone.memory * (1 + fmax(0, at_memory))};
        const double time = unit(&own->demand, device_on(&own->demand, now));
        change = fmax(change, fabs(time - own->time) + fabs(now.compute / time - own->at_compute) +
                                  fabs(now.memory / time - own->at_memory));
        own->time = time;
        own->at_compute = now.compute / time;
        own->at_memory = now.memory / time;
    }
    return change;
}

static double step_in_turns(struct gpu_client *clients, uint32_t client_count)
{
    double all = 0, change = 0;
    for (uint32_t c = 0; c < client_count; c++)
        all += clients[c].count * clients[c].on_device;
    for (uint32_t c = 0; c < client_count; c++) {
        struct gpu_client *own = &clients[c];
        const double beside = all - own->on_device;
        const double turns = own->alone * (1 + beside) * (1 + turn_cost * fmin(1, beside));
        const double time = unit(&own->demand, turns);
        change = fmax(change, fabs(time - own->time) + fabs(turns / time - own->on_device));
        own->time = time;
        own->on_device = turns / time;
    }
    return change;
}

static void begin(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant)
{
    for (uint32_t c = 0; c < client_count; c++) {
        const struct gpu_demand *demand = &clients[c].demand;
        const struct phases alone = phases_on(demand, grant);
        clients[c].alone = device_on(demand, alone);
        clients[c].time = unit(demand, clients[c].alone);
        clients[c].at_compute = alone.compute / clients[c].time;
        clients[c].at_memory = alone.memory / clients[c].time;
        clients[c].on_device = clients[c].alone / clients[c].time;
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

/* Make on_device the part of the time in which a client has a kernel there; in turns, only while it has its turn. */
static void note_kernels(struct gpu_client *clients, uint32_t client_count, enum gpu_sharing sharing)
{
    double all = 0;
    for (uint32_t c = 0; c < client_count; c++)
        all += clients[c].count * clients[c].on_device;
    for (uint32_t c = 0; c < client_count; c++) {
        struct gpu_client *own = &clients[c];
        const struct phases waits = {own->at_compute * own->time, own->at_memory * own->time};
        double there = own->time - own->demand.host;
        if (sharing == GPU_IN_TURNS)
            there = own->alone * (1 + turn_cost * fmin(1, all - own->on_device));
        else if (own->demand.is_open)
            there = device_on(&own->demand, waits);
        own->on_device = fmin(1, there / own->time);
    }
}

/* Have all time to spare, by a bound?  With D_i what client i takes alone at a queue, T the most that the others take
 * and k the cost of turns, nobody is there for more than M D_i, where M = k (1 + M T): each step keeps to that. */
static bool all_have_time(const struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant,
                          enum gpu_sharing sharing)
{
    const double cost = sharing == GPU_IN_TURNS ? 1 + turn_cost : 1;
    double all = 0, least = 1, most = 0;
    for (uint32_t c = 0; c < client_count; c++) {
        const struct phases alone = phases_on(&clients[c].demand, grant);
        const double there = sharing == GPU_IN_TURNS ? clients[c].alone : fmax(alone.compute, alone.memory);
        const double waits = sharing == GPU_IN_TURNS ? there : clients[c].alone;
        if (!clients[c].demand.is_open)
            return false;
        all += clients[c].count * there;
        least = fmin(least, there);
        most = fmax(most, waits);
    }
    const double others_most = cost * (all - least);
    return others_most < 1 && most * cost / (1 - others_most) <= 1;
}

bool gpu_demand_share(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant,
                      enum gpu_sharing sharing)
{
    enum { STEPS_MAX = 40 };
    const double enough = 1e-3;
    struct phases longer = {1, 1};
    double change = 1;
    begin(clients, client_count, grant);
    if (all_have_time(clients, client_count, grant, sharing))
        return true;
    for (int s = 0; s < STEPS_MAX && change > enough; s++) {
        if (sharing == GPU_IN_TURNS) {
            change = step_in_turns(clients, client_count);
            continue;
        }
        change = step_together(clients, client_count, grant, longer);
        change = fmax(change, stretch(use_of(clients, client_count, grant), &longer));
    }
    const struct phases use = use_of(clients, client_count, grant);
    for (uint32_t c = 0; c < client_count; c++)
        clients[c].time *= fmax(1, fmax(use.compute, use.memory));
    note_kernels(clients, client_count, sharing);
    return false;
}

double gpu_demand_kernels(const struct gpu_client *clients, uint32_t client_count, enum gpu_sharing sharing)
{
    double none = 1, turns = 0;
    if (sharing == GPU_IN_TURNS) {
        for (uint32_t c = 0; c < client_count; c++)
            turns += clients[c].count * clients[c].on_device;
        return turns < 1 ? turns : 1;
    }
    for (uint32_t c = 0; c < client_count; c++)
        for (uint32_t n = clients[c].count; n > 0; n--)
            none *= 1 - clients[c].on_device;
    return none > 0 ? 1 - none : 1;
}
