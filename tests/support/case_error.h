/* tests/support/case_error.h -- why a file of cases, or the first bad case of it, cannot be used. */
#ifndef TESTS_CASE_ERROR_H
#define TESTS_CASE_ERROR_H

#include "sim/cases/case.h"

static inline struct error case_error_of(const char *path)
{
    struct case_file file;
    struct error error = case_file_read(&file, path, NULL);
    if (error_is(error))
        return error;
    for (size_t i = 0; i < file.count && !error_is(error); i++) {
        error = file.cases[i].error;
        file.cases[i].error = ERROR_OK;
    }
    case_file_release(&file);
    return error;
}

#endif
