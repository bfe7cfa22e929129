#include "tests/support/golden.h"

#include <errno.h>
#include <stdio.h>

#include "tests/support/test.h"

/* ---- Texts ---- */

static void write_golden(const char *path, const struct buffer *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text->bytes, 1, text->length, file), text->length);
    assert_int_equal(fclose(file), 0);
    print_message("wrote %s\n", path);
}

/* Read what the file holds; in update mode it is written first. */
static void read_golden(const char *path, const struct buffer *told, struct buffer *kept)
{
    const char *update = getenv("WINDTUNNEL_GOLDEN_UPDATE");
    if (update != NULL && strcmp(update, "1") == 0)
        write_golden(path, told);
    FILE *file = fopen(path, "rb");
    char bytes[4096];
    size_t length;
    if (file == NULL)
        fail_msg("there is no %s; make golden-update writes it", path);
    while ((length = fread(bytes, 1, sizeof bytes, file)) > 0)
        buffer_bytes(kept, bytes, length);
    assert_int_equal(fclose(file), 0);
}

/* The next line of a text, without its end; *at moves after it.  False: there is none. */
static bool next_line(const char **at, struct text *line)
{
    *line = (struct text){*at, strcspn(*at, "\n")};
    *at += line->length + ((*at)[line->length] == '\n');
    return line->at != *at;
}

bool golden_differs(const char *path, struct buffer *told)
{
    struct buffer kept = {0};
    struct text was, is;
    uint32_t others = 0;
    read_golden(path, told, &kept);
    const char *before = buffer_c_string(&kept), *now = buffer_c_string(told);
    while ((int)next_line(&before, &was) | (int)next_line(&now, &is)) /* both advance */
        if (!text_equal(was, is)) {
            print_error("was %.*s\nis  %.*s\n", (int)was.length, was.at, (int)is.length, is.at);
            others++;
        }
    if (others > 0)
        print_error("%s: %u lines differ\n", path, others);
    buffer_release(&kept);
    buffer_release(told);
    return others > 0;
}

void golden_compare(const char *path, struct buffer *told)
{
    assert_false(golden_differs(path, told));
}

/* ---- Trails: a line `GROUP/` before the lines `NAME CHARACTERS` of its runs ---- */

void golden_trails_begin(struct golden_trails *trails, const char *group, const char *name)
{
    if (trails->text.length > 0)
        buffer_char(&trails->text, '\n');
    if (strcmp(trails->group, group) != 0) {
        assert_true(strlen(group) < sizeof trails->group);
        strcpy(trails->group, group);
        buffer_format(&trails->text, "%s/\n", group);
    }
    buffer_format(&trails->text, "%s ", name);
    trails->steps = 0;
}

void golden_trails_step(struct golden_trails *trails, uint64_t hash)
{
    static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    buffer_char(&trails->text, characters[hash % 64]);
    trails->steps++;
}

void golden_trails_release(struct golden_trails *trails)
{
    buffer_release(&trails->text);
    *trails = (struct golden_trails){0};
}

struct trail { /* where a file of trails is being read */
    const char *at;
    struct text group, name, steps;
};

static bool next_trail(struct trail *trail)
{
    struct text line;
    while (next_line(&trail->at, &line)) {
        const char *blank = memrchr(line.at, ' ', line.length);
        if (blank == NULL || line.at[line.length - 1] == '/') {
            trail->group = line;
            continue;
        }
        trail->name = (struct text){line.at, (size_t)(blank - line.at)};
        trail->steps = (struct text){blank + 1, line.length - trail->name.length - 1};
        return true;
    }
    return false;
}

static uint32_t first_other(struct text was, struct text is)
{
    uint32_t step = 0;
    while (step < was.length && step < is.length && was.at[step] == is.at[step])
        step++;
    return step + 1;
}

/* Note the first difference.  Runs are compared in their order. */
static void note_difference(const struct trail *was, const struct trail *is, struct golden_difference *first)
{
    bool is_same_run = text_equal(was->group, is->group) && text_equal(was->name, is->name);
    if (is_same_run && text_equal(was->steps, is->steps))
        return;
    if (first->runs_differing++ > 0)
        return;
    struct buffer run = {0};
    buffer_text(&run, is->group);
    buffer_text(&run, is->name);
    snprintf(first->run, sizeof first->run, "%s", buffer_c_string(&run));
    buffer_release(&run);
    first->steps_before = (uint32_t)was->steps.length;
    first->steps = (uint32_t)is->steps.length;
    first->step = is_same_run ? first_other(was->steps, is->steps) : 0;
}

static void print_first(const char *path, const struct golden_difference *first)
{
    print_error("%s: %u of %u runs differ.\n", path, first->runs_differing, first->run_count);
    if (first->step == 0)
        print_error("The runs are others than before, from %s on.\n", first->run);
    else
        print_error("The first is %s, from its step %u on; it has %u steps and had %u.\n", first->run, first->step,
                    first->steps, first->steps_before);
}

bool golden_trails_differ(const char *path, struct golden_trails *trails, struct golden_difference *first)
{
    struct buffer kept = {0};
    buffer_char(&trails->text, '\n');
    read_golden(path, &trails->text, &kept);
    struct trail was = {.at = buffer_c_string(&kept)}, is = {.at = buffer_c_string(&trails->text)};
    *first = (struct golden_difference){0};
    while (next_trail(&is)) {
        if (!next_trail(&was))
            was.steps.length = was.name.length = 0;
        note_difference(&was, &is, first);
        first->run_count++;
    }
    if (first->runs_differing == 0 && next_trail(&was))
        note_difference(&was, &(struct trail){.group = {"", 0}}, first);
    if (first->runs_differing > 0)
        print_first(path, first);
    buffer_release(&kept);
    golden_trails_release(trails);
    return first->runs_differing > 0;
}

void golden_print_replay(const char *run)
{
    print_error("All that it does: %s \"%s\"\n"
                "To see what it did before, run that in a build of the last commit too, and compare the two.\n",
                program_invocation_name, run);
}

const char *golden_split_run(char *run)
{
    char *slash = strrchr(run, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return slash + 1;
}
