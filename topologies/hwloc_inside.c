/* topologies/hwloc_inside.c -- one node's inside from `lstopo --of xml`.
 *
 * GPUs are NVIDIA display or 3D controllers on PCI; where an export has no PCI devices, the OS
 * devices of NVML count.  NICs are InfiniBand controllers, and Ethernet controllers that carry an
 * OpenFabrics device.  A GPU's nearest NIC is the one with the deepest common bridge; NICs that are
 * nearest to no GPU (storage, management) are not counted, because they are no rails.
 */
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "base/mem.h"
#include "topologies/cluster_load.h"

enum {
    XML_BYTES_MAX = 16 << 20,
    DEVICES_MAX = 64, /* of one kind, in one node */
    NUMA_MAX = 16,
    NIC_UNTOLD = UINT8_MAX,
    PCI_VENDOR_NVIDIA = 0x10de,    /* pci.ids */
    PCI_CLASS_VGA = 0x0300,        /* PCI Code and ID Assignment: display, VGA compatible */
    PCI_CLASS_3D = 0x0302,         /* as above: display, 3D controller */
    PCI_CLASS_INFINIBAND = 0x0207, /* as above: network, InfiniBand */
    PCI_CLASS_ETHERNET = 0x0200,   /* as above: network, Ethernet */
};

#define BYTES_PER_MIB (UINT64_C(1) << 20)

struct devices {
    hwloc_obj_t at[DEVICES_MAX];
    unsigned count;
};

static void add_device(struct devices *devices, hwloc_obj_t object)
{
    if (devices->count < DEVICES_MAX)
        devices->at[devices->count++] = object;
}

static bool has_open_fabrics(hwloc_obj_t pci)
{
    for (hwloc_obj_t child = pci->io_first_child; child != NULL; child = child->next_sibling)
        if (child->type == HWLOC_OBJ_OS_DEVICE && child->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS)
            return true;
    return false;
}

static void find_pci(hwloc_topology_t topology, struct devices *gpus, struct devices *nics)
{
    hwloc_obj_t pci = NULL;
    while ((pci = hwloc_get_next_pcidev(topology, pci)) != NULL) {
        unsigned class = pci->attr->pcidev.class_id;
        if (pci->attr->pcidev.vendor_id == PCI_VENDOR_NVIDIA && (class == PCI_CLASS_VGA || class == PCI_CLASS_3D))
            add_device(gpus, pci);
        else if (class == PCI_CLASS_INFINIBAND || (class == PCI_CLASS_ETHERNET && has_open_fabrics(pci)))
            add_device(nics, pci);
    }
}

static void find_nvml(hwloc_topology_t topology, struct devices *gpus)
{
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_osdev(topology, device)) != NULL) {
        const char *backend = hwloc_obj_get_info_by_name(device, "Backend");
        if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU && backend != NULL && strcmp(backend, "NVML") == 0)
            add_device(gpus, device);
    }
}

static unsigned depth_of(hwloc_obj_t object)
{
    unsigned depth = 0;
    for (; object->parent != NULL; object = object->parent)
        depth++;
    return depth;
}

/* The depth of the lowest common ancestor of two devices: the deeper, the nearer. */
static unsigned nearness(hwloc_obj_t a, hwloc_obj_t b)
{
    unsigned depth_a = depth_of(a), depth_b = depth_of(b);
    for (; depth_a > depth_b; depth_a--)
        a = a->parent;
    for (; depth_b > depth_a; depth_b--)
        b = b->parent;
    for (; a != b; depth_a--) {
        a = a->parent;
        b = b->parent;
    }
    return depth_a;
}

/* The nearest NIC; among equally near ones that with the fewest GPUs, then the first. */
static unsigned nearest_nic(hwloc_obj_t gpu, const struct devices *nics, const unsigned users[DEVICES_MAX])
{
    unsigned best = 0, best_nearness = 0;
    for (unsigned i = 0; i < nics->count; i++) {
        unsigned near = nearness(gpu, nics->at[i]);
        if (i == 0 || near > best_nearness || (near == best_nearness && users[i] < users[best])) {
            best = i;
            best_nearness = near;
        }
    }
    return best;
}

static void pair_nics(struct cluster_inside *out, const struct devices *gpus, const struct devices *nics)
{
    unsigned choice[NODE_GPUS_MAX], users[DEVICES_MAX] = {0}, rail[DEVICES_MAX];
    memset(out->gpu_nic, NIC_UNTOLD, sizeof out->gpu_nic);
    if (nics->count == 0)
        return;
    for (unsigned i = 0; i < gpus->count; i++) {
        choice[i] = nearest_nic(gpus->at[i], nics, users);
        users[choice[i]]++;
    }
    for (unsigned i = 0; i < nics->count; i++) {
        rail[i] = out->nic_count;
        if (users[i] > 0 || gpus->count == 0)
            out->nic_count++;
    }
    for (unsigned i = 0; i < gpus->count; i++)
        out->gpu_nic[i] = (uint8_t)rail[choice[i]];
}

/* The NUMA node of a device; 0 if the export calls it near to all. */
static unsigned numa_of(hwloc_topology_t topology, hwloc_obj_t device)
{
    hwloc_obj_t host = hwloc_get_non_io_ancestor_obj(topology, device);
    int os_index = host == NULL || host->nodeset == NULL ? -1 : hwloc_bitmap_first(host->nodeset);
    if (os_index < 0)
        return 0;
    hwloc_obj_t numa = hwloc_get_numanode_obj_by_os_index(topology, (unsigned)os_index);
    return numa == NULL ? 0 : numa->logical_index;
}

