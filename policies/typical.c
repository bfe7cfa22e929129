/* Which jobs usually come; see policies/typical.h. */
#include "policies/typical.h"

#include <stdlib.h>

#include "policies/archive.h"
#include "policies/shape.h"

static uint32_t kind_with(struct typical_book *book, const struct request *request)
{
    uint32_t k = 0;
    while (k < book->kind_count && !request_is_same(&book->kinds[k].request, request))
        k++;
    if (k < book->kind_count)
        return k;
    MEM_GROW(book->kinds, book->kind_capacity, (size_t)book->kind_count + 1);
    book->kinds[book->kind_count++] = (struct member_kind){*request, 0};
    return k;
}

static uint32_t kind_of_first(struct typical_book *book, uint32_t shape,
                              const struct request *request)
{
    MEM_GROW(book->kind_of, book->shape_capacity, (size_t)shape + 1);
    if (book->kind_of[shape] == 0)
        book->kind_of[shape] = kind_with(book, request) + 1;
    return book->kind_of[shape] - 1;
}

/* Those of most members first, those that came first among equals. */
static int compare_kinds(const void *a, const void *b, void *kinds)
{
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct member_kind *all = kinds;
    if (all[i].members != all[j].members)
        return all[i].members > all[j].members ? -1 : 1;
    return i < j ? -1 : i > j;
}

static void tell(struct typical_book *book, struct ledger *ledger)
{
    struct typical_jobs *typical = &book->typical;
    uint32_t *order = mem_zalloc(book->kind_count + 1, sizeof *order);
    uint64_t members = 0;
    for (uint32_t k = 0; k < book->kind_count; k++)
        order[k] = k;
    if (book->kind_count > 1)
        qsort_r(order, book->kind_count, sizeof *order, compare_kinds, book->kinds);
    typical->count = 0;
    for (uint32_t i = 0; i < book->kind_count && members * 100 < book->members * TYPICAL_PERCENT;
         i++) {
        const struct member_kind *kind = &book->kinds[order[i]];
        MEM_GROW(typical->jobs, typical->capacity, (size_t)typical->count + 1);
        typical->jobs[typical->count++] =
            (struct typical_job){kind->request, (double)kind->members};
        members += kind->members;
    }
    for (uint32_t j = 0; j < typical->count; j++)
        typical->jobs[j].share /= (double)members;
    mem_free(order);
    book->next_at = book->members + book->members / 10 + 1;
    ledger->typical = typical;
    ledger->typical_version++;
}

void typical_learn(struct typical_book *book, struct ledger *ledger,
                   const struct shape_table *shapes, uint32_t shape)
{
    const struct shape *own = &shapes->shapes[shape];
    for (uint32_t g = 0; g < own->group_count; g++) {
        const struct request *request = &own->groups[g].request;
        const uint32_t kind =
            g == 0 ? kind_of_first(book, shape, request) : kind_with(book, request);
        book->kinds[kind].members += own->groups[g].count;
        book->members += own->groups[g].count;
    }
    if (book->members >= book->next_at)
        tell(book, ledger);
}

void typical_release(struct typical_book *book)
{
    mem_free(book->kinds);
    mem_free(book->kind_of);
    mem_free(book->typical.jobs);
}

/* Which kind a shape is of is found again. */
void typical_archive(struct archive *archive, struct typical_book *book, struct ledger *ledger)
{
    ARCHIVE_KNOWS(struct typical_book, 88);
    ARCHIVE_KNOWS(struct typical_jobs, 24);
    ARCHIVE_ROOM(archive, book->kinds, book->kind_capacity, book->kind_count);
    for (uint32_t k = 0; k < book->kind_count; k++) {
        shape_archive_request(archive, &book->kinds[k].request);
        ARCHIVE(archive, book->kinds[k].members);
    }
    ARCHIVE(archive, book->members);
    ARCHIVE(archive, book->next_at);
    ARCHIVE_ROOM(archive, book->typical.jobs, book->typical.capacity, book->typical.count);
    for (uint32_t j = 0; j < book->typical.count; j++) {
        shape_archive_request(archive, &book->typical.jobs[j].request);
        ARCHIVE(archive, book->typical.jobs[j].share);
    }
    if (archive_is_reading(archive) && book->typical.count > 0)
        ledger->typical = &book->typical;
}
