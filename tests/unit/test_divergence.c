/* The first difference of two runs, in words, where it is known by hand. */
#include "tests/support/test.h"

#include "studies/divergence/divergence.h"
#include "tests/support/scratch.h"

/* Four nodes of 8 GPUs.  11 takes two of them; 12 does not fit; 14 would, if jobs may overtake. */
static void write_scenario(const char *jobs)
{
    scratch_write("jobs.csv", jobs, strlen(jobs));
    scratch_write_json("s.json", "{'cluster': {'name': 'four', 'pools': [{'name': 'h', 'nodes': 4, 'gpus_per_node': 8, "
                                 "'gpu_model': 'h100-80gb'}]}, 'workload': {'trace': 'jobs.csv'}, "
                                 "'policy': {'preset': 'fifo'}}");
}

static const char columns[] = "job_id,submit_s,duration_s,gpus,queue,user,priority\n";

static char *text_new(const struct scenario_options *a, const struct scenario_options *b)
{
    struct divergence found;
    struct buffer text = {0};
    struct error error = divergence_find(a, b, NULL, &found);
    assert_false(error_is(error));
    divergence_text(&found, "base", "other", &text);
    divergence_release(&found);
    char *copy = mem_copy_text(buffer_c_string(&text));
    buffer_release(&text);
    return copy;
}

static void expect(const char *jobs, const char *set, const char *expected)
{
    struct buffer all = {0};
    buffer_string(&all, columns);
    buffer_string(&all, jobs);
    write_scenario(buffer_c_string(&all));
    buffer_release(&all);
    const struct scenario_options a = {.path = scratch_path("s.json")};
    struct scenario_options b = a;
    b.sets = &set;
    b.set_count = set != NULL;
    char *text = text_new(&a, &b);
    assert_string_equal(text, expected);
    mem_free(text);
}

static const char overtaken[] = "11,0,600,16,red,ann,0\n12,10,60,32,red,ann,0\n14,30,60,1,blue,bob,0\n";

TEST(equal_runs_differ_in_nothing)
{
    expect(overtaken, NULL, "first decision that differs: none\n");
    expect(overtaken, "seed=7", "first decision that differs: none\n"); /* nothing here is left to chance */
}

TEST(a_start_that_one_side_does_not_make_has_its_reason)
{
    expect(overtaken, "policy.blocking=skip",
           "first decision that differs: at 30 s; before it, 1 cycle decided the same\n"
           "job 14 (training, queue blue, 1 GPU)\n"
           "  base   does not start it: Priority. 1 job of its line goes before it. It would fit now.\n"
           "  other  starts it on n2:0 (decision 2)\n");
}

TEST(a_start_elsewhere_names_both_places)
{
    expect("1,0,600,3,red,ann,0\n2,5,600,1,red,ann,0\n", "policy.placement=worst_fit",
           "first decision that differs: at 0 s; before it, 0 cycles decided the same\n"
           "job 1 (training, queue red, 3 GPUs)\n"
           "  base   starts it on n0:0-2 (decision 1)\n"
           "  other  starts it on n[0-2]:0 (decision 1)\n");
}

TEST(an_eviction_names_both_jobs)
{
    expect("1,0,600,32,red,ann,10\n2,5,600,32,red,bob,90\n", "policy={\"preset\": \"kai\"}",
           "first decision that differs: at 5 s; before it, 1 cycle decided the same\n"
           "job 1 (training, queue red, 32 GPUs)\n"
           "  base   does not evict it: it runs\n"
           "  other  evicts it from n[0-3]:0-7 for job 2: Preempted (decision 2)\n"
           "job 2 (training, queue red, 32 GPUs)\n"
           "  base   holds no space for it: Resources. 4 more nodes with 8 free GPUs are needed; 0 of 32 members fit "
           "now, 0 GPUs are free.\n"
           "  other  holds space for it on n[0-3]:0-7 (decision 3), and decides 1 eviction for it\n");
}

TEST(a_fact_that_differs_comes_first)
{
    expect("1,0,600,8,red,ann,0\n2,5,600,8,red,ann,0\n", "world.end=300",
           "first fact that differs, so the inputs do: at 600 s (10m 00s)\n"
           "  base   {\"job_ended\":600000000000,\"job\":0,\"end\":\"completed\"}\n"
           "  other  no such fact at that time\n"
           "first decision that differs: none\n");
}

TEST_GROUP(scratch_make, scratch_remove)
