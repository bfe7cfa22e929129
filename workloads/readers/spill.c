#include "workloads/readers/spill.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "workloads/readers/job_pack.h"

enum { RUN_BYTES = 64 << 20, WRITE_BYTES = 1 << 20, READ_BYTES = 256 << 10 };

struct record_head {
    time_ns submit;
    uint64_t index; /* in the order of the file */
    uint64_t bytes; /* of the record, with this head; a multiple of 8 */
};

struct run {
    off_t at, end; /* what is not read yet, in the file */
    char *block;   /* read; owned */
    size_t begin, length, capacity;
    bool has_record;
    struct record_head head; /* of the next record */
};

struct sort_key {
    time_ns submit;
    uint64_t index;
    size_t offset; /* in `records` */
};

struct spill {
    size_t run_bytes;
    int file; /* -1: none yet */
    off_t file_bytes;
    struct buffer records; /* of the run that is being made */
    struct sort_key *keys;
    size_t key_count, key_capacity;
    uint64_t count;
    bool has_after, is_merging;
    struct run *runs;
    size_t run_count, run_capacity;
    uint32_t *rank; /* by index: the place in the order; NULL: nobody depends on another */
    uint32_t emitted;
    uint64_t place; /* by spill_add, of the job given last */
};

struct spill *spill_new(size_t run_bytes)
{
    struct spill *spill = mem_zalloc(1, sizeof *spill);
    spill->run_bytes = run_bytes != 0 ? run_bytes : RUN_BYTES;
    spill->file = -1;
    return spill;
}

void spill_free(struct spill *spill)
{
    if (spill == NULL)
        return;
    if (spill->file >= 0)
        close(spill->file);
    for (size_t i = 0; i < spill->run_count; i++)
        mem_free(spill->runs[i].block);
    buffer_release(&spill->records);
    mem_free(spill->keys);
    mem_free(spill->runs);
    mem_free(spill->rank);
    mem_free(spill);
}

/* ---- records ---- */

static void record_put(struct spill *spill, const struct job *job, const struct job_truth *truth)
{
    struct buffer *out = &spill->records;
    const size_t start = out->length;
    struct record_head head = {.submit = job->submit, .index = spill->count};
    buffer_bytes(out, &head, sizeof head);
    job_pack(job, truth, out);
    head.bytes = out->length - start;
    memcpy(out->bytes + start, &head, sizeof head);
}

/* ---- the file ---- */

static const char *folder(void)
{
    const char *path = getenv("TMPDIR");
    return path != NULL && path[0] != '\0' ? path : "/tmp";
}

static struct error file_open(struct spill *spill)
{
    spill->file = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file < 0) {
        struct buffer path = {0};
        buffer_format(&path, "%s/windtunnel-sort-XXXXXX", folder());
        spill->file = mkostemp((char *)(uintptr_t)buffer_c_string(&path), O_CLOEXEC);
        if (spill->file >= 0)
            unlink(buffer_c_string(&path));
        buffer_release(&path);
    }
    return spill->file >= 0 ? ERROR_OK : error_io("sort a trace in", folder(), errno);
}

