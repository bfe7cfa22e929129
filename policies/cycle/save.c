/* Saves and loads a scheduler.
 *
 * It saves all state that a later call can depend on, including memos, back-off and the order of lists.  It leaves out
 * scratch of a single call (plans, node searches, marks), the decisions of the last cycle, which are not read
 * again, what can be computed from cluster and policy, and the ledger of an empty cluster, which is always the same. */
#include "base/hash.h"
#include "policies/booking/booking.h"
#include "policies/config/digest.h"
#include "policies/cycle/cycle_inside.h"
#include "policies/eviction/eviction.h"
#include "policies/hoarders/hoarders.h"
#include "policies/quota/cells.h"
#include "policies/repartition/repartitions.h"
#include "policies/reservation/reservation.h"
#include "policies/state/accounts.h"
#include "policies/state/candidates.h"
#include "policies/state/preemption_bound.h"
#include "policies/state/retry_queue.h"
#include "policies/state/run_times.h"
#include "policies/state/typical.h"
#include "policies/state/waits.h"
#include "policies/util/archive.h"

enum { SAVE_VERSION = 26 };
#define SAVE_BYTE_ORDER UINT32_C(0x04030201)

static const char save_magic[8] = {'w', 't', 's', 'c', 'h', 'e', 'd', '\n'};

struct save_header { /* no padding; then `length` bytes */
    char magic[8];
    uint32_t byte_order, pointer_bytes;
    uint32_t version, queue_count;
    uint64_t cluster, queues, policy; /* digests */
    uint64_t length;
    uint64_t checksum; /* of all that follows, and of this header without it */
};

/* ---- The state ---- */

static void archive_counts(struct archive *archive, struct sched *sched)
{
    ARCHIVE(archive, sched->now);
    ARCHIVE(archive, sched->ranks.at);
    ARCHIVE(archive, sched->ranks.change);
    ARCHIVE(archive, sched->rest.change);
    ARCHIVE(archive, sched->rest.since);
    ARCHIVE(archive, sched->cycle);
    ARCHIVE(archive, sched->starts);
    ARCHIVE(archive, sched->attempts);
    ARCHIVE(archive, sched->has_own_times);
    ARCHIVE(archive, sched->has_patience);
}

static void sched_archive(struct archive *archive, struct sched *sched)
{
    ARCHIVE_KNOWS(struct sched, 5632); /* `stop` is of the process, `decided.told_before` of a cycle */
    archive_counts(archive, sched);
    owns_archive(archive, &sched->own.all);
    request_class_table_archive(archive, &sched->request_classes);
    job_table_archive(archive, &sched->jobs, &sched->request_classes);
    if (archive->is_broken)
        return;
    waits_archive(archive, sched);
    ledger_archive(archive, sched->ledger);
    if (archive->is_broken)
        return;
    queue_tree_archive(archive, &sched->tree);
    pending_archive(archive, &sched->pending);
    if (archive->is_broken)
        return;
    booking_archive(archive, sched);
    if (archive->is_broken)
        return;
    if (sched->ranks.need_accounts)
        accounts_archive(archive, &sched->accounts);
    if (sched->overtakes || sched->reserves)
        planned_start_archive(archive, sched);
    if (warm_is_open(&sched->warm))
        warm_archive(archive, &sched->warm, sched->cluster->node_count);
    if (sched->run_times.is_used)
        run_times_archive(archive, sched);
    if (sched->typical.is_used)
        typical_archive(archive, &sched->typical, sched->ledger);
    if (sched->policy.geometry->score != NULL)
        repartitions_archive(archive, sched);
    if (sched->hoarders != NULL)
        hoarders_archive(archive, sched);
    if (!sched->policy.preemption->evicts)
        return;
    preemption_bound_archive(archive, &sched->preemption_bound, sched->cluster);
    candidates_archive(archive, sched);
    retry_queue_archive(archive, sched);
    eviction_archive(archive, sched);
}

/* ---- Saving ---- */

static uint64_t checksum_of(struct save_header header, const char *bytes)
{
    header.checksum = 0;
    return hash_bytes(bytes, header.length, hash_bytes(&header, sizeof header, 0));
}

