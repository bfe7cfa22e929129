/* as_asked.  Every member gets the kind of piece that it asks.
 *
 * Source: what schedulers do that know nothing of sharing.
 * Cost: none.  Known failure: who asks a whole GPU for a notebook gets it; who asks shares has strangers beside it. */
#include "policies/sharing/sharings.h"

const struct sharing_policy sharing_as_asked = {
    .name = "as_asked",
    .version = 1,
    .summary = "every member gets the kind of piece it asks; right where submitters ask well",
};
