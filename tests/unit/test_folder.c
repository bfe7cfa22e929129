/* tests/unit/test_folder.c -- a folder that one process at a time writes: who is refused, and what is removed. */
#include "tests/support/test.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/output.h"
#include "tests/support/scratch.h"

static int clean(void **state)
{
    (void)state;
    scratch_empty();
    return 0;
}

static struct folder *open_good(const char *name)
{
    struct folder *folder;
    struct error error = folder_open(&folder, scratch_path(name));
    assert_string_equal(error_message(&error), "");
    assert_non_null(folder);
    return folder;
}

static void refuse(const char *name, const char *piece)
{
    struct folder *folder;
    struct error error = folder_open(&folder, scratch_path(name));
    assert_int_equal(error.kind, ERROR_IO);
    assert_null(folder);
    if (strstr(error_message(&error), piece) == NULL)
        fail_msg("'%s' does not say '%s'", error_message(&error), piece);
    error_release(&error);
}

/* The number of a process that has ended. */
static pid_t dead_process(void)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return child;
}

static const char *temp_of(pid_t process, int number)
{
    static char name[OUTPUT_TEMP_BYTES + 8];
    snprintf(name, sizeof name, "a/.windtunnel-%ld-%d.tmp", (long)process, number);
    return name;
}

/* ---- the hold ---- */

TEST_WITH(one_holds_it_at_a_time, NULL, clean)
{
    struct folder *folder = open_good("a/b"); /* with its parents */
    assert_true(scratch_exists("a/b"));
    assert_int_equal(scratch_count("a/b"), 0); /* the hold is no file */
    refuse("a/b", "another run is writing it");
    struct folder *other = open_good("a"); /* another folder */
    folder_close(&other);
    folder_close(&folder);
    assert_null(folder);
    folder_close(&folder); /* NULL is allowed */
    folder = open_good("a/b");
    folder_close(&folder);
}

TEST_WITH(the_hold_ends_with_the_process, NULL, clean)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct folder *held;
        struct error error = folder_open(&held, scratch_path("a"));
        _exit(error_is(error) ? 1 : 0); /* without closing it */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct folder *folder = open_good("a");
    folder_close(&folder);
}

TEST_WITH(a_link_means_its_folder, NULL, clean)
{
    struct folder *folder = open_good("a");
    assert_int_equal(symlink("a", scratch_path("link")), 0);
    refuse("link", "another run is writing it");
    folder_close(&folder);
    scratch_write("file", "x", 1);
    refuse("file", "file");
    assert_int_equal(scratch_count(""), 3);
}

/* ---- what is removed ---- */

TEST_WITH(names_of_dead_processes_are_known, NULL, clean)
{
    const char *name = strrchr(temp_of(dead_process(), 3), '/') + 1;
    assert_true(folder_is_of_dead(name));
    name = strrchr(temp_of(getpid(), 3), '/') + 1;
    assert_false(folder_is_of_dead(name));
    static const char *const others[] = {"",
                                         "result.json",
                                         ".windtunnel-0-0.tmp",
                                         ".windtunnel--1-0.tmp",
                                         ".windtunnel-x-0.tmp",
                                         ".windtunnel-99999999999999999999-0.tmp",
                                         ".windtunnel-4294967297-0.tmp"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (folder_is_of_dead(others[i]))
            fail_msg("'%s' is taken for the name of a dead process", others[i]);
}

TEST_WITH(what_dead_processes_left_is_removed_and_nothing_else, NULL, clean)
{
    const pid_t dead = dead_process();
    assert_int_equal(mkdir(scratch_path("a"), 0755), 0);
    scratch_write("a/result.json", "old", 3);
    scratch_write("target", "mine", 4);
    scratch_write(temp_of(dead, 0), "half", 4);
    scratch_write(temp_of(getpid(), 0), "half", 4);
    assert_int_equal(symlink("../target", scratch_path(temp_of(dead, 1))), 0);
    assert_int_equal(mkdir(scratch_path(temp_of(dead, 2)), 0755), 0);
    const char *locked = scratch_write(temp_of(dead, 3), "half", 4); /* as of a process of another container */
    const int file = open(locked, O_RDONLY);
    assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
    struct folder *folder = open_good("a");
    folder_close(&folder);
    assert_false(scratch_exists(temp_of(dead, 0)));
    assert_true(scratch_exists(temp_of(getpid(), 0)));
    assert_true(scratch_exists(temp_of(dead, 1)));
    assert_true(scratch_exists(temp_of(dead, 2)));
    assert_true(scratch_exists(temp_of(dead, 3)));
    assert_true(scratch_exists("a/result.json"));
    assert_true(scratch_exists("target"));
    close(file);
}

TEST_WITH(a_file_is_removed_and_a_link_is_not_followed, NULL, clean)
{
    struct folder *folder = open_good("a");
    scratch_write("target", "mine", 4);
    scratch_write("a/result.json", "old", 3);
    assert_false(error_is(folder_remove(folder, "result.json")));
    assert_false(scratch_exists("a/result.json"));
    assert_false(error_is(folder_remove(folder, "result.json"))); /* it need not exist */
    assert_int_equal(symlink("../target", scratch_path("a/result.json")), 0);
    assert_false(error_is(folder_remove(folder, "result.json")));
    assert_false(scratch_exists("a/result.json"));
    assert_true(scratch_exists("target"));
    assert_int_equal(mkdir(scratch_path("a/result.json"), 0755), 0);
    struct error error = folder_remove(folder, "result.json");
    assert_int_equal(error.kind, ERROR_IO);
    assert_non_null(strstr(error_message(&error), "a/result.json"));
    error_release(&error);
    folder_close(&folder);
}

TEST_GROUP(scratch_make, scratch_remove)
