/* workloads/readers/json_tags.h -- the `tags`, `affinity` and `anti_affinity` of a JSON line; as
 * workloads/request/tag_rules.h has them.
 *
 * Without a cluster at hand rules are left out, for their levels are its. */
#ifndef WORKLOADS_READERS_JSON_TAGS_H
#define WORKLOADS_READERS_JSON_TAGS_H

#include "workloads/readers/json_line.h"
#include "workloads/readers/reader.h"

/* The members as in the line; `at` NULL: absent. */
struct tag_texts {
    struct text tags, near, apart;
};

/* Note the member if it is one of them; false if not. */
bool json_tags_note(struct tag_texts *texts, struct text key, struct text value);

/* Give the tags and rules to the job; they are in the reader's arena. */
struct error json_tags_read(const struct reader *reader, const struct line *line, const struct tag_texts *texts,
                            struct job *job) MUST_CHECK;

#endif
