/* topologies/mig_arrange.h -- a MIG layout made from named instances, and its text.
 *
 * Words: an instance with a start is placed at once; a loose instance has none, and gets at the end the lowest start
 * that leaves room for the loose ones after it.
 *
 * Law: a layout is written in one way, with its instances by start, "3g.40gb@0+1g.10gb@4"; the empty one is "empty".
 * The text is read as the same layout.  Readers of cluster files and of this text use the same check.
 *
 *   struct gpu_layout layout;
 *   TRY(mig_layout_read(&layout, gpu_model_find(TEXT("h100")), TEXT("3g.40gb+1g.10gb")));
 */
#ifndef TOPOLOGIES_MIG_ARRANGE_H
#define TOPOLOGIES_MIG_ARRANGE_H

#include "base/buffer.h"
#include "base/error.h"
#include "topologies/mig_layout.h"

/* The instances of one GPU while they are added; {0}: none. */
struct mig_arrangement {
    struct gpu_layout layout;         /* of instances with a start; after finish, of all */
    uint8_t loose[MIG_INSTANCES_MAX]; /* profiles of the loose instances, in the order they were added */
    uint8_t loose_count;
    uint8_t count;                     /* of all instances */
    uint8_t counts[MIG_PROFILE_COUNT]; /* of all instances, by profile */
};

/* The error, and a hint ("": none). */
struct mig_complaint {
    char what[80];
    char hint[80];
};

/* Add an instance; start < 0: a loose one.  False if it does not fit: *why is set, and the arrangement is unchanged. */
bool mig_arrangement_add(struct mig_arrangement *arrangement, enum mig_family family, enum mig_profile_id profile,
                         int64_t start, struct mig_complaint *why);

/* Place the loose instances; `layout` is then complete.  False if they do not fit together. */
bool mig_arrangement_finish(struct mig_arrangement *arrangement, struct mig_complaint *why);

/* Append a legal layout as text, with the names of a family other than MIG_NONE. */
void mig_layout_write(const struct gpu_layout *layout, enum mig_family family, struct buffer *out);

/* Read such a text: instances in any order, joined by '+', each a profile with an optional '@' and start; or "empty".
 * ERROR_CONFIG if it is not valid; then *out is not set. */
struct error mig_layout_read(struct gpu_layout *out, const struct gpu_model *model, struct text text) MUST_CHECK;

#endif
