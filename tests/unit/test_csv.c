/* Rows of comma-separated values: those without quotes are cut eight bytes at a time, which must give what cutting byte
 * by byte gives, and what the same rows give with all fields quoted. */
#include "tests/support/test.h"
#include <inttypes.h>

#include "base/random.h"
#include "workloads/readers/csv.h"

enum { COLUMNS = 12, WANTED = 5, FIELD_MAX = 24 };

/* Every other column of the file is wanted, but the last. */
static const struct column columns[WANTED] = {
    {"c0", false, FIELD_TEXT}, {"c2", false, FIELD_TEXT}, {"c4", false, FIELD_TEXT},
    {"c6", false, FIELD_TEXT}, {"c8", false, FIELD_TEXT},
};

static struct line line_of(struct input *input, const struct buffer *text)
{
    return (struct line){input, {text->bytes, text->length}};
}

static void header(struct csv *csv, struct input *input, char separator)
{
    struct buffer text = {0};
    csv_init(csv, columns, WANTED);
    csv->separator = separator;
    for (int c = 0; c < COLUMNS; c++)
        buffer_format(&text, "%sc%d", c == 0 ? "" : (char[]){separator, '\0'}, c);
    const struct line line = line_of(input, &text);
    struct error error = csv_header(csv, &line);
    assert_false(error_is(error));
    buffer_release(&text);
}

static void check_row(struct csv *csv, struct input *input, const struct buffer *row,
                      char fields[COLUMNS][FIELD_MAX + 1], uint32_t count)
{
    char *own = malloc(row->length + 1); /* of its own, so that a sanitizer sees a byte read beyond it */
    memcpy(own, row->bytes, row->length);
    char *exact = realloc(own, row->length > 0 ? row->length : 1);
    const struct line line = {input, {exact, row->length}};
    struct error error = csv_row(csv, &line);
    assert_int_equal(error_is(error), count != COLUMNS);
    for (uint32_t w = 0; w < WANTED && count == COLUMNS; w++)
        if (!text_is(csv->fields[w].value, fields[2 * w]))
            fail_msg("column %u of '%.*s' is '%.*s'", 2 * w, (int)row->length, exact, (int)csv->fields[w].value.length,
                     csv->fields[w].value.at);
    if (count != COLUMNS)
        assert_non_null(strstr(error_message(&error), "a row must have 12 fields as the header has, got"));
    error_release(&error);
    free(exact);
}

TEST(test_rows)
{
    static const char letters[] = "abc0189-+; \t.|\x2b\x2d\xac\xfc\x80\xff";
    static const char separators[] = ",|;\t";
    const uint64_t seed = 4180;
    print_message("seed %" PRIu64 "\n", seed);
    struct random_stream stream;
    random_stream_init(&stream, seed, "csv", 0);
    struct input *input = input_of_bytes_new("rows.csv", mem_alloc(1), 0);
    for (int s = 0; s < 4; s++) {
        struct csv csv;
        const char separator = separators[s];
        header(&csv, input, separator);
        for (int i = 0; i < 20000; i++) {
            char fields[COLUMNS][FIELD_MAX + 1] = {{0}};
            struct buffer plain = {0}, quoted = {0};
            const uint32_t count = random_below(&stream, 8) > 0 ? COLUMNS : 1 + random_below(&stream, COLUMNS);
            const uint32_t longest = 1 + random_below(&stream, FIELD_MAX);
            for (uint32_t c = 0; c < count; c++) {
                for (uint32_t l = 0, length = random_below(&stream, longest); l < length; l++) {
                    const char letter = letters[random_below(&stream, sizeof letters - 1)];
                    fields[c][l] = letter == separator ? 'x' : letter;
                }
                buffer_format(&plain, "%.*s%s", c > 0, &separator, fields[c]);
                buffer_format(&quoted, "%.*s\"%s\"", c > 0, &separator, fields[c]);
            }
            check_row(&csv, input, &plain, fields, count);
            check_row(&csv, input, &quoted, fields, count);
            buffer_release(&plain);
            buffer_release(&quoted);
        }
        csv_release(&csv);
    }
    input_close(input);
}
