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
        tool_say("%s: fingerprint %s, windtunnel %s\n", buffer_c_string(&path), bundle.fingerprint, bundle.version);
    }
    buffer_release(&path);
    bundle_release(&bundle);
    return error;
}

static int run_bundle(const struct args *args)
{
    struct error error = bundle_record(args);
    return error_is(error) ? tool_fail(&error) : 0;
}

static const struct args_option options[] = {
    {.name = "out",
     .letter = 'o',
     .metavar = "FILE",
     .help = "The file to write; compressed if its name ends in .zst. Default: RECORD" ENDING "."},
    {.name = "input-mib",
     .metavar = "N",
     .help = "Put inputs of at most N MiB of text into the bundle; of longer ones it has the digest. 0: none, and "
             "no input is opened. Default: 16."},
    {.name = "input",
     .letter = 'i',
     .metavar = "NAME=PATH",
     .help = "The file of an input, where it is now. It must have the digest that the record says.",
     .is_repeatable = true},
    TRUST_OPTION,
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel bundle out/main --trust out/main", "Writes out/main.bundle.json.zst, with the trace."},
    {"windtunnel bundle out/main --out paper.bundle.json --input-mib 0", "Without the trace, not compressed."},
    {0},
};

const struct args_verb verb_bundle = {
    .name = "bundle",
    .summary = "one file from which others can run a record again",
    .synopsis = "RECORD [OPTION]...",
    .description =
        (const char *const[]){
            "Writes one file with all that the run in RECORD was made from: its scenario with the cluster and the "
            "policy, its trace if that is short, digests of the other inputs, the version of Windtunnel, the "
            "fingerprint and the metrics. 'windtunnel reproduce' runs it again and compares. A paper can cite it.",
            "A record opens none of the files that it names unless --trust allows it: say '--trust RECORD' if the "
            "record is your own. An input that is gone or has changed is an error; --input says where it is now.",
            "The file holds no path of this machine. What it does hold is all of the scenario and of the trace: "
            "names of users and queues too.",
            "A partial record, a fork (--fork-at) and a run in which another program decided (--scheduler) cannot be "
            "bundled.",
            NULL},
    .options = options,
    .examples = examples,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_bundle,
};
