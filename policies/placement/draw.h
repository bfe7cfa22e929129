/* policies/placement/draw.h -- the spot for one member by chance, for policies that draw.
 *
 * Law: which node is taken depends on how many have room, and on nothing else that is known of them; the GPU likewise.
 *
 *   if (draw_best(&search)) ... search.best ...
 *
 * Chance itself is the policy's affair (struct placement_policy: draw).
 */
#ifndef POLICIES_PLACEMENT_DRAW_H
#define POLICIES_PLACEMENT_DRAW_H

#include "policies/placement/search.h"

/* Does the node, if it takes new work, hold such a member now?  O(GPUs of the node). */
bool draw_has_room(const struct search *search, node_id node);

/* Which of `count` nodes, from 0; count > 0. */
uint32_t draw_node(struct search *search, uint32_t count);

/* Make that node, which has room, search->best, with a GPU of it for a share or an instance. */
void draw_take(struct search *search, node_id node);

/* As search_best.  O(nodes of the region). */
bool draw_best(struct search *search);

#endif
