/* Which jobs usually come; see policies/state/typical.h. */
#include "policies/state/typical.h"

#include "policies/state/sched_state.h"

static uint32_t kind_of_first(struct typical_book *book, uint32_t request_class, const struct request *request)
{
    MEM_GROW(book->kind_of, book->request_class_capacity, (size_t)request_class + 1);
    if (book->kind_of[request_class] == 0)
        book->kind_of[request_class] = member_kinds_find(&book->kinds, request, 0, 1) + 1;
    return book->kind_of[request_class] - 1;
}

static void publish(struct typical_book *book, struct ledger *ledger)
{
    ledger->typical = &book->typical;
    ledger->typical_version++;
}

void typical_learn(struct typical_book *book, struct ledger *ledger, const struct request_class_table *request_classes,
                   uint32_t request_class)
{
    const struct request_class *own = &request_classes->at[request_class];
    if (book->is_told)
        return;
    for (uint32_t g = 0; g < own->group_count; g++) {
        const struct request *request = &own->groups[g].request;
        const uint32_t kind =
            g == 0 ? kind_of_first(book, request_class, request) : member_kinds_find(&book->kinds, request, 0, 1);
        member_kinds_add(&book->kinds, kind, own->groups[g].count);
    }
    if (book->kinds.members < book->next_at)
        return;
    member_kinds_tell(&book->kinds, &book->typical);
    book->next_at = book->kinds.members + book->kinds.members / 10 + 1;
    publish(book, ledger);
}

/* Kinds of members, `count` of each; these are the typical jobs.  asks: keeps what they request of nodes. */
static void typical_tell(struct typical_book *book, struct ledger *ledger, struct node_asks *asks,
                         const struct job_group *kinds, uint32_t kind_count)
{
    struct typical_jobs *typical = &book->typical;
    double members = 0;
    book->is_told = kind_count > 0;
    typical->count = 0;
    for (uint32_t k = 0; k < kind_count; k++)
        members += kinds[k].count;
    MEM_GROW(typical->jobs, typical->capacity, kind_count);
    for (uint32_t k = 0; k < kind_count; k++)
        typical->jobs[typical->count++] = (struct typical_job){kinds[k].request, kinds[k].count / members, 1, 0};
    for (uint32_t j = 0; j < typical->count; j++)
        typical->jobs[j].request.nodes = node_asks_own(asks, typical->jobs[j].request.nodes);
    publish(book, ledger);
}

void typical_release(struct typical_book *book)
{
    member_kinds_release(&book->kinds);
    mem_free(book->kind_of);
    mem_free(book->typical.jobs);
}

/* ---- Events ---- */

static void *on_init(struct sched *sched)
{
    return policy_uses_typical(&sched->policy) ? mem_zalloc(1, sizeof(struct typical_book)) : NULL;
}

static void on_release(struct sched *sched, void *own)
{
    (void)sched;
    typical_release(own);
    mem_free(own);
}

static void on_asked(struct sched *sched, void *own, uint32_t request_class)
{
    typical_learn(own, sched->ledger, &sched->request_classes, request_class);
}

static void on_told(struct sched *sched, void *own, const struct job_group *kinds, uint32_t kind_count)
{
    typical_tell(own, sched->ledger, &sched->request_classes.asks, kinds, kind_count);
}

const struct observer typical_observer = {
    .init = on_init, .release = on_release, .asked = on_asked, .typical_told = on_told};
