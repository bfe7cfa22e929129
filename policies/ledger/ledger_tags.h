/* policies/ledger/ledger_tags.h -- counts members by tag and domain, and finds the nodes that rules of tags shut.
 *
 * Words.  A place is a domain of a level of the cluster, a node, or everywhere.  For each tag and place there are three
 * counts.  `stay`: members with the tag that stay there.  `present`: members with the tag that are there, also while
 * they leave.  `refuse`: members there that refuse the tag, by a required rule of distance whose domain is this place.
 *
 * Laws (those of struct job_tags, workloads/job.h)
 *  - A member counts as `stay` from when its space is taken, or its START on claimed space is decided, until it begins
 *    to leave.  It counts as `present`, and its rules count, from when its space is taken or claimed until it has left.
 *  - Counts change with the space they belong to (struct space), and are undone with it.
 *  - Without ledger_tags_use rules are ignored and nothing is counted.
 *
 *   ledger_tags_use(ledger);
 *   struct tag_matches matches = ledger_tags_match(ledger, request_class->tags, own);
 *   struct allowed_space allowed = {.shut = ledger_tags_shut(ledger, matches.preferred_max)};
 *   ...place on what is allowed...
 *
 * Cost: a piece of a job with tags O(levels * (tags + rules)); a match O(nodes * (rules + tags * levels)).  Memory: 12
 * bytes for each used tag and place.  Jobs without tags cost nothing.
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
    uint64_t version, seen; /* raised when counts change outside of trials; that at the last ledger_tags_take_changes */
    bool is_touched;        /* counts changed in the open trial */
    uint8_t *met;           /* by node, of the last match: how many preferred rules it meets; TAGS_SHUT */
    uint8_t *shut;          /* by node */
};

enum { TAGS_SHUT = UINT8_MAX };

/* From now on tags are counted and rules are used.  No job in the ledger may have tags yet. */
void ledger_tags_use(struct ledger *ledger);
void ledger_tags_free(struct ledger *ledger);

/* The spaces that the job being placed holds already; they do not count for its own rules.  First those that stay, then
 * those that are claimed or leaving. */
struct own_spaces {
    const struct space *spaces;
    uint32_t stay_count, passing_count;
};

/* What the rules of the job and of the others say of all nodes. */
struct tag_matches {
    uint32_t shut_count;                      /* nodes where no member may go */
    uint32_t count_of[JOB_TAG_RULES_MAX + 1]; /* the other nodes, by how many preferred rules they meet */
    uint32_t preferred_max;                   /* the most preferred rules that one of them meets */
};

/* May rules shut nodes to such a job, or does it prefer some?  O(tags). */
bool ledger_tags_bind(const struct ledger *ledger, const struct job_tags *tags);

/* Match all nodes.  The result of each node is kept until the next call. */
struct tag_matches ledger_tags_match(struct ledger *ledger, const struct job_tags *tags, struct own_spaces own);

/* After a match: a mask for allowed_space.shut, which also shuts the nodes that meet fewer than preferred_min preferred
 * rules.  Borrowed until the next call. */
const uint8_t *ledger_tags_shut(struct ledger *ledger, uint32_t preferred_min);

/* After a match: may a member of that job be on the node? */
static inline bool ledger_tags_met(const struct ledger *ledger, node_id node)
{
    return ledger->tags->met[node] != TAGS_SHUT;
}

/* May a member of such a job be on the node, if the job has no other members? */
bool ledger_tags_admit(const struct ledger *ledger, const struct job_tags *tags, node_id node);

/* In a trial, ledger_send_off: used -> free, but the members still count as present for rules of tags.
 * ledger_call_back: the reverse. */
void ledger_send_off(struct ledger *ledger, const struct space *space);
void ledger_call_back(struct ledger *ledger, const struct space *space);

/* Count the members of the space as `stay` or `present`, in addition to the present counts.  For a check that counts
 * again. */
void ledger_tags_count(struct ledger *ledger, const struct space *space, bool stay, bool present);

/* The claimed space starts: its members count as `stay` from now on. */
void ledger_tags_join(struct ledger *ledger, const struct space *space);

/* Have counts changed outside of trials since the last call? */
bool ledger_tags_take_changes(struct ledger *ledger);

uint64_t ledger_tags_hash(const struct ledger *ledger, uint64_t hash);
const char *ledger_tags_check(const struct ledger *ledger); /* NULL: all laws hold */

/* Are all counts equal? */
bool ledger_tags_are_same(const struct ledger *a, const struct ledger *b);

#endif
