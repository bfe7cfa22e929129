/* reports/assumed.h -- what no job of a workload says, and what is taken in its place.
 *
 *   assumed_brief(&list, &out);          "no checkpoints, no run times"
 *   assumed_show(show, &list);           a section with a table
 *   assumed_json(&list, &out);           [{"what": "checkpoints", "taken": ..., "matters": ..., "setting": ...}]
 *
 * Law: the texts are those of studies/run/assumptions.h and stand nowhere else; this only shows them, and carries them
 * through result.json.
 *
 * It does not: find out what a workload says.
 */
#ifndef REPORTS_ASSUMED_H
#define REPORTS_ASSUMED_H

#include "base/json.h"
#include "base/mem.h"
#include "reports/show.h"

struct assumed {
    const char *what;    /* in one word or two: "checkpoints" */
    const char *taken;   /* "none: an evicted job begins again" */
    const char *matters; /* "where jobs are evicted" */
    const char *setting; /* "path=value" that takes something else */
};

enum { ASSUMED_MAX = 16 };

struct assumed_list {
    struct assumed of[ASSUMED_MAX]; /* texts are borrowed */
    size_t count;
};

/* Add those of the other list that are not in this one; they share texts. */
void assumed_join(struct assumed_list *list, const struct assumed_list *other);

/* "checkpoints, run times and priorities"; nothing if there are none. */
void assumed_brief(const struct assumed_list *list, struct buffer *out);

/* A lead that names them, with a pointer to more; on the page the table, folded.  Nothing if there are none. */
void assumed_lead(struct show *show, const struct assumed_list *list);

/* A section: a line and a setting for each in words, a table on the page. */
void assumed_show(struct show *show, const struct assumed_list *list);

void assumed_json(const struct assumed_list *list, struct buffer *out);

/* Read what assumed_json wrote; absent: none.  Texts in the arena.  Fails through the sticky error. */
void assumed_read(struct assumed_list *list, const struct json_value *value, struct arena *arena);

#endif
