#include "base/worker_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 << 10,
    READS_MAX = 16, /* from one worker before the others have their turn; more than a pipe holds */
    WAIT_MS = 100,  /* after which `stop` is looked at, if no signal interrupts the wait */
};

/* What a child sends: a head, then the bytes.  A child that ends before has sent no whole message. */
struct head {
    uint64_t magic, length;
    enum error_kind kind; /* not ERROR_NONE: the bytes are the text of an error */
};
#define HEAD_MAGIC UINT64_C(0x77696e6474756e6e)

struct worker {
    pid_t pid; /* 0: this slot is free */
    size_t index;
    int answer_fd, said_fd; /* -1: closed */
    struct buffer answer, said;
};

struct crew {
    const struct worker_pool *pool;
    struct worker *workers;
    struct pollfd *polls; /* two for each worker */
    size_t busy_count, next_index;
};

size_t worker_core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool is_stopped(const struct crew *crew)
{
    return crew->pool->stop != NULL && *crew->pool->stop != 0;
}

/* ---- the child ---- */

static bool write_all(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t count = write(fd, at, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        length -= (size_t)count;
    }
    return true;
}

/* A signal that ends the parent ends the child; one that the parent ignores is ignored. */
static void default_signal(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        signal(number, SIG_DFL);
}

/* What the child says goes to the parent, as do errors before it could say anything. */
static void take_streams(int said_fd)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(said_fd, STDOUT_FILENO) < 0 ||
        dup2(said_fd, STDERR_FILENO) < 0) {
        dprintf(said_fd, "error: cannot open /dev/null: %s\n", strerror(errno));
        _exit(EXIT_FAILURE);
    }
    close(nothing);
}

