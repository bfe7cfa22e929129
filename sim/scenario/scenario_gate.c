#include "sim/scenario/scenario_gate.h"

#include <string.h>

#include "base/mem.h"

static struct error open_any(void *self, const char *role, bool is_typed, const char **path)
{
    (void)self, (void)role, (void)is_typed, (void)path;
    return ERROR_OK;
}

const struct json_gate scenario_open_gate = {.on_file = open_any};

/* A path that was let pass, in the same role: a trace that passed is no plug-in that did. */
static bool was_opened(const struct scenario *scenario, const char *role, const char *path)
{
    for (size_t i = 0; i < scenario->opened_count; i++)
        if (strcmp(scenario->opened[i].role, role) == 0 && strcmp(scenario->opened[i].path, path) == 0)
            return true;
    return false;
}

static bool is_plugin_of_command_line(const struct plugin_options *plugins, const char *path)
{
    for (size_t i = 0; i < plugins->count; i++)
        if (strcmp(plugins->paths[i], path) == 0)
            return true;
    return false;
}

/* May the scenario name it, and what is opened for it? */
static struct error ask_gate(const struct scenario_options *options, const char *role, bool is_typed, const char **path)
{
    if (options->text == NULL || is_typed)
        return ERROR_OK;
    if (strcmp(role, "plugin") == 0 && is_plugin_of_command_line(&options->plugins, *path))
        return ERROR_OK;
    if (options->gate != NULL)
        return options->gate->on_file(options->gate->self, role, is_typed, path);
    return error_new(ERROR_CONFIG, "the scenario may open no file, and names '%s' (%s)", *path, role);
}

struct error scenario_gate_ask(void *self, const char *role, bool is_typed, const char **path)
{
    struct scenario *scenario = self;
    struct scenario_opened opened = {.role = role};
    if (was_opened(scenario, role, *path))
        return ERROR_OK;
    TRY(ask_gate(scenario->options, role, is_typed, path));
    opened.path = arena_copy(&scenario->arena, text_of(*path));
    MEM_GROW(scenario->opened, scenario->opened_capacity, scenario->opened_count + 1);
    scenario->opened[scenario->opened_count++] = opened;
    return ERROR_OK;
}
