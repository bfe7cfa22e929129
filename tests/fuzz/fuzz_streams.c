/* libFuzzer: bytes as a stream of facts for `windtunnel decide` (docs/decide.md).  If the first byte is odd, the
 * scheduler's decisions are compared with the decisions in the stream.  `make fuzz` runs it. */
#include "tests/fuzz/fuzz_file.h"

#include "base/text.h"
#include "sim/live/decide.h"

static struct error drop(void *self, struct text lines)
{
    (void)self, (void)lines;
    return ERROR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    struct fuzz_file file = fuzz_file_new(bytes + 1, size - 1);
    const struct decide_options options = {.path = file.path, .is_checked = bytes[0] & 1, .on_answer = drop};
    struct decide_result result = {0};
    fuzz_answered(decide_run(&options, &result));
    error_release(&result.difference);
    fuzz_file_free(&file);
    return 0;
}
