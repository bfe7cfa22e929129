/* none.  What runs stays where it is, and free space is where it comes free.
 * Cost: none.  Known failure: where small jobs never stop coming, no block of whole nodes ever comes together. */
#include "policies/defrag/defrags.h"

const struct defrag_policy defrag_none = {
    .name = "none",
    .version = 1,
    .summary = "nothing moves; a large gang waits until space happens to come "
               "together",
};
