#include "policies/queues/queue_selection.h"

#include "policies/quota/quota.h"

static void list_waiting(struct queue_tree *tree, queue_id queue)
{
    struct queue_waits *own = &tree->waits[queue];
    struct queue_waits *parent = &tree->waits[tree->queues[queue].parent];
    own->next = parent->first;
    own->previous = QUEUE_NONE;
    if (own->next != QUEUE_NONE)
        tree->waits[own->next].previous = queue;
    parent->first = queue;
}

static void unlist_waiting(struct queue_tree *tree, queue_id queue)
{
    const struct queue_waits *own = &tree->waits[queue];
    if (own->previous == QUEUE_NONE)
        tree->waits[tree->queues[queue].parent].first = own->next;
    else
        tree->waits[own->previous].next = own->next;
    if (own->next != QUEUE_NONE)
        tree->waits[own->next].previous = own->previous;
}

void queue_selection_waiting(struct queue_tree *tree, queue_id queue, int32_t delta)
{
    for (queue_id q = queue; q != QUEUE_NONE; q = tree->queues[q].parent) {
        struct queue_waits *waits = &tree->waits[q];
        bool did_wait = waits->jobs > 0;
        waits->jobs += (uint32_t)delta;
        tree->queues[q].has_winner = false;
        if (did_wait == (waits->jobs > 0) || q == QUEUE_ROOT)
            continue;
        if (did_wait)
            unlist_waiting(tree, q);
        else
            list_waiting(tree, q);
    }
}

/* The set `asked` of a queue changed from `before`; update that of its parent.  Classes that the queue asks no more may
 * still be asked by the parent's other children.  False: the parent's set has not changed. */
static bool sum_asked(struct queue_tree *tree, const struct pending *pending, queue_id queue, request_class_set before,
                      enum asker asker)
{
    const queue_id parent = tree->queues[queue].parent;
    const request_class_set now = tree->waits[queue].asked[asker];
    struct queue_waits *above = &tree->waits[parent];
    request_class_set lost = before & ~now & ~pending->leaf_queues[parent].asked[asker];
    for (queue_id c = above->first; c != QUEUE_NONE && lost != 0; c = tree->waits[c].next)
        lost &= ~tree->waits[c].asked[asker];
    const request_class_set sum = (above->asked[asker] | now) & ~lost;
    if (sum == above->asked[asker])
        return false;
    above->asked[asker] = sum;
    return true;
}

static void sum_leaf_queue(struct queue_tree *tree, const struct pending *pending, queue_id leaf_queue,
                           enum asker asker)
{
    request_class_set before = tree->waits[leaf_queue].asked[asker],
                      now = pending->leaf_queues[leaf_queue].asked[asker];
    for (queue_id c = tree->waits[leaf_queue].first; c != QUEUE_NONE; c = tree->waits[c].next)
        now |= tree->waits[c].asked[asker];
    tree->waits[leaf_queue].asked[asker] = now;
    for (queue_id q = leaf_queue; before != now && q != QUEUE_ROOT; q = tree->queues[q].parent) {
        request_class_set above = tree->waits[tree->queues[q].parent].asked[asker];
        if (!sum_asked(tree, pending, q, before, asker))
            return;
        before = above;
    }
}

static void sum_changed(struct queue_tree *tree, struct pending *pending)
{
    for (uint32_t i = 0; i < pending->changed_count; i++) {
        pending->leaf_queues[pending->changed[i]].is_changed = false;
        for (int a = 0; a < ASKER_COUNT; a++)
            sum_leaf_queue(tree, pending, pending->changed[i], (enum asker)a);
    }
    pending->changed_count = 0;
}

static const int64_t *ask_of(const struct pending *pending, uint32_t class_queue)
{
    return pending->request_classes->at[pending->class_queues[class_queue].request_class].charge;
}

