/* tests/fault/test_output_fault.c -- every call that fails, full disks, missing folders: reported, and nothing lost.
 *
 * This program has its own openat, write, fsync, sync_file_range, linkat, renameat and close, which do
 * what the C library's do, unless it is their turn to fail.
 */
#include "tests/support/test.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/input.h"
#include "base/output.h"
#include "tests/support/scratch.h"

/* ---- calls that fail ---- */

static struct {
    long left;       /* calls until the one that fails; negative: none does */
    int reason;      /* its errno */
    bool keep;       /* the ones after it fail too */
    bool no_tmpfile; /* the file system knows no O_TMPFILE */
    bool halves;     /* write takes half of what it gets */
    bool has_failed;
    bool is_harmless; /* what failed has another way, or comes when all is done */
    bool had_renamed; /* before the failure */
    char calls[64];   /* a letter each since the last reset; writes in a row count once */
    long behind_left; /* as left, of the calls of sync_file_range alone */
} faults = {.left = -1, .behind_left = -1};

static bool must_fail(char call)
{
    size_t length = strlen(faults.calls);
    if (length + 1 < sizeof faults.calls && (call != 'w' || length == 0 || faults.calls[length - 1] != 'w'))
        faults.calls[length] = call;
    if (faults.left < 0)
        return false;
    if (faults.left > 0) {
        faults.left--;
        return false;
    }
    if (!faults.keep)
        faults.left = -1;
    faults.has_failed = true;
    faults.is_harmless = call == 't' || call == 'x';
    errno = faults.reason;
    return true;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (faults.no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    return must_fail(is_nameless ? 't' : 'o') ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    if (must_fail('w'))
        return -1;
    return syscall(SYS_write, file, bytes, faults.halves && length > 1 ? length / 2 : length);
}

static bool is_folder(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

int fsync(int file)
{
    return must_fail(is_folder(file) ? 'd' : 'f') ? -1 : (int)syscall(SYS_fsync, file);
}

int sync_file_range(int file, off_t from, off_t length, unsigned flags)
{
    if (faults.behind_left >= 0 && faults.behind_left-- == 0) {
        faults.has_failed = true;
        errno = faults.reason;
        return -1;
    }
    return (int)syscall(SYS_sync_file_range, file, from, length, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return must_fail('l') ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (must_fail('r'))
        return -1;
    int status = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
    faults.had_renamed = status == 0;
    return status;
}

int close(int file)
{
    char call = is_folder(file) ? 'x' : 'c';
    int status = (int)syscall(SYS_close, file); /* as Linux does, whatever it returns */
    return must_fail(call) ? -1 : status;
}

/* ---- one file's life ---- */

enum { LINES = 90000 }; /* some 750 KB: several flushes */

static struct error write_file(const char *path, enum output_form form, int line_count)
{
    struct output *out;
    struct error error = output_open(&out, path, form);
    if (error_is(error)) {
        assert_null(out);
        return error;
    }
    for (int i = 0; i < line_count && !error_is(error); i++) {
        buffer_int(output_buffer(out), i * INT64_C(7919) % 100003);
        buffer_string(output_buffer(out), ",\n");
        error = output_flush_if_full(out);
    }
    if (error_is(error)) {
        output_discard(&out);
        return error;
    }
    error = output_commit(&out);
    assert_null(out);
    return error;
}

/* Whether the file holds all that write_file writes. */
static bool is_whole(const char *path, int line_count)
{
    struct input *input;
    struct text line;
    bool has = true;
    int64_t number;
    assert_false(error_is(input_open(&input, path, NULL)));
    bool is = true;
    for (int i = 0; i < line_count && is; i++) {
        assert_false(error_is(input_line(input, &line, &has)));
        is = has && line.length > 1 && line.at[line.length - 1] == ',' &&
             text_to_int64((struct text){line.at, line.length - 1}, 0, INT64_MAX, &number) &&
             number == i * INT64_C(7919) % 100003;
    }
    if (is) {
        assert_false(error_is(input_line(input, &line, &has)));
        is = !has;
    }
    input_close(input);
    return is;
}

static void assert_io(struct error *error, int reason)
{
    assert_int_equal(error->kind, ERROR_IO);
    if (strstr(error_message(error), strerrordesc_np(reason)) == NULL)
        fail_msg("'%s' does not say '%s'", error_message(error), strerrordesc_np(reason));
    error_release(error);
}

/* The file is as it was before ("old", or not there), and so is the folder. */
static void assert_untouched(const char *name, bool was_there)
{
    assert_int_equal(scratch_count(""), was_there ? 1 : 0);
    if (!was_there)
        return;
    struct buffer bytes = scratch_read(name);
    assert_string_equal(buffer_c_string(&bytes), "old");
    buffer_release(&bytes);
}

/* The n-th call fails, for every n; the number of them. */
static long fail_each(enum output_form form, bool was_there, bool keep, int reason)
{
    const char *path = scratch_path("file");
    for (long n = 0;; n++) {
        scratch_empty();
        if (was_there)
            scratch_write("file", "old", 3);
        faults.left = n;
        faults.reason = reason;
        faults.keep = keep;
        faults.has_failed = faults.had_renamed = faults.is_harmless = false;
        memset(faults.calls, 0, sizeof faults.calls);
        struct error error = write_file(path, form, LINES);
        char calls[sizeof faults.calls];
        memcpy(calls, faults.calls, sizeof calls);
        bool has_failed = faults.has_failed;
        bool is_refused = error_is(error);
        faults.left = -1;
        if (is_refused) {
            assert_true(has_failed);
            assert_io(&error, reason);
            if (!faults.had_renamed)
                assert_untouched("file", was_there);
        }
        /* only the first one counts when all after it fail too */
        if (has_failed && !keep)
            assert_true(is_refused != faults.is_harmless);
        if (!is_refused || faults.had_renamed) {
            assert_true(is_whole(path, LINES));
            assert_int_equal(scratch_count(""), 1);
        }
        if (!has_failed) {
            /* synced before it has a name, closed before it has its own, the folder synced last */
            assert_string_equal(calls, faults.no_tmpfile ? "owfcrdx" : "twflcrdx");
            return n;
        }
        assert_true(n < 1000);
    }
}

TEST(test_each_call_fails)
{
    static const int reasons[] = {ENOSPC, EIO};
    for (int i = 0; i < 16; i++) {
        faults.no_tmpfile = (i & 4) != 0;
        long calls = fail_each((i & 1) != 0 ? OUTPUT_ZSTD : OUTPUT_PLAIN, (i & 2) != 0, (i & 8) != 0, reasons[i % 2]);
        assert_in_range(calls, 8, 200);
    }
    faults.no_tmpfile = false;
}

/* A signal interrupts a write, and writes take less than they get: no error at all. */
TEST(test_interrupted_and_short_writes)
{
    for (int form = 0; form < 2; form++) {
        for (long n = 1; n < 6; n++) { /* 0 is openat */
            scratch_empty();
            faults.left = n;
            faults.reason = EINTR;
            faults.keep = false;
            faults.halves = true;
            struct error error = write_file(scratch_path("file"), form == 0 ? OUTPUT_PLAIN : OUTPUT_ZSTD, LINES);
            faults.left = -1;
            faults.halves = false;
            assert_false(error_is(error));
            assert_true(is_whole(scratch_path("file"), LINES));
        }
    }
}

/* The disk takes a long file in parts; what it says of a part counts, and a kernel that cannot do that does not. */
TEST(test_disk_follows)
{
    enum { LONG_LINES = 1900000 }; /* some 13 MB */
    static const int reasons[] = {EIO, ENOSPC, EINVAL};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        long n = 0;
        for (bool has_failed = true; has_failed; n++) {
            scratch_empty();
            faults.behind_left = n;
            faults.reason = reasons[i];
            faults.has_failed = false;
            struct error error = write_file(scratch_path("file"), OUTPUT_PLAIN, LONG_LINES);
            has_failed = faults.has_failed;
            faults.behind_left = -1;
            if (has_failed && reasons[i] != EINVAL) {
                assert_io(&error, reasons[i]);
                assert_untouched("file", false);
            } else {
                assert_false(error_is(error));
                assert_true(is_whole(scratch_path("file"), LONG_LINES));
            }
        }
        assert_in_range(n, 5, 10); /* two calls for each part but the first */
    }
}

/* The caller goes on after a failed flush, and even then the commit must not give the file its name. */
TEST(test_failure_is_remembered)
{
    struct output *out;
    scratch_empty();
    scratch_write("file", "old", 3);
    assert_false(error_is(output_open(&out, scratch_path("file"), OUTPUT_PLAIN)));
    for (int i = 0; i < 300000; i++)
        buffer_char(output_buffer(out), 'x');
    faults.left = 0;
    faults.reason = ENOSPC;
    faults.keep = false;
    struct error error = output_flush_if_full(out);
    assert_io(&error, ENOSPC);
    error = output_flush_if_full(out); /* the disk has room again: too late */
    assert_io(&error, ENOSPC);
    error = output_commit(&out);
    assert_io(&error, ENOSPC);
    assert_untouched("file", true);
}

/* ---- real trouble ---- */

TEST(test_full_device)
{
    for (int form = 0; form < 2; form++) {
        for (int lines = 1; lines <= LINES; lines += LINES - 1) { /* fails late, and early */
            struct error error = write_file("/dev/full", form == 0 ? OUTPUT_PLAIN : OUTPUT_ZSTD, lines);
            assert_string_equal(error_message(&error), "cannot write /dev/full: No space left on device");
            assert_io(&error, ENOSPC);
        }
    }
    struct stat status;
    assert_int_equal(stat("/dev/full", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

/* The file may be n bytes long, for n up to its whole length and one more. */
TEST(test_file_size_limit)
{
    enum { SHORT_LINES = 40 };
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN); /* as the tools do, so that write says EFBIG */
    for (int form = 0; form < 2; form++) {
        enum output_form output_form = form == 0 ? OUTPUT_PLAIN : OUTPUT_ZSTD;
        const char *path = scratch_path("file");
        scratch_empty();
        assert_false(error_is(write_file(path, output_form, SHORT_LINES)));
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        for (off_t n = 0; n <= status.st_size; n++) {
            scratch_empty();
            scratch_write("file", "old", 3);
            struct rlimit limit = {(rlim_t)n, before.rlim_max};
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
            struct error error = write_file(path, output_form, SHORT_LINES);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
            if (n < status.st_size) {
                assert_io(&error, EFBIG);
                assert_untouched("file", true);
            } else {
                assert_false(error_is(error));
                assert_true(is_whole(path, SHORT_LINES));
            }
        }
    }
    signal(SIGXFSZ, SIG_DFL);
}

TEST(test_too_many_open_files)
{
    struct rlimit before;
    scratch_empty();
    int next_file = dup(STDERR_FILENO);
    assert_true(next_file >= 0);
    close(next_file);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int more = 0; more <= 2; more++) { /* folder and file */
        struct rlimit limit = {(rlim_t)(next_file + more), before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        struct error error = write_file(scratch_path("file"), OUTPUT_PLAIN, 10);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (more < 2) {
            assert_io(&error, EMFILE);
            assert_untouched("file", false);
        } else {
            assert_false(error_is(error));
        }
    }
}

TEST(test_bad_targets)
{
    scratch_empty();
    const char *path = scratch_path("absent/file");
    char expected[600];
    snprintf(expected, sizeof expected, "cannot create %s: No such file or directory", path);
    struct error error = write_file(path, OUTPUT_PLAIN, 10);
    assert_string_equal(error_message(&error), expected);
    assert_io(&error, ENOENT);
    error = write_file("", OUTPUT_PLAIN, 10);
    assert_io(&error, ENOENT);
    error = write_file(scratch_path(""), OUTPUT_PLAIN, 10);
    assert_io(&error, EISDIR);
    error = write_file(scratch_path("absent/"), OUTPUT_PLAIN, 10);
    assert_int_equal(error.kind, ERROR_IO);
    error_release(&error);
    assert_untouched("file", false);
    scratch_write("file", "old", 3);
    error = write_file(scratch_path("file/below"), OUTPUT_PLAIN, 10);
    assert_io(&error, ENOTDIR);
    error = output_make_folder(scratch_path("file/below"));
    assert_io(&error, ENOTDIR);
    error = output_make_folder(scratch_path("file"));
    assert_io(&error, ENOTDIR);
    error = output_make_folder("");
    assert_io(&error, ENOENT);
    char name[400];
    memset(name, 'n', sizeof name);
    name[300] = '\0'; /* above NAME_MAX */
    error = write_file(scratch_path(name), OUTPUT_PLAIN, 10);
    assert_io(&error, ENAMETOOLONG);
    assert_untouched("file", true);
}

/* Between opening and commit the world changes. */
TEST(test_target_changes)
{
    for (int i = 0; i < 4; i++) {
        scratch_empty();
        faults.no_tmpfile = i % 2 == 1;
        struct output *out;
        assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
        assert_false(error_is(output_open(&out, scratch_path("folder/file"), OUTPUT_PLAIN)));
        faults.no_tmpfile = false;
        buffer_string(output_buffer(out), "x");
        if (i < 2) {
            assert_int_equal(mkdir(scratch_path("folder/file"), 0777), 0);
        } else {
            scratch_empty();
            assert_false(scratch_exists("folder"));
        }
        struct error error = output_commit(&out);
        assert_io(&error, i < 2 ? EISDIR : ENOENT);
        assert_int_equal(scratch_count(i < 2 ? "folder" : ""), i < 2 ? 1 : 0);
    }
}

TEST(test_folder_without_permission)
{
    const uid_t nobody = 65534; /* Debian's base-passwd: nobody */
    scratch_empty();
    assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
    scratch_write("folder/file", "old", 3);
    assert_int_equal(chmod(scratch_path("folder"), 0555), 0);
    bool is_root = geteuid() == 0;
    if (is_root && seteuid(nobody) != 0) {
        print_message("skipped: root may write everywhere and cannot become somebody else\n");
        skip();
    }
    struct error error = write_file(scratch_path("folder/file"), OUTPUT_PLAIN, 10);
    struct error folder_error = output_make_folder(scratch_path("folder/a/b"));
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(scratch_path("folder"), 0755), 0);
    assert_io(&error, EACCES);
    assert_io(&folder_error, EACCES);
    assert_int_equal(scratch_count("folder"), 1);
    struct buffer bytes = scratch_read("folder/file");
    assert_string_equal(buffer_c_string(&bytes), "old");
    buffer_release(&bytes);
}

/* ---- small disks ---- */

static bool is_mounted;

/* A file system of its own on the folder "disk"; false if this process may not.  It is mounted where only
 * this process sees it, so that it goes even if the test dies. */
static bool mount_disk(const char *options, unsigned long flags)
{
    scratch_empty();
    assert_int_equal(mkdir(scratch_path("disk"), 0777), 0);
    is_mounted = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                 mount("none", scratch_path("disk"), "tmpfs", flags, options) == 0;
    if (!is_mounted)
        print_message("skipped: no file system can be mounted here: %s\n", strerrordesc_np(errno));
    return is_mounted;
}

static int unmount_disk(void **state)
{
    (void)state;
    faults.no_tmpfile = false;
    if (!is_mounted)
        return 0;
    is_mounted = false;
    return umount2(scratch_path("disk"), MNT_DETACH);
}

/* A disk of some pages that fills up, with an old file on it. */
TEST_WITH(test_full_disk, NULL, unmount_disk)
{
    if (!mount_disk("size=256k", 0))
        skip();
    scratch_write("disk/file", "old", 3);
    for (int form = 0; form < 2; form++) {
        faults.no_tmpfile = form == 1;
        struct error error = write_file(scratch_path("disk/file"), OUTPUT_PLAIN, LINES);
        assert_io(&error, ENOSPC);
        assert_int_equal(scratch_count("disk"), 1);
        struct buffer bytes = scratch_read("disk/file");
        assert_string_equal(buffer_c_string(&bytes), "old");
        buffer_release(&bytes);
        /* what was written is free again */
        error = write_file(scratch_path("disk/other"), OUTPUT_PLAIN, 20000);
        assert_string_equal(error_message(&error), "");
        assert_true(is_whole(scratch_path("disk/other"), 20000));
        assert_int_equal(unlink(scratch_path("disk/other")), 0);
    }
}

TEST_WITH(test_disk_without_inodes, NULL, unmount_disk)
{
    if (!mount_disk("nr_inodes=2", 0)) /* the folder itself and one file */
        skip();
    scratch_write("disk/file", "old", 3);
    struct error error = write_file(scratch_path("disk/file"), OUTPUT_PLAIN, 10);
    assert_io(&error, ENOSPC);
    error = output_make_folder(scratch_path("disk/a"));
    assert_io(&error, ENOSPC);
    assert_int_equal(scratch_count("disk"), 1);
}

TEST_WITH(test_read_only_disk, NULL, unmount_disk)
{
    if (!mount_disk(NULL, MS_RDONLY))
        skip();
    struct error error = write_file(scratch_path("disk/file"), OUTPUT_PLAIN, 10);
    assert_io(&error, EROFS);
    error = output_make_folder(scratch_path("disk/a"));
    assert_io(&error, EROFS);
    error = output_make_folder(scratch_path("disk")); /* it is there */
    assert_false(error_is(error));
}

TEST_GROUP(scratch_make, scratch_remove)
