#include "studies/sweep/sweep_shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum {
    FILE_MODE = 0644,
    NAMES_MAX = 100000, /* of one worker */
    LINE_BYTES_MAX = 256,
    CELLS = 7, /* of a record's line */
    READ_BYTES = 1 << 16,
};
#define MAGIC      "windtunnel-shard 1 "
#define DIGITS_MAX 32

const char *const run_state_names[] = {"missing", "done", "error", "crash", "memory", "timeout", "killed", NULL};

/* ---- writing ---- */

static struct error write_all(int fd, const char *path, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t count = write(fd, bytes, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return error_io("write", path, count < 0 ? errno : EIO);
        bytes += count;
        length -= (size_t)count;
    }
    return ERROR_OK;
}

/* The whole bytes or none, if the disk lets us. */
static struct error append_bytes(struct shard_writer *writer, const struct buffer *bytes)
{
    struct error error = write_all(writer->fd, writer->path, bytes->bytes, bytes->length);
    if (!error_is(error)) {
        writer->length += bytes->length;
        return ERROR_OK;
    }
    writer->is_broken = true;
    if (ftruncate(writer->fd, (off_t)writer->length) != 0) /* the reader drops what is torn */
        error_set_hint(&error, "the last record there is not whole, and does not count");
    return error;
}

/* The name is on the disk too. */
static struct error sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_io("open", folder, errno);
    const int reason = fsync(fd) != 0 && errno != EINVAL ? errno : 0; /* EINVAL: folders need no fsync there */
    close(fd);
    return reason != 0 ? error_io("write", folder, reason) : ERROR_OK;
}

static struct error create(struct shard_writer *writer, const char *folder, const char *worker)
{
    int reason = EEXIST;
    for (int n = 0; n < NAMES_MAX && reason == EEXIST; n++) {
        struct buffer path = {0};
        buffer_format(&path, "%s/%s-%d" SHARD_SUFFIX, folder, worker, n);
        mem_free(writer->path);
        buffer_c_string(&path);
        writer->path = path.bytes;
        writer->fd = open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, FILE_MODE);
        reason = writer->fd < 0 ? errno : 0;
    }
    return reason != 0 ? error_io("create", writer->path, reason) : ERROR_OK;
}

struct error shard_create(struct shard_writer *writer, const char *folder, const char *worker, const char *plan_digest)
{
    struct buffer head = {0};
    *writer = (struct shard_writer){.fd = -1};
    buffer_format(&head, MAGIC "%s\n", plan_digest);
    struct error error = create(writer, folder, worker);
    if (!error_is(error))
        error = append_bytes(writer, &head);
    if (!error_is(error))
        error = sync_folder(folder);
    if (error_is(error) && writer->fd >= 0)
        unlink(writer->path);
    if (error_is(error))
        shard_close(writer);
    buffer_release(&head);
    return error;
}

static void write_record(struct buffer *out, const struct shard_record *record)
{
    char checksum[33];
    struct hash_stream *hash = hash_stream_new();
    buffer_format(out, "run %s %zu %s %s %zu ", run_state_names[record->state], record->run, record->key,
                  record->digest, record->bytes.length);
    hash_stream_add(hash, out->bytes, out->length);
    hash_stream_add(hash, record->bytes.at, record->bytes.length);
    hash_stream_hex(hash, checksum);
    hash_stream_free(hash);
    buffer_format(out, "%s\n", checksum);
    buffer_text(out, record->bytes);
    buffer_char(out, '\n');
}

struct error shard_append(struct shard_writer *writer, const struct shard_record *record)
{
    struct buffer bytes = {0};
    if (writer->is_broken)
        return error_new(ERROR_IO, "%s takes no more records, since one could not be written", writer->path);
    write_record(&bytes, record);
    struct error error = append_bytes(writer, &bytes);
    if (!error_is(error))
        writer->unsynced++;
    buffer_release(&bytes);
    return error;
}

