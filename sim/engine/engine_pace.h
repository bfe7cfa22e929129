/* sim/engine/engine_pace.h -- the speeds of jobs by neighbours on their GPUs and by communication: a part.  Shared by
 * engine_pace.c (the hooks), engine_clients.c (clients that share a GPU) and engine_network.c (communication between
 * GPUs).
 *
 * The pace of a job is the number of units of work that one of its members does in a nanosecond, of PACE_ONE:
 *
 *   pace = PACE_ONE x speed by communication / slowdown by neighbours on its GPUs        (struct sim_speed)
 *
 * A job without either has no pace: it runs at the speed of the trace. */
#ifndef SIM_ENGINE_ENGINE_PACE_H
#define SIM_ENGINE_ENGINE_PACE_H

#include "sim/engine/engine_demand.h"
#include "sim/network/network.h"
#include "topologies/communication.h"
#include "topologies/validation.h"

/* One member of a group of a job. */
struct pace_group {
    struct gpu_demand demand;   /* on each of its GPUs */
    uint32_t gpus;              /* of a member: with a piece on each */
    int64_t asked_milli;        /* of a GPU, if it asks for a share; else GPU_MILLI */
    uint8_t asked_mig, got_mig; /* enum mig_profile_id + 1; 0 */
};

/* The communication of a job; see engine_network.c. */
struct pace_network {
    struct communication declared;
    struct gang_place place, best;
    struct communication_time time; /* of a step, as it is now */
    double bytes_per_s;             /* that a GPU gets on the network while it sends */
    uint32_t member_gpus;           /* GPUs of a member */
    wide_ns network_us_bytes;       /* integral of bytes_per_s over network_gpu_us of the row */
    wide_ns planned_us_micro;       /* integral of the MFU over planned_gpu_us of the row */
    bool communicates;              /* topologies/validation.h; the next four too */
    struct range_verdict here;      /* at its place, and at its best one */
    struct range_verdict farthest;  /* of all places so far */
    int64_t gpu_us, outside_gpu_us; /* GPU time on several GPUs; where that was outside of what was measured */
};

struct sim_pace {
    bool is_client;   /* it holds a piece of a GPU that has a price */
    bool has_network; /* it declares communication between several GPUs */
    struct pace_group *groups;
    size_t group_capacity;
    struct piece *shares; /* pieces on which it is a client now */
    size_t share_capacity;
    uint32_t share_count;
    uint64_t seen;                /* number of the last change for which it was examined */
    struct pace_network *network; /* NULL: the slot had no such job yet */
};

struct pace {
    struct sim_pace *jobs; /* by slot */
    size_t capacity;
    struct gpu_clients *clients; /* by gpu_id; NULL: no GPU is shared yet */
    uint64_t changes;            /* how often clients came or went */
    struct validation_ranges *ranges;
    struct network *network;   /* NULL: no job is on a link that can be too narrow yet */
    struct link_place *places; /* scratch: where the GPUs of a job stand */
    size_t place_capacity;
    struct fabric_use *uses; /* scratch: of the links of a job */
    size_t use_capacity;
};

static inline struct pace *pace_of(const struct engine *engine)
{
    return engine->states[PART_pace];
}

/* ---- Clients of GPUs: engine_clients.c ---- */

/* What its pieces and their other clients make of it: multiplies `slow`, sets `served` and is_sliced. */
void engine_clients_speed(const struct engine *engine, uint32_t slot, struct sim_speed *speed);
/* Is the piece a share of a GPU, beside other clients? */
bool engine_clients_share(const struct sim_pace *pace, const struct piece *piece);
/* Its members came or left, or it holds other pieces: note it as a client, and change the pace of all jobs on its GPUs.
 */
void engine_clients_move(struct engine *engine, uint32_t slot);
void engine_clients_release(struct engine *engine);

/* ---- Communication: engine_network.c ---- */

/* got: the pieces that its groups get. */
void engine_network_asks(struct engine *engine, uint32_t slot, const struct job *job, const struct job_group *got);
/* Its members came or left: find its place, and change the pace of all jobs on its links. */
void engine_network_move(struct engine *engine, uint32_t slot);
/* It worked for that time at its present speed: count what communication cost. */
void engine_network_count(struct engine *engine, uint32_t slot, time_ns worked);
/* Put the means into its row. */
void engine_network_close(struct engine *engine, uint32_t slot);
void engine_network_release(struct engine *engine);

#endif
