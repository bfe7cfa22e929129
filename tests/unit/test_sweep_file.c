/* tests/unit/test_sweep_file.c -- the file of a sweep: factors, designs, exclusions and seeds as they are meant; what
 * is wrong is told with its place. */
#include "tests/support/test.h"
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "studies/sweep/sweep_file.h"
#include "tests/support/json_text.h"
#include "tests/support/scratch.h"

static struct error read_text(struct sweep_file *file, const char *quoted)
{
    return sweep_file_read(file, scratch_write_json("sweep.json", quoted));
}

static struct sweep_file read_good(const char *quoted)
{
    struct sweep_file file;
    struct error error = read_text(&file, quoted);
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
    return file;
}

/* The levels of each combination: "fifo 0.7, fifo 0.9". */
static void assert_combinations(const struct sweep_file *file, const char *expected)
{
    struct buffer text = {0};
    for (size_t c = 0; c < file->combination_count; c++)
        for (size_t f = 0; f < file->factor_count; f++)
            buffer_format(&text, "%s%s",
                          f > 0   ? " "
                          : c > 0 ? ", "
                                  : "",
                          file->factors[f].levels[file->levels[c * file->factor_count + f]].name);
    assert_string_equal(buffer_c_string(&text), expected);
    buffer_release(&text);
}

TEST(test_factorial)
{
    struct sweep_file file =
        read_good("{'$comment': 'x', 'scenario': 'a.json', 'set': {'world.end': '2d'},"
                  " 'factors': [{'name': 'policy', 'path': 'policy.preset', 'values': ['fifo', 'kai']},"
                  "             {'path': 'load', 'values': [0.70, 1, {'b': 2, 'a': null}]}],"
                  " 'seeds': 3}");
    assert_combinations(&file, "fifo 0.7, fifo 1, fifo {\"a\":null,\"b\":2}, kai 0.7, kai 1, kai {\"a\":null,\"b\":2}");
    assert_string_equal(file.scenario, scratch_path("a.json")); /* relative to the file */
    assert_int_equal(file.set_count, 1);
    assert_string_equal(file.sets[0], "world.end=\"2d\"");
    assert_string_equal(file.factors[0].levels[1].sets[0], "policy.preset=\"kai\"");
    assert_string_equal(file.factors[1].name, "load");
    assert_true(file.factors[1].levels[0].is_number && file.factors[1].levels[0].number == 0.7);
    assert_false(file.factors[0].levels[0].is_number);
    assert_null(file.seeds);
    assert_int_equal(file.seed_count, 3);
    sweep_file_release(&file);
}

TEST(test_nothing_varies)
{
    struct sweep_file file = read_good("{'scenario': '/x/a.json', 'seeds': [5, 3]}");
    assert_int_equal(file.combination_count, 1);
    assert_string_equal(file.scenario, "/x/a.json");
    assert_int_equal(file.seeds[0], 5);
    assert_int_equal(file.seeds[1], 3);
    sweep_file_release(&file);
}

TEST(test_named_levels)
{
    struct buffer expected = {0};
    struct sweep_file file =
        read_good("{'scenario': 'a.json', 'factors': [{'name': 'size', 'levels': {"
                  "'0.25': {'cluster.pools.h100.nodes': 2, 'workload.load_gpus': 16}, 'own': {'cluster': 'mine.json', "
                  "'policy': {'file': 'p.json', 'plugins': ['x.so', '/y.so']}}}}]}");
    assert_combinations(&file, "0.25, own");
    const struct sweep_level *levels = file.factors[0].levels;
    assert_true(levels[0].is_number && levels[0].number == 0.25 && !levels[1].is_number);
    assert_int_equal(levels[0].set_count, 2);
    assert_string_equal(levels[0].sets[1], "workload.load_gpus=16");
    buffer_format(&expected, "cluster=\"%s\"", scratch_path("mine.json")); /* files are relative to the sweep's */
    assert_string_equal(levels[1].sets[0], buffer_c_string(&expected));
    expected.length = 0;
    buffer_format(&expected, "policy={\"file\":\"%s\",", scratch_path("p.json"));
    buffer_format(&expected, "\"plugins\":[\"%s\",\"/y.so\"]}", scratch_path("x.so"));
    assert_string_equal(levels[1].sets[1], buffer_c_string(&expected));
    buffer_release(&expected);
    sweep_file_release(&file);
}

TEST(test_exclude)
{
    struct sweep_file file =
        read_good("{'scenario': 'a.json', 'factors': [{'name': 'p', 'path': 'x', 'values': ['a', 'b']},"
                  "                                   {'name': 'n', 'path': 'y', 'values': [1, 2, 3]}],"
                  " 'exclude': [{'p': 'a', 'n': [1, 3.0]}, {'n': {'min': 2, 'max': 2}}]}");
    assert_combinations(&file, "b 1, b 3");
    sweep_file_release(&file);
}

/* One point in each stratum of each factor, for ranges as for lists. */
TEST(test_latin)
{
    enum { POINTS = 40 };
    size_t counts[3] = {0};
    bool seen[POINTS] = {0};
    struct sweep_file file = read_good("{'scenario': 'a.json', 'design': {'kind': 'latin_hypercube', 'points': 40},"
                                       " 'factors': [{'name': 'f', 'path': 'x', 'range': [0, 40]},"
                                       "             {'name': 'i', 'path': 'y', 'range': [1, 3], 'integer': true},"
                                       "             {'name': 'v', 'path': 'z', 'values': ['a', 'b', 'c', 'd']}]}");
    assert_int_equal(file.combination_count, POINTS);
    assert_int_equal(file.factors[0].level_count, POINTS);
    assert_int_equal(file.factors[1].level_count, 3); /* equal numbers are one level */
    for (size_t c = 0; c < POINTS; c++) {
        const struct sweep_level *level = &file.factors[0].levels[file.levels[c * 3]];
        assert_false(seen[(size_t)level->number]);
        seen[(size_t)level->number] = true;
        counts[file.levels[c * 3 + 1]]++;
    }
    for (size_t l = 0; l < 3; l++) /* a third of 40 strata; two of them hold a bound */
        assert_true(counts[l] >= 12 && counts[l] <= 14);
    size_t shares[4] = {0};
    for (size_t c = 0; c < POINTS; c++)
        shares[file.levels[c * 3 + 2]]++;
    for (size_t l = 0; l < 4; l++)
        assert_int_equal(shares[l], POINTS / 4);
    sweep_file_release(&file);
}

