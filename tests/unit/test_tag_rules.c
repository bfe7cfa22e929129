/* Tags and rules of them in JSON lines and in cases: what is refused, where, and with which hint. */
#include "tests/support/test.h"

#include "sim/cases/case.h"
#include "tests/support/case_error.h"
#include "tests/support/sched_case.h"
#include "tests/support/scratch.h"
#include "tests/support/trace_case.h"

enum { LEVEL_RACK = 1 };

/* The text without its mark '@', which is at that line and column. */
struct marked {
    struct buffer text;
    unsigned line, column;
};

static struct marked unmark(const char *text)
{
    struct marked marked = {.line = 1, .column = 1};
    const char *mark = strchr(text, '@');
    assert_non_null(mark);
    for (const char *c = text; c < mark; c++) {
        marked.line += *c == '\n';
        marked.column = *c == '\n' ? 1 : marked.column + 1;
    }
    buffer_bytes(&marked.text, text, (size_t)(mark - text));
    buffer_string(&marked.text, mark + 1);
    return marked;
}

/* ---- JSON lines ---- */

static struct cluster *racks(void)
{
    return sched_case_cluster("{'levels': ['rack'], 'pools': [{'nodes': 2, 'gpus_per_node': 4, "
                              "'labels': {'rack': 'r'}}]}");
}

#define LINE "{'job_id': 1, 'submit_s': 0, 'duration_s': 60, 'gpus': 1"

static const struct workload_spec jsonl = {.format = "jsonl"};

/* What is refused at the mark, with these words and, if not NULL, this hint. */
struct refused_text {
    const char *text, *words, *hint;
};

/* They are read as those of cases are, below. */
static const struct refused_text lines[] = {
    {LINE ", 'tags': @7}\n", "'tags' must be an array", NULL},
    {LINE ", 'affinity': [@'a']}\n", "'affinity[0]' must be an object", NULL},
    {LINE ", 'affinity': [{'tag': 'a', 'level': 'rack', @'where': 'rack'}]}\n", "unknown key 'where'", NULL},
    {LINE "}\n" LINE ", 'affinity': [{'tag': 'a', 'level': @'rak'}]}\n", "there is no level 'rak'",
     "did you mean 'rack'?"},
};

TEST(bad_lines_are_refused_at_their_place)
{
    struct cluster *cluster = racks();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct marked marked = unmark(lines[i].text);
        const char *text = buffer_c_string(&marked.text);
        trace_case_refused(text, &jsonl, cluster, marked.line, marked.column, lines[i].words);
        if (lines[i].hint != NULL)
            trace_case_refused(text, &jsonl, cluster, marked.line, marked.column, lines[i].hint);
        buffer_release(&marked.text);
    }
    cluster_free(cluster);
}

TEST(good_lines_are_understood)
{
    struct cluster *cluster = racks();
    struct trace_case read =
        trace_case_read(LINE ", 'tags': ['web']}\n" LINE ", 'tags': ['db', 'web'], 'affinity': [{'tag': 'web', "
                             "'level': 'rack'}], 'anti_affinity': [{'tag': 'web', "
                             "'level': 'node'}, {'tag': 'db', 'level': 'rack', "
                             "'mode': 'preferred'}]}\n" LINE "}\n",
                        &jsonl, cluster);
    const struct job_tags both = {.tags = {1, 0},
                                  .tag_count = 2,
                                  .rules = {{.tag = 0, .level = LEVEL_RACK},
                                            {.tag = 0, .is_apart = true},
                                            {.tag = 1, .level = LEVEL_RACK, .is_apart = true, .is_preferred = true}},
                                  .rule_count = 3};
    assert_int_equal(read.count, 3);
    assert_true(job_tags_are_same(read.jobs[1].tags, &both));
    assert_null(read.jobs[2].tags);
    trace_case_release(&read);
    cluster_free(cluster);
}

/* ---- cases ---- */

#define CASE(members)                                                                                                  \
    "{'name': 'c', 'nodes': [{'name': 'n0', 'gpus': 4, 'labels': {'rack': "                                            \
    "'r'}}],\n'levels': ['rack'], 'queues': [{'name': 'q'}],\n"                                                        \
    "'jobs': [{'name': 'a', 'queue': 'q', 'tasks': [{'gpus': 1}],\n" members "}],\n"                                   \
    "'expect': {'a': {}}}"

static const struct refused_text cases[] = {
    {CASE("'tags': [@'']"), "a tag is not empty", NULL},
    {CASE("'tags': ['x', @'x']"), "it has this tag already", NULL},
    {CASE("'tags': ['x', @'x'], 'anti_affinity': [{'tag': 'b', 'level': 'rack'}, {'tag': 'd', 'level': 'rack'}]"),
     "it has this tag already", NULL},
    {CASE("'tags': @['v', 'w', 'x', 'y', 'z']"), "'tags' must hold at most 4, got 5", NULL},
    {CASE("'affinity': [{'tag': 'x', 'level': @'rak'}]"), "there is no level 'rak'", "did you mean 'rack'?"},
    {CASE("'affinity': [{'tag': 'x', 'level': @'continent'}]"), "there is no level 'continent'",
     "a level of the cluster, or \"node\""},
    {CASE("'affinity': [@{'tag': 'x'}]"), "level", NULL},
    {CASE("'affinity': [@{'level': 'rack'}]"), "tag", NULL},
    {CASE("'affinity': [{'tag': 'x', 'level': 'rack', 'mode': @'soft'}]"), "'mode' must be one of", NULL},
    {CASE("'affinity': [{'tag': 'x', 'level': 'node'}],\n"
          "'anti_affinity': @[{'tag': 'x', 'level': 'node'}]"),
     "near a tag, and apart from the same tag", "must be the narrower one"},
    {CASE("'affinity': @[{'tag': 'v', 'level': 'node'}, {'tag': 'w', 'level': 'node'}, {'tag': 'x', 'level': 'node'}, "
          "{'tag': 'y', 'level': 'node'}, {'tag': 'z', 'level': 'node'}]"),
     "'affinity' must hold at most 4, got 5", NULL},
};

TEST(bad_cases_are_refused_at_their_place)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct marked marked = unmark(cases[i].text);
        const char *text = buffer_c_string(&marked.text);
        const char *path = scratch_write_json("case.json", text);
        struct buffer place = {0};
        struct error error = case_error_of(path);
        assert_true(error_is(error));
        buffer_format(&place, "%s:%u:%u:", path, marked.line, marked.column);
        char *said = error_text_new(&error);
        if (strstr(said, buffer_c_string(&place)) == NULL || strstr(said, cases[i].words) == NULL ||
            (cases[i].hint != NULL && strstr(said, cases[i].hint) == NULL))
            fail_msg("case %zu: expected %s ... %s, got %s", i, buffer_c_string(&place), cases[i].words, said);
        free(said);
        error_release(&error);
        buffer_release(&place);
        buffer_release(&marked.text);
    }
}
