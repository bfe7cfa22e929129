/* reports/export/export_formats.c -- the formats that there are, and the checks that all of them share. */
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "reports/export/export.h"
#include "reports/result.h"

const struct export_format *const export_formats[] = {
    &export_sqlite, &export_perfetto, &export_openmetrics, &export_batsim, &export_csv, NULL,
};

enum { FORMATS_MAX = sizeof export_formats / sizeof export_formats[0] };

static struct error find_format(const char *name, const struct export_format **out)
{
    const char *names[FORMATS_MAX];
    struct buffer list = {0};
    size_t count = 0;
    for (; export_formats[count] != NULL; count++) {
        *out = export_formats[count];
        names[count] = (*out)->name;
        if (strcmp(name, (*out)->name) == 0) {
            buffer_release(&list);
            return ERROR_OK;
        }
        buffer_format(&list, "%s%s", count > 0 ? ", " : "", (*out)->name);
    }
    names[count] = NULL;
    struct error error = error_new(ERROR_USAGE, "there is no format '%s' to export to", name);
    if (!error_hint_nearest(&error, text_of(name), names))
        error_set_hint(&error, "there are %s", buffer_c_string(&list));
    buffer_release(&list);
    return error;
}

static struct error check_request(const struct export_format *format, const struct export_request *request)
{
    const bool is_cut =
        request->from != 0 || request->until != TIME_NEVER || request->node != NULL || request->job != NULL;
    if (is_cut && !format->has_cut)
        return error_new(ERROR_USAGE, "%s takes the whole record, without --from, --until, --node and --job",
                         format->name);
    if (request->epoch != 0 && !format->has_epoch)
        return error_new(ERROR_USAGE, "%s has no dates, so it takes no --epoch", format->name);
    if (request->quotes_formulas && !format->has_formulas)
        return error_new(ERROR_USAGE, "%s is not for spreadsheets, so it takes no --quote-formulas", format->name);
    if (request->from >= request->until)
        return error_new(ERROR_USAGE, "--from must be before --until");
    if (request->out == NULL && format->target != EXPORT_TEXT)
        return error_new(ERROR_USAGE, "%s needs --out %s", format->name,
                         format->target == EXPORT_FOLDER ? "DIR" : "FILE");
    return ERROR_OK;
}

/* A record has a result.json, even one that ended early. */
static struct error check_record(const char *folder)
{
    struct buffer path = {0};
    struct stat facts;
    buffer_format(&path, "%s/" RESULT_FILE, folder);
    const bool is_folder = stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode);
    const bool has_result = stat(buffer_c_string(&path), &facts) == 0;
    buffer_release(&path);
    if (is_folder && has_result)
        return ERROR_OK;
    struct error error = is_folder ? error_new(ERROR_IO, "%s is no record: it has no " RESULT_FILE, folder)
                                   : error_new(ERROR_IO, "%s is no record: it is not a folder", folder);
    error_set_hint(&error, "'windtunnel run SCENARIO --out DIR' writes a record into DIR");
    return error;
}

struct error export_record(const char *name, const struct export_request *request)
{
    const struct export_format *format;
    TRY(find_format(name, &format));
    TRY(check_request(format, request));
    TRY(check_record(request->record));
    return format->write(request);
}
