#include "tools/sweep_options.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"

enum { WORKERS_MAX = 1024, FAILURES_SHOWN = 10, SHARES_MAX = 1000000 };

/* ---- options ---- */

/* "2G": 2^30 bytes each */
static bool parse_bytes(struct text text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    int64_t number;
    unsigned shift = 0;
    const char *unit = text.length > 0 ? strchr(units, toupper((unsigned char)text.at[text.length - 1])) : NULL;
    if (unit != NULL && *unit != '\0') {
        shift = 10 * (unsigned)(unit - units + 1);
        text.length--;
    }
    if (!text_to_int64(text, 1, INT64_MAX >> shift, &number))
        return false;
    *bytes = (uint64_t)number << shift;
    return true;
}

struct error sweep_read_work_options(const struct args *args, int64_t workers_default, struct sweep_work_options *out)
{
    const char *timeout = args_string(args, "timeout"), *memory = args_string(args, "memory");
    int64_t workers;
    out->version = WINDTUNNEL_VERSION;
    out->paths_folder = args_string(args, "paths");
    out->retries = args_flag(args, "retry");
    TRY(args_int64(args, "jobs", 1, WORKERS_MAX, workers_default, &workers));
    out->worker_count = (size_t)workers;
    if (timeout != NULL && (!time_parse_duration(text_of(timeout), &out->timeout_ns) || out->timeout_ns <= 0))
        return error_new(ERROR_USAGE, "'--timeout' must be a time above 0 such as 90s or 10m, got '%s'", timeout);
    if (memory != NULL && !parse_bytes(text_of(memory), &out->memory_bytes))
        return error_new(ERROR_USAGE, "'--memory' must be a number of bytes such as 500M or 2G, got '%s'", memory);
    return ERROR_OK;
}

/* ---- shares ---- */

static struct error bad_share(const char *what, const char *value)
{
    struct error error = error_new(ERROR_USAGE, "%s, got '%s'", what, value);
    error_set_hint(&error, "write --shard 3/8 for the third of 8 shares");
    return error;
}

static struct error read_share(const char *value, size_t *index, size_t *count)
{
    struct text rest = text_of(value), piece = TEXT("");
    int64_t number = 0, of = 0;
    text_cut(&rest, '/', &piece);
    if (rest.at == NULL || !text_to_int64(rest, 1, SHARES_MAX, &of) || !text_to_int64(piece, 1, of, &number))
        return bad_share("'--shard' must be I/N with I from 1 to N", value);
    *index = (size_t)number - 1;
    *count = (size_t)of;
    return ERROR_OK;
}

static bool read_number(const char *name, int64_t *number)
{
    const char *value = getenv(name);
    return value != NULL && text_to_int64(text_of(value), 0, INT32_MAX, number);
}

struct error sweep_read_share(const struct args *args, size_t *index, size_t *count)
{
    const char *shard = args_string(args, "shard");
    int64_t shares, task = 0, first = 0, tasks = 0;
    TRY(args_int64(args, "shards", 1, SHARES_MAX, 0, &shares));
    if (shard != NULL && shares != 0)
        return error_new(ERROR_USAGE, "'--shard' and '--shards' exclude each other");
    if (shard != NULL)
        return read_share(shard, index, count);
    const bool is_slurm = read_number("SLURM_ARRAY_TASK_ID", &task);
    if (!is_slurm && !read_number("JOB_COMPLETION_INDEX", &task)) {
        struct error error =
            error_new(ERROR_USAGE, "which share of the runs? There is no '--shard', and no array of jobs");
        error_set_hint(&error, "write --shard I/N; or --shards N in a Slurm array or an indexed job of Kubernetes");
        return error;
    }
    if (shares == 0 && is_slurm && read_number("SLURM_ARRAY_TASK_COUNT", &tasks) &&
        read_number("SLURM_ARRAY_TASK_MIN", &first)) {
        shares = tasks;
        task -= first;
    }
    if (task < 0 || task >= shares)
        return error_new(ERROR_USAGE, "the array has the task %lld, and '--shards' says %lld", (long long)task,
                         (long long)shares);
    *index = (size_t)task;
    *count = (size_t)shares;
    return ERROR_OK;
}

/* ---- what is shown ---- */

void sweep_show_counts(const struct sweep_plan *plan, const struct sweep_books *books, struct buffer *out)
{
    const char *between = "";
    buffer_format(out, "%zu runs of %zu combinations: ", plan->run_count, plan->combination_count);
    for (int s = 0; s < RUN_STATES; s++)
        if (books->counts[s] > 0) {
            buffer_format(out, "%s%zu %s", between, books->counts[s], run_state_names[s]);
            between = ", ";
        }
    buffer_char(out, '\n');
}

void sweep_show_failures(const struct sweep_plan *plan, const struct sweep_books *books, const char *before,
                         bool is_all, struct buffer *out)
{
    size_t shown = 0, failed = 0;
    for (size_t r = 0; r < plan->run_count; r++) {
        const struct sweep_entry *entry = &books->entries[r];
        if (entry->failure == NULL)
            continue;
        failed++;
        if (shown >= FAILURES_SHOWN && !is_all)
            continue;
        shown++;
        buffer_format(out, "%s%s: run %zu (", before, run_state_names[entry->state], r);
        sweep_plan_name(plan, plan->runs[r].combination, out);
        buffer_format(out, ", seed %llu): %s\n", (unsigned long long)plan->runs[r].seed, entry->failure);
    }
    if (failed > shown)
        buffer_format(out, "%sand %zu more failed\n", before, failed - shown);
}
