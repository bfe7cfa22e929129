#include "tests/support/fault_twin.h"
#include "tests/support/test.h"

static bool has_faults(const struct twin *twin)
{
    return fault_rates_are_set(&twin->run.world.faults);
}

static void draw(const struct twin *twin, job_id id)
{
    fault_next(&twin->run.world.faults, twin->run.seed, id, &twin->jobs[id].fault);
}

void fault_twin_open(struct twin *twin)
{
    for (job_id id = 0; has_faults(twin) && id < twin->run.job_count; id++)
        draw(twin, id);
}

static twin_units point_of(const struct twin_job *job)
{
    return (twin_units)job->fault.at * job->members * job->one;
}

static bool is_due(const struct twin *twin, job_id id)
{
    const struct twin_job *job = &twin->jobs[id];
    const time_ns duration = job->planned->truth.duration;
    return has_faults(twin) && job->is_running && !job->is_frozen && job->restart_left == 0 &&
           job->fault.at < duration && job->work >= point_of(job) &&
           job->work < (twin_units)duration * job->members * job->one;
}

/* ---- Whom it takes ---- */

/* Out of memory: no kind of share keeps the memory of others.  Else: only clients of one MPS server fall together. */
static bool falls_together(uint8_t cause, unsigned share)
{
    static const bool table[SHARE_KIND_COUNT][FAULT_CAUSE_COUNT] = {
        [SHARE_PLAIN] = {[FAULT_OUT_OF_MEMORY] = true},
        [SHARE_TIMESLICE] = {[FAULT_OUT_OF_MEMORY] = true},
        [SHARE_MPS] = {[FAULT_OUT_OF_MEMORY] = true, [FAULT_RUNAWAY] = true, [FAULT_FATAL] = true},
    };
    return table[share][cause];
}

static bool is_share(const struct piece *piece)
{
    return piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI;
}

static const struct piece *struck_share(const struct twin_job *job)
{
    const struct piece *least = NULL;
    uint64_t least_key = UINT64_MAX;
    for (uint32_t p = 0; p < job->piece_count; p++) {
        const struct piece *piece = &job->pieces[p];
        if (!is_share(piece))
            continue;
        const uint64_t key = fault_key(&job->fault, piece->node, (uint32_t)__builtin_ctz(piece->gpu_mask));
        if (least == NULL || key < least_key) {
            least = piece;
            least_key = key;
        }
    }
    return least;
}

static bool is_on(const struct twin_job *job, const struct piece *share)
{
    for (uint32_t p = 0; job->is_running && p < job->piece_count; p++)
        if (is_share(&job->pieces[p]) && job->pieces[p].node == share->node &&
            job->pieces[p].gpu_mask == share->gpu_mask)
            return true;
    return false;
}

static int64_t held_milli(const struct twin_job *job)
{
    int64_t milli = 0;
    for (uint32_t p = 0; p < job->piece_count; p++)
        milli += is_share(&job->pieces[p])
                     ? (int64_t)job->pieces[p].gpu_milli * job->pieces[p].member_count
                     : (int64_t)job->pieces[p].gpu_milli * __builtin_popcount(job->pieces[p].gpu_mask);
    return milli;
}

static void strike(struct twin *twin, job_id id)
{
    struct twin_job *own = &twin->jobs[id];
    const struct piece *share = struck_share(own);
    int64_t blast = 0;
    for (job_id other = 0; share != NULL && other < twin->run.job_count; other++) {
        struct twin_job *job = &twin->jobs[other];
        if (other == id || !is_on(job, share) || !falls_together(own->fault.cause, share->share))
            continue;
        job->is_to_fall = true;
        job->falls_by = own->fault.cause;
        twin->to_fall++;
        blast += held_milli(job);
    }
    own->own_faults++;
    own->blast_milli = blast > own->blast_milli ? blast : own->blast_milli;
    twin->faults++;
    draw(twin, id);
}

/* ---- Facts and rows ---- */

void fault_twin_left(struct twin *twin, job_id id, twin_units all, twin_units speed)
{
    struct twin_job *job = &twin->jobs[id];
    if (job->is_to_fall) {
        job->is_to_fall = false;
        job->killed[job->falls_by]++;
        twin->to_fall--;
        twin->fallen++;
    } else if (is_due(twin, id)) {
        if (job->work - speed >= point_of(job) || job->work >= all)
            random_run_fail(&twin->run, "its fault is not in the nanosecond in which its work reaches it", id);
        strike(twin, id);
    } else if (!job->is_leaving) {
        random_run_fail(&twin->run, "it left without a decision and without a fault", id);
    }
}

void fault_twin_passed(const struct twin *twin)
{
    for (job_id id = 0; has_faults(twin) && id < twin->run.job_count; id++) {
        if (twin->jobs[id].is_to_fall)
            random_run_fail(&twin->run, "a fault on its GPU did not take it", id);
        if (is_due(twin, id))
            random_run_fail(&twin->run, "its fault did not strike", id);
    }
}

void fault_twin_row(const struct twin *twin, const struct job_row *row)
{
    const struct twin_job *job = &twin->jobs[row->id];
    const struct fault_row *faults = row->faults;
    uint32_t killed = 0;
    if ((faults != NULL) != has_faults(twin))
        random_run_fail(&twin->run, "its row tells faults exactly if the world has some", row->id);
    if (faults == NULL)
        return;
    for (int cause = 0; cause < FAULT_CAUSE_COUNT; cause++) {
        killed += faults->killed[cause];
        if (faults->killed[cause] != job->killed[cause])
            random_run_fail(&twin->run, "its row counts other faults of neighbours", row->id);
    }
    if (faults->own != job->own_faults || faults->blast_gpu_milli != job->blast_milli)
        random_run_fail(&twin->run, "its row counts other faults, or another blast radius", row->id);
    if (faults->lost_gpu_ns < 0 || faults->lost_gpu_ns > row->lost_gpu_ns || (killed == 0 && faults->lost_gpu_ns != 0))
        random_run_fail(&twin->run, "what it lost by neighbours is not a part of what it lost", row->id);
}
