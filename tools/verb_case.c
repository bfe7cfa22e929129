/* windtunnel case: check hand-written scheduling situations. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/cases/case.h"
#include "tools/verbs.h"

enum { STATUS_FAILED = 10 }; /* as for other checks that fail */

struct tally {
    size_t passed, failed;
    bool is_verbose;
};

/* Print the buffer to a stream and empty it, so that lines of both streams come in the right order. */
static int emit(FILE *stream, struct buffer *out)
{
    const bool is_good = tool_show(stream, out);
    out->length = 0;
    if (is_good || stream == stderr)
        return 0;
    struct error error = error_io("write", "standard output", errno);
    return tool_fail(&error);
}

/* Print a heap text to standard error, and free it. */
static void say(char *text)
{
    fputs(text != NULL ? text : "error: out of memory\n", stderr);
    free(text);
}

/* A case that cannot be run counts as failed.  The whole report goes to standard error. */
static int refuse_case(const struct case_spec *spec, struct tally *tally)
{
    char *why = error_line_new(&spec->error);
    struct buffer line = {0};
    say(error_text_new(&spec->error));
    buffer_format(&line, "not ok %s: %s\n", spec->name, why != NULL ? why : "out of memory");
    tally->failed++;
    int status = emit(stdout, &line);
    buffer_release(&line);
    free(why);
    return status;
}

static int run_case(const struct case_spec *spec, struct tally *tally)
{
    struct buffer differs = {0}, log = {0}, line = {0};
    if (error_is(spec->error))
        return refuse_case(spec, tally);
    if (error_is(spec->warning))
        say(error_warning_new(&spec->warning));
    bool has_passed = case_run(spec, &differs, tally->is_verbose ? &log : NULL);
    if (tally->is_verbose) {
        buffer_format(&line, "%s\n", spec->name);
        buffer_bytes(&line, log.bytes, log.length);
        emit(stderr, &line);
    }
    if (has_passed)
        buffer_format(&line, "ok %s\n", spec->name);
    else
        buffer_format(&line, "not ok %s: %s\n", spec->name, buffer_c_string(&differs));
    tally->passed += has_passed;
    tally->failed += !has_passed;
    int status = emit(stdout, &line);
    buffer_release(&differs);
    buffer_release(&log);
    buffer_release(&line);
    return status;
}

/* All files are read before the first case runs, so that a file that is not JSON is reported first. */
int verb_case(const struct args *args)
{
    size_t count = args_operand_count(args);
    struct case_file *files = mem_zalloc(count, sizeof *files);
    struct tally tally = {.is_verbose = args_flag(args, "verbose")};
    struct plugin_options plugins = tool_plugin_options(args);
    struct error error = ERROR_OK;
    for (size_t i = 0; i < count && !error_is(error); i++)
        error = case_file_read(&files[i], args_operand(args, i), &plugins);
    int status = error_is(error) ? tool_fail(&error) : 0;
    for (size_t i = 0; i < count && status == 0; i++)
        for (size_t c = 0; c < files[i].count && status == 0; c++)
            status = run_case(&files[i].cases[c], &tally);
    if (status == 0) {
        struct buffer out = {0};
        buffer_format(&out, "%zu passed, %zu failed\n", tally.passed, tally.failed);
        status = tool_print(&out);
    }
    for (size_t i = 0; i < count; i++)
        case_file_release(&files[i]);
    mem_free(files);
    return status != 0 ? status : tally.failed > 0 ? STATUS_FAILED : 0;
}
