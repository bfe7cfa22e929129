#include "reports/validation_show.h"

#include <string.h>

#include "reports/view.h"

#define US_PER_H 3.6e9

enum { JOB_WIDTH_MAX = 24 };

static double share_of(int64_t part_us, const struct validation *validation)
{
    return validation->gpu_us > 0 ? (double)part_us / (double)validation->gpu_us : 0;
}

void validation_brief(const struct validation *validation, struct buffer *out)
{
    view_words(out, "%g of %g jobs that communicate, %e of their GPU hours", (double)validation->outside_jobs,
               (double)validation->jobs, share_of(validation->outside_gpu_us, validation));
}

/* A value on an axis: "1,024", "70 billion", "102 MB". */
static void put_value(struct buffer *out, const char *axis, double value)
{
    if (strcmp(axis, "parameters") == 0)
        buffer_format(out, "%.3g billion", value / 1e9);
    else if (strcmp(axis, "bytes") == 0 && value >= 1e9)
        buffer_format(out, "%.3g GB", value / 1e9);
    else if (strcmp(axis, "bytes") == 0)
        buffer_format(out, "%.3g MB", value / 1e6);
    else
        view_count(out, value);
}

void validation_far(const struct validation_reason *reason, struct buffer *out)
{
    if (reason->what[0] != '\0') {
        buffer_format(out, "no row of %s", reason->what);
        return;
    }
    const char *unit = strcmp(reason->axis, "sequence") == 0 ? "tokens" : reason->axis;
    buffer_string(out, reason->asked > reason->measured ? "up to " : "down to ");
    put_value(out, reason->axis, reason->asked);
    if (strcmp(reason->axis, "bytes") != 0)
        buffer_format(out, " %s", unit);
    buffer_string(out, ", ");
    put_value(out, reason->axis, reason->measured);
    buffer_string(out, " measured");
}

void validation_lead(struct show *show, const struct validation *validation)
{
    if (validation->outside_jobs == 0)
        return;
    struct buffer *out = show_line(show, SHOW_LEAD);
    buffer_string(out, "communication outside of what was measured: ");
    validation_brief(validation, out);
}

void validation_show(struct show *show, const struct validation *validation)
{
    if (validation->outside_jobs == 0)
        return;
    show_section(show, "Communication outside of what was measured");
    show_table(show, "by", "jobs", "GPU h", "share", "<asked, by the farthest job", "<that job", NULL);
    for (uint32_t r = 0; r < validation->reason_count; r++) {
        const struct validation_reason *reason = &validation->reasons[r];
        show_row(show, reason->axis);
        show_value(show, view_count, (double)reason->jobs);
        show_value(show, view_amount, (double)reason->gpu_us / US_PER_H);
        show_value(show, view_percent, share_of(reason->gpu_us, validation));
        validation_far(reason, show_cell(show));
        view_name(show_cell(show), reason->job, JOB_WIDTH_MAX);
    }
    buffer_string(show_line(show, SHOW_NOTE),
                  "Speeds there follow the model, but nobody measured such a case: `windtunnel validate-model` prints "
                  "what was. Share: of the GPU hours of all jobs that communicate.");
}
