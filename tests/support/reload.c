#include "tests/support/reload.h"
#include "policies/policy_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct buffer reload_bytes(const struct sched *sched)
{
    struct buffer bytes = {0};
    struct error error = sched_save(sched, &bytes);
    assert_false(error_is(error));
    return bytes;
}

bool reload_is_same(const struct buffer *a, const struct buffer *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

struct sched *reload(struct sched *sched, const struct cluster *cluster, const struct queue_table *queues,
                     const struct policy_config *policy)
{
    struct error error;
    struct policy_config copy = *policy;
    struct buffer before = reload_bytes(sched);
    const uint64_t hash = sched_hash(sched);
    sched_free(sched);
    struct sched *loaded = sched_load(cluster, queues, &copy, (struct text){before.bytes, before.length}, &error);
    if (loaded == NULL)
        fail_msg("%s", error_message(&error));
    memset(&copy, 0xa5, sizeof copy);
    struct buffer after = reload_bytes(loaded);
    assert_true(reload_is_same(&before, &after));
    memset(before.bytes, 0xa5, before.length);
    const char *broken = sched_check(loaded);
    if (broken != NULL)
        fail_msg("loaded: %s", broken);
    assert_true(hash == sched_hash(loaded));
    buffer_release(&before);
    buffer_release(&after);
    return loaded;
}
