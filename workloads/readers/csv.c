#include "workloads/readers/csv.h"

#include <assert.h>
#include <string.h>

static void value_unescape(struct csv *csv, struct text *value)
{
    size_t start = csv->scratch.length;
    for (size_t i = 0; i < value->length; i++) {
        buffer_char(&csv->scratch, value->at[i]);
        i += value->at[i] == '"';
    }
    *value = (struct text){csv->scratch.bytes + start, csv->scratch.length - start};
}

/* Cut one field off *at.  place: with its quotes; value: without.  *has_escapes: it holds doubled quotes. */
static const char *field_cut(const struct csv *csv, const char **at, const char *end, struct field *field,
                             bool *has_escapes)
{
    const char *start = *at, *p = start;
    *has_escapes = false;
    if (p == end || *p != '"' || !csv->has_quotes) {
        while (p != end && *p != csv->separator)
            p++;
        field->value = field->place = (struct text){start, (size_t)(p - start)};
        *at = p;
        return NULL;
    }
    for (p++; p != end; p++) {
        if (*p != '"')
            continue;
        if (p + 1 == end || p[1] != '"')
            break;
        *has_escapes = true;
        p++;
    }
    field->place = (struct text){start, (size_t)(p - start)};
    if (p == end)
        return "a quoted field is not closed on its line";
    field->value = (struct text){start + 1, (size_t)(p - start - 1)};
    field->place.length++;
    *at = ++p;
    if (p == end || *p == csv->separator)
        return NULL;
    return csv->separator == ',' ? "a closing quote must be followed by a comma"
                                 : "a closing quote must be followed by the separator";
}

void csv_init(struct csv *csv, const struct column *columns, uint32_t column_count)
{
    assert(column_count <= CSV_WANTED_MAX);
    *csv = (struct csv){.columns = columns,
                        .column_count = column_count,
                        .separator = ',',
                        .has_quotes = true,
                        .text_first = UINT32_MAX};
    for (uint32_t i = 0; i < column_count; i++)
        csv->fields[i].name = columns[i].name;
}

static int column_find(const struct column *columns, uint32_t count, struct text name)
{
    for (uint32_t i = 0; i < count; i++)
        if (text_is(name, columns[i].name))
            return (int)i;
    return -1;
}

static struct error header_add(struct csv *csv, const struct line *line, struct field *field)
{
    int wanted = column_find(csv->columns, csv->column_count, text_trim(field->value));
    if (wanted >= 0 && csv->is_there[wanted])
        return input_error(line->input, line->text, field->place, "column '%s' stands twice",
                           csv->columns[wanted].name);
    if (wanted >= 0)
        csv->is_there[wanted] = true;
    for (uint32_t i = 0; csv->texts != NULL && csv->texts[i] != NULL; i++)
        if (text_is(text_trim(field->value), csv->texts[i])) {
            csv->text_first = csv->text_first < csv->position_count ? csv->text_first : csv->position_count;
            csv->text_last = csv->position_count;
        }
    MEM_GROW(csv->wanted, csv->wanted_capacity, csv->position_count + 1);
    csv->wanted[csv->position_count++] = (int16_t)wanted;
    return ERROR_OK;
}

struct error csv_header(struct csv *csv, const struct line *line)
{
    const char *at = line->text.at, *end = at + line->text.length;
    while (true) {
        struct field field = {0};
        bool has_escapes;
        const char *complaint = field_cut(csv, &at, end, &field, &has_escapes);
        if (complaint != NULL)
            return input_error(line->input, line->text, field.place, "%s", complaint);
        TRY(header_add(csv, line, &field));
        if (at == end)
            break;
        at++;
    }
    for (uint32_t i = 0; i < csv->column_count; i++) {
        if (!csv->columns[i].is_required)
            continue;
        if (!csv->is_there[i])
            return input_error(line->input, line->text, (struct text){NULL, 0}, "the header has no column '%s'",
                               csv->columns[i].name);
        csv->required[csv->required_count++] = (uint8_t)i;
    }
    return ERROR_OK;
}

static struct error count_error(const struct csv *csv, const struct line *line, uint32_t count)
{
    return input_error(line->input, line->text, (struct text){NULL, 0},
                       "a row must have %u fields as the header has, got %u", csv->position_count, count);
}

/* About how many separators are left, for the message about too many fields. */
static uint32_t separators_in(const struct csv *csv, const char *at, const char *end)
{
    uint32_t count = 0;
    for (; at != end; at++)
        count += *at == csv->separator;
    return count;
}

static struct error row_check(const struct csv *csv, const struct line *line)
{
    for (uint32_t i = 0; i < csv->required_count; i++) {
        const uint32_t column = csv->required[i];
        if (!field_is_set(&csv->fields[column]))
            return input_error(line->input, line->text, csv->fields[column].place, "'%s' is empty",
                               csv->columns[column].name);
    }
    return ERROR_OK;
}

/* ---- Rows without quotes ---- */

/* The highest bit of each byte of `word` that equals the byte in each byte of `wanted`. */
static inline uint64_t bytes_equal(uint64_t word, uint64_t wanted)
{
    const uint64_t low_bits = UINT64_C(0x7f7f7f7f7f7f7f7f), other = word ^ wanted;
    return ~(((other & low_bits) + low_bits) | other | low_bits);
}

struct row_cut {
    const char *start; /* of the field */
    struct field *fields;
    const int16_t *wanted, *last; /* where the field belongs; the last of the header */
};

static inline void field_end(struct row_cut *cut, const char *end)
{
    const int wanted = *cut->wanted;
    struct field *field = &cut->fields[wanted];
    if (wanted >= 0)
        field->value = field->place = (struct text){cut->start, (size_t)(end - cut->start)};
}

