#include "studies/sweep/sweep_books.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/hash.h"
#include "reports/result.h"

enum { ZSTD_LEVEL = 3 };

/* ---- results ---- */

struct error sweep_result_pack(struct text result, struct buffer *out, char digest[33])
{
    const size_t room = ZSTD_compressBound(result.length);
    hash_hex(result.at, result.length, digest);
    const size_t length = ZSTD_compress(buffer_reserve(out, room), room, result.at, result.length, ZSTD_LEVEL);
    if (ZSTD_isError(length))
        return error_new(ERROR_INTERNAL, "cannot compress a result: %s", ZSTD_getErrorName(length));
    out->length += length;
    return ERROR_OK;
}

static struct error unpack(const char *path, struct text packed, const char *digest, struct buffer *out)
{
    const unsigned long long size = ZSTD_getFrameContentSize(packed.at, packed.length);
    const size_t before = out->length;
    char hex[33];
    if (size > RESULT_BYTES_MAX) /* the codes for errors too */
        return error_new(ERROR_DATA, "%s holds a result that is no zstd frame, or too long", path);
    const size_t length =
        ZSTD_decompress(buffer_reserve(out, (size_t)size + 1), (size_t)size, packed.at, packed.length);
    if (ZSTD_isError(length))
        return error_new(ERROR_DATA, "%s holds a result that cannot be decompressed: %s", path,
                         ZSTD_getErrorName(length));
    out->length += length;
    hash_hex(out->bytes + before, length, hex);
    if (strcmp(hex, digest) != 0)
        return error_new(ERROR_DATA, "%s holds a result that has not the digest of its record", path);
    return ERROR_OK;
}

static struct error read_at(const char *path, uint64_t offset, struct buffer *out, size_t length)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    int reason = fd < 0 ? errno : 0;
    char *room = buffer_reserve(out, length);
    while (reason == 0 && done < length) {
        const ssize_t count = pread(fd, room + done, length - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            reason = count < 0 ? errno : EIO;
        else
            done += (size_t)count;
    }
    if (fd >= 0)
        close(fd);
    out->length += done;
    return reason != 0 ? error_io("read", path, reason) : ERROR_OK;
}

struct error sweep_books_result(const struct sweep_books *books, size_t run, struct buffer *out)
{
    const struct sweep_entry *entry = &books->entries[run];
    const char *path = books->shards[entry->shard];
    struct buffer packed = {0};
    struct error error = read_at(path, entry->offset, &packed, (size_t)entry->length);
    if (!error_is(error))
        error = unpack(path, (struct text){packed.bytes, packed.length}, entry->digest, out);
    buffer_release(&packed);
    return error;
}

/* ---- records ---- */

struct taking {
    struct sweep_books *books;
    uint32_t shard;
};

static struct error differ(const struct taking *taking, const struct shard_record *record, uint64_t offset,
                           const struct sweep_entry *entry)
{
    struct error error = error_new(
        ERROR_DATA, "run %zu is recorded twice with different results: in %s at byte %llu, and in %s at byte %llu",
        record->run, taking->books->shards[entry->shard], (unsigned long long)entry->offset,
        taking->books->shards[taking->shard], (unsigned long long)offset);
    error_set_hint(&error, "a run is a function of its inputs: was another program or another machine used?");
    return error;
}

static struct error take_record(void *self, const struct shard_record *record, uint64_t offset)
{
    struct taking *taking = self;
    struct sweep_books *books = taking->books;
    const char *path = books->shards[taking->shard];
    if (record->run >= books->plan->run_count || strcmp(books->plan->runs[record->run].key, record->key) != 0)
        return error_new(ERROR_DATA, "%s, at byte %llu: the plan has no run %zu with the key %s", path,
                         (unsigned long long)offset, record->run, record->key);
    struct sweep_entry *entry = &books->entries[books->plan->runs[record->run].first];
    struct sweep_entry taken = {
        .state = record->state, .shard = taking->shard, .offset = offset, .length = record->bytes.length};
    memcpy(taken.digest, record->digest, sizeof taken.digest);
    books->record_count++;
    if (record->state == RUN_DONE) {
        if (entry->state == RUN_DONE && strcmp(entry->digest, taken.digest) != 0)
            return differ(taking, record, offset, entry);
        if (entry->state != RUN_DONE)
            *entry = taken;
        return ERROR_OK;
    }
    taken.failure = arena_copy(&books->arena, record->bytes);
    if (entry->state == RUN_MISSING || taken.state < entry->state ||
        (taken.state == entry->state && strcmp(taken.failure, entry->failure) < 0))
        *entry = taken;
    return ERROR_OK;
}

/* ---- shards ---- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_shard(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(SHARD_SUFFIX);
    return name[0] != '.' && length > suffix && strcmp(name + length - suffix, SHARD_SUFFIX) == 0;
}

static struct error list_shards(struct sweep_books *books, const char *folder)
{
    struct buffer path = {0};
    struct dirent *entry;
    buffer_format(&path, "%s/" SWEEP_SHARDS_FOLDER, folder);
    DIR *list = opendir(buffer_c_string(&path));
    if (list == NULL) {
        struct error error = error_io("open", buffer_c_string(&path), errno);
        buffer_release(&path);
        return error;
    }
    const size_t folder_length = path.length;
    while ((errno = 0, entry = readdir(list)) != NULL)
        if (is_shard(entry->d_name)) {
            path.length = folder_length;
            buffer_format(&path, "/%s", entry->d_name);
            MEM_GROW(books->shards, books->shard_capacity, books->shard_count + 1);
            books->shards[books->shard_count++] = mem_copy_text(buffer_c_string(&path));
        }
    path.length = folder_length;
    struct error error = errno != 0 ? error_io("read", buffer_c_string(&path), errno) : ERROR_OK;
    closedir(list);
    buffer_release(&path);
    if (books->shard_count > 0)
        qsort(books->shards, books->shard_count, sizeof *books->shards, compare_paths);
    return error;
}

static struct error read_shards(struct sweep_books *books)
{
    for (size_t s = 0; s < books->shard_count; s++) {
        struct taking taking = {.books = books, .shard = (uint32_t)s};
        struct shard_end end;
        TRY(shard_read(books->shards[s], books->plan->digest, take_record, &taking, &end));
        if (end.torn_bytes == 0)
            continue;
        books->torn_bytes += end.torn_bytes;
        MEM_GROW(books->torn, books->torn_capacity, books->torn_count + 1);
        books->torn[books->torn_count++] = books->shards[s];
    }
    return ERROR_OK;
}

static void spread(struct sweep_books *books)
{
    for (size_t r = 0; r < books->plan->run_count; r++) {
        books->entries[r] = books->entries[books->plan->runs[r].first];
        books->counts[books->entries[r].state]++;
    }
}

struct error sweep_books_read(struct sweep_books *out, const struct sweep_plan *plan, const char *folder)
{
    *out = (struct sweep_books){.plan = plan, .entries = mem_zalloc(plan->run_count, sizeof *out->entries)};
    struct error error = list_shards(out, folder);
    if (!error_is(error))
        error = read_shards(out);
    if (error_is(error))
        sweep_books_release(out);
    else
        spread(out);
    return error;
}

void sweep_books_release(struct sweep_books *books)
{
    for (size_t s = 0; s < books->shard_count; s++)
        mem_free(books->shards[s]);
    mem_free(books->shards);
    mem_free(books->torn);
    mem_free(books->entries);
    arena_release(&books->arena);
    *books = (struct sweep_books){0};
}

bool sweep_books_is_complete(const struct sweep_books *books)
{
    return books->counts[RUN_DONE] == books->plan->run_count;
}
