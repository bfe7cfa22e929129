/* credits.  A queue may later use what it left idle of its own amount.
 *
 * Idea: while a queue holds fewer GPUs than it deserves, the difference is banked, up to credit_cap times what it
 * deserves.  While it holds more than it deserves and has open credit, the excess is paid from the credit.  Then the
 * excess counts as its own: the queue goes before borrowers, takes back from them, and its jobs are not reclaimed.
 * Beyond its credit a queue may still borrow what is idle, up to its limit, at no cost; it goes last, and other queues
 * may take it back.
 *   Opening: credit may be spent once share_period times what the queue deserves is banked (or credit_cap times, if
 * that is less), and then until it is used up.  So a queue near its own amount does not change its rank every second.
 * Credit given at the start is open at once, and kept in full even above the cap.
 *   Order: first a queue that stays within its own amount with the job, then one that spends credit, then one that
 * borrows; then the smaller part of its own amount held; then the older.
 *   Reclaim: a job within its queue's own amount takes from queues that hold more than theirs without open credit,
 * tested before the unit is taken.  A job on credit takes only what leaves them their own amount.
 *   Levels: a queue, leaf or inner, has an account if it deserves a finite amount of its own.  An inner queue that
 * deserves 0 is judged by its children's sum, and has credit if a queue below has.
 * Source: the token bucket (Turner, "New directions in communications", IEEE Communications Magazine 24(10), 1986),
 * with idle guarantee as the tokens; compare the banked service units of allocation-based HPC sites.
 * Reads: credit_cap, share_period, firm_needs_quota; of queues deserved, limit, credit.  GPUs only; a job without
 * GPUs takes nothing back.
 * Cost: O(queues) a cycle, O(depth) a test, O(1) a comparison (O(queues below) for inner queues that deserve 0).
 * Known failure: credit promises more than there is.  If all queues spend at once, the order decides, and queues within
 * their own amount go first.  If deserved amounts sum to less than the cluster, queues bank credit although no queue
 * lacks anything.
 */
#include "policies/quota/credits.h"

#include "policies/quota/amounts.h"
#include "policies/quota/quota_config.h"
#include "policies/quota/quotas.h"
#include "topologies/queue_fields.h"

static struct credit_account *account_of(const struct queue_tree *tree, queue_id queue)
{
    return queue_tree_own(tree, queue);
}

static int64_t own_amount(const struct queue_tree *tree, queue_id queue)
{
    return amount_deserved(tree, queue, RESOURCE_GPU);
}

static bool has_account(const struct queue_tree *tree, queue_id queue)
{
    int64_t said = queue_tree_spec(tree, queue)->deserved[RESOURCE_GPU];
    return said != QUOTA_UNLIMITED && (said != 0 || tree->queues[queue].first_child == QUEUE_NONE);
}

/* cap_of: the most that is banked.  opening_of: the balance at which the credit opens. */
static __int128 cap_of(const struct queue_tree *tree, queue_id queue)
{
    return (__int128)own_amount(tree, queue) * tree->config->credit_cap;
}

static __int128 opening_of(const struct queue_tree *tree, queue_id queue)
{
    __int128 step = (__int128)own_amount(tree, queue) * tree->config->share_period;
    __int128 cap = cap_of(tree, queue);
    return step == 0 || cap == 0 ? 1 : step < cap ? step : cap;
}

/* The GPU milli by which the queue holds less than its own amount. */
static int64_t rate_of(const struct queue_tree *tree, queue_id queue)
{
    return own_amount(tree, queue) - account_of(tree, queue)->held;
}

/* Integrate up to `now`: the queue has held account->held since the last time. */
static void integrate(const struct queue_tree *tree, queue_id queue, time_ns now)
{
    struct credit_account *account = account_of(tree, queue);
    __int128 flow = (__int128)rate_of(tree, queue) * (now - account->since);
    __int128 room = cap_of(tree, queue) - account->balance;
    if (flow > 0 && room > 0) {
        flow = flow < room ? flow : room;
        account->banked += flow;
        account->balance += flow;
    } else if (flow < 0 && account->is_open) {
        flow = -flow < account->balance ? -flow : account->balance;
        account->spent += flow;
        account->balance -= flow;
    }
    account->since = now;
    if (account->balance == 0)
        account->is_open = false;
    else if (account->balance >= opening_of(tree, queue))
        account->is_open = true;
}

