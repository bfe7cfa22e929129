/* workloads/request/tag_rules.h -- tags of a job and its rules (struct job_tags) as members of a JSON object.
 *
 *   "tags": ["web", "cache"],
 *   "affinity": [{"tag": "cache", "level": "rack"}],
 *   "anti_affinity": [{"tag": "web", "level": "node", "mode": "preferred"}]
 *
 * A level is one of the cluster's, or "node"; the mode is "required" unless it is said to be "preferred".
 */
#ifndef WORKLOADS_REQUEST_TAG_RULES_H
#define WORKLOADS_REQUEST_TAG_RULES_H

#include "base/json.h"
#include "base/names.h"
#include "workloads/job.h"

enum { JOB_TAG_RULES_OF_KIND_MAX = JOB_TAG_RULES_MAX / 2 }; /* of affinity, and of anti-affinity */

/* Used to resolve names. */
struct tag_world {
    const struct cluster *cluster;
    struct names *tags;
    struct arena *arena; /* holds what is read */
};

/* NULL if the object has none of the three members, or after an error, which has its place in the file. */
const struct job_tags *tag_rules_get(const struct tag_world *world, struct json_object *object);

/* The number of that level, as in struct tag_rule; false: there is none. */
bool tag_level_of(const struct cluster *cluster, struct text name, uint8_t *level);

/* The name of a level that is most similar to this one; NULL: none is similar. */
const char *tag_level_near(const struct cluster *cluster, struct text name);

#endif
