/* sim/cases/case_books.c -- see sim/cases/case_books.h. */
#include "sim/cases/case_books.h"

#include <assert.h>
#include <string.h>

#include "sim/job/closeness.h"

void case_books_init(struct case_books *books, const struct case_spec *spec)
{
    *books =
        (struct case_books){.spec = spec,
                            .entries = mem_zalloc(spec->job_count, sizeof *books->entries),
                            .gpu_milli = mem_zalloc((size_t)spec->cluster->gpu_count + 1, sizeof *books->gpu_milli)};
    for (job_id id = 0; id < spec->job_count; id++) {
        struct case_entry *entry = &books->entries[id];
        entry->job = &spec->jobs[id];
        MEM_GROW(entry->held, entry->held_capacity, entry->job->piece_count + 1u);
        for (uint32_t i = 0; i < entry->job->piece_count; i++)
            entry->held[entry->held_count++] = (struct case_held){.piece = entry->job->pieces[i],
                                                                  .is_leaving = entry->job->is_leaving,
                                                                  .task = entry->job->piece_tasks[i]};
        entry->evicted = mem_zalloc(entry->job->job.group_count, sizeof *entry->evicted);
        entry->evicted_tasks = mem_zalloc(entry->job->piece_count + 1u, sizeof(uint32_t));
    }
}

void case_books_release(struct case_books *books)
{
    for (job_id id = 0; id < books->spec->job_count; id++) {
        mem_free(books->entries[id].held);
        mem_free(books->entries[id].reserved);
        mem_free(books->entries[id].evicted);
        mem_free(books->entries[id].evicted_tasks);
    }
    mem_free(books->entries);
    mem_free(books->places);
    mem_free(books->reserved_places);
    mem_free(books->gpu_milli);
    *books = (struct case_books){0};
}

/* ---- Decisions ---- */

static void hold(struct case_entry *entry, struct case_held held)
{
    MEM_GROW(entry->held, entry->held_capacity, entry->held_count + 1u);
    entry->held[entry->held_count++] = held;
}

static uint32_t members_held(const struct case_entry *entry, uint32_t group)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < entry->held_count; i++)
        if (!entry->held[i].is_leaving && entry->held[i].piece.group == group)
            members += entry->held[i].piece.member_count;
    return members;
}

/* Are the slices in their domains, and the members in their islands? */
static const char *check_closeness(const struct cluster *cluster, const struct case_entry *entry)
{
    const struct job *job = &entry->job->job;
    const char *complaint = NULL;
    uint32_t count = 0;
    if (!closeness_is_asked(job))
        return NULL;
    struct piece *pieces = mem_zalloc(entry->held_count + 1u, sizeof *pieces);
    for (uint32_t i = 0; i < entry->held_count; i++)
        if (!entry->held[i].is_leaving && entry->held[i].piece.member_count > 0)
            pieces[count++] = entry->held[i].piece;
    for (uint32_t g = 0; g < job->group_count && complaint == NULL; g++)
        complaint = closeness_complaint(cluster, job_group(job, g), g, pieces, count);
    mem_free(pieces);
    return complaint;
}

static const char *start(const struct cluster *cluster, struct case_entry *entry, const struct decision *decision)
{
    const struct job *job = &entry->job->job;
    for (uint32_t i = 0; i < decision->piece_count; i++)
        hold(entry, (struct case_held){.piece = decision->pieces[i], .task = CASE_NONE});
    entry->reserved_count = 0;
    entry->evicted_by = REASON_NONE;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (members_held(entry, g) > job_group(job, g)->count)
            return "more tasks were started than the job has";
    return decision->piece_count > 0 ? check_closeness(cluster, entry) : "a start names no place";
}

/* The number of members of `held` that the piece means; *mask: their GPUs. */
static uint32_t overlap(const struct piece *held, const struct piece *piece, uint32_t wanted, uint16_t *mask)
{
    *mask = held->gpu_mask & piece->gpu_mask;
    if (held->node != piece->node || held->group != piece->group || held->member_count == 0)
        return 0;
    if (held->gpu_mask == 0 || held->gpu_milli < GPU_MILLI) {
        bool is_same = held->gpu_mask == piece->gpu_mask && held->gpu_milli == piece->gpu_milli &&
                       held->mig_start == piece->mig_start && held->share == piece->share;
        return !is_same ? 0 : wanted < held->member_count ? wanted : held->member_count;
    }
    uint32_t gpus_each = (uint32_t)__builtin_popcount(held->gpu_mask) / held->member_count;
    return gpus_each > 0 ? (uint32_t)__builtin_popcount(*mask) / gpus_each : 0;
}

