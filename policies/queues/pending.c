#include "policies/queues/pending.h"

#include <assert.h>

#include "policies/util/archive.h"

enum { ARITY = 4 };

void pending_release(struct pending *pending)
{
    for (uint32_t i = 0; i < pending->lane_count; i++)
        mem_free(pending->lanes[i].heap);
    for (uint32_t i = 0; i < pending->line_count; i++) {
        mem_free(pending->lines[i].lanes);
        mem_free(pending->lines[i].borrowers);
    }
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        mem_free(pending->by_class[c]);
    mem_free(pending->lanes);
    mem_free(pending->memos);
    mem_free(pending->changed);
    mem_free(pending->busy);
    mem_free(pending->lines);
    *pending = (struct pending){0};
}

void pending_lines(struct pending *pending, uint32_t count)
{
    if (count > pending->line_capacity)
        MEM_GROW(pending->lines, pending->line_capacity, count);
    pending->line_count = count;
}

/* As long as nobody reads it. */
static void split_as_first(const struct pending *pending, struct lane *lane)
{
    lane->split = pending->keeps_headroom ? HAND_HEADROOM : HAND_NONE;
    lane->instead = pending->keeps_headroom ? HAND_RESOURCES : HAND_NONE;
    lane->is_offset |= pending->keeps_headroom;
}

static uint32_t add_lane(struct pending *pending, queue_id line_id, uint32_t shape_id)
{
    MEM_GROW(pending->lanes, pending->lane_capacity, pending->lane_count + 1);
    MEM_GROW(pending->memos, pending->memo_capacity, pending->lane_count + 1);
    uint32_t id = pending->lane_count++;
    struct line *line = &pending->lines[line_id];
    struct shape *shape = &pending->shapes->shapes[shape_id];
    pending->lanes[id] = (struct lane){.line = line_id,
                                       .shape = shape_id,
                                       .class = shape->class,
                                       .line_position = line->lane_count,
                                       .quota_block = QUEUE_NONE};
    split_as_first(pending, &pending->lanes[id]);
    for (int k = 0; k < PLAN_KINDS_MAX; k++)
        pending->memos[id][k] = (struct plan_memo){.ripe_at = TIME_NEVER};
    MEM_GROW(line->lanes, line->capacity, line->lane_count + 1);
    line->lanes[line->lane_count++] = (struct line_lane){id, shape_id, ASKER_COUNT};
    MEM_GROW(shape->lanes, shape->lane_capacity, shape->lane_count + 1);
    shape->lanes[shape->lane_count++] = id;
    pending->class_shapes[shape->class] |= shape_bit(shape_id);
    return id;
}

uint32_t pending_lane(struct pending *pending, queue_id line_id, uint32_t shape_id)
{
    const struct line *line = &pending->lines[line_id];
    const struct shape *shape = &pending->shapes->shapes[shape_id];
    if (line->lane_count <= shape->lane_count) { /* look through the shorter list */
        for (uint32_t i = 0; i < line->lane_count; i++)
            if (line->lanes[i].shape == shape_id)
                return line->lanes[i].lane;
    } else {
        for (uint32_t i = 0; i < shape->lane_count; i++)
            if (pending->lanes[shape->lanes[i]].line == line_id)
                return shape->lanes[i];
    }
    return add_lane(pending, line_id, shape_id);
}

