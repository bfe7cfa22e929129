#include "tests/support/forged.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { LENGTH_AT = 48, CHECKSUM_AT = 56, CYCLES = 6 };

/* ---- Changing ---- */

/* A number that is small, large, near another one in the state, or any. */
static uint64_t some_number(const struct buffer *bytes, size_t at, struct random_stream *stream)
{
    static const uint64_t edges[] = {0, 1, 2, 7, 255, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    uint64_t number;
    memcpy(&number, bytes->bytes + at, sizeof number);
    switch (random_below(stream, 5)) {
    case 0:
        return edges[random_below(stream, sizeof edges / sizeof *edges)];
    case 1:
        return number + 1 + random_below(stream, 3);
    case 2:
        return number - 1 - random_below(stream, 3);
    case 3:
        return number ^ UINT64_C(1) << random_below(stream, 64);
    default:
        return (uint64_t)random_below(stream, UINT32_MAX) << 32 | random_below(stream, UINT32_MAX);
    }
}

void forged_change(struct buffer *bytes, struct random_stream *stream)
{
    static const size_t widths[] = {1, 1, 4, 4, 4, 8};
    const size_t room = bytes->length - FORGED_HEADER_BYTES;
    for (uint32_t left = 1 + random_below(stream, 3); left > 0 && room > sizeof(uint64_t); left--) {
        const size_t at = FORGED_HEADER_BYTES + random_below(stream, (uint32_t)(room - sizeof(uint64_t)));
        const uint64_t number = some_number(bytes, at, stream);
        memcpy(bytes->bytes + at, &number, widths[random_below(stream, sizeof widths / sizeof *widths)]);
    }
}

void forged_repair(struct buffer *bytes)
{
    const uint64_t length = bytes->length - FORGED_HEADER_BYTES, none = 0;
    memcpy(bytes->bytes + LENGTH_AT, &length, sizeof length);
    memcpy(bytes->bytes + CHECKSUM_AT, &none, sizeof none);
    const uint64_t sum =
        hash_bytes(bytes->bytes + FORGED_HEADER_BYTES, length, hash_bytes(bytes->bytes, FORGED_HEADER_BYTES, 0));
    memcpy(bytes->bytes + CHECKSUM_AT, &sum, sizeof sum);
}

/* ---- Living on ---- */

static void go_on(struct sched *sched)
{
    time_ns now = 0, wake_at;
    const struct decision *decisions;
    struct buffer again = {0};
    for (int c = 0; c < CYCLES; c++) {
        now += (time_ns)1 << (30 + 5 * c); /* from a second to three months, until it is later than the state */
        const size_t count = sched_cycle(sched, now, &decisions, &wake_at);
        struct {
            job_id job;
            decision_id id;
            bool is_start;
        } of[8];
        size_t kept = 0;
        for (size_t i = 0; i < count && kept < 8; i++)
            if (decisions[i].kind == DECISION_START || decisions[i].kind == DECISION_EVICT) {
                of[kept].job = decisions[i].job;
                of[kept].id = decisions[i].id;
                of[kept++].is_start = decisions[i].kind == DECISION_START;
            }
        for (size_t i = 0; i < kept; i++)
            if (of[i].is_start)
                sched_job_started(sched, of[i].job, of[i].id, now);
            else
                sched_job_evicted(sched, of[i].job, MEMBERS_ALL, EVICT_LOST, now);
        for (job_id job = (job_id)c; job < 64; job += 5)
            sched_job_ended(sched, job, JOB_END_COMPLETED, job % 2 == 0, now);
        sched_node_changed(sched, (node_id)0, c % 2 == 0 ? NODE_DOWN : NODE_UP, now);
        sched_hash(sched);
    }
    struct error error = sched_save(sched, &again);
    error_release(&error);
    buffer_release(&again);
}

bool forged_live(const struct buffer *bytes, const struct cluster *cluster, const struct queue_table *queues,
                 const struct policy_config *policy)
{
    struct error error;
    struct sched *sched = sched_load(cluster, queues, policy, (struct text){bytes->bytes, bytes->length}, &error);
    if (sched == NULL) {
        if (error.kind != ERROR_DATA)
            abort();
        error_release(&error);
        return false;
    }
    if (sched_check(sched) != NULL)
        abort();
    go_on(sched);
    sched_free(sched);
    return true;
}
