/* What all verbs share. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/installed.h"
#include "tools/verbs.h"

static char *const *arguments;

char *const *tool_arguments(void)
{
    return arguments;
}

void tool_set_arguments(char *const *typed)
{
    arguments = typed;
}

struct plugin_options tool_plugin_options(const struct args *args)
{
    struct plugin_options options = {.timeout = args_string(args, "plugin-timeout")};
    options.paths = args_list(args, "plugin", &options.count);
    return options;
}

struct scenario_options tool_scenario_options(const struct args *args)
{
    struct scenario_options options = {.path = installed_find(args_operand(args, 0), "scenarios"),
                                       .trace = installed_find(args_string(args, "trace"), "workloads/samples"),
                                       .format = args_string(args, "format"),
                                       .cluster = installed_find(args_string(args, "cluster"), "topologies"),
                                       .policy = args_string(args, "policy"),
                                       .title = args_string(args, "title"),
                                       .seed = args_string(args, "seed"),
                                       .plugins = tool_plugin_options(args)};
    options.sets = args_list(args, "set", &options.set_count);
    return options;
}

void tool_trust(const struct args *args, struct scenario_options *options)
{
    options->trusted = args_list(args, "trust", &options->trusted_count);
}

struct error tool_fork_at(const char *text, time_ns *at)
{
    if (time_parse_duration(text_of(text), at))
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "'--fork-at' must be a time of the run, got '%s'", text);
    error_set_hint(&error, "a number of seconds, or one with a unit: 90s, 15m, 36h, 12d");
    return error;
}

int tool_fail(struct error *error)
{
    char *text = error_text_new(error);
    int status = error_exit_status(error->kind);
    fputs(text != NULL ? text : "error: out of memory\n", stderr);
    free(text);
    error_release(error);
    return status;
}

bool tool_show(FILE *stream, const struct buffer *out)
{
    struct buffer shown = {0};
    if (out->length == 0) /* fwrite must not be given NULL, even for no bytes */
        return true;
    buffer_shown(&shown, (struct text){out->bytes, out->length});
    errno = 0;
    const bool is_good = fwrite(shown.bytes, 1, shown.length, stream) == shown.length && fflush(stream) == 0;
    const int why = errno;
    buffer_release(&shown);
    errno = why;
    return is_good;
}

int tool_print(struct buffer *out)
{
    int status = 0;
    if (!tool_show(stdout, out)) {
        struct error error = error_io("write", "standard output", errno);
        status = tool_fail(&error);
    }
    buffer_release(out);
    return status;
}

void tool_say(const char *format, ...)
{
    struct buffer line = {0};
    char *text;
    va_list values;
    va_start(values, format);
    const int length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0)
        return;
    buffer_string(&line, text);
    free(text);
    tool_show(stderr, &line);
    buffer_release(&line);
}
