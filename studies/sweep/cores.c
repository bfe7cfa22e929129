#include "studies/sweep/cores.h"

#include <hwloc.h>
#include <limits.h>

#include "base/mem.h"

struct cores {
    hwloc_topology_t topology;
    hwloc_cpuset_t *sets; /* by process */
    size_t count;
};

static bool distribute(struct cores *cores)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    const bool is_known = allowed != NULL && hwloc_get_cpubind(cores->topology, allowed, HWLOC_CPUBIND_PROCESS) == 0;
    if (is_known)
        hwloc_topology_restrict(cores->topology, allowed, 0); /* what fails leaves all cores */
    hwloc_bitmap_free(allowed);
    hwloc_obj_t root = hwloc_get_root_obj(cores->topology);
    return hwloc_distrib(cores->topology, &root, 1, cores->sets, (unsigned)cores->count, INT_MAX, 0) == 0;
}

struct error cores_open(struct cores **out, size_t process_count)
{
    struct cores *cores = mem_zalloc(1, sizeof *cores);
    *out = cores;
    cores->count = process_count;
    cores->sets = mem_zalloc(process_count, sizeof *cores->sets);
    if (hwloc_topology_init(&cores->topology) == 0 && hwloc_topology_load(cores->topology) == 0 && distribute(cores))
        return ERROR_OK;
    cores_close(out);
    return error_new(ERROR_INTERNAL, "hwloc cannot tell which cores there are");
}

void cores_bind(const struct cores *cores, size_t index)
{
    if (cores->sets[index] != NULL)
        hwloc_set_cpubind(cores->topology, cores->sets[index], HWLOC_CPUBIND_PROCESS);
}

void cores_close(struct cores **out)
{
    struct cores *cores = *out;
    *out = NULL;
    if (cores == NULL)
        return;
    for (size_t i = 0; i < cores->count; i++)
        hwloc_bitmap_free(cores->sets[i]);
    if (cores->topology != NULL)
        hwloc_topology_destroy(cores->topology);
    mem_free(cores->sets);
    mem_free(cores);
}
