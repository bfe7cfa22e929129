#include "workloads/job_truth.h"

#include <stddef.h>

const char *const job_outcome_names[] = {"completed", "failed", "cancelled", NULL};
