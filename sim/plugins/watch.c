#include "sim/plugins/watch.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/plugins/guard.h"

enum { TICK_MS = 100, STACK_BYTES = 64 << 10, MS_PER_S = 1000 };

static const struct crash {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV (a bad address)"},
               {SIGBUS, "SIGBUS (a bad address)"},
               {SIGFPE, "SIGFPE (a division by zero or an overflow of one)"},
               {SIGILL, "SIGILL (no instruction)"},
               {SIGABRT, "SIGABRT (it gave up)"}};
enum { CRASH_COUNT = sizeof crashes / sizeof crashes[0] };

static bool is_watching, has_exit_handler;
static volatile uint32_t ticks_max, allowed_s;
static struct sigaction before[CRASH_COUNT], before_tick;
static stack_t stack_before;
static char stack[STACK_BYTES]; /* for signal handlers: a plug-in may have exhausted the usual stack */

/* ---- In a signal handler: nothing but write ---- */

struct line {
    char text[2048];
    size_t length;
};

static void add(struct line *line, const char *text)
{
    for (; *text != '\0' && line->length < sizeof line->text; text++)
        line->text[line->length++] = *text;
}

static void add_number(struct line *line, uint32_t number)
{
    char digits[12];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add(line, digits + at);
}

static noreturn void end_now(int status)
{
    while (true)
        syscall(SYS_exit_group, status);
}

static void say(const struct line *line)
{
    for (size_t at = 0; at < line->length;) {
        ssize_t count = write(STDERR_FILENO, line->text + at, line->length - at);
        if (count <= 0)
            return;
        at += (size_t)count;
    }
}

/* Name all loaded plug-ins: one that wrote to a wrong address may crash other code. */
static void add_loaded(struct line *line)
{
    const char *between = "";
    for (uint32_t s = 0; s < PLUGINS_MAX; s++) {
        const struct guard_slot *slot = guard_slot_at(s);
        if (slot->users == 0)
            continue;
        add(line, between);
        add(line, slot->label);
        between = ", ";
    }
}

static void on_crash(int number)
{
    const struct guard_frame *frame = guard_innermost();
    struct line line = {.length = 0};
    const char *name = "a signal";
    size_t which = 0;
    for (size_t c = 0; c < CRASH_COUNT; c++)
        if (crashes[c].number == number) {
            name = crashes[c].name;
            which = c;
        }
    add(&line, "error: ");
    if (frame != NULL) {
        add(&line, frame->slot->label);
        add(&line, " crashed ");
        add(&line, frame->doing);
        add(&line, ": ");
        add(&line, name);
    } else {
        add(&line, name);
        add(&line, " outside of any plug-in's code; loaded is ");
        add_loaded(&line);
    }
    add(&line, "\n  no output was written\n");
    say(&line);
    sigaction(number, &before[which], NULL);
    raise(number); /* delivered when this returns */
}

static void on_tick(int number)
{
    const struct guard_frame *frame = guard_innermost();
    (void)number;
    if (guard_tick() < ticks_max)
        return;
    struct line line = {.length = 0};
    add(&line, "error: ");
    if (frame != NULL) {
        add(&line, frame->slot->label);
        add(&line, " was still ");
        add(&line, frame->doing);
    } else {
        add(&line, "the scheduler was still busy, with ");
        add_loaded(&line);
        add(&line, ",");
    }
    add(&line, " after ");
    add_number(&line, allowed_s);
    add(&line, " s of CPU time without a finished cycle\n"
               "  no output was written; --plugin-timeout SECONDS allows more\n");
    say(&line);
    end_now(error_exit_status(ERROR_CONFIG));
}

/* ---- The program is ended by a plug-in ---- */

static noreturn void refuse_end(void)
{
    const struct guard_frame *frame = guard_innermost();
    struct line line = {.length = 0};
    add(&line, "error: ");
    if (frame != NULL) {
        add(&line, frame->slot->label);
        add(&line, " ended the program ");
        add(&line, frame->doing);
    } else {
        add(&line, "the program was ended, with ");
        add_loaded(&line);
        add(&line, ", before the command was done");
    }
    add(&line, "\n  no output was written\n");
    say(&line);
    end_now(error_exit_status(ERROR_INTERNAL));
}

static void on_exit_called(void)
{
    if (is_watching)
        refuse_end();
}

/* Does the address lie in the program itself, and not in an object that it loaded? */
static bool is_own_code(const void *address)
{
    Dl_info caller, own;
    return dladdr(address, &caller) == 0 || dladdr((const void *)&is_watching, &own) == 0 ||
           caller.dli_fbase == own.dli_fbase;
}

static noreturn void end_asked(int status, const void *caller)
{
    if (is_watching && !is_own_code(caller))
        refuse_end();
    end_now(status);
}

/* These stand before those of the C library, for the program and for all that it loads.  One function with three names:
 * of equal functions the optimizer lets one call the other, and then the caller is the program itself. */
noreturn void _exit(int status)
{
    end_asked(status, __builtin_return_address(0));
}

noreturn void _Exit(int status) __attribute__((alias("_exit")));
noreturn void quick_exit(int status) __attribute__((alias("_exit")));

/* ---- Installing ---- */

static void set_timer(int ms)
{
    struct timeval interval = {.tv_sec = ms / MS_PER_S, .tv_usec = (ms % MS_PER_S) * 1000L};
    struct itimerval timer = {.it_interval = interval, .it_value = interval};
    setitimer(ITIMER_PROF, &timer, NULL);
}

void watch_begin(int cpu_s)
{
    allowed_s = (uint32_t)cpu_s;
    ticks_max = (uint32_t)cpu_s * MS_PER_S / TICK_MS;
    if (is_watching)
        return;
    if (!has_exit_handler)
        atexit(on_exit_called);
    is_watching = has_exit_handler = true;
    stack_t own_stack = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own_stack, &stack_before);
    struct sigaction action = {.sa_flags = SA_ONSTACK};
    action.sa_handler = on_crash;
    sigemptyset(&action.sa_mask);
    for (size_t c = 0; c < CRASH_COUNT; c++)
        sigaction(crashes[c].number, &action, &before[c]);
    action.sa_handler = on_tick;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGPROF, &action, &before_tick);
    set_timer(TICK_MS);
}

void watch_end(void)
{
    if (!is_watching)
        return;
    is_watching = false;
    set_timer(0);
    sigaction(SIGPROF, &before_tick, NULL);
    for (size_t c = 0; c < CRASH_COUNT; c++)
        sigaction(crashes[c].number, &before[c], NULL);
    sigaltstack(&stack_before, NULL);
}