/* The contender for `queue` with a job of a class queue in it or below. */
static inline struct contender contender_with(const struct queue_tree *tree, const struct pending *pending,
                                              queue_id queue, uint32_t class_queue, uint32_t slot)
{
    struct contender contender = {.queue = queue, .ask = ask_of(pending, class_queue)};
    if (tree->quota->lending.compares_jobs) {
        contender.leaf = pending->class_queues[class_queue].leaf_queue;
        contender.priority = pending->jobs->jobs[slot].priority;
        contender.submit = pending->jobs->facts[slot].submit;
    }
    return contender;
}

/* The contender for `queue` with the head of a class queue in it or below. */
static inline struct contender contender_of(const struct queue_tree *tree, const struct pending *pending,
                                            queue_id queue, uint32_t class_queue)
{
    return contender_with(tree, pending, queue, class_queue, pending_head(pending, class_queue));
}

static struct queue_winner find_winner(struct queue_tree *tree, const struct pending *pending, queue_id queue);

static inline struct queue_winner winner_of(struct queue_tree *tree, const struct pending *pending, queue_id queue)
{
    if (!pending_may_go(pending, tree->waits[queue].asked))
        return (struct queue_winner){.class_queue = CLASS_QUEUE_NONE};
    const struct queue_state *state = &tree->queues[queue];
    if (state->has_winner && state->winner.key == pending->request_classes->closed_key)
        return state->winner;
    return find_winner(tree, pending, queue);
}

/* Equal queues go in the order of their ids. */
static bool is_selected_first(struct queue_tree *tree, struct contender a, struct contender b)
{
    int order = tree->quota->compare(tree, a, b);
    return order != 0 ? order < 0 : a.queue < b.queue;
}

/* Find the first two children with a class queue that may start a job; QUEUE_NONE: there are fewer. */
static void find_contenders(struct queue_tree *tree, const struct pending *pending, queue_id queue, queue_id found[2])
{
    uint32_t count = 0;
    found[0] = found[1] = QUEUE_NONE;
    for (queue_id child = tree->waits[queue].first; child != QUEUE_NONE && count < 2; child = tree->waits[child].next)
        if (winner_of(tree, pending, child).class_queue != CLASS_QUEUE_NONE)
            found[count++] = child;
}

/* Find the winner below the queue.  Shares are divided only if two or more children compete, since only then the result
 * depends on them. */
static struct queue_winner hold_selection(struct queue_tree *tree, const struct pending *pending, queue_id queue)
{
    queue_id found[2];
    struct queue_winner winner = {.class_queue = CLASS_QUEUE_NONE};
    find_contenders(tree, pending, queue, found);
    if (found[0] == QUEUE_NONE)
        return winner;
    if (found[1] == QUEUE_NONE) {
        winner = winner_of(tree, pending, found[0]);
        if (!winner.is_selected_from)
            return winner;
    }
    queue_tree_divide(tree, found[0]); /* before the comparison: it may make winners below stale */
    struct contender best = {.queue = QUEUE_NONE};
    winner = (struct queue_winner){.class_queue = CLASS_QUEUE_NONE, .is_selected_from = true};
    for (queue_id child = found[0]; child != QUEUE_NONE; child = tree->waits[child].next) {
        uint32_t class_queue = winner_of(tree, pending, child).class_queue;
        if (class_queue == CLASS_QUEUE_NONE)
            continue;
        struct contender contender = contender_of(tree, pending, child, class_queue);
        if (winner.class_queue == CLASS_QUEUE_NONE || is_selected_first(tree, contender, best)) {
            best = contender;
            winner.class_queue = class_queue;
        }
    }
    return winner;
}

static struct queue_winner find_winner(struct queue_tree *tree, const struct pending *pending, queue_id queue)
{
    struct queue_winner winner = {.class_queue = pending_next(pending, queue)};
    if (winner.class_queue == CLASS_QUEUE_NONE)
        winner = hold_selection(tree, pending, queue);
    winner.key = pending->request_classes->closed_key;
    tree->queues[queue].winner = winner;
    tree->queues[queue].has_winner = true;
    return winner;
}

