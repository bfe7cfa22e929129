#include "tests/support/work_twin.h"

#include <math.h>

#include "tests/support/test.h"

#include "policies/jobs/request_class.h"
#include "sim/network/network.h"
#include "tests/support/fault_twin.h"
#include "topologies/gpu_demand.h"

enum { USES_MAX = 4096 };

static void broken(const struct twin *twin, job_id job, const char *what)
{
    random_run_fail(&twin->run, what, job);
}

/* ---- What a job holds ---- */

static void hold(struct twin_job *job, const struct piece *pieces, uint32_t count)
{
    assert_true(job->piece_count + count <= TWIN_PIECES_MAX);
    for (uint32_t i = 0; i < count; i++)
        job->pieces[job->piece_count++] = pieces[i];
}

/* Members leave piece by piece or in parts of pieces: GPU by GPU, one member's at a time. */
static void drop(struct twin_job *job, const struct piece *part)
{
    uint32_t left = part->member_count, mask = part->gpu_mask;
    for (uint32_t i = 0; i < job->piece_count && left > 0; i++) {
        struct piece *own = &job->pieces[i];
        if (own->node != part->node || own->group != part->group || own->gpu_milli != part->gpu_milli ||
            own->share != part->share || (part->gpu_mask != 0 && (own->gpu_mask & mask) == 0))
            continue;
        const bool is_whole = part->gpu_mask != 0 && part->gpu_milli == GPU_MILLI;
        const uint32_t gpus = is_whole ? (uint32_t)__builtin_popcount(own->gpu_mask) / own->member_count : 1;
        const uint32_t here = (uint32_t)__builtin_popcount(own->gpu_mask & mask) / gpus;
        const uint32_t goes = is_whole ? here : left < own->member_count ? left : own->member_count;
        left -= goes;
        own->member_count = (uint16_t)(own->member_count - goes);
        if (is_whole)
            own->gpu_mask &= (uint16_t)~mask;
        if (own->member_count == 0)
            *own = job->pieces[--job->piece_count], i--;
    }
    assert_int_equal(left, 0);
}

static uint32_t held_members(const struct twin_job *job, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < job->piece_count; p++)
        count += job->pieces[p].group == group ? job->pieces[p].member_count : 0u;
    return count;
}

static bool is_complete(const struct twin_job *job)
{
    const struct job *declared = &job->planned->job;
    for (uint32_t g = 0; g < declared->group_count; g++)
        if (held_members(job, g) < job_group(declared, g)->min_count)
            return false;
    return true;
}

/* Members beyond all of them replace leaving ones, and add nothing. */
static int64_t working(const struct twin_job *job)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < job->planned->job.group_count; g++)
        count += held_members(job, g);
    return !is_complete(job) ? 0 : count < job->members ? count : job->members;
}

static double held_gpus(const struct twin_job *job)
{
    double milli = 0;
    for (uint32_t p = 0; p < job->piece_count; p++)
        milli += job->pieces[p].gpu_milli == GPU_MILLI ? 1000.0 * __builtin_popcount(job->pieces[p].gpu_mask)
                 : job->pieces[p].gpu_mask != 0        ? 1.0 * job->pieces[p].gpu_milli * job->pieces[p].member_count
                                                       : 0;
    return milli / GPU_MILLI;
}

/* ---- Paces ---- */

static struct communication_time talk(const struct twin *twin, const struct twin_job *job, struct link_place *places,
                                      uint32_t *count, double bytes_per_s, double *peak)
{
    const struct cluster *cluster = twin->run.cluster;
    *count = 0;
    for (uint32_t p = 0; p < job->piece_count; p++)
        if (job->pieces[p].gpu_mask != 0)
            places[(*count)++] = (struct link_place){job->pieces[p].node, job->pieces[p].gpu_mask};
    const struct gang_place place = gang_place_of(cluster, places, count);
    if (place.gpu_count < 2) {
        *count = 0;
        return (struct communication_time){.step_s = 1, .speed = 1};
    }
    const struct gang_place best = communication_best(&job->communication, cluster, cluster->nodes[places[0].node].pool,
                                                      place.gpu_count, job->member_gpus);
    *peak = place.network_bytes_per_s;
    return communication_time(&job->communication, &place, &best, bytes_per_s > 0 ? bytes_per_s : *peak);
}

static bool is_share(const struct piece *piece)
{
    return piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI;
}

