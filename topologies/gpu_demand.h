/* topologies/gpu_demand.h -- what a program needs of a GPU, and what it does on a piece of one, or beside others.
 *
 * Words.  A unit of work is what the program does in one second when it has a whole GPU of its kind for itself.  Its
 * demand is what a unit takes there, so in seconds, or as a part of that GPU:
 *
 *   compute    seconds of all SMs: its SM activity (DCGM's SM_ACTIVE, which counts SMs that wait for memory)
 *   bandwidth  bytes, over the bytes that the memory moves in a second
 *   latency    seconds on the device that neither shortens: launches, dependencies, kernels of few blocks
 *   host       seconds without a kernel
 *   overlap    the part of its kernels whose latency passes while others compute: 0 one after another, 1 at once
 *
 * A closed program always has more to do: training, batch.  An open one is asked for a unit each second: a service, a
 * notebook.  A grant is the part of the SMs and of the bandwidth that a piece has.
 *
 * Law.  Compute and bytes of a unit are the same on every piece.  With C = compute / SMs and B = bandwidth / bandwidth
 * granted, a unit takes
 *
 *   t = host + (1 - overlap) (latency + max(C, B)) + overlap max(latency, C, B)
 *
 * of a closed program, and at least 1 of an open one, which serves 1/t of what it is asked for.
 *  - Together (MPS): clients that run kernels at the same time divide the SMs equally.  So a client's C is longer by
 *    the factor 1 + n, where n is the mean number of other clients at the SMs, each of which is there for the part C/t
 *    of its time.  B is longer by the clients that move bytes in the same way.  This is mean value analysis of a closed
 *    queueing network with processor sharing, whose mean values depend on the means of the phases alone.  n counts the
 *    others as they would be without this client: the waits that this client adds to them are subtracted, to the
 *    second order.
 *  - In turns (time-slices): the clients divide the whole device equally, and a unit takes t - host on it.  Changing
 *    turns makes a unit 11 % longer while other clients are on the device.
 *  - On an instance neighbours do not enter.
 *  - Kernels: a closed client has a kernel on the device, which runs or waits there, for all of t but `host`; an open
 *    one for the time that its units take there, with their waits.  Clients that run together are taken to be
 *    independent, so that some kernel is on the device for 1 - (1 - r1) (1 - r2) ... of the time; in turns their turns
 *    add up.  nvidia-smi shows this as GPU-Util; it is never below the SM activity.
 * So the programs on a piece never keep more SMs busy than the piece has, and never move more bytes than it can.  A
 * program on a part of a GPU takes at most 1 / part as long.  What an open program serves and what it leaves unserved
 * add up to what it is asked for.
 *
 *   struct gpu_demand demand = gpu_demand_of(GPU_SERVICE, 0.25, 0);
 *   1 / gpu_demand_alone(&demand, (struct gpu_grant){16 / 132.0, 1 / 8.0})       what a 1g.10gb serves of it: 0.43
 *
 * Validated: YOLOS-small on an A100 alone and beside 2, 4 and 6 copies under MPS, time-slices and on 1g instances (12
 * rows, 11 %); GROMACS on three instances (4 %); pairs of training jobs on one GPU, by the sum of their utilization (9
 * rows, 0.02).  `windtunnel validate-model` prints them.  It does not model: caches, PCIe, power, memory that is full,
 * input that starves a job beside another, blocks of kernels that leave no room (Gavel's slowest pairs).
 */
#ifndef TOPOLOGIES_GPU_DEMAND_H
#define TOPOLOGIES_GPU_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_demand {
    double compute, bandwidth, latency, host, overlap;
    bool is_open;
};

/* What a piece has, of a whole GPU: above 0, at most 1. */
struct gpu_grant {
    double sms, bandwidth;
};

enum gpu_program { GPU_TRAINING, GPU_NOTEBOOK, GPU_SERVICE, GPU_PROGRAM_COUNT };

/* What a kind of program is taken to be where the workload does not say it. */
struct gpu_program_defaults {
    const char *name;
    double latency;             /* of a unit */
    double latency_per_compute; /* likewise, for each unit of compute */
    double overlap;
    bool is_open;
    const char *source; /* or "assumed" */
};
extern const struct gpu_program_defaults gpu_programs[GPU_PROGRAM_COUNT];

/* compute, bandwidth: 0..1.  A unit of a closed program takes a second alone: what is left of it is the host's.  Where
 * compute or bandwidth take all of it the latency passes meanwhile. */
struct gpu_demand gpu_demand_of(enum gpu_program program, double compute, double bandwidth);

/* Seconds that a unit takes on that piece, without neighbours. */
double gpu_demand_alone(const struct gpu_demand *demand, struct gpu_grant grant);

/* Parts of a program's time: at the host, and with a kernel on the device. */
struct gpu_parts {
    double host, kernel;
};
struct gpu_parts gpu_demand_parts(const struct gpu_demand *demand, struct gpu_grant grant); /* without neighbours */

enum gpu_sharing { GPU_TOGETHER, GPU_IN_TURNS };

/* Equal clients of a piece. */
struct gpu_client {
    struct gpu_demand demand;
    uint32_t count;
    double time;                             /* result: seconds that a unit of each takes */
    double at_compute, at_memory, on_device; /* scratch: parts of the time that each is there, or waits to be; at last
                                              * on_device is that in which it has a kernel there */
    double alone;                            /* scratch: seconds on the device of a unit, without neighbours */
};

/* All clients of one piece, whose order does not matter.  O(client_count) for each of some six steps; once, if they
 * are open and have time to spare.  Exact to a thousandth.  True: all are
 * open and serve all that they are asked for, and so would any part of them. */
bool gpu_demand_share(struct gpu_client *clients, uint32_t client_count, struct gpu_grant grant,
                      enum gpu_sharing sharing);

/* After gpu_demand_share: the part of the time in which a kernel of some client is on the device.  Where all have time
 * to spare, their waits are left out. */
double gpu_demand_kernels(const struct gpu_client *clients, uint32_t client_count, enum gpu_sharing sharing);

#endif