int pending_compare(const struct pending *pending, uint32_t a, uint32_t b)
{
    const struct sched_job *x = &pending->jobs->jobs[a], *y = &pending->jobs->jobs[b];
    for (uint32_t r = 0; r < pending->rank_count; r++)
        if (x->rank[r] != y->rank[r])
            return x->rank[r] < y->rank[r] ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool goes_before(const struct pending *pending, struct lane_entry a, struct lane_entry b)
{
    if (a.rank != b.rank)
        return a.rank < b.rank;
    return pending_compare(pending, a.slot, b.slot) < 0;
}

/* Returns where it stands then. */
static uint32_t sift_up(const struct pending *pending, struct lane *lane, uint32_t at)
{
    struct lane_entry entry = lane->heap[at];
    while (at > 0) {
        uint32_t up = (at - 1) / ARITY;
        if (!goes_before(pending, entry, lane->heap[up]))
            break;
        lane->heap[at] = lane->heap[up];
        at = up;
    }
    lane->heap[at] = entry;
    return at;
}

static void sift_down(const struct pending *pending, struct lane *lane, uint32_t at)
{
    struct lane_entry entry = lane->heap[at];
    while (true) {
        uint32_t first = at * ARITY + 1, best = at;
        struct lane_entry best_entry = entry;
        for (uint32_t child = first; child < first + ARITY && child < lane->count; child++)
            if (goes_before(pending, lane->heap[child], best_entry)) {
                best = child;
                best_entry = lane->heap[child];
            }
        if (best == at)
            break;
        lane->heap[at] = best_entry;
        at = best;
    }
    lane->heap[at] = entry;
}

static void set_busy(struct pending *pending, uint32_t lane_id)
{
    struct lane *lane = &pending->lanes[lane_id];
    const uint8_t class = lane->class;
    if (pending->busy_count == pending->busy_capacity)
        MEM_GROW(pending->busy, pending->busy_capacity, (size_t)pending->busy_count + 1);
    lane->busy_position = pending->busy_count;
    pending->busy[pending->busy_count++] = lane_id;
    if (pending->by_class_count[class] == pending->by_class_capacity[class])
        MEM_GROW(pending->by_class[class], pending->by_class_capacity[class],
                 (size_t)pending->by_class_count[class] + 1);
    lane->class_position = pending->by_class_count[class];
    pending->by_class[class][pending->by_class_count[class]++] = lane_id;
}

static void set_idle(struct pending *pending, uint32_t lane_id)
{
    const struct lane *lane = &pending->lanes[lane_id];
    const uint8_t class = lane->class;
    uint32_t last = pending->busy[--pending->busy_count];
    pending->busy[lane->busy_position] = last;
    pending->lanes[last].busy_position = lane->busy_position;
    last = pending->by_class[class][--pending->by_class_count[class]];
    pending->by_class[class][lane->class_position] = last;
    pending->lanes[last].class_position = lane->class_position;
}

static enum asker asks_as(const struct lane *lane)
{
    if (lane->count == 0 || lane->quota_block != QUEUE_NONE)
        return ASKER_COUNT;
    return lane->is_borrower ? ASKER_BORROWER : ASKER_OWNER;
}

/* The lane may ask as somebody else now: count it so in its line. */
static void recount(struct pending *pending, struct lane *lane)
{
    struct line *line = &pending->lines[lane->line];
    struct line_lane *entry = &line->lanes[lane->line_position];
    const enum asker before = (enum asker)entry->asks_as, now = asks_as(lane);
    const uint32_t bit = lane->shape % SHAPE_SET_BITS;
    if (now == before)
        return;
    entry->asks_as = now;
    if (before != ASKER_COUNT && --line->asking[before][bit] == 0)
        line->asked[before] &= ~shape_bit(lane->shape);
    if (now != ASKER_COUNT && line->asking[now][bit]++ == 0)
        line->asked[now] |= shape_bit(lane->shape);
    if (line->is_changed)
        return;
    line->is_changed = true;
    if (pending->changed_count == pending->changed_capacity)
        MEM_GROW(pending->changed, pending->changed_capacity, (size_t)pending->changed_count + 1);
    pending->changed[pending->changed_count++] = lane->line;
}

/* What a lane that reads like that would show with no offset. */
static void read_clock(const struct pending *pending, const struct lane *lane, time_ns now,
                       time_ns reading[HAND_COUNT])
{
    const struct wait_clock *clock = &pending->shapes->shapes[lane->shape].clock;
    if (lane->quota_block != QUEUE_NONE) {
        for (int hand = 0; hand < HAND_COUNT; hand++)
            reading[hand] = 0;
        reading[HAND_LIMIT] = now;
        return;
    }
    for (int hand = 0; hand < HAND_COUNT; hand++)
        reading[hand] = clock->ns[hand];
    if (clock->hand != HAND_NONE)
        reading[clock->hand] += now - clock->since;
    if (lane->is_borrower)
        reading[HAND_HEADROOM] += reading[HAND_LIMIT];
    reading[HAND_LIMIT] = 0;
}

static void read_front(const struct pending *pending, const struct lane *lane, time_ns now,
                       time_ns reading[HAND_COUNT])
{
    read_clock(pending, lane, now, reading);
    for (int hand = 0; hand < HAND_COUNT; hand++)
        reading[hand] += lane->offset[hand];
}

/* `span` goes from one hand to another, either of which may be none. */
static void move_span(time_ns reading[HAND_COUNT], uint8_t from, uint8_t to, time_ns span)
{
    if (from != HAND_NONE)
        reading[from] -= span;
    if (to != HAND_NONE)
        reading[to] += span;
}

void pending_clock(const struct pending *pending, uint32_t lane_id, bool is_front, time_ns now,
                   time_ns reading[HAND_COUNT])
{
    const struct lane *lane = &pending->lanes[lane_id];
    read_front(pending, lane, now, reading);
    if (is_front)
        return;
    if (lane->split != HAND_NONE)
        move_span(reading, lane->split, lane->instead, reading[lane->split]);
    for (int hand = 0; hand < HAND_COUNT; hand++)
        reading[hand] += lane->moved[hand];
}

const time_ns *pending_clock_now(struct pending *pending, uint32_t lane_id, bool is_front,
                                 time_ns scratch[HAND_COUNT])
{
    const struct lane *lane = &pending->lanes[lane_id];
    struct wait_clock *clock = &pending->shapes->shapes[lane->shape].clock;
    wait_clock_set(clock, (enum clock_hand)clock->hand, pending->shapes->now);
    if (!lane->is_offset && clock->ns[HAND_LIMIT] == 0)
        return clock->ns; /* the same, as it is */
    pending_clock(pending, lane_id, is_front, pending->shapes->now, scratch);
    return scratch;
}

enum clock_hand pending_hand(const struct pending *pending, uint32_t lane_id, bool is_front)
{
    const struct lane *lane = &pending->lanes[lane_id];
    const uint8_t shape_hand = pending->shapes->shapes[lane->shape].clock.hand;
    if (lane->quota_block != QUEUE_NONE)
        return HAND_LIMIT;
    const uint8_t hand = shape_hand != HAND_LIMIT ? shape_hand
                         : lane->is_borrower      ? HAND_HEADROOM
                                                  : HAND_NONE;
    return hand == lane->split && !is_front ? (enum clock_hand)lane->instead
                                            : (enum clock_hand)hand;
}

void pending_split(struct pending *pending, uint32_t lane_id, enum clock_hand split,
                   enum clock_hand instead)
{
    struct lane *lane = &pending->lanes[lane_id];
    time_ns front[HAND_COUNT];
    if (lane->split == split && lane->instead == instead)
        return;
    read_front(pending, lane, pending->shapes->now, front);
    if (lane->split != HAND_NONE)
        move_span(lane->moved, lane->split, lane->instead, front[lane->split]);
    if (split != HAND_NONE)
        move_span(lane->moved, (uint8_t)instead, (uint8_t)split, front[split]);
    lane->split = (uint8_t)split;
    lane->instead = (uint8_t)instead;
    lane->is_offset = true;
}

/* A limit closes it, or lets it go: its clock goes on from where it is. */
static void turn(struct pending *pending, struct lane *lane, queue_id quota_block)
{
    const time_ns now = pending->shapes->now;
    time_ns before[HAND_COUNT], after[HAND_COUNT];
    if (lane->count > 0)
        read_clock(pending, lane, now, before);
    lane->quota_block = quota_block;
    lane->is_offset = true;
    if (lane->count == 0)
        return; /* nobody has read it */
    read_clock(pending, lane, now, after);
    for (int hand = 0; hand < HAND_COUNT; hand++)
        lane->offset[hand] += before[hand] - after[hand];
}

/* The same of a lane that turns from an owner's to a borrower's, or back: only one hand reads otherwise. */
static void turn_asker(struct pending *pending, struct lane *lane, bool is_borrower)
{
    const struct wait_clock *clock = &pending->shapes->shapes[lane->shape].clock;
    if (lane->is_borrower == is_borrower)
        return;
    if (lane->quota_block == QUEUE_NONE) {
        time_ns owners = clock->ns[HAND_LIMIT];
        if (clock->hand == HAND_LIMIT)
            owners += pending->shapes->now - clock->since;
        lane->offset[HAND_HEADROOM] += is_borrower ? -owners : owners;
    }
    lane->is_offset = true;
    lane->is_borrower = is_borrower;
}

void pending_set_borrower(struct pending *pending, uint32_t lane_id, bool is_borrower)
{
    struct lane *lane = &pending->lanes[lane_id];
    turn_asker(pending, lane, is_borrower);
    recount(pending, lane);
}

void pending_block(struct pending *pending, uint32_t lane_id, queue_id queue)
{
    struct lane *lane = &pending->lanes[lane_id];
    if ((lane->quota_block == QUEUE_NONE) == (queue == QUEUE_NONE))
        lane->quota_block = queue;
    else
        turn(pending, lane, queue);
    recount(pending, lane);
}

bool pending_add(struct pending *pending, uint32_t lane_id, uint32_t slot)
{
    struct lane *lane = &pending->lanes[lane_id];
    if (lane->count == 0)
        set_busy(pending, lane_id);
    if (lane->count == lane->capacity)
        MEM_GROW(lane->heap, lane->capacity, lane->count + 1);
    lane->heap[lane->count] = (struct lane_entry){pending->jobs->jobs[slot].rank[0], slot};
    bool is_head = sift_up(pending, lane, lane->count++) == 0;
    if (is_head)
        turn_asker(pending, lane, false);
    recount(pending, lane);
    pending->lines[lane->line].job_count++;
    pending->class_jobs[lane->class]++;
    pending->job_count++;
    return is_head;
}

static void remove_at(struct pending *pending, uint32_t lane_id, uint32_t at)
{
    struct lane *lane = &pending->lanes[lane_id];
    assert(at < lane->count);
    pending->lines[lane->line].job_count--;
    pending->class_jobs[lane->class]--;
    pending->job_count--;
    if (at == 0)
        turn_asker(pending, lane, false);
    if (--lane->count == 0) {
        set_idle(pending, lane_id);
        split_as_first(pending, lane);
    }
    recount(pending, lane);
    if (at == lane->count)
        return;
    lane->heap[at] = lane->heap[lane->count];
    sift_down(pending, lane, at);
    sift_up(pending, lane, at);
}

void pending_remove_head(struct pending *pending, uint32_t lane)
{
    remove_at(pending, lane, 0);
}

void pending_remove(struct pending *pending, uint32_t lane_id, uint32_t slot)
{
    const struct lane *lane = &pending->lanes[lane_id];
    for (uint32_t i = 0; i < lane->count; i++)
        if (lane->heap[i].slot == slot) {
            remove_at(pending, lane_id, i);
            return;
        }
    assert(false && "the job does not wait in this lane");
}

void pending_reorder(struct pending *pending)
{
    for (uint32_t l = 0; l < pending->lane_count; l++) {
        struct lane *lane = &pending->lanes[l];
        pending_set_borrower(pending, l, false);
        for (uint32_t i = 0; i < lane->count; i++)
            lane->heap[i].rank = pending->jobs->jobs[lane->heap[i].slot].rank[0];
        for (uint32_t i = lane->count / ARITY + 1; i-- > 0;)
            if (i < lane->count)
                sift_down(pending, lane, i);
    }
}

static uint32_t better(const struct pending *pending, uint32_t a, uint32_t b)
{
    return a == LANE_NONE ||
                   goes_before(pending, pending->lanes[b].heap[0], pending->lanes[a].heap[0])
               ? b
               : a;
}

static uint32_t first_busy(const struct pending *pending, queue_id line_id, bool only_open)
{
    uint32_t best = LANE_NONE;
    for (uint32_t i = 0; i < pending->busy_count; i++) {
        uint32_t id = pending->busy[i];
        if (pending->lanes[id].line == line_id && !(only_open && pending_is_closed(pending, id)))
            best = better(pending, best, id);
    }
    return best;
}

/* Looks through the shorter list: the lanes that have jobs, or those of the line. */
static inline uint32_t first_lane(const struct pending *pending, queue_id line_id, bool only_open)
{
    const struct line *line = &pending->lines[line_id];
    uint32_t best = LANE_NONE;
    if (line->job_count == 0)
        return LANE_NONE;
    if (line->lane_count > pending->busy_count)
        return first_busy(pending, line_id, only_open);
    for (uint32_t i = 0; i < line->lane_count; i++) {
        const struct line_lane *entry = &line->lanes[i];
        bool may_go = entry->asks_as != ASKER_COUNT &&
                      (pending->shapes->open[entry->asks_as] & shape_bit(entry->shape)) != 0;
        if (only_open ? may_go && !pending_is_closed(pending, entry->lane)
                      : pending->lanes[entry->lane].count > 0)
            best = better(pending, best, entry->lane);
    }
    return best;
}

uint32_t pending_first(const struct pending *pending, queue_id line)
{
    return first_lane(pending, line, false);
}

uint32_t pending_next(const struct pending *pending, queue_id line)
{
    if (!pending_may_go(pending, pending->lines[line].asked))
        return LANE_NONE;
    if (!pending->is_strict)
        return first_lane(pending, line, true);
    uint32_t best = first_lane(pending, line, false);
    return best != LANE_NONE && pending_is_closed(pending, best) ? LANE_NONE : best;
}

uint32_t pending_next_of_class(const struct pending *pending, uint8_t class)
{
    uint32_t best = LANE_NONE;
    if (pending->class_jobs[class] == 0 ||
        (pending->class_shapes[class] & pending->shapes->open[ASKER_OWNER]) == 0)
        return LANE_NONE;
    for (uint32_t i = 0; i < pending->by_class_count[class]; i++) {
        uint32_t id = pending->by_class[class][i];
        if (!pending_is_closed(pending, id))
            best = better(pending, best, id);
    }
    return best;
}

/* ---- saved and loaded ---- */

static void archive_lane(struct archive *archive, struct lane *lane)
{
    ARCHIVE_KNOWS(struct lane, 176);
    ARCHIVE_KNOWS(struct lane_entry, 16);
    ARCHIVE(archive, lane->line);
    ARCHIVE(archive, lane->shape);
    ARCHIVE_ROOM(archive, lane->heap, lane->capacity, lane->count);
    for (uint32_t i = 0; i < lane->count; i++) {
        ARCHIVE(archive, lane->heap[i].rank);
        ARCHIVE(archive, lane->heap[i].slot);
    }
    ARCHIVE(archive, lane->busy_position);
    ARCHIVE(archive, lane->class_position);
    ARCHIVE(archive, lane->line_position);
    ARCHIVE(archive, lane->quota_block);
    ARCHIVE(archive, lane->owed_by);
    ARCHIVE(archive, lane->is_borrower);
    ARCHIVE(archive, lane->class);
    ARCHIVE(archive, lane->is_kept_from);
    ARCHIVE(archive, lane->is_offset);
    ARCHIVE(archive, lane->offset);
    ARCHIVE(archive, lane->split);
    ARCHIVE(archive, lane->instead);
    ARCHIVE(archive, lane->front_count);
    ARCHIVE(archive, lane->moved);
    archive_expect(archive, lane->split <= HAND_NONE && lane->instead <= HAND_NONE);
}

static void archive_memo(struct archive *archive, struct plan_memo *memo)
{
    ARCHIVE_KNOWS(struct plan_memo, 72);
    ARCHIVE(archive, memo->failed);
    ARCHIVE(archive, memo->sleep);
    ARCHIVE(archive, memo->state);
    ARCHIVE(archive, memo->awaits_worth);
    ARCHIVE(archive, memo->awaits_start);
    ARCHIVE(archive, memo->is_dozing);
    ARCHIVE(archive, memo->dozes_until);
    ARCHIVE(archive, memo->starts_seen);
    ARCHIVE(archive, memo->tried_cycle);
    ARCHIVE(archive, memo->retry_change);
    ARCHIVE(archive, memo->nobody_for);
    ARCHIVE(archive, memo->nobody_version);
    ARCHIVE(archive, memo->nobody_until);
    ARCHIVE(archive, memo->ripe_at);
}

static void archive_line(struct archive *archive, struct line *line)
{
    ARCHIVE_KNOWS(struct line, 592);
    ARCHIVE_KNOWS(struct line_lane, 3 * 4);
    ARCHIVE(archive, line->asked);
    ARCHIVE_ARRAY(archive, line->lanes, line->capacity, line->lane_count);
    ARCHIVE(archive, line->job_count);
    ARCHIVE_ARRAY(archive, line->borrowers, line->borrower_capacity, line->borrower_count);
    ARCHIVE(archive, line->borrower_bound);
    ARCHIVE(archive, line->borrower_least_milli);
    ARCHIVE(archive, line->is_changed);
    ARCHIVE(archive, line->asking);
}

void pending_archive(struct archive *archive, struct pending *pending)
{
    ARCHIVE_KNOWS(struct pending, 240);
    ARCHIVE_ROOM(archive, pending->lanes, pending->lane_capacity, pending->lane_count);
    ARCHIVE_ROOM(archive, pending->memos, pending->memo_capacity, pending->lane_count);
    for (uint32_t l = 0; l < pending->lane_count; l++) {
        archive_lane(archive, &pending->lanes[l]);
        for (int k = 0; k < PLAN_KINDS_MAX; k++)
            archive_memo(archive, &pending->memos[l][k]);
    }
    ARCHIVE_ARRAY(archive, pending->busy, pending->busy_capacity, pending->busy_count);
    ARCHIVE_ROOM(archive, pending->lines, pending->line_capacity, pending->line_count);
    for (uint32_t q = 0; q < pending->line_count; q++)
        archive_line(archive, &pending->lines[q]);
    ARCHIVE_ARRAY(archive, pending->changed, pending->changed_capacity, pending->changed_count);
    ARCHIVE(archive, pending->job_count);
    for (int c = 0; c < JOB_CLASS_COUNT; c++)
        ARCHIVE_ARRAY(archive, pending->by_class[c], pending->by_class_capacity[c],
                      pending->by_class_count[c]);
    ARCHIVE(archive, pending->class_jobs);
    ARCHIVE(archive, pending->class_shapes);
}