static struct gpu_demand demand_of(const struct twin_job *job)
{
    const struct job *declared = &job->planned->job;
    const enum gpu_program program = declared->class == JOB_INFERENCE  ? GPU_SERVICE
                                     : declared->class == JOB_TRAINING ? GPU_TRAINING
                                                                       : GPU_NOTEBOOK;
    return gpu_demand_of(program, job->planned->truth.sm_active_milli / 1e3, job->planned->truth.bandwidth_milli / 1e3);
}

/* The slowdown of a member on that piece, from all shares of its GPU, against the share that it asks for. */
static double slow_on(const struct twin *twin, const struct twin_job *job, const struct piece *piece)
{
    enum { CLIENTS_MAX = 64 };
    struct gpu_client clients[CLIENTS_MAX];
    uint32_t count = 0, own = 0;
    const struct request *wish = &job_group(&job->planned->job, piece->group)->request;
    const int64_t milli = request_class_most_milli(wish, twin->run.cluster);
    const double part = milli < GPU_MILLI ? (double)milli / GPU_MILLI : 1;
    const struct gpu_demand demand = demand_of(job);
    if (!is_share(piece) || demand.is_open)
        return 1;
    for (uint32_t j = 0; j < twin->run.job_count; j++) {
        const struct twin_job *other = &twin->jobs[j];
        for (uint32_t p = 0; other->is_running && p < other->piece_count; p++) {
            const struct piece *beside = &other->pieces[p];
            if (!is_share(beside) || beside->node != piece->node || beside->gpu_mask != piece->gpu_mask)
                continue;
            own = other == job ? count : own;
            assert_true(count < CLIENTS_MAX);
            clients[count++] = (struct gpu_client){.demand = demand_of(other), .count = beside->member_count};
        }
    }
    gpu_demand_share(clients, count, (struct gpu_grant){1, 1}, piece->share == SHARE_MPS ? GPU_TOGETHER : GPU_IN_TURNS);
    const double slow = clients[own].time / gpu_demand_alone(&demand, (struct gpu_grant){part, part});
    return part < 1 && slow < 1 ? 1 : slow;
}

/* All that cross links that can be too narrow, at once. */
static void join_all(struct twin *twin)
{
    const struct cluster *cluster = twin->run.cluster;
    const uint32_t links = fabric_link_count(cluster);
    double *rates = calloc(links + 1u, sizeof *rates);
    struct link_place places[TWIN_PIECES_MAX];
    struct fabric_use *uses = calloc(USES_MAX, sizeof *uses);
    const uint32_t *changed;
    for (uint32_t l = 0; l < links; l++)
        rates[l] = fabric_link_bytes_per_s(cluster, l);
    network_free(twin->network);
    twin->network = network_new(rates, links);
    for (uint32_t j = 0; j < twin->run.job_count && twin->run.world.network == NETWORK_SHARED; j++) {
        const struct twin_job *job = &twin->jobs[j];
        uint32_t count;
        double peak = 0;
        if (!job->is_running || job->member_gpus == 0)
            continue;
        const double ratio = talk(twin, job, places, &count, 0, &peak).network_ratio;
        assert_true(fabric_uses_max(cluster, count) <= USES_MAX);
        const uint32_t use_count = count == 0 || ratio <= 0 ? 0 : fabric_uses_of(cluster, places, count, uses);
        if (use_count > 0)
            network_join(twin->network, j, &(struct flow){fmin(peak * ratio, peak), peak, uses, use_count});
    }
    network_settle(twin->network, &changed);
    free(rates);
    free(uses);
}

static int64_t pace_of(const struct twin *twin, struct twin_job *job, uint32_t j)
{
    struct link_place places[TWIN_PIECES_MAX];
    double slow = 0, peak;
    uint32_t count;
    job->speed = 1;
    job->exposed_ratio = 0;
    job->domain_count = 0;
    if (job->member_gpus > 0) {
        const double bytes_per_s = network_has(twin->network, j) ? network_burst(twin->network, j) : 0;
        const struct communication_time time = talk(twin, job, places, &count, bytes_per_s, &peak);
        const uint32_t last = count > 0 ? count - 1 : 0;
        job->speed = time.speed;
        job->exposed_ratio = time.exposed_ratio;
        job->domain_count =
            count == 0                                                                                              ? 0
            : twin->run.cluster->nodes[places[0].node].nvlink == twin->run.cluster->nodes[places[last].node].nvlink ? 1
                                                                                                                    : 2;
    }
    for (uint32_t p = 0; job->is_client && p < job->piece_count; p++)
        slow = fmax(slow, slow_on(twin, job, &job->pieces[p]));
    return lrint(fmax(1, TWIN_ONE * job->speed / (slow > 0 ? slow : 1)));
}