uint32_t queue_selection_next(struct queue_tree *tree, struct pending *pending)
{
    if (pending->job_count == 0)
        return CLASS_QUEUE_NONE;
    if (tree->quota->is_flat)
        return pending_next(pending, QUEUE_ROOT);
    sum_changed(tree, pending);
    return winner_of(tree, pending, QUEUE_ROOT).class_queue;
}

static uint32_t better_class_queue(const struct pending *pending, uint32_t a, uint32_t b)
{
    if (a == CLASS_QUEUE_NONE)
        return b;
    return pending_compare(pending, pending_head(pending, a), pending_head(pending, b)) <= 0 ? a : b;
}

/* The best of the given class queues in `queue` and below. */
static uint32_t best_below(struct queue_tree *tree, const struct pending *pending,
                           const struct queue_selection_mark marks[], queue_id queue)
{
    if (marks[queue].best != CLASS_QUEUE_NONE)
        return marks[queue].best; /* a job of an inner queue goes before those below it */
    struct contender best = {.queue = QUEUE_NONE};
    uint32_t best_class_queue = CLASS_QUEUE_NONE;
    for (queue_id c = marks[queue].first_child; c != QUEUE_NONE; c = marks[c].next_sibling) {
        uint32_t class_queue = best_below(tree, pending, marks, c);
        struct contender contender = contender_of(tree, pending, c, class_queue);
        if (best_class_queue == CLASS_QUEUE_NONE || is_selected_first(tree, contender, best)) {
            best = contender;
            best_class_queue = class_queue;
        }
    }
    return best_class_queue;
}

/* Mark the queue and all queues above it, and link each into its parent's list of marked children. */
static void mark_up(const struct queue_tree *tree, struct queue_selection_mark marks[], queue_id queue)
{
    queue_id child = QUEUE_NONE;
    for (queue_id q = queue; q != QUEUE_NONE; child = q, q = tree->queues[q].parent) {
        bool is_new = !marks[q].is_marked;
        if (is_new)
            marks[q] = (struct queue_selection_mark){true, CLASS_QUEUE_NONE, QUEUE_NONE, QUEUE_NONE};
        if (child != QUEUE_NONE) {
            marks[child].next_sibling = marks[q].first_child;
            marks[q].first_child = child;
        }
        if (!is_new)
            return;
    }
}

uint32_t queue_selection_best(struct queue_tree *tree, const struct pending *pending, const uint32_t class_queues[],
                              uint32_t count, struct queue_selection_scratch *scratch)
{
    uint32_t best = CLASS_QUEUE_NONE;
    if (tree->quota->is_flat || count <= 1) {
        for (uint32_t i = 0; i < count; i++)
            best = better_class_queue(pending, best, class_queues[i]);
        return best;
    }
    MEM_GROW(scratch->marks, scratch->capacity, tree->count);
    struct queue_selection_mark *marks = scratch->marks;
    for (uint32_t i = 0; i < count; i++) {
        queue_id leaf_queue = pending->class_queues[class_queues[i]].leaf_queue;
        if (!marks[leaf_queue].is_marked)
            mark_up(tree, marks, leaf_queue);
        marks[leaf_queue].best = better_class_queue(pending, marks[leaf_queue].best, class_queues[i]);
    }
    best = best_below(tree, pending, marks, QUEUE_ROOT);
    for (uint32_t i = 0; i < count; i++)
        for (queue_id q = pending->class_queues[class_queues[i]].leaf_queue; q != QUEUE_NONE && marks[q].is_marked;
             q = tree->queues[q].parent)
            marks[q].is_marked = false;
    return best;
}

void queue_selection_release(struct queue_selection_scratch *scratch)
{
    mem_free(scratch->marks);
    *scratch = (struct queue_selection_scratch){0};
}
