/* windtunnel: find the verb, parse its arguments, run it. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/plugins/watch.h"
#include "tools/installed.h"
#include "tools/verbs.h"

static void on_exhausted(size_t bytes)
{
    char text[96];
    int length = snprintf(text, sizeof text, "error: out of memory (%zu bytes wanted)\n", bytes);
    if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(5);
    _exit(5);
}

/* The paths of the installed files are shown if they exist. */
static void help_command(struct buffer *out)
{
    struct args_command command = tool_command;
    struct args_example files[TOOL_FILES + 1] = {{0}};
    memcpy(files, tool_command.files, sizeof files);
    if (installed_data() != NULL)
        files[0].command = installed_data();
    if (installed_docs() != NULL)
        files[1].command = installed_docs();
    command.files = files;
    args_help_command(&command, out);
}

static int help(int count, char **arguments)
{
    struct buffer out = {0};
    const struct args_verb *verb;
    int used;
    if (count > 0 && strcmp(arguments[0], "--man") == 0) {
        args_manual(&tool_command, &out);
    } else if (count == 0 || (count == 1 && args_help_family(&tool_command, arguments[0], &out))) {
        if (count == 0)
            help_command(&out);
    } else {
        struct error error = args_find_verb(&tool_command, count, arguments, &verb, &used);
        if (error_is(error))
            return tool_fail(&error);
        args_help_verb(&tool_command, verb, &out);
    }
    return tool_print(&out);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_verb(int count, char **arguments)
{
    const struct args_verb *verb;
    struct args *args;
    struct buffer out = {0};
    int used;
    struct error error = args_find_verb(&tool_command, count, arguments, &verb, &used);
    if (error_is(error)) {
        if (count == 2 && is_help(arguments[1]) && args_help_family(&tool_command, arguments[0], &out)) {
            error_release(&error);
            return tool_print(&out);
        }
        if (count == 1 && args_help_family(&tool_command, arguments[0], &out)) {
            error_release(&error);
            fwrite(out.bytes, 1, out.length, stderr);
            buffer_release(&out);
            return error_exit_status(ERROR_USAGE);
        }
        return tool_fail(&error);
    }
    error = args_parse(&args, verb, count - used, arguments + used);
    if (error_is(error))
        return tool_fail(&error);
    int status;
    if (args_wants_help(args)) {
        args_help_verb(&tool_command, verb, &out);
        status = tool_print(&out);
    } else {
        status = verb->run(args);
    }
    args_free(args);
    return status;
}

/* Open the standard streams that the caller closed, so that no other file gets their number and then the table or a
 * message.  They are opened for the other direction, so that their use fails as that of a closed stream does. */
static void occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(error_exit_status(ERROR_IO));
}

int main(int argc, char **argv)
{
    occupy_standard_streams();
    mem_on_exhausted(on_exhausted);
    tool_set_arguments(argv + (argc > 0));
    json_set_alloc_funcs(mem_alloc, mem_free);
    signal(SIGPIPE, SIG_IGN); /* write() reports the error instead */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, as some callers leave it, the ends of processes would be lost */
    if (argc < 2) {
        struct buffer out = {0};
        help_command(&out);
        fwrite(out.bytes, 1, out.length, stderr);
        buffer_release(&out);
        return error_exit_status(ERROR_USAGE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        struct buffer out = {0};
        buffer_string(&out, "windtunnel " WINDTUNNEL_VERSION "\n");
        return tool_print(&out);
    }
    if (strcmp(argv[1], "complete") == 0) { /* the scripts of shells ask */
        struct buffer out = {0};
        args_complete(&tool_command, argc - 2, argv + 2, &out);
        return tool_print(&out);
    }
    if (strcmp(argv[1], "help") == 0 || is_help(argv[1]))
        return help(argc - 2, argv + 2);
    const int status = run_verb(argc - 1, argv + 1);
    watch_end(); /* the verb is done: the program ends as it should */
    return status;
}
