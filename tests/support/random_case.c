#include "tests/support/random_case.h"
#include "policies/policy_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "policies/config/presets.h"
#include "tests/support/json_text.h"

static uint32_t between(struct random_stream *stream, uint32_t least, uint32_t most)
{
    return least + random_below(stream, most - least + 1);
}

/* ---- Clusters ---- */

static void add_pool(struct random_stream *stream, struct buffer *json, uint32_t index, uint32_t gpus)
{
    static const char *const models[] = {"h100-80gb", "a100-40gb", "t4-16gb"};
    buffer_format(json, "%s{'name': 'p%u', 'nodes': %u, 'gpus_per_node': %u, 'node_name': 'p%u-%%u'",
                  index > 0 ? ", " : "", index, between(stream, 1, 5), gpus, index);
    if (gpus > 0)
        buffer_format(json, ", 'gpu_model': '%s'", models[index]);
    if (gpus >= 4 && index == 1 &&
        random_case_once_in(stream, 2)) /* never the first pool, so that the level has a domain */
        buffer_string(json, ", 'nvlink_island': 2");
    else if (gpus >= 2 && index < 2 && random_case_once_in(stream, 3))
        buffer_string(json, ", 'nvlink_nodes': 2");
    if (random_case_once_in(stream, 2))
        buffer_format(json, ", 'cpus': %u", between(stream, 1, 3 * gpus + 4));
    if (random_case_once_in(stream, 2))
        buffer_format(json, ", 'memory_gb': %u", between(stream, 1, 3 * gpus + 4));
    if (random_case_once_in(stream, 2))
        buffer_format(json, ", 'labels': {'zone': 'z%u'}", random_below(stream, 2));
    if (index > 0 && random_case_once_in(stream, 4))
        buffer_string(json, ", 'taints': ['x=y:NoSchedule']");
    buffer_string(json, "}");
}

struct cluster *random_case_cluster(struct random_stream *stream)
{
    static const uint8_t gpus[] = {1, 2, 4, 8, 8, 16};
    struct buffer json = {0};
    struct json_doc *doc;
    uint32_t pools = between(stream, 1, 3);
    buffer_string(&json, "{'pools': [");
    for (uint32_t i = 0; i < pools; i++)
        add_pool(stream, &json, i,
                 i == 2 && random_case_once_in(stream, 2) ? 0 : gpus[random_below(stream, sizeof gpus)]);
    buffer_string(&json, "], 'levels': ['unit', 'nvlink'], 'fabric': {'nodes_per_unit': 4}}");
    struct error error = json_text_read(&doc, "cluster", buffer_c_string(&json));
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct cluster *cluster = cluster_read(&root);
    if (cluster == NULL)
        print_error("%s: %s\n", buffer_c_string(&json), error_message(&error));
    assert_non_null(cluster);
    json_doc_free(doc);
    buffer_release(&json);
    return cluster;
}

/* ---- Queues ---- */

static int64_t some_milli(struct random_stream *stream, const struct cluster *cluster)
{
    int64_t whole = random_below(stream, cluster->gpu_count + 1);
    return whole * GPU_MILLI + (random_case_once_in(stream, 4) ? random_below(stream, GPU_MILLI) : 0);
}

void random_case_queues(struct random_stream *stream, struct queue_table *table, const struct cluster *cluster,
                        bool with_limits)
{
    uint32_t count = between(stream, 1, 12);
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%u", table->count);
        queue_id id = queue_table_add(table, text_of(name), random_below(stream, table->count));
        struct queue_spec *spec = &table->queues[id];
        spec->deserved[RESOURCE_GPU] =
            random_case_once_in(stream, 8) ? QUOTA_UNLIMITED : some_milli(stream, cluster) / 2;
        spec->weight_milli[RESOURCE_GPU] = random_below(stream, 4) * 500;
        spec->priority = (int32_t)(100 + random_below(stream, 2));
    }
    if (with_limits)
        random_case_limits(stream, table, cluster);
}

