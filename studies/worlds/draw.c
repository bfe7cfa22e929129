#include "studies/worlds/draw.h"

const char *const draw_spans[DRAW_SPANS] = {"0",  "0.000001", "0.001", "1",     "5",
                                            "60", "300",      "3600",  "'30d'", "1000000000"};
const char *const draw_bools[DRAW_BOOLS] = {"true", "false"};

void draw_requote(struct buffer *text)
{
    for (size_t i = 0; i < text->length; i++)
        if (text->bytes[i] == '\'')
            text->bytes[i] = '"';
}
