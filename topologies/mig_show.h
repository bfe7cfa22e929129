/* topologies/mig_show.h -- MIG of a GPU model, and of one layout, as text for people and as JSON.
 *
 * In text a layout is drawn slice by slice, three columns each: "[3---------][1] .  .  . " is an instance of three
 * compute slices on four memory slices, one of one, and three free slices; 'm' is the one with media engines.
 * In JSON what is not known is null.
 */
#ifndef TOPOLOGIES_MIG_SHOW_H
#define TOPOLOGIES_MIG_SHOW_H

#include "base/buffer.h"
#include "topologies/mig_layout.h"

/* The profiles of a model with MIG, the number of their layouts, and the maximal layouts by their instances. */
void mig_show_model(const struct gpu_model *model, struct buffer *out);
void mig_show_model_json(const struct gpu_model *model, struct buffer *out);

/* The resources that a legal layout uses, and the instances that fit in addition. */
void mig_show_layout(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out);
void mig_show_layout_json(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out);

#endif