static void find_paces(struct twin *twin)
{
    if (!twin->is_stale)
        return;
    twin->is_stale = false;
    join_all(twin);
    for (uint32_t j = 0; j < twin->run.job_count; j++) {
        struct twin_job *job = &twin->jobs[j];
        if (!job->is_running || job->one == 1)
            continue;
        const int64_t before = job->pace;
        job->pace = pace_of(twin, job, j);
        twin->turns += before != job->pace && twin->now > job->run_since;
    }
}

/* ---- Time ---- */

twin_units twin_all_of(const struct twin_job *job)
{
    return (twin_units)job->planned->truth.duration * job->members * job->one;
}

static twin_units all_of(const struct twin_job *job)
{
    return twin_all_of(job);
}

twin_units twin_speed(const struct twin *twin, const struct twin_job *job)
{
    (void)twin;
    const double slowed = (double)job->pace * (1 - job->saves.plan.slowdown);
    const int64_t pace = job->saves.is_writing ? lrint(fmax(1, slowed)) : job->pace;
    return (twin_units)pace * working(job);
}

static twin_units least(twin_units a, twin_units b)
{
    return a < b ? a : b;
}

static void count_time(struct twin *twin, struct twin_job *job, time_ns worked)
{
    const double gpu_us = (double)worked * held_gpus(job) / 1000;
    job->slowed_us += gpu_us * (1 - job->speed);
    job->exposed_us += gpu_us * job->exposed_ratio;
    job->network_us += job->domain_count > 1 ? gpu_us : 0;
    job->intervals++;
    twin->slow_ns += job->pace < job->one ? (uint64_t)worked : 0;
}

/* No step of a checkpoint lies within. */
static void pass(struct twin *twin, time_ns now)
{
    const time_ns span = now - twin->now;
    find_paces(twin);
    fault_twin_passed(twin);
    if (twin->is_charged)
        twin_transfer(twin, span);
    twin->now = now;
    for (uint32_t j = 0; j < twin->run.job_count; j++) {
        struct twin_job *job = &twin->jobs[j];
        if (!job->is_running)
            continue;
        const bool stands = twin_stands_still(job);
        const time_ns idle = stands || span < job->restart_left ? span : job->restart_left;
        const double slowed = job->saves.is_writing ? (double)(span - idle) * job->saves.plan.slowdown : 0;
        job->restart_left -= stands ? 0 : idle;
        job->idle_us += ((double)idle + slowed) * held_gpus(job) / 1000;
        job->work += twin_speed(twin, job) * (span - idle);
        count_time(twin, job, span - idle);
    }
}

/* The steps of checkpoints at `now` itself are still to come. */
static void advance(struct twin *twin, time_ns now)
{
    assert_true(now >= twin->now);
    while (twin->now < now) {
        find_paces(twin);
        twin_make_steps(twin);
        const time_ns step = twin_next_step(twin);
        pass(twin, step < now ? step : now);
    }
}

/* When it has all its work, if nothing changes. */
static time_ns end_of(struct twin *twin, const struct twin_job *job)
{
    find_paces(twin);
    const twin_units speed = twin_speed(twin, job);
    if (speed == 0)
        return TIME_NEVER;
    const twin_units left = (all_of(job) - least(job->work, all_of(job)) + speed - 1) / speed;
    return left < TIME_NEVER / 2 ? twin->now + job->restart_left + (time_ns)left : TIME_NEVER;
}

static time_ns reference(const struct twin_job *job, twin_units work)
{
    return work >= all_of(job) ? job->planned->truth.duration : (time_ns)(work / ((twin_units)job->members * job->one));
}

/* What is left of its work if it leaves now. */
static twin_units kept_of(const struct twin *twin, const struct twin_job *job)
{
    const time_ns interval = job->planned->job.checkpoint.interval;
    const twin_units work = least(job->work, all_of(job));
    if (twin->is_charged)
        return least(twin_kept(twin, job), all_of(job));
    if (!job->is_running || (job->is_frozen && job->thaws_at <= twin->now))
        return work;
    if (interval == 0)
        return job->saved;
    const twin_units last = (twin_units)(reference(job, work) / interval * interval) * job->members * job->one;
    return last > job->saved ? last : job->saved;
}

/* ---- Facts and decisions ---- */

static void run_begin(struct twin *twin, struct twin_job *job)
{
    job->is_running = true;
    job->is_frozen = false;
    job->run_since = twin->now;
    job->restart_left = job->was_started ? job->planned->job.checkpoint.restart : 0;
    if (twin->is_charged)
        twin_begin(twin, job, !job->was_started);
    job->was_started = true;
}

