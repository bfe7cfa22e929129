#include "sim/engine/engine_use.h"

enum { PART_ONE = 1000000, UNITS = GPU_MILLI * PART_ONE }; /* of a time; of a GPU, in milli-GPU x millionths */

static struct sim_parts in_millionths(struct gpu_parts parts)
{
    return (struct sim_parts){(uint32_t)lrint(parts.host * PART_ONE), (uint32_t)lrint(parts.kernel * PART_ONE)};
}

/* Parts of the time of such a program alone on whole GPUs, of whose SMs it keeps `level` busy.  Computing them for each
 * job anew would take 4 % of the instructions of a strict fifo (tests/bench/rows.txt). */
static struct sim_parts level_parts(struct engine *engine, uint8_t class, int level)
{
    enum { LEVELS = GPU_MILLI + 1 };
    const enum gpu_program program = engine_program(class);
    if (engine->level_parts == NULL)
        engine->level_parts = mem_zalloc(GPU_PROGRAM_COUNT * LEVELS, sizeof *engine->level_parts);
    struct sim_parts *parts = &engine->level_parts[(int)program * LEVELS + level];
    if (parts->host == 0 && parts->kernel == 0) {
        const struct gpu_demand demand = gpu_demand_of(program, (double)level / GPU_MILLI, 0);
        *parts = in_millionths(gpu_demand_parts(&demand, (struct gpu_grant){1, 1}));
    }
    return *parts;
}

static bool gets_whole(const struct job *job, const struct job_group *got)
{
    for (uint32_t g = 0; got != NULL && g < job->group_count; g++)
        if (!request_is_whole(&got[g].request))
            return false;
    return true;
}

/* It asks for parts of GPUs, or gets such. */
static void asks_parts(const struct engine *engine, struct sim_job *own, const struct job *job,
                       const struct job_truth *truth, const struct job_group *got)
{
    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct request *gets = got != NULL ? &got[g].request : &job_group(job, g)->request;
        if (request_is_whole(gets))
            continue;
        own->is_shared = true;
        own->counts_shares |= gets->share == SHARE_PLAIN || !engine_has_clients(engine);
    }
    if (own->counts_shares || !own->is_shared) /* else engine_clients.c finds them */
        own->parts = in_millionths(engine_parts_of(engine, job, truth, got));
    own->counts_network =
        own->is_open && own->is_shared && !own->counts_shares && own->row.sm_active_milli != SM_ACTIVE_UNKNOWN;
}

void engine_use_asks(struct engine *engine, struct sim_job *own, const struct job *job, const struct job_truth *truth,
                     const struct job_group *got)
{
    own->is_open = job->class != JOB_TRAINING;
    own->is_shared = own->counts_shares = own->counts_all = own->counts_network = false;
    own->parts = (struct sim_parts){0, 0};
    if (!engine_asks_whole(job) || !gets_whole(job, got))
        asks_parts(engine, own, job, truth, got);
    else if (truth->sm_active_milli != SM_ACTIVE_UNKNOWN)
        own->parts = truth->bandwidth_milli == 0 ? level_parts(engine, job->class, truth->sm_active_milli)
                                                 : in_millionths(engine_parts_of(engine, job, truth, got));
}

/* ---- what a job counts ---- */

/* Of what it holds, in milli: without members that cannot work, and what an asynchronous write takes. */
static int64_t working_milli(const struct engine *engine, uint32_t slot)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct sim_spending *own = slot < engine->spent->capacity ? &engine->spent->of[slot] : NULL;
    if (own == NULL || !own->is_on)
        return job->held_milli;
    return (own->held - own->working[SPENT_RESERVED] - own->working[SPENT_RESTART]) / SPENT_ONE;
}

static void find(struct engine *engine, uint32_t slot, int level, struct sim_use *use)
{
    const struct sim_job *job = &engine->jobs[slot];
    const double units = (double)working_milli(engine, slot); /* x millionths, so that they are levels */
    const double network = job->is_paced && level != 0 && job->speed.network < 1 ? job->speed.network : 1;
    if (job->row.sm_active_milli == SM_ACTIVE_UNKNOWN && level == USE_CONSTANT) {
        use->unknown = llrint(units * PART_ONE);
        return;
    }
    double host = job->is_paced ? job->speed.host * PART_ONE : job->parts.host, kernel = job->parts.kernel;
    if (level == 0) {
        host = PART_ONE;
        kernel = 0;
    } else if (level != USE_CONSTANT && !job->is_shared) {
        const struct sim_parts parts = level_parts(engine, job->row.class, level);
        host = parts.host;
        kernel = parts.kernel;
    }
    use->network = llrint(units * PART_ONE * (1 - network));
    use->host = job->is_open ? 0 : llrint(units * network * host);
    if (!job->is_shared)
        use->kernel = llrint(units * (PART_ONE * (1 - network) + network * kernel));
}

/* ---- GPUs that jobs share ---- */

enum { ABSENCE_ONE = 1 << 20 };

static int64_t absence_of(double kernel)
{
    const double most = 40; /* exp(-40) of the time is never */
    return llrint(fmin(most, -log1p(-fmin(1, kernel))) * ABSENCE_ONE);
}

