/* libFuzzer: a record in which one file is replaced by the bytes after the first; the first chooses it.  The manifest
 * of tests/support/made_record.h holds no digests of files, so that rows are read.  `make fuzz` runs it. */
#include "tests/fuzz/fuzz_file.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "reports/metrics.h"
#include "reports/record_read.h"
#include "tests/support/made_record.h"
#include "tests/support/scratch.h"

static const char *const names[] = {"result.json", "jobs.csv.zst", "attempts.csv.zst", "timeline.csv.zst"};
enum { FILES = sizeof names / sizeof *names };

struct base {
    const char *folder;
    struct buffer files[FILES];
};

static const struct base *base_of(void)
{
    static struct base base;
    if (base.folder != NULL)
        return &base;
    if (scratch_make(NULL) != 0)
        abort();
    base.folder = made_hand();
    for (int f = 0; f < FILES; f++) {
        char name[64];
        snprintf(name, sizeof name, "hand/%s", names[f]);
        base.files[f] = scratch_read(name);
    }
    return &base;
}

static void put(int file, const void *bytes, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "hand/%s", names[file]);
    scratch_write(name, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct base *base = base_of();
    if (size < 1)
        return 0;
    const int file = bytes[0] % FILES;
    put(file, bytes + 1, size - 1);
    struct metrics *metrics = metrics_new();
    const struct record_sink sink = metrics_sink(metrics);
    fuzz_answered(bytes[0] & 4 ? record_read(base->folder, &sink) : record_read_together(base->folder, &sink));
    metrics_free(metrics);
    put(file, base->files[file].bytes, base->files[file].length);
    return 0;
}