struct error shard_sync(struct shard_writer *writer)
{
    if (writer->unsynced == 0)
        return ERROR_OK;
    if (fsync(writer->fd) != 0) {
        writer->is_broken = true;
        return error_io("write", writer->path, errno);
    }
    writer->unsynced = 0;
    return ERROR_OK;
}

void shard_close(struct shard_writer *writer)
{
    if (writer->path != NULL && writer->fd >= 0)
        close(writer->fd);
    mem_free(writer->path);
    *writer = (struct shard_writer){0};
}

/* ---- reading ---- */

struct reader {
    const char *path;
    int fd;
    uint64_t at, size;   /* read so far; bytes of the file when it was opened */
    struct buffer bytes; /* read and not yet taken, from `begin` on */
    size_t begin;
};

/* Have at least `length` bytes; false: the file ends before. */
static struct error fill(struct reader *reader, size_t length, bool *has)
{
    struct buffer *bytes = &reader->bytes;
    if (reader->begin > 0) {
        memmove(bytes->bytes, bytes->bytes + reader->begin, bytes->length - reader->begin);
        bytes->length -= reader->begin;
        reader->begin = 0;
    }
    while (bytes->length < length) {
        const uint64_t left = reader->size - reader->at;
        const size_t want = left < READ_BYTES ? (size_t)left : READ_BYTES;
        char *room = buffer_reserve(bytes, want > 0 ? want : 1);
        const ssize_t count = want > 0 ? read(reader->fd, room, want) : 0;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_io("read", reader->path, errno);
        if (count == 0)
            break;
        bytes->length += (size_t)count;
        reader->at += (uint64_t)count;
    }
    *has = bytes->length >= length;
    return ERROR_OK;
}

static struct text present(const struct reader *reader)
{
    return (struct text){reader->bytes.bytes + reader->begin, reader->bytes.length - reader->begin};
}

/* The next line without its end; false: there is none that is whole. */
static struct error find_line(struct reader *reader, struct text *line, bool *has)
{
    bool is_full;
    TRY(fill(reader, LINE_BYTES_MAX, &is_full));
    *line = present(reader);
    const char *end = line->length > 0 ? memchr(line->at, '\n', line->length) : NULL;
    *has = end != NULL && end - line->at < LINE_BYTES_MAX;
    if (*has)
        line->length = (size_t)(end - line->at);
    return ERROR_OK;
}

static bool is_digest(struct text text)
{
    return text.length == DIGITS_MAX;
}

static bool find_state(struct text name, enum run_state *state)
{
    for (int s = RUN_DONE; s < RUN_STATES; s++)
        if (text_is(name, run_state_names[s])) {
            *state = (enum run_state)s;
            return true;
        }
    return false;
}

/* "run STATE RUN KEY DIGEST LENGTH CHECKSUM" */
static bool parse_line(struct text line, struct shard_record *record, struct text *checksum)
{
    struct text cells[CELLS] = {{0}}, rest = line;
    int64_t run, length;
    for (size_t c = 0; c < CELLS; c++)
        if (rest.at == NULL || !text_cut(&rest, ' ', &cells[c]))
            return false;
    if (rest.at != NULL || !text_is(cells[0], "run") || !find_state(cells[1], &record->state) ||
        !text_to_int64(cells[2], 0, UINT32_MAX, &run) || !is_digest(cells[3]) || !is_digest(cells[4]) ||
        !text_to_int64(cells[5], 0, INT64_MAX / 2, &length) || !is_digest(cells[6]))
        return false;
    record->run = (size_t)run;
    record->bytes.length = (size_t)length;
    memcpy(record->key, cells[3].at, DIGITS_MAX);
    memcpy(record->digest, cells[4].at, DIGITS_MAX);
    *checksum = cells[6];
    return true;
}