/* Add the task to the ascending list, once, even if it has several members. */
static void note_evicted(struct case_entry *entry, uint32_t task)
{
    uint32_t *tasks = entry->evicted_tasks, at = entry->evicted_task_count;
    if (task == CASE_NONE)
        return;
    while (at > 0 && tasks[at - 1] > task)
        at--;
    if (at > 0 && tasks[at - 1] == task)
        return;
    memmove(&tasks[at + 1], &tasks[at], (entry->evicted_task_count - at) * sizeof *tasks);
    tasks[at] = task;
    entry->evicted_task_count++;
}

/* Members of the piece begin to leave; false: the entry does not hold them. */
static bool leave(struct case_entry *entry, const struct piece *piece, decision_id decision)
{
    uint32_t wanted = piece->member_count, count = entry->held_count;
    for (uint32_t i = 0; i < count && wanted > 0; i++) {
        struct case_held *held = &entry->held[i];
        uint16_t mask;
        uint32_t members = held->is_leaving ? 0 : overlap(&held->piece, piece, wanted, &mask);
        if (members == 0)
            continue;
        struct case_held leaving = {.piece = held->piece, .is_leaving = true, .task = held->task, .decision = decision};
        note_evicted(entry, held->task);
        leaving.piece.gpu_mask = mask;
        leaving.piece.member_count = (uint16_t)members;
        held->piece.member_count = (uint16_t)(held->piece.member_count - members);
        if (held->piece.gpu_milli == GPU_MILLI)
            held->piece.gpu_mask &= (uint16_t)~mask;
        wanted -= members < wanted ? members : wanted;
        entry->evicted[held->piece.group] += members;
        hold(entry, leaving);
    }
    return wanted == 0;
}

static const char *evict(struct case_entry *entry, const struct decision *decision)
{
    entry->evicted_by = decision->reason;
    if (decision->piece_count == 0) {
        uint32_t count = entry->held_count;
        for (uint32_t i = 0; i < count; i++) {
            struct piece piece = entry->held[i].piece;
            if (!entry->held[i].is_leaving && !leave(entry, &piece, decision->id))
                return "an eviction takes what the job does not hold";
        }
    }
    for (uint32_t i = 0; i < decision->piece_count; i++)
        if (!leave(entry, &decision->pieces[i], decision->id))
            return "an eviction takes what the job does not hold";
    return NULL;
}

static void reserve(struct case_entry *entry, const struct decision *decision)
{
    MEM_GROW(entry->reserved, entry->reserved_capacity, decision->piece_count + 1u);
    if (decision->piece_count > 0)
        memcpy(entry->reserved, decision->pieces, decision->piece_count * sizeof *decision->pieces);
    entry->reserved_count = decision->piece_count;
}

const char *case_books_decision(struct case_books *books, const struct decision *decision)
{
    if (decision->job >= books->spec->job_count)
        return "a decision names a job that is not there";
    struct case_entry *entry = &books->entries[decision->job];
    switch (decision->kind) {
    case DECISION_START:
        return start(books->spec->cluster, entry, decision);
    case DECISION_EVICT:
        return evict(entry, decision);
    case DECISION_RESERVE:
        reserve(entry, decision);
        return NULL;
    case DECISION_REPARTITION: /* the world does it before the next round */
    case DECISION_NOTIFY:
        return NULL;
    case DECISION_RELEASE:
        entry->reserved_count = 0;
        return NULL;
    case DECISION_REJECT:
        entry->rejected_by = decision->reason;
        return entry->held_count == 0 ? NULL : "a job that holds GPUs was rejected";
    }
    return "a decision of an unknown kind";
}

void case_books_left(struct case_books *books, job_id job, decision_id decision)
{
    struct case_entry *entry = &books->entries[job];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < entry->held_count; i++) {
        struct case_held *held = &entry->held[i];
        bool is_left = held->is_leaving && held->decision == decision;
        if (!is_left && held->piece.member_count > 0)
            entry->held[kept++] = *held;
    }
    entry->held_count = kept;
    entry->is_gone = entry->job->is_leaving;
}

const char *case_books_check(struct case_books *books)
{
    const struct cluster *cluster = books->spec->cluster;
    memset(books->gpu_milli, 0, cluster->gpu_count * sizeof *books->gpu_milli);
    for (job_id id = 0; id < books->spec->job_count; id++)
        for (uint32_t i = 0; i < books->entries[id].held_count; i++) {
            const struct piece *piece = &books->entries[id].held[i].piece;
            bool is_share = piece->gpu_milli < GPU_MILLI;
            for (uint32_t gpu = 0; gpu < NODE_GPUS_MAX && piece->member_count > 0; gpu++) {
                if (!(piece->gpu_mask >> gpu & 1))
                    continue;
                if (gpu >= cluster_node_gpus(cluster, piece->node))
                    return "a task stands on a GPU that its node does not have";
                uint32_t *milli = &books->gpu_milli[cluster->nodes[piece->node].first_gpu + gpu];
                *milli += piece->gpu_milli * (is_share ? piece->member_count : 1u);
                if (*milli > GPU_MILLI)
                    return "a GPU was given twice";
            }
        }
    return NULL;
}

