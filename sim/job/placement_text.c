#include "sim/job/placement_text.h"

#include <stdlib.h>
#include <string.h>

/* Where the number at the end of a node's name begins. */
static size_t number_at(const char *name)
{
    size_t at = strlen(name);
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at;
}

/* Do the names count up by one, as n7 and n8 do? */
static bool counts_up(const char *a, const char *b)
{
    size_t at = number_at(a);
    if (at != number_at(b) || memcmp(a, b, at) != 0 || a[at] == '\0' || b[at] == '\0' || strlen(a + at) > 9 ||
        strlen(b + at) > 9 || (a[at] == '0' && a[at + 1] != '\0') || b[at] == '0')
        return false;
    return strtol(a + at, NULL, 10) + 1 == strtol(b + at, NULL, 10);
}

static void append_nodes(struct buffer *out, const char *first, const char *last)
{
    if (first == last) {
        buffer_string(out, first);
        return;
    }
    size_t at = number_at(first);
    buffer_bytes(out, first, at);
    buffer_char(out, '[');
    buffer_string(out, first + at);
    buffer_char(out, '-');
    buffer_string(out, last + at);
    buffer_char(out, ']');
}

void placement_text(struct buffer *out, const struct cluster *cluster, const struct piece *pieces, uint32_t count)
{
    const struct node *nodes = cluster->nodes;
    for (uint32_t i = 0; i < count;) {
        const struct piece *piece = &pieces[i];
        uint32_t end = i + 1;
        while (end < count && pieces[end].gpu_mask == piece->gpu_mask && pieces[end].gpu_milli == piece->gpu_milli &&
               counts_up(nodes[pieces[end - 1].node].name, nodes[pieces[end].node].name))
            end++;
        if (i > 0)
            buffer_char(out, ' ');
        append_nodes(out, nodes[piece->node].name, nodes[pieces[end - 1].node].name);
        if (piece->gpu_mask != 0) {
            buffer_char(out, ':');
            buffer_indices(out, piece->gpu_mask);
        }
        if (piece->gpu_milli != GPU_MILLI) {
            buffer_char(out, '@');
            buffer_int(out, piece->gpu_milli);
        }
        i = end;
    }
}
