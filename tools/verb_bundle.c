/* windtunnel bundle: a record as one file that others can run again. */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "studies/bundle/bundle.h"
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
    struct buffer path = {0};
    int64_t mib;
    TRY(args_int64(args, "input-mib", 0, INPUT_MIB_MAX, BUNDLE_TEXT_MAX >> 20, &mib));
    TRY(bundle_make(&bundle, args_operand(args, 0), (uint64_t)mib << 20));
    if (args_string(args, "out") != NULL)
        buffer_string(&path, args_string(args, "out"));
    else
        default_name(args_operand(args, 0), &path);
    struct error error = write_bundle(&bundle, buffer_c_string(&path));
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
     .help = "Put inputs of at most N MiB of text into the bundle; of longer ones it has the digest. 0: none. "
             "Default: 16."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel bundle out/main", "Writes out/main.bundle.json.zst."},
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