static void answer(const struct worker_pool *pool, size_t index, int answer_fd)
{
    struct buffer out = {0};
    struct error error = pool->run(pool->self, index, &out);
    struct head head = {.magic = HEAD_MAGIC, .length = out.length, .kind = error.kind};
    const char *bytes = out.bytes;
    char *text = NULL;
    fflush(NULL);
    if (head.kind != ERROR_NONE) {
        text = error_text_new(&error);
        bytes = text != NULL ? text : "error: out of memory";
        head.length = strlen(bytes);
    }
    bool is_sent = write_all(answer_fd, &head, sizeof head) && write_all(answer_fd, bytes, head.length);
    free(text);
    error_release(&error);
    buffer_release(&out);
    _exit(is_sent ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Called with SIGINT and SIGTERM blocked: one that comes meanwhile ends the child here. */
static void child(const struct crew *crew, size_t slot, int answer_fd, int said_fd, pid_t parent)
{
    sigset_t set;
    setpgid(0, 0); /* and so does the parent, whichever comes first */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    default_signal(SIGINT);
    default_signal(SIGTERM);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    for (size_t w = 0; w < crew->pool->worker_count; w++) {
        close_fd(&crew->workers[w].answer_fd);
        close_fd(&crew->workers[w].said_fd);
    }
    take_streams(said_fd);
    close(said_fd);
    if (crew->pool->on_start != NULL)
        crew->pool->on_start(crew->pool->self, slot);
    answer(crew->pool, crew->next_index, answer_fd);
}

/* ---- the parent ---- */

/* errno_value 0: the process runs. */
static struct error start(struct crew *crew, struct worker *worker, int *errno_value)
{
    int answers[2] = {-1, -1}, said[2] = {-1, -1};
    sigset_t set, before;
    *errno_value = 0;
    if (pipe2(answers, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0) {
        struct error error = error_io("open", "a pipe", errno);
        close_fd(&answers[0]);
        close_fd(&answers[1]);
        return error;
    }
    fflush(NULL); /* what this process has not yet written shall not be written twice */
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &before);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(answers[0]);
        close(said[0]);
        child(crew, (size_t)(worker - crew->workers), answers[1], said[1], parent);
    }
    *errno_value = pid < 0 ? errno : 0;
    if (pid > 0)
        setpgid(pid, pid);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(answers[1]);
    close(said[1]);
    if (pid < 0) {
        close(answers[0]);
        close(said[0]);
        return ERROR_OK;
    }
    fcntl(answers[0], F_SETFL, O_NONBLOCK);
    fcntl(said[0], F_SETFL, O_NONBLOCK);
    *worker = (struct worker){.pid = pid, .index = crew->next_index, .answer_fd = answers[0], .said_fd = said[0]};
    crew->next_index++;
    crew->busy_count++;
    return ERROR_OK;
}

/* Read what is there, up to READS_MAX pieces; the descriptor is closed at its end.  Bytes beyond `bytes_max` are
 * dropped. */
static void drain(int *fd, struct buffer *into, size_t bytes_max)
{
    static char bytes[READ_BYTES];
    for (int reads = 0; *fd >= 0 && reads < READS_MAX; reads++) {
        ssize_t count = read(*fd, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0) {
            close_fd(fd);
            return;
        }
        size_t room = bytes_max - into->length;
        buffer_bytes(into, bytes, (size_t)count < room ? (size_t)count : room);
    }
}

static void reap(struct worker *worker, int *status)
{
    siginfo_t end;
    while (waitid(P_PID, (id_t)worker->pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    kill(-worker->pid, SIGKILL); /* what it started and left; its number is not given away yet */
    while (waitpid(worker->pid, status, 0) < 0)
        if (errno != EINTR)
            break;
    drain(&worker->said_fd, &worker->said, WORKER_SAID_BYTES_MAX);
    close_fd(&worker->answer_fd);
    close_fd(&worker->said_fd); /* another process may still hold its other end */
}

static void release(struct crew *crew, struct worker *worker)
{
    buffer_release(&worker->answer);
    buffer_release(&worker->said);
    *worker = (struct worker){.answer_fd = -1, .said_fd = -1};
    crew->busy_count--;
}

/* "error: cannot open x: no such file\n" -> "cannot open x: no such file" */
static void write_error(struct text text, struct buffer *out)
{
    const struct text word = TEXT("error: ");
    if (text.length >= word.length && memcmp(text.at, word.at, word.length) == 0)
        text = (struct text){text.at + word.length, text.length - word.length};
    while (text.length > 0 && text.at[text.length - 1] == '\n')
        text.length--;
    buffer_text(out, text);
}

/* The message of the child; false: it did not send one. */
static bool read_answer(const struct worker *worker, struct head *head, struct text *bytes)
{
    if (worker->answer.length < sizeof *head)
        return false;
    memcpy(head, worker->answer.bytes, sizeof *head);
    *bytes = (struct text){worker->answer.bytes + sizeof *head, worker->answer.length - sizeof *head};
    return head->magic == HEAD_MAGIC && head->length == bytes->length;
}

/* The last line that is an error, without "error: "; empty if there is none. */
static struct text last_error(const struct buffer *said)
{
    const struct text word = TEXT("error: ");
    struct text rest = {said->bytes, said->length}, line, last = TEXT("");
    while (rest.length > 0 && text_cut(&rest, '\n', &line))
        if (line.length > word.length && memcmp(line.at, word.at, word.length) == 0)
            last = (struct text){line.at + word.length, line.length - word.length};
    return last;
}

static void write_end(int status, const struct buffer *said, struct buffer *out)
{
    if (WIFSIGNALED(status)) {
        buffer_format(out, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
        if (WTERMSIG(status) == SIGKILL)
            buffer_string(out, ": killed from outside, perhaps because memory ran out");
    } else {
        const struct text last = last_error(said);
        buffer_format(out, "exit with status %d before the end", WEXITSTATUS(status));
        if (last.length > 0)
            buffer_format(out, ": %.*s", (int)last.length, last.at);
    }
}

/* A process that ended with the status of a kind had an error of that kind; any other end is a fault of the program. */
static enum error_kind kind_of_end(int status)
{
    for (int kind = ERROR_USAGE; kind < ERROR_INTERNAL; kind++)
        if (WIFEXITED(status) && WEXITSTATUS(status) == error_exit_status((enum error_kind)kind))
            return (enum error_kind)kind;
    return ERROR_INTERNAL;
}

/* The process has closed its answer: tell how it ended. */
static void finish(struct crew *crew, struct worker *worker)
{
    struct buffer failure = {0};
    struct head head;
    struct text bytes;
    int status = 0;
    reap(worker, &status);
    struct worker_result result = {.index = worker->index, .status = status, .said = buffer_c_string(&worker->said)};
    if (!read_answer(worker, &head, &bytes)) {
        result.kind = kind_of_end(status);
        write_end(status, &worker->said, &failure);
    } else if (head.kind != ERROR_NONE) {
        result.kind = head.kind;
        write_error(bytes, &failure);
    } else {
        result.is_done = true;
        result.bytes = bytes;
    }
    result.failure = buffer_c_string(&failure);
    crew->pool->on_done(crew->pool->self, &result);
    buffer_release(&failure);
    release(crew, worker);
}

static void fail_next(struct crew *crew, int errno_value)
{
    struct error error = error_io("start", "a process", errno_value);
    struct worker_result result = {.index = crew->next_index++,
                                   .kind = error.kind,
                                   .failure = error_message(&error),
                                   .status = WORKER_NOT_STARTED,
                                   .said = ""};
    crew->pool->on_done(crew->pool->self, &result);
    error_release(&error);
}

static struct error start_workers(struct crew *crew)
{
    const struct worker_pool *pool = crew->pool;
    for (size_t w = 0; w < pool->worker_count; w++) {
        int errno_value = 0;
        if (crew->workers[w].pid != 0)
            continue;
        if (crew->next_index >= pool->task_count || is_stopped(crew))
            break;
        TRY(start(crew, &crew->workers[w], &errno_value));
        if (errno_value == 0 && pool->on_begin != NULL)
            pool->on_begin(pool->self, crew->workers[w].index);
        if (errno_value != 0 && crew->busy_count > 0)
            break; /* again when one has ended */
        if (errno_value != 0)
            fail_next(crew, errno_value);
    }
    return ERROR_OK;
}

static void wait_for_answers(struct crew *crew)
{
    const size_t count = crew->pool->worker_count;
    for (size_t w = 0; w < count; w++) {
        const struct worker *worker = &crew->workers[w];
        crew->polls[2 * w] = (struct pollfd){.fd = worker->answer_fd, .events = POLLIN};
        crew->polls[2 * w + 1] = (struct pollfd){.fd = worker->said_fd, .events = POLLIN};
    }
    poll(crew->polls, (nfds_t)(2 * count), WAIT_MS);
    for (size_t w = 0; w < count; w++) {
        struct worker *worker = &crew->workers[w];
        if (worker->pid == 0)
            continue;
        drain(&worker->said_fd, &worker->said, WORKER_SAID_BYTES_MAX);
        drain(&worker->answer_fd, &worker->answer, SIZE_MAX);
        if (worker->answer_fd < 0)
            finish(crew, worker);
    }
}

static void give_up(struct crew *crew)
{
    for (size_t w = 0; w < crew->pool->worker_count; w++)
        if (crew->workers[w].pid != 0)
            kill(-crew->workers[w].pid, SIGKILL);
    for (size_t w = 0; w < crew->pool->worker_count; w++) {
        int status;
        if (crew->workers[w].pid == 0)
            continue;
        reap(&crew->workers[w], &status);
        release(crew, &crew->workers[w]);
    }
}

static struct error run_tasks(struct crew *crew)
{
    while (true) {
        TRY(start_workers(crew));
        if (is_stopped(crew) || (crew->busy_count == 0 && crew->next_index >= crew->pool->task_count))
            return ERROR_OK;
        if (crew->busy_count > 0)
            wait_for_answers(crew);
        if (crew->pool->on_wait != NULL)
            crew->pool->on_wait(crew->pool->self);
    }
}

struct error worker_pool_run(const struct worker_pool *pool)
{
    struct crew crew = {.pool = pool,
                        .workers = mem_zalloc(pool->worker_count, sizeof(struct worker)),
                        .polls = mem_zalloc(2 * pool->worker_count, sizeof(struct pollfd))};
    for (size_t w = 0; w < pool->worker_count; w++)
        crew.workers[w].answer_fd = crew.workers[w].said_fd = -1;
    struct error error = run_tasks(&crew);
    give_up(&crew);
    mem_free(crew.workers);
    mem_free(crew.polls);
    return error;
}
