#include "workloads/readers/side_files.h"

#include <assert.h>
#include <string.h>

#include "base/buffer.h"

void side_files_init(struct side_files *sides, const struct table_path *paths, uint32_t count)
{
    assert(count <= SIDE_FILES_MAX);
    *sides = (struct side_files){.count = count};
    for (uint32_t i = 0; i < count; i++)
        sides->files[i] = (struct side_file){.name = paths[i].name, .path = paths[i].path};
}

void side_files_begin(struct side_files *sides)
{
    sides->asked_count = 0;
}

static void note_asked(struct side_files *sides, const char *name)
{
    for (uint32_t i = 0; i < sides->asked_count; i++)
        if (strcmp(sides->asked[i], name) == 0)
            return;
    assert(sides->asked_count < SIDE_FILES_MAX);
    sides->asked[sides->asked_count++] = name;
}

struct side_file *side_files_ask(struct side_files *sides, const char *name)
{
    note_asked(sides, name);
    for (uint32_t i = 0; i < sides->count; i++)
        if (text_is(sides->files[i].name, name)) {
            sides->files[i].is_asked = true;
            return &sides->files[i];
        }
    return NULL;
}

struct error side_files_check(const struct side_files *sides, const char *format)
{
    struct buffer known = {0};
    const struct side_file *file = NULL;
    for (uint32_t i = 0; i < sides->count && file == NULL; i++)
        if (!sides->files[i].is_asked)
            file = &sides->files[i];
    if (file == NULL)
        return ERROR_OK;
    struct error error = error_new(ERROR_CONFIG, "traces of the format '%s' have no table '%.*s'", format,
                                   (int)file->name.length, file->name.at);
    for (uint32_t i = 0; i < sides->asked_count; i++)
        buffer_format(&known, "%s%s", i == 0 ? "" : ", ", sides->asked[i]);
    if (sides->asked_count > 0)
        error_set_hint(&error, "they may have: %s", buffer_c_string(&known));
    buffer_release(&known);
    return error;
}

struct error side_files_missing(const char *format, const char *name, const char *what)
{
    struct error error = error_new(ERROR_CONFIG, "a trace of the format '%s' needs the table '%s'%s%s", format, name,
                                   what[0] != '\0' ? ": " : "", what);
    error_set_hint(&error, "name its file: --table %s=FILE, or workload.tables.%s", name, name);
    return error;
}

struct error side_file_open(const struct side_file *file, struct input **input)
{
    return input_open(input, file->path, NULL);
}

struct error side_file_close(struct side_file *file, struct input *input)
{
    struct error error = input_finish_digest(input, file->digest);
    input_close(input);
    return error;
}

void side_files_release(struct side_files *sides)
{
    if (sides->content != NULL)
        sides->on_release(sides->content);
    *sides = (struct side_files){0};
}
