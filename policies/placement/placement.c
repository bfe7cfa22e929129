/* policies/placement/placement.c -- places a job: the rules that come before, and what is tried again. */
#include "policies/placement/placement.h"

#include "policies/jobs/fragmentation.h"
#include "policies/ledger/ledger_tags.h"
#include "policies/placement/by_node.h"
#include "policies/placement/domains.h"
#include "policies/placement/placement_config.h"
#include "policies/placement/placements.h"
#include "policies/placement/ways.h"

void piece_list_release(struct piece_list *list)
{
    mem_free(list->pieces);
    mem_free(list->here);
    if (list->by_node != NULL)
        by_node_release(list->by_node);
    mem_free(list->by_node);
    arena_release(&list->scratch);
    *list = (struct piece_list){0};
}

/* False only if the free whole GPUs cannot hold all members of the group. */
static bool may_fit(const struct ledger *ledger, const struct job_group *group)
{
    if (group->request.gpus == 0 || group->count == 0)
        return true;
    uint64_t room = 0;
    for (uint32_t t = 0; t < ledger->cluster->type_count; t++) {
        if (!request_takes_nodes(&group->request, ledger->cluster, t))
            continue;
        for (uint32_t n = group->request.gpus; n <= ledger->cluster->types[t].gpu_count; n++) {
            room += (uint64_t)ledger->index->types[t].whole[n].member_count * (n / group->request.gpus);
            if (room >= group->count)
                return true;
        }
    }
    return false;
}

bool placement_may_fit(const struct ledger *ledger, const struct request_class *request_class)
{
    for (uint32_t g = 0; g < request_class->group_count; g++)
        if (!may_fit(ledger, &request_class->groups[g]))
            return false;
    return true;
}

static void count_held(struct placing *placing)
{
    struct piece_list *out = placing->out;
    MEM_GROW(out->here, out->here_capacity, placing->ledger->cluster->node_count);
    placing->here = out->here;
    const struct held_pieces *held = &placing->asked->held;
    uint32_t first = 0;
    if (out->here_list != 0 && out->here_list == placing->asked->held_list && out->here_count <= held->count)
        first = out->here_count;
    else if (out->here_list != 0)
        memset(out->here, 0, placing->ledger->cluster->node_count * sizeof *out->here);
    for (uint32_t i = first; i < placing->asked->held.count; i++)
        placing->here[placing->asked->held.pieces[i].node] += placing->asked->held.pieces[i].member_count;
}

/* The count of a job with many pieces stays for its next allocation step. */
static void uncount_held(struct placing *placing)
{
    const struct held_pieces *held = &placing->asked->held;
    const bool stays = placing->asked->held_list != 0 && held->count > placing->ledger->cluster->node_count;
    placing_forget(placing, 0);
    placing->out->here_list = stays ? placing->asked->held_list : 0;
    placing->out->here_count = held->count;
    for (uint32_t i = 0; i < held->count && !stays; i++)
        placing->here[placing->asked->held.pieces[i].node] -= placing->asked->held.pieces[i].member_count;
    placing->here = NULL;
}

static bool place_once(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    struct placing placing = {.asked = asked,
                              .ledger = ledger,
                              .out = out,
                              .topology = asked->request_class->topology,
                              .domains = ledger->placement != NULL ? ledger->placement->topology.domains : 0};
    out->count = 0;
    if (asked->policy->looks_at_nodes)
        count_held(&placing);
    bool is_placed = ways_matter(asked) ? ways_place(&placing) : domains_place_all(&placing);
    if (placing.here != NULL)
        uncount_held(&placing);
    return is_placed;
}

/* What the rules of tags say of each node; ledger_tags_shut() makes a mask of it. */
static struct tag_matches match_tags(struct ledger *ledger, const struct placement_request *asked)
{
    const struct passing_pieces passing = asked->passing;
    const uint32_t count = asked->held.count + passing.leaving;
    struct space *spaces = mem_alloc(count * sizeof *spaces);
    for (uint32_t p = 0; p < count; p++)
        spaces[p] = request_class_space(asked->request_class, &asked->held.pieces[p], asked->owner);
    const struct tag_matches matches = ledger_tags_match(
        ledger, asked->request_class->tags,
        (struct own_spaces){spaces, asked->held.count - passing.claimed, passing.claimed + passing.leaving});
    mem_free(spaces);
    return matches;
}

/* Place all members where they all meet the most preferred rules possible.  Not inlined, since few jobs have rules. */
static __attribute__((noinline)) bool place_by_rules(struct ledger *ledger, const struct placement_request *asked,
                                                     struct piece_list *out)
{
    const struct tag_matches matches = match_tags(ledger, asked);
    struct allowed_space allowed = {.gpus = asked->allowed != NULL ? asked->allowed->gpus : NULL};
    struct placement_request within = *asked;
    within.allowed = &allowed;
    bool is_placed = false;
    for (uint32_t least = matches.preferred_max + 1; least-- > 0 && !is_placed;) {
        if (matches.count_of[least] == 0)
            continue; /* no more nodes than before */
        size_t mark = ledger_mark(ledger);
        allowed.shut = ledger_tags_shut(ledger, least);
        is_placed = place_once(ledger, &within, out);
        if (is_placed)
            ledger_commit(ledger, mark);
        else
            ledger_rollback(ledger, mark);
    }
    return is_placed;
}

static bool place(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    return ledger_tags_bind(ledger, asked->request_class->tags) ? place_by_rules(ledger, asked, out)
                                                                : place_once(ledger, asked, out);
}

/* If members differ, one may take the only place where another fits.  The choice depends on the typical jobs, which do
 * not change when the cluster empties, so the job could wait for ever.  If it does not fit, best_fit places it. */
static __attribute__((noinline)) bool
place_in_spite_of_typical(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const size_t mark = ledger_mark(ledger);
    if (place(ledger, asked, out)) {
        ledger_commit(ledger, mark);
        return true;
    }
    ledger_rollback(ledger, mark);
    struct placement_request plain = *asked;
    plain.policy = &placement_best_fit;
    return place(ledger, &plain, out);
}

static bool place_as_known(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const bool knows_typical = asked->policy->uses_typical && ledger->typical != NULL && ledger->typical->count > 0;
    return knows_typical && asked->request_class->group_count > 1 ? place_in_spite_of_typical(ledger, asked, out)
                                                                  : place(ledger, asked, out);
}

/* A member on a warm node may take the only place where another fits, so the job is tried once more without. */
static __attribute__((noinline)) bool
place_in_spite_of_warm(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const size_t mark = ledger_mark(ledger);
    if (place_as_known(ledger, asked, out)) {
        ledger_commit(ledger, mark);
        return true;
    }
    ledger_rollback(ledger, mark);
    struct placement_request plain = *asked;
    plain.ignores_warm = true;
    return place_as_known(ledger, &plain, out);
}

bool placement_place(struct ledger *ledger, const struct placement_request *asked, struct piece_list *out)
{
    const struct request_class *request_class = asked->request_class;
    out->count = 0;
    if (request_class->member_count > 1 && !placement_may_fit(ledger, request_class))
        return false;
    return ledger->warm != NULL && request_class->member_count > 1 ? place_in_spite_of_warm(ledger, asked, out)
                                                                   : place_as_known(ledger, asked, out);
}
