/* base/input.c -- see base/input.h.
 *
 * One block of bytes holds what was read and not yet given out; lines point into it.  Only
 * when no line end is left in it, the rest moves to the front and more is read behind it.
 */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
    BLOCK_BYTES = 256 << 10,          /* fits the second-level cache together with the reader's data */
    ROOM_BYTES_MIN = BLOCK_BYTES / 2, /* with less room no read is made */
    MAGIC_BYTES = 4,
    WINDOW_LOG_MAX = 27, /* 128 MiB, what `zstd -d` allows without --long */
};

static const struct input_caps caps_default = {
    .bytes_max = UINT64_C(64) << 30,
    .ratio_max = 200,
    .line_max = UINT64_C(16) << 20,
};
static const uint64_t ratio_free_bytes = UINT64_C(64) << 20; /* a smaller output is harmless at any ratio */

struct input {
    char *path;     /* as in messages */
    int fd;         /* -1: the bytes were given */
    bool has_place; /* a file of its own: read at `place`, so that a process and its children may read on */
    off_t place;
    struct hash_stream *digest; /* of the bytes that were read from it */
    struct input_caps caps;
    char *block;
    size_t capacity;
    size_t begin;  /* first byte not yet given out */
    size_t end;    /* after the last byte */
    size_t nul_at; /* the first NUL byte from begin on, else SIZE_MAX */
    uint64_t line_number;
    uint64_t produced_bytes; /* bytes written into the block in total */
    uint64_t stored_bytes;   /* bytes of the file used so far */
    uint64_t file_bytes;     /* 0: not known */
    bool has_ended;          /* no more bytes follow */
    ZSTD_DStream *zstd;      /* NULL: plain */
    ZSTD_inBuffer stored;    /* read but not decompressed yet; the bytes are owned */
    bool is_in_frame;
};

/* ---- reading bytes ---- */

static struct error bad_data(const struct input *input, const char *format, ...) LIKE_PRINTF(2, 3);

/* An error of the file as a whole. */
static struct error bad_data(const struct input *input, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = NULL;
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    struct error error = error_at(ERROR_DATA, input->path, 0, 0, "%s", message != NULL ? message : "");
    free(message);
    return error;
}

/* *count is 0 at the end of the file only. */
static struct error read_some(struct input *input, void *bytes, size_t room, size_t *count)
{
    ssize_t got;
    do
        got = input->has_place ? pread(input->fd, bytes, room, input->place) : read(input->fd, bytes, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_io("read", input->path, errno);
    input->place += got;
    *count = (size_t)got;
    hash_stream_add(input->digest, bytes, *count);
    return ERROR_OK;
}

static struct error truncated(const struct input *input)
{
    struct error error = bad_data(input, "the compressed data ends in the middle of a frame");
    error_set_hint(&error, "the file was cut off; copy or make it again");
    return error;
}

static struct error zstd_error(const struct input *input, size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge: {
        struct error error =
            bad_data(input, "decompressing it needs a window above %d MiB", 1 << (WINDOW_LOG_MAX - 20));
        error_set_hint(&error, "compress it again without --long above %d", WINDOW_LOG_MAX);
        return error;
    }
    case ZSTD_error_memory_allocation:
        return error_new(ERROR_INTERNAL, "cannot read %s: too little memory to decompress it", input->path);
    case ZSTD_error_prefix_unknown:
        return bad_data(input, "something that is not zstd follows the last frame");
    default:
        return bad_data(input, "the compressed data is damaged: %s", ZSTD_getErrorName(code));
    }
}

static struct error refill_stored(struct input *input)
{
    size_t count = 0;
    TRY(read_some(input, (char *)(uintptr_t)input->stored.src, BLOCK_BYTES, &count));
    input->stored.size = count;
    input->stored.pos = 0;
    return ERROR_OK;
}

/* Decompress at least one byte into the room, or reach the end. */
static struct error read_zstd(struct input *input, char *bytes, size_t room, size_t *count)
{
    ZSTD_outBuffer out = {bytes, room, 0};
    while (out.pos == 0) {
        bool is_file_at_end = false;
        if (input->stored.pos == input->stored.size) {
            TRY(refill_stored(input));
            is_file_at_end = input->stored.size == 0;
        }
        if (is_file_at_end && !input->is_in_frame)
            break;
        size_t stored_before = input->stored.pos;
        size_t rest = ZSTD_decompressStream(input->zstd, &out, &input->stored);
        if (ZSTD_isError(rest))
            return zstd_error(input, rest);
        input->stored_bytes += input->stored.pos - stored_before;
        input->is_in_frame = rest != 0;
        if (is_file_at_end && out.pos == 0 && input->is_in_frame)
            return truncated(input);
    }
    *count = out.pos;
    return ERROR_OK;
}

