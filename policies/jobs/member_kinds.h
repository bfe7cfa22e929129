/* policies/jobs/member_kinds.h -- counts the kinds of members that jobs have, and finds the most frequent kinds.
 *
 * Two members are of one kind if they ask the same, and the same number of them must be together in a domain of the
 * same level.
 *
 * Law: member_kinds_tell returns the most frequent kinds, among equals the first to come, until they hold
 * TYPICAL_PERCENT of all members.  Their shares sum to 1.
 *
 *   struct member_kinds kinds = {0};
 *   member_kinds_add_job(&kinds, &job);          of each job
 *   member_kinds_tell(&kinds, &typical);
 *
 * Source: the share is that of the experiments in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023).
 * Cost: O(1) a group of members; O(kinds log kinds) to tell. */
#ifndef POLICIES_JOBS_MEMBER_KINDS_H
#define POLICIES_JOBS_MEMBER_KINDS_H

#include "policies/jobs/fragmentation.h"

enum { TYPICAL_PERCENT = 95 };

struct member_kind {
    struct request request;
    uint32_t together; /* members that must be in one domain of the level; 1 without one */
    uint8_t level;     /* from 1, the widest; 0: anywhere */
    uint64_t members;  /* count of members so far */
};

struct member_kinds {
    struct member_kind *kinds; /* in the order of their first member */
    size_t capacity;
    uint32_t count;
    uint32_t *slots; /* open addressing by hash; 0: empty, else index + 1 */
    uint32_t slot_count;
    uint64_t members; /* of all kinds */
};

/* The index of the kind of such members; the kind is made if it is new. */
uint32_t member_kinds_find(struct member_kinds *kinds, const struct request *request, uint8_t level, uint32_t together);
void member_kinds_add(struct member_kinds *kinds, uint32_t kind, uint64_t members);
/* Add all members of the job.  Their level is the required one of their set, else that of the job. */
void member_kinds_add_job(struct member_kinds *kinds, const struct job *job);

void member_kinds_tell(const struct member_kinds *kinds, struct typical_jobs *typical);
void member_kinds_release(struct member_kinds *kinds);

#endif
