/* policies/state/observer.h: the table declares the order of calls, and a scheduler lists only the observers that it
 * needs. */
#include "tests/support/test.h"

#include <string.h>

#include "policies/config/presets.h"
#include "policies/cycle/observers.h"
#include "policies/state/sched_state.h"
#include "tests/support/sched_case.h"

static uint32_t row_of(const struct observer *observer)
{
    uint32_t r = 0;
    while (r < observer_row_count && observer_rows[r].observer != observer)
        r++;
    assert_in_range(r, 0, observer_row_count - 1);
    return r;
}

static bool stands_above(const char *name, size_t length, uint32_t row)
{
    for (uint32_t r = 0; r < row; r++)
        if (strlen(observer_rows[r].name) == length && memcmp(observer_rows[r].name, name, length) == 0)
            return true;
    return false;
}

TEST(each_row_stands_below_those_that_it_names)
{
    for (uint32_t r = 0; r < observer_row_count; r++) {
        assert_false(stands_above(observer_rows[r].name, strlen(observer_rows[r].name), r));
        for (const char *name = observer_rows[r].after; *name != 0;) {
            const size_t length = strcspn(name, " ");
            if (!stands_above(name, length, r))
                fail_msg("'%.*s' does not stand above '%s'", (int)length, name, observer_rows[r].name);
            name += length + strspn(name + length, " ");
        }
    }
}

/* Count the observers in the list of that hook by row; each has the hook, and they stand in the order of the table. */
#define COUNT_LIST(observers, event)                                                                                   \
    do {                                                                                                               \
        uint32_t next = 0;                                                                                             \
        for (const struct active_observer *each = (observers)->event; each != NULL; each = each->next) {               \
            const uint32_t row = row_of(each->hooks);                                                                  \
            assert_true(each->hooks->event != NULL && each->own != NULL && row >= next);                               \
            next = row + 1;                                                                                            \
            listed[row]++;                                                                                             \
        }                                                                                                              \
    } while (false);
#define LISTED(event) COUNT_LIST(&c->sched->observers, event)
#define HOOK(event)   hooks += observer_rows[r].observer->event != NULL;

/* Each observer is in the lists of all its hooks, or in none.  Fills is_active by row. */
static void check_lists(const struct sched_case *c, bool is_active[])
{
    uint32_t listed[64] = {0};
    assert_true(observer_row_count <= 64);
    OBSERVER_EVENTS(LISTED)
    for (uint32_t r = 0; r < observer_row_count; r++) {
        uint32_t hooks = 0;
        OBSERVER_EVENTS(HOOK)
        if (listed[r] != 0 && listed[r] != hooks)
            fail_msg("'%s' hears of %u of its %u events", observer_rows[r].name, listed[r], hooks);
        is_active[r] = listed[r] > 0;
    }
}

static void open_case(struct sched_case *c, const char *policy)
{
    struct queue_table *queues = queue_table_new();
    queue_table_add(queues, TEXT("team"), QUEUE_ROOT);
    sched_case_open(c, cluster_uniform_new(2, 4), queues, policy);
}

TEST(lists_of_presets_hold_what_they_need_in_the_order_of_the_table)
{
    bool is_ever[64] = {false};
    for (const struct embedded_text *preset = policy_preset_texts; preset->name != NULL; preset++) {
        struct sched_case c;
        bool is_active[64];
        open_case(&c, preset->text);
        check_lists(&c, is_active);
        for (uint32_t r = 0; r < observer_row_count; r++)
            is_ever[r] |= is_active[r];
        sched_case_close(&c);
    }
    uint32_t active = 0;
    for (uint32_t r = 0; r < observer_row_count; r++)
        active += is_ever[r];
    assert_in_range(active, observer_row_count / 2, observer_row_count);
}

TEST(what_is_not_configured_hears_of_nothing)
{
    struct sched_case c;
    bool is_active[64];
    open_case(&c, "{'order': ['fifo'], 'preemption': {'policy': 'none'}}");
    check_lists(&c, is_active);
    for (uint32_t r = 0; r < observer_row_count; r++)
        if (is_active[r] && strcmp(observer_rows[r].name, "eviction") != 0 &&
            strcmp(observer_rows[r].name, "reservation") != 0)
            fail_msg("'%s' is active", observer_rows[r].name);
    assert_null(c.sched->observers.enrolled);
    assert_null(c.sched->observers.started);
    assert_null(c.sched->observers.settled);
    assert_null(c.sched->observers.forgotten);
    sched_case_close(&c);
}
