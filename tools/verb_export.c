/* windtunnel export: a record in the form of another program. */
#include "base/time.h"
#include "reports/export/export.h"
#include "tools/verbs.h"

/* A duration such as "36h". */
static struct error read_moment(const struct args *args, const char *name, time_ns otherwise, time_ns *out)
{
    const char *text = args_string(args, name);
    *out = otherwise;
    if (text == NULL || time_parse_duration(text_of(text), out))
        return ERROR_OK;
    return error_new(ERROR_USAGE, "--%s must be a simulated time such as 36h or 5400, not '%s'", name, text);
}

static struct error read_epoch(const struct args *args, time_ns *out)
{
    const char *text = args_string(args, "epoch");
    *out = 0;
    if (text == NULL || (time_parse_date(text_of(text), out) && *out >= 0))
        return ERROR_OK;
    return error_new(ERROR_USAGE, "--epoch must be a date in UTC such as 2026-01-31 or 2026-01-31T08:00:00, not '%s'",
                     text);
}

static struct error export_as_told(const struct args *args)
{
    const char *format = args_string(args, "to");
    struct export_request request = {.record = args_operand(args, 0),
                                     .out = args_string(args, "out"),
                                     .node = args_string(args, "node"),
                                     .job = args_string(args, "job"),
                                     .quotes_formulas = args_flag(args, "quote-formulas")};
    if (format == NULL)
        return error_new(ERROR_USAGE, "say with --to what to export to: see 'windtunnel export --help'");
    TRY(read_moment(args, "from", 0, &request.from));
    TRY(read_moment(args, "until", TIME_NEVER, &request.until));
    TRY(read_epoch(args, &request.epoch));
    return export_record(format, &request);
}

int verb_export(const struct args *args)
{
    struct error error = export_as_told(args);
    return error_is(error) ? tool_fail(&error) : 0;
}
