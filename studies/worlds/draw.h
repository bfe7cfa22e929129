/* studies/worlds/draw.h -- draws texts of JSON: a random stream and the buffer that gets the text.
 *
 *   static const char *const limits[] = {"1", "60", "600"};
 *   if (draw_once_in(draw, 3))
 *       FIELD(draw, "limit_s", limits);            appends , 'limit_s': 60
 *   draw_requote(draw->out);                       ' becomes "
 *
 * Law: what is drawn depends on the stream alone.  Texts hold ' in place of ", and no other apostrophe.
 *
 * It does not: know what is legal.
 */
#ifndef STUDIES_WORLDS_DRAW_H
#define STUDIES_WORLDS_DRAW_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/random.h"

struct draw {
    struct random_stream stream;
    struct buffer *out;   /* borrowed */
    uint32_t queue_count; /* of the scenario that is drawn */
    uint32_t gpus;        /* of a node of its first pool */
    bool has_physics;     /* its world has checkpoints, cold starts, a monitor and so on */
};

static inline uint32_t draw_below(struct draw *draw, uint32_t count)
{
    return random_below(&draw->stream, count);
}

static inline bool draw_once_in(struct draw *draw, uint32_t times)
{
    return draw_below(draw, times) == 0;
}

#define PICK(draw, list) ((list)[draw_below(draw, sizeof(list) / sizeof *(list))])

/* A comma, the key, and one of the texts. */
#define FIELD(draw, key, list) buffer_format((draw)->out, ", '%s': %s", key, PICK(draw, list))

/* As above, or nothing, for the default. */
#define MAYBE(draw, key, list)                                                                                         \
    do {                                                                                                               \
        if (draw_once_in(draw, 2))                                                                                     \
            FIELD(draw, key, list);                                                                                    \
    } while (0)

enum { DRAW_SPANS = 10, DRAW_BOOLS = 2 };
extern const char *const draw_spans[DRAW_SPANS]; /* seconds, from 0 to longer than any run */
extern const char *const draw_bools[DRAW_BOOLS];

/* Replace each ' by ", in place. */
void draw_requote(struct buffer *text);

#endif
