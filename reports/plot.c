/* reports/plot.c -- gnuplot in a private folder: start it, wait for it, take what it drew. */
#include "reports/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/temp_folder.h"
#include "reports/plot_script.h"

#define SCRIPT_FILE "script"
#define TEMP_KIND   "plot"

enum { LIMIT_MS_DEFAULT = 20000, SVG_BYTES_MAX = 16 << 20 };

struct folder {
    char path[PATH_MAX];
};

static const char *scratch_of(const char *scratch)
{
    return scratch != NULL ? scratch : "/tmp";
}

/* The folder holds only files that were made here. */
static void folder_remove(const char *path)
{
    int at = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at >= 0) {
        char name[] = "a";
        for (; name[0] < 'a' + PLOT_SERIES_MAX; name[0]++)
            unlinkat(at, name, 0);
        unlinkat(at, SCRIPT_FILE, 0);
        unlinkat(at, PLOT_OUTPUT_FILE, 0);
        close(at);
    }
    rmdir(path);
}

void plot_clean(const struct plot_tool *tool)
{
    temp_folder_clean(scratch_of(tool != NULL ? tool->scratch : NULL), TEMP_KIND, folder_remove);
}

static struct error write_all(int file, const struct buffer *text, const char *path)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t count = write(file, text->bytes + done, text->length - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_io("write", path, errno);
        done += (size_t)count;
    }
    return ERROR_OK;
}

static struct error folder_write(const struct folder *folder, const char *name, const struct buffer *text)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/%s", folder->path, name);
    const char *file_path = buffer_c_string(&path);
    int file = open(file_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct error error = ERROR_OK;
    if (file < 0) {
        error = error_io("create", file_path, errno);
    } else {
        error = write_all(file, text, file_path);
        if (close(file) != 0 && !error_is(error))
            error = error_io("write", file_path, errno);
    }
    buffer_release(&path);
    return error;
}

static struct error write_inputs(const struct folder *folder, const struct plot *plot, const struct plot_paper *paper)
{
    struct buffer text = {0};
    plot_script(plot, paper, &text);
    struct error error = folder_write(folder, SCRIPT_FILE, &text);
    for (size_t i = 0; i < plot->series_count && !error_is(error); i++) {
        char name[] = {(char)('a' + i), '\0'};
        text.length = 0;
        plot_data(&plot->series[i], &text);
        error = folder_write(folder, name, &text);
    }
    buffer_release(&text);
    return error;
}

/* ---- the process ---- */

static const char *find_gnuplot(const struct plot_tool *tool)
{
    static const char *const places[] = {"/usr/bin/gnuplot", "/usr/local/bin/gnuplot"};
    if (tool->gnuplot != NULL)
        return access(tool->gnuplot, X_OK) == 0 ? tool->gnuplot : NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* Starts gnuplot in its own process group, so that ^C stops the run but the report is still made; with default signals
 * and no open file of Windtunnel. */
static int start(pid_t *process, const char *gnuplot, const struct folder *folder)
{
    char *arguments[] = {"gnuplot", "--default-settings", SCRIPT_FILE, NULL};
    char *environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int status = posix_spawn_file_actions_addchdir_np(&actions, folder->path);
    for (int file = 0; file < 3 && status == 0; file++)
        status = posix_spawn_file_actions_addopen(&actions, file, "/dev/null", file == 0 ? O_RDONLY : O_WRONLY, 0);
    if (status == 0)
        status = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (status == 0)
        status = posix_spawn(process, gnuplot, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* Wait in steps of a millisecond; after limit_ms kill the process and all that it started. */
static struct error wait_for(pid_t process, unsigned limit_ms)
{
    const struct timespec step = {.tv_nsec = 1000000};
    for (unsigned waited_ms = 0;; waited_ms++) {
        int status;
        pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == process && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return ERROR_OK;
        if (ended == process && WIFEXITED(status))
            return error_new(ERROR_IO, "gnuplot failed with status %d", WEXITSTATUS(status));
        if (ended == process)
            return error_new(ERROR_IO, "gnuplot was ended by signal %d", WTERMSIG(status));
        if (ended < 0 && errno != EINTR)
            return error_io("wait for", "gnuplot", errno);
        if (waited_ms >= limit_ms) {
            kill(-process, SIGKILL);
            waitpid(process, &status, 0);
            return error_new(ERROR_IO, "gnuplot took longer than %u ms", limit_ms);
        }
        nanosleep(&step, NULL);
    }
}

static struct error draw(const struct folder *folder, const char *gnuplot, unsigned limit_ms)
{
    pid_t process;
    int status = start(&process, gnuplot, folder);
    if (status != 0)
        return error_io("start", gnuplot, status);
    return wait_for(process, limit_ms);
}

static struct error not_whole(void)
{
    return error_new(ERROR_IO, "gnuplot did not write a whole file");
}

/* A print is taken as it is. */
static struct error take_print(struct text drawn, const char *end, struct buffer *out)
{
    struct text rest = drawn;
    while (rest.length > 0 && rest.at[rest.length - 1] == '\n')
        rest.length--;
    const size_t length = strlen(end);
    if (rest.length < length || memcmp(rest.at + rest.length - length, end, length) != 0)
        return not_whole();
    buffer_text(out, drawn);
    return ERROR_OK;
}

static struct error take(const struct folder *folder, const struct plot *plot, enum plot_form form, struct buffer *out)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/" PLOT_OUTPUT_FILE, folder->path);
    char *bytes = NULL;
    size_t length = 0;
    struct error error = input_read_all(buffer_c_string(&path), SVG_BYTES_MAX, &bytes, &length);
    buffer_release(&path);
    TRY(error);
    if (form == PLOT_FORM_PAGE)
        error = plot_dress(plot, (struct text){bytes, length}, out);
    else
        error = take_print((struct text){bytes, length}, form == PLOT_FORM_SVG ? "</svg>" : "%%EOF", out);
    mem_free(bytes);
    return error;
}

static struct error plot_draw(const struct plot *plot, const struct plot_paper *paper, const struct plot_tool *tool,
                              struct buffer *out)
{
    static const struct plot_tool defaults = {0};
    if (tool == NULL)
        tool = &defaults;
    const char *gnuplot = find_gnuplot(tool);
    if (gnuplot == NULL)
        return error_new(ERROR_IO, "gnuplot is not installed");
    struct folder folder;
    TRY(temp_folder_make(folder.path, scratch_of(tool->scratch), TEMP_KIND));
    struct error error = write_inputs(&folder, plot, paper);
    if (!error_is(error))
        error = draw(&folder, gnuplot, tool->limit_ms > 0 ? tool->limit_ms : LIMIT_MS_DEFAULT);
    if (!error_is(error))
        error = take(&folder, plot, paper->form, out);
    folder_remove(folder.path);
    return error;
}

struct error plot_svg(const struct plot *plot, const struct plot_tool *tool, struct buffer *svg)
{
    return plot_draw(plot, &(struct plot_paper){.form = PLOT_FORM_PAGE}, tool, svg);
}

struct error plot_print(const struct plot *plot, const char *x_text, const char *y_text, enum plot_form form,
                        const struct plot_tool *tool, struct buffer *out)
{
    return plot_draw(plot, &(struct plot_paper){.form = form, .x_text = x_text, .y_text = y_text}, tool, out);
}
