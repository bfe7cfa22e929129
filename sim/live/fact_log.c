#include "sim/live/fact_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"

enum { FILE_MODE = 0644, BLOCK = 1 << 16 };

struct fact_log {
    const char *path; /* borrowed */
    int fd;
    off_t length;
    uint64_t torn;
    bool is_unsynced;
};

/* The end of the last whole line among the first `length` bytes. */
static struct error find_whole(const struct fact_log *log, off_t length, off_t *whole)
{
    char *block = mem_zalloc(BLOCK, 1);
    struct error error = ERROR_OK;
    for (*whole = 0; *whole == 0 && length > 0 && !error_is(error);) {
        const off_t from = length > BLOCK ? length - BLOCK : 0;
        const ssize_t count = pread(log->fd, block, (size_t)(length - from), from);
        if (count != length - from)
            error = error_io("read", log->path, count < 0 ? errno : EIO);
        const char *end = error_is(error) ? NULL : memrchr(block, '\n', (size_t)count);
        if (end != NULL)
            *whole = from + (end - block) + 1;
        length = from;
    }
    mem_free(block);
    return error;
}

static struct error open_file(struct fact_log *log)
{
    log->fd = open(log->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    if (log->fd < 0)
        return error_io("open", log->path, errno);
    if (flock(log->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_new(ERROR_IO, "another process writes %s", log->path);
    const off_t length = lseek(log->fd, 0, SEEK_END);
    if (length < 0)
        return error_io("read", log->path, errno);
    char first;
    if (length > 0 && pread(log->fd, &first, 1, 0) == 1 && first != '{')
        return error_at(ERROR_DATA, log->path, 1, 1, "this is no file of lines");
    TRY(find_whole(log, length, &log->length));
    log->torn = (uint64_t)(length - log->length);
    if (log->torn > 0 && ftruncate(log->fd, log->length) != 0)
        return error_io("write", log->path, errno);
    return ERROR_OK;
}

struct error fact_log_open(struct fact_log **out, const char *path)
{
    *out = mem_zalloc(1, sizeof **out);
    (*out)->path = path;
    struct error error = open_file(*out);
    if (error_is(error)) {
        fact_log_close(*out);
        *out = NULL;
    }
    return error;
}

bool fact_log_is_empty(const struct fact_log *log)
{
    return log->length == 0;
}

uint64_t fact_log_torn(const struct fact_log *log)
{
    return log->torn;
}

struct error fact_log_append(struct fact_log *log, struct text lines)
{
    log->is_unsynced = true;
    while (lines.length > 0) {
        const ssize_t count = write(log->fd, lines.at, lines.length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return error_io("write", log->path, count < 0 ? errno : EIO);
        lines.at += count;
        lines.length -= (size_t)count;
        log->length += count;
    }
    return ERROR_OK;
}

struct error fact_log_sync(struct fact_log *log)
{
    if (log->is_unsynced && fdatasync(log->fd) != 0 && errno != EINVAL) /* EINVAL: devices need no sync */
        return error_io("write", log->path, errno);
    log->is_unsynced = false;
    return ERROR_OK;
}

void fact_log_close(struct fact_log *log)
{
    if (log == NULL)
        return;
    if (log->fd >= 0)
        close(log->fd);
    mem_free(log);
}
