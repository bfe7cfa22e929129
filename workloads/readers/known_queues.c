#include "workloads/readers/known_queues.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "workloads/job.h"

static const char unnamed[] = "default"; /* reader_queue gives it to jobs that name no queue */

bool known_queues_is_default(const struct queue_table *queues, queue_id queue)
{
    return strcmp(queues->queues[queue].name, unnamed) == 0;
}

enum { QUEUES_NAMED = 8, NAME_BYTES = 80 };

/* "a, b, c and 5 more" */
static void list(const struct queue_table *queues, struct buffer *out)
{
    for (queue_id q = 1; q < queues->declared_count && q <= QUEUES_NAMED; q++)
        buffer_format(out, "%s%s", q > 1 ? ", " : "", queues->queues[q].name);
    if (queues->declared_count > QUEUES_NAMED + 1)
        buffer_format(out, " and %u more", queues->declared_count - QUEUES_NAMED - 1);
}

static const char *nearest(const struct queue_table *queues, const char *name)
{
    const char **names = mem_zalloc(queues->declared_count, sizeof *names);
    for (queue_id q = 1; q < queues->declared_count; q++)
        names[q - 1] = queues->queues[q].name;
    const char *near = text_nearest(text_of(name), names);
    mem_free(names);
    return near;
}

struct error known_queues_error(const struct queue_table *queues, queue_id queue, const char *who, const char *path,
                                uint64_t line)
{
    const char *name = queues->queues[queue].name;
    const char *near = nearest(queues, name);
    struct buffer known = {0};
    list(queues, &known);
    const char *what = known_queues_is_default(queues, queue) ? "names no queue (which means" : "is in the queue";
    const char *end = known_queues_is_default(queues, queue) ? ")" : "";
    struct error error =
        path != NULL
            ? error_at(ERROR_DATA, path, line, 0, "%s %s '%s'%s, and the scenario does not declare it", who, what, name,
                       end)
            : error_new(ERROR_CONFIG, "%s %s '%s'%s, and the scenario does not declare it", who, what, name, end);
    if (near != NULL)
        error_set_hint(&error, "did you mean '%s'?  Its queues are: %s", near, buffer_c_string(&known));
    else
        error_set_hint(&error, "its queues are: %s.  %s", buffer_c_string(&known),
                       path != NULL ? "'workload.tenants' gives the queues of a trace other names"
                                    : "\"queue\" names the queue of a class");
    buffer_release(&known);
    return error;
}

struct error known_queues_job_error(const struct queue_table *queues, const struct job *job, const char *path,
                                    uint64_t line)
{
    char who[NAME_BYTES];
    if (job->name != NULL)
        snprintf(who, sizeof who, "job '%.60s'", job->name);
    else
        snprintf(who, sizeof who, "job '%lld'", (long long)job->trace_id);
    return known_queues_error(queues, job->queue, who, path, line);
}
