/* tests/support/scratch.c -- see tests/support/scratch.h. */
#include "tests/support/scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/support/test.h"

#include "tests/support/json_text.h"

static char folder[256];
static struct arena paths;

int scratch_make(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/windtunnel-test-XXXXXX", parent != NULL ? parent : "/tmp");
    return mkdtemp(folder) == NULL || chmod(folder, 0755) != 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    return walk->level == 0 ? 0 : remove(path);
}

void scratch_empty(void)
{
    assert_int_equal(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int scratch_remove(void **state)
{
    (void)state;
    scratch_empty();
    int status = rmdir(folder);
    arena_release(&paths);
    return status;
}

const char *scratch_path(const char *name)
{
    struct buffer path = {0};
    buffer_format(&path, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);
    const char *copy = arena_copy(&paths, (struct text){path.bytes, path.length});
    buffer_release(&path);
    return copy;
}

const char *scratch_write(const char *name, const void *bytes, size_t length)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (length != 0)
        assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *scratch_write_json(const char *name, const char *quoted)
{
    char *text = json_text_new(quoted);
    const char *path = scratch_write(name, text, strlen(text));
    free(text);
    return path;
}

struct buffer scratch_read(const char *name)
{
    struct buffer bytes = {0};
    FILE *file = fopen(scratch_path(name), "r");
    assert_non_null(file);
    size_t count;
    while ((count = fread(buffer_reserve(&bytes, 65536), 1, 65536, file)) != 0)
        bytes.length += count;
    assert_int_equal(fclose(file), 0);
    return bytes;
}

bool scratch_exists(const char *name)
{
    struct stat status;
    return lstat(scratch_path(name), &status) == 0;
}

size_t scratch_count(const char *name)
{
    DIR *directory = opendir(scratch_path(name));
    assert_non_null(directory);
    size_t count = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

void scratch_zstd_frame(struct buffer *out, const void *bytes, size_t length, bool has_checksum)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, has_checksum);
    size_t room = ZSTD_compressBound(length);
    size_t stored = ZSTD_compress2(context, buffer_reserve(out, room), room, bytes, length);
    assert_false(ZSTD_isError(stored));
    out->length += stored;
    ZSTD_freeCCtx(context);
}
