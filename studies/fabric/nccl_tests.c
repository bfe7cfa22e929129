/* studies/fabric/nccl_tests.c -- reads what nccl-tests prints. */
#include "studies/fabric/nccl_tests.h"

#include <math.h>

#include "base/input.h"
#include "base/mem.h"
#include "base/names.h"

enum { WORDS_MAX = 32, RANKS_MAX = 1000000, LINE_BYTES_MAX = 1 << 16 };

#define RATIO_ERROR_MAX 0.03 /* two decimals of algbw and busbw, from a few GB/s on */
#define RATIO_GB_MIN    2.0  /* below, the decimals say little */

static const struct {
    const char *program;
    enum collective_kind kind;
} programs[] = {{"all_reduce_perf", COLLECTIVE_ALL_REDUCE},
                {"all_gather_perf", COLLECTIVE_ALL_GATHER},
                {"reduce_scatter_perf", COLLECTIVE_REDUCE_SCATTER},
                {"alltoall_perf", COLLECTIVE_ALL_TO_ALL}};

struct reading {
    struct nccl_tests *tests;
    struct input *input;
    const char *path;
    bool has_kind, has_columns;
    bool has_rows; /* of the program that was named last */
    enum collective_kind kind;
    uint32_t ranks;       /* of the run so far */
    struct names *hosts;  /* of the run */
    uint32_t on_first;    /* ranks on the first host */
    size_t columns, time; /* how many there are, and which is the first "time" */
};

/* ---- lines ---- */

static size_t words_of(struct text rest, struct text words[WORDS_MAX])
{
    size_t count = 0;
    struct text piece;
    while (count < WORDS_MAX && text_cut(&rest, ' ', &piece)) {
        piece = text_trim(piece);
        if (piece.length > 0)
            words[count++] = piece;
    }
    return count;
}

static struct text without(struct text line, size_t bytes)
{
    return (struct text){line.at + bytes, line.length - bytes};
}

/* Without what mpirun --tag-output or srun --label put in front. */
static struct text without_label(struct text line)
{
    static const struct text tag = {"<stdout>:", 9};
    line = text_trim(line);
    if (line.length > 0 && line.at[0] == '[')
        for (size_t i = 0; i + tag.length <= line.length; i++)
            if (memcmp(line.at + i, tag.at, tag.length) == 0)
                return text_trim(without(line, i + tag.length));
    size_t digits = 0;
    while (digits < line.length && line.at[digits] >= '0' && line.at[digits] <= '9')
        digits++;
    if (digits > 0 && digits < line.length && line.at[digits] == ':')
        return text_trim(without(line, digits + 1));
    return line;
}

static bool holds(struct text line, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= line.length; i++)
        if (memcmp(line.at + i, word, length) == 0)
            return true;
    return false;
}

/* A program that a line names; a run of another one has no kind. */
static void note_program(struct reading *reading, struct text line)
{
    if (!holds(line, "_perf") || holds(line, "concluded"))
        return;
    reading->has_kind = reading->has_rows = false;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (holds(line, programs[i].program)) {
            reading->has_kind = true;
            reading->kind = programs[i].kind;
        }
}

static void begin_run(struct reading *reading)
{
    names_free(reading->hosts);
    reading->hosts = names_new();
    reading->ranks = reading->on_first = 0;
    reading->has_columns = false;
    reading->has_kind &= !reading->has_rows;
}

/* "Rank  0 Group  0 Pid  17 on  host-1 device  0 [0x1b] NVIDIA H100", in 2.0 without the group. */
static struct error read_rank(struct reading *reading, struct text line, const struct text *words, size_t count)
{
    int64_t rank;
    size_t on = 2;
    while (on < count && !text_is(words[on], "on"))
        on++;
    if (count < 2 || !text_to_int64(words[1], 0, RANKS_MAX, &rank) || on + 2 >= count ||
        !text_is(words[on + 2], "device"))
        return input_error(
            reading->input, line, (struct text){0},
            "this is no 'Rank N Group N Pid N on HOST device N': give the text as nccl-tests printed it");
    if (rank == 0 && reading->ranks > 0)
        begin_run(reading);
    if (rank != reading->ranks)
        return input_error(reading->input, line, words[1], "rank %lld follows %u ranks: a Rank line is missing",
                           (long long)rank, reading->ranks);
    reading->on_first += names_add(reading->hosts, words[on + 1]) == 0;
    reading->ranks++;
    return ERROR_OK;
}

static struct error read_columns(struct reading *reading, struct text line, const struct text *words, size_t count)
{
    reading->columns = count;
    for (reading->time = 0; reading->time < count && !text_is(words[reading->time], "time");)
        reading->time++;
    if (reading->time + 2 >= count || !text_is(words[reading->time + 1], "algbw") ||
        !text_is(words[reading->time + 2], "busbw"))
        return input_error(reading->input, line, (struct text){0},
                           "no columns 'time algbw busbw': give the text as nccl-tests printed it");
    reading->has_columns = true;
    return ERROR_OK;
}

/* ---- rows ---- */

