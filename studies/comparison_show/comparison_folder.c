#include "studies/comparison_show/comparison_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/output.h"
#include "sim/live/event_file.h"
#include "sim/record/record_files.h"

enum { NAME_MAX_BYTES = 60, STAGING_ATTEMPTS_MAX = 1000 };

static const char *const record_names[] = {RESULT_FILE,          RECORD_JOBS_FILE, RECORD_ATTEMPTS_FILE,
                                           RECORD_TIMELINE_FILE, HTML_FILE,        EVENT_FILE};
enum { RECORD_NAME_COUNT = sizeof record_names / sizeof *record_names };

static char *path_new(const char *folder, const char *name)
{
    struct buffer text = {0};
    buffer_format(&text, "%s/%s", folder, name);
    char *path = mem_copy_text(buffer_c_string(&text));
    buffer_release(&text);
    return path;
}

/* ---- names ---- */

static bool is_taken(const char *name, char *const *names, size_t count)
{
    if (strcasecmp(name, HTML_FILE) == 0 || strcasecmp(name, COMPARISON_FILE) == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

void comparison_folder_names(const char *const *sides, size_t count, char **names)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (size_t i = 0; i < count; i++) {
        struct buffer name = {0};
        for (const char *at = sides[i]; *at != '\0' && name.length < NAME_MAX_BYTES; at++) {
            const bool is_plain = strchr(plain, *at) != NULL;
            if (is_plain || name.length == 0 || name.bytes[name.length - 1] != '-')
                buffer_char(&name, is_plain ? *at : '-');
        }
        if (name.length == 0 || name.bytes[0] == '.' || name.bytes[0] == '-') {
            struct buffer whole = {0};
            buffer_format(&whole, "side%s", buffer_c_string(&name));
            buffer_release(&name);
            name = whole;
        }
        const size_t length = name.length;
        for (int number = 2; is_taken(buffer_c_string(&name), names, i); number++) {
            name.length = length;
            buffer_format(&name, "-%d", number);
        }
        names[i] = mem_copy_text(buffer_c_string(&name));
        buffer_release(&name);
    }
}

/* ---- what is there ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The folders of the comparison that is there; false: there is none.  The caller frees each name. */
static bool old_names(const char *path, char *names[COMPARISON_SIDES_MAX], size_t *count)
{
    char *file = path_new(path, COMPARISON_FILE);
    const char *sides[COMPARISON_SIDES_MAX] = {NULL};
    json_t *root = json_load_file(file, 0, NULL), *side;
    mem_free(file);
    size_t index;
    const bool is = json_is_integer(json_object_get(root, "comparison_schema_version"));
    *count = 0;
    json_array_foreach(json_object_get(root, "sides"), index, side)
    {
        const char *name = json_string_value(json_object_get(side, "name"));
        if (is && name != NULL && *count < COMPARISON_SIDES_MAX)
            sides[(*count)++] = name;
    }
    comparison_folder_names(sides, *count, names);
    json_decref(root);
    return is;
}

/* The first entry of the folder that `is_ours` does not know; the caller frees it with free. */
static char *stranger_new(const char *path, bool (*is_ours)(const char *name, char *const *names, size_t count),
                          char *const *names, size_t count)
{
    char *stranger = NULL;
    DIR *entries = opendir(path);
    for (struct dirent *entry; entries != NULL && stranger == NULL && (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !is_ours(entry->d_name, names, count))
            stranger = mem_copy_text(entry->d_name);
    if (entries != NULL)
        closedir(entries);
    return stranger;
}

static bool is_record_file(const char *name, char *const *names, size_t count)
{
    (void)names, (void)count;
    for (size_t i = 0; i < RECORD_NAME_COUNT; i++)
        if (strcmp(name, record_names[i]) == 0)
            return true;
    return false;
}

static bool is_of_comparison(const char *name, char *const *names, size_t count)
{
    long process;
    if (strcmp(name, HTML_FILE) == 0 || strcmp(name, COMPARISON_FILE) == 0 || output_is_temp_name(name, &process))
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static struct error refuse(const char *path, const char *name, bool is_comparison)
{
    struct error error = error_new(ERROR_USAGE, "'%s' is not written over: it holds '%s', which is not of %s", path,
                                   name, is_comparison ? "the comparison there" : "a comparison");
    error_set_hint(&error, "name a new folder");
    return error;
}

static struct error check_content(const char *path, char *const *names, size_t count, bool is_comparison)
{
    struct error error = ERROR_OK;
    char *stranger = stranger_new(path, is_of_comparison, names, count);
    if (stranger == NULL && !is_comparison) { /* a page alone may be that of a run */
        char *page = path_new(path, HTML_FILE);
        stranger = access(page, F_OK) == 0 ? mem_copy_text(HTML_FILE) : NULL;
        mem_free(page);
    }
    if (stranger != NULL)
        error = refuse(path, stranger, is_comparison);
    mem_free(stranger);
    for (size_t i = 0; i < count && !error_is(error); i++) {
        char *record = path_new(path, names[i]);
        stranger = is_folder(record) ? stranger_new(record, is_record_file, NULL, 0) : NULL;
        if (stranger != NULL)
            error = refuse(record, stranger, is_comparison);
        mem_free(stranger);
        mem_free(record);
    }
    return error;
}

static struct error check_old(const char *path)
{
    char *names[COMPARISON_SIDES_MAX] = {NULL};
    size_t count;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        return error_io("write a folder over", path, ENOTDIR);
    const bool is_comparison = old_names(path, names, &count);
    struct error error = check_content(path, names, count, is_comparison);
    for (size_t i = 0; i < count; i++)
        mem_free(names[i]);
    return error;
}

/* A record in the folder would go with the comparison that is there. */
static struct error check_record(const char *path, const struct comparison_side_options *side)
{
    char *folder = realpath(path, NULL), *record = side->record != NULL ? realpath(side->record, NULL) : NULL;
    struct error error = ERROR_OK;
    const size_t length = folder != NULL ? strlen(folder) : 0;
    if (folder != NULL && record != NULL && strncmp(folder, record, length) == 0 &&
        (record[length] == '/' || record[length] == '\0')) {
        error = error_new(ERROR_USAGE, "'%s' is not written over: the side '%s' is a record in it", path, side->name);
        error_set_hint(&error, "name a new folder");
    }
    free(folder);
    free(record);
    return error;
}

/* ---- the hidden folder ---- */

/* Remove a folder that this program made, with all that is in it. */
static void remove_made(const char *path)
{
    DIR *entries = opendir(path);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *inside = path_new(path, entry->d_name);
        if (is_folder(inside))
            remove_made(inside);
        else
            unlink(inside);
        mem_free(inside);
    }
    if (entries != NULL)
        closedir(entries);
    rmdir(path);
}

/* Those of processes that were killed. */
static void remove_abandoned(const char *path)
{
    DIR *entries = opendir(path);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (!folder_is_of_dead(entry->d_name))
            continue;
        char *inside = path_new(path, entry->d_name);
        if (is_folder(inside))
            remove_made(inside);
        mem_free(inside);
    }
    if (entries != NULL)
        closedir(entries);
}

static struct error make_staging(struct comparison_folder *folder)
{
    for (int attempt = 0; attempt < STAGING_ATTEMPTS_MAX; attempt++) {
        char name[OUTPUT_TEMP_BYTES];
        output_temp_name(name, attempt);
        char *path = path_new(folder->path, name);
        const int reason = mkdir(path, 0777) == 0 ? 0 : errno;
        if (reason == 0) {
            folder->staging = path;
            return ERROR_OK;
        }
        mem_free(path);
        if (reason != EEXIST)
            return error_io("make a folder in", folder->path, reason);
    }
    return error_io("make a folder in", folder->path, EEXIST);
}

struct error comparison_folder_open(struct comparison_folder *folder, const char *path,
                                    const struct comparison_side_options *sides, size_t side_count)
{
    const char *side_names[COMPARISON_SIDES_MAX] = {NULL};
    struct stat status;
    *folder = (struct comparison_folder){.path = mem_copy_text(path), .side_count = side_count};
    if (path[0] == '\0')
        return error_new(ERROR_USAGE, "'--out' must name a folder, got an empty name");
    for (size_t i = 0; i < side_count; i++)
        TRY(check_record(path, &sides[i]));
    TRY(check_old(path));
    const bool is_there = stat(path, &status) == 0;
    TRY(folder_open(&folder->held, path));
    folder->is_made = !is_there;
    remove_abandoned(path);
    TRY(make_staging(folder));
    for (size_t i = 0; i < side_count; i++)
        side_names[i] = sides[i].name;
    comparison_folder_names(side_names, side_count, folder->names);
    for (size_t i = 0; i < side_count; i++) {
        folder->records[i] = sides[i].record;
        if (sides[i].record == NULL && sides[i].baseline == NULL && sides[i].program == NULL)
            folder->records[i] = folder->run_records[i] = path_new(folder->staging, folder->names[i]);
    }
    return ERROR_OK;
}

/* ---- the commit ---- */

static struct error remove_file(const char *folder, const char *name)
{
    char *path = path_new(folder, name);
    struct error error = unlink(path) == 0 || errno == ENOENT ? ERROR_OK : error_io("remove", path, errno);
    mem_free(path);
    return error;
}

static struct error remove_record(const char *path)
{
    if (!is_folder(path))
        return ERROR_OK;
    for (size_t i = 0; i < RECORD_NAME_COUNT; i++)
        TRY(remove_file(path, record_names[i]));
    return rmdir(path) == 0 ? ERROR_OK : error_io("remove", path, errno);
}

/* The page goes first: what is left is no comparison that somebody would look at. */
static struct error remove_old(const char *path)
{
    char *names[COMPARISON_SIDES_MAX] = {NULL};
    size_t count;
    old_names(path, names, &count);
    struct error error = remove_file(path, HTML_FILE);
    for (size_t i = 0; i < count; i++) {
        char *record = path_new(path, names[i]);
        if (!error_is(error))
            error = remove_record(record);
        mem_free(record);
        mem_free(names[i]);
    }
    return error;
}

/* Which records there are; a run that failed has none. */
static void find_records(const struct comparison_folder *folder, const struct comparison *comparison,
                         struct comparison_page *page)
{
    for (size_t i = 0; i < folder->side_count; i++) {
        const bool is_run = folder->run_records[i] != NULL;
        if (comparison->sides[i].runs == NULL || comparison_shown_run(comparison, i)->state != COMPARISON_RUN_DONE)
            continue;
        page->records[i] = folder->records[i];
        page->folders[i] = is_run ? folder->names[i] : NULL;
    }
}

static struct error open_in(struct output **out, const char *folder, const char *name)
{
    return output_open_inside(out, folder, name, OUTPUT_PLAIN);
}

static struct error move_records(const struct comparison_folder *folder, const struct comparison_page *about)
{
    for (size_t i = 0; i < folder->side_count; i++) {
        if (about->folders[i] == NULL)
            continue;
        char *path = path_new(folder->path, folder->names[i]);
        const int reason = rename(folder->run_records[i], path) == 0 ? 0 : errno;
        struct error error = reason != 0 ? error_io("make the folder", path, reason) : ERROR_OK;
        mem_free(path);
        TRY(error);
    }
    return ERROR_OK;
}

static struct error publish(struct comparison_folder *folder, const struct comparison_page *about, struct output **page,
                            struct output **numbers)
{
    TRY(output_seal(*page));
    TRY(output_seal(*numbers));
    TRY(check_old(folder->path)); /* somebody may have put a file there meanwhile */
    TRY(remove_old(folder->path));
    folder->is_made = false;
    TRY(output_commit(numbers)); /* names the folders that come now */
    TRY(move_records(folder, about));
    return output_commit(page);
}

struct error comparison_folder_commit(struct comparison_folder *folder, const struct comparison *comparison,
                                      const struct comparison_show *show)
{
    struct output *page = NULL, *numbers = NULL;
    struct comparison_page about = {.folder = folder->path};
    find_records(folder, comparison, &about);
    struct error error = open_in(&page, folder->path, HTML_FILE);
    if (!error_is(error))
        error = open_in(&numbers, folder->path, COMPARISON_FILE);
    if (!error_is(error)) {
        struct show *document = comparison_show_new(comparison, show, &about);
        show_page(document, NULL, output_buffer(page));
        show_free(document);
        comparison_write(comparison, COMPARISON_JSON, show, output_buffer(numbers));
        error = publish(folder, &about, &page, &numbers);
    }
    output_discard(&page);
    output_discard(&numbers);
    return error;
}

void comparison_folder_release(struct comparison_folder *folder)
{
    if (folder->staging != NULL)
        remove_made(folder->staging);
    if (folder->is_made)
        rmdir(folder->path);
    folder_close(&folder->held);
    for (size_t i = 0; i < folder->side_count; i++) {
        mem_free(folder->names[i]);
        mem_free(folder->run_records[i]);
    }
    mem_free(folder->staging);
    mem_free(folder->path);
    *folder = (struct comparison_folder){0};
}
