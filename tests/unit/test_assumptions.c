/* tests/unit/test_assumptions.c -- what no job says is told where it matters, and only there. */
#include "tests/support/test.h"

#include "studies/run/assumptions.h"
#include "tests/support/json_text.h"
#include "tests/support/scratch.h"

#define CSV "job_id,submit_s,duration_s,gpus"
#define ONE "'cluster': {'pools': [{'nodes': 4, 'gpus_per_node': 8}]}"
#define TWO                                                                                                            \
    "'cluster': {'pools': [{'name': 'a', 'nodes': 1, 'gpus_per_node': 8, 'gpu_model': 'a100-80gb'}, "                  \
    "{'name': 'h', 'nodes': 2, 'gpus_per_node': 8, 'gpu_model': 'h100-80gb'}]}"

static struct assumed_list assumed;
static struct alternatives alternatives;
static struct arena arena;

/* "checkpoints, priorities": what is assumed of this trace under this scenario, whose braces are added here. */
static void expect(const char *csv, const char *scenario, const char *what)
{
    struct buffer text = {0}, found = {0};
    scratch_write("jobs.csv", csv, strlen(csv));
    buffer_format(&text, "{%s}", scenario);
    const char *path = scratch_write_json("s.json", buffer_c_string(&text));
    struct error error = assumptions_survey(&(struct scenario_options){.path = path}, &arena, &assumed, &alternatives);
    if (error_is(error))
        fail_msg("%s: %s", scenario, error_message(&error));
    for (size_t i = 0; i < assumed.count; i++)
        buffer_format(&found, "%s%s", i > 0 ? ", " : "", assumed.of[i].what);
    if (strcmp(buffer_c_string(&found), what) != 0)
        fail_msg("%s: assumed is '%s', not '%s'", scenario, buffer_c_string(&found), what);
    buffer_release(&text);
    buffer_release(&found);
}

#define JOBS     "'workload': {'trace': 'jobs.csv'}"
#define UNDER(p) ", 'policy': {'preset': '" p "'}"

TEST(what_no_job_says_is_told_where_it_matters)
{
    static const char bare[] = CSV "\n1,0,60,1\n2,5,60,1\n";
    expect(bare, ONE "," JOBS UNDER("fifo"), "");
    expect(bare, ONE "," JOBS UNDER("easy"), "limits or estimates of run times");
    expect(bare, ONE "," JOBS UNDER("priority"), "priorities");
    expect(bare, ONE "," JOBS UNDER("kai"), "checkpoints, priorities");
    /* the world takes jobs from their nodes */
    expect(bare, ONE "," JOBS UNDER("fifo") ", 'world': {'faults': {'fatal_per_job_h': 0.1}}", "checkpoints");
    /* another setting says it */
    expect(bare, ONE "," JOBS UNDER("easy") ", 'world': {'estimates': {'kind': 'perfect'}}", "");
    expect(bare, ONE "," JOBS UNDER("kai") ", 'world': {'checkpoints': {'plans': [{'interval': '1h'}]}}", "priorities");
    expect(bare, TWO "," JOBS UNDER("fifo"), "GPU models");
    expect(CSV "\n1,0,60,16\n2,5,60,1\n", ONE "," JOBS UNDER("fifo"), "communication");
    expect(CSV "\n1,0,60,16\n2,5,60,1\n", ONE "," JOBS UNDER("fifo") ", 'world': {'network': 'free'}", "");
}

/* One job that says it is enough. */
TEST(what_a_job_says_is_not_assumed)
{
    expect(CSV ",checkpoint_interval_s\n1,0,60,1,\n2,5,60,1,60\n", ONE "," JOBS UNDER("kai"), "priorities");
    expect(CSV ",priority\n1,0,60,1,\n2,5,60,1,60\n", ONE "," JOBS UNDER("kai"), "checkpoints");
    expect(CSV ",limit_s\n1,0,60,1,\n2,5,60,1,60\n", ONE "," JOBS UNDER("easy"), "");
    expect(CSV ",estimate_s\n1,0,60,1,\n2,5,60,1,60\n", ONE "," JOBS UNDER("easy"), "");
    expect(CSV ",gpu_model\n1,0,60,1,\n2,5,60,1,h100-80gb\n", TWO "," JOBS UNDER("fifo"), "");
    expect(CSV ",sensitivity\n1,0,60,16,\n2,5,60,16,skewed\n", ONE "," JOBS UNDER("fifo"), "");
    expect(CSV "\n1,0,60,1\n",
           ONE ", 'workload': {'trace': 'jobs.csv', 'defaults': [{'set': {'checkpoint_interval_s': 60}}]}" UNDER("kai"),
           "priorities");
}

/* Each alternative is a setting that a scenario takes, and it says what was assumed. */
TEST(each_alternative_says_what_was_assumed)
{
    static const char csv[] = CSV "\n1,0,60,16\n2,5,60,1\n";
    static const char *const policies[] = {"kai", "easy", "windtunnel"};
    uint32_t seen = 0;
    scratch_write("jobs.csv", csv, sizeof csv - 1);
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct buffer text = {0};
        buffer_format(&text,
                      "{" TWO ",'workload': {'trace': 'jobs.csv', 'defaults': [{'set': {'restart_s': 1}}]}, "
                      "'policy': {'preset': '%s'}}",
                      policies[p]);
        const char *path = scratch_write_json("s.json", buffer_c_string(&text));
        buffer_release(&text);
        struct scenario_options options = {.path = path};
        struct error error = assumptions_survey(&options, &arena, &assumed, &alternatives);
        assert_false(error_is(error));
        const struct alternatives all = alternatives;
        for (size_t a = 0; a < all.count; a++) {
            options.sets = &all.of[a].set;
            options.set_count = 1;
            error = assumptions_survey(&options, &arena, &assumed, &alternatives);
            if (error_is(error))
                fail_msg("%s: %s", all.of[a].set, error_message(&error));
            for (size_t i = 0; i < assumed.count; i++)
                if (strcmp(assumed.of[i].what, all.of[a].what) == 0)
                    fail_msg("with %s still no job says its %s", all.of[a].set, all.of[a].what);
            seen++;
            if (strncmp(all.of[a].set, "workload.defaults=", strlen("workload.defaults=")) == 0)
                assert_non_null(strstr(all.of[a].set, "\"restart_s\":1")); /* the scenario's own row stays */
        }
    }
    assert_true(seen >= 12);
}

static int begin(void **state)
{
    return scratch_make(state);
}

static int end(void **state)
{
    arena_release(&arena);
    return scratch_remove(state);
}

TEST_GROUP(begin, end)
