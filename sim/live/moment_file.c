#include "sim/live/moment_file.h"

#include <string.h>

#include "base/input.h"
#include "base/mem.h"
#include "base/output.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 36)

static const char piece_magic[8] = {'w', 't', 'm', 'o', 'm', 'e', 'n', 't'};

struct piece_header { /* no padding; then the bytes of the world and of the scheduler */
    char magic[8];
    time_ns at;
    uint64_t world, sched; /* lengths */
};

struct moment_file {
    struct output *output;
};

struct error moment_file_open(struct moment_file **out, const char *folder)
{
    struct output *output;
    *out = NULL;
    TRY(output_open_inside(&output, folder, MOMENT_FILE, OUTPUT_ZSTD));
    struct moment_file *file = mem_zalloc(1, sizeof *file);
    file->output = output;
    *out = file;
    return ERROR_OK;
}

struct error moment_file_add(void *self, const struct moment *moment)
{
    const struct moment_file *file = self;
    struct buffer *out = output_buffer(file->output);
    struct piece_header header = {.at = moment->at, .world = moment->world.length, .sched = moment->sched.length};
    memcpy(header.magic, piece_magic, sizeof header.magic);
    buffer_bytes(out, &header, sizeof header);
    buffer_text(out, moment->world);
    buffer_text(out, moment->sched);
    return output_flush_if_full(file->output);
}

struct error moment_file_seal(struct moment_file *file)
{
    return output_seal(file->output);
}

void moment_file_digest(const struct moment_file *file, char hex[33])
{
    output_digest(file->output, hex);
}

struct error moment_file_commit(struct moment_file **file)
{
    struct error error = output_commit(&(*file)->output);
    moment_file_discard(file);
    return error;
}

void moment_file_discard(struct moment_file **file)
{
    if (*file == NULL)
        return;
    output_discard(&(*file)->output);
    mem_free(*file);
    *file = NULL;
}

/* ---- Reading ---- */

/* One moment from *at on; false: there is none. */
static bool take_moment(const char **at, const char *end, struct moment *moment)
{
    struct piece_header header;
    if ((size_t)(end - *at) < sizeof header)
        return false;
    memcpy(&header, *at, sizeof header);
    *at += sizeof header;
    const uint64_t left = (uint64_t)(end - *at);
    if (memcmp(header.magic, piece_magic, sizeof header.magic) != 0 || header.world > left ||
        header.sched > left - header.world)
        return false;
    *moment =
        (struct moment){.at = header.at, .world = {*at, header.world}, .sched = {*at + header.world, header.sched}};
    *at += header.world + header.sched;
    return true;
}

static bool take_all(struct moment_list *list, size_t length)
{
    const char *at = list->bytes, *end = list->bytes + length;
    list->moments = mem_zalloc(MOMENTS_MAX, sizeof *list->moments);
    while (at < end) {
        if (list->count == MOMENTS_MAX || !take_moment(&at, end, &list->moments[list->count]))
            return false;
        list->count++;
    }
    return true;
}

struct error moment_list_read(struct moment_list *list, const char *folder)
{
    struct buffer path = {0};
    size_t length;
    *list = (struct moment_list){0};
    buffer_format(&path, "%s/%s", folder, MOMENT_FILE);
    struct error error = input_check_plain(buffer_c_string(&path));
    if (!error_is(error))
        error = input_read_all_digest(buffer_c_string(&path), FILE_BYTES_MAX, &list->bytes, &length, list->digest);
    if (!error_is(error) && !take_all(list, length)) {
        error = error_new(ERROR_DATA, "%s does not hold moments of a run, or is cut off", buffer_c_string(&path));
        error_set_hint(&error, "run the scenario again with --save-at");
    }
    buffer_release(&path);
    if (error_is(error))
        moment_list_release(list);
    return error;
}

const struct moment *moment_list_find(const struct moment_list *list, time_ns at)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->moments[i].at == at)
            return &list->moments[i];
    return NULL;
}

void moment_list_release(struct moment_list *list)
{
    mem_free(list->moments);
    mem_free(list->bytes);
    *list = (struct moment_list){0};
}
