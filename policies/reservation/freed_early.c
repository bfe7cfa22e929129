/* Where something came free, and for whom it is of no use; see policies/reservation/freed_early.h. */
#include "policies/reservation/freed_early.h"
#include "policies/state/profile.h"

void freed_early_open(struct freed_early *freed_early, uint32_t node_count)
{
    if (freed_early->vain == NULL)
        freed_early->vain = mem_zalloc(node_count, sizeof *freed_early->vain);
}

void freed_early_note(struct freed_early *freed_early, uint32_t node_count, node_id node)
{
    freed_early_open(freed_early, node_count);
    node_marks_add(&freed_early->nodes, node_count, node);
    freed_early->vain[node].count = 0;
}

void freed_early_forget(struct freed_early *freed_early)
{
    node_marks_forget(&freed_early->nodes); /* what was in vain goes when a node is noted again */
}

void freed_early_release(struct freed_early *freed_early)
{
    node_marks_release(&freed_early->nodes);
    mem_free(freed_early->vain);
}

/* Nothing is there for it before then. */
static time_ns known_until(const struct vain_list *list, uint32_t ask, time_ns length, time_ns now)
{
    time_ns until = now;
    for (uint32_t v = 0; v < list->count; v++)
        if (list->of[v].ask == ask && list->of[v].length <= length && list->of[v].until > until)
            until = list->of[v].until;
    return until;
}

/* Those that it says more than are left out; of too many the one that says least. */
static void note_vain(struct vain_list *list, struct vain_search search)
{
    uint32_t kept = 0, least = 0;
    for (uint32_t v = 0; v < list->count; v++) {
        const struct vain_search *known = &list->of[v];
        if (known->ask == search.ask && known->length >= search.length && known->until <= search.until)
            continue;
        list->of[kept++] = *known;
    }
    list->count = kept;
    if (kept < VAIN_MAX) {
        list->of[list->count++] = search;
        return;
    }
    for (uint32_t v = 1; v < kept; v++)
        if (list->of[v].until < list->of[least].until)
            least = v;
    list->of[least] = search;
}

bool freed_early_has_room(struct freed_early *freed_early, const struct profile *profile, const struct request *request,
                          uint32_t ask, node_id own, time_ns now, time_ns length, time_ns bound)
{
    for (uint32_t i = 0; i < freed_early->nodes.count; i++) {
        const node_id node = freed_early->nodes.nodes[i];
        struct vain_list *list = &freed_early->vain[node];
        const time_ns from = node == own ? now : known_until(list, ask, length, now);
        if (from >= bound)
            continue;
        if (profile_find_room(profile, request, node, from, length, bound) != TIME_NEVER)
            return true;
        if (node != own)
            note_vain(list, (struct vain_search){ask, length, bound});
    }
    return false;
}