/* End the fields whose separators are in the word, which is that at `at`.  False: there are more than in the header. */
static inline bool word_cut(struct row_cut *cut, const char *at, uint64_t word, uint64_t separators)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    for (uint64_t found = bytes_equal(word, separators); found != 0; found &= found - 1) {
        const char *mark = at + __builtin_ctzll(found) / 8;
        if (cut->wanted == cut->last)
            return false;
        field_end(cut, mark);
        cut->wanted++;
        cut->start = mark + 1;
    }
    return true;
}

/* Cut a row at its separators, eight bytes at a time: a fifth of the cost of reading a row is saved.  False: a quote
 * may change what they mean, or their number is wrong. */
static bool row_plain(struct csv *csv, struct text row)
{
    const char *at = row.at, *end = row.at + row.length;
    const uint64_t separators = UINT64_C(0x0101010101010101) * (unsigned char)csv->separator;
    struct row_cut cut = {at, csv->fields, csv->wanted, csv->wanted + csv->position_count - 1};
    uint64_t word;
    if (csv->has_quotes && memchr(row.at, '"', row.length) != NULL)
        return false;
    for (; end - at >= (ptrdiff_t)sizeof word; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        if (!word_cut(&cut, at, word, separators))
            return false;
    }
    word = ~separators;
    memcpy(&word, at, (size_t)(end - at));
    if (!word_cut(&cut, at, word, separators) || cut.wanted != cut.last)
        return false;
    field_end(&cut, end);
    return true;
}

static void field_set(struct csv *csv, uint32_t position, const char *start, const char *end)
{
    const int wanted = csv->wanted[position];
    if (wanted >= 0)
        csv->fields[wanted].value = csv->fields[wanted].place = (struct text){start, (size_t)(end - start)};
}

/* A row with more fields than the header, because texts in it hold the separator. */
static struct error row_with_texts(struct csv *csv, const struct line *line)
{
    const char *start = line->text.at, *end = start + line->text.length;
    for (uint32_t p = csv->text_first; p <= csv->text_last; p++)
        if (csv->wanted[p] >= 0)
            return input_error(line->input, line->text, (struct text){NULL, 0},
                               "a row must have %u fields as the header has, got %u: a text in it holds '%c', and '%s' "
                               "stands between columns that may; list such columns side by side",
                               csv->position_count, separators_in(csv, start, end) + 1, csv->separator,
                               csv->columns[csv->wanted[p]].name);
    for (uint32_t p = 0; p < csv->text_first; p++) {
        const char *mark = memchr(start, csv->separator, (size_t)(end - start));
        field_set(csv, p, start, mark);
        start = mark + 1;
    }
    for (uint32_t p = csv->position_count; p-- > csv->text_last + 1;) {
        const char *mark = memrchr(start, csv->separator, (size_t)(end - start));
        field_set(csv, p, mark + 1, end);
        end = mark;
    }
    return row_check(csv, line);
}

struct error csv_row(struct csv *csv, const struct line *line)
{
    if (row_plain(csv, line->text))
        return row_check(csv, line);
    if (csv->text_first != UINT32_MAX && !csv->has_quotes &&
        separators_in(csv, line->text.at, line->text.at + line->text.length) >= csv->position_count)
        return row_with_texts(csv, line);
    const char *at = line->text.at, *end = at + line->text.length;
    csv->scratch.length = 0;
    buffer_reserve(&csv->scratch, line->text.length); /* values in it must not move */
    for (uint32_t position = 0;; position++) {
        struct field field;
        bool has_escapes;
        if (position == csv->position_count)
            return count_error(csv, line, position + 1 + separators_in(csv, at, end));
        const char *complaint = field_cut(csv, &at, end, &field, &has_escapes);
        if (complaint != NULL)
            return input_error(line->input, line->text, field.place, "%s", complaint);
        int16_t wanted = csv->wanted[position];
        if (wanted >= 0) {
            if (has_escapes)
                value_unescape(csv, &field.value);
            csv->fields[wanted].value = field.value;
            csv->fields[wanted].place = field.place;
        }
        if (at == end) {
            if (position + 1 != csv->position_count)
                return count_error(csv, line, position + 1);
            return row_check(csv, line);
        }
        at++;
    }
}

uint32_t csv_unwanted(const struct csv *csv, struct text line, struct buffer *names)
{
    const char *at = line.at, *end = line.at + line.length;
    uint32_t count = 0;
    for (uint32_t position = 0; position < csv->position_count; position++) {
        struct field field = {0};
        bool has_escapes;
        if (field_cut(csv, &at, end, &field, &has_escapes) != NULL)
            break;
        at += at != end;
        if (csv->wanted[position] >= 0 || text_trim(field.value).length == 0)
            continue;
        buffer_string(names, count++ > 0 ? ", " : "");
        buffer_text(names, text_trim(field.value));
    }
    return count;
}

void csv_release(struct csv *csv)
{
    mem_free(csv->wanted);
    buffer_release(&csv->scratch);
    *csv = (struct csv){0};
}

bool csv_is_header(struct text line, char separator, const struct column *columns, uint32_t column_count)
{
    uint32_t missing = 0, seen = 0;
    for (uint32_t i = 0; i < column_count; i++)
        missing += columns[i].is_required;
    struct text rest = line, piece;
    while (text_cut(&rest, separator, &piece)) {
        piece = text_trim(piece);
        if (piece.length >= 2 && piece.at[0] == '"')
            piece = (struct text){piece.at + 1, piece.length - 2};
        int found = column_find(columns, column_count, piece);
        seen += found >= 0 && columns[found].is_required;
    }
    return seen >= missing;
}
