/* tests/support/failing_calls.h -- calls of the C library that fail when a test says so, in all processes of a program.
 *
 * A test that includes this has its own malloc, open, read, write, rename, fsync, close, fork, posix_spawn, waitpid and
 * their kin, which do what the C library's do, unless it is the turn of one of them to fail.  The linker prefers them
 * for the program and for the libraries that it uses.
 *
 *   failing_begin();                                        (once)
 *   failing_set((struct failing_point){CALL_READ, 3, EIO}); (the fourth one)
 *   if (fork() == 0) {
 *       failing_is_on = true;
 *       ... what is tested ...
 *   }
 *
 * Law: calls are counted by kind from failing_set on, over the process that turned it on and those that it forks; one
 * call fails, or with `and_after` all from that one on.  A program that is started by exec is not counted.  What fails
 * has had no effect, but for close, which has closed.  Only what can happen does: a pipe has no disk, so EIO and ENOSPC
 * pass by it; ECHILD comes to who waits when the process has ended and the kernel has reaped it.
 *
 * It does not: reach calls inside the C library, such as those of fopen or opendir; failing_stdout() gives the standard
 * output a stream whose writes are counted.  Under AddressSanitizer, which has the allocator, no allocation fails.
 */
#ifndef TESTS_SUPPORT_FAILING_CALLS_H
#define TESTS_SUPPORT_FAILING_CALLS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FAILING_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAILING_ALLOCATIONS 0
#endif
#endif
#ifndef FAILING_ALLOCATIONS
#define FAILING_ALLOCATIONS 1
#endif

enum failing_call {
    CALL_ALLOCATE,
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_LINK,
    CALL_RENAME,
    CALL_FSYNC,
    CALL_CLOSE,
    CALL_MKDIR,
    CALL_PIPE,
    CALL_FORK,
    CALL_SPAWN,
    CALL_WAIT,
    CALL_COUNT
};

static const char *const failing_names[CALL_COUNT] __attribute__((unused)) = {
    "allocate", "open", "read", "write", "link", "rename", "fsync", "close", "mkdir", "pipe", "fork", "spawn", "wait"};

enum { FAILING_HALF = -1 }; /* a reason: a read or write of half of what is asked, at least one byte */

struct failing_point {
    enum failing_call call;
    long nth;       /* from 0; -1: none */
    int reason;     /* errno, or FAILING_HALF */
    bool and_after; /* those after it fail too */
};

struct failing_shared {
    struct failing_point point;
    atomic_long counts[CALL_COUNT];
};

static struct failing_shared *failing_shared;
static volatile bool failing_is_on;  /* in this process */
static volatile long failing_blocks; /* allocated and not freed by this process while it was on */
static const char *failing_gnuplot;  /* started in place of gnuplot; NULL: there is none */
static __typeof__(posix_spawn) *failing_real_spawn, *failing_real_spawnp;
static __typeof__(fork) *failing_real_fork;

static void failing_begin(void)
{
    failing_shared = mmap(NULL, sizeof *failing_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failing_shared == MAP_FAILED)
        abort();
    failing_real_spawn = (__typeof__(posix_spawn) *)dlsym(RTLD_NEXT, "posix_spawn");
    failing_real_spawnp = (__typeof__(posix_spawn) *)dlsym(RTLD_NEXT, "posix_spawnp");
    failing_real_fork = (__typeof__(fork) *)dlsym(RTLD_NEXT, "fork");
}

static void failing_set(struct failing_point point)
{
    memset(failing_shared, 0, sizeof *failing_shared);
    failing_shared->point = point;
}

/* 0: the call is made; else the reason why it is not. */
static int failing_turn(enum failing_call call)
{
    if (!failing_is_on)
        return 0;
    const struct failing_point *point = &failing_shared->point;
    const long number = atomic_fetch_add(&failing_shared->counts[call], 1);
    const bool is =
        point->call == call && point->nth >= 0 && (number == point->nth || (point->and_after && number > point->nth));
    return is ? point->reason : 0;
}

/* Is it this call's turn?  Then errno is set. */
static bool failing_now(enum failing_call call)
{
    const int reason = failing_turn(call);
    if (reason != 0)
        errno = reason;
    return reason != 0;
}

#if FAILING_ALLOCATIONS
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

static void *failing_counted(void *block)
{
    failing_blocks += failing_is_on && block != NULL;
    return block;
}

void *malloc(size_t bytes)
{
    return failing_now(CALL_ALLOCATE) ? NULL : failing_counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t size)
{
    return failing_now(CALL_ALLOCATE) ? NULL : failing_counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t bytes)
{
    if (failing_now(CALL_ALLOCATE))
        return NULL;
    void *moved = __libc_realloc(block, bytes);
    return block == NULL ? failing_counted(moved) : moved;
}

void free(void *block)
{
    failing_blocks -= failing_is_on && block != NULL;
    __libc_free(block);
}
#endif

