/* topologies/hwloc_inside.c -- keys of a pool from `lstopo --of xml` of one of its nodes.
 *
 * GPUs are NVIDIA display or 3D controllers on PCI; where an export has no PCI devices, the OS devices of NVML count.
 * NICs are InfiniBand controllers, and Ethernet controllers that carry an OpenFabrics device.  A GPU's nearest NIC is
 * the one with the deepest common bridge; NICs that are nearest to no GPU (storage, management) are not counted,
 * because they are no rails.
 */
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "base/mem.h"
#include "topologies/cluster_load.h"

enum {
    XML_BYTES_MAX = 16 << 20,
    DEVICES_MAX = 64,              /* of one kind, in one node */
    PCI_VENDOR_NVIDIA = 0x10de,    /* pci.ids */
    PCI_CLASS_VGA = 0x0300,        /* PCI Code and ID Assignment: display, VGA compatible */
    PCI_CLASS_3D = 0x0302,         /* as above: display, 3D controller */
    PCI_CLASS_INFINIBAND = 0x0207, /* as above: network, InfiniBand */
    PCI_CLASS_ETHERNET = 0x0200,   /* as above: network, Ethernet */
};

#define BYTES_PER_GB 1073741824.0 /* as users count memory: cluster_json.c */

/* ---- Devices ---- */

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

static void find_devices(hwloc_topology_t topology, struct devices *gpus, struct devices *nics)
{
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci)) != NULL;) {
        const unsigned class = pci->attr->pcidev.class_id;
        if (pci->attr->pcidev.vendor_id == PCI_VENDOR_NVIDIA && (class == PCI_CLASS_VGA || class == PCI_CLASS_3D))
            add_device(gpus, pci);
        else if (class == PCI_CLASS_INFINIBAND || (class == PCI_CLASS_ETHERNET && has_open_fabrics(pci)))
            add_device(nics, pci);
    }
    if (gpus->count > 0)
        return;
    for (hwloc_obj_t device = NULL; (device = hwloc_get_next_osdev(topology, device)) != NULL;) {
        const char *backend = hwloc_obj_get_info_by_name(device, "Backend");
        if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU && backend != NULL && strcmp(backend, "NVML") == 0)
            add_device(gpus, device);
    }
}

/* ---- What is near to a GPU ---- */

static bool is_within(hwloc_obj_t object, hwloc_obj_t around)
{
    while (object != NULL && object != around)
        object = object->parent;
    return object != NULL;
}

/* That with the deepest common ancestor; among equals the one with the fewest GPUs, then the first. */
static unsigned nearest_nic(hwloc_obj_t gpu, const struct devices *nics, const unsigned users[DEVICES_MAX])
{
    unsigned best = nics->count;
    for (hwloc_obj_t around = gpu; best == nics->count; around = around->parent)
        for (unsigned n = 0; n < nics->count; n++)
            if (is_within(nics->at[n], around) && (best == nics->count || users[n] < users[best]))
                best = n;
    return best;
}

static void tell_nics(json_t *told, const struct devices *gpus, const struct devices *nics)
{
    unsigned choice[DEVICES_MAX], users[DEVICES_MAX] = {0}, number[DEVICES_MAX], count = 0;
    json_t *gpu_nics = json_array();
    for (unsigned g = 0; g < gpus->count; g++)
        users[choice[g] = nearest_nic(gpus->at[g], nics, users)]++;
    for (unsigned n = 0; n < nics->count; n++) {
        number[n] = count;
        count += users[n] > 0;
    }
    for (unsigned g = 0; g < gpus->count; g++)
        json_array_append_new(gpu_nics, json_integer(number[choice[g]]));
    json_object_set_new(told, "nics", json_integer(count));
    json_object_set_new(told, "gpu_nics", gpu_nics);
}

/* The NUMA node of a device; 0 if the export calls it near to all. */
static unsigned numa_of(hwloc_topology_t topology, hwloc_obj_t device)
{
    const hwloc_obj_t host = hwloc_get_non_io_ancestor_obj(topology, device);
    const int os_index = host == NULL || host->nodeset == NULL ? -1 : hwloc_bitmap_first(host->nodeset);
    const hwloc_obj_t numa = os_index < 0 ? NULL : hwloc_get_numanode_obj_by_os_index(topology, (unsigned)os_index);
    return numa == NULL ? 0 : numa->logical_index;
}

/* ---- The model ---- */

static const char *own_or_child_info(hwloc_obj_t gpu, const char *key)
{
    const char *value = hwloc_obj_get_info_by_name(gpu, key);
    for (hwloc_obj_t child = gpu->io_first_child; value == NULL && child != NULL; child = child->next_sibling)
        value = hwloc_obj_get_info_by_name(child, key);
    return value;
}

/* A new string: NVML's "NVIDIA H100 80GB HBM3", or the text in brackets in pci.ids: "GH100 [H100 SXM5 80GB]".  What is
 * not UTF-8 is no model that the cluster knows. */
