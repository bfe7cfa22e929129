/* Rules of tags on the members that the ledger counts; see policies/ledger/ledger_tags.h. */
#include "policies/ledger/ledger_tags.h"

#include "policies/ledger/ledger_inside.h"

static bool has_tag(const struct job_tags *tags, uint32_t tag)
{
    for (uint32_t t = 0; t < tags->tag_count; t++)
        if (tags->tags[t] == tag)
            return true;
    return false;
}

static bool is_met(const struct ledger *ledger, const struct job_tags *tags, const struct tag_rule *rule, node_id node)
{
    const uint32_t place = ledger_tags_place(ledger, rule->level, node);
    const struct tag_count here = ledger_tags_at(ledger, rule->tag, place);
    if (rule->is_apart)
        return here.present == 0;
    return here.stay > 0 || (!rule->is_preferred && has_tag(tags, rule->tag) &&
                             ledger_tags_at(ledger, rule->tag, ledger->tags->everywhere).stay == 0);
}

/* Does a member near the node refuse one of the tags? */
static bool is_refused(const struct ledger *ledger, const struct job_tags *tags, node_id node)
{
    for (uint32_t t = 0; t < tags->tag_count; t++) {
        if (ledger_tags_at(ledger, tags->tags[t], ledger->tags->everywhere).refuse == 0)
            continue;
        for (uint32_t level = 0; level <= ledger->cluster->level_count; level++)
            if (ledger_tags_at(ledger, tags->tags[t], ledger_tags_place(ledger, level, node)).refuse > 0)
                return true;
    }
    return false;
}

/* How many preferred rules are met on the node; TAGS_SHUT: a required rule shuts it. */
static uint8_t look_at(const struct ledger *ledger, const struct job_tags *tags, node_id node)
{
    uint8_t met = 0;
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        const bool holds = is_met(ledger, tags, &tags->rules[r], node);
        if (!holds && !tags->rules[r].is_preferred)
            return TAGS_SHUT;
        met = (uint8_t)(met + (holds && tags->rules[r].is_preferred));
    }
    return is_refused(ledger, tags, node) ? TAGS_SHUT : met;
}

bool ledger_tags_admit(const struct ledger *ledger, const struct job_tags *tags, node_id node)
{
    return ledger->tags == NULL || tags == NULL || look_at(ledger, tags, node) != TAGS_SHUT;
}

bool ledger_tags_bind(const struct ledger *ledger, const struct job_tags *tags)
{
    if (tags == NULL || ledger->tags == NULL)
        return false;
    bool binds = tags->rule_count > 0;
    for (uint32_t t = 0; t < tags->tag_count && !binds; t++)
        binds = ledger_tags_at(ledger, tags->tags[t], ledger->tags->everywhere).refuse > 0;
    return binds;
}

/* In a trial, take the job's own members out of the counts. */
static void leave_out(struct ledger *ledger, struct own_spaces own)
{
    for (uint32_t s = 0; s < own.stay_count + own.passing_count; s++) {
        const int64_t members = own.spaces[s].member_count;
        ledger_tags_add(ledger, &own.spaces[s], s < own.stay_count ? -members : 0, -members);
    }
}

struct tag_matches ledger_tags_match(struct ledger *ledger, const struct job_tags *tags, struct own_spaces own)
{
    struct tag_matches matches = {0};
    const size_t mark = ledger_mark(ledger);
    const bool was_touched = ledger->tags->is_touched;
    leave_out(ledger, own);
    for (node_id n = 0; n < ledger->cluster->node_count; n++) {
        const uint8_t met = look_at(ledger, tags, n);
        ledger->tags->met[n] = met;
        if (met == TAGS_SHUT) {
            matches.shut_count++;
            continue;
        }
        matches.count_of[met]++;
        matches.preferred_max = met > matches.preferred_max ? met : matches.preferred_max;
    }
    ledger_rollback(ledger, mark);
    ledger->tags->is_touched = was_touched;
    return matches;
}

const uint8_t *ledger_tags_shut(struct ledger *ledger, uint32_t preferred_min)
{
    struct ledger_tags *tags = ledger->tags;
    for (node_id n = 0; n < ledger->cluster->node_count; n++)
        tags->shut[n] = tags->met[n] == TAGS_SHUT || tags->met[n] < preferred_min;
    return tags->shut;
}

void ledger_send_off(struct ledger *ledger, const struct space *space)
{
    ledger_give(ledger, space);
    if (ledger->tags != NULL && space->tags != NULL)
        ledger_tags_add(ledger, space, 0, space->member_count);
}

void ledger_call_back(struct ledger *ledger, const struct space *space)
{
    if (ledger->tags != NULL && space->tags != NULL)
        ledger_tags_add(ledger, space, 0, -(int64_t)space->member_count);
    ledger_take(ledger, space);
}
