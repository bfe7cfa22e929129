/* policies/placement/draw.h -- a random spot for one member, for policies that draw.
 *
 * Law: which node is taken depends only on how many nodes have room, not on their state.  The same holds for the GPU.
 *
 *   if (draw_best(&search)) ... search.best ...
 *
 * The policy makes the random numbers (struct placement_policy: draw).
 */
#ifndef POLICIES_PLACEMENT_DRAW_H
#define POLICIES_PLACEMENT_DRAW_H

#include "policies/placement/search.h"

/* Does the node take new work, and has it room for such a member now?  O(GPUs of the node). */
bool draw_has_room(const struct search *search, node_id node);

/* Draw one of `count` nodes; returns its number, from 0.  count > 0. */
uint32_t draw_node(struct search *search, uint32_t count);

/* Set search->best to the node, which has room; for a share or an instance also draw its GPU. */
void draw_take(struct search *search, node_id node);

/* As search_best.  O(nodes of the region). */
bool draw_best(struct search *search);

#endif
