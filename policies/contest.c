#include "policies/contest.h"

#include "policies/quota/quota.h"

void contest_waiting(struct queue_tree *tree, queue_id queue, int32_t delta)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = tree->queues[q].parent) {
        tree->queues[q].waiting += (uint32_t)delta;
        tree->queues[q].is_winner_stale = true;
    }
}

static int64_t ask_of(const struct pending *pending, uint32_t lane)
{
    return pending->shapes->shapes[pending->lanes[lane].shape].charge[QUEUE_SUM_GPU];
}

static uint32_t waiting_children(const struct queue_tree *tree, queue_id queue, queue_id *first)
{
    uint32_t count = 0;
    for (queue_id c = tree->queues[queue].first_child; c != QUEUE_NONE;
         c = tree->queues[c].next_sibling)
        if (tree->queues[c].waiting > 0 && count++ == 0)
            *first = c;
    return count;
}

static uint32_t winner_of(struct queue_tree *tree, const struct pending *pending, queue_id queue);

static uint32_t hold_contest(struct queue_tree *tree, const struct pending *pending, queue_id queue)
{
    queue_id child = QUEUE_NONE;
    uint32_t count = waiting_children(tree, queue, &child);
    if (count == 0)
        return LANE_NONE;
    if (count == 1)
        return winner_of(tree, pending, child);
    queue_tree_share(tree, child); /* divide now: it may make winners below stale */
    struct contender best = {QUEUE_NONE, 0};
    uint32_t best_lane = LANE_NONE;
    for (; child != QUEUE_NONE; child = tree->queues[child].next_sibling) {
        uint32_t lane = winner_of(tree, pending, child);
        if (lane == LANE_NONE)
            continue;
        struct contender contender = {child, ask_of(pending, lane)};
        if (best_lane == LANE_NONE || tree->quota->compare(tree, contender, best) < 0) {
            best = contender;
            best_lane = lane;
        }
    }
    return best_lane;
}

static uint32_t winner_of(struct queue_tree *tree, const struct pending *pending, queue_id queue)
{
    if (tree->queues[queue].waiting == 0)
        return LANE_NONE;
    if (tree->queues[queue].is_winner_stale) {
        uint32_t lane = pending_next(pending, queue);
        if (lane == LANE_NONE)
            lane = hold_contest(tree, pending, queue);
        tree->queues[queue].winner = lane;
        tree->queues[queue].is_winner_stale = false;
    }
    return tree->queues[queue].winner;
}

uint32_t contest_next(struct queue_tree *tree, const struct pending *pending)
{
    if (pending->job_count == 0)
        return LANE_NONE;
    if (tree->quota->is_flat)
        return pending_next(pending, QUEUE_ROOT);
    return winner_of(tree, pending, QUEUE_ROOT);
}
