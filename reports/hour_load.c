#include "reports/hour_load.h"

#include "base/mem.h"
#include "workloads/job.h"

enum { HOURS_MAX = 1 << 20 };

__extension__ typedef __int128 gpu_milli_ns;

static struct hour_load_hour *hour_at(struct hour_load *load, size_t hour)
{
    MEM_GROW(load->hours, load->capacity, hour + 1);
    while (load->count <= hour)
        load->hours[load->count++] = (struct hour_load_hour){0};
    return &load->hours[hour];
}

/* Full hours between the first and the last are noted at both ends, so that a job costs the same however long it is. */
void hour_load_add(struct hour_load *load, time_ns start, time_ns duration, int64_t gpu_milli)
{
    const time_ns latest = HOURS_MAX * HOUR_LOAD_NS - 1;
    time_ns end;
    if (start < 0 || start >= latest)
        return;
    if (__builtin_add_overflow(start, duration, &end) || end > latest)
        end = latest;
    if (gpu_milli == 0 || end <= start)
        return;
    const size_t first = (size_t)(start / HOUR_LOAD_NS), last = (size_t)(end / HOUR_LOAD_NS);
    const time_ns in_first = last > first ? (time_ns)(first + 1) * HOUR_LOAD_NS - start : end - start;
    hour_at(load, last);
    hour_at(load, first)->part_milli_ns += (gpu_milli_ns)gpu_milli * in_first;
    if (last == first)
        return;
    hour_at(load, last)->part_milli_ns += (gpu_milli_ns)gpu_milli * (end - (time_ns)last * HOUR_LOAD_NS);
    hour_at(load, first + 1)->change_milli += gpu_milli;
    hour_at(load, last)->change_milli -= gpu_milli;
}

static void walk_enter(struct hour_load_walk *walk)
{
    if (walk->hour >= walk->load->count) {
        walk->hour_gpu_s = 0;
        return;
    }
    const struct hour_load_hour *hour = &walk->load->hours[walk->hour];
    walk->full_milli += hour->change_milli;
    walk->hour_gpu_s =
        (double)(hour->part_milli_ns + (gpu_milli_ns)walk->full_milli * HOUR_LOAD_NS) / (GPU_MILLI * 1e9);
}

struct hour_load_walk hour_load_begin(const struct hour_load *load)
{
    struct hour_load_walk walk = {.load = load};
    walk_enter(&walk);
    return walk;
}

double hour_load_to(struct hour_load_walk *walk, time_ns time)
{
    while ((time_ns)(walk->hour + 1) * HOUR_LOAD_NS <= time && walk->hour < walk->load->count) {
        walk->gpu_s += walk->hour_gpu_s;
        walk->hour++;
        walk_enter(walk);
    }
    const double part = (double)(time - (time_ns)walk->hour * HOUR_LOAD_NS) / (double)HOUR_LOAD_NS;
    return walk->gpu_s + (walk->hour < walk->load->count ? part * walk->hour_gpu_s : 0);
}

void hour_load_release(struct hour_load *load)
{
    mem_free(load->hours);
    *load = (struct hour_load){0};
}
