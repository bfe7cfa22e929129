#include "studies/sweep/sweep_books.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "base/names.h"
#include "base/output.h"
#include "reports/result.h"

enum { FAILURE_BYTES_MAX = 1 << 20 };
#define FAILURE_SUFFIX ".failed"

const char *const run_state_names[] = {"missing", "done", "error", "crash", "memory", "timeout", "killed", NULL};

/* Replaces what is in `out`. */
static const char *failure_path(struct buffer *out, const char *folder, const struct sweep_plan *plan, size_t run)
{
    out->length = 0;
    buffer_format(out, "%s/" KEPT_RUNS_FOLDER "/%s" FAILURE_SUFFIX, folder, plan->runs[run].key);
    return buffer_c_string(out);
}

/* A file of a folder that a stranger may have made. */
static struct error read_failure_file(const char *path, struct buffer *out)
{
    char *bytes;
    size_t length;
    TRY(input_check_plain(path));
    TRY(input_read_all(path, FAILURE_BYTES_MAX, &bytes, &length));
    out->length = 0;
    buffer_bytes(out, bytes, length);
    mem_free(bytes);
    return ERROR_OK;
}

/* ---- Writing ---- */

static struct error write_failure(const char *path, const char *before, struct text text)
{
    struct output *output;
    TRY(output_open(&output, path, OUTPUT_PLAIN));
    buffer_string(output_buffer(output), before);
    buffer_text(output_buffer(output), text);
    return output_commit(&output);
}

struct error sweep_books_keep(const char *folder, const struct sweep_plan *plan, size_t run, enum run_state state,
                              struct text text)
{
    struct buffer path = {0}, before = {0};
    buffer_format(&before, "%s: ", run_state_names[state]);
    struct error error = state == RUN_DONE
                             ? kept_runs_write(kept_runs_path(folder, plan->runs[run].key, &path), text)
                             : write_failure(failure_path(&path, folder, plan, run), buffer_c_string(&before), text);
    buffer_release(&before);
    buffer_release(&path);
    return error;
}

/* ---- Reading ---- */

struct reading {
    struct sweep_books *books;
    struct names *keys; /* of the distinct runs */
    size_t *runs;       /* by id of the key */
};

static struct error read_failure(struct sweep_books *books, size_t run)
{
    struct sweep_entry *entry = &books->entries[run];
    struct buffer path = {0}, bytes = {0};
    struct text text, name;
    struct error error = read_failure_file(failure_path(&path, books->folder, books->plan, run), &bytes);
    text = (struct text){bytes.bytes, bytes.length};
    if (!error_is(error) && text_cut(&text, ':', &name) && text.length > 0)
        for (int s = RUN_ERROR; s < RUN_STATES; s++)
            if (text_is(name, run_state_names[s]))
                *entry = (struct sweep_entry){
                    .state = (enum run_state)s,
                    .failure = arena_copy(&books->arena, (struct text){text.at + 1, text.length - 1})};
    if (!error_is(error) && entry->state == RUN_MISSING)
        error = error_new(ERROR_DATA, "%s does not begin with what became of the run", buffer_c_string(&path));
    buffer_release(&bytes);
    buffer_release(&path);
    return error;
}

static bool ends_with(struct text name, const char *suffix)
{
    const size_t length = strlen(suffix);
    return name.length > length && memcmp(name.at + name.length - length, suffix, length) == 0;
}

/* Files of other sweeps, and those without a final name yet, are none of ours. */
static struct error take_file(struct reading *reading, struct text name)
{
    struct sweep_books *books = reading->books;
    const bool is_result = ends_with(name, KEPT_RUNS_SUFFIX);
    if (!is_result && !ends_with(name, FAILURE_SUFFIX))
        return ERROR_OK;
    name.length -= strlen(is_result ? KEPT_RUNS_SUFFIX : FAILURE_SUFFIX);
    const uint32_t key = names_find(reading->keys, name);
    if (key == NAMES_NONE)
        return ERROR_OK;
    struct sweep_entry *entry = &books->entries[reading->runs[key]];
    if (is_result)
        *entry = (struct sweep_entry){.state = RUN_DONE};
    return is_result || entry->state == RUN_DONE ? ERROR_OK : read_failure(books, reading->runs[key]);
}

static struct error take_files(struct reading *reading)
{
    struct buffer path = {0};
    struct dirent *file;
    struct error error = ERROR_OK;
    buffer_format(&path, "%s/" KEPT_RUNS_FOLDER, reading->books->folder);
    DIR *list = opendir(buffer_c_string(&path));
    while (list != NULL && !error_is(error) && (errno = 0, file = readdir(list)) != NULL)
        error = take_file(reading, text_of(file->d_name));
    if (!error_is(error) && errno != 0)
        error = error_io("read", buffer_c_string(&path), errno);
    if (list != NULL)
        closedir(list);
    buffer_release(&path);
    return error;
}

struct error sweep_books_read(struct sweep_books *out, const struct sweep_plan *plan, const char *folder)
{
    *out = (struct sweep_books){
        .plan = plan, .folder = folder, .entries = mem_zalloc(plan->run_count, sizeof *out->entries)};
    struct reading reading = {
        .books = out, .keys = names_new(), .runs = mem_zalloc(plan->run_count, sizeof *reading.runs)};
    for (size_t r = 0; r < plan->run_count; r++)
        if (plan->runs[r].first == r)
            reading.runs[names_add(reading.keys, text_of(plan->runs[r].key))] = r;
    struct error error = take_files(&reading);
    names_free(reading.keys);
    mem_free(reading.runs);
    for (size_t r = 0; r < plan->run_count; r++) {
        out->entries[r] = out->entries[plan->runs[r].first];
        out->counts[out->entries[r].state]++;
    }
    if (error_is(error))
        sweep_books_release(out);
    return error;
}

struct error sweep_books_result(const struct sweep_books *books, size_t run, struct buffer *path, struct buffer *text)
{
    bool is_kept;
    return kept_runs_read(kept_runs_path(books->folder, books->plan->runs[run].key, path), text, &is_kept);
}

void sweep_books_release(struct sweep_books *books)
{
    mem_free(books->entries);
    arena_release(&books->arena);
    *books = (struct sweep_books){0};
}

bool sweep_books_is_complete(const struct sweep_books *books)
{
    return books->counts[RUN_DONE] == books->plan->run_count;
}
