/* base/output.c -- see base/output.h.
 *
 * While it is written, the file has no name (O_TMPFILE), so that even a killed process
 * leaves nothing behind; where the file system cannot do that, a hidden one that ends in
 * ".tmp".  linkat cannot replace a file, so a nameless file gets such a name too, for the
 * moment between linkat and rename.
 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY /* for a parameter that may disappear: see start_zstd */
#include <zstd.h>

#include "base/hash.h"

enum {
    FLUSH_BYTES = 32 << 10,   /* text is compressed while it is still in the nearest cache */
    TEMP_ATTEMPTS_MAX = 1000, /* temporary files of that name, left behind by killed processes */
    WRITE_BYTES = 128 << 10,  /* whole pages, many at once: half the kernel's work of single blocks */
    BEHIND_BYTES = 4 << 20,   /* size of the parts that are sent to the disk; see write_behind */
    ZSTD_LEVEL = 1,
    ZSTD_HASH_LOG = 10, /* equal texts in CSV are near: a table that fits the first cache is faster, files no larger */
    ZSTD_WINDOW_LOG = 17,
    ZSTD_STEP = 3,
    FILE_MODE = 0666, /* before the umask */
    FOLDER_MODE = 0777,
};

struct output {
    char *path;        /* as given, for messages */
    char *target_path; /* folder and name of the file that is written: `path` with symbolic links resolved */
    const char *name;  /* the last part of target_path */
    int folder_fd;     /* -1: the file is written directly */
    int fd;            /* -1: closed */
    char temp_name[OUTPUT_TEMP_BYTES]; /* in the folder; "" while the file is nameless */
    struct buffer buffer;              /* not yet written */
    ZSTD_CCtx *zstd;                   /* NULL: plain */
    char *compressed;                  /* WRITE_BYTES in size */
    size_t compressed_length;          /* bytes in it */
    off_t written, behind;             /* bytes given to the kernel; bytes that it was told to send to the disk */
    struct hash_stream *digest;        /* of the bytes given to the kernel */
    int access;                        /* O_WRONLY or O_RDWR */
    int failure;                       /* errno of the first failed write, with which the commit fails too */
    bool is_sealed;
};

/* ---- names ---- */

void output_temp_name(char name[OUTPUT_TEMP_BYTES], int number)
{
    snprintf(name, OUTPUT_TEMP_BYTES, ".windtunnel-%ld-%d.tmp", (long)getpid(), number);
}

bool output_is_temp_name(const char *name, long *process)
{
    int number, end = 0;
    return sscanf(name, ".windtunnel-%ld-%d.tmp%n", process, &number, &end) == 2 && end > 0 && name[end] == '\0';
}

