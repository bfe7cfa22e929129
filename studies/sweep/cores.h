/* studies/sweep/cores.h -- a core for each of several processes.
 *
 *   TRY(cores_open(&cores, 4));
 *   if (fork() == 0)
 *       cores_bind(cores, 2);            (the third process)
 *   cores_close(&cores);
 *
 * The processes are spread over the cores that this process may use (hwloc_distrib): as far from each other as the
 * machine has caches and packages.  More processes than cores share them.
 *
 * Law: what a process computes does not depend on it.  Where the system refuses, a process is not bound.
 */
#ifndef STUDIES_SWEEP_CORES_H
#define STUDIES_SWEEP_CORES_H

#include <stddef.h>

#include "base/error.h"

struct cores; /* opaque */

/* ERROR_INTERNAL if the machine cannot be looked at. */
struct error cores_open(struct cores **out, size_t process_count) MUST_CHECK;

/* Bind the process that calls; no allocation. */
void cores_bind(const struct cores *cores, size_t index);
void cores_close(struct cores **cores); /* NULL is allowed */

#endif