static struct error check_caps(const struct input *input)
{
    if (input->produced_bytes > input->caps.bytes_max)
        return bad_data(input, "it holds more than the %" PRIu64 " bytes allowed", input->caps.bytes_max);
    if (input->zstd != NULL && input->produced_bytes > ratio_free_bytes &&
        input->produced_bytes / input->caps.ratio_max >= input->stored_bytes) {
        struct error error =
            bad_data(input, "it grows more than %" PRIu64 "-fold when decompressed", input->caps.ratio_max);
        error_set_hint(&error, "if that is meant, decompress it first");
        return error;
    }
    return ERROR_OK;
}

/* Note `count` bytes that were added after the end of the block. */
static struct error take(struct input *input, size_t count)
{
    const char *at = input->block + input->end;
    input->produced_bytes += count;
    TRY(check_caps(input));
    if (input->nul_at == SIZE_MAX && count != 0) {
        const char *nul = memchr(at, '\0', count);
        if (nul != NULL)
            input->nul_at = (size_t)(nul - input->block);
    }
    input->end += count;
    return ERROR_OK;
}

/* Read bytes to the end of the block, which has room; sets has_ended if there are none. */
static struct error fill(struct input *input)
{
    char *at = input->block + input->end;
    size_t room = input->capacity - input->end;
    size_t count = 0;
    /* one byte above the cap shows that it is exceeded */
    uint64_t allowed = input->caps.bytes_max - input->produced_bytes;
    if (allowed < room)
        room = (size_t)allowed + 1;
    if (input->zstd != NULL)
        TRY(read_zstd(input, at, room, &count));
    else
        TRY(read_some(input, at, room, &count));
    input->has_ended = count == 0;
    return take(input, count);
}

/* ---- opening ---- */

/* RFC 8878, section 3.1: 0xFD2FB528 begins a frame, 0x184D2A50 to 5F a skippable one; little-endian. */
static bool is_zstd(const char *bytes, size_t count)
{
    if (count < MAGIC_BYTES)
        return false;
    return memcmp(bytes, "\x28\xb5\x2f\xfd", MAGIC_BYTES) == 0 ||
           (((unsigned char)bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0);
}

/* Is the whole file the start of a magic number?  One byte of it, '(', or an empty file is valid text too; only then
 * does the name decide. */
static bool is_zstd_stump(const struct input *input, size_t count)
{
    size_t length = strlen(input->path);
    bool is_called_zstd = length >= 4 && strcmp(input->path + length - 4, ".zst") == 0;
    if (count >= MAGIC_BYTES || (count != 0 && memcmp(input->block, "\x28\xb5\x2f", count) != 0))
        return false;
    return count >= 2 || is_called_zstd;
}

/* The first `count` stored bytes are in the block. */
static struct error start_zstd(struct input *input, size_t count)
{
    char *stored = mem_alloc(BLOCK_BYTES);
    memcpy(stored, input->block, count);
    input->stored = (ZSTD_inBuffer){stored, count, 0};
    input->zstd = ZSTD_createDStream();
    if (input->zstd == NULL)
        return error_new(ERROR_INTERNAL, "cannot read %s: too little memory to decompress it", input->path);
    size_t status = ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    return ZSTD_isError(status) ? zstd_error(input, status) : ERROR_OK;
}

/* Read enough to detect the format. */
static struct error start(struct input *input)
{
    size_t count = 0;
    size_t more = 1;
    while (more != 0 && count < MAGIC_BYTES) {
        TRY(read_some(input, input->block + count, input->capacity - count, &more));
        count += more;
    }
    if (is_zstd_stump(input, count))
        return truncated(input);
    if (is_zstd(input->block, count))
        return start_zstd(input, count);
    input->has_ended = more == 0;
    return take(input, count);
}

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

struct error input_check_plain(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0 || S_ISREG(status.st_mode))
        return ERROR_OK;
    struct error error = error_new(ERROR_DATA, "%s is no regular file, and is not opened", path);
    if (S_ISLNK(status.st_mode))
        error_set_hint(&error, "it is a link: put the file itself in its place");
    return error;
}

