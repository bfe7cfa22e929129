#include "sim/live/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/referee/referee.h"

enum {
    READ_BYTES = 64 << 10,
    LINE_BYTES_MAX = 16 << 20,
    LEAVE_MS = 1000,             /* allowed to end by itself after its input is closed */
    LOOK_MS = 100,               /* of real time, after which `stop` is looked at */
    CYCLES_PER_INSTANT = 100000, /* more cycles at one instant would never end */
};

struct process {
    struct process_options options;
    pid_t pid;          /* the process is the leader of its group; -1: none */
    int to_fd, from_fd; /* -1: closed */
    struct buffer to;   /* not yet written from `sent` on */
    size_t sent;
    struct buffer from; /* read, but not yet examined from `taken` on */
    size_t taken;
    uint64_t line_number; /* of the process's output */
    struct wire *wire;
    struct referee *referee;
    struct decision *decisions;
    size_t decision_capacity;
    uint64_t decision_count;
    time_ns now;
    uint32_t cycles_now; /* at this instant */
    struct port_outside decider;
};

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct error complain(const struct process *process, const char *what)
{
    struct error error = error_new(ERROR_DATA, "the scheduler '%s' %s", process->options.command, what);
    error_set_hint(&error, "docs/decide.md says how a program decides");
    return error;
}

static bool is_stopped(const struct process *process)
{
    return process->options.stop != NULL && *process->options.stop != 0;
}

/* ---- starting and ending it ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int spawn(struct process *process, int in_fd, int out_fd)
{
    extern char **environ;
    char *const arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                               (char *)(uintptr_t)process->options.command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    posix_spawn_file_actions_init(&actions);
    int failure = posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &usual);
    sigfillset(&usual);
    posix_spawnattr_setsigdefault(&attributes, &usual); /* windtunnel ignores SIGPIPE, the process shall not */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (failure == 0)
        failure = posix_spawn(&process->pid, "/bin/sh", &actions, &attributes, arguments, environ);
    if (failure != 0)
        process->pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

static struct error start(struct process *process)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1}, failure = 0;
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        failure = errno;
    else
        failure = spawn(process, to[0], from[1]);
    process->to_fd = to[1];
    process->from_fd = from[0];
    close_fd(&to[0]);
    close_fd(&from[1]);
    if (failure != 0)
        return error_io("start", process->options.command, failure);
    fcntl(process->to_fd, F_SETFL, O_NONBLOCK);
    fcntl(process->from_fd, F_SETFL, O_NONBLOCK);
    return ERROR_OK;
}

/* Has it ended within that time?  It stays a zombie, so that the number of its group is not reused. */
static bool has_ended(const struct process *process, int64_t within_ms, siginfo_t *end)
{
    int64_t deadline = clock_ms() + within_ms;
    while (true) {
        end->si_pid = 0;
        if (waitid(P_PID, (id_t)process->pid, end, WEXITED | WNOHANG | WNOWAIT) != 0 || end->si_pid != 0)
            return true;
        if (clock_ms() >= deadline)
            return false;
        poll(NULL, 0, 1);
    }
}

