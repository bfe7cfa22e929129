/* tools/schema_inside.h -- what was heard of a reader; for tools/schema*.c only. */
#ifndef TOOLS_SCHEMA_INSIDE_H
#define TOOLS_SCHEMA_INSIDE_H

#include "tools/schema.h"

/* A bound of a number; is_varied: it differs from document to document. */
struct schema_bound {
    bool is_known, is_varied;
    int64_t integer;
    double real;
};

/* A value at one place: all items of an array are one place, and all values of a map. */
struct schema_node {
    char *key;                  /* NULL: the root, an item, or a value of a map */
    struct schema_node *parent; /* NULL: the root */
    struct schema_node **members;
    size_t member_count, member_capacity;
    const struct schema_node *like; /* asked as this one, but for its members; NULL: it is asked as no other */
    struct schema_node *item, *any; /* NULL: none */
    uint32_t questions;             /* bits of enum json_question */
    struct schema_bound low[JSON_ASK_CHOICE + 1], high[JSON_ASK_CHOICE + 1]; /* by question */
    int64_t scale;
    char **choices; /* all that were heard, NULL-terminated; NULL: none */
    size_t choice_count, choice_capacity;
    json_t *home;          /* the document in which it was first asked for; borrowed */
    json_t *accepted_home; /* one that was accepted, too; NULL: none */
    uint32_t closed;       /* how often the reader was done with the object */
    uint32_t needed;       /* how often the member had been needed then */
    bool is_needed_now;    /* since the object was opened */
    uint32_t asked_at;     /* the last run in which it was asked for */
};

struct schema {
    schema_read_fn *read;
    void *self;
    struct schema_node **nodes; /* all, in the order in which they were heard; the root first */
    size_t node_count, node_capacity;
    json_t **documents; /* those that are kept */
    size_t document_count, document_capacity;
    struct names *tried; /* digests of the texts that were read */
    uint32_t run, news;  /* runs; things heard for the first time */
    json_t *running;
};

static inline bool schema_is_asked(const struct schema_node *node, enum json_question question)
{
    return (node->questions >> question & 1) != 0;
}

#endif