static struct error file_write(struct spill *spill, struct buffer *out)
{
    for (size_t done = 0; done < out->length;) {
        ssize_t count = pwrite(spill->file, out->bytes + done, out->length - done, spill->file_bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return error_io("sort a trace in", folder(), count < 0 ? errno : ENOSPC);
        done += (size_t)count;
        spill->file_bytes += count;
    }
    out->length = 0;
    return ERROR_OK;
}

/* ---- runs ---- */

static int by_submission(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static struct error run_write(struct spill *spill, struct buffer *out)
{
    for (size_t i = 0; i < spill->key_count; i++) {
        const char *record = spill->records.bytes + spill->keys[i].offset;
        struct record_head head;
        memcpy(&head, record, sizeof head);
        buffer_bytes(out, record, head.bytes);
        if (out->length >= WRITE_BYTES)
            TRY(file_write(spill, out));
    }
    return file_write(spill, out);
}

static struct error run_close(struct spill *spill)
{
    struct buffer out = {0};
    const off_t at = spill->file_bytes;
    if (spill->key_count == 0)
        return ERROR_OK;
    if (spill->file < 0)
        TRY(file_open(spill));
    qsort(spill->keys, spill->key_count, sizeof *spill->keys, by_submission);
    struct error error = run_write(spill, &out);
    buffer_release(&out);
    TRY(error);
    MEM_GROW(spill->runs, spill->run_capacity, spill->run_count + 1);
    spill->runs[spill->run_count++] = (struct run){.at = at, .end = spill->file_bytes};
    spill->key_count = 0;
    spill->records.length = 0;
    return ERROR_OK;
}

struct error spill_add(struct spill *spill, const struct job *job, const struct job_truth *truth)
{
    assert(!spill->is_merging);
    MEM_GROW(spill->keys, spill->key_capacity, spill->key_count + 1);
    spill->keys[spill->key_count++] = (struct sort_key){job->submit, spill->count, spill->records.length};
    record_put(spill, job, truth);
    spill->has_after |= job->after_count > 0;
    spill->count++;
    return spill->records.length >= spill->run_bytes ? run_close(spill) : ERROR_OK;
}

/* ---- merging ---- */

/* Have at least `bytes` of the run in its block. */
static struct error run_fill(const struct spill *spill, struct run *run, size_t bytes)
{
    if (run->length - run->begin >= bytes)
        return ERROR_OK;
    if (run->length > run->begin)
        memmove(run->block, run->block + run->begin, run->length - run->begin);
    run->length -= run->begin;
    run->begin = 0;
    MEM_GROW(run->block, run->capacity, bytes > READ_BYTES ? bytes : READ_BYTES);
    while (run->length < bytes) {
        const off_t left = run->end - run->at;
        const size_t room = run->capacity - run->length;
        ssize_t count = pread(spill->file, run->block + run->length, (off_t)room < left ? room : (size_t)left, run->at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return error_io("sort a trace in", folder(), count < 0 ? errno : EIO);
        run->at += count;
        run->length += (size_t)count;
    }
    return ERROR_OK;
}

/* Read the next record, if the run is not at its end. */
static struct error run_advance(const struct spill *spill, struct run *run)
{
    run->has_record = run->length > run->begin || run->at < run->end;
    if (!run->has_record)
        return ERROR_OK;
    TRY(run_fill(spill, run, sizeof run->head));
    memcpy(&run->head, run->block + run->begin, sizeof run->head);
    return run_fill(spill, run, run->head.bytes);
}

static bool is_before(const struct run *a, const struct run *b)
{
    return a->head.submit != b->head.submit ? a->head.submit < b->head.submit : a->head.index < b->head.index;
}

/* The run whose next record is the first; NULL: all are at their end.  There are few: one per run_bytes. */
static struct run *first_run(const struct spill *spill)
{
    struct run *first = NULL;
    for (size_t i = 0; i < spill->run_count; i++)
        if (spill->runs[i].has_record && (first == NULL || is_before(&spill->runs[i], first)))
            first = &spill->runs[i];
    return first;
}

static struct error merge_begin(struct spill *spill)
{
    TRY(run_close(spill));
    spill->is_merging = true;
    buffer_release(&spill->records);
    mem_free(spill->keys);
    spill->keys = NULL;
    for (size_t i = 0; i < spill->run_count; i++)
        TRY(run_advance(spill, &spill->runs[i]));
    if (spill->has_after)
        spill->rank = mem_zalloc(spill->count, sizeof *spill->rank);
    return ERROR_OK;
}

/* A job depends on jobs that come before it, so their places are known. */
static void turn_after(const struct spill *spill, const struct job *job)
{
    struct job_after *after = (struct job_after *)(uintptr_t)job->after; /* in the arena, from job_unpack */
    for (uint32_t a = 0; a < job->after_count; a++)
        after[a].job = spill->rank[after[a].job];
}

struct error spill_next(struct spill *spill, struct arena *arena, struct job *job, struct job_truth *truth, bool *has)
{
    if (!spill->is_merging)
        TRY(merge_begin(spill));
    struct run *run = first_run(spill);
    *has = run != NULL;
    if (run == NULL)
        return ERROR_OK;
    job_unpack(run->block + run->begin + sizeof run->head, arena, job, truth);
    spill->place = run->head.index;
    if (spill->rank != NULL) {
        turn_after(spill, job);
        spill->rank[run->head.index] = spill->emitted++;
    }
    run->begin += run->head.bytes;
    return run_advance(spill, run);
}

uint64_t spill_place(const struct spill *spill)
{
    return spill->place;
}