/* ---- what is refused ---- */

static void assert_refused(const char *quoted, const char *place, const char *message)
{
    struct sweep_file file;
    struct buffer expected = {0};
    struct error error = read_text(&file, quoted);
    assert_true(error_is(error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    char *text = error_text_new(&error);
    buffer_format(&expected, "error: %s%s: %s", scratch_path("sweep.json"), place, message);
    if (strncmp(text, buffer_c_string(&expected), expected.length) != 0)
        assert_string_equal(text, buffer_c_string(&expected));
    free(text);
    buffer_release(&expected);
    error_release(&error);
}

#define WITH(factors) "{'scenario': 'a.json',\n 'factors': [" factors "]}"

TEST(test_refused)
{
    assert_refused("{'factors': []}", ":1:1", "'scenario' is missing");
    assert_refused("{'scenario': 'a', 'factor': []}", ":1:19", "unknown key 'factor'");
    assert_refused(WITH("{'path': 'x'}"), ":2:14", "a factor has 'values', 'levels' or 'range', and just one of them");
    assert_refused(WITH("{'path': 'x', 'values': []}"), ":2:38", "a factor needs a value");
    assert_refused(WITH("{'path': 'x', 'values': [1, 1.0]}"), ":2:42", "the level '1' stands here twice");
    assert_refused(WITH("{'values': [1]}"), ":2:14", "'path' is missing");
    assert_refused(WITH("{'levels': {'a': {'x': 1}}}"), ":2:14", "'name' is missing");
    assert_refused(WITH("{'path': 'seed', 'values': [1]}"), ":2:23", "the seed is no factor: 'seeds' names the seeds");
    assert_refused(WITH("{'path': 'x', 'range': [1, 2]}"), ":2:37", "a range needs the design 'latin_hypercube'");
    assert_refused(WITH("{'path': 'x', 'values': [1]}, {'path': 'x', 'values': [2]}"), ":2:44",
                   "there are two factors 'x'");
    assert_refused(WITH("{'path': 'x', 'values': [1]}, {'name': 'n', 'levels': {'a': {'x': 1}}}"), ":2:44",
                   "the factors 'x' and 'n' both set 'x'");
    assert_refused("{'scenario': 'a', 'seeds': [1, 1]}", ":1:32", "the seed 1 stands here twice");
    assert_refused("{'scenario': 'a', 'seeds': 0}", ":1:28", "'seeds' must be an integer from 1 to 10000");
    assert_refused("{'scenario': 'a', 'design': {'kind': 'latin_hypercube'}}", ":1:29", "'points' is missing");
}

#define EXCLUDE(entry)                                                                                                 \
    WITH("{'path': 'load', 'values': [1, 2]}, {'path': 'p', 'values': ['fifo', 'kai']}], 'exclude': [" entry)

TEST(test_refused_exclude)
{
    assert_refused(EXCLUDE("{'laod': 1}"), ":2:106", "unknown key 'laod'");
    assert_refused(EXCLUDE("{'p': 'fivo'}"), ":2:111", "the factor 'p' has no level 'fivo'");
    assert_refused(EXCLUDE("{'p': {'min': 1}}"), ":2:111", "the level 'fifo' of 'p' is no number");
    assert_refused(EXCLUDE("{}"), ":2:105", "an entry of 'exclude' names at least one factor");
    assert_refused(EXCLUDE("{'load': [1, 2]}"), ":2:104", "'exclude' leaves no combination");
}

TEST(test_refused_ranges)
{
#define RANGE(range)                                                                                                   \
    "{'scenario': 'a', 'design': {'kind': 'latin_hypercube', 'points': 2},\n 'factors': [{'path': 'x', " range "}]}"
    assert_refused(RANGE("'range': [2, 1]"), ":2:37", "the first number of a range must be below the second");
    assert_refused(RANGE("'range': [0, 1], 'scale': 'log'"), ":2:38", "a logarithmic range must begin above 0");
    assert_refused(RANGE("'range': [1, 2.5], 'integer': true"), ":2:37", "the ends of a range of integers must be");
    assert_refused(RANGE("'range': [1]"), ":2:37", "a range is [LOW, HIGH]");
}

TEST(test_too_many)
{
    struct buffer text = {0};
    struct sweep_file file;
    buffer_string(&text, "{'scenario': 'a', 'factors': [");
    for (int f = 0; f < 6; f++) {
        buffer_format(&text, "%s{'path': 'x%d', 'values': [", f > 0 ? ", " : "", f);
        for (int v = 0; v < 10; v++)
            buffer_format(&text, "%s%d", v > 0 ? "," : "", v);
        buffer_string(&text, "]}");
    }
    buffer_string(&text, "]}");
    struct error error = read_text(&file, buffer_c_string(&text));
    assert_string_equal(error_message(&error), "the levels of the factors have more than 100000 combinations");
    error_release(&error);
    buffer_release(&text);
}

TEST_GROUP(scratch_make, scratch_remove)
