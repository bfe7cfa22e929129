/* studies/worlds/shaped_scenario.h -- random scenarios of a known shape, in which a law can be told without a model of
 * the policy.
 *
 *   plain    one queue, whose quota is the uniform cluster; gangs of equal members on whole GPUs.  No job asks for more
 *            than half of the cluster, and each ends by itself.  So each job can start when no other runs.
 *   reclaim  jobs of one GPU, of queue "borrower", fill the cluster for weeks.  Then jobs of queue "owner" come: equal
 *            sizes that divide a node, together within the quota of their queue.  So borrowers can make room for each.
 *
 * Law: the scenario depends on the seed alone.  The text has no policy, and its trace is named "j.jsonl".
 */
#ifndef STUDIES_WORLDS_SHAPED_SCENARIO_H
#define STUDIES_WORLDS_SHAPED_SCENARIO_H

#include "studies/worlds/random_scenario.h"

#define SHAPED_OWNER "owner" /* the queue of those whose quota others borrow */

void shaped_scenario_plain(struct random_scenario *scenario, uint64_t seed, uint64_t stall_steps);
void shaped_scenario_reclaim(struct random_scenario *scenario, uint64_t seed, uint64_t stall_steps);

#endif