static void run_stop(const struct twin *twin, struct twin_job *job)
{
    job->work = job->saved = kept_of(twin, job);
    job->is_running = job->is_frozen = false;
    twin_stop(job);
}

static void come(struct twin *twin, struct twin_job *job, const struct piece *pieces, uint32_t count)
{
    twin->grown += job->is_running;
    hold(job, pieces, count);
    if (!job->is_running && is_complete(job))
        run_begin(twin, job);
    twin_moved(job);
    twin->is_stale = true;
}

static void forget(struct twin_job *job, struct twin_pending *pending)
{
    free(pending->pieces);
    *pending = job->pending[--job->pending_count];
}

static void leave_all(struct twin *twin, struct twin_job *job)
{
    while (job->pending_count > 0)
        forget(job, job->pending);
    run_stop(twin, job);
    job->piece_count = 0;
    job->is_leaving = false;
    twin->is_stale = true;
}

static void part(struct twin *twin, struct twin_job *job, const struct twin_pending *which)
{
    twin_settle(twin, job);
    for (uint32_t i = 0; i < which->piece_count; i++)
        drop(job, &which->pieces[i]);
    twin->is_stale = true;
    if (!job->is_running)
        return;
    if (!job->is_leaving && !is_complete(job)) {
        run_stop(twin, job);
    } else if (twin->is_charged) {
        twin_moved(job);
    } else if (job->is_frozen && !job->is_leaving && job->thaws_at <= twin->now) {
        job->is_frozen = false;
        job->saved = least(job->work, all_of(job));
    }
}

static struct twin_pending *pending_of(struct twin_job *job, decision_id id)
{
    for (uint32_t i = 0; i < job->pending_count; i++)
        if (job->pending[i].id == id)
            return &job->pending[i];
    fail_msg("decision %llu is not known", (unsigned long long)id);
    return NULL;
}

/* It stops to write a checkpoint if it can save within the grace, and does not end before. */
static void tell_to_leave(struct twin *twin, struct twin_job *job, time_ns grace)
{
    const struct checkpoint_plan *plan = &job->planned->job.checkpoint;
    const bool can_save = plan->interval > 0 || plan->duration > 0;
    if (twin->is_charged) {
        twin_told_to_leave(twin, job, grace, end_of(twin, job));
        return;
    }
    if (!job->is_running || !can_save || grace == 0 || job->is_frozen || plan->duration > grace ||
        end_of(twin, job) - twin->now <= plan->duration)
        return;
    job->is_frozen = true;
    job->thaws_at = twin->now + plan->duration;
}

static void note(struct twin_job *job, const struct decision *decision)
{
    assert_true(job->pending_count < sizeof job->pending / sizeof *job->pending);
    struct twin_pending *pending = &job->pending[job->pending_count++];
    *pending = (struct twin_pending){.id = decision->id,
                                     .pieces = calloc(decision->piece_count + 1u, sizeof(struct piece)),
                                     .piece_count = decision->piece_count,
                                     .is_eviction = decision->kind == DECISION_EVICT};
    memcpy(pending->pieces, decision->pieces, decision->piece_count * sizeof(struct piece));
}

static struct error on_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                             const struct wire_done *done)
{
    struct twin *twin = self;
    (void)done;
    advance(twin, now);
    twin_make_steps(twin);
    for (size_t i = 0; i < count; i++) {
        const struct decision *decision = &decisions[i];
        struct twin_job *job = &twin->jobs[decision->job];
        if (decision->kind == DECISION_START && twin->run.world.decision_latency == 0)
            come(twin, job, decision->pieces, decision->piece_count);
        else if (decision->kind == DECISION_START)
            note(job, decision);
        if (decision->kind != DECISION_EVICT)
            continue;
        tell_to_leave(twin, job, decision->grace);
        if (decision->is_partial)
            note(job, decision);
        else
            job->is_leaving = true;
    }
    return ERROR_OK;
}

