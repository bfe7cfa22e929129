#include "studies/run/record_gate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"

/* ---- Paths ---- */

static bool is_same_folder(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static const char *join(struct record_gate *gate, const char *folder, const char *name)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/%s", folder, name);
    const char *kept = arena_copy(&gate->arena, (struct text){path.bytes, path.length});
    buffer_release(&path);
    return kept;
}

/* The path of a file that the record names, as seen from here; in the gate's arena. */
static const char *record_gate_path(struct record_gate *gate, const char *name)
{
    const char *folder = gate->record->host.folder;
    if (name[0] == '/' || folder == NULL || is_same_folder(folder, "."))
        return name;
    return join(gate, folder, name);
}

/* Does the path lead to something beneath the folder, links followed? */
static bool is_beneath(const char *path, const char *folder)
{
    char *real = realpath(path, NULL), *real_folder = realpath(folder, NULL);
    const size_t length = real_folder != NULL ? strlen(real_folder) : 0;
    const bool is = real != NULL && real_folder != NULL && strncmp(real, real_folder, length) == 0 &&
                    (real[length] == '/' || length == 1);
    free(real);
    free(real_folder);
    return is;
}

/* ---- Files ---- */

static const struct result_input *find_input(const struct record_gate *gate, const char *role, const char *name)
{
    const struct result_manifest *manifest = &gate->record->manifest;
    for (size_t i = 0; i < manifest->input_count; i++)
        if (strcmp(manifest->inputs[i].role, role) == 0 && strcmp(manifest->inputs[i].name, name) == 0)
            return &manifest->inputs[i];
    return NULL;
}

static struct error has_digest(const char *path, const char *digest, bool *has)
{
    char now[33];
    *has = false;
    TRY(input_digest(path, now));
    *has = strcmp(now, digest) == 0;
    return ERROR_OK;
}

/* A pipe or a device is not opened. */
static struct error is_wanted(const char *path, const char *digest, bool *is)
{
    struct stat status;
    *is = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return *is ? has_digest(path, digest, is) : ERROR_OK;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* *found: NULL if it is not there. */
static struct error find_in(struct record_gate *gate, const char *folder, const struct result_input *input,
                            const char **found)
{
    const char *path = record_gate_path(gate, input->name), *inside = join(gate, folder, last_name(input->name));
    bool is = false;
    if (is_same_folder(folder, gate->folder) || is_beneath(path, folder))
        TRY(is_wanted(path, input->digest, &is));
    *found = is ? path : NULL;
    if (!is && is_beneath(inside, folder))
        TRY(is_wanted(inside, input->digest, &is));
    if (is && *found == NULL)
        *found = inside;
    return ERROR_OK;
}

static struct error refuse_file(const struct record_gate *gate, const char *role, const char *name)
{
    struct error error = error_new(ERROR_CONFIG, "the record %s names the file '%s' (%s), and a record opens no file",
                                   gate->folder, name, role);
    error_set_hint(&error,
                   "if the record is your own, say so with --trust %s; or name the folder of its data: "
                   "--trust FOLDER",
                   gate->folder);
    return error;
}

static struct error open_data(struct record_gate *gate, const char *role, const char **path)
{
    const struct result_input *input = find_input(gate, role, *path);
    const char *found = NULL;
    if (gate->trusted_count == 0)
        return refuse_file(gate, role, *path);
    if (input == NULL)
        return error_new(ERROR_DATA, "the record %s does not list '%s' (%s) among its inputs", gate->folder, *path,
                         role);
    for (size_t i = 0; i < gate->trusted_count && found == NULL; i++)
        TRY(find_in(gate, gate->trusted[i], input, &found));
    if (found == NULL) {
        struct error error = error_new(ERROR_DATA, "no file with the digest of '%s' (%s: %s) is in what is trusted",
                                       *path, role, input->digest);
        error_set_hint(&error, "the file is gone or has changed; name the folder in which it is: --trust FOLDER");
        return error;
    }
    *path = found;
    return ERROR_OK;
}

static struct error open_plugin(struct record_gate *gate, const char **path)
{
    const struct result_input *input = find_input(gate, "plugin", *path);
    for (size_t i = 0; i < gate->plugins.count && input != NULL; i++) {
        bool is;
        TRY(has_digest(gate->plugins.paths[i], input->digest, &is));
        if (is) {
            *path = gate->plugins.paths[i];
            return ERROR_OK;
        }
    }
    struct error error = error_new(ERROR_CONFIG, "the record %s names the plug-in '%s', and a record loads no code",
                                   gate->folder, *path);
    error_set_hint(&error, "if you trust the plug-in, name it: --plugin FILE.so");
    return error;
}

static struct error on_file(void *self, const char *role, bool is_typed, const char **path)
{
    (void)is_typed;
    return strcmp(role, "plugin") == 0 ? open_plugin(self, path) : open_data(self, role, path);
}

void record_gate_init(struct record_gate *gate, const char *folder, const struct result *record,
                      const struct scenario_options *options)
{
    *gate = (struct record_gate){.gate = {.self = gate, .on_file = on_file},
                                 .folder = folder,
                                 .record = record,
                                 .trusted = options->trusted,
                                 .trusted_count = options->trusted_count,
                                 .plugins = options->plugins};
}

void record_gate_release(struct record_gate *gate)
{
    arena_release(&gate->arena);
}
