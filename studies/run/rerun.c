#include "studies/run/rerun.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "base/mem.h"
#include "base/temp_folder.h"
#include "reports/result.h"

#define TEMP_KIND "rerun"

enum {
    KEPT_BYTES_MAX = 4 << 10, /* of what a program says: enough for a version, or the first line of an error */
    REMOVE_TRIES = 20,
    REMOVE_WAIT_MS = 10,
};

/* ---- a call of the program ---- */

/* Words in a row, NULL-terminated when they are used. */
struct words {
    const char **list;
    size_t count, capacity;
    struct arena arena;
};

static void words_add(struct words *words, const char *word)
{
    MEM_GROW(words->list, words->capacity, words->count + 2);
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

/* "--name=value"; value NULL: nothing */
static void words_add_option(struct words *words, const char *name, const char *value)
{
    struct buffer text = {0};
    if (value == NULL)
        return;
    buffer_format(&text, "--%s=%s", name, value);
    words_add(words, arena_copy(&words->arena, (struct text){text.bytes, text.length}));
    buffer_release(&text);
}

static void words_release(struct words *words)
{
    mem_free(words->list);
    arena_release(&words->arena);
}

/* Start it.  Standard error goes to `pipe_fd`; so does standard output if it is wanted. */
static int spawn(pid_t *pid, const struct words *words, int pipe_fd, bool wants_output)
{
    extern char **environ;
    char *const *arguments = (char *const *)(uintptr_t)words->list;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    int failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, pipe_fd, STDERR_FILENO);
    if (failure == 0 && wants_output)
        failure = posix_spawn_file_actions_adddup2(&actions, pipe_fd, STDOUT_FILENO);
    else if (failure == 0)
        failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all); /* windtunnel ignores SIGPIPE, the program shall not */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (failure == 0)
        failure = posix_spawnp(pid, words->list[0], &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* Keep the first bytes of what comes, until all writers have closed it. */
static void listen(int fd, bool is_passed_on, struct buffer *said)
{
    char bytes[4096];
    while (true) {
        const ssize_t count = read(fd, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        const size_t length = (size_t)count, room = KEPT_BYTES_MAX - said->length;
        if (is_passed_on)
            fwrite(bytes, 1, length, stderr);
        buffer_bytes(said, bytes, length < room ? length : room);
    }
}

/* The first line, without "error: ". */
static struct text first_line(const struct buffer *said)
{
    const struct text word = TEXT("error: ");
    struct text rest = {said->bytes, said->length}, line = TEXT("");
    if (rest.length > 0)
        text_cut(&rest, '\n', &line);
    if (line.length >= word.length && memcmp(line.at, word.at, word.length) == 0)
        line = (struct text){line.at + word.length, line.length - word.length};
    return line;
}

static struct error end_error(enum error_kind kind, const char *program, int status, const struct buffer *said)
{
    const struct text line = first_line(said);
    struct buffer text = {0};
    if (WIFSIGNALED(status))
        buffer_format(&text, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        buffer_format(&text, "ended with exit status %d", WEXITSTATUS(status));
    if (line.length > 0)
        buffer_format(&text, ": %.*s", (int)line.length, line.at);
    struct error error = error_new(kind, "'%s' %s", program, buffer_c_string(&text));
    buffer_release(&text);
    return error;
}

/* Without memory or room for a process the program is not to blame. */
static struct error no_start(enum error_kind kind, const char *program, int errno_value)
{
    if (errno_value == EAGAIN || errno_value == ENOMEM)
        kind = errno_value == EAGAIN ? ERROR_IO : ERROR_INTERNAL;
    return error_new(kind, "cannot start '%s': %s", program, strerror(errno_value));
}

/* Run it to its end.  said: the first bytes of standard error, and of standard output if it is wanted; without that,
 * standard error is passed on too. */
static struct error call(enum error_kind kind, const struct words *words, bool wants_output, struct buffer *said)
{
    const char *program = words->list[0];
    pid_t pid;
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_io("open", "a pipe", errno);
    const int failure = spawn(&pid, words, ends[1], wants_output);
    close(ends[1]);
    if (failure == 0)
        listen(ends[0], !wants_output, said);
    close(ends[0]);
    if (failure != 0)
        return no_start(kind, program, failure);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_io("wait for", program, errno);
    return status != 0 ? end_error(kind, program, status, said) : ERROR_OK;
}

/* ---- opening ---- */

static char *text_copy_new(struct text text)
{
    struct buffer copy = {0};
    buffer_text(&copy, text);
    char *own = mem_copy_text(buffer_c_string(&copy));
    buffer_release(&copy);
    return own;
}

/* "windtunnel 0.1.0\n" */
static struct error read_version(struct rerun *rerun)
{
    const struct text name = TEXT("windtunnel ");
    struct words words = {0};
    struct buffer said = {0};
    words_add(&words, rerun->program);
    words_add(&words, "--version");
    struct error error = call(ERROR_CONFIG, &words, true, &said);
    if (!error_is(error)) {
        const struct text line = first_line(&said);
        if (line.length > name.length && memcmp(line.at, name.at, name.length) == 0)
            rerun->version = text_copy_new(text_trim((struct text){line.at + name.length, line.length - name.length}));
        else
            error = error_new(ERROR_CONFIG, "'%s' is no windtunnel: to --version it says '%.*s'", rerun->program,
                              (int)line.length, line.at);
    }
    words_release(&words);
    buffer_release(&said);
    return error;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

/* With all that is in it. */
static bool remove_folder(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

static void remove_left(const char *path)
{
    (void)remove_folder(path); /* what cannot be removed stays */
}

static struct error make_folder(struct rerun *rerun, const char *scratch)
{
    char path[PATH_MAX];
    temp_folder_clean(scratch, TEMP_KIND, remove_left);
    TRY(temp_folder_make(path, scratch, TEMP_KIND));
    rerun->folder = mem_copy_text(path);
    return ERROR_OK;
}

struct error rerun_open(struct rerun *rerun, const char *program, const char *scratch)
{
    *rerun = (struct rerun){.program = program};
    struct error error = read_version(rerun);
    if (!error_is(error))
        error = make_folder(rerun, scratch);
    if (error_is(error))
        rerun_close(rerun);
    return error;
}

/* ---- closing ---- */

void rerun_close(struct rerun *rerun)
{
    /* A process that was killed may be about to end, and write until then. */
    for (int try = 0; rerun->folder != NULL && try < REMOVE_TRIES && !remove_folder(rerun->folder); try++)
        poll(NULL, 0, REMOVE_WAIT_MS);
    mem_free(rerun->version);
    mem_free(rerun->folder);
    *rerun = (struct rerun){0};
}

/* ---- running ---- */

static void add_scenario(struct words *words, const struct scenario_options *scenario)
{
    words_add_option(words, "trace", scenario->trace);
    words_add_option(words, "format", scenario->format);
    words_add_option(words, "cluster", scenario->cluster);
    words_add_option(words, "policy", scenario->policy);
    words_add_option(words, "title", scenario->title);
    for (size_t i = 0; i < scenario->set_count; i++)
        words_add_option(words, "set", scenario->sets[i]);
    for (size_t i = 0; i < scenario->plugins.count; i++)
        words_add_option(words, "plugin", scenario->plugins.paths[i]);
    words_add_option(words, "plugin-timeout", scenario->plugins.timeout);
    if (scenario->path != NULL) {
        words_add(words, "--");
        words_add(words, scenario->path);
    }
}

static struct error append_file(const char *folder, const char *name, struct buffer *out)
{
    struct buffer path = {0};
    char *bytes = NULL;
    size_t length = 0;
    buffer_format(&path, "%s/%s", folder, name);
    struct error error = input_read_all(buffer_c_string(&path), RESULT_BYTES_MAX, &bytes, &length);
    if (!error_is(error))
        buffer_bytes(out, bytes, length);
    mem_free(bytes);
    buffer_release(&path);
    return error;
}

struct error rerun_run(const struct rerun *rerun, const struct scenario_options *scenario, uint64_t seed,
                       struct buffer *out)
{
    struct words words = {0};
    struct buffer folder = {0}, text = {0}, said = {0};
    buffer_format(&folder, "%s/%llu", rerun->folder, (unsigned long long)seed);
    buffer_format(&text, "%llu", (unsigned long long)seed);
    words_add(&words, rerun->program);
    words_add(&words, "run");
    words_add(&words, "--quiet");
    words_add_option(&words, "out", buffer_c_string(&folder));
    words_add_option(&words, "seed", buffer_c_string(&text));
    add_scenario(&words, scenario);
    struct error error = call(ERROR_DATA, &words, false, &said);
    if (!error_is(error))
        error = append_file(buffer_c_string(&folder), RESULT_FILE, out);
    remove_folder(buffer_c_string(&folder)); /* now, since records are large */
    words_release(&words);
    buffer_release(&folder);
    buffer_release(&text);
    buffer_release(&said);
    return error;
}
