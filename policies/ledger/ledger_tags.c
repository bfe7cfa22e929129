/* Members counted by tag; see policies/ledger/ledger_tags.h.  What rules make of the counts:
 * policies/ledger/ledger_rules.c. */
#include "policies/ledger/ledger_tags.h"

#include <assert.h>

#include "base/hash.h"
#include "policies/ledger/ledger_inside.h"

enum { WHICH_STAY, WHICH_PRESENT, WHICH_REFUSE, WHICH_COUNT }; /* as in struct tag_count */

/* ---- places ---- */

void ledger_tags_use(struct ledger *ledger)
{
    const struct cluster *cluster = ledger->cluster;
    if (ledger->tags != NULL)
        return;
    struct ledger_tags *tags = mem_zalloc(1, sizeof *tags);
    uint32_t place = cluster->node_count;
    for (uint32_t l = 1; l <= cluster->level_count; l++) {
        tags->level_first[l] = place;
        place += cluster->levels[l - 1].domain_count;
    }
    tags->everywhere = place;
    tags->met = mem_zalloc(cluster->node_count, 1);
    tags->shut = mem_zalloc(cluster->node_count, 1);
    ledger->tags = tags;
}

void ledger_tags_free(struct ledger *ledger)
{
    struct ledger_tags *tags = ledger->tags;
    if (tags == NULL)
        return;
    for (uint32_t t = 0; t < tags->count; t++)
        mem_free(tags->tables[t].at);
    mem_free(tags->tables);
    mem_free(tags->met);
    mem_free(tags->shut);
    mem_free(tags);
    ledger->tags = NULL;
}

uint32_t ledger_tags_place(const struct ledger *ledger, uint32_t level, node_id node)
{
    if (level == 0)
        return node;
    if (level > ledger->cluster->level_count)
        return PLACE_NONE;
    const uint32_t domain = ledger->cluster->levels[level - 1].domain[node];
    return domain == DOMAIN_NONE ? PLACE_NONE : ledger->tags->level_first[level] + domain;
}

struct tag_count ledger_tags_at(const struct ledger *ledger, uint32_t tag, uint32_t place)
{
    const struct ledger_tags *tags = ledger->tags;
    if (tag >= tags->count || tags->tables[tag].at == NULL || place == PLACE_NONE)
        return (struct tag_count){0};
    return tags->tables[tag].at[place];
}

/* ---- counting ---- */

static struct tag_count *count_at(struct ledger_tags *tags, uint32_t tag, uint32_t place)
{
    if (tag >= tags->count) {
        MEM_GROW(tags->tables, tags->capacity, (size_t)tag + 1);
        while (tags->count <= tag)
            tags->tables[tags->count++] = (struct tag_table){NULL};
    }
    if (tags->tables[tag].at == NULL)
        tags->tables[tag].at = mem_zalloc((size_t)tags->everywhere + 1, sizeof(struct tag_count));
    return &tags->tables[tag].at[place];
}

static uint32_t *word_of(struct tag_count *count, uint32_t which)
{
    return which == WHICH_STAY ? &count->stay : which == WHICH_PRESENT ? &count->present : &count->refuse;
}

static void bump(struct ledger *ledger, uint32_t tag, uint32_t place, uint32_t which, int64_t by)
{
    if (by == 0 || place == PLACE_NONE)
        return;
    uint32_t *word = word_of(count_at(ledger->tags, tag, place), which);
    assert((int64_t)*word + by >= 0);
    log_word(ledger, TABLE_TAG, tag, place * WHICH_COUNT + which, *word);
    *word = (uint32_t)(*word + by);
}

void ledger_undo_tag(struct ledger *ledger, uint32_t tag, const struct ledger_entry *entry)
{
    *word_of(&ledger->tags->tables[tag].at[entry->word / WHICH_COUNT], entry->word % WHICH_COUNT) =
        (uint32_t)entry->old;
}

void ledger_tags_add(struct ledger *ledger, const struct space *space, int64_t stay, int64_t present)
{
    const struct job_tags *tags = space->tags;
    for (uint32_t t = 0; t < tags->tag_count; t++) {
        for (uint32_t level = 0; level <= ledger->cluster->level_count; level++) {
            const uint32_t place = ledger_tags_place(ledger, level, space->node);
            bump(ledger, tags->tags[t], place, WHICH_STAY, stay);
            bump(ledger, tags->tags[t], place, WHICH_PRESENT, present);
        }
        bump(ledger, tags->tags[t], ledger->tags->everywhere, WHICH_STAY, stay);
        bump(ledger, tags->tags[t], ledger->tags->everywhere, WHICH_PRESENT, present);
    }
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        const struct tag_rule *rule = &tags->rules[r];
        if (!rule->is_apart || rule->is_preferred)
            continue;
        bump(ledger, rule->tag, ledger_tags_place(ledger, rule->level, space->node), WHICH_REFUSE, present);
        bump(ledger, rule->tag, ledger->tags->everywhere, WHICH_REFUSE, present);
    }
    if (ledger->mark_depth == 0)
        ledger->tags->version++;
    else
        ledger->tags->is_touched = true;
}

