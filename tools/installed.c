/* tools/installed.c -- finds installed files by the path of the program. */
#include "tools/installed.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

static struct arena kept; /* holds the texts that were returned */

/* The path of these parts, if the file exists; else NULL. */
static const char *existing(const char *format, ...) LIKE_PRINTF(1, 2);
static const char *existing(const char *format, ...)
{
    char path[PATH_MAX];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(path, sizeof path, format, values);
    va_end(values);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0)
        return NULL;
    return arena_copy(&kept, text_of(path));
}

/* The folder two levels above the program: PREFIX, or the source tree for build/VARIANT/windtunnel.  False: not
 * known. */
static bool find_root(char root[PATH_MAX], bool *is_tree)
{
    ssize_t length = readlink("/proc/self/exe", root, PATH_MAX - 1);
    if (length <= 0)
        return false;
    root[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(root, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    char *name = strrchr(root, '/');
    *is_tree = name != NULL && strcmp(name, "/build") == 0;
    if (*is_tree)
        *name = '\0';
    return true;
}

static const char *folder_of(const char *installed)
{
    char root[PATH_MAX];
    bool is_tree;
    if (!find_root(root, &is_tree))
        return NULL;
    return is_tree ? existing("%s", root) : existing("%s/%s", root, installed);
}

const char *installed_data(void)
{
    return folder_of("share/windtunnel");
}

const char *installed_docs(void)
{
    return folder_of("share/doc/windtunnel");
}

const char *installed_find(const char *name, const char *folder)
{
    const char *data, *found;
    if (name == NULL || name[0] == '/' || access(name, F_OK) == 0 || (data = installed_data()) == NULL)
        return name;
    found = existing("%s/%s", data, name);
    if (found == NULL && strchr(name, '/') == NULL)
        found = existing("%s/%s/%s", data, folder, name);
    if (found == NULL && strchr(name, '/') == NULL)
        found = existing("%s/%s/%s.json", data, folder, name);
    return found != NULL ? found : name;
}
