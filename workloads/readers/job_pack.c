#include "workloads/readers/job_pack.h"

#include <string.h>

/* A job is the words that differ from the usual ones, then what it points to. */
struct whole {
    struct job job;
    struct job_truth truth;
};

enum { WORDS = sizeof(struct whole) / sizeof(uint64_t) };
_Static_assert(sizeof(struct whole) % sizeof(uint64_t) == 0, "a job is whole words");
_Static_assert((int)WORDS <= 64, "a bit per word");

static void usual_words(uint64_t words[WORDS])
{
    struct whole usual;
    memset(&usual, 0, sizeof usual);
    usual.job = job_default();
    memcpy(words, &usual, sizeof usual);
}

/* ---- packing ---- */

static void put_array(struct buffer *out, const void *items, size_t bytes)
{
    buffer_bytes(out, items, bytes);
    while (bytes++ % sizeof(uint64_t) != 0)
        buffer_char(out, '\0');
}

static void put_text(struct buffer *out, const char *text)
{
    const uint64_t bytes = strlen(text) + 1;
    buffer_bytes(out, &bytes, sizeof bytes);
    put_array(out, text, bytes);
}

static void put_pointed(struct buffer *out, const struct job *job)
{
    if (job->group_count > 1)
        put_array(out, job->more, (job->group_count - 1u) * sizeof *job->more);
    if (job->set_count > 0)
        put_array(out, job->sets, job->set_count * sizeof *job->sets);
    for (uint32_t s = 0; s < job->set_count; s++)
        put_text(out, job->sets[s].name);
    if (job->after_count > 0)
        put_array(out, job->after, job->after_count * sizeof *job->after);
    if (job->tags != NULL)
        put_array(out, job->tags, sizeof *job->tags);
    if (job->objects != NULL)
        put_array(out, job->objects, sizeof *job->objects);
    if (job->name != NULL)
        put_text(out, job->name);
}

void job_pack(const struct job *job, const struct job_truth *truth, struct buffer *out)
{
    const size_t start = out->length;
    uint64_t words[WORDS], usual[WORDS], mask = 0; /* bit w: word w follows */
    struct whole whole;
    memset(&whole, 0, sizeof whole);
    whole.job = *job;
    whole.truth = *truth;
    memcpy(words, &whole, sizeof words);
    usual_words(usual);
    buffer_bytes(out, &mask, sizeof mask);
    for (uint32_t w = 0; w < WORDS; w++) {
        if (words[w] == usual[w])
            continue;
        mask |= UINT64_C(1) << w;
        buffer_bytes(out, &words[w], sizeof words[w]);
    }
    memcpy(out->bytes + start, &mask, sizeof mask);
    put_pointed(out, job);
}

/* ---- unpacking ---- */

static const char *take(const char **at, size_t bytes)
{
    const char *taken = *at;
    *at += (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    return taken;
}

static void *take_array(const char **at, size_t bytes, struct arena *arena)
{
    void *items = arena_alloc(arena, bytes);
    memcpy(items, take(at, bytes), bytes);
    return items;
}

static const char *take_text(const char **at, struct arena *arena)
{
    uint64_t bytes;
    memcpy(&bytes, take(at, sizeof bytes), sizeof bytes);
    return take_array(at, bytes, arena);
}

static void take_pointed(const char *at, struct job *job, struct arena *arena)
{
    if (job->group_count > 1)
        job->more = take_array(&at, (job->group_count - 1u) * sizeof *job->more, arena);
    if (job->set_count > 0) {
        struct job_set *sets = take_array(&at, job->set_count * sizeof *sets, arena);
        for (uint32_t s = 0; s < job->set_count; s++)
            sets[s].name = take_text(&at, arena);
        job->sets = sets;
    }
    if (job->after_count > 0)
        job->after = take_array(&at, job->after_count * sizeof *job->after, arena);
    if (job->tags != NULL)
        job->tags = take_array(&at, sizeof *job->tags, arena);
    if (job->objects != NULL)
        job->objects = take_array(&at, sizeof *job->objects, arena);
    if (job->name != NULL)
        job->name = take_text(&at, arena);
}

void job_unpack(const char *bytes, struct arena *arena, struct job *job, struct job_truth *truth)
{
    uint64_t words[WORDS], mask;
    struct whole whole;
    usual_words(words);
    memcpy(&mask, take(&bytes, sizeof mask), sizeof mask);
    for (uint64_t left = mask; left != 0; left &= left - 1)
        memcpy(&words[__builtin_ctzll(left)], take(&bytes, sizeof words[0]), sizeof words[0]);
    memcpy(&whole, words, sizeof words);
    *job = whole.job;
    *truth = whole.truth;
    take_pointed(bytes, job, arena);
}
