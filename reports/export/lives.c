/* reports/export/lives.c -- see reports/export/lives.h.  A chained hash table by job. */
#include "reports/export/lives.h"

#include "base/mem.h"

enum { BUCKETS_MIN = 256 }; /* a power of two, as all their numbers are */

struct entry {
    job_id id;
    struct life *first, *last;
    struct entry *next; /* in the bucket */
};

struct lives {
    struct entry **buckets;
    size_t bucket_count;
    size_t count; /* jobs */
};

struct lives *lives_new(void)
{
    struct lives *lives = mem_zalloc(1, sizeof *lives);
    lives->bucket_count = BUCKETS_MIN;
    lives->buckets = mem_zalloc(lives->bucket_count, sizeof *lives->buckets);
    return lives;
}

/* Numbers of jobs are dense. */
static struct entry **bucket_of(const struct lives *lives, job_id id)
{
    return &lives->buckets[id & (lives->bucket_count - 1)];
}

/* Where the link to the job's entry stands, or would. */
static struct entry **find(const struct lives *lives, job_id id)
{
    struct entry **at = bucket_of(lives, id);
    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void grow(struct lives *lives)
{
    struct lives more = {.bucket_count = lives->bucket_count * 2, .count = lives->count};
    more.buckets = mem_zalloc(more.bucket_count, sizeof *more.buckets);
    for (size_t b = 0; b < lives->bucket_count; b++) {
        for (struct entry *entry = lives->buckets[b], *next; entry != NULL; entry = next) {
            struct entry **bucket = bucket_of(&more, entry->id);
            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    mem_free(lives->buckets);
    *lives = more;
}

struct life *lives_add(struct lives *lives, const struct attempt_row *row)
{
    struct life *life = mem_zalloc(1, sizeof *life);
    life->row = *row;
    life->row.placement = mem_copy_text(row->placement);
    struct entry **at = find(lives, row->id);
    if (*at != NULL) {
        (*at)->last->next = life;
        (*at)->last = life;
        return life;
    }
    if (lives->count == lives->bucket_count) {
        grow(lives);
        at = find(lives, row->id);
    }
    *at = mem_zalloc(1, sizeof **at);
    **at = (struct entry){.id = row->id, .first = life, .last = life};
    lives->count++;
    return life;
}

struct life *lives_of(const struct lives *lives, job_id id)
{
    struct entry *entry = *find(lives, id);
    return entry != NULL ? entry->first : NULL;
}

static void free_entry(struct entry *entry)
{
    for (struct life *life = entry->first, *next; life != NULL; life = next) {
        next = life->next;
        mem_free((char *)life->row.placement);
        buffer_release(&life->note);
        mem_free(life);
    }
    mem_free(entry);
}

void lives_drop(struct lives *lives, job_id id)
{
    struct entry **at = find(lives, id), *entry = *at;
    if (entry == NULL)
        return;
    *at = entry->next;
    free_entry(entry);
    lives->count--;
}

struct error lives_finish(const struct lives *lives)
{
    for (size_t b = 0; b < lives->bucket_count; b++)
        if (lives->buckets[b] != NULL)
            return error_new(ERROR_DATA, "job %u has attempts, but no row after them", (unsigned)lives->buckets[b]->id);
    return ERROR_OK;
}

void lives_free(struct lives *lives)
{
    if (lives == NULL)
        return;
    for (size_t b = 0; b < lives->bucket_count; b++) {
        for (struct entry *entry = lives->buckets[b], *next; entry != NULL; entry = next) {
            next = entry->next;
            free_entry(entry);
        }
    }
    mem_free(lives->buckets);
    mem_free(lives);
}