/* Call `try_name` with temporary names until it succeeds; returns the errno of the last failure, or 0. */
static int take_temp_name(struct output *output, int (*try_name)(struct output *output))
{
    for (int attempt = 0; attempt < TEMP_ATTEMPTS_MAX; attempt++) {
        output_temp_name(output->temp_name, attempt);
        if (try_name(output) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    int reason = errno;
    output->temp_name[0] = '\0';
    return reason;
}

static int try_create(struct output *output)
{
    output->fd = openat(output->folder_fd, output->temp_name,
                        output->access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    return output->fd < 0 ? -1 : 0;
}

static void proc_path(const struct output *output, char path[OUTPUT_TEMP_BYTES])
{
    snprintf(path, OUTPUT_TEMP_BYTES, "/proc/self/fd/%d", output->fd);
}

static int try_link(struct output *output)
{
    char path[OUTPUT_TEMP_BYTES];
    proc_path(output, path);
    return linkat(AT_FDCWD, path, output->folder_fd, output->temp_name, AT_SYMLINK_FOLLOW);
}

/* ---- opening ---- */

/* A nameless file.  Without /proc it could never get a name. */
static bool open_nameless(struct output *output)
{
    char path[OUTPUT_TEMP_BYTES];
    output->fd = openat(output->folder_fd, ".", O_TMPFILE | output->access | O_CLOEXEC, FILE_MODE);
    if (output->fd < 0)
        return false;
    proc_path(output, path);
    if (access(path, F_OK) == 0)
        return true;
    close(output->fd);
    output->fd = -1;
    return false;
}

static struct error open_in_folder(struct output *output)
{
    const char *slash = strrchr(output->target_path, '/');
    output->name = slash != NULL ? slash + 1 : output->target_path;
    if (output->name[0] == '\0')
        return error_io("write", output->path, output->target_path[0] == '\0' ? ENOENT : EISDIR);
    char *folder = mem_copy_text(slash != NULL ? output->target_path : ".");
    if (slash != NULL)
        folder[slash - output->target_path + 1] = '\0'; /* with the slash: "/" stays "/" */
    output->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int reason = output->folder_fd < 0 ? errno : 0;
    mem_free(folder);
    if (reason == 0 && !open_nameless(output))
        reason = take_temp_name(output, try_create);
    if (reason == 0)
        (void)flock(output->fd, LOCK_EX | LOCK_NB); /* whoever cleans up sees that the file is in use */
    return reason != 0 ? error_io("create", output->path, reason) : ERROR_OK;
}

static struct error open_standard_output(struct output *output)
{
    mem_free(output->path);
    output->path = mem_copy_text("standard output");
    output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    return output->fd < 0 ? error_io("write", output->path, errno) : ERROR_OK;
}

static struct error open_directly(struct output *output)
{
    if (output->access == O_RDWR) {
        struct error error = error_io("write", output->path, EINVAL);
        error_set_hint(&error, "it is not a regular file, and this output is not written from start to end");
        return error;
    }
    output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return output->fd < 0 ? error_io("open", output->path, errno) : ERROR_OK;
}

static struct error open_target(struct output *output)
{
    struct stat status;
    bool is_there = stat(output->path, &status) == 0;
    if (strcmp(output->path, "-") == 0 && output->access == O_WRONLY)
        return open_standard_output(output);
    if (is_there && S_ISDIR(status.st_mode))
        return error_io("write", output->path, EISDIR);
    if (is_there && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)))
        return open_directly(output);
    if (is_there && !S_ISREG(status.st_mode)) {
        struct error error = error_io("write", output->path, EINVAL);
        error_set_hint(&error, "it is neither a regular file nor a character device");
        return error;
    }
    /* a rename must replace the file, not a symbolic link to it */
    char *resolved = is_there ? realpath(output->path, NULL) : NULL;
    output->target_path = mem_copy_text(resolved != NULL ? resolved : output->path);
    free(resolved);
    return open_in_folder(output);
}

static bool set_zstd(struct output *output, ZSTD_cParameter parameter, int value)
{
    return !ZSTD_isError(ZSTD_CCtx_setParameter(output->zstd, parameter, value));
}

static struct error start_zstd(struct output *output)
{
    output->zstd = ZSTD_createCCtx();
    if (output->zstd == NULL || !set_zstd(output, ZSTD_c_compressionLevel, ZSTD_LEVEL) ||
        !set_zstd(output, ZSTD_c_hashLog, ZSTD_HASH_LOG) || !set_zstd(output, ZSTD_c_windowLog, ZSTD_WINDOW_LOG) ||
        !set_zstd(output, ZSTD_c_checksumFlag, 1))
        return error_io("compress", output->path, ENOMEM);
    /* Search in longer steps where nothing matches: a tenth faster, and files 2 % larger.  With such steps zstd leaves
     * literals uncompressed unless it is told to compress them.  If the library does not accept that, no steps are
     * set. */
    if (set_zstd(output, ZSTD_c_literalCompressionMode, ZSTD_ps_enable) &&
        !set_zstd(output, ZSTD_c_targetLength, ZSTD_STEP))
        return error_io("compress", output->path, ENOMEM);
    output->compressed = mem_alloc(WRITE_BYTES);
    return ERROR_OK;
}

static struct error open_inside(struct output *output)
{
    struct stat status;
    if (lstat(output->path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_io("write", output->path, EISDIR);
    output->target_path = mem_copy_text(output->path);
    return open_in_folder(output);
}

/* `path` becomes the output's. */
static struct error open_path(struct output **out, char *path, enum output_form form, bool is_inside)
{
    struct output *output = mem_zalloc(1, sizeof *output);
    *out = output;
    output->path = path;
    output->digest = hash_stream_new();
    output->folder_fd = output->fd = -1;
    output->access = form == OUTPUT_RANDOM ? O_RDWR : O_WRONLY;
    struct error error = is_inside ? open_inside(output) : open_target(output);
    if (!error_is(error) && form == OUTPUT_ZSTD)
        error = start_zstd(output);
    if (error_is(error))
        output_discard(out);
    return error;
}

struct error output_open(struct output **out, const char *path, enum output_form form)
{
    return open_path(out, mem_copy_text(path), form, false);
}

struct error output_open_inside(struct output **out, const char *folder, const char *name, enum output_form form)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/%s", folder, name);
    struct error error = open_path(out, mem_copy_text(buffer_c_string(&path)), form, true);
    buffer_release(&path);
    return error;
}

/* ---- writing ---- */

int output_descriptor(const struct output *output)
{
    return output->fd;
}

struct buffer *output_buffer(struct output *output)
{
    return &output->buffer;
}

static struct error fail_write(struct output *output, int reason)
{
    output->failure = reason;
    return error_io("write", output->path, reason);
}

/* Send a part of the file to the disk while the next is made, and drop it from the page cache afterwards.  So a long
 * record does not displace other data, its pages are reused, little is left for fsync, and a later record can replace
 * this one without freeing many pages.  A disk error that is reported here would not be reported again by fsync, so it
 * fails the write.  A kernel without this call loses nothing. */
static struct error write_behind(struct output *output)
{
    while (output->folder_fd >= 0 && output->written - output->behind >= BEHIND_BYTES) {
        off_t now = output->behind, before = now - BEHIND_BYTES;
        output->behind += BEHIND_BYTES;
        int status = sync_file_range(output->fd, now, BEHIND_BYTES, SYNC_FILE_RANGE_WRITE);
        if (status == 0 && before >= 0)
            status = sync_file_range(output->fd, before, BEHIND_BYTES,
                                     SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        if (status != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT))
            return fail_write(output, errno);
        if (status == 0 && before >= 0)
            posix_fadvise(output->fd, before, BEHIND_BYTES, POSIX_FADV_DONTNEED);
    }
    return ERROR_OK;
}

static struct error write_bytes(struct output *output, const char *bytes, size_t length)
{
    while (length != 0) {
        ssize_t written = write(output->fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail_write(output, written < 0 ? errno : EIO);
        hash_stream_add(output->digest, bytes, (size_t)written);
        bytes += written;
        length -= (size_t)written;
        output->written += written;
    }
    return write_behind(output);
}

static struct error compress_bytes(struct output *output, bool is_last)
{
    ZSTD_inBuffer in = {output->buffer.bytes, output->buffer.length, 0};
    size_t rest;
    do {
        ZSTD_outBuffer out = {output->compressed, WRITE_BYTES, output->compressed_length};
        rest = ZSTD_compressStream2(output->zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(rest)) {
            output->failure = ENOMEM; /* the parameters are valid, so nothing else can fail */
            return error_io("compress", output->path, output->failure);
        }
        output->compressed_length = out.pos;
        if (out.pos == WRITE_BYTES || (is_last && rest == 0)) {
            output->compressed_length = 0;
            TRY(write_bytes(output, output->compressed, out.pos));
        }
    } while (is_last ? rest != 0 : in.pos < in.size);
    return ERROR_OK;
}

static struct error flush(struct output *output, bool is_last)
{
    if (output->failure != 0)
        return error_io("write", output->path, output->failure);
    if (output->zstd != NULL)
        TRY(compress_bytes(output, is_last));
    else
        TRY(write_bytes(output, output->buffer.bytes, output->buffer.length));
    output->buffer.length = 0;
    return ERROR_OK;
}

struct error output_flush_if_full(struct output *output)
{
    if (output->buffer.length < FLUSH_BYTES)
        return ERROR_OK;
    return flush(output, false);
}

/* ---- the end ---- */

static struct error close_file(struct output *output)
{
    int status = close(output->fd);
    output->fd = -1; /* Linux closes it even on error */
    if (status != 0 && errno != EINTR)
        return error_io("write", output->path, errno);
    return ERROR_OK;
}

struct error output_seal(struct output *output)
{
    if (output->is_sealed)
        return ERROR_OK;
    TRY(flush(output, true));
    if (output->folder_fd >= 0 && fsync(output->fd) != 0) {
        output->failure = errno;
        return error_io("write", output->path, errno);
    }
    output->is_sealed = true;
    return ERROR_OK;
}

/* The data must be on the disk before the name shows the file. */
static struct error publish(struct output *output)
{
    if (output->temp_name[0] == '\0') {
        int reason = take_temp_name(output, try_link);
        if (reason != 0)
            return error_io("create", output->path, reason);
    }
    TRY(close_file(output));
    if (renameat(output->folder_fd, output->temp_name, output->folder_fd, output->name) != 0)
        return error_io("create", output->path, errno);
    output->temp_name[0] = '\0';
    if (fsync(output->folder_fd) != 0 && errno != EINVAL) /* EINVAL: folders need no fsync there */
        return error_io("write the folder of", output->path, errno);
    return ERROR_OK;
}

void output_digest(const struct output *output, char hex[33])
{
    hash_stream_hex(output->digest, hex);
}

struct error output_commit(struct output **out)
{
    struct error error = output_seal(*out);
    if (!error_is(error))
        error = (*out)->folder_fd < 0 ? close_file(*out) : publish(*out);
    output_discard(out);
    return error;
}

void output_discard(struct output **out)
{
    struct output *output = *out;
    *out = NULL;
    if (output == NULL)
        return;
    if (output->fd >= 0)
        close(output->fd);
    if (output->temp_name[0] != '\0')
        unlinkat(output->folder_fd, output->temp_name, 0);
    if (output->folder_fd >= 0)
        close(output->folder_fd);
    ZSTD_freeCCtx(output->zstd);
    hash_stream_free(output->digest);
    mem_free(output->compressed);
    buffer_release(&output->buffer);
    mem_free(output->target_path);
    mem_free(output->path);
    mem_free(output);
}

/* Make one folder, unless it exists. */
static struct error make_one(const char *folder, const char *path)
{
    struct stat status;
    if (mkdir(folder, FOLDER_MODE) == 0)
        return ERROR_OK;
    int reason = errno;
    /* a read-only file system reports this even if the folder exists */
    if (stat(folder, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return ERROR_OK;
        reason = ENOTDIR;
    }
    return error_io("create folder", path, reason);
}

struct error output_make_folder(const char *path)
{
    char *folder = mem_copy_text(path);
    struct error error = ERROR_OK;
    size_t length = strlen(path);
    for (size_t i = 1; i < length && !error_is(error); i++) {
        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        folder[i] = '\0';
        error = make_one(folder, path);
        folder[i] = '/';
    }
    if (!error_is(error))
        error = make_one(folder, path);
    mem_free(folder);
    return error;
}