static json_t *model_of(hwloc_obj_t gpu)
{
    const char *model = own_or_child_info(gpu, "GPUModel");
    if (model == NULL)
        model = own_or_child_info(gpu, "PCIDevice");
    const char *open = model == NULL ? NULL : strchr(model, '['), *close = open == NULL ? NULL : strchr(open, ']');
    if (close != NULL)
        return json_stringn_nocheck(open + 1, (size_t)(close - open - 1));
    return json_string_nocheck(model != NULL ? model : "generic");
}

static struct error tell_gpus(json_t *told, hwloc_topology_t topology, const char *path, const struct devices *gpus)
{
    struct error error = ERROR_OK;
    json_t *numas = json_array();
    json_object_set_new(told, "gpu_numa_nodes", numas);
    for (unsigned g = 0; g < gpus->count; g++) {
        json_t *model = model_of(gpus->at[g]), *first = json_object_get(told, "gpu_model");
        json_array_append_new(numas, json_integer(numa_of(topology, gpus->at[g])));
        if (first == NULL)
            json_object_set(told, "gpu_model", model);
        else if (!json_equal(model, first) && !error_is(error))
            error = error_new(ERROR_CONFIG, "%s: GPUs of two models in one node, '%s' and '%s'", path,
                              json_string_value(first), json_string_value(model));
        json_decref(model);
    }
    return error;
}

/* ---- The export ---- */

static struct error tell(json_t *told, hwloc_topology_t topology, const char *path)
{
    struct devices gpus = {.count = 0}, nics = {.count = 0};
    find_devices(topology, &gpus, &nics);
    json_object_update_new(
        told, json_pack("{s:i, s:f, s:i, s:i}", "cpus", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), "memory_gb",
                        (double)hwloc_get_root_obj(topology)->total_memory / BYTES_PER_GB, "numa_nodes",
                        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), "gpus_per_node", gpus.count));
    if (gpus.count > 0 && nics.count > 0)
        tell_nics(told, &gpus, &nics);
    return tell_gpus(told, topology, path, &gpus);
}

/* Set keys of the object `told`. */
static struct error read_export(const char *path, json_t *told)
{
    static const char mark[] = "<topology version=\"2."; /* hwloc prints to stderr where it is missing */
    char *bytes;
    size_t length;
    hwloc_topology_t topology;
    TRY(input_read_all(path, XML_BYTES_MAX, &bytes, &length));
    bytes = mem_resize(bytes, length + 1, 1); /* hwloc counts the NUL */
    bytes[length] = '\0';
    if (hwloc_topology_init(&topology) != 0) {
        mem_free(bytes);
        return error_new(ERROR_INTERNAL, "hwloc cannot be set up");
    }
    const bool is_export = memmem(bytes, length, mark, sizeof mark - 1) != NULL &&
                           hwloc_topology_set_xmlbuffer(topology, bytes, (int)length + 1) == 0 &&
                           hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
                           hwloc_topology_load(topology) == 0;
    struct error error = is_export
                             ? tell(told, topology, path)
                             : error_new(ERROR_CONFIG, "%s is not an XML export of hwloc 2 (lstopo --of xml)", path);
    hwloc_topology_destroy(topology);
    mem_free(bytes);
    return error;
}

/* ---- A pool ---- */

/* The path is relative to the folder of the file in which it stands; one that the user typed, to the present folder. */
static const char *open_path(const struct json_value *file)
{
    size_t line, column;
    const char *home = json_value_place(file, &line, &column), *name = json_string_value(file->node);
    const char *slash = line > 0 ? strrchr(home, '/') : NULL;
    if (name != NULL && name[0] != '/' && slash != NULL) {
        struct buffer path = {0};
        buffer_format(&path, "%.*s%s", (int)(slash - home + 1), home, name);
        if (json_string_setn(file->node, path.bytes, path.length) != 0)
            json_fail(file, "the path of the file is not UTF-8");
        buffer_release(&path);
    }
    return json_value_file(file, "hwloc");
}

/* What the pool says itself goes before. */
static void take_export(const struct json_value *value)
{
    struct json_object pool;
    json_object_open(&pool, value);
    const struct json_value file = json_member(&pool, "hwloc");
    const char *path = open_path(&file);
    if (path == NULL || error_is(*value->error))
        return;
    json_t *told = json_object();
    struct error error = read_export(path, told);
    if (error_is(error)) {
        json_fail(&file, "%s", error_message(&error));
        value->error->kind = error.kind; /* a missing file stays an I/O error */
    }
    error_release(&error);
    json_object_update_missing_new(value->node, told);
    json_object_del(value->node, "hwloc");
}

struct cluster *cluster_load_json(const struct json_value *value)
{
    struct json_object root;
    json_object_open(&root, value);
    const struct json_value pools = json_member(&root, "pools");
    for (size_t i = 0; i < json_array_size(pools.node) && !error_is(*value->error); i++) {
        const struct json_value pool = json_array_item(&pools, i);
        take_export(&pool);
    }
    return cluster_read(value);
}