struct error sched_save(const struct sched *sched, struct buffer *out)
{
    const struct quota_policy *quota = sched->policy.quota;
    if (quota->state_size > 0 && quota->archive == NULL)
        return error_new(ERROR_CONFIG, "quota policy '%s' cannot be saved: it has no 'archive'", quota->name);
    struct archive archive = {.out = out};
    const size_t start = out->length;
    struct save_header header = {.byte_order = SAVE_BYTE_ORDER,
                                 .pointer_bytes = sizeof(void *),
                                 .version = SAVE_VERSION,
                                 .queue_count = sched->tree.count,
                                 .cluster = digest_cluster(sched->cluster),
                                 .queues = digest_queues(sched->tree.table, sched->tree.count),
                                 .policy = digest_policy(&sched->policy)};
    memcpy(header.magic, save_magic, sizeof header.magic);
    buffer_bytes(out, &header, sizeof header);
    struct sched *state = (struct sched *)(uintptr_t)sched; /* writing changes nothing that a decision depends on */
    cells_settle(&state->tree);
    sched_archive(&archive, state);
    header.length = out->length - start - sizeof header;
    header.checksum = checksum_of(header, out->bytes + start + sizeof header);
    memcpy(out->bytes + start, &header, sizeof header);
    return ERROR_OK;
}

/* ---- Loading ---- */

static struct error refuse(const char *why, const char *hint)
{
    struct error error = error_new(ERROR_DATA, "saved scheduler: %s", why);
    error_set_hint(&error, "%s", hint);
    return error;
}

/* Are the bytes complete, and from this version and kind of machine? */
static struct error check_bytes(const char *bytes, size_t length, struct save_header *header)
{
    static const char again[] = "save it again, or take another copy";
    static const char elsewhere[] = "load it where it was saved";
    if (length < sizeof header->magic || memcmp(bytes, save_magic, sizeof save_magic) != 0)
        return refuse("these bytes are not one", "give the output of sched_save");
    if (length < sizeof *header)
        return refuse("its header is cut off", again);
    memcpy(header, bytes, sizeof *header);
    if (header->byte_order != SAVE_BYTE_ORDER)
        return refuse("it has another byte order", elsewhere);
    if (header->pointer_bytes != sizeof(void *))
        return refuse("it is from a machine with another pointer size", elsewhere);
    if (header->version != SAVE_VERSION)
        return refuse("it has another version of the format", "load it with the program that saved it");
    if (header->length != length - sizeof *header)
        return refuse(header->length > length - sizeof *header ? "it is cut off" : "data follows it", again);
    if (header->checksum != checksum_of(*header, bytes + sizeof *header))
        return refuse("it is damaged: its checksum differs", again);
    return ERROR_OK;
}

/* Was it saved with this cluster, policy and queues? */
static struct error check_origin(const struct save_header *header, const struct cluster *cluster,
                                 const struct queue_table *queues, const struct policy_config *policy)
{
    if (header->cluster != digest_cluster(cluster))
        return refuse("it is of another cluster", "give the cluster that it was saved with");
    if (header->policy != digest_policy(policy))
        return refuse("it is of another policy", "give the policy that it was saved with");
    if (header->queue_count > queues->count || header->queues != digest_queues(queues, header->queue_count))
        return refuse("it is of other queues", "give the queues as they were, and tell of changes afterwards");
    return ERROR_OK;
}

struct sched *sched_load(const struct cluster *cluster, const struct queue_table *queues,
                         const struct policy_config *policy, struct text saved, struct error *error)
{
    struct save_header header;
    *error = sched_find_gap(policy);
    if (!error_is(*error))
        *error = check_bytes(saved.at, saved.length, &header);
    if (!error_is(*error))
        *error = check_origin(&header, cluster, queues, policy);
    if (error_is(*error))
        return NULL;
    struct sched *sched = sched_blank_new(cluster, queues, policy);
    struct archive archive = {.at = saved.at + sizeof header, .end = saved.at + saved.length};
    sched_archive(&archive, sched);
    if (archive.is_broken || archive_left(&archive) != 0) {
        sched_free(sched);
        *error = refuse("it does not hold what its version says", "load it with the program that saved it");
        return NULL;
    }
    const char *broken = sched_check_loaded(sched);
    if (broken == NULL) {
        victim_lists_rebuild(sched);
        broken = sched_check(sched);
    }
    if (broken != NULL) {
        sched_free(sched);
        *error = refuse(broken, "somebody has changed it: load the state that was saved");
        return NULL;
    }
    return sched;
}