/* ---- States ---- */

/* Each node stands in the list once. */
static void add_place(struct case_place **places, size_t *capacity, uint32_t *count, const struct piece *piece)
{
    for (uint32_t i = 0; i < *count; i++)
        if ((*places)[i].node == piece->node) {
            (*places)[i].gpu_mask |= piece->gpu_mask;
            return;
        }
    MEM_GROW(*places, *capacity, *count + 1u);
    (*places)[(*count)++] = (struct case_place){piece->node, piece->gpu_mask};
}

static void add_held(struct case_books *books, struct case_state *state, const struct case_entry *entry,
                     bool are_leaving)
{
    for (uint32_t i = 0; i < entry->held_count; i++)
        if (entry->held[i].is_leaving == are_leaving && entry->held[i].piece.member_count > 0)
            add_place(&books->places, &books->place_capacity, &state->place_count, &entry->held[i].piece);
}

static bool has_minimum(const struct case_entry *entry, int64_t running)
{
    const struct job *job = &entry->job->job;
    bool satisfied[JOB_SETS_MAX];
    for (uint32_t s = 0; s < job->set_count; s++) {
        uint32_t members = 0;
        for (uint32_t g = 0; g < job->group_count; g++)
            members += job_group(job, g)->set == s ? members_held(entry, g) : 0;
        satisfied[s] = members >= job->sets[s].min_members;
    }
    if (job->set_count > 0 && !sets_settle(job->sets, job->set_count, job->min_sets, satisfied))
        return false;
    return running >= (int64_t)entry->job->min_members && running > 0;
}

static const struct case_entry *leaving_part(const struct case_books *books, job_id job)
{
    for (job_id id = 0; id < books->spec->job_count; id++)
        if (books->spec->jobs[id].part_of == job)
            return &books->entries[id];
    return &books->entries[job];
}

/* The number of tasks, if members[g] members of each group g are there. */
static int64_t tasks_of(const struct case_job *job, const int64_t members[])
{
    int64_t tasks = 0;
    for (uint32_t g = 0; g < job->job.group_count; g++)
        tasks += job->task_members[g] == 0 ? 0 : members[g] / job->task_members[g];
    return tasks;
}

struct case_state case_books_state(struct case_books *books, job_id job)
{
    const struct case_entry *entry = &books->entries[job], *part = leaving_part(books, job);
    int64_t running[JOB_GROUPS_MAX] = {0}, reserved[JOB_GROUPS_MAX] = {0}, members = 0;
    struct case_state state = {.evicted = tasks_of(entry->job, entry->evicted),
                               .evicted_by = entry->evicted_by,
                               .evicted_tasks = entry->evicted_tasks,
                               .evicted_task_count = entry->evicted_task_count};
    for (uint32_t i = 0; i < entry->held_count; i++) {
        const struct piece *piece = &entry->held[i].piece;
        int64_t gpus = piece->gpu_milli < GPU_MILLI ? piece->member_count : __builtin_popcount(piece->gpu_mask);
        if (entry->held[i].is_leaving || piece->member_count == 0)
            continue;
        running[piece->group] += piece->member_count;
        members += piece->member_count;
        state.gpu_milli += piece->gpu_mask != 0 ? gpus * piece->gpu_milli : 0;
    }
    for (uint32_t i = 0; i < entry->reserved_count; i++) {
        reserved[entry->reserved[i].group] += entry->reserved[i].member_count;
        add_place(&books->reserved_places, &books->reserved_place_capacity, &state.reserved_place_count,
                  &entry->reserved[i]);
    }
    state.running = tasks_of(entry->job, running);
    state.reserved = tasks_of(entry->job, reserved);
    state.reserved_places = books->reserved_places;
    add_held(books, &state, entry, false);
    bool is_leaving = false;
    for (uint32_t i = 0; i < entry->held_count; i++)
        is_leaving = is_leaving || entry->held[i].is_leaving;
    is_leaving = is_leaving || (part->job->is_leaving && !part->is_gone) || entry->is_gone;
    state.status = has_minimum(entry, members) ? CASE_RUNNING : is_leaving ? CASE_RELEASING : CASE_PENDING;
    if (state.place_count == 0) {
        add_held(books, &state, entry, true);
        if (part != entry)
            add_held(books, &state, part, true);
    }
    bool is_nowhere = state.place_count == 0;
    for (uint32_t i = 0; is_nowhere && i < entry->reserved_count; i++)
        add_place(&books->places, &books->place_capacity, &state.place_count, &entry->reserved[i]);
    state.places = books->places;
    return state;
}
