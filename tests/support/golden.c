#include "tests/support/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_golden(const char *path, const struct buffer *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text->bytes, 1, text->length, file), text->length);
    assert_int_equal(fclose(file), 0);
    print_message("wrote %s\n", path);
}

void golden_compare(const char *path, struct buffer *told)
{
    const char *update = getenv("WINDTUNNEL_GOLDEN_UPDATE"), *at = buffer_c_string(told);
    if (update != NULL && strcmp(update, "1") == 0)
        write_golden(path, told);
    FILE *file = fopen(path, "rb");
    char line[512];
    uint32_t others = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const size_t length = strcspn(at, "\n") + (at[strcspn(at, "\n")] != '\0');
        if (strlen(line) != length || strncmp(line, at, length) != 0) {
            print_error("was %sis  %.*s", line, (int)length, at);
            others++;
        }
        at += length;
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(others, 0);
    assert_string_equal(at, "");
    buffer_release(told);
}
