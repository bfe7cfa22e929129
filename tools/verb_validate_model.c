/* windtunnel validate-model: what communication costs by the model, beside measurements and for any input. */
#include <math.h>

#include "base/json_file.h"
#include "studies/fabric/fabric_fit.h"
#include "tools/model_tables.h"
#include "tools/verbs.h"
#include "topologies/cluster_load.h"
#include "topologies/collective_rows.h"
#include "topologies/gang_place.h"
#include "topologies/nccl_tuning.h"
#include "topologies/training_rows.h"

enum { STATUS_FAILED = 10, NODES_MAX = 1000000, PLAN_BYTES_MAX = 1 << 20 };

/* ---- options ---- */

static struct error real_option(const struct args *args, const char *name, double low, double high, double otherwise,
                                double *out)
{
    const char *text = args_string(args, name);
    *out = otherwise;
    if (text != NULL && (!text_to_double(text_of(text), out) || *out < low || *out > high))
        return error_new(ERROR_USAGE, "--%s must be a number from %g to %g, not '%s'", name, low, high, text);
    return ERROR_OK;
}

/* An index into `names`. */
static struct error choice_of(const char *what, const char *text, const char *const *names, int *out)
{
    for (*out = 0; names[*out] != NULL; ++*out)
        if (text_is(text_of(text), names[*out]))
            return ERROR_OK;
    struct buffer all = {0};
    for (int i = 0; names[i] != NULL; i++)
        buffer_format(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    struct error error = error_new(ERROR_USAGE, "there is no %s '%s'", what, text);
    if (!error_hint_nearest(&error, text_of(text), names))
        error_set_hint(&error, "one of: %s", buffer_c_string(&all));
    buffer_release(&all);
    return error;
}

/* The machines and the network that the question is about. */
struct machines {
    struct collective_system system;
    double leaf_oversubscription, spine_oversubscription;
    struct cluster *cluster; /* owned; NULL: the system is of the table */
};

static void machines_release(struct machines *machines)
{
    cluster_free(machines->cluster);
}

static struct error find_system(const struct args *args, struct machines *out)
{
    enum { SYSTEMS_MAX = 32 };
    const char *names[SYSTEMS_MAX + 1] = {NULL}, *name = args_string(args, "system");
    const char *transport = args_string(args, "transport");
    uint32_t count;
    int found;
    const struct collective_system *systems = collective_system_table(&count);
    for (uint32_t i = 0; i < count && i < SYSTEMS_MAX; i++)
        names[i] = systems[i].name;
    TRY(choice_of("system", name != NULL ? name : "h100", names, &found));
    *out = (struct machines){.system = systems[found], .leaf_oversubscription = 1, .spine_oversubscription = 1};
    if (transport != NULL) {
        TRY(choice_of("transport", transport, transport_names, &found));
        out->system = collective_system_over(&out->system, &transports[found]);
    }
    return ERROR_OK;
}

/* The pool of that name, or the first one with GPUs. */
static struct error find_pool(const struct cluster *cluster, const char *name, uint32_t *pool)
{
    for (*pool = 0; *pool < cluster->pool_count; ++*pool) {
        const struct node_pool *at = &cluster->pools[*pool];
        const bool has_gpus = cluster->types[at->type].gpu_count > 0;
        if (name != NULL ? text_is(text_of(name), at->name) : has_gpus)
            return has_gpus ? ERROR_OK : error_new(ERROR_USAGE, "the nodes of pool '%s' have no GPUs", name);
    }
    return name != NULL ? error_new(ERROR_USAGE, "the cluster has no pool '%s'", name)
                        : error_new(ERROR_USAGE, "the cluster has no GPUs");
}

/* A pool of a cluster, of which all GPUs of a node send at once. */
static struct error read_cluster(const struct args *args, struct machines *out)
{
    uint32_t pool;
    *out = (struct machines){.cluster = NULL};
    TRY(cluster_load(&out->cluster, args_string(args, "cluster")));
    struct error error = find_pool(out->cluster, args_string(args, "pool"), &pool);
    if (error_is(error)) {
        machines_release(out);
        return error;
    }
    const struct node_pool *from = &out->cluster->pools[pool];
    const struct link_place node = {from->first, (uint16_t)((1u << out->cluster->types[from->type].gpu_count) - 1)};
    out->system = collective_system_of(out->cluster, pool);
    out->system.nic_bytes_per_s = links_nic_bytes_per_s(out->cluster, &node);
    out->system.has_nvlink &= links_is_one_island(out->cluster, &node);
    out->leaf_oversubscription = out->cluster->fabric.leaf_oversubscription;
    out->spine_oversubscription = out->cluster->fabric.spine_oversubscription;
    return ERROR_OK;
}

static struct error find_machines(const struct args *args, struct machines *out)
{
    static const char *const others[] = {"system", "transport", NULL};
    if (args_string(args, "cluster") == NULL)
        return args_string(args, "pool") == NULL ? find_system(args, out)
                                                 : error_new(ERROR_USAGE, "--pool needs --cluster");
    for (int i = 0; others[i] != NULL; i++)
        if (args_string(args, others[i]) != NULL)
            return error_new(ERROR_USAGE, "--cluster and --%s exclude each other", others[i]);
    return read_cluster(args, out);
}

/* What a GPU has on the network: its NIC's rate, less by what the tiers crossed are oversubscribed. */
static struct error read_network(const struct args *args, const struct machines *machines, double *bytes_per_s)
{
    static const char *const tiers[] = {"leaf", "spine", "core", NULL};
    double nic_gb_per_s, leaf, spine;
    int tier = 0;
    TRY(real_option(args, "nic-gb-per-s", 0.001, 1e6, machines->system.nic_bytes_per_s / 1e9, &nic_gb_per_s));
    TRY(real_option(args, "leaf-oversubscription", 1, 1000, machines->leaf_oversubscription, &leaf));
    TRY(real_option(args, "spine-oversubscription", 1, 1000, machines->spine_oversubscription, &spine));
    if (args_string(args, "tier") != NULL)
        TRY(choice_of("tier", args_string(args, "tier"), tiers, &tier));
    *bytes_per_s =
        collective_network_bytes_per_s(nic_gb_per_s * 1e9, (enum link_tier)((int)LINK_LEAF + tier), leaf, spine);
    return ERROR_OK;
}

/* ---- one collective ---- */

static struct error read_count(const char *what, const char *text, int64_t high, uint32_t *out)
{
    int64_t value;
    if (!text_to_int64(text_of(text), 1, high, &value))
        return error_new(ERROR_USAGE, "%s must be a whole number from 1 to %lld, not '%s'", what, (long long)high,
                         text);
    *out = (uint32_t)value;
    return ERROR_OK;
}

/* A number of bytes (8e9 too), or of KiB, MiB, GiB, TiB with K, M, G, T behind it, as nccl-tests reads them. */
static struct error read_bytes(const char *typed, double *out)
{
    static const char letters[] = "KMGT";
    struct text text = text_of(typed);
    int64_t value = 0, unit = 1;
    const char *letter = text.length > 0 ? strchr(letters, text.at[text.length - 1]) : NULL;
    if (letter != NULL) {
        text.length--;
        unit = INT64_C(1) << (10 * (letter - letters + 1));
    }
    if (letter == NULL && text_to_double(text, out) && *out >= 0 && *out <= 0x1p60 && floor(*out) >= *out)
        return ERROR_OK;
    if (!text_to_int64(text, 0, (INT64_C(1) << 60) / unit, &value))
        return error_new(ERROR_USAGE,
                         "BYTES must be a whole number from 0 to 2^60, perhaps with K, M, G or T, not '%s'", typed);
    *out = (double)value * (double)unit;
    return ERROR_OK;
}

/* Nodes fill as few domains as hold them, or are spread evenly over as many as --domains says. */
static struct error place_nodes(const struct collective_system *system, const struct args *args, double network,
                                struct collective_place *out)
{
    uint32_t nodes = 0, gpus = 0;
    TRY(read_count("NODES", args_operand(args, 0), NODES_MAX, &nodes));
    TRY(read_count("GPUS_PER_NODE", args_operand(args, 1), system->domain_gpus, &gpus));
    const uint32_t room = system->domain_gpus / (gpus > system->node_gpus ? gpus : system->node_gpus);
    const uint32_t least = (nodes - 1) / room + 1;
    int64_t domains;
    TRY(args_int64(args, "domains", least, (int64_t)nodes * gpus, least, &domains));
    if (args_string(args, "domains") != NULL && (nodes * gpus) % (uint32_t)domains != 0)
        return error_new(ERROR_USAGE, "%u GPUs do not spread evenly over --domains %lld", nodes * gpus,
                         (long long)domains);
    *out = args_string(args, "domains") == NULL
               ? collective_place_packed(system, nodes * gpus, room * gpus, network)
               : collective_place_even(system, (uint32_t)domains, nodes * gpus / (uint32_t)domains, network);
    out->has_nvls = !args_flag(args, "no-nvls");
    return ERROR_OK;
}

/* Was it measured, and met?  If not, what does NCCL's own model say? */
static void tell_verdict(enum collective_kind kind, const struct collective_place *place, double bytes,
                         struct buffer *out)
{
    const struct range_verdict verdict = collective_validated(kind, place, bytes);
    const struct nccl_tuning nccl = nccl_tuning_time(kind, place, bytes, COLLECTIVE_NOTHING);
    if (!range_is_inside(verdict)) {
        buffer_char(out, '\n');
        range_tell(verdict, out);
        if (isfinite(nccl.s))
            buffer_format(out, "; NCCL's own model: %.4g GB/s, %s, %s",
                          collective_bus_factor(kind, place->gpu_count) * bytes / nccl.s / 1e9,
                          collective_algorithm_names[nccl.algorithm], nccl_protocol_names[nccl.protocol]);
    }
    buffer_char(out, '\n');
}

/* Which network it is, unless the question names none. */
static void tell_transport(const struct args *args, const struct machines *machines, struct buffer *out)
{
    if (args_string(args, "cluster") != NULL || args_string(args, "transport") != NULL)
        transport_show(machines->system.transport, out);
}

static struct error tell_collective(const struct args *args, const struct machines *machines, const char *name,
                                    struct buffer *out)
{
    const struct collective_system *system = &machines->system;
    struct collective_place place;
    double network, bytes = 0;
    int kind;
    if (args_operand_count(args) != 3)
        return error_new(ERROR_USAGE, "a collective needs NODES GPUS_PER_NODE BYTES");
    TRY(choice_of("collective", name, collective_kind_names, &kind));
    TRY(read_network(args, machines, &network));
    TRY(place_nodes(system, args, network, &place));
    TRY(read_bytes(args_operand(args, 2), &bytes));
    if (kind == COLLECTIVE_POINT_TO_POINT && place.gpu_count != 2)
        return error_new(ERROR_USAGE, "point-to-point is between 2 GPUs, not %u", place.gpu_count);
    const struct collective_time time = collective_time((enum collective_kind)kind, &place, bytes);
    buffer_format(out, "%.4g GB/s, %.6g ms, %s: %u GPU%s in %u domain%s",
                  collective_bus_gb_per_s((enum collective_kind)kind, &place, bytes), 1000 * time.s,
                  collective_algorithm_names[time.algorithm], place.gpu_count, place.gpu_count == 1 ? "" : "s",
                  place.domain_count, place.domain_count == 1 ? "" : "s");
    tell_verdict((enum collective_kind)kind, &place, bytes, out);
    tell_transport(args, machines, out);
    return ERROR_OK;
}

/* ---- a plan ---- */

/* "tp=8,pp=2" as JSON. */
static struct error list_to_json(struct text rest, struct buffer *out)
{
    struct text piece, key;
    double ignored;
    buffer_char(out, '{');
    while (text_cut(&rest, ',', &piece)) {
        struct text value = piece;
        text_cut(&value, '=', &key);
        if (value.at == NULL)
            return error_new(ERROR_USAGE, "'%.*s' in the plan has no '='", (int)piece.length, piece.at);
        buffer_string(out, out->length > 1 ? ", " : "");
        buffer_json(out, text_trim(key));
        buffer_string(out, ": ");
        value = text_trim(value);
        if (text_to_double(value, &ignored) || text_is(value, "true") || text_is(value, "false"))
            buffer_text(out, value);
        else
            buffer_json(out, value);
    }
    buffer_char(out, '}');
    return ERROR_OK;
}

static struct error open_plan(const char *plan, struct json_doc **doc)
{
    if (strchr(plan, '=') != NULL) {
        struct buffer json = {0};
        struct error error = list_to_json(text_of(plan), &json);
        if (!error_is(error))
            error = json_doc_parse(doc, "--training", (struct text){json.bytes, json.length}, ERROR_CONFIG);
        buffer_release(&json);
        return error;
    }
    return json_file_read(doc, plan, PLAN_BYTES_MAX, ERROR_CONFIG, NULL);
}

static struct error read_plan(const char *text, struct training_plan *plan)
{
    struct json_doc *doc = NULL;
    TRY(open_plan(text, &doc));
    struct error error = ERROR_OK;
    const struct json_value root = json_doc_root(doc, &error);
    *plan = training_plan_read(&root);
    json_doc_free(doc);
    return error;
}

static void put_part(struct buffer *out, const char *name, double s, double step_s)
{
    buffer_format(out, "  %-10s %10.3f s  %5.1f %%\n", name, s, 100 * s / step_s);
}

static void tell_time(const struct training_plan *plan, const struct training_time *time, struct buffer *out)
{
    buffer_format(out, "%.1f TFLOP/s per GPU, %.2f %% MFU\n", time->tflops_per_gpu, 100 * time->mfu_ratio);
    buffer_format(out, "%llu GPUs: tp %u, pp %u, cp %u, dp %u, ep %u; %.4g billion parameters; %.4g microbatches\n",
                  (unsigned long long)training_plan_gpus(plan), plan->tp, plan->pp, plan->cp, plan->dp, plan->ep,
                  training_plan_parameters(plan) / 1e9, training_plan_microbatches(plan));
    put_part(out, "compute", time->compute_s, time->step_s);
    put_part(out, "tp", time->tp_s, time->step_s);
    put_part(out, "cp", time->cp_s, time->step_s);
    put_part(out, "ep", time->ep_s, time->step_s);
    put_part(out, "pp", time->pp_s, time->step_s);
    put_part(out, "bubble", time->bubble_s, time->step_s);
    put_part(out, "dp", time->dp_s, time->step_s);
    put_part(out, "step", time->step_s, time->step_s);
}

static struct error tell_training(const struct args *args, const struct machines *machines, struct buffer *out)
{
    const struct collective_system *system = &machines->system;
    struct training_plan plan;
    double network;
    int64_t tp_domains;
    if (args_operand_count(args) != 0)
        return error_new(ERROR_USAGE, "--training has no use for '%s'", args_operand(args, 0));
    if (args_string(args, "domains") != NULL)
        return error_new(ERROR_USAGE, "--domains needs --allreduce or --collective; a plan has --tp-domains");
    if (args_flag(args, "no-nvls"))
        return error_new(ERROR_USAGE,
                         "--no-nvls needs --allreduce or --collective; no part of a training step uses NVLS");
    TRY(read_network(args, machines, &network));
    TRY(read_plan(args_string(args, "training"), &plan));
    TRY(args_int64(args, "tp-domains", 1, plan.tp, 1, &tp_domains));
    const double peak = training_peak_tflops(system, plan.precision);
    if (peak <= 0)
        return error_new(ERROR_USAGE, "a GPU of %s has no rate of %s", system->name,
                         training_precision_names[plan.precision]);
    const struct training_links links = training_links_packed(&plan, system, network, (uint32_t)tp_domains);
    const struct training_time time = training_time(&plan, &links, peak);
    tell_time(&plan, &time, out);
    training_rows_tell(&plan, training_validated(&plan, system), "\n", out);
    buffer_char(out, '\n');
    tell_transport(args, machines, out);
    return ERROR_OK;
}

/* ---- a fit ---- */

static struct error fit_fabric(const struct args *args, const struct machines *machines, struct nccl_tests *tests,
                               struct buffer *out)
{
    const struct cluster *cluster = machines->cluster;
    struct fabric_start start = {.nvlink_ratio = cluster != NULL ? cluster->fabric.nvlink_ratio : 1,
                                 .has_nvls = !args_flag(args, "no-nvls"),
                                 .has_cluster = cluster != NULL};
    struct fabric_fit fit;
    double nic_gb_per_s;
    if (args_operand_count(args) != 0)
        return error_new(ERROR_USAGE, "--fit-fabric has no use for '%s'", args_operand(args, 0));
    if (args_string(args, "domains") != NULL)
        return error_new(ERROR_USAGE,
                         "--domains needs --allreduce or --collective; the file says which hosts there are");
    if (cluster != NULL && args_string(args, "nic-gb-per-s") != NULL)
        return error_new(ERROR_USAGE, "--fit-fabric takes the NICs of --cluster: leave --nic-gb-per-s out");
    start.system = collective_system_scaled(&machines->system, 1 / start.nvlink_ratio);
    TRY(read_network(args, machines, &start.network_bytes_per_s));
    TRY(real_option(args, "nic-gb-per-s", 0.001, 1e6, machines->system.nic_bytes_per_s / 1e9, &nic_gb_per_s));
    start.system.nic_bytes_per_s = nic_gb_per_s * 1e9;
    TRY(nccl_tests_read(tests, args_string(args, "fit-fabric")));
    TRY(fabric_fit_make(&fit, tests, &start));
    fabric_fit_show(&fit, tests, &start, out);
    fabric_fit_release(&fit);
    return ERROR_OK;
}

static struct error tell_fit(const struct args *args, const struct machines *machines, struct buffer *out)
{
    struct nccl_tests tests = {0};
    struct error error = fit_fabric(args, machines, &tests, out);
    nccl_tests_release(&tests);
    return error;
}

/* ---- the verb ---- */

/* Options that say nothing about the tables are refused with them. */
static struct error check_tables_alone(const struct args *args)
{
    static const char *const with_value[] = {"system",
                                             "cluster",
                                             "pool",
                                             "transport",
                                             "domains",
                                             "nic-gb-per-s",
                                             "tier",
                                             "leaf-oversubscription",
                                             "spine-oversubscription"};
    const char *given = args_flag(args, "no-nvls") ? "no-nvls" : NULL;
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
        if (args_string(args, with_value[i]) != NULL)
            given = with_value[i];
    if (given != NULL)
        return error_new(ERROR_USAGE, "--%s needs --allreduce, --collective, --training or --fit-fabric", given);
    if (args_operand_count(args) > 0)
        return error_new(ERROR_USAGE, "without --allreduce or --collective there is no use for '%s'",
                         args_operand(args, 0));
    return ERROR_OK;
}

static struct error tell(const struct args *args, struct buffer *out, bool *holds)
{
    const char *collective = args_string(args, "collective");
    const bool is_all_reduce = args_flag(args, "allreduce"), is_training = args_string(args, "training") != NULL;
    const bool is_fit = args_string(args, "fit-fabric") != NULL;
    const int questions = is_all_reduce + is_training + is_fit + (collective != NULL);
    if (questions > 1)
        return error_new(ERROR_USAGE, "--allreduce, --collective, --training and --fit-fabric exclude each other");
    if (!is_training && args_string(args, "tp-domains") != NULL)
        return error_new(ERROR_USAGE, "--tp-domains needs --training");
    if (questions > 0) {
        struct machines machines;
        TRY(find_machines(args, &machines));
        struct error error = is_training ? tell_training(args, &machines, out)
                             : is_fit
                                 ? tell_fit(args, &machines, out)
                                 : tell_collective(args, &machines, is_all_reduce ? "all-reduce" : collective, out);
        machines_release(&machines);
        return error;
    }
    TRY(check_tables_alone(args));
    *holds = model_tables_print(out);
    return ERROR_OK;
}

int verb_validate_model(const struct args *args)
{
    struct buffer out = {0};
    bool holds = true;
    struct error error = tell(args, &out, &holds);
    if (error_is(error)) {
        buffer_release(&out);
        return tool_fail(&error);
    }
    const int status = tool_print(&out);
    return status != 0 || holds ? status : STATUS_FAILED;
}
