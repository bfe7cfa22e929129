/* What must change before a job starts, in words. */
#include "policies/explain/explain_text.h"
#include "policies/state/sched_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policies/booking/eligible.h"
#include "policies/gang/gang.h"
#include "policies/state/headroom.h"

enum { AMOUNT_CHARS = 40, MEMBER_CHARS = 160 };

__attribute__((format(printf, 2, 3))) static void say(struct explanation *out, const char *format, ...)
{
    size_t length = strlen(out->text);
    va_list arguments;
    if (length + 1 >= sizeof out->text)
        return; /* text beyond the buffer is cut off */
    va_start(arguments, format);
    vsnprintf(out->text + length, sizeof out->text - length, format, arguments);
    va_end(arguments);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* "2.5" for 2500 milli. */
static void milli_text(char text[AMOUNT_CHARS], int64_t milli)
{
    int length = snprintf(text, AMOUNT_CHARS, "%lld.%03lld", (long long)(milli / 1000), (long long)(milli % 1000));
    while (length > 0 && text[length - 1] == '0')
        text[--length] = '\0';
    if (length > 0 && text[length - 1] == '.')
        text[length - 1] = '\0';
}

static void amount_text(char text[AMOUNT_CHARS], enum resource resource, int64_t amount)
{
    static const char *const units[RESOURCE_COUNT] = {"GPU", "CPU", "MiB"};
    if (resource == RESOURCE_MEMORY) {
        snprintf(text, AMOUNT_CHARS, "%lld MiB", (long long)amount);
        return;
    }
    milli_text(text, amount);
    snprintf(text + strlen(text), AMOUNT_CHARS - strlen(text), " %s%s", units[resource], amount == 1000 ? "" : "s");
}

/* The free space that a node needs for this many members of the group. */
static void member_text(char text[MEMBER_CHARS], const struct request *request, uint32_t members)
{
    char gpus[AMOUNT_CHARS], cpus[AMOUNT_CHARS];
    amount_text(cpus, RESOURCE_CPU, (int64_t)request->cpu_milli * members);
    if (request->mig != 0)
        snprintf(gpus, sizeof gpus, "%u free MIG instance%s", members, plural(members));
    else if (request->gpus != 0)
        snprintf(gpus, sizeof gpus, "%u free GPU%s", request->gpus * members,
                 plural((uint64_t)request->gpus * members));
    else if (request->gpu_milli != 0)
        snprintf(gpus, sizeof gpus, "%u/1000 of a GPU free", request->gpu_milli);
    else if (request->gpu_memory_mib != 0)
        snprintf(gpus, sizeof gpus, "%u MiB of a GPU free", request->gpu_memory_mib);
    else
        gpus[0] = '\0';
    snprintf(text, MEMBER_CHARS, "%s", gpus);
    if (request->cpu_milli != 0 || request->memory_mib != 0)
        snprintf(text + strlen(text), MEMBER_CHARS - strlen(text), "%s%s and %llu MiB", gpus[0] != '\0' ? ", " : "",
                 cpus, (unsigned long long)request->memory_mib * members);
}

/* The text names only the first group of the placement order that has members to place. */
static const struct job_group *first_group(const struct request_class *ask)
{
    uint32_t g = 0;
    while (g + 1 < ask->group_count && ask->groups[ask->order[g]].count == 0)
        g++;
    return &ask->groups[ask->order[g]];
}

static uint32_t members_per_node(const struct sched *sched, const struct job_group *group)
{
    uint32_t most = request_class_most_of_node(&group->request, sched->ledger);
    most = most == 0 ? 1 : most;
    return most < group->count ? most : group->count;
}

static const char *domain_name(const struct sched *sched, const struct request_class *ask)
{
    uint8_t level = ask->topology.required;
    for (uint32_t s = 0; s < ask->set_count; s++)
        level = ask->sets[s].topology.required > level ? ask->sets[s].topology.required : level;
    return level > 0 && level <= sched->cluster->level_count ? sched->cluster->levels[level - 1].name : NULL;
}

static void say_space(const struct sched *sched, const struct request_class *ask, struct explanation *out)
{
    const struct job_group *group = first_group(ask);
    const char *domain = domain_name(sched, ask);
    char needs[MEMBER_CHARS], amount[AMOUNT_CHARS];
    member_text(needs, &group->request, members_per_node(sched, group));
    if (out->nodes[EXPLAIN_AFFINITY] > 0)
        say(out,
            "Rules of tags, its own or those of other jobs, shut %u node%s where a member would "
            "fit. ",
            out->nodes[EXPLAIN_AFFINITY], plural(out->nodes[EXPLAIN_AFFINITY]));
    if (out->nodes_short > 0)
        say(out, "%u more node%s with %s %s needed", out->nodes_short, plural(out->nodes_short), needs,
            out->nodes_short == 1 ? "is" : "are");
    else
        say(out, "Its members fit one by one, but not together: space must be freed for all");
    if (domain != NULL)
        say(out, ", all within one %s", domain);
    milli_text(amount, out->gpu_milli_free);
    say(out, "; %u of %u member%s fit%s now, %s GPUs are free.", out->members_fitting, out->members,
        plural(out->members), out->members == 1 ? "s" : "", amount);
    if (out->cpu_milli_short > 0) {
        amount_text(amount, RESOURCE_CPU, out->cpu_milli_short);
        say(out, " A node with free GPUs lacks only %s.", amount);
    } else if (out->memory_mib_short > 0) {
        say(out, " A node with free GPUs lacks only %lld MiB.", (long long)out->memory_mib_short);
    }
}

static void say_fit(struct explanation *out)
{
    if (out->nodes[EXPLAIN_KEPT] > 0)
        say(out, "It would fit, but on space that is kept for others.");
    else
        say(out, out->code == REASON_PRIORITY ? "It would fit now." : "It fits now: the next cycle decides.");
}

static void say_limit(const struct sched *sched, struct explanation *out)
{
    char over[AMOUNT_CHARS], held[AMOUNT_CHARS], bound[AMOUNT_CHARS];
    if (out->over_queue == QUEUE_NONE) {
        say(out, out->is_quota_kept ? "What its queue may still hold is kept for jobs before it."
                 : out->fits_now    ? "No limit is in its way any more: the next cycle decides."
                                    : "No limit is in its way, but the space that its queue may have.");
        return;
    }
    const char *name = queue_tree_spec(&sched->tree, out->over_queue)->name;
    amount_text(held, out->over_resource, out->over_held);
    if (out->over_bound == QUOTA_UNLIMITED) {
        amount_text(over, out->over_resource, out->over_asked);
        say(out, "Queue %s may not hold %s more, beside the %s it holds, by what others leave it.", name, over, held);
        return;
    }
    amount_text(over, out->over_resource, out->over_held + out->over_asked - out->over_bound);
    amount_text(bound, out->over_resource, out->over_bound);
    say(out, "%s of queue %s must end, or its %s of %s be raised by as much: it holds %s.", over, name,
        out->over_is_quota ? "quota" : "limit", bound, held);
}

static void say_turn(struct explanation *out)
{
    if (out->ahead > 0)
        say(out, "%u job%s of its line go%s before it.", out->ahead, plural(out->ahead), out->ahead == 1 ? "es" : "");
    else
        say(out, "It is the first of its line; those of other queues go before it.");
}

static void say_dependencies(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    uint32_t count = sched->jobs.facts[job - sched->jobs.jobs].after_left;
    say(out, "%u job%s that it depends on must end first.", count, plural(count));
}

static void say_reserved(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    int64_t held = 0, outstanding = 0;
    char all[AMOUNT_CHARS], rest[AMOUNT_CHARS];
    for (uint32_t i = 0; i < job->holding_count; i++) {
        const struct holding *holding = sched_job_holding(job, i);
        if (holding->phase != HOLDING_CLAIMED)
            continue;
        const gpu_id first = sched->cluster->nodes[holding->piece.node].first_gpu;
        held += piece_milli(&holding->piece);
        for (uint32_t left = holding->piece.gpu_mask; left != 0; left &= left - 1) {
            int64_t claimed = sched->ledger->gpus[first + (gpu_id)__builtin_ctz(left)].claimed;
            outstanding += claimed < holding->piece.gpu_milli ? claimed : holding->piece.gpu_milli;
        }
    }
    amount_text(all, RESOURCE_GPU, held);
    milli_text(rest, outstanding);
    say(out, "%s are reserved for it; jobs that are leaving still hold %s of them.", all, rest);
}

/* The headroom that its start would violate. */
static void say_headroom(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    const struct class_queue *class_queue = &sched->pending.class_queues[job->class_queue];
    int64_t kept = sched->headroom.gpu_milli + (class_queue->is_over_quota ? sched->headroom.owners_milli : 0);
    int64_t lacking = kept + sched->request_classes.at[job->ask].charge[QUEUE_SUM_GPU] - sched_free_milli(sched);
    char amount[AMOUNT_CHARS], keeps[AMOUNT_CHARS];
    amount_text(keeps, RESOURCE_GPU, kept);
    if (lacking > 0) {
        amount_text(amount, RESOURCE_GPU, lacking);
        say(out, "%s more must be free, for %s are kept as headroom", amount, keeps);
        out->gpu_milli_short = lacking;
    } else {
        say(out, "A node more must be wholly free, for %lld are kept as headroom",
            (long long)sched->headroom.whole_nodes);
    }
    if (class_queue->is_over_quota)
        say(out, "; or queue %s must hold less than its quota",
            queue_tree_spec(&sched->tree, class_queue->owed_by)->name);
    say(out, ".");
}

static void say_held(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    const uint32_t array = sched->jobs.facts[job - sched->jobs.jobs].array;
    if (out->code == REASON_DEPENDENCY)
        say_dependencies(sched, job, out);
    else if (out->code == REASON_ARRAY_LIMIT)
        say(out, "One of the %u elements of its array that run or wait must end.", eligible_array_count(sched, array));
    else
        say(out, "Its submitter holds it and must release it.");
}

/* The wording is that of the Kubernetes scheduler, which counts nodes the same way. */
static void say_never(const struct cluster *cluster, struct explanation *out)
{
    const uint32_t taints = out->nodes[EXPLAIN_TAINT], labels = out->nodes[EXPLAIN_NODE_AFFINITY];
    if (taints + labels == 0) {
        say(out, "No state of this cluster could hold it: it must request fewer or smaller members.");
        return;
    }
    say(out, "No state of this cluster could hold it: ");
    if (taints > 0)
        say(out, "%u node(s) had untolerated taint", taints);
    if (labels > 0)
        say(out, "%s%u node(s) didn't match Pod's node affinity/selector", taints > 0 ? ", " : "", labels);
    if (taints + labels < cluster->node_count)
        say(out, "; the other %u do not hold what it requests", cluster->node_count - taints - labels);
    say(out, ".");
}

/* For a job that does not need all its sets. */
static void say_sets(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    const struct request_class *request_class = &sched->request_classes.at[job->request_class];
    const struct gang_view view = {.groups = request_class->groups,
                                   .sets = request_class->set_count > 0 ? request_class->sets : NULL,
                                   .held = job->held_more != NULL ? job->held_more : &job->held_one,
                                   .group_count = request_class->group_count,
                                   .set_count = request_class->set_count,
                                   .min_sets = request_class->min_sets};
    const uint32_t sets = request_class->set_count > 0
                              ? sets_in(request_class->sets, request_class->set_count, SET_NONE)
                              : request_class->group_count;
    if (request_class->min_sets == 0 || request_class->min_sets >= sets)
        return;
    const uint32_t satisfied = gang_satisfied(&view);
    say(out, " It needs %u of its %u groups of members; %u %s all that %s.", request_class->min_sets, sets, satisfied,
        satisfied == 1 ? "has" : "have", satisfied == 1 ? "it needs" : "they need");
}

/* For a job that was evicted last because it filled a gap. */
static void say_gap(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    const struct job_facts *facts = &sched->jobs.facts[job - sched->jobs.jobs];
    if (out->code != REASON_SCHEDULING && job->evictions > 0 && facts->displaced_reason == REASON_GAP)
        say(out, " It filled a gap, and was evicted when job %u could start, which the gap was kept for.",
            facts->displaced_by);
}

void explain_write(const struct sched *sched, const struct sched_job *job, struct explanation *out)
{
    const struct request_class *ask = &sched->request_classes.at[job->ask];
    out->text[0] = '\0';
    switch (out->code) {
    case REASON_HELD:
    case REASON_DEPENDENCY:
    case REASON_ARRAY_LIMIT:
        say_held(sched, job, out);
        return;
    case REASON_RESERVED:
        say_reserved(sched, job, out);
        return;
    case REASON_IDLE:
        say(out, "It was evicted because it left its GPUs idle, and rests before it waits for them again.");
        return;
    case REASON_CONFIGURING:
        say(out, "Its start is decided and takes effect by itself.");
        return;
    case REASON_NEVER_FITS:
        say_never(sched->cluster, out);
        return;
    case REASON_GANG_ON_SLICES:
        say(out, "Its members must run together, and between pieces of GPUs there is no NVLink: they "
                 "must ask whole GPUs, or be jobs of their own.");
        return;
    case REASON_DEPENDENCY_NEVER:
        say(out, "A job it depends on ended otherwise than asked: it is refused.");
        return;
    case REASON_SCHEDULING:
        say(out, "No cycle has looked at it yet. ");
        break;
    case REASON_QUOTA_LIMIT:
        say_limit(sched, out);
        if (!out->fits_now)
            say(out, " Then: ");
        break;
    case REASON_PRIORITY:
        say_turn(out);
        say(out, " ");
        break;
    case REASON_HEADROOM:
        say_headroom(sched, job, out);
        if (out->fits_now)
            return;
        say(out, " ");
        break;
    case REASON_RESERVED_FOR_OTHER:
        if (ask->closed & REQUEST_CLASS_PROMISED)
            say(out, "It would be in the way of jobs that wait for space in front of it; one that ends "
                     "before theirs comes may go. ");
        else
            say(out, "Reservations hold what it would need. ");
        break;
    default:
        break;
    }
    if (!out->fits_now)
        say_space(sched, ask, out);
    else if (out->code != REASON_QUOTA_LIMIT && !(ask->closed & REQUEST_CLASS_PROMISED))
        say_fit(out);
    say_sets(sched, job, out);
    say_gap(sched, job, out);
}
