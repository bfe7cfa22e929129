/* What the words in capitals of the verbs' tables stand for. */
#include "policies/config/presets.h"
#include "reports/metrics.h"
#include "reports/run_figures.h"
#include "tools/verbs.h"
#include "topologies/collective.h"
#include "topologies/gpu_model.h"
#include "topologies/links.h"
#include "workloads/readers/reader.h"

static const char *preset_name(size_t index)
{
    return policy_preset_texts[index].name;
}

static const char *format_name(size_t index)
{
    return trace_format_names[index];
}

static const char *model_name(size_t index)
{
    uint32_t count;
    const struct gpu_model *models = gpu_model_table(&count);
    return index < count ? models[index].name : NULL;
}

static const char *collective_name(size_t index)
{
    return collective_kind_names[index];
}

static const char *system_name(size_t index)
{
    uint32_t count;
    const struct collective_system *systems = collective_system_table(&count);
    return index < count ? systems[index].name : NULL;
}

/* The tiers that --tier takes: those of switches. */
static const char *tier_name(size_t index)
{
    return link_tier_names[(size_t)LINK_LEAF + index];
}

static const char *shell_name(size_t index)
{
    return tool_completion_texts[index].name;
}

static const char *figure_name(size_t index)
{
    return run_figures[index].name;
}

const struct args_value tool_values[] = {
    {.word = "FILE", .kind = ARGS_VALUE_FILE},
    {.word = "SCENARIO", .kind = ARGS_VALUE_FILE},
    {.word = "PLAN", .kind = ARGS_VALUE_FILE},
    {.word = "BUNDLE", .kind = ARGS_VALUE_FILE},
    {.word = "TRACE", .kind = ARGS_VALUE_FILE},
    {.word = "WORKLOAD_MODEL", .kind = ARGS_VALUE_FILE},
    {.word = "DIR", .kind = ARGS_VALUE_FOLDER},
    {.word = "RECORD", .kind = ARGS_VALUE_FOLDER},
    {.word = "COMMAND", .kind = ARGS_VALUE_COMMAND},
    {.word = "PROGRAM", .kind = ARGS_VALUE_COMMAND},
    {.word = "PRESET", .kind = ARGS_VALUE_NAME, .name = preset_name},
    {.word = "FORMAT", .kind = ARGS_VALUE_NAME, .name = format_name},
    {.word = "METRIC", .kind = ARGS_VALUE_NAME, .name = metrics_name_at},
    {.word = "MODEL", .kind = ARGS_VALUE_NAME, .name = model_name},
    {.word = "KIND", .kind = ARGS_VALUE_NAME, .name = collective_name},
    {.word = "SYSTEM", .kind = ARGS_VALUE_NAME, .name = system_name},
    {.word = "TIER", .kind = ARGS_VALUE_NAME, .name = tier_name},
    {.word = "FIGURE", .kind = ARGS_VALUE_NAME, .name = figure_name},
    {.word = "FILE_KIND", .kind = ARGS_VALUE_NAME, .name = schema_kind_name},
    {.word = "SHELL", .kind = ARGS_VALUE_NAME, .name = shell_name},
    {0},
};
