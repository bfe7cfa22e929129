/* base/folder.c -- see base/folder.h. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"

struct folder {
    char *path;
    int fd; /* holds the lock */
};

/* ---- what killed processes left ---- */

bool folder_is_of_dead(const char *temp_name)
{
    long process;
    return output_is_temp_name(temp_name, &process) && process > 0 && process <= INT_MAX &&
           kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* A process of another container looks dead here, but the lock that it holds on its file is seen. */
static bool is_abandoned(int folder, const char *name)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return false;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool is = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    close(file);
    return is;
}

static void remove_abandoned(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (folder_is_of_dead(entry->d_name) && is_abandoned(folder, entry->d_name))
            unlinkat(folder, entry->d_name, 0);
    }
    if (entries != NULL)
        closedir(entries);
    else if (copy >= 0)
        close(copy);
}

/* ---- life ---- */

static struct error hold(struct folder *folder)
{
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return error_io("open folder", folder->path, errno);
    if (flock(folder->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return ERROR_OK;
    struct error error = error_new(ERROR_IO, "cannot write %s: another run is writing it", folder->path);
    error_set_hint(&error, "wait until that has ended, or name another folder");
    return error;
}

struct error folder_open(struct folder **out, const char *path)
{
    *out = NULL;
    TRY(output_make_folder(path));
    struct folder *folder = mem_zalloc(1, sizeof *folder);
    *folder = (struct folder){.path = mem_copy_text(path), .fd = -1};
    struct error error = hold(folder);
    if (error_is(error)) {
        folder_close(&folder);
        return error;
    }
    remove_abandoned(folder->fd);
    *out = folder;
    return ERROR_OK;
}

struct error folder_remove(struct folder *folder, const char *name)
{
    if (unlinkat(folder->fd, name, 0) == 0)
        return fsync(folder->fd) == 0 || errno == EINVAL ? ERROR_OK : error_io("write", folder->path, errno);
    const int reason = errno;
    if (reason == ENOENT)
        return ERROR_OK;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return error_io("remove", path, reason);
}

void folder_close(struct folder **folder)
{
    if (*folder == NULL)
        return;
    if ((*folder)->fd >= 0)
        close((*folder)->fd);
    mem_free((*folder)->path);
    mem_free(*folder);
    *folder = NULL;
}
