#include "policies/jobs/communication_archive.h"

#include "base/error.h"

/* The members of an object, as communication_write writes them, with braces. */
static void write_text(struct buffer *text, const struct communication *communication)
{
    buffer_char(text, '{');
    communication_write(communication, text);
    buffer_char(text, '}');
}

static bool read_text(struct text text, struct communication *out)
{
    struct json_doc *doc = NULL;
    struct json_object object;
    bool is_there = false;
    struct error error = json_doc_parse(&doc, "state", text, ERROR_DATA);
    if (!error_is(error)) {
        struct json_value root = json_doc_root(doc, &error);
        json_object_open(&object, &root);
        is_there = communication_read(out, &object, 0);
        json_object_close(&object);
        json_doc_free(doc);
    }
    const bool is_read = is_there && !error_is(error);
    error_release(&error);
    return is_read;
}

static void read_one(struct archive *archive, struct communication_set *set, uint32_t length)
{
    struct communication communication;
    archive_expect(archive, length <= archive_left(archive));
    if (archive->is_broken)
        return;
    const uint32_t count = set->count;
    archive_expect(archive, read_text((struct text){archive->at, length}, &communication));
    archive->at += length;
    if (!archive->is_broken)
        communication_set_own(set, &communication);
    archive_expect(archive, set->count == count + 1);
}

void communication_archive(struct archive *archive, struct communication_set *set)
{
    ARCHIVE_KNOWS(struct communication_set, 56);
    uint32_t count = set->count;
    ARCHIVE(archive, count);
    for (uint32_t i = 0; i < count && !archive->is_broken; i++) {
        struct buffer text = {0};
        if (!archive_is_reading(archive))
            write_text(&text, set->items[i]);
        uint32_t length = (uint32_t)text.length;
        ARCHIVE(archive, length);
        if (archive_is_reading(archive))
            read_one(archive, set, length);
        else
            archive_bytes(archive, text.bytes, length);
        buffer_release(&text);
    }
}

void communication_archive_one(struct archive *archive, const struct communication_set *set,
                               const struct communication **communication)
{
    uint32_t number = *communication == NULL ? 0 : 1 + communication_set_number(set, *communication);
    ARCHIVE(archive, number);
    if (!archive_is_reading(archive))
        return;
    archive_expect(archive, number <= set->count);
    *communication = number == 0 || archive->is_broken ? NULL : set->items[number - 1];
}