void random_case_limits(struct random_stream *stream, struct queue_table *table, const struct cluster *cluster)
{
    for (queue_id q = 1; q < table->count; q++)
        if (random_case_once_in(stream, 3))
            table->queues[q].limit[RESOURCE_GPU] =
                random_case_once_in(stream, 3) ? QUOTA_UNLIMITED : some_milli(stream, cluster);
}

/* ---- Jobs ---- */

/* Constraints on nodes.  random_case_takes_nodes computes their meaning a second time. */
static const char *const ask_texts[] = {
    "'node_selector':{'zone':'z0'}",
    ("'node_affinity':[{'match_expressions':[{'key':'zone','operator':'NotIn','values':['z0']}]}]"),
    "'tolerations':[{'key':'x','operator':'Exists'}]",
    "'node_selector':{'zone':'z1'},'tolerations':[{'operator':'Exists'}]",
};

static const struct node_ask *some_nodes(struct random_stream *stream, const struct cluster *cluster)
{
    struct arena *arena = (struct arena *)(uintptr_t)&cluster->arena; /* lives as long as the jobs */
    struct node_ask draft;
    char *text = json_text_new(ask_texts[random_below(stream, 4)]);
    assert_true(node_ask_of_text(text, arena, &draft));
    free(text);
    return node_ask_make(arena, cluster, &draft);
}

bool random_case_takes_nodes(const struct request *request, const struct node_type *type)
{
    const char *zone = type->label_count > 0 ? type->labels[0].value : "";
    uint32_t which = 0;
    if (request->nodes == NULL)
        return type->taint_count == 0;
    while (!json_text_is(request->nodes->text, ask_texts[which]))
        which++;
    switch (which) {
    case 0:
        return type->taint_count == 0 && strcmp(zone, "z0") == 0;
    case 1:
        return type->taint_count == 0 && strcmp(zone, "z0") != 0;
    case 2:
        return true;
    default:
        return strcmp(zone, "z1") == 0;
    }
}

static void ask_gpus(struct random_stream *stream, const struct cluster *cluster, struct request *request)
{
    uint32_t gpus = cluster->types[random_below(stream, cluster->type_count)].gpu_count;
    switch (random_below(stream, 8)) {
    case 0:
        request->gpu_milli = (uint16_t)between(stream, 1, GPU_MILLI - 1);
        break;
    case 1:
        request->gpu_milli = (uint16_t)(250 * between(stream, 1, 3));
        break;
    case 2:
        request->gpu_memory_mib = between(stream, 1, 20) << 12;
        break;
    case 3:
        request->cpu_milli = 1; /* for CPUs alone */
        break;
    default:
        request->gpus = (uint16_t)between(stream, 1, gpus > 0 ? gpus : 1);
        if (random_case_once_in(stream, 2))
            request->gpus = (uint16_t)(1u << random_below(stream, 4));
    }
    if (random_case_once_in(stream, 6))
        request->gpu_models = 1 + random_below(stream, 7);
    if (random_case_once_in(stream, 6))
        request->nodes = some_nodes(stream, cluster);
}

static struct job_group some_group(struct random_stream *stream, const struct cluster *cluster, bool is_rigid)
{
    struct job_group group = {.count = 1};
    ask_gpus(stream, cluster, &group.request);
    if (random_case_once_in(stream, 3))
        group.count = between(stream, 1, random_case_once_in(stream, 3) ? 12 : 3);
    if (random_case_once_in(stream, 2))
        group.request.cpu_milli = 500 * between(stream, 1, 6);
    if (random_case_once_in(stream, 2))
        group.request.memory_mib = 512 * between(stream, 1, 6);
    group.min_count = random_case_once_in(stream, 4) ? between(stream, 1, group.count) : group.count;
    if (is_rigid)
        group.min_count = group.count;
    return group;
}

static void make_close(struct random_stream *stream, struct job_group *group)
{
    if (group->request.gpus > 0 && random_case_once_in(stream, 3))
        group->request.one_island = true;
    const struct request *request = &group->request;
    const bool is_share = request->gpu_milli != 0 || request->gpu_memory_mib != 0;
    if (!random_case_once_in(stream, 3))
        return;
    const uint32_t slice_members = between(stream, 1, 3);
    const uint8_t slice_level = (uint8_t)between(stream, 1, 2);
    group->count = group->min_count = slice_members * between(stream, 1, 3);
    if (is_share)
        return; /* shares form no slices: job_complaint */
    group->slice_members = slice_members;
    group->slice_level = slice_level;
}