static const char *own_or_child_info(hwloc_obj_t gpu, const char *key)
{
    const char *value = hwloc_obj_get_info_by_name(gpu, key);
    for (hwloc_obj_t child = gpu->io_first_child; value == NULL && child != NULL; child = child->next_sibling)
        value = hwloc_obj_get_info_by_name(child, key);
    return value;
}

/* NVML's "NVIDIA H100 80GB HBM3", or the text in brackets in pci.ids: "GH100 [H100 SXM5 80GB]". */
static void name_model(hwloc_obj_t gpu, char name[64])
{
    const char *model = own_or_child_info(gpu, "GPUModel");
    if (model == NULL)
        model = own_or_child_info(gpu, "PCIDevice");
    name[0] = '\0';
    if (model == NULL)
        return;
    const char *open = strchr(model, '[');
    const char *close = open == NULL ? NULL : strchr(open, ']');
    if (close != NULL)
        snprintf(name, 64, "%.*s", (int)(close - open - 1), open + 1);
    else
        snprintf(name, 64, "%s", model);
}

static struct error describe_gpus(hwloc_topology_t topology, const char *path, const struct devices *gpus,
                                  struct cluster_inside *out)
{
    out->gpu_count = (uint16_t)gpus->count;
    for (unsigned i = 0; i < gpus->count; i++) {
        char name[sizeof out->gpu_model];
        name_model(gpus->at[i], name);
        if (i == 0)
            memcpy(out->gpu_model, name, sizeof name);
        else if (strcmp(name, out->gpu_model) != 0)
            return error_new(ERROR_CONFIG, "%s: GPUs of two models in one node, '%s' and '%s'", path, out->gpu_model,
                             name);
        out->gpu_numa[i] = (uint8_t)numa_of(topology, gpus->at[i]);
    }
    return ERROR_OK;
}

static struct error describe_host(hwloc_topology_t topology, const char *path, struct cluster_inside *out)
{
    int pu_count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    int numa_count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    uint64_t memory_mib = hwloc_get_root_obj(topology)->total_memory / BYTES_PER_MIB;
    if (pu_count < 1 || pu_count > 1000000)
        return error_new(ERROR_CONFIG, "%s: %d CPUs are not credible", path, pu_count);
    if (numa_count < 1 || numa_count > NUMA_MAX)
        return error_new(ERROR_CONFIG, "%s: %d NUMA nodes, from 1 to %d are possible", path, numa_count, NUMA_MAX);
    if (memory_mib < 1 || memory_mib > UINT32_MAX / 4)
        return error_new(ERROR_CONFIG, "%s: the NUMA nodes have no credible memory", path);
    out->cpu_milli = (uint32_t)pu_count * 1000;
    out->memory_mib = (uint32_t)memory_mib;
    out->numa_count = (uint8_t)numa_count;
    return ERROR_OK;
}

static struct error describe(hwloc_topology_t topology, const char *path, struct cluster_inside *out)
{
    struct devices gpus = {.count = 0}, nics = {.count = 0};
    *out = (struct cluster_inside){0};
    TRY(describe_host(topology, path, out));
    find_pci(topology, &gpus, &nics);
    if (gpus.count == 0)
        find_nvml(topology, &gpus);
    if (gpus.count > NODE_GPUS_MAX)
        return error_new(ERROR_CONFIG, "%s: %u GPUs in one node, at most %d are possible", path, gpus.count,
                         NODE_GPUS_MAX);
    TRY(describe_gpus(topology, path, &gpus, out));
    pair_nics(out, &gpus, &nics);
    if (out->nic_count > NODE_GPUS_MAX)
        return error_new(ERROR_CONFIG, "%s: %u NICs in one node, at most %d are possible", path, out->nic_count,
                         NODE_GPUS_MAX);
    return ERROR_OK;
}

static struct error not_an_export(const char *path)
{
    return error_new(ERROR_CONFIG, "%s is not an XML export of hwloc 2 (lstopo --of xml)", path);
}

/* hwloc itself prints to stderr if the file is no export, so such files are refused before. */
static bool looks_like_export(const char *bytes, size_t length)
{
    return memmem(bytes, length, "<topology version=\"2.", strlen("<topology version=\"2.")) != NULL;
}

struct error hwloc_read_inside(const char *path, struct cluster_inside *out)
{
    char *bytes;
    size_t length;
    TRY(input_read_all(path, XML_BYTES_MAX, &bytes, &length));
    if (!looks_like_export(bytes, length)) {
        mem_free(bytes);
        return not_an_export(path);
    }
    bytes = mem_resize(bytes, length + 1, 1); /* hwloc counts the NUL */
    bytes[length] = '\0';
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        mem_free(bytes);
        return error_new(ERROR_INTERNAL, "hwloc cannot be set up");
    }
    struct error error;
    if (hwloc_topology_set_xmlbuffer(topology, bytes, (int)length + 1) != 0 ||
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) != 0 ||
        hwloc_topology_load(topology) != 0)
        error = error_new(ERROR_CONFIG, "%s is not an XML export of hwloc 2 (lstopo --of xml)", path);
    else
        error = describe(topology, path, out);
    hwloc_topology_destroy(topology);
    mem_free(bytes);
    return error;
}
