#include "sim/live/event_file.h"

#include <string.h>

#include "base/input.h"
#include "base/output.h"

struct event_file {
    struct output *output;
    const struct cluster *cluster;
    const struct queue_table *queues;
    struct port_outside listener;
};

static struct error on_fact(void *self, const struct fact *fact)
{
    const struct event_file *file = self;
    wire_write_fact(output_buffer(file->output), file->cluster, file->queues, fact);
    return output_flush_if_full(file->output);
}

static struct error on_cycle(void *self, time_ns now, const struct decision *decisions, size_t count,
                             const struct wire_done *done)
{
    const struct event_file *file = self;
    struct buffer *out = output_buffer(file->output);
    wire_write_cycle(out, now);
    for (size_t i = 0; i < count; i++)
        wire_write_decision(out, file->cluster, &decisions[i]);
    wire_write_done(out, done);
    return output_flush_if_full(file->output);
}

struct error event_file_open(struct event_file **out, const char *folder, const struct cluster *cluster,
                             const struct queue_table *queues, struct text policy)
{
    struct output *output;
    *out = NULL;
    TRY(output_open_inside(&output, folder, EVENT_FILE, OUTPUT_ZSTD));
    struct event_file *file = mem_zalloc(1, sizeof *file);
    *file = (struct event_file){
        .output = output,
        .cluster = cluster,
        .queues = queues,
        .listener = {.self = file, .on_fact = on_fact, .on_cycle = on_cycle},
    };
    wire_write_header(output_buffer(output), cluster, queues, policy);
    *out = file;
    return ERROR_OK;
}

const struct port_outside *event_file_listener(const struct event_file *file)
{
    return &file->listener;
}

struct error event_file_seal(struct event_file *file)
{
    return output_seal(file->output);
}

void event_file_digest(const struct event_file *file, char hex[33])
{
    output_digest(file->output, hex);
}

struct error event_file_commit(struct event_file **file)
{
    struct error error = output_commit(&(*file)->output);
    event_file_discard(file);
    return error;
}

void event_file_discard(struct event_file **file)
{
    if (*file == NULL)
        return;
    output_discard(&(*file)->output);
    mem_free(*file);
    *file = NULL;
}

/* ---- Reading ---- */

static struct error keep_answers(struct input *input, struct buffer *answers)
{
    static const char cycle[] = "{\"cycle\":", done[] = "{\"done\":";
    struct text line;
    bool has, is_answer = false;
    while (true) {
        TRY(input_line(input, &line, &has));
        if (!has)
            return ERROR_OK;
        if (is_answer) {
            buffer_text(answers, line);
            buffer_char(answers, '\n');
        }
        if (line.length >= sizeof cycle - 1 && memcmp(line.at, cycle, sizeof cycle - 1) == 0)
            is_answer = true;
        else if (line.length >= sizeof done - 1 && memcmp(line.at, done, sizeof done - 1) == 0)
            is_answer = false;
    }
}

struct error event_file_answers(const char *folder, struct buffer *out)
{
    struct buffer path = {0};
    struct input *input = NULL;
    buffer_format(&path, "%s/" EVENT_FILE, folder);
    struct error error = input_check_plain(buffer_c_string(&path));
    if (!error_is(error))
        error = input_open(&input, buffer_c_string(&path), NULL);
    if (!error_is(error)) {
        error = keep_answers(input, out);
        input_close(input);
    }
    buffer_release(&path);
    return error;
}
