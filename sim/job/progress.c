#include "sim/job/progress.h"

struct progress progress_new(time_ns duration, uint32_t members, uint32_t one)
{
    return (struct progress){.duration = duration, .members = members, .one = one, .frozen_at = TIME_NEVER};
}

/* Units of work in a nanosecond of reference work. */
static int64_t units(const struct progress *progress)
{
    return (int64_t)progress->members * progress->one;
}

static wide_ns total(const struct progress *progress)
{
    return (wide_ns)progress->duration * units(progress);
}

static time_ns later(time_ns a, time_ns b)
{
    return a > b ? a : b;
}

/* a / b, rounded down; avoids the wide division in the common case. */
static wide_ns quotient(wide_ns a, int64_t b)
{
    if (b == 1)
        return a;
    return a <= INT64_MAX ? (wide_ns)((uint64_t)a / (uint64_t)b) : a / b;
}

void progress_begin(struct progress *progress, time_ns now, time_ns restart, int64_t speed)
{
    progress->work = progress->saved;
    progress->since = now;
    progress->works_from = now + restart;
    progress->frozen_at = TIME_NEVER;
    progress->speed = speed;
}

void progress_turn(struct progress *progress, time_ns now, int64_t speed)
{
    bool is_frozen = progress_is_frozen(progress);
    time_ns stopped = is_frozen ? progress->frozen_at : now;
    progress->work = progress_work_at(progress, now);
    progress->works_from = now + later(0, progress->works_from - stopped);
    progress->since = now;
    progress->speed = speed;
    if (is_frozen)
        progress->frozen_at = now;
}

void progress_freeze(struct progress *progress, time_ns now)
{
    progress->frozen_at = now;
}

void progress_thaw(struct progress *progress)
{
    progress->frozen_at = TIME_NEVER;
}

void progress_stop(struct progress *progress, wide_ns kept)
{
    progress->work = progress->saved = kept;
    progress->speed = 0;
    progress->works_from = progress->since;
    progress->frozen_at = TIME_NEVER;
}

wide_ns progress_work_at(const struct progress *progress, time_ns at)
{
    time_ns stopped = progress->frozen_at < at ? progress->frozen_at : at;
    if (stopped <= progress->works_from)
        return progress->work;
    wide_ns work = progress->work + (wide_ns)(stopped - progress->works_from) * progress->speed;
    return work < total(progress) ? work : total(progress);
}

time_ns progress_end(const struct progress *progress)
{
    if (progress->speed == 0 || progress_is_frozen(progress))
        return TIME_NEVER;
    const bool is_whole = progress->work == 0 && progress->speed == units(progress);
    wide_ns left = is_whole ? progress->duration
                            : quotient(total(progress) - progress->work + progress->speed - 1, progress->speed);
    return left < TIME_NEVER - progress->works_from ? progress->works_from + (time_ns)left : TIME_NEVER;
}

time_ns progress_reaches(const struct progress *progress, wide_ns work)
{
    if (progress->speed == 0 || progress_is_frozen(progress))
        return TIME_NEVER;
    const wide_ns left =
        work > progress->work ? quotient(work - progress->work + progress->speed - 1, progress->speed) : 0;
    return left < TIME_NEVER - progress->works_from ? progress->works_from + (time_ns)left : TIME_NEVER;
}

bool progress_is_done(const struct progress *progress, wide_ns work)
{
    return work == total(progress);
}

time_ns progress_reference(const struct progress *progress, wide_ns work)
{
    return work == total(progress) ? progress->duration : (time_ns)quotient(work, units(progress));
}

wide_ns progress_kept(const struct progress *progress, time_ns at, time_ns interval)
{
    if (interval == 0)
        return progress->saved;
    time_ns reference = progress_reference(progress, progress_work_at(progress, at));
    wide_ns kept = (wide_ns)(reference / interval * interval) * units(progress);
    return kept > progress->saved ? kept : progress->saved;
}

time_ns progress_overhead(const struct progress *progress, time_ns at)
{
    time_ns stopped = progress->frozen_at < at ? progress->frozen_at : at;
    time_ns ran = stopped - progress->since, restart = progress->works_from - progress->since;
    return (ran < restart ? ran : restart) + at - stopped;
}
