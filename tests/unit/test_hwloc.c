/* tests/unit/test_hwloc.c -- one node's inside from lstopo's XML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "topologies/cluster_load.h"

static char path[] = "/tmp/windtunnel-hwloc-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void the_example_has_8_gpus_and_8_rails(void **state)
{
    (void)state;
    struct cluster_inside inside;
    assert_false(error_is(hwloc_read_inside("topologies/hwloc-node.xml", &inside)));
    assert_int_equal(inside.gpu_count, 8);
    assert_int_equal(inside.nic_count, 8);
    assert_int_equal(inside.numa_count, 2);
    assert_int_equal(inside.cpu_milli, 16000);
    assert_int_equal(inside.memory_mib, 2 << 20);
    assert_string_equal(inside.gpu_model, "H100 SXM5 80GB");
    for (unsigned gpu = 0; gpu < 8; gpu++) {
        assert_int_equal(inside.gpu_numa[gpu], gpu / 4);
        assert_int_equal(inside.gpu_nic[gpu], gpu);
    }
}

/* ---- small exports, made here: one NUMA node, devices as wanted ---- */

static void put_head(struct buffer *xml)
{
    buffer_string(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
                       "<topology version=\"2.0\">\n"
                       "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\""
                       " allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
                       " allowed_nodeset=\"0x1\" gp_index=\"1\">\n"
                       "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\""
                       " nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\" local_memory=\"1073741824\"/>\n"
                       "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\""
                       " nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\"/>\n");
}

static void put_tail(struct buffer *xml)
{
    buffer_string(xml, "</object>\n</topology>\n");
}

static void open_bridge(struct buffer *xml, unsigned bus)
{
    buffer_format(xml,
                  "<object type=\"Bridge\" gp_index=\"%u\" bridge_type=\"0-1\" depth=\"0\""
                  " bridge_pci=\"0000:[%02x-%02x]\">\n",
                  100 + bus, bus, bus + 7);
}

static void close_object(struct buffer *xml)
{
    buffer_string(xml, "</object>\n");
}

static void open_device(struct buffer *xml, unsigned bus, const char *class, const char *vendor)
{
    buffer_format(xml,
                  "<object type=\"PCIDev\" gp_index=\"%u\" pci_busid=\"0000:%02x:00.0\""
                  " pci_type=\"%s [%s:0001] [0000:0000] 00\" pci_link_speed=\"0.000000\">\n",
                  400 + bus, bus, class, vendor);
}

static void put_device(struct buffer *xml, unsigned bus, const char *class, const char *vendor)
{
    open_device(xml, bus, class, vendor);
    close_object(xml);
}

static struct error read_xml(struct buffer *xml, struct cluster_inside *out)
{
    put_tail(xml);
    write_text(xml->bytes, xml->length);
    buffer_release(xml);
    return hwloc_read_inside(path, out);
}

static void a_gpu_goes_with_the_nic_on_its_bridge(void **state)
{
    (void)state;
    struct buffer xml = {0};
    struct cluster_inside inside;
    put_head(&xml);
    open_bridge(&xml, 0x10); /* two GPUs share a NIC */
    put_device(&xml, 0x11, "0302", "10de");
    put_device(&xml, 0x12, "0300", "10de");
    put_device(&xml, 0x13, "0207", "15b3");
    close_object(&xml);
    open_bridge(&xml, 0x20); /* a storage NIC alone: no rail */
    put_device(&xml, 0x21, "0207", "15b3");
    close_object(&xml);
    open_bridge(&xml, 0x30); /* Ethernet with RDMA is a rail; without, it is not */
    put_device(&xml, 0x31, "0200", "15b3");
    open_device(&xml, 0x32, "0200", "15b3");
    buffer_string(&xml, "<object type=\"OSDev\" gp_index=\"9\" name=\"mlx5_0\" osdev_type=\"3\"/>\n");
    close_object(&xml);
    put_device(&xml, 0x33, "0302", "10de");
    put_device(&xml, 0x34, "0302", "1002"); /* of another vendor */
    put_device(&xml, 0x35, "0108", "10de"); /* no display */
    close_object(&xml);
    assert_false(error_is(read_xml(&xml, &inside)));
    assert_int_equal(inside.gpu_count, 3);
    assert_int_equal(inside.nic_count, 2);
    assert_int_equal(inside.gpu_nic[0], 0);
    assert_int_equal(inside.gpu_nic[1], 0);
    assert_int_equal(inside.gpu_nic[2], 1);
    assert_int_equal(inside.gpu_nic[3], UINT8_MAX);
    assert_string_equal(inside.gpu_model, "");
}