/* Shares under MPS or in turns whose neighbours count are in engine_clients.c. */
static void turn_shares(struct engine *engine, uint32_t slot, int64_t change)
{
    const struct sim_job *job = &engine->jobs[slot];
    const struct piece *pieces = job_pieces_all(&job->pieces);
    const bool has_clients = engine_has_clients(engine);
    if (engine->kernels == NULL)
        engine->kernels = mem_zalloc(engine->config->cluster->gpu_count, sizeof *engine->kernels);
    for (uint32_t p = 0; p < job->pieces.piece_count; p++) {
        const bool is_part = pieces[p].gpu_milli < GPU_MILLI;
        if (has_clients && is_part && pieces[p].share != SHARE_PLAIN)
            continue;
        for (uint32_t left = pieces[p].gpu_mask; left != 0; left &= left - 1) {
            const gpu_id gpu = engine->config->cluster->nodes[pieces[p].node].first_gpu + (uint32_t)__builtin_ctz(left);
            struct gpu_kernels *kernels = &engine->kernels[gpu];
            kernels->absence += change * (is_part ? pieces[p].member_count : 1);
            engine_use_kernels(engine, &kernels->there, 1 - exp(-(double)kernels->absence / ABSENCE_ONE));
        }
    }
}

void engine_use_kernels(struct engine *engine, int64_t *there, double part)
{
    const int64_t now = llrint(UNITS * part);
    if (now == *there)
        return;
    engine_level(engine, LEVEL_KERNEL, now - *there);
    *there = now;
}

/* ---- levels ---- */

static void move(struct engine *engine, enum level_id id, int64_t *from, int64_t to, time_ns at)
{
    if (*from == to)
        return;
    engine->levels[id].value += to - *from;
    engine->levels[id].excess += (__int128)(to - *from) * at;
    *from = to;
}

void engine_use_count(struct engine *engine, uint32_t slot, time_ns at, bool is_held, bool works, int level)
{
    const struct sim_job *job = &engine->jobs[slot];
    struct sim_use use = {0};
    if (slot >= engine->spent->capacity) /* else the caller may point into it */
        MEM_GROW(engine->spent->of, engine->spent->capacity, (size_t)engine->job_used);
    struct sim_use *own = &engine->spent->of[slot].use;
    if (is_held && works)
        find(engine, slot, level, &use);
    move(engine, LEVEL_HOST, &own->host, use.host, at);
    move(engine, LEVEL_NETWORK, &own->network, use.network, at);
    move(engine, LEVEL_UNKNOWN, &own->unknown, use.unknown, at);
    move(engine, LEVEL_KERNEL, &own->kernel, use.kernel, at);
    if (!job->counts_shares || at != engine->now)
        return;
    const bool is_known = job->row.sm_active_milli != SM_ACTIVE_UNKNOWN || level != USE_CONSTANT;
    const int64_t absence = is_held && is_known ? absence_of((double)job->parts.kernel / PART_ONE) : 0;
    if (own->absence != absence)
        turn_shares(engine, slot, absence - own->absence);
    own->absence = absence;
}

void engine_use_lose(struct engine *engine, struct sim_spending *own, wide_ns active_ns, wide_ns thrown, wide_ns work)
{
    const wide_ns left = active_ns - own->active_lost_ns;
    const wide_ns lost = thrown == work ? left : (wide_ns)((double)left * ((double)thrown / (double)work));
    own->active_lost_ns += lost;
    engine->active_lost_ns += lost;
}

/* ---- free GPUs while jobs wait ---- */

void engine_use_wait(struct engine *engine, int64_t asked)
{
    struct level *levels = engine->levels;
    const int64_t free_milli = levels[LEVEL_FREE].value - levels[LEVEL_RESERVED].value - levels[LEVEL_STARTING].value -
                               levels[LEVEL_RECUT].value - levels[LEVEL_UNCOVERED].value - levels[LEVEL_ABSENT].value;
    asked = asked < free_milli ? asked : free_milli;
    if (asked != levels[LEVEL_WAITED].value)
        engine_level(engine, LEVEL_WAITED, asked - levels[LEVEL_WAITED].value);
}

/* ---- rows ---- */

void engine_use_integrals(const struct engine *engine, time_ns at, int64_t use_us[USE_COUNT])
{
    static const struct {
        enum level_id level;
        int64_t units;
    } of[USE_COUNT] = {
        [USE_WAITED] = {LEVEL_WAITED, GPU_MILLI},
        [USE_UNCOVERED] = {LEVEL_UNCOVERED, GPU_MILLI},
        [USE_HOST] = {LEVEL_HOST, UNITS},
        [USE_NETWORK] = {LEVEL_NETWORK, UNITS},
        [USE_UNKNOWN] = {LEVEL_UNKNOWN, UNITS},
        [USE_KERNEL] = {LEVEL_KERNEL, UNITS},
        [USE_ACTIVE_LOST] = {LEVEL_ACTIVE, GPU_MILLI * GPU_MILLI},
    };
    for (int kind = 0; kind < USE_COUNT; kind++) {
        const struct level *level = &engine->levels[of[kind].level];
        const wide_ns integral =
            kind == USE_ACTIVE_LOST ? engine->active_lost_ns : (wide_ns)level->value * at - level->excess;
        use_us[kind] = integral != 0 ? (int64_t)(integral / (of[kind].units * TIME_NS_PER_US)) : 0;
    }
}
