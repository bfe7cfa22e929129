#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

#include "base/temp_folder.h"
#include "tests/support/scratch.h"

static int removed;

static void on_remove(const char *path)
{
    removed++;
    assert_int_equal(rmdir(path), 0);
}

/* Make a folder in a process that then ends. */
static void leave_one(const char *kind)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        char path[PATH_MAX];
        struct error error = temp_folder_make(path, scratch_path(""), kind);
        _exit(error_is(error));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* What ended processes left of this kind goes; that of other kinds, of living processes and of other names stays. */
TEST(test_only_what_was_left_is_cleaned)
{
    char own[PATH_MAX];
    leave_one("plot");
    leave_one("plot");
    leave_one("rerun");
    struct error error = temp_folder_make(own, scratch_path(""), "plot");
    assert_false(error_is(error));
    assert_int_equal(mkdir(scratch_path("windtunnel-plot-999999999-abc"), 0700), 0); /* not of these names */
    assert_int_equal(mkdir(scratch_path("windtunnel-plot-x-abcdef"), 0700), 0);
    scratch_write("windtunnel-plot-999999999-abcdef", "", 0); /* a file */
    assert_int_equal(scratch_count(""), 7);
    temp_folder_clean(scratch_path(""), "plot", on_remove);
    assert_int_equal(removed, 2);
    assert_int_equal(scratch_count(""), 5);
    temp_folder_clean(scratch_path(""), "rerun", on_remove);
    assert_int_equal(removed, 3);
    assert_int_equal(rmdir(own), 0);
}

TEST(test_no_parent)
{
    char path[PATH_MAX], longest[PATH_MAX];
    struct error error = temp_folder_make(path, "/nowhere", "plot");
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    error = temp_folder_make(path, longest, "plot");
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    temp_folder_clean("/nowhere", "plot", on_remove);
}

TEST_GROUP(scratch_make, scratch_remove)