static struct error check_run(const struct reading *reading, struct text line)
{
    const uint32_t hosts = reading->ranks > 0 ? names_count(reading->hosts) : 0;
    if (!reading->has_columns)
        return input_error(reading->input, line, (struct text){0},
                           "a row before the line '#  size  count ...': give the whole text of nccl-tests");
    if (reading->ranks == 0)
        return input_error(reading->input, line, (struct text){0},
                           "the lines '#  Rank ...' are missing, which say how many GPUs and hosts there are: give the "
                           "whole text of nccl-tests");
    if (!reading->has_kind)
        return input_error(reading->input, line, (struct text){0},
                           "no line of this run says all_reduce_perf, all_gather_perf, reduce_scatter_perf or "
                           "alltoall_perf: put the right one before it, as '# Collective test starting: "
                           "all_reduce_perf', or leave the run out");
    if (reading->on_first * hosts != reading->ranks)
        return input_error(reading->input, line, (struct text){0},
                           "%u ranks do not spread evenly over %u hosts, of which the first has %u: leave this run out",
                           reading->ranks, hosts, reading->on_first);
    if (reading->ranks < 2)
        return input_error(reading->input, line, (struct text){0}, "one rank sends nothing: leave this run out");
    return ERROR_OK;
}

/* Do size and time make algbw, and algbw and the collective busbw? */
static struct error check_rates(const struct reading *reading, struct text line, const struct text *words, double bytes,
                                double us)
{
    const struct text *columns = &words[reading->time];
    const double ratio = collective_bus_factor(reading->kind, reading->ranks), made = bytes / us / 1e3;
    double algorithm, bus;
    if (!text_to_double(columns[1], &algorithm) || !text_to_double(columns[2], &bus))
        return input_error(reading->input, line, columns[1], "algbw and busbw must be numbers");
    if (fmax(algorithm, made) < RATIO_GB_MIN)
        return ERROR_OK;
    if (fabs(algorithm - made) > RATIO_ERROR_MAX * made)
        return input_error(reading->input, line, columns[1],
                           "algbw is not size / time, %.4g GB/s: give the text as nccl-tests printed it", made);
    if (fabs(bus - ratio * algorithm) > RATIO_ERROR_MAX * bus)
        return input_error(reading->input, line, columns[2],
                           "busbw is %.4g of algbw, which an %s of %u ranks makes %.4g: is this another collective?",
                           bus / algorithm, collective_kind_names[reading->kind], reading->ranks, ratio);
    return ERROR_OK;
}

static struct error read_row(struct reading *reading, struct text line, const struct text *words, size_t count)
{
    int64_t bytes, wrong;
    double us;
    TRY(check_run(reading, line));
    if (count != reading->columns)
        return input_error(reading->input, line, (struct text){0},
                           "%zu columns where the line of columns has %zu: leave this row out", count,
                           reading->columns);
    if (!text_to_int64(words[0], 0, INT64_C(1) << 60, &bytes))
        return input_error(reading->input, line, words[0], "the size must be a whole number of bytes");
    if (bytes == 0)
        return ERROR_OK;
    if (!text_to_double(words[reading->time], &us) || !(us > 0))
        return input_error(reading->input, line, words[reading->time], "the time must be a number above 0, in us");
    if (reading->time + 3 < count && text_to_int64(words[reading->time + 3], 1, INT64_MAX, &wrong))
        return input_error(reading->input, line, words[reading->time + 3],
                           "%lld values are wrong: leave this run out, and find out why", (long long)wrong);
    TRY(check_rates(reading, line, words, (double)bytes, us));
    struct nccl_tests *tests = reading->tests;
    reading->has_rows = true;
    MEM_GROW(tests->rows, tests->capacity, tests->count + 1);
    tests->rows[tests->count++] = (struct nccl_row){.kind = reading->kind,
                                                    .hosts = names_count(reading->hosts),
                                                    .ranks = reading->ranks,
                                                    .bytes = (double)bytes,
                                                    .s = us / 1e6,
                                                    .file = reading->path,
                                                    .line = input_line_number(reading->input)};
    return ERROR_OK;
}

static struct error read_line(struct reading *reading, struct text line)
{
    struct text words[WORDS_MAX], text = without_label(line);
    note_program(reading, text);
    if (text.length == 0)
        return ERROR_OK;
    if (text.at[0] >= '0' && text.at[0] <= '9') {
        const size_t count = words_of(text, words);
        int64_t ignored; /* 10.0.0.7:123 is no row */
        return text_to_int64(words[0], 0, INT64_MAX, &ignored) ? read_row(reading, line, words, count) : ERROR_OK;
    }
    if (text.at[0] != '#')
        return ERROR_OK;
    const size_t count = words_of(without(text, 1), words);
    if (count > 0 && text_is(words[0], "nThread"))
        begin_run(reading);
    if (count > 0 && text_is(words[0], "Rank"))
        return read_rank(reading, line, words, count);
    if (count > 0 && text_is(words[0], "size"))
        return read_columns(reading, line, words, count);
    return ERROR_OK;
}

struct error nccl_tests_read(struct nccl_tests *tests, const char *path)
{
    const struct input_caps caps = {.line_max = LINE_BYTES_MAX};
    struct reading reading = {.tests = tests, .path = path, .hosts = names_new()};
    const size_t before = tests->count;
    struct text line;
    bool has = true;
    struct error error = input_open(&reading.input, path, &caps);
    while (!error_is(error) && has) {
        error = input_line(reading.input, &line, &has);
        if (!error_is(error) && has)
            error = read_line(&reading, line);
    }
    if (!error_is(error) && tests->count == before)
        error = error_new(ERROR_DATA, "%s has no row of nccl-tests: give what all_reduce_perf prints", path);
    input_close(reading.input);
    names_free(reading.hosts);
    return error;
}

void nccl_tests_release(struct nccl_tests *tests)
{
    mem_free(tests->rows);
    *tests = (struct nccl_tests){0};
}
