/* workloads/readers/freeze_header.c -- the header of a frozen trace, read. */
#include <string.h>

#include "base/input.h"
#include "base/json.h"
#include "workloads/readers/freeze.h"

bool freeze_is_header(struct text line)
{
    static const char start[] = "{\"" FREEZE_KEY "\"";
    return line.length >= sizeof start && memcmp(line.at, start, sizeof start - 1) == 0;
}

static void take_names(struct json_object *object, const char *name, struct names *names)
{
    struct json_value array = json_member(object, name);
    size_t count = array.node != NULL ? json_array_count(&array) : 0;
    for (size_t i = 0; i < count; i++) {
        struct json_value item = json_array_item(&array, i);
        const char *text = json_value_string(&item);
        if (text != NULL)
            names_add(names, text_of(text));
    }
}

struct error freeze_read_header(struct reader *reader, struct text line)
{
    struct error error = ERROR_OK;
    struct json_doc *doc;
    struct json_object object;
    TRY(json_doc_parse(&doc, reader->spec->trace, line, ERROR_DATA));
    struct json_value root = json_doc_root(doc, &error);
    json_object_open(&object, &root);
    json_get_int(&object, FREEZE_KEY, FREEZE_VERSION, FREEZE_VERSION, FREEZE_VERSION);
    reader->frozen =
        (struct frozen_facts){.is_frozen = true,
                              .origin = json_get_scaled(&object, "origin_s", TIME_NS_PER_S, 0, TIME_NS_MAX, 0),
                              .preview_jobs = (uint32_t)json_get_int(&object, "preview_jobs", 0, UINT32_MAX, 0),
                              .is_filling = json_get_bool(&object, "fills", false)};
    struct json_value queues = json_member(&object, "queues");
    if (queues.node != NULL && !reader->is_again)
        queue_table_merge(reader->queues, &queues);
    take_names(&object, "users", reader->users);
    take_names(&object, "tags", reader->tags);
    json_object_close(&object);
    json_doc_free(doc);
    return error;
}

bool freeze_is_frozen(const char *path)
{
    struct input *input;
    struct text line;
    bool has = false;
    if (input_is_once(path))
        return false;
    struct error error = input_open(&input, path, NULL);
    if (!error_is(error)) {
        error = input_line(input, &line, &has);
        has = has && !error_is(error) && freeze_is_header(line);
        input_close(input);
    }
    error_release(&error);
    return has;
}
