#include "reports/figure_files.h"

#include <string.h>

#include "base/output.h"

struct error figure_files_find(const char *name, const struct run_figure **figure)
{
    struct buffer names = {0};
    for (const struct run_figure *one = run_figures; one->name != NULL; one++) {
        if (strcmp(one->name, name) == 0) {
            buffer_release(&names);
            *figure = one;
            return ERROR_OK;
        }
        buffer_format(&names, "%s%s", names.length > 0 ? ", " : "", one->name);
    }
    struct error error = error_new(ERROR_USAGE, "there is no figure '%s'", name);
    error_set_hint(&error, "figures: %s", buffer_c_string(&names));
    buffer_release(&names);
    return error;
}

static struct error draw(const struct show *show, const struct run_figure *figure, enum plot_form form,
                         const char *path, struct output **output)
{
    if (path == NULL)
        return ERROR_OK;
    TRY(output_open(output, path, OUTPUT_PLAIN));
    TRY(show_figure_print(show, figure->id, form, NULL, output_buffer(*output)));
    return output_seal(*output);
}

struct error figure_files_write(const struct show *show, const struct run_figure *figure, const char *svg_path,
                                const char *pdf_path)
{
    struct output *svg = NULL, *pdf = NULL;
    struct error error = draw(show, figure, PLOT_FORM_SVG, svg_path, &svg);
    if (!error_is(error))
        error = draw(show, figure, PLOT_FORM_PDF, pdf_path, &pdf);
    if (!error_is(error) && svg != NULL)
        error = output_commit(&svg);
    if (!error_is(error) && pdf != NULL)
        error = output_commit(&pdf);
    output_discard(&svg);
    output_discard(&pdf);
    return error;
}
