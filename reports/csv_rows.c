/* reports/csv_rows.c -- splitting lines into fields, and fields into values. */
#include "reports/csv_rows.h"

#include <assert.h>
#include <string.h>

#include "base/buffer.h"
#include "base/input.h"
#include "base/mem.h"

enum { NOT_WANTED = CSV_COLUMNS_MAX };

struct field {
    struct text raw;   /* as in the line */
    struct text value; /* without quotes; in the line or in `unquoted` */
};

struct csv_rows {
    struct input *input;
    struct error error; /* sticky */
    struct text wanted[CSV_COLUMNS_MAX];
    unsigned wanted_count;
    unsigned wanted_of[CSV_COLUMNS_MAX]; /* by position in the file; NOT_WANTED: skip */
    unsigned column_count;               /* in the file */
    struct text line;
    struct buffer joined;   /* a row with a quoted field that holds line ends */
    struct buffer unquoted; /* values of fields with doubled quotes */
    struct field fields[CSV_COLUMNS_MAX];
};

static void set_error(struct csv_rows *rows, struct error error)
{
    if (error_is(rows->error))
        error_release(&error);
    else
        rows->error = error;
}

/* ---- lines and fields ---- */

static bool has_open_quote(struct text text)
{
    bool is_open = false;
    for (size_t i = 0; i < text.length; i++)
        is_open ^= text.at[i] == '"';
    return is_open;
}

static bool next_line(struct csv_rows *rows, struct text *line)
{
    bool has = false;
    set_error(rows, input_line(rows->input, line, &has));
    return has && !error_is(rows->error);
}

/* Read the next line; more lines if a quoted field goes on. */
static bool next_record(struct csv_rows *rows)
{
    if (error_is(rows->error) || !next_line(rows, &rows->line))
        return false;
    if (memchr(rows->line.at, '"', rows->line.length) == NULL || !has_open_quote(rows->line))
        return true;
    rows->joined.length = 0;
    buffer_text(&rows->joined, rows->line);
    while (has_open_quote((struct text){rows->joined.bytes, rows->joined.length})) {
        struct text more;
        if (!next_line(rows, &more)) {
            set_error(rows, error_at(ERROR_DATA, input_path(rows->input), input_line_number(rows->input), 0,
                                     "a quoted field is not closed at the end of the file"));
            return false;
        }
        buffer_char(&rows->joined, '\n');
        buffer_text(&rows->joined, more);
    }
    rows->line = (struct text){rows->joined.bytes, rows->joined.length};
    return true;
}

/* Read a quoted field from its opening quote on.  Returns its length; 0: it has no closing quote before a comma or the
 * end of the line. */
static size_t unquote(struct csv_rows *rows, struct text rest, struct text *value)
{
    char *to = rows->unquoted.bytes + rows->unquoted.length; /* has room for the whole line */
    value->at = to;
    size_t i = 1;
    for (; i < rest.length; i++) {
        if (rest.at[i] == '"' && (i + 1 >= rest.length || rest.at[i + 1] != '"'))
            break;
        if (rest.at[i] == '"')
            i++;
        *to++ = rest.at[i];
    }
    value->length = (size_t)(to - value->at);
    rows->unquoted.length += value->length;
    return i + 1 == rest.length || (i + 1 < rest.length && rest.at[i + 1] == ',') ? i + 1 : 0;
}

static bool next_field(struct csv_rows *rows, struct text *rest, struct field *field)
{
    if (rest->at == NULL)
        return false;
    size_t length;
    if (rest->length > 0 && rest->at[0] == '"') {
        length = unquote(rows, *rest, &field->value);
        if (length == 0) {
            set_error(rows, input_error(rows->input, rows->line, *rest,
                                        "a quoted field does not end with its closing quote"));
            return false;
        }
        field->raw = (struct text){rest->at, length};
    } else {
        const char *comma = memchr(rest->at, ',', rest->length);
        length = comma == NULL ? rest->length : (size_t)(comma - rest->at);
        field->raw = field->value = (struct text){rest->at, length};
    }
    if (length == rest->length)
        rest->at = NULL;
    else
        *rest = (struct text){rest->at + length + 1, rest->length - length - 1};
    return true;
}

static void row_begin(struct csv_rows *rows)
{
    rows->unquoted.length = 0;
    buffer_reserve(&rows->unquoted, rows->line.length + 1);
}

bool csv_rows_next(struct csv_rows *rows)
{
    if (!next_record(rows))
        return false;
    row_begin(rows);
    struct text rest = rows->line;
    struct field field;
    unsigned count = 0;
    while (next_field(rows, &rest, &field)) {
        if (count < rows->column_count && rows->wanted_of[count] != NOT_WANTED)
            rows->fields[rows->wanted_of[count]] = field;
        count++;
    }
    if (!error_is(rows->error) && count != rows->column_count)
        set_error(rows, input_error(rows->input, rows->line, (struct text){NULL, 0},
                                    "this row has %u fields, the header %u", count, rows->column_count));
    return !error_is(rows->error);
}