/* When the credit will be used up, or large enough to open, if nothing changes. */
static time_ns find_turn(const struct queue_tree *tree, queue_id queue)
{
    const struct credit_account *account = account_of(tree, queue);
    int64_t rate = rate_of(tree, queue);
    __int128 opening = opening_of(tree, queue), distance;
    if (account->is_open && rate < 0)
        distance = account->balance;
    else if (!account->is_open && rate > 0 && cap_of(tree, queue) >= opening)
        distance = opening - account->balance;
    else
        return TIME_NEVER;
    int64_t speed = rate < 0 ? -rate : rate;
    __int128 steps = (distance + speed - 1) / speed;
    return steps < TIME_NEVER - account->since ? account->since + (time_ns)steps : TIME_NEVER;
}

static void open_account(struct queue_tree *tree, queue_id queue, time_ns now)
{
    __int128 start = (__int128)queue_tree_spec(tree, queue)->credit_gpu_ns * GPU_MILLI;
    *account_of(tree, queue) = (struct credit_account){.balance = start,
                                                       .start = start,
                                                       .since = now,
                                                       .held = queue_tree_charged(tree, queue, RESOURCE_GPU),
                                                       .is_open = start > 0};
}

/* Update the account.  True: its credit opened or ran out.  The present charge has held since the last advance, at
 * tree->now. */
static bool advance_account(struct queue_tree *tree, queue_id queue, time_ns now)
{
    struct credit_account *account = account_of(tree, queue);
    int64_t held = queue_tree_charged(tree, queue, RESOURCE_GPU);
    if (held == account->held && now < account->turns_at && account->version == tree->version)
        return false;
    bool was_open = account->is_open;
    if (account->version == 0)
        open_account(tree, queue, now);
    if (account->since < tree->now)
        integrate(tree, queue, tree->now);
    account->held = held;
    integrate(tree, queue, now);
    account->version = tree->version;
    account->turns_at = find_turn(tree, queue);
    return account->is_open != was_open;
}

static bool advance(struct queue_tree *tree, time_ns now, time_ns *next)
{
    bool has_turned = false;
    *next = TIME_NEVER;
    for (queue_id q = QUEUE_ROOT + 1; q < tree->count; q++) {
        if (!has_account(tree, q))
            continue;
        has_turned |= advance_account(tree, q, now);
        time_ns turns_at = account_of(tree, q)->turns_at;
        *next = turns_at < *next ? turns_at : *next;
    }
    return has_turned;
}

/* Has the queue open credit?  If it has no account: has some queue below? */
static bool has_credit(const struct queue_tree *tree, queue_id queue)
{
    if (has_account(tree, queue))
        return account_of(tree, queue)->is_open;
    for (EACH_CHILD(tree, queue, c))
        if (has_credit(tree, c))
            return true;
    return false;
}

/* The right by which a queue holds its GPUs: its own amount, credit, or none. */
enum right { RIGHT_OWN, RIGHT_CREDIT, RIGHT_NONE };

static enum right right_of(const struct queue_tree *tree, struct contender contender)
{
    int64_t held = queue_tree_charged(tree, contender.queue, RESOURCE_GPU);
    if (held + contender.ask[RESOURCE_GPU] <= own_amount(tree, contender.queue))
        return RIGHT_OWN;
    return has_credit(tree, contender.queue) ? RIGHT_CREDIT : RIGHT_NONE;
}

static struct ratio fill(const struct queue_tree *tree, struct contender contender)
{
    int64_t held = queue_tree_charged(tree, contender.queue, RESOURCE_GPU);
    return (struct ratio){held + contender.ask[RESOURCE_GPU], own_amount(tree, contender.queue)};
}

