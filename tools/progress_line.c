#include "tools/progress_line.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define REFRESH_S 0.2

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void progress_line_begin(struct progress_line *progress, bool is_wanted)
{
    *progress = (struct progress_line){.started_s = wall_s(), .is_on = is_wanted && isatty(STDERR_FILENO)};
}

double progress_line_elapsed_s(const struct progress_line *progress)
{
    return wall_s() - progress->started_s;
}

/* The part of the run that is done; 0: not known. */
static double done_ratio(const struct engine_progress *state)
{
    if (state->end != TIME_NEVER && state->end > 0)
        return (double)state->now / (double)state->end;
    return state->total_jobs > 0 ? (double)state->finished / (double)state->total_jobs : 0;
}

void progress_line_show(void *self, const struct engine_progress *state)
{
    struct progress_line *progress = self;
    double now = wall_s(), elapsed = now - progress->started_s, done = done_ratio(state);
    if (!progress->is_on || now - progress->shown_s < REFRESH_S)
        return;
    progress->shown_s = now;
    progress->is_shown = true;
    fprintf(stderr, "\r\033[K%8.1f days simulated  %10llu jobs  %7.0f thousand jobs/s",
            time_to_seconds(state->now) / 86400, (unsigned long long)state->submitted,
            elapsed > 0 ? (double)state->submitted / elapsed / 1e3 : 0);
    if (done > 0.01)
        fprintf(stderr, "  %5.1f %%  %4.0f s left", done * 100, elapsed * (1 - done) / done);
    fflush(stderr);
}

void progress_line_show_runs(struct progress_line *progress, size_t done, size_t total)
{
    const double now = wall_s();
    if (progress->runs_started_s == 0 || done < progress->runs_done)
        progress->runs_started_s = now;
    progress->runs_done = done;
    if (!progress->is_on || now - progress->shown_s < REFRESH_S)
        return;
    progress->shown_s = now;
    progress->is_shown = true;
    fprintf(stderr, "\r\033[K%zu of %zu runs", done, total);
    if (done > 0)
        fprintf(stderr, "  %.0f s left", (now - progress->runs_started_s) * (double)(total - done) / (double)done);
    fflush(stderr);
}

static void show_rows(void *self, uint64_t rows, double done_ratio)
{
    struct progress_line *progress = self;
    const double now = wall_s();
    if (now - progress->shown_s < REFRESH_S || now - progress->started_s < REFRESH_S)
        return;
    progress->shown_s = now;
    progress->is_shown = true;
    fprintf(stderr, "\r\033[K%.1f million rows read", (double)rows / 1e6);
    if (done_ratio > 0)
        fprintf(stderr, "  %.0f %%", done_ratio * 100);
    fflush(stderr);
}

struct reading_listener progress_line_reading(struct progress_line *progress)
{
    return (struct reading_listener){progress, progress->is_on ? show_rows : NULL};
}

void progress_line_end(struct progress_line *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
