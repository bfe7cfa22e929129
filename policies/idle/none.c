/* none.  A job keeps what it holds, whether it uses it or not.
 * Cost: none.  Known failure: abandoned notebooks hold GPUs until their limit. */
#include "policies/idle/idles.h"

const struct idle_policy idle_none = {
    .name = "none",
    .version = 1,
    .summary = "jobs keep what they hold; abandoned notebooks hold GPUs to their limit",
};