void process_close(struct process **process)
{
    struct process *own = *process;
    siginfo_t end;
    if (own == NULL)
        return;
    close_fd(&own->to_fd);
    close_fd(&own->from_fd);
    if (own->pid > 0) {
        has_ended(own, is_stopped(own) ? 0 : LEAVE_MS, &end);
        kill(-own->pid, SIGKILL);
        while (waitpid(own->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    buffer_release(&own->to);
    buffer_release(&own->from);
    mem_free(own->decisions);
    wire_free(own->wire);
    referee_free(own->referee);
    mem_free(own);
    *process = NULL;
}

/* ---- talking ---- */

/* The process has closed its output before it answered. */
static struct error gone(const struct process *process)
{
    siginfo_t end = {0};
    char what[96];
    if (!has_ended(process, LEAVE_MS, &end))
        return complain(process, "closed its output before it had answered");
    if (end.si_code == CLD_EXITED)
        snprintf(what, sizeof what, "ended with status %d before it had answered", end.si_status);
    else
        snprintf(what, sizeof what, "was ended by signal %d (%s) before it had answered", end.si_status,
                 strsignal(end.si_status));
    return complain(process, what);
}

static void send_some(struct process *process)
{
    ssize_t count = write(process->to_fd, process->to.bytes + process->sent, process->to.length - process->sent);
    if (count > 0)
        process->sent += (size_t)count;
    else if (count < 0 && errno != EINTR && errno != EAGAIN)
        process->sent = process->to.length; /* it does not read any more: its output tells why */
    if (process->sent == process->to.length)
        process->sent = process->to.length = 0;
}

static struct error read_some(struct process *process)
{
    struct buffer *from = &process->from;
    if (from->length > process->taken)
        memmove(from->bytes, from->bytes + process->taken, from->length - process->taken);
    from->length -= process->taken;
    process->taken = 0;
    if (from->length > LINE_BYTES_MAX)
        return complain(process, "wrote a line of more than 16 MiB");
    ssize_t count = read(process->from_fd, buffer_reserve(from, READ_BYTES), READ_BYTES);
    if (count == 0)
        return gone(process);
    if (count > 0)
        from->length += (size_t)count;
    else if (errno != EINTR && errno != EAGAIN)
        return error_io("read from", process->options.command, errno);
    return ERROR_OK;
}

/* Wait until something can be read, and write what is left to write meanwhile; returns early if the world ends. */
static struct error await(struct process *process, int64_t deadline)
{
    while (!is_stopped(process)) {
        bool is_sending = process->sent < process->to.length;
        struct pollfd fds[2] = {{.fd = process->from_fd, .events = POLLIN},
                                {.fd = is_sending ? process->to_fd : -1, .events = POLLOUT}};
        int64_t left = deadline - clock_ms();
        if (left <= 0) {
            char what[96];
            snprintf(what, sizeof what, "gave no answer to a cycle within %g s of real time",
                     (double)process->options.timeout_ms / 1000);
            return complain(process, what);
        }
        if (poll(fds, 2, left < LOOK_MS ? (int)left : LOOK_MS) < 0 && errno != EINTR)
            return error_io("wait for", process->options.command, errno);
        if (fds[1].revents != 0)
            send_some(process);
        if (fds[0].revents != 0)
            return read_some(process);
    }
    return ERROR_OK;
}

/* ---- its answer ---- */

static struct error refuse(const struct process *process, struct text line, const char *what)
{
    struct error error = error_at(ERROR_DATA, process->options.command, process->line_number, 1, "%s", what);
    error_set_excerpt(&error, line.at, line.length, line.length);
    return error;
}

static struct error check_done(const struct process *process, struct text line, const struct wire_done *done)
{
    if (done->decision_count != process->decision_count)
        return refuse(process, line, "'done' must count the decisions before it");
    if (done->wake_at <= process->now)
        return refuse(process, line, "'wake_at' must be later than the cycle");
    return ERROR_OK;
}

static struct error take_line(struct process *process, struct text text, struct wire_done *done, bool *is_done)
{
    struct wire_line line;
    process->line_number++;
    TRY(wire_read(process->wire, process->options.command, process->line_number, text, WIRE_ANSWERED, &line));
    *is_done = line.kind == WIRE_DONE;
    if (*is_done) {
        *done = line.done;
        return check_done(process, text, done);
    }
    if (!referee_allows(process->referee, &line.decision))
        return refuse(process, text, referee_complaint(process->referee));
    MEM_GROW(process->decisions, process->decision_capacity, process->decision_count + 1);
    process->decisions[process->decision_count++] = line.decision;
    return ERROR_OK;
}

static struct error take_answer(struct process *process, struct wire_done *done)
{
    int64_t deadline = clock_ms() + process->options.timeout_ms;
    bool is_done = false;
    while (!is_done && !is_stopped(process)) {
        const char *at = process->from.bytes + process->taken;
        size_t length = process->from.length - process->taken;
        const char *end = length > 0 ? memchr(at, '\n', length) : NULL;
        if (end == NULL && process->options.answers.at != NULL)
            return error_new(ERROR_DATA, "the recorded decisions end before the run does");
        if (end == NULL) {
            TRY(await(process, deadline));
            continue;
        }
        struct text line = {at, (size_t)(end - at)};
        process->taken += line.length + 1;
        TRY(take_line(process, line, done, &is_done));
    }
    if (!is_done) /* the world ends */
        *done = (struct wire_done){.decision_count = process->decision_count, .wake_at = TIME_NEVER};
    return ERROR_OK;
}

/* ---- the port ---- */

static struct error on_fact(void *self, const struct fact *fact)
{
    struct process *process = self;
    if (!referee_told(process->referee, fact))
        return error_new(ERROR_INTERNAL, "the world told what cannot be: %s", referee_complaint(process->referee));
    if (process->to_fd >= 0)
        wire_write_fact(&process->to, process->options.cluster, process->options.queues, fact);
    return ERROR_OK;
}

static struct error on_decide(void *self, time_ns now, const struct decision **decisions, struct wire_done *done)
{
    struct process *process = self;
    process->cycles_now = now == process->now ? process->cycles_now + 1 : 0;
    if (process->cycles_now > CYCLES_PER_INSTANT)
        return complain(process, "never comes to rest: its decisions bring about more of them at "
                                 "one instant without end");
    process->now = now;
    process->decision_count = 0;
    wire_forget(process->wire);
    if (process->to_fd >= 0)
        wire_write_cycle(&process->to, now);
    TRY(take_answer(process, done));
    *decisions = process->decisions;
    return ERROR_OK;
}

static void on_count(const void *self, struct sched_counts *counts)
{
    referee_count(((const struct process *)self)->referee, counts);
}

static enum reason on_why(const void *self, job_id job)
{
    return referee_why(((const struct process *)self)->referee, job);
}

struct error process_open(struct process **out, const struct process_options *options)
{
    struct process *process = mem_zalloc(1, sizeof *process);
    *process = (struct process){.options = *options, .pid = -1, .to_fd = -1, .from_fd = -1};
    process->decider = (struct port_outside){
        .self = process, .on_fact = on_fact, .on_decide = on_decide, .on_count = on_count, .on_why = on_why};
    process->wire = wire_new(options->cluster, options->queues);
    process->referee = referee_new(options->cluster, options->gangs_are_whole);
    if (options->sharing != NULL)
        referee_share(process->referee, options->sharing, options->queues);
    process->now = -1;
    *out = process;
    if (options->answers.at != NULL) {
        buffer_text(&process->from, options->answers);
        return ERROR_OK;
    }
    wire_write_header(&process->to, options->cluster, options->queues, options->policy);
    struct error error = start(process);
    if (error_is(error))
        process_close(out);
    return error;
}

const struct port_outside *process_decider(const struct process *process)
{
    return &process->decider;
}
