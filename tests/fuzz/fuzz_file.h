/* tests/fuzz/fuzz_file.h -- the bytes of a fuzzer as a file that readers open by its path, without a disk.
 *
 *   struct fuzz_file file = fuzz_file_new(bytes, size);
 *   ... input_open(&input, file.path, NULL) ...
 *   fuzz_file_free(&file);
 */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

struct fuzz_file {
    int descriptor;
    char path[32];
};

static inline struct fuzz_file fuzz_file_new(const uint8_t *bytes, size_t size)
{
    struct fuzz_file file = {.descriptor = memfd_create("fuzz", 0)};
    if (file.descriptor < 0 || write(file.descriptor, bytes, size) != (ssize_t)size)
        abort();
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.descriptor);
    return file;
}

static inline void fuzz_file_free(struct fuzz_file *file)
{
    close(file->descriptor);
}

/* Every answer is right but a crash; a message must be readable. */
static inline void fuzz_answered(struct error error)
{
    if (error_is(error) && error_message(&error)[0] == '\0')
        abort();
    error_release(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
