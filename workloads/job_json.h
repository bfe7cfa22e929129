/* workloads/job_json.h -- the members of a job's JSON object that are objects or arrays themselves, for JSON lines, the
 * scheduler's lines and cases.
 *
 *   "topology": {"required": "rack", "preferred": "node"},
 *   "tags": ["web", "cache"],
 *   "affinity": [{"tag": "cache", "level": "rack"}],
 *   "anti_affinity": [{"tag": "web", "level": "node", "mode": "preferred"}],
 *   "sets": [{"name": "decode", "min_members": 2}, {"name": "workers", "parent": "decode", "min_members": 1}]
 *
 * A level is one of the cluster's; a rule may name "node" everywhere.  The mode is "required" unless it is said to be
 * "preferred".  Where names have no table, tags are numbers, and the parent of a set is its index.
 *
 * The readers fail through the sticky error of the object; what they return lives in the arena.
 */
#ifndef WORKLOADS_JOB_JSON_H
#define WORKLOADS_JOB_JSON_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "workloads/job.h"

enum { JOB_TAG_RULES_OF_KIND_MAX = JOB_TAG_RULES_MAX / 2 }; /* of affinity, and of anti-affinity */

/* What names of a job's text mean. */
struct job_words {
    const struct cluster *cluster; /* NULL: levels are not known, and rules are left out */
    struct names *tags;            /* NULL: they are numbers */
    struct arena *arena;           /* holds what is read */
};

/* The level that the member names, counted as in topology_ask; 0: it is absent, wrong, or the cluster is not known. */
uint8_t job_level_get(const struct cluster *cluster, struct json_object *object, const char *key);

struct topology_ask job_topology_get(const struct cluster *cluster, struct json_object *owner);

/* NULL if the object has none of the three members, or after an error. */
const struct job_tags *job_tags_get(const struct job_words *words, struct json_object *object);

/* Append members behind what an object holds so far; nothing where the job says nothing.  names: of tags; NULL: they
 * are written as numbers.  is_named: the parent of a set is written as its name, else as its index. */
void job_topology_put(struct buffer *out, const struct cluster *cluster, struct topology_ask topology);
void job_tags_put(struct buffer *out, const struct cluster *cluster, const struct names *names,
                  const struct job_tags *tags);
void job_sets_put(struct buffer *out, const struct cluster *cluster, bool is_named, const struct job *job);

/* Append the names of the models in the mask, as "A|B|?".  "?" stands for models that the cluster does not have. */
void job_models_write(struct buffer *out, const struct cluster *cluster, uint64_t mask);

/* As the member "gpu_model"; nothing for any model. */
void job_models_put(struct buffer *out, const struct cluster *cluster, uint64_t mask);

/* Append the members of constraints on nodes; NULL: there are none. */
void job_nodes_put(struct buffer *out, const struct node_ask *nodes);

/* Append a key, with a comma unless it is the first of its object; and with a value. */
void job_key_put(struct buffer *out, const char *key);
void job_int_put(struct buffer *out, const char *key, int64_t value);
void job_string_put(struct buffer *out, const char *key, const char *value);

#endif
