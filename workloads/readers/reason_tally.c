#include "workloads/readers/reason_tally.h"

#include <stdio.h>
#include <string.h>

static void add(struct reason_tally *tally, const char *why, uint64_t count)
{
    uint32_t i = 0;
    while (i < tally->reason_count && strncmp(tally->reasons[i].why, why, REASON_BYTES - 1) != 0)
        i++;
    tally->count += count;
    if (i == REASONS_MAX)
        return;
    if (i == tally->reason_count)
        snprintf(tally->reasons[tally->reason_count++].why, REASON_BYTES, "%s", why);
    tally->reasons[i].count += count;
}

void reason_tally_add(struct reason_tally *tally, const char *why)
{
    add(tally, why, 1);
}

void reason_tally_join(struct reason_tally *tally, const struct reason_tally *other)
{
    uint64_t named = 0;
    for (uint32_t i = 0; i < other->reason_count; i++) {
        add(tally, other->reasons[i].why, other->reasons[i].count);
        named += other->reasons[i].count;
    }
    tally->count += other->count - named;
}

void reason_tally_show(const struct reason_tally *tally, const char *label, struct buffer *out)
{
    for (uint32_t i = 0; i < tally->reason_count; i++)
        buffer_format(out, "%-12s %llu: %s\n", i == 0 ? label : "", (unsigned long long)tally->reasons[i].count,
                      tally->reasons[i].why);
}

void reason_tally_json(const struct reason_tally *tally, struct buffer *out)
{
    buffer_char(out, '{');
    for (uint32_t i = 0; i < tally->reason_count; i++) {
        buffer_string(out, i > 0 ? ", " : "");
        buffer_json(out, text_of(tally->reasons[i].why));
        buffer_format(out, ": %llu", (unsigned long long)tally->reasons[i].count);
    }
    buffer_char(out, '}');
}
