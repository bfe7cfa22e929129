/* windtunnel bundle: a record as one file that others can run again. */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "tools/bundle_files.h"
#include "tools/verbs.h"

#define ENDING ".bundle.json.zst"

enum { INPUT_MIB_MAX = 1 << 9 };

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* "out/main/" -> "out/main.bundle.json.zst" */
static void default_name(const char *record, struct buffer *out)
{
    size_t length = strlen(record);
    while (length > 1 && record[length - 1] == '/')
        length--;
    buffer_bytes(out, record, length);
    buffer_string(out, ENDING);
}

static struct error write_bundle(const struct bundle *bundle, const char *path)
{
    struct output *output;
    TRY(output_open(&output, path, ends_in(path, ".zst") ? OUTPUT_ZSTD : OUTPUT_PLAIN));
    bundle_text(bundle, output_buffer(output));
    return output_commit(&output);
}

struct error tool_bundle_files(const struct args *args, struct arena *arena, struct bundle_file *given, size_t *count)
{
    const char *const *texts = args_list(args, "input", count);
    if (*count > BUNDLE_FILES_MAX)
        return error_new(ERROR_USAGE, "'--input' may be given %d times at most", BUNDLE_FILES_MAX);
    for (size_t i = 0; i < *count; i++) {
        const char *equals = strchr(texts[i], '=');
        if (equals == NULL || equals[1] == '\0')
            return error_new(ERROR_USAGE, "'--input' must be NAME=PATH, got '%s'", texts[i]);
        given[i].name = arena_copy(arena, (struct text){texts[i], (size_t)(equals - texts[i])});
        given[i].path = equals + 1;
    }
    return ERROR_OK;
}

static void say_inputs(const struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->input_count; i++) {
        const struct bundle_input *input = &bundle->inputs[i];
        if (input->is_used && input->text.at != NULL)
            tool_say("inside: %s (%s), %zu bytes\n", input->name, input->role, input->text.length);
        else if (input->is_used)
            tool_say("not inside: %s (%s): %s; whoever runs the bundle needs the file with digest %s\n", input->name,
                     input->role, input->why_missing, input->digest);
    }
}

static struct error bundle_record(const struct args *args)
{
    struct bundle bundle;
    struct bundle_file given[BUNDLE_FILES_MAX];
    struct bundle_source source = {.record = args_operand(args, 0), .given = given};
    struct buffer path = {0};
    struct arena arena = {0};
    int64_t mib;
    TRY(args_int64(args, "input-mib", 0, INPUT_MIB_MAX, BUNDLE_TEXT_MAX >> 20, &mib));
    source.text_max = (uint64_t)mib << 20;
    source.trusted = args_list(args, "trust", &source.trusted_count);
    struct error error = tool_bundle_files(args, &arena, given, &source.given_count);
    if (!error_is(error))
        error = bundle_make(&bundle, &source);
    arena_release(&arena);
    TRY(error);
    if (args_string(args, "out") != NULL)
        buffer_string(&path, args_string(args, "out"));
    else
        default_name(args_operand(args, 0), &path);
    error = write_bundle(&bundle, buffer_c_string(&path));
    if (!error_is(error)) {
        say_inputs(&bundle);
        if (bundle.run_count > 1)
            tool_say("%s: %zu runs, windtunnel %s\n", buffer_c_string(&path), bundle.run_count, bundle.version);
        else
            tool_say("%s: fingerprint %s, windtunnel %s\n", buffer_c_string(&path), bundle.runs[0].fingerprint,
                     bundle.version);
    }
    buffer_release(&path);
    bundle_release(&bundle);
    return error;
}

int verb_bundle(const struct args *args)
{
    struct error error = bundle_record(args);
    return error_is(error) ? tool_fail(&error) : 0;
}