static struct error on_fact(void *self, const struct fact *fact)
{
    struct twin *twin = self;
    struct twin_job *job = &twin->jobs[fact->id];
    advance(twin, fact->now);
    if (fact->kind == FACT_JOB_STARTED && twin->run.world.decision_latency > 0) {
        struct twin_pending *pending = pending_of(job, fact->decision);
        come(twin, job, pending->pieces, pending->piece_count);
        forget(job, pending);
    } else if (fact->kind == FACT_JOB_EVICTED && fact->which.decision != 0) {
        struct twin_pending *pending = pending_of(job, fact->which.decision);
        part(twin, job, pending);
        forget(job, pending);
    } else if (fact->kind == FACT_JOB_EVICTED) {
        find_paces(twin);
        fault_twin_left(twin, fact->id, all_of(job), (twin_units)job->pace * working(job));
        leave_all(twin, job);
    } else if (fact->kind == FACT_JOB_ENDED) {
        const twin_units work = job->work, speed = twin_speed(twin, job);
        const time_ns limit = twin->run.world.kills_at_limit ? job->planned->job.limit : TIME_NEVER;
        if (fact->end == JOB_END_LIMIT && (work >= all_of(job) || fact->now - job->run_since != limit))
            broken(twin, fact->id, "it was killed, but not at its limit");
        if (fact->end != JOB_END_LIMIT && (work < all_of(job) || work - speed >= all_of(job)))
            broken(twin, fact->id, "its end is not the nanosecond in which its work is done");
        if (fact->now - job->run_since > limit && !job->is_frozen &&
            !(job->is_leaving && job->saves.phase == TWIN_SAVES_TO_LEAVE))
            broken(twin, fact->id, "it outlived its limit");
        leave_all(twin, job);
    }
    return ERROR_OK;
}

/* ---- Rows ---- */

static struct error on_attempt(void *self, const struct attempt_row *row)
{
    struct twin *twin = self;
    struct twin_job *job = &twin->jobs[row->id];
    advance(twin, row->end);
    twin_settle(twin, job);
    const twin_units work = least(job->work, all_of(job));
    const twin_units kept = row->why == ATTEMPT_EVICTED ? kept_of(twin, job) : work;
    const time_ns before = reference(job, job->work_at_row);
    if (row->saved + row->lost != reference(job, work) - before)
        broken(twin, row->id, "work done and lost in an attempt is not its speed integrated over time");
    if (row->saved != reference(job, kept) - before)
        broken(twin, row->id, "an attempt did not save what it had to");
    twin->lossy += row->lost > 0;
    job->saved_sum += row->saved;
    job->work_at_row = kept;
    return ERROR_OK;
}

static void check_time(const struct twin *twin, job_id id, int64_t us, double should_us, const char *what)
{
    const double room = 1 + 2.0 * twin->jobs[id].intervals + 1e-9 * should_us;
    if (fabs((double)us - should_us) > room)
        broken(twin, id, what);
}

static struct error on_job(void *self, const struct job_row *row)
{
    struct twin *twin = self;
    const struct twin_job *job = &twin->jobs[row->id];
    const bool is_done = row->state == END_COMPLETED || row->state == END_FAILED || row->state == END_CANCELLED;
    fault_twin_row(twin, row);
    if (job->saved_sum != row->work || (is_done && row->work != row->work_asked))
        broken(twin, row->id, "its attempts do not come to its work");
    check_time(twin, row->id, row->overhead_gpu_ns / 1000, job->idle_us, "overhead is not the time without work");
    if ((row->lost != NULL) != twin->is_charged)
        broken(twin, row->id, "losses by cause come exactly if checkpoints are charged");
    if (twin->is_charged)
        twin_check_lost(twin, row);
    if (job->member_gpus > 0) {
        check_time(twin, row->id, row->slowed_gpu_us, job->slowed_us,
                   "GPU time that it was slowed is not that of its paces");
        check_time(twin, row->id, row->exposed_gpu_us, job->exposed_us, "exposed GPU time is not that of its paces");
        check_time(twin, row->id, row->network_gpu_us, job->network_us,
                   "GPU time on the network is not that of its places");
    } else if (row->slowed_gpu_us != 0 || row->exposed_gpu_us != 0 || row->network_gpu_us != 0) {
        broken(twin, row->id, "a job that does not communicate was slowed by it");
    }
    return ERROR_OK;
}

/* ---- Outside ---- */

struct port_outside work_twin_listener(struct twin *twin)
{
    return (struct port_outside){.self = twin, .on_fact = on_fact, .on_cycle = on_cycle};
}

struct record_sink work_twin_sink(struct twin *twin)
{
    return (struct record_sink){.self = twin, .on_job = on_job, .on_attempt = on_attempt};
}

void work_twin_release(struct twin *twin)
{
    for (uint32_t j = 0; j < twin->run.job_count; j++)
        while (twin->jobs[j].pending_count > 0)
            forget(&twin->jobs[j], twin->jobs[j].pending);
    network_free(twin->network);
}
