#include "workloads/readers/date_column.h"

#include "base/input.h"

/* Of the rows that are left.  A second order ends the search: both are told. */
static struct error search(struct input *input, struct csv *csv, uint32_t column, enum date_order *order)
{
    struct line line = {.input = input};
    bool has;
    while (true) {
        TRY(input_line(input, &line.text, &has));
        if (!has)
            return ERROR_OK;
        struct error error = csv_row(csv, &line);
        const bool is_row = !error_is(error);
        error_release(&error);
        const enum date_order told = is_row ? date_order_of(csv->fields[column].value) : DATE_ORDER_UNKNOWN;
        if (told == DATE_ORDER_UNKNOWN)
            continue;
        if (*order != DATE_ORDER_UNKNOWN && *order != told) {
            *order = DATE_ORDER_UNKNOWN;
            return ERROR_OK;
        }
        *order = told;
    }
}

struct error date_column_order(const char *path, const struct csv *like, const char *names, uint32_t column,
                               enum date_order *order)
{
    struct input *input;
    struct csv csv;
    struct line header = {.text = text_of(names != NULL ? names : "")};
    bool has = true;
    *order = DATE_ORDER_UNKNOWN;
    TRY(input_open(&input, path, NULL));
    csv_init(&csv, like->columns, like->column_count);
    csv.separator = like->separator;
    csv.has_quotes = like->has_quotes;
    csv.texts = like->texts;
    header.input = input;
    struct error error = ERROR_OK;
    while (names == NULL && has && !error_is(error)) {
        error = input_line(input, &header.text, &has);
        if (text_trim(header.text).length > 0)
            break;
    }
    if (!error_is(error))
        error = csv_header(&csv, &header);
    if (!error_is(error)) {
        csv.required_count = 0;
        error = search(input, &csv, column, order);
    }
    csv_release(&csv);
    input_close(input);
    return error;
}
