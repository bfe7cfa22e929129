/* The mechanisms of the scheduler, in the order in which each hears of an event; see policies/state/observer.h.
 *
 * To add a mechanism, write its observer in a folder of its own and add its row.  The second column names the rows that
 * must stand above it. */
#include "policies/cycle/observers.h"

#include <string.h>

#include "base/mem.h"
#include "policies/state/sched_state.h"

#define OBSERVERS(ROW)                                                                                                 \
    ROW(plugins, "") /* ranks, estimates and lengths read their states */                                              \
    ROW(warm_nodes, "")                                                                                                \
    ROW(typical, "")                                                                                                   \
    ROW(run_times, "plugins")                                                                                          \
    ROW(accounts, "plugins")                                                                                           \
    ROW(gang_traffic, "")                                                                                              \
    ROW(preemption_bound, "")                                                                                          \
    ROW(candidates, "")                                                                                                \
    ROW(victim_lists, "candidates")                                                                                    \
    ROW(eviction, "candidates victim_lists")                                                                           \
    ROW(preemption_cost, "eviction candidates")                                                                        \
    ROW(retry_queues, "eviction") /* eviction says which of them are used */                                           \
    ROW(over_quota, "retry_queues")                                                                                    \
    ROW(reservation, "run_times eviction")                                                                             \
    ROW(running_ends, "reservation run_times") /* planned ends read the estimates */                                   \
    ROW(fillers, "running_ends")               /* it forgets a filler after its planned end */                         \
    ROW(repartitions, "reservation")           /* its cuts may not delay planned starts */                             \
    ROW(hoarders, "repartitions eviction")     /* it takes space where no other action found any */

#define DECLARE(mechanism, above) extern const struct observer mechanism##_observer;
OBSERVERS(DECLARE)

#define ROW(mechanism, above) {&mechanism##_observer, #mechanism, above},
const struct observer_row observer_rows[] = {OBSERVERS(ROW)};
const uint32_t observer_row_count = sizeof observer_rows / sizeof *observer_rows;

#define PLACES(event) {offsetof(struct observer, event), offsetof(struct observers, event)},
static const struct {
    size_t hook, list;
} events[] = {OBSERVER_EVENTS(PLACES)};

enum { EVENT_COUNT = sizeof events / sizeof *events };

static bool has_hook(const struct observer *observer, size_t offset)
{
    void (*hook)(void);
    memcpy(&hook, (const char *)observer + offset, sizeof hook);
    return hook != NULL;
}

/* List those of the `count` active observers that have the hook; the lists lie one behind the other.  Returns where the
 * next list begins. */
static struct active_observer *list(const struct active_observer *active, uint32_t count, size_t hook,
                                    struct active_observer *at, const struct active_observer **first)
{
    for (uint32_t a = 0; a < count; a++) {
        if (!has_hook(active[a].hooks, hook))
            continue;
        *at = active[a];
        *first = at;
        first = &at++->next;
    }
    return at;
}

void observers_init(struct sched *sched)
{
    struct active_observer *active = mem_zalloc((EVENT_COUNT + 1) * (size_t)observer_row_count, sizeof *active);
    uint32_t count = 0;
    sched->observers.memory = active;
    for (uint32_t r = 0; r < observer_row_count; r++) {
        active[count] = (struct active_observer){.hooks = observer_rows[r].observer};
        active[count].own = active[count].hooks->init(sched);
        count += active[count].own != NULL;
    }
    struct active_observer *at = &active[count];
    for (uint32_t e = 0; e < EVENT_COUNT; e++) {
        char *first = (char *)&sched->observers + events[e].list;
        at = list(active, count, events[e].hook, at, (const struct active_observer **)(void *)first);
    }
}

void observers_release(struct sched *sched)
{
    OBSERVERS_TELL(sched, release);
    mem_free(sched->observers.memory);
}