static void equally_near_nics_are_shared_out(void **state)
{
    (void)state;
    struct buffer xml = {0};
    struct cluster_inside inside;
    put_head(&xml);
    open_bridge(&xml, 0x10);
    for (unsigned i = 0; i < 4; i++)
        put_device(&xml, 0x10 + i, "0302", "10de");
    put_device(&xml, 0x14, "0207", "15b3");
    put_device(&xml, 0x15, "0207", "15b3");
    close_object(&xml);
    assert_false(error_is(read_xml(&xml, &inside)));
    assert_int_equal(inside.nic_count, 2);
    for (unsigned gpu = 0; gpu < 4; gpu++)
        assert_int_equal(inside.gpu_nic[gpu], gpu % 2);
}

static void put_os_gpu(struct buffer *xml, unsigned index, const char *backend, const char *model)
{
    buffer_format(xml,
                  "<object type=\"OSDev\" gp_index=\"%u\" name=\"nvml%u\" osdev_type=\"1\">"
                  "<info name=\"Backend\" value=\"%s\"/><info name=\"GPUModel\" value=\"%s\"/>"
                  "</object>\n",
                  700 + index, index, backend, model);
}

static void without_pci_the_os_devices_of_nvml_count(void **state)
{
    (void)state;
    struct buffer xml = {0};
    struct cluster_inside inside;
    put_head(&xml);
    put_os_gpu(&xml, 0, "NVML", "NVIDIA H100 80GB HBM3");
    put_os_gpu(&xml, 1, "NVML", "NVIDIA H100 80GB HBM3");
    put_os_gpu(&xml, 2, "RSMI", "other");
    assert_false(error_is(read_xml(&xml, &inside)));
    assert_int_equal(inside.gpu_count, 2);
    assert_int_equal(inside.nic_count, 0);
    assert_string_equal(inside.gpu_model, "NVIDIA H100 80GB HBM3");
    assert_int_equal(inside.memory_mib, 1024);
}

static void check_refused(struct error error, const char *expected)
{
    assert_int_equal(error.kind, ERROR_CONFIG);
    if (strstr(error_message(&error), expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, error_message(&error));
    error_release(&error);
}

static void mixed_and_excess_gpus_are_refused(void **state)
{
    (void)state;
    struct buffer xml = {0};
    struct cluster_inside inside;
    put_head(&xml);
    put_os_gpu(&xml, 0, "NVML", "Tesla T4");
    put_os_gpu(&xml, 1, "NVML", "NVIDIA A10");
    check_refused(read_xml(&xml, &inside), "GPUs of two models in one node, 'Tesla T4' and 'NVIDIA A10'");
    put_head(&xml);
    open_bridge(&xml, 0x10);
    for (unsigned i = 0; i < NODE_GPUS_MAX + 1; i++)
        put_device(&xml, 0x10 + i, "0302", "10de");
    close_object(&xml);
    check_refused(read_xml(&xml, &inside), "17 GPUs in one node, at most 16 are possible");
}

static void what_is_no_export_is_refused(void **state)
{
    (void)state;
    struct cluster_inside inside;
    static const char *const texts[] = {"", "{}", "<?xml version=\"1.0\"?>\n<html/>\n",
                                        "<topology version=\"1.0\">\n</topology>\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(texts[i], strlen(texts[i]));
        check_refused(hwloc_read_inside(path, &inside), "is not an XML export of hwloc 2");
    }
    struct error error = hwloc_read_inside("/nonexistent.xml", &inside);
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_8_gpus_and_8_rails),
        cmocka_unit_test(a_gpu_goes_with_the_nic_on_its_bridge),
        cmocka_unit_test(equally_near_nics_are_shared_out),
        cmocka_unit_test(without_pci_the_os_devices_of_nvml_count),
        cmocka_unit_test(mixed_and_excess_gpus_are_refused),
        cmocka_unit_test(what_is_no_export_is_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