/* The next record, if it is whole; it is taken by the caller. */
static struct error find_record(struct reader *reader, struct shard_record *record, size_t *line_length, bool *has)
{
    struct text line, checksum;
    char hex[33];
    *record = (struct shard_record){0};
    TRY(find_line(reader, &line, has));
    if (!*has)
        return ERROR_OK;
    *has = parse_line(line, record, &checksum);
    const uint64_t left = reader->size - reader->at + reader->bytes.length;
    if (!*has || record->bytes.length + line.length + 2 > left) {
        *has = false;
        return ERROR_OK;
    }
    *line_length = line.length;
    TRY(fill(reader, line.length + record->bytes.length + 2, has));
    if (!*has)
        return ERROR_OK;
    line = (struct text){present(reader).at, *line_length};
    record->bytes.at = line.at + line.length + 1;
    struct hash_stream *hash = hash_stream_new();
    hash_stream_add(hash, line.at, line.length - DIGITS_MAX);
    hash_stream_add(hash, record->bytes.at, record->bytes.length);
    hash_stream_hex(hash, hex);
    hash_stream_free(hash);
    *has = memcmp(hex, line.at + line.length - DIGITS_MAX, DIGITS_MAX) == 0 &&
           record->bytes.at[record->bytes.length] == '\n';
    return ERROR_OK;
}

/* Of a process that was killed before it could write the first line: nothing is in it. */
static bool is_torn_head(struct text bytes)
{
    const size_t length = bytes.length < strlen(MAGIC) ? bytes.length : strlen(MAGIC);
    return memcmp(bytes.length > 0 ? bytes.at : "", MAGIC, length) == 0;
}

static struct error read_head(struct reader *reader, const char *plan_digest, struct shard_end *end, bool *has)
{
    struct text line;
    TRY(find_line(reader, &line, has));
    if (!*has && is_torn_head(present(reader)))
        return ERROR_OK;
    if (!*has || line.length < strlen(MAGIC) || memcmp(line.at, MAGIC, strlen(MAGIC)) != 0)
        return error_new(ERROR_DATA, "%s is no shard of a sweep", reader->path);
    const struct text digest = {line.at + strlen(MAGIC), line.length - strlen(MAGIC)};
    if (!text_is(digest, plan_digest)) {
        struct error error = error_new(ERROR_DATA, "%s belongs to another plan: to %.*s, not to %s", reader->path,
                                       (int)digest.length, digest.at, plan_digest);
        error_set_hint(&error, "move it to the folder of its sweep");
        return error;
    }
    end->whole_bytes = line.length + 1;
    reader->begin += line.length + 1;
    return ERROR_OK;
}

static struct error read_records(struct reader *reader, const char *plan_digest, shard_record_fn *on_record, void *self,
                                 struct shard_end *end)
{
    struct shard_record record;
    size_t line_length = 0;
    bool has;
    TRY(read_head(reader, plan_digest, end, &has));
    while (has) {
        TRY(find_record(reader, &record, &line_length, &has));
        if (!has)
            break;
        TRY(on_record(self, &record, end->whole_bytes + line_length + 1));
        reader->begin += line_length + record.bytes.length + 2;
        end->whole_bytes += line_length + record.bytes.length + 2;
    }
    end->torn_bytes = reader->size - end->whole_bytes;
    return ERROR_OK;
}

struct error shard_read(const char *path, const char *plan_digest, shard_record_fn *on_record, void *self,
                        struct shard_end *end)
{
    struct stat status;
    struct reader reader = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    *end = (struct shard_end){0};
    if (reader.fd < 0)
        return error_io("open", path, errno);
    int reason = fstat(reader.fd, &status) != 0 ? errno : 0;
    if (reason == 0 && !S_ISREG(status.st_mode))
        reason = EINVAL;
    struct error error = reason != 0 ? error_io("read", path, reason) : ERROR_OK;
    if (!error_is(error)) {
        reader.size = (uint64_t)status.st_size;
        error = read_records(&reader, plan_digest, on_record, self, end);
    }
    close(reader.fd);
    buffer_release(&reader.bytes);
    return error;
}