/* ---- the header ---- */

static unsigned wanted_index(const struct csv_rows *rows, struct text name)
{
    for (unsigned w = 0; w < rows->wanted_count; w++)
        if (text_equal(rows->wanted[w], name))
            return w;
    return NOT_WANTED;
}

static void header_column(struct csv_rows *rows, const struct field *field, bool *is_there)
{
    if (rows->column_count == CSV_COLUMNS_MAX) {
        set_error(rows, input_error(rows->input, rows->line, field->raw, "more than %d columns", CSV_COLUMNS_MAX));
        return;
    }
    unsigned wanted = wanted_index(rows, field->value);
    if (wanted != NOT_WANTED && is_there[wanted])
        set_error(rows, input_error(rows->input, rows->line, field->raw, "column '%.*s' stands here twice",
                                    (int)field->value.length, field->value.at));
    if (wanted != NOT_WANTED)
        is_there[wanted] = true;
    rows->wanted_of[rows->column_count++] = wanted;
}

static void read_header(struct csv_rows *rows)
{
    bool is_there[CSV_COLUMNS_MAX + 1] = {false};
    if (!next_record(rows)) {
        set_error(rows,
                  error_at(ERROR_DATA, input_path(rows->input), 1, 1, "the file is empty; a header line was expected"));
        return;
    }
    row_begin(rows);
    struct text rest = rows->line;
    struct field field;
    while (!error_is(rows->error) && next_field(rows, &rest, &field))
        header_column(rows, &field, is_there);
    for (unsigned w = 0; w < rows->wanted_count && !error_is(rows->error); w++)
        if (!is_there[w])
            set_error(rows, input_error(rows->input, rows->line, (struct text){NULL, 0}, "column '%.*s' is missing",
                                        (int)rows->wanted[w].length, rows->wanted[w].at));
}

struct error csv_rows_open(struct csv_rows **out, const char *path, const char *wanted)
{
    *out = NULL;
    struct input *input;
    TRY(input_check_plain(path));
    TRY(input_open(&input, path, NULL));
    struct csv_rows *rows = mem_zalloc(1, sizeof *rows);
    rows->input = input;
    struct text rest = text_of(wanted), name;
    while (text_cut(&rest, ',', &name)) {
        assert(rows->wanted_count < CSV_COLUMNS_MAX);
        rows->wanted[rows->wanted_count++] = name;
    }
    read_header(rows);
    if (error_is(rows->error))
        return csv_rows_close(&rows);
    *out = rows;
    return ERROR_OK;
}

bool csv_has_error(const struct csv_rows *rows)
{
    return error_is(rows->error);
}

struct error csv_rows_digest(struct csv_rows *rows, char hex[33])
{
    return input_finish_digest(rows->input, hex);
}

struct error csv_rows_close(struct csv_rows **rows)
{
    struct error error = (*rows)->error;
    input_close((*rows)->input);
    buffer_release(&(*rows)->joined);
    buffer_release(&(*rows)->unquoted);
    mem_free(*rows);
    *rows = NULL;
    return error;
}

/* ---- values ---- */

void csv_fail(struct csv_rows *rows, unsigned column, const char *complaint)
{
    if (error_is(rows->error))
        return;
    rows->error = input_error(rows->input, rows->line, rows->fields[column].raw, "%.*s: %s",
                              (int)rows->wanted[column].length, rows->wanted[column].at, complaint);
}

struct text csv_text(const struct csv_rows *rows, unsigned column)
{
    return rows->fields[column].value;
}

int64_t csv_int(struct csv_rows *rows, unsigned column, int64_t low, int64_t high)
{
    int64_t value = 0;
    if (!text_to_int64(rows->fields[column].value, low, high, &value))
        csv_fail(rows, column, "not an integer, or out of range");
    return value;
}

int64_t csv_scaled(struct csv_rows *rows, unsigned column, int64_t scale)
{
    int64_t value = 0;
    if (!text_to_scaled(rows->fields[column].value, scale, &value) || value < 0) {
        csv_fail(rows, column, "not a number from 0 up");
        return 0;
    }
    return value;
}

int64_t csv_signed(struct csv_rows *rows, unsigned column, int64_t scale)
{
    int64_t value = 0;
    if (!text_to_scaled(rows->fields[column].value, scale, &value))
        csv_fail(rows, column, "not a number");
    return value;
}

double csv_double(struct csv_rows *rows, unsigned column)
{
    double value = 0;
    if (!text_to_double(rows->fields[column].value, &value))
        csv_fail(rows, column, "not a number");
    return value;
}

time_ns csv_time(struct csv_rows *rows, unsigned column)
{
    if (rows->fields[column].value.length == 0)
        return TIME_NEVER;
    return csv_scaled(rows, column, TIME_NS_PER_S);
}

int csv_choice(struct csv_rows *rows, unsigned column, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if (text_is(rows->fields[column].value, names[i]))
            return i;
    csv_fail(rows, column, "not one of the words of this column");
    return 0;
}
