#include "base/temp_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 100 /* for what its user appends to the path */, RANDOM = 6 /* letters of mkdtemp */ };

struct error temp_folder_make(char path[PATH_MAX], const char *parent, const char *kind)
{
    int length = snprintf(path, PATH_MAX, "%s/windtunnel-%s-%ld-XXXXXX", parent, kind, (long)getpid());
    if (length < 0 || length + ROOM > PATH_MAX)
        return error_io("make a folder in", parent, ENAMETOOLONG);
    return mkdtemp(path) != NULL ? ERROR_OK : error_io("make a folder in", parent, errno);
}

/* The process in the name "windtunnel-KIND-4711-AbCdEf"; 0: it is another name. */
static long process_of(const char *name, const char *kind)
{
    static const char start[] = "windtunnel-";
    const size_t kind_length = strlen(kind);
    long process;
    int begin = 0, end = 0;
    if (strncmp(name, start, sizeof start - 1) != 0 || strncmp(name + sizeof start - 1, kind, kind_length) != 0)
        return 0;
    const char *rest = name + sizeof start - 1 + kind_length;
    if (sscanf(rest, "-%ld-%n%*6[A-Za-z0-9]%n", &process, &begin, &end) != 1 || end != begin + RANDOM ||
        rest[end] != '\0')
        return 0;
    return process > 0 && process <= INT_MAX ? process : 0;
}

static bool is_abandoned(int parent, const char *name, const char *kind)
{
    struct stat status;
    const long process = process_of(name, kind);
    return process != 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH &&
           fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid();
}

void temp_folder_clean(const char *parent, const char *kind, void (*remove)(const char *path))
{
    char path[PATH_MAX];
    DIR *entries = opendir(parent);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (!is_abandoned(dirfd(entries), entry->d_name, kind))
            continue;
        const int length = snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        if (length > 0 && (size_t)length < sizeof path)
            remove(path);
    }
    if (entries != NULL)
        closedir(entries);
}
