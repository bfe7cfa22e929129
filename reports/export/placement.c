/* reports/export/placement.c -- see reports/export/placement.h. */
#include "reports/export/placement.h"

#include <string.h>

#include "workloads/job.h"

enum { NUMBER_MAX = 999999999, INDEX_MAX = 15 };

void placement_begin(struct placement_reader *reader, const char *text, bool has_gpus)
{
    *reader = (struct placement_reader){.rest = text_of(text), .has_gpus = has_gpus, .last = -1};
    if (reader->rest.length == 0)
        reader->rest.at = NULL;
}

void placement_release(struct placement_reader *reader)
{
    buffer_release(&reader->node);
}

/* Cut the text behind the last `mark` off; false if there is none. */
static bool cut_last(struct text *text, char mark, struct text *behind)
{
    const char *at = text->length == 0 ? NULL : memrchr(text->at, mark, text->length);
    if (at == NULL)
        return false;
    *behind = (struct text){at + 1, (size_t)(text->at + text->length - at - 1)};
    text->length = (size_t)(at - text->at);
    return true;
}

/* "3-7" or "3". */
static bool read_range(struct text text, int64_t max, int64_t *first, int64_t *last)
{
    struct text low, rest = text;
    if (!text_cut(&rest, '-', &low) || !text_to_int64(low, 0, max, first))
        return false;
    *last = *first;
    return rest.at == NULL || text_to_int64(rest, *first, max, last);
}

static bool read_mask(struct text text, uint16_t *mask)
{
    struct text rest = text, part;
    *mask = 0;
    while (text_cut(&rest, ',', &part)) {
        int64_t first, last;
        if (!read_range(part, INDEX_MAX, &first, &last))
            return false;
        for (int64_t i = first; i <= last; i++)
            *mask = (uint16_t)(*mask | 1 << i);
    }
    return true;
}

/* "n[0-7]"; anything else is the name of one node. */
static void read_nodes(struct placement_reader *reader, struct text text)
{
    struct text range = {0}, prefix = text;
    reader->number = reader->last = 0;
    reader->is_run = text.length > 0 && text.at[text.length - 1] == ']' && cut_last(&prefix, '[', &range) &&
                     read_range((struct text){range.at, range.length - 1}, NUMBER_MAX, &reader->number, &reader->last);
    reader->prefix = reader->is_run ? prefix : text;
    if (text.length == 0)
        reader->is_bad = true;
}

/* Begin the next run. */
static bool read_run(struct placement_reader *reader)
{
    struct text token, share, gpus;
    struct placement_piece *piece = &reader->piece;
    *piece = (struct placement_piece){.gpu_milli = GPU_MILLI};
    if (!text_cut(&reader->rest, ' ', &token))
        return false;
    struct text named = token;
    int64_t milli;
    if (cut_last(&named, '@', &share) && text_to_int64(share, 0, GPU_MILLI, &milli)) {
        piece->gpu_milli = (int32_t)milli;
        token = named;
    }
    if (reader->has_gpus) {
        if (!cut_last(&token, ':', &gpus) || !read_mask(gpus, &piece->gpu_mask)) {
            reader->is_bad = true;
            return false;
        }
        piece->gpus = gpus;
    }
    read_nodes(reader, token);
    return !reader->is_bad;
}

bool placement_next(struct placement_reader *reader, struct placement_piece *out)
{
    if (reader->is_bad || (reader->number > reader->last && !read_run(reader)))
        return false;
    reader->node.length = 0;
    buffer_text(&reader->node, reader->prefix);
    if (reader->is_run)
        buffer_int(&reader->node, reader->number);
    reader->number++;
    *out = reader->piece;
    out->node = buffer_c_string(&reader->node);
    return true;
}

struct error placement_error(const struct attempt_row *row)
{
    return error_new(ERROR_DATA, "job %u, attempt %u: '%s' is no placement such as 'n[0-7]:0-7 n9:2@142'",
                     (unsigned)row->id, (unsigned)row->attempt, row->placement);
}
