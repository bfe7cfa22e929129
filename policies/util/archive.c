#include "policies/util/archive.h"

void *archive_room(struct archive *archive, void *array, size_t *capacity, uint32_t *count, size_t size)
{
    archive_bytes(archive, count, sizeof *count);
    if (!archive_is_reading(archive))
        return array;
    archive_expect(archive, *count <= archive_left(archive)); /* each takes a byte at least */
    if (archive->is_broken)
        *count = 0;
    return *count > 0 ? mem_grow(array, capacity, *count, size) : array;
}

void *archive_room_same(struct archive *archive, void *array, size_t *capacity, uint32_t count, size_t size)
{
    uint32_t said = count;
    archive_bytes(archive, &said, sizeof said);
    if (!archive_is_reading(archive))
        return array;
    archive_expect(archive, said == count);
    return count > 0 ? mem_room(array, capacity, count, size) : array;
}

void archive_text(struct archive *archive, const char *text)
{
    uint64_t length = strlen(text);
    ARCHIVE(archive, length);
    buffer_bytes(archive->out, text, length);
}
