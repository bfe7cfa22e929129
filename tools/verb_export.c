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

static int run_export(const struct args *args)
{
    struct error error = export_as_told(args);
    return error_is(error) ? tool_fail(&error) : 0;
}

static const struct args_option options[] = {
    {.name = "to",
     .metavar = "FORMAT",
     .help = "sqlite: a database with a view per question. perfetto: a trace of GPUs by node, for ui.perfetto.dev. "
             "openmetrics: series for Prometheus. batsim: jobs.csv, as evalys reads it. csv: plain files."},
    {.name = "out",
     .metavar = "FILE|DIR",
     .help = "The file to write; for csv, the folder. Without it text goes to standard output."},
    {.name = "from", .metavar = "TIME", .help = "perfetto: leave out what ended before this simulated time."},
    {.name = "until", .metavar = "TIME", .help = "perfetto: leave out what began at this simulated time or later."},
    {.name = "node", .metavar = "NAME", .help = "perfetto: this node alone."},
    {.name = "job", .metavar = "NAME", .help = "perfetto: this job alone."},
    {.name = "quote-formulas",
     .help = "csv: put an apostrophe before a text that a spreadsheet would take for a formula (it begins with "
             "=, +, -, @, a tab or a carriage return)."},
    {.name = "epoch",
     .metavar = "DATE",
     .help = "openmetrics: the date of simulated time 0, in UTC. Without it, 1970-01-01."},
    {0},
};

static const struct args_example examples[] = {
    {"windtunnel export out/run --to sqlite --out run.db",
     "Then, for example, sqlite3 run.db 'SELECT * FROM top_queues'."},
    {"windtunnel export out/run --to perfetto --from 36h --until 48h --out trace.json",
     "Half a day of all GPUs; open it in ui.perfetto.dev."},
    {0},
};

const struct args_verb verb_export = {
    .name = "export",
    .summary = "the record of a run for other programs",
    .synopsis = "DIR --to FORMAT [OPTION]...",
    .description = (const char *const[]){"Writes the record in the form of another program: SQLite, Perfetto, "
                                         "Prometheus (OpenMetrics), Batsim's jobs.csv, or plain CSV. Files appear "
                                         "whole or not at all.",
                                         NULL},
    .options = options,
    .examples = examples,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_export,
};