static struct checkpoint_plan some_plan(struct random_stream *stream)
{
    if (random_case_once_in(stream, 3))
        return (struct checkpoint_plan){0};
    return (struct checkpoint_plan){.interval = random_below(stream, 3) * 100 * TIME_NS_PER_S,
                                    .duration = random_below(stream, 4) * 25 * TIME_NS_PER_S,
                                    .restart = random_below(stream, 3) * 20 * TIME_NS_PER_S};
}

struct job random_case_job(struct random_stream *stream, const struct cluster *cluster, uint32_t queue_count,
                           struct random_case_job_options *options)
{
    struct job job = job_default();
    job.queue = random_below(stream, queue_count);
    job.priority = (int32_t)(random_below(stream, 5) * 25);
    job.is_preemptible = !random_case_once_in(stream, 4);
    job.first = some_group(stream, cluster, options->is_rigid);
    if (options->has_close)
        make_close(stream, &job.first);
    if (options->max_groups > 1 && random_case_once_in(stream, 6)) {
        job.group_count = (uint16_t)between(stream, 2, options->max_groups);
        for (uint32_t g = 1; g < job.group_count; g++)
            options->more[g - 1] = some_group(stream, cluster, options->is_rigid);
        if (options->has_close)
            make_close(stream, &options->more[0]);
        job.more = options->more;
    }
    job.checkpoint = some_plan(stream);
    if (random_case_once_in(stream, 5))
        job.limit = (time_ns)between(stream, 1, 2000) * TIME_NS_PER_S;
    assert_null(job_complaint(&job));
    return job;
}

/* ---- Policies ---- */

uint32_t random_case_preset_count(void)
{
    uint32_t count = 0;
    while (policy_preset_texts[count].name != NULL)
        count++;
    return count;
}

static void write_policy(struct random_stream *stream, char *text, size_t size)
{
    static const char *const orders[] = {"'fifo'", "'priority'", "'priority', 'fifo'", "'fifo', 'priority'"};
    static const char *const placements[] = {"best_fit", "first_fit", "worst_fit"};
    const bool is_strict = random_case_once_in(stream, 3), is_flat = random_case_once_in(stream, 2);
    char backfill[96] = "";
    if (random_case_once_in(stream, 3))
        snprintf(backfill, sizeof backfill, ", 'backfill': {'policy': 'easy', 'reservations': %u, 'interval_s': %u}",
                 between(stream, 1, 4), random_below(stream, 3) * 100);
    int length =
        snprintf(text, size,
                 "{'name': 'random', 'order': [%s], 'blocking': '%s', 'quota': '%s', 'placement': '%s', "
                 "'preemption': {'policy': '%s', 'grace_s': %u, 'min_runtime_s': %u, 'attempts_per_cycle': %u, "
                 "'victims_max': %u, 'evictions_per_job_max': %u}%s}",
                 orders[random_below(stream, 4)], is_strict ? "strict" : "skip", is_flat ? "none" : "fairshare",
                 placements[random_below(stream, 3)], random_case_once_in(stream, 5) ? "none" : "checkpoint",
                 random_below(stream, 3) * 50, random_below(stream, 3) * 50, between(stream, 1, 4),
                 between(stream, 1, 10), random_below(stream, 8), backfill);
    assert_true(length > 0 && (size_t)length < size);
    json_text_requote(text);
}

void random_case_policy(struct random_stream *stream, uint32_t choice, struct random_case_policy *policy)
{
    struct json_doc *doc;
    if (choice < random_case_preset_count())
        snprintf(policy->text, sizeof policy->text, "%s", policy_preset_texts[choice].text);
    else
        write_policy(stream, policy->text, sizeof policy->text);
    struct error error = json_text_read(&doc, "policy", policy->text);
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    policy_config_read(&policy->config, &root);
    if (error_is(error))
        print_error("%s: %s\n", policy->text, error_message(&error));
    assert_false(error_is(error));
    json_doc_free(doc);
}
