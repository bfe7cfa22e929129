/* policies/ledger/ledger_tags.h -- who is near whom: members by tag and domain, and the nodes that rules of tags shut.
 *
 * Words.  A place is a domain of a level of the cluster, a node, or everywhere.  Of a tag and a place are counted the
 * members that `stay` there and have it; those that are there, `present`, on their way out too; and those that are
 * there and `refuse` it, by a required rule of distance of which this is the domain.
 *
 * Laws (those of struct job_tags, workloads/job.h)
 *  - A member stays from when its space is taken, or its START on what was claimed is decided, until it is on its way
 *    out; it is present, and refuses, from when its space is taken or claimed until it has left.
 *  - Counts change with the space they belong to (struct space), and are undone with it.
 *  - Without ledger_tags_use no rule is minded and nothing is counted.
 *
 *   ledger_tags_use(ledger);
 *   struct tag_look look = ledger_tags_look(ledger, request_class->tags, own);
 *   struct allowed_space allowed = {.shut = ledger_tags_shut(ledger, look.preferred_max)};
 *   ...place on what is allowed...
 *
 * Cost: a piece of a job with tags O(levels * (tags + rules)); a look O(nodes * (rules + tags * levels)); a tag that
 * is used 12 bytes for each place.  Jobs without tags cost nothing.
 */
#ifndef POLICIES_LEDGER_LEDGER_TAGS_H
#define POLICIES_LEDGER_LEDGER_TAGS_H

#include "policies/ledger/ledger.h"

struct tag_count {
    uint32_t stay, present, refuse;
};

struct tag_table {
    struct tag_count *at; /* by place; NULL: all are 0 */
};

struct ledger_tags {
    uint32_t level_first[CLUSTER_LEVELS_MAX + 1]; /* the first place of each level; 0: the nodes */
    uint32_t everywhere;                          /* the last place */
    struct tag_table *tables;                     /* by tag */
    size_t capacity;
    uint32_t count;
    uint64_t version, seen; /* raised when counts have changed for good; the last that was taken */
    bool is_touched;        /* counts changed in the open trial */
    uint8_t *met;           /* by node, of the last look: preferred rules that it meets; TAGS_SHUT */
    uint8_t *shut;          /* by node */
};

enum { TAGS_SHUT = UINT8_MAX };

/* From now on tags are counted and rules are minded.  Before anybody has tags. */
void ledger_tags_use(struct ledger *ledger);
void ledger_tags_free(struct ledger *ledger);

/* What the job that is being placed holds already: it does not count for itself.  Those that stay, then those that are
 * claimed or on their way out. */
struct own_spaces {
    const struct space *spaces;
    uint32_t stay_count, passing_count;
};

/* What a job's rules, and those of others, say of all nodes. */
struct tag_look {
    uint32_t shut_count;                      /* nodes where no member may go */
    uint32_t count_of[JOB_TAG_RULES_MAX + 1]; /* of the others: by how many preferred rules they meet */
    uint32_t preferred_max;                   /* the most that any of them meets */
};

/* May anything be shut to such a job, or preferred by it?  O(tags). */
bool ledger_tags_bind(const struct ledger *ledger, const struct job_tags *tags);

/* Look at all nodes; what each meets is known until the next look. */
struct tag_look ledger_tags_look(struct ledger *ledger, const struct job_tags *tags, struct own_spaces own);

/* After a look: the mask of struct allowed_space, of the nodes where fewer preferred rules than these are met.  Borrowed until
 * the next call. */
const uint8_t *ledger_tags_shut(struct ledger *ledger, uint32_t preferred_min);

/* After a look: may a member of that job be on the node? */
static inline bool ledger_tags_met(const struct ledger *ledger, node_id node)
{
    return ledger->tags->met[node] != TAGS_SHUT;
}

/* May a member of such a job, of which no other is anywhere, be on the node? */
bool ledger_tags_admit(const struct ledger *ledger, const struct job_tags *tags, node_id node);

/* In a trial: used -> free; the members that left still count as present for rules of tags.  And back. */
void ledger_send_off(struct ledger *ledger, const struct space *space);
void ledger_call_back(struct ledger *ledger, const struct space *space);

/* Members of the space stay, or are present, besides those that are counted: for who counts again. */
void ledger_tags_count(struct ledger *ledger, const struct space *space, bool stay, bool present);

/* What was claimed stays from now on. */
void ledger_tags_join(struct ledger *ledger, const struct space *space);

/* Have counts changed for good since the last call? */
bool ledger_tags_take_changes(struct ledger *ledger);

struct archive;
void ledger_tags_archive(struct archive *archive, struct ledger *ledger);
uint64_t ledger_tags_hash(const struct ledger *ledger, uint64_t hash);
const char *ledger_tags_check(const struct ledger *ledger); /* NULL: all laws hold */

/* Do both count the same? */
bool ledger_tags_are_same(const struct ledger *a, const struct ledger *b);

#endif