bool input_is_once(const char *path)
{
    struct stat status;
    return is_standard_input(path) ||
           (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

static struct error open_file(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY); /* a directory opens, and then cannot be read */
    return *fd < 0 ? error_io("open", path, errno) : ERROR_OK;
}

static uint64_t cap_or(uint64_t cap, uint64_t otherwise)
{
    return cap != 0 ? cap : otherwise;
}

struct error input_open(struct input **out, const char *path, const struct input_caps *caps)
{
    int fd = STDIN_FILENO;
    struct stat status;
    *out = NULL;
    if (!is_standard_input(path))
        TRY(open_file(path, &fd));
    struct input *input = mem_zalloc(1, sizeof *input);
    input->path = mem_copy_text(is_standard_input(path) ? "standard input" : path);
    input->fd = fd;
    input->digest = hash_stream_new();
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        input->file_bytes = (uint64_t)status.st_size;
    input->has_place = input->file_bytes > 0 && !is_standard_input(path);
    if (caps == NULL)
        caps = &caps_default;
    input->caps.bytes_max = cap_or(caps->bytes_max, caps_default.bytes_max);
    input->caps.ratio_max = cap_or(caps->ratio_max, caps_default.ratio_max);
    input->caps.line_max = cap_or(caps->line_max, caps_default.line_max);
    input->block = mem_alloc(BLOCK_BYTES);
    input->capacity = BLOCK_BYTES;
    input->nul_at = SIZE_MAX;
    struct error error = start(input);
    if (error_is(error))
        input_close(input);
    else
        *out = input;
    return error;
}

struct input *input_of_bytes_new(const char *path, char *bytes, size_t length)
{
    struct input *input = mem_zalloc(1, sizeof *input);
    const char *nul = length != 0 ? memchr(bytes, '\0', length) : NULL;
    *input = (struct input){.path = mem_copy_text(path),
                            .fd = -1,
                            .caps = caps_default,
                            .block = bytes,
                            .capacity = length,
                            .end = length,
                            .nul_at = nul != NULL ? (size_t)(nul - bytes) : SIZE_MAX,
                            .has_ended = true};
    return input;
}

void input_close(struct input *input)
{
    if (input == NULL)
        return;
    if (input->fd > STDIN_FILENO)
        close(input->fd); /* it was only read, so no data can be lost */
    hash_stream_free(input->digest);
    ZSTD_freeDStream(input->zstd);
    mem_free((void *)(uintptr_t)input->stored.src);
    mem_free(input->block);
    mem_free(input->path);
    mem_free(input);
}

const char *input_path(const struct input *input)
{
    return input->path;
}

double input_done_ratio(const struct input *input)
{
    const uint64_t done = input->zstd != NULL ? input->stored_bytes : input->produced_bytes;
    return done < input->file_bytes ? (double)done / (double)input->file_bytes : input->file_bytes > 0;
}

uint64_t input_line_number(const struct input *input)
{
    return input->line_number;
}

/* ---- lines ---- */

/* Move the remaining bytes to the front, to make room after them. */
static void make_room(struct input *input)
{
    size_t left = input->end - input->begin;
    if (input->begin != 0 && left != 0)
        memmove(input->block, input->block + input->begin, left);
    if (input->nul_at != SIZE_MAX)
        input->nul_at -= input->begin;
    input->begin = 0;
    input->end = left;
    if (input->capacity - left < ROOM_BYTES_MIN) {
        size_t capacity = input->capacity * 2;
        input->block = mem_resize(input->block, capacity, 1);
        input->capacity = capacity;
    }
}

static struct error line_too_long(const struct input *input)
{
    return error_at(ERROR_DATA, input->path, (size_t)input->line_number + 1, 0,
                    "the line is longer than the %" PRIu64 " bytes allowed", input->caps.line_max);
}

/* Read until the block holds a line end, or the input ends. */
static struct error find_line_end(struct input *input, char **line_end)
{
    size_t scanned = input->end - input->begin;
    *line_end = NULL;
    while (*line_end == NULL && !input->has_ended) {
        if (scanned > input->caps.line_max + 1) /* 1: a CR may be part of the line end */
            return line_too_long(input);
        make_room(input);
        TRY(fill(input));
        size_t left = input->end - input->begin;
        if (left > scanned)
            *line_end = memchr(input->block + input->begin + scanned, '\n', left - scanned);
        scanned = left;
    }
    return ERROR_OK;
}

static struct error nul_in_line(const struct input *input, struct text line)
{
    struct text nul = {input->block + input->nul_at, 1};
    return input_error(input, line, nul, "a NUL byte; this is no text");
}

static void skip_byte_order_mark(struct input *input)
{
    if (input->end - input->begin >= 3 && memcmp(input->block + input->begin, "\xef\xbb\xbf", 3) == 0)
        input->begin += 3;
}

/* The first line needs the first bytes, even if they arrive one by one. */
static struct error begin_lines(struct input *input)
{
    while (!input->has_ended && input->end - input->begin < 3) {
        make_room(input);
        TRY(fill(input));
    }
    skip_byte_order_mark(input);
    return ERROR_OK;
}

struct error input_line(struct input *input, struct text *line, bool *has)
{
    *has = false;
    if (input->line_number == 0)
        TRY(begin_lines(input));
    size_t left = input->end - input->begin;
    char *line_end = left != 0 ? memchr(input->block + input->begin, '\n', left) : NULL;
    if (line_end == NULL) {
        TRY(find_line_end(input, &line_end));
        if (line_end == NULL && input->end == input->begin)
            return ERROR_OK;
    }
    char *at = input->block + input->begin;
    size_t next = line_end != NULL ? (size_t)(line_end - input->block) + 1 : input->end;
    line->at = at;
    line->length = (line_end != NULL ? next - 1 : next) - input->begin;
    if (line_end != NULL && line->length != 0 && at[line->length - 1] == '\r')
        line->length--;
    if (line->length > input->caps.line_max)
        return line_too_long(input);
    input->line_number++;
    if (input->nul_at < next)
        return nul_in_line(input, *line);
    input->begin = next;
    *has = true;
    return ERROR_OK;
}

struct error input_error(const struct input *input, struct text line, struct text piece, const char *format, ...)
{
    size_t column = piece.at != NULL ? (size_t)(piece.at - line.at) + 1 : 0;
    va_list arguments;
    va_start(arguments, format);
    char *message = NULL;
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    struct error error =
        error_at(ERROR_DATA, input->path, (size_t)input->line_number, column, "%s", message != NULL ? message : "");
    free(message);
    error_set_excerpt(&error, line.at, line.length, piece.length != 0 ? piece.length : 1);
    return error;
}

/* ---- whole files ---- */

struct error input_read_all(const char *path, uint64_t bytes_max, char **bytes, size_t *length)
{
    char hex[33];
    return input_read_all_digest(path, bytes_max, bytes, length, hex);
}

struct error input_read_all_digest(const char *path, uint64_t bytes_max, char **bytes, size_t *length, char hex[33])
{
    struct input_caps caps = caps_default;
    caps.bytes_max = bytes_max;
    struct input *input;
    *bytes = NULL;
    *length = 0;
    hex[0] = '\0';
    TRY(input_open(&input, path, &caps));
    struct error error = ERROR_OK;
    while (!input->has_ended && !error_is(error)) {
        make_room(input);
        error = fill(input);
    }
    if (!error_is(error)) {
        *bytes = input->block;
        *length = input->end;
        input->block = NULL;
        hash_stream_hex(input->digest, hex);
    }
    input_close(input);
    return error;
}

/* ---- digests ---- */

struct error input_finish_digest(struct input *input, char hex[33])
{
    char *bytes = mem_alloc(BLOCK_BYTES);
    size_t count = input->fd >= 0 ? 1 : 0;
    struct error error = ERROR_OK;
    hex[0] = '\0';
    while (count != 0 && !error_is(error))
        error = read_some(input, bytes, BLOCK_BYTES, &count);
    mem_free(bytes);
    if (!error_is(error))
        hash_stream_hex(input->digest, hex);
    return error;
}

struct error input_digest(const char *path, char hex[33])
{
    struct input input = {.path = (char *)(uintptr_t)path};
    hex[0] = '\0';
    TRY(open_file(path, &input.fd));
    input.digest = hash_stream_new();
    struct error error = input_finish_digest(&input, hex);
    hash_stream_free(input.digest);
    close(input.fd);
    return error;
}
