/* reports/record_check.c -- see reports/record_check.h. */
#include "reports/record_check.h"

#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/json_file.h"

struct error record_check_open(struct json_doc **doc, const char *folder)
{
    struct buffer path = {0};
    struct stat status;
    *doc = NULL;
    buffer_format(&path, "%s/" RESULT_FILE, folder);
    const bool is_folder = stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
    struct error error = input_check_plain(buffer_c_string(&path));
    if (!error_is(error))
        error = json_file_read(doc, buffer_c_string(&path), RESULT_BYTES_MAX, ERROR_DATA, NULL);
    if (error_is(error) && is_folder && stat(buffer_c_string(&path), &status) != 0)
        error_set_hint(&error, "a run writes it last: it has not ended, or was killed before; run the scenario again");
    buffer_release(&path);
    return error;
}

static struct error broken(const char *folder, const char *name, const char *what)
{
    struct error error = error_new(ERROR_DATA, "%s is a broken record: %s %s", folder, name, what);
    error_set_hint(&error, "a run that replaced it was killed, or the file was changed; run the scenario again");
    return error;
}

struct error record_check_digest(const char *folder, const struct result_manifest *manifest, const char *name,
                                 const char digest[33])
{
    for (size_t i = 0; i < manifest->file_count; i++)
        if (strcmp(manifest->files[i].name, name) == 0 && strcmp(manifest->files[i].digest, digest) != 0)
            return broken(folder, name, "is not the file that " RESULT_FILE " names");
    return ERROR_OK;
}

static struct error check_file(const char *folder, const struct result_manifest *manifest, const char *name,
                               bool is_needed)
{
    struct buffer path = {0};
    struct stat status;
    char digest[33];
    buffer_format(&path, "%s/%s", folder, name);
    const bool is_there = lstat(buffer_c_string(&path), &status) == 0;
    struct error error = strchr(name, '/') != NULL ? broken(folder, name, "is no name of a file in it")
                                                   : input_check_plain(buffer_c_string(&path));
    if (!error_is(error))
        error = input_digest(buffer_c_string(&path), digest);
    buffer_release(&path);
    if (error_is(error) && error.kind == ERROR_IO && !is_there) {
        error_release(&error);
        return is_needed ? broken(folder, name, "is missing") : ERROR_OK;
    }
    TRY(error);
    return record_check_digest(folder, manifest, name, digest);
}

struct error record_check_files(const char *folder, const struct result_manifest *manifest, bool needs_all)
{
    for (size_t i = 0; i < manifest->file_count; i++)
        TRY(check_file(folder, manifest, manifest->files[i].name, needs_all));
    return ERROR_OK;
}
