/* workloads/readers/blocks.h -- blocks of a trace drawn with replacement, so that its replay has seeds: a block
 * bootstrap.
 *
 *   "blocks": "weeks"      "blocks": "users"
 *
 * weeks: the trace is cut into weeks from its begin.  In the place of each whole week comes a week that is drawn; its
 * jobs keep their time within the week.  What is left at the end, less than a week, stays.
 * users: as many users are drawn as submit jobs; each draw submits all jobs of its user at their recorded times.  Jobs
 * without a user stay.
 *
 *   Users ann (jobs 1 and 3) and bob (job 2); bob is drawn twice:
 *
 *     job  2         user  bob
 *     job  2#2       user  bob#2
 *
 * All draws of blocks are equally likely, so on average as many jobs come as the trace has; how many a seed gives
 * varies.
 *
 * Laws
 *  - A block that is drawn again comes as another copy: its jobs have names of their own, its arrays are arrays of
 *    their own, and if blocks are users, so is its user.  Queues, classes and tags are those of the trace.
 *  - The k-th copy (k > 1) is named by '#' and k behind the trace's name; if a name in the trace has '#', by one '#'
 *    more than any has in a row.
 *  - A job depends on the jobs of its own draw only: other dependencies are left out.
 *  - Which jobs come depends on the trace, on the kind of blocks and on the seed alone.
 *
 * It does not: read or scale times; the jobs are held (workloads/readers/held.h).
 *
 * Source: H. R. Kuensch, "The jackknife and the bootstrap for general stationary observations", Ann. Stat. 17, 1989
 * (blocks of a series; here they do not overlap, after Carlstein, Ann. Stat. 14, 1986); for users: the cluster
 * bootstrap (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8).
 */
#ifndef WORKLOADS_READERS_BLOCKS_H
#define WORKLOADS_READERS_BLOCKS_H

#include "base/error.h"
#include "base/mem.h"
#include "base/names.h"
#include "workloads/readers/held.h"

enum blocks_kind { BLOCKS_NONE, BLOCKS_USERS, BLOCKS_WEEKS };
extern const char *const blocks_names[]; /* "users", "weeks", NULL: of the kinds from BLOCKS_USERS */

struct blocks_plan {
    enum blocks_kind kind; /* not BLOCKS_NONE */
    time_ns begin, end;    /* of the trace, in its own time; end TIME_NEVER: that of the day of the last submission */
    const char *trace;     /* its name, for messages */
    uint64_t seed;
};

/* The users that copies stand for. */
struct blocks_users {
    uint32_t *original; /* by user: itself, or that of which it is a copy; owned */
    size_t count;       /* 0: there are no copies */
};

/* Put the jobs that are drawn in the place of those of the trace, sorted by submission; those of equal submission in
 * the order of the trace.
 * held: all jobs, in the trace's order, not sorted yet.  users: gets the copies.  arena: gets their names.
 * copies: {0}; must be released.
 * ERROR_DATA: there are fewer than two whole weeks or two users, or more jobs than a run can have.  Then nothing has
 * changed.
 * O(n log n); the jobs are in memory twice while it runs. */
struct error blocks_draw(struct held *held, const struct blocks_plan *plan, struct names *users, struct arena *arena,
                         struct blocks_users *copies) MUST_CHECK;
void blocks_users_release(struct blocks_users *copies);

#endif
