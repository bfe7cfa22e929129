/* reports/export/sqlite_file.c -- see reports/export/sqlite_file.h. */
#include "reports/export/sqlite_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"

#define VFS_NAME "windtunnel-output"

struct sqlite_file {
    sqlite3_vfs vfs; /* first: SQLite passes it back */
    sqlite3_vfs *base;
    struct output *output;
    char *path;
    sqlite3 *database;
    int failure; /* errno of the first failed write; 0: none */
    bool is_registered;
};

/* The database as SQLite has it open. */
struct open_file {
    sqlite3_file base; /* first, as SQLite wants */
    struct sqlite_file *file;
};

static struct sqlite_file *file_of(sqlite3_file *open)
{
    return ((struct open_file *)open)->file;
}

static int fd_of(sqlite3_file *open)
{
    return output_descriptor(file_of(open)->output);
}

/* ---- the database's own file ---- */

static int on_close(sqlite3_file *open)
{
    (void)open; /* the descriptor is the output's */
    return SQLITE_OK;
}

static int on_read(sqlite3_file *open, void *bytes, int length, sqlite3_int64 at)
{
    size_t done = 0;
    while (done < (size_t)length) {
        const ssize_t got = pread(fd_of(open), (char *)bytes + done, (size_t)length - done, at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SQLITE_IOERR_READ;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    if (done == (size_t)length)
        return SQLITE_OK;
    memset((char *)bytes + done, 0, (size_t)length - done);
    return SQLITE_IOERR_SHORT_READ;
}

static int fail_write(struct sqlite_file *file, int reason)
{
    if (file->failure == 0)
        file->failure = reason;
    return reason == ENOSPC || reason == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int on_write(sqlite3_file *open, const void *bytes, int length, sqlite3_int64 at)
{
    size_t done = 0;
    while (done < (size_t)length) {
        const ssize_t put = pwrite(fd_of(open), (const char *)bytes + done, (size_t)length - done, at + (off_t)done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fail_write(file_of(open), put < 0 ? errno : EIO);
        done += (size_t)put;
    }
    return SQLITE_OK;
}

static int on_truncate(sqlite3_file *open, sqlite3_int64 size)
{
    return ftruncate(fd_of(open), size) == 0 ? SQLITE_OK : fail_write(file_of(open), errno);
}

static int on_sync(sqlite3_file *open, int flags)
{
    (void)open, (void)flags; /* output_commit does that, once */
    return SQLITE_OK;
}

static int on_size(sqlite3_file *open, sqlite3_int64 *size)
{
    struct stat facts;
    if (fstat(fd_of(open), &facts) != 0)
        return SQLITE_IOERR_FSTAT;
    *size = facts.st_size;
    return SQLITE_OK;
}

/* Nobody else can open a file without a name. */
static int on_lock(sqlite3_file *open, int level)
{
    (void)open, (void)level;
    return SQLITE_OK;
}

static int on_check_lock(sqlite3_file *open, int *is_locked)
{
    (void)open;
    *is_locked = 0;
    return SQLITE_OK;
}

static int on_control(sqlite3_file *open, int operation, void *argument)
{
    (void)open, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int on_zero(sqlite3_file *open)
{
    (void)open; /* the default sector, no special abilities */
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_lock,
    .xCheckReservedLock = on_check_lock,
    .xFileControl = on_control,
    .xSectorSize = on_zero,
    .xDeviceCharacteristics = on_zero,
};

/* ---- the file system ---- */

/* Files without a name, in which SQLite sorts, are those of the usual file system: they go when they are closed. */
static int on_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *open, int flags, int *out_flags)
{
    struct sqlite_file *file = (struct sqlite_file *)vfs;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return file->base->xOpen(file->base, name, open, flags, out_flags);
    *(struct open_file *)open = (struct open_file){.base.pMethods = &methods, .file = file};
    if (out_flags != NULL)
        *out_flags = flags;
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    (void)vfs, (void)name, (void)is_synced;
    return SQLITE_OK;
}

/* There is no journal. */
static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
    (void)vfs, (void)name, (void)flags;
    *is_there = 0;
    return SQLITE_OK;
}

static int on_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    (void)vfs;
    sqlite3_snprintf(room, out, "%s", name);
    return SQLITE_OK;
}

/* ---- life ---- */

/* Of SQLite's last call: of the disk if a write failed, else with SQLite's words. */
static struct error sqlite_file_error(struct sqlite_file *file)
{
    if (file->failure != 0)
        return error_io("write", file->path, file->failure);
    const int code = file->database != NULL ? sqlite3_errcode(file->database) & 0xff : SQLITE_NOMEM;
    struct error error =
        error_new(code == SQLITE_NOMEM ? ERROR_INTERNAL : ERROR_IO, "cannot write %s: SQLite says '%s'", file->path,
                  file->database != NULL ? sqlite3_errmsg(file->database) : "out of memory");
    if (code == SQLITE_FULL || code == SQLITE_IOERR)
        error_set_hint(&error, "it sorts in the folder that SQLITE_TMPDIR or TMPDIR names");
    return error;
}

static struct error open_database(struct sqlite_file *file)
{
    file->base = sqlite3_vfs_find(NULL);
    if (file->base == NULL)
        return error_new(ERROR_INTERNAL, "SQLite has no file system");
    file->vfs = *file->base;
    file->vfs.pNext = NULL;
    file->vfs.zName = VFS_NAME;
    if (file->vfs.szOsFile < (int)sizeof(struct open_file))
        file->vfs.szOsFile = (int)sizeof(struct open_file);
    file->vfs.xOpen = on_open;
    file->vfs.xDelete = on_delete;
    file->vfs.xAccess = on_access;
    file->vfs.xFullPathname = on_full_path;
    if (sqlite3_vfs_register(&file->vfs, 0) != SQLITE_OK)
        return error_new(ERROR_INTERNAL, "SQLite takes no file system");
    file->is_registered = true;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2("output", &file->database, flags, VFS_NAME) != SQLITE_OK)
        return sqlite_file_error(file);
    return sqlite_file_run(file, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF;"
                                 "PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;"
                                 "PRAGMA cache_size = -32768;"); /* KiB: pages kept, and rows sorted in memory */
}

struct error sqlite_file_open(struct sqlite_file **out, const char *path)
{
    struct sqlite_file *file = mem_zalloc(1, sizeof *file);
    file->path = mem_copy_text(path);
    *out = file;
    struct error error = output_open(&file->output, path, OUTPUT_RANDOM);
    if (!error_is(error))
        error = open_database(file);
    if (error_is(error))
        sqlite_file_discard(out);
    return error;
}

struct error sqlite_file_run(struct sqlite_file *file, const char *sql)
{
    return sqlite3_exec(file->database, sql, NULL, NULL, NULL) == SQLITE_OK ? ERROR_OK : sqlite_file_error(file);
}

static struct error close_database(struct sqlite_file *file)
{
    struct error error = ERROR_OK;
    if (file->database != NULL && sqlite3_close(file->database) != SQLITE_OK)
        error = sqlite_file_error(file);
    else
        file->database = NULL;
    if (!error_is(error) && file->failure != 0)
        error = sqlite_file_error(file);
    return error;
}

struct error sqlite_file_commit(struct sqlite_file **file)
{
    struct error error = close_database(*file);
    if (!error_is(error))
        error = output_commit(&(*file)->output);
    sqlite_file_discard(file);
    return error;
}

void sqlite_file_discard(struct sqlite_file **out)
{
    struct sqlite_file *file = *out;
    *out = NULL;
    if (file == NULL)
        return;
    sqlite3_close_v2(file->database);
    if (file->is_registered)
        sqlite3_vfs_unregister(&file->vfs);
    output_discard(&file->output);
    mem_free(file->path);
    mem_free(file);
}

/* ---- rows ---- */

/* SQLite keeps any bytes, and programs that read the file then expect UTF-8. */
static int bind_text(sqlite3_stmt *insert, int place, struct text text)
{
    struct buffer visible = {0};
    struct text rest = text;
    size_t bytes = 1;
    while (rest.length > 0 && (bytes = text_utf8_bytes(rest)) != 0)
        rest = (struct text){rest.at + bytes, rest.length - bytes};
    if (bytes == 0)
        buffer_visible(&visible, text);
    const struct text kept = bytes == 0 ? (struct text){visible.bytes, visible.length} : text;
    const int status = sqlite3_bind_text64(insert, place, kept.at, kept.length,
                                           bytes == 0 ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
    buffer_release(&visible);
    return status;
}

static int bind(sqlite3_stmt *insert, int place, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INT:
        return sqlite3_bind_int64(insert, place, cell->value);
    case CELL_SCALED:
        return sqlite3_bind_double(insert, place, (double)cell->value / (double)cell->scale);
    case CELL_REAL:
        return sqlite3_bind_double(insert, place, cell->real);
    case CELL_TEXT:
        return bind_text(insert, place, cell->text);
    default:
        return sqlite3_bind_null(insert, place);
    }
}

struct error sqlite_table_open(struct sqlite_table *table, struct sqlite_file *file, const char *name,
                               size_t column_count)
{
    struct buffer sql = {0};
    *table = (struct sqlite_table){.file = file, .column_count = (int)column_count};
    buffer_format(&sql, "INSERT INTO %s VALUES (", name);
    for (size_t c = 0; c < column_count; c++)
        buffer_string(&sql, c > 0 ? ", ?" : "?");
    buffer_char(&sql, ')');
    const int status = sqlite3_prepare_v2(file->database, buffer_c_string(&sql), -1, &table->insert, NULL);
    buffer_release(&sql);
    return status == SQLITE_OK ? ERROR_OK : sqlite_file_error(file);
}

struct error sqlite_table_add(struct sqlite_table *table, const struct cell *cells)
{
    int status = SQLITE_OK;
    for (int c = 0; c < table->column_count && status == SQLITE_OK; c++)
        status = bind(table->insert, c + 1, &cells[c]);
    if (status == SQLITE_OK && sqlite3_step(table->insert) == SQLITE_DONE && sqlite3_reset(table->insert) == SQLITE_OK)
        return ERROR_OK;
    return sqlite_file_error(table->file);
}

void sqlite_table_close(struct sqlite_table *table)
{
    sqlite3_finalize(table->insert);
    *table = (struct sqlite_table){0};
}