void ledger_move_tags(struct ledger *ledger, const struct space *space, enum move move)
{
    const int64_t members = space->member_count;
    if (ledger->tags == NULL)
        return;
    switch (move) {
    case MOVE_TAKE:
        ledger_tags_add(ledger, space, members, members);
        break;
    case MOVE_GIVE:
        ledger_tags_add(ledger, space, -members, -members);
        break;
    case MOVE_CLAIM:
        ledger_tags_add(ledger, space, 0, members);
        break;
    case MOVE_VACATE:
        ledger_tags_add(ledger, space, -members, 0);
        break;
    case MOVE_RESTORE:
        ledger_tags_add(ledger, space, members, 0);
        break;
    case MOVE_ARRIVE:
    case MOVE_UNCLAIM:
        ledger_tags_add(ledger, space, 0, -members);
        break;
    }
}

void ledger_tags_count(struct ledger *ledger, const struct space *space, bool stay, bool present)
{
    if (space->tags != NULL)
        ledger_tags_add(ledger, space, stay ? space->member_count : 0, present ? space->member_count : 0);
}

void ledger_tags_join(struct ledger *ledger, const struct space *space)
{
    if (ledger->tags != NULL && space->tags != NULL)
        ledger_tags_add(ledger, space, space->member_count, 0);
}

void ledger_tags_settle(struct ledger *ledger, bool is_undone)
{
    ledger->tags->version += ledger->tags->is_touched && !is_undone;
    ledger->tags->is_touched = false;
}

bool ledger_tags_take_changes(struct ledger *ledger)
{
    struct ledger_tags *tags = ledger->tags;
    const bool has_changed = tags->seen != tags->version;
    tags->seen = tags->version;
    return has_changed;
}

/* ---- save, hash, check ---- */

uint64_t ledger_tags_hash(const struct ledger *ledger, uint64_t hash)
{
    const struct ledger_tags *tags = ledger->tags;
    for (uint32_t t = 0; t < tags->count; t++)
        for (uint32_t p = 0; tags->tables[t].at != NULL && p <= tags->everywhere; p++) {
            const struct tag_count *at = &tags->tables[t].at[p];
            if ((at->stay | at->present | at->refuse) == 0)
                continue;
            hash = hash_mix(hash, (uint64_t)t << 32 | p);
            hash = hash_mix(hash, at->stay | (uint64_t)at->present << 32);
            hash = hash_mix(hash, at->refuse);
        }
    return hash;
}

/* Checks that the counts of nodes add up to those of their domains and of everywhere. */
const char *ledger_tags_check(const struct ledger *ledger)
{
    const struct ledger_tags *tags = ledger->tags;
    if (ledger->mark_depth == 0 && tags->is_touched)
        return "tags are counted in a trial that is over";
    for (uint32_t t = 0; t < tags->count; t++) {
        const struct tag_count *at = tags->tables[t].at;
        if (at == NULL)
            continue;
        for (uint32_t level = 0; level <= ledger->cluster->level_count; level++) {
            uint64_t stay = 0, present = 0;
            const uint32_t domains =
                level == 0 ? ledger->cluster->node_count : ledger->cluster->levels[level - 1].domain_count;
            for (uint32_t d = 0; d < domains; d++) {
                const struct tag_count *here = &at[tags->level_first[level] + d];
                if (here->stay > here->present)
                    return "more members of a tag stay in a domain than are there";
                stay += here->stay;
                present += here->present;
            }
            const struct tag_count *all = &at[tags->everywhere];
            if (stay > all->stay || present > all->present ||
                (level == 0 && (stay != all->stay || present != all->present)))
                return "the members of a tag do not add up";
        }
    }
    return NULL;
}

static bool counts_all(const struct ledger *a, const struct ledger *b)
{
    for (uint32_t t = 0; a->tags != NULL && t < a->tags->count; t++)
        for (uint32_t p = 0; a->tags->tables[t].at != NULL && p <= a->tags->everywhere; p++) {
            const struct tag_count x = ledger_tags_at(a, t, p);
            const struct tag_count y = b->tags != NULL ? ledger_tags_at(b, t, p) : (struct tag_count){0};
            if (x.stay != y.stay || x.present != y.present || x.refuse != y.refuse)
                return false;
        }
    return true;
}

bool ledger_tags_are_same(const struct ledger *a, const struct ledger *b)
{
    return counts_all(a, b) && counts_all(b, a);
}
