#include "workloads/readers/sacct_attempt.h"

#include <string.h>

#include "workloads/job_truth.h"
#include "workloads/request/ask.h"

/* Where the unit at the end of the value stands in `units`; NULL: it has none. */
static const char *unit_of(struct text value, const char *units)
{
    const char last = value.length > 0 ? value.at[value.length - 1] : '0';
    return last >= '0' && last <= '9' ? NULL : memchr(units, last, strlen(units));
}

/* "2000M" in MiB, rounded up; a plain number is in MiB. */
static bool memory_of(struct text value, int64_t *mib)
{
    static const char units[] = "KMGTP";
    const char *unit = unit_of(value, units);
    int64_t kib, scale = INT64_C(1) << 10;
    if (unit != NULL) {
        value.length--;
        scale = INT64_C(1) << (10 * (unit - units));
    }
    if (!text_to_scaled(value, 1000, &kib) || __builtin_mul_overflow(kib, scale, &kib) || kib < 0)
        return false;
    *mib = (kib / 1000 + 1023) >> 10;
    return true;
}

/* A number with an optional unit of 1024, as sacct writes without --noconvert. */
static bool count_of(struct text value, int64_t *count)
{
    static const char units[] = "KMG";
    const char *unit = unit_of(value, units);
    int64_t milli;
    if (unit != NULL)
        value.length--;
    if (!text_to_scaled(value, 1000, &milli) || milli < 0 || milli > INT64_MAX >> 32)
        return false;
    *count = (unit != NULL ? milli << (10 * (unit - units + 1)) : milli) / 1000;
    return true;
}

static bool starts(struct text text, const char *start)
{
    size_t length = strlen(start);
    return text.length >= length && memcmp(text.at, start, length) == 0;
}

struct error sacct_tres_read(const struct line *line, const struct field *field, struct sacct_attempt *attempt)
{
    struct text rest = field->value, item, value;
    int64_t untyped = -1, typed = -1, count = 0;
    if (!field_is_set(field))
        return ERROR_OK;
    while (text_cut(&rest, ',', &item)) {
        bool is_good = true;
        value = item;
        struct text name;
        if (!text_cut(&value, '=', &name) || value.at == NULL)
            return field_error(line, field, "a list such as cpu=2,gres/gpu=16,mem=2000M,node=2");
        if (text_is(name, "gres/gpu"))
            is_good = count_of(value, &untyped);
        else if (starts(name, "gres/gpu:")) {
            is_good = count_of(value, &count);
            typed = (typed > 0 ? typed : 0) + count;
        } else if (text_is(name, "cpu")) {
            is_good = count_of(value, &count);
            attempt->cpu_milli = count * 1000;
        } else if (text_is(name, "node"))
            is_good = count_of(value, &attempt->nodes);
        else if (text_is(name, "mem"))
            is_good = memory_of(value, &attempt->memory_mib);
        if (!is_good)
            return field_error(line, field, "a list such as cpu=2,gres/gpu=16,mem=2000M,node=2");
    }
    if (untyped >= 0 || typed >= 0)
        attempt->gpus = untyped >= 0 ? untyped : typed;
    if (attempt->gpus > ASK_GPUS_MAX || attempt->nodes > CLUSTER_NODES_MAX)
        return field_error(line, field, "at most a million GPUs");
    return ERROR_OK;
}

#define WORD(literal)                                                                                                  \
    {                                                                                                                  \
        (literal), sizeof(literal) - 1                                                                                 \
    }

/* The words of slurm.h, in full; CANCELLED may be followed by the user. */
bool sacct_state_read(struct text state, struct sacct_attempt *attempt)
{
    static const struct {
        struct text word;
        enum job_outcome outcome;
        bool may_go_on;
    } states[] = {
        {WORD("COMPLETED"), OUTCOME_COMPLETED, false},  {WORD("FAILED"), OUTCOME_FAILED, false},
        {WORD("CANCELLED"), OUTCOME_CANCELLED, false},  {WORD("TIMEOUT"), OUTCOME_FAILED, false},
        {WORD("OUT_OF_MEMORY"), OUTCOME_FAILED, false}, {WORD("DEADLINE"), OUTCOME_FAILED, false},
        {WORD("NODE_FAIL"), OUTCOME_FAILED, true},      {WORD("BOOT_FAIL"), OUTCOME_FAILED, true},
        {WORD("PREEMPTED"), OUTCOME_FAILED, true},      {WORD("REQUEUED"), OUTCOME_FAILED, true},
        {WORD("REVOKED"), OUTCOME_CANCELLED, false},    {WORD("PENDING"), OUTCOME_CANCELLED, false},
        {WORD("RUNNING"), OUTCOME_CANCELLED, false},    {WORD("SUSPENDED"), OUTCOME_CANCELLED, false},
        {WORD("RESIZING"), OUTCOME_CANCELLED, false},   {WORD("COMPLETING"), OUTCOME_CANCELLED, false},
    };
    struct text rest = state, word = state;
    text_cut(&rest, ' ', &word);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (!text_equal(word, states[i].word))
            continue;
        attempt->outcome = (uint8_t)states[i].outcome;
        attempt->may_go_on = states[i].may_go_on;
        attempt->is_requeued = text_is(word, "REQUEUED");
        return true;
    }
    return false;
}