static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    enum right right_a = right_of(tree, a), right_b = right_of(tree, b);
    if (right_a != right_b)
        return right_a < right_b ? -1 : 1;
    int order = ratio_compare(fill(tree, a), fill(tree, b));
    return order != 0 ? order : queue_tree_compare_age(tree, a.queue, b.queue);
}

/* The weakest right of the queues from `leaf` to `top`, with `more` GPU milli.  A queue without an account may use the
 * credit of a queue below that spends. */
static enum right right_up_to(const struct queue_tree *tree, queue_id leaf, queue_id top, int64_t more)
{
    enum right right = RIGHT_OWN;
    for (queue_id q = leaf;; q = tree->queues[q].parent) {
        if (queue_tree_charged(tree, q, RESOURCE_GPU) + more > own_amount(tree, q)) {
            if (has_account(tree, q) ? !has_credit(tree, q) : right != RIGHT_CREDIT)
                return RIGHT_NONE;
            right = RIGHT_CREDIT;
        }
        if (q == top)
            return right;
    }
}

static bool may_reclaim(struct queue_tree *tree, queue_id leaf, const int64_t ask[QUEUE_SUM_COUNT])
{
    return ask[RESOURCE_GPU] > 0 && right_up_to(tree, leaf, leaf, ask[RESOURCE_GPU]) != RIGHT_NONE;
}

static bool may_take(struct queue_tree *tree, const struct taking *taking)
{
    queue_id preemptor_top, victim_top;
    int64_t unit = taking->victim_unit[RESOURCE_GPU];
    if (!amount_is_disputed(taking, RESOURCE_GPU) ||
        !amount_levels(tree, taking->preemptor, taking->victim, &preemptor_top, &victim_top))
        return false;
    enum right right = right_up_to(tree, taking->preemptor, preemptor_top, taking->preemptor_ask[RESOURCE_GPU]);
    if (right == RIGHT_NONE)
        return false;
    for (queue_id q = taking->victim;; q = tree->queues[q].parent) {
        int64_t over = queue_tree_charged(tree, q, RESOURCE_GPU) - own_amount(tree, q);
        if (over <= 0 || (right == RIGHT_CREDIT && over < unit) ||
            (has_account(tree, q) && account_of(tree, q)->is_open))
            return false;
        if (q == victim_top)
            return true;
    }
}

/* Does some queue from `leaf` to `top` hold less than its own amount? */
static bool is_short(const struct queue_tree *tree, queue_id leaf, queue_id top)
{
    for (queue_id q = leaf;; q = tree->queues[q].parent) {
        if (queue_tree_charged(tree, q, RESOURCE_GPU) < own_amount(tree, q))
            return true;
        if (q == top)
            return false;
    }
}

static bool is_valid(struct queue_tree *tree, queue_id preemptor, const int64_t ask[QUEUE_SUM_COUNT],
                     const queue_id *touched, uint32_t touched_count)
{
    (void)ask;
    for (uint32_t i = 0; i < touched_count; i++) {
        queue_id mine, its;
        if (touched[i] == preemptor || !amount_levels(tree, preemptor, touched[i], &mine, &its))
            continue;
        enum right right = right_up_to(tree, preemptor, mine, 0);
        if (right == RIGHT_NONE || (right == RIGHT_CREDIT && is_short(tree, touched[i], its)))
            return false;
    }
    return true;
}

static void describe(struct queue_tree *tree, queue_id queue, struct queue_spec *spec)
{
    if (has_account(tree, queue) && account_of(tree, queue)->version != 0)
        spec->credit_gpu_ns = (int64_t)(account_of(tree, queue)->balance / GPU_MILLI);
}

const struct quota_policy quota_credits = {
    .name = "credits",
    .version = 1,
    .summary = "idle guarantee is banked and spent later; fair over time, until all spend at once",
    .reads_queue = QUEUE_READS(QUEUE_QUOTA) | QUEUE_READS(QUEUE_CREDIT) | QUEUE_READS(QUEUE_AGE),
    .state_size = sizeof(struct credit_account),
    .forbids = amount_forbids,
    .compare = compare,
    .may_reclaim = may_reclaim,
    .may_take = may_take,
    .is_valid = is_valid,
    .advance = advance,
    .describe = describe,
};