static int failing_open(int folder, const char *path, int flags, mode_t mode)
{
    return failing_now(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define FAILING_MODE(flags)                                                                                            \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    const mode_t mode = ((flags) & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;                        \
    va_end(arguments)

int open(const char *path, int flags, ...)
{
    FAILING_MODE(flags);
    return failing_open(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    FAILING_MODE(flags);
    return failing_open(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    FAILING_MODE(flags);
    return failing_open(folder, path, flags, mode);
}

/* What fortified builds call where no file can be created. */
int __open_2(const char *path, int flags)
{
    return failing_open(AT_FDCWD, path, flags, 0);
}

int __openat_2(int folder, const char *path, int flags)
{
    return failing_open(folder, path, flags, 0);
}

static bool failing_is_pipe(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* The number of bytes to ask for; -1: the call fails. */
static ssize_t failing_length(enum failing_call call, int file, size_t length)
{
    const int reason = failing_turn(call);
    if (reason == FAILING_HALF)
        return length > 1 ? (ssize_t)(length / 2) : (ssize_t)length;
    if ((reason == EIO || reason == ENOSPC) && failing_is_pipe(file))
        return (ssize_t)length;
    errno = reason != 0 ? reason : errno;
    return reason != 0 ? -1 : (ssize_t)length;
}

ssize_t read(int file, void *bytes, size_t length)
{
    const ssize_t asked = failing_length(CALL_READ, file, length);
    return asked < 0 ? -1 : syscall(SYS_read, file, bytes, asked);
}

ssize_t __read_chk(int file, void *bytes, size_t length, size_t room)
{
    (void)room;
    return read(file, bytes, length);
}

ssize_t pread(int file, void *bytes, size_t length, off_t at)
{
    const ssize_t asked = failing_length(CALL_READ, file, length);
    return asked < 0 ? -1 : syscall(SYS_pread64, file, bytes, asked, at);
}

ssize_t pread64(int file, void *bytes, size_t length, off64_t at)
{
    return pread(file, bytes, length, at);
}

ssize_t __pread_chk(int file, void *bytes, size_t length, off_t at, size_t room)
{
    (void)room;
    return pread(file, bytes, length, at);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    const ssize_t asked = failing_length(CALL_WRITE, file, length);
    return asked < 0 ? -1 : syscall(SYS_write, file, bytes, asked);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at)
{
    const ssize_t asked = failing_length(CALL_WRITE, file, length);
    return asked < 0 ? -1 : syscall(SYS_pwrite64, file, bytes, asked, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at)
{
    return pwrite(file, bytes, length, at);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return failing_now(CALL_LINK) ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return failing_now(CALL_RENAME) ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* The power does not fail here, and the disk is slow. */
int fsync(int file)
{
    (void)file;
    return failing_now(CALL_FSYNC) ? -1 : 0;
}

int fdatasync(int file)
{
    return fsync(file);
}

int close(int file)
{
    const int status = (int)syscall(SYS_close, file); /* as Linux does, whatever it returns */
    return failing_now(CALL_CLOSE) ? -1 : status;
}

int mkdir(const char *path, mode_t mode)
{
    return failing_now(CALL_MKDIR) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

char *mkdtemp(char *path)
{
    static __typeof__(mkdtemp) *real;
    if (failing_now(CALL_MKDIR))
        return NULL;
    if (real == NULL)
        real = (__typeof__(mkdtemp) *)dlsym(RTLD_NEXT, "mkdtemp");
    return real(path);
}

int pipe2(int ends[2], int flags)
{
    return failing_now(CALL_PIPE) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

pid_t fork(void)
{
    return failing_now(CALL_FORK) ? -1 : failing_real_fork();
}

static bool failing_is_gnuplot(const char *path)
{
    const char *name = strrchr(path, '/');
    return name != NULL && strcmp(name, "/gnuplot") == 0;
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    const int reason = failing_turn(CALL_SPAWN);
    if (failing_gnuplot != NULL && failing_is_gnuplot(path))
        path = failing_gnuplot;
    return reason != 0 ? reason : failing_real_spawn(process, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    const int reason = failing_turn(CALL_SPAWN);
    return reason != 0 ? reason : failing_real_spawnp(process, path, actions, attributes, arguments, environment);
}

/* gnuplot costs a hundred times a run, so another program draws in its place, or none. */
int access(const char *path, int mode)
{
    if (failing_is_gnuplot(path))
        return failing_gnuplot != NULL ? 0 : -1;
    return faccessat(AT_FDCWD, path, mode, 0);
}

pid_t waitpid(pid_t process, int *status, int options)
{
    const int reason = failing_turn(CALL_WAIT);
    if (reason == ECHILD)
        syscall(SYS_wait4, process, NULL, 0, NULL);
    errno = reason != 0 ? reason : errno;
    return reason != 0 ? -1 : (pid_t)syscall(SYS_wait4, process, status, options, NULL);
}

int waitid(idtype_t kind, id_t id, siginfo_t *end, int options)
{
    const int reason = failing_turn(CALL_WAIT);
    if (reason == ECHILD)
        syscall(SYS_waitid, kind, id, NULL, WEXITED, NULL);
    errno = reason != 0 ? reason : errno;
    return reason != 0 ? -1 : (int)syscall(SYS_waitid, kind, id, end, options, NULL);
}

/* As the C library writes to a file: the rest after a short write, again after an interruption. */
static ssize_t failing_write_stdout(void *cookie, const char *bytes, size_t length)
{
    size_t done = 0;
    (void)cookie;
    while (done < length) {
        const ssize_t count = write(STDOUT_FILENO, bytes + done, length - done);
        if (count < 0 && errno != EINTR)
            break;
        done += count > 0 ? (size_t)count : 0;
    }
    return (ssize_t)done;
}

/* From now on what is printed goes through write(), buffered as to a file. */
static void failing_stdout(void)
{
    stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = failing_write_stdout});
    if (stdout == NULL)
        abort();
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}

#endif
