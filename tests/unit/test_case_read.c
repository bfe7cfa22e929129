/* Cases: what the reader makes of a text, and what it refuses. */
#include "tests/support/test.h"

#include "sim/cases/case.h"
#include "tests/support/case_error.h"
#include "tests/support/scratch.h"

#define HEAD                                                                                                           \
    "{'name': 'c', 'nodes': [{'name': 'n0', 'gpus': 4, 'gpu_model': "                                                  \
    "'h100-80gb'}, {'name': 'n1', 'gpus': 2, 'gpu_memory_gb': 40, 'labels': "                                          \
    "{'rack': 'r'}}],\n"

static const char *write_file(const char *text)
{
    return scratch_write_json("case.json", text);
}

static struct case_file read_good(const char *text)
{
    struct case_file file;
    struct error error = case_file_read(&file, write_file(text), NULL);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    for (size_t i = 0; i < file.count; i++)
        if (error_is(file.cases[i].error))
            fail_msg("%s: %s", file.cases[i].name, error_message(&file.cases[i].error));
    return file;
}

/* The text without its mark '@' is refused at the place of the mark, with a message that holds `words`. */
static void refuse(const char *marked, const char *words)
{
    const char *mark = strchr(marked, '@');
    size_t line = 1, column = 1;
    assert_non_null(mark);
    for (const char *c = marked; c < mark; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    struct buffer text = {0}, expected = {0};
    buffer_bytes(&text, marked, (size_t)(mark - marked));
    buffer_string(&text, mark + 1);
    const char *path = write_file(buffer_c_string(&text));
    buffer_format(&expected, "%s:%zu:%zu:", path, line, column);
    struct error error = case_error_of(path);
    assert_true(error_is(error));
    assert_int_equal(error_exit_status(error.kind), 3);
    char *said = error_text_new(&error);
    if (strstr(said, buffer_c_string(&expected)) == NULL || strstr(said, words) == NULL)
        fail_msg("expected %s ... %s, got %s", buffer_c_string(&expected), words, said);
    free(said);
    buffer_release(&text);
    buffer_release(&expected);
    error_release(&error);
}

TEST(defaults)
{
    struct case_file file =
        read_good(HEAD "'queues': [{'name': 'q0'}, {'name': 'q1', 'age_s': 7}],'jobs': [{'name': 'a', 'queue': 'q0', "
                       "'tasks': [{'gpus': 1}]},{'name': 'b', 'queue': 'q1', 'priority': 100, 'tasks': [{'gpus': 2, "
                       "'count': 3}]}],'expect': {'a': {}}}");
    assert_int_equal(file.count, 1);
    const struct case_spec *spec = &file.cases[0];
    assert_int_equal(spec->rounds, 1);
    assert_int_equal(spec->stable_rounds, 0);
    assert_int_equal(spec->round, TIME_NS_PER_S);
    assert_int_equal(spec->job_count, 2);
    const struct job *a = &spec->jobs[0].job, *b = &spec->jobs[1].job;
    assert_string_equal(spec->jobs[0].name, "a");
    assert_int_equal(a->priority, 50);
    assert_true(a->is_preemptible);
    assert_false(b->is_preemptible);
    assert_int_equal(a->submit, CASE_NOW - 120 * TIME_NS_PER_S);
    assert_int_equal(b->submit, CASE_NOW - 60 * TIME_NS_PER_S);
    assert_int_equal(b->group_count, 1);
    assert_int_equal(b->first.count, 3);
    assert_int_equal(b->first.min_count, 3);
    assert_int_equal(b->first.request.gpus, 2);
    assert_int_equal(b->first.request.cpu_milli, 1000);
    assert_int_equal(b->first.request.memory_mib, 1024);
    assert_true(b->limit == TIME_NEVER && b->estimate == TIME_NEVER && b->deadline == TIME_NEVER);
    const struct queue_spec *q0 = &spec->queues->queues[1], *q1 = &spec->queues->queues[2];
    assert_int_equal(q0->deserved[RESOURCE_GPU], 0);
    assert_int_equal(q0->deserved[RESOURCE_CPU], QUOTA_UNLIMITED);
    assert_int_equal(q0->limit[RESOURCE_GPU], QUOTA_UNLIMITED);
    assert_int_equal(q0->weight_milli[RESOURCE_GPU], 1000);
    assert_int_equal(q0->priority, 100);
    assert_int_equal(q0->created, CASE_NOW - 120 * TIME_NS_PER_S);
    assert_int_equal(q1->created, CASE_NOW - 7 * TIME_NS_PER_S);
    assert_int_equal(spec->cluster->models[spec->cluster->types[1].model].memory_mib, 40 * 1024);
    case_file_release(&file);
}

TEST(running_tasks_take_gpus)
{
    struct case_file file =
        read_good(HEAD "'jobs': [{'name': 'a', 'tasks': [{'gpus': 1, 'state': 'running', 'node': 'n0', 'count': 2}]},"
                       "{'name': 'b', 'tasks': [{'gpu_fraction': 0.25, 'state': 'running', 'node': 'n0', "
                       "'gpu_index': [0], 'count': 2, 'running_for_s': 90},{'gpu_memory_gb': 10, 'state': 'running', "
                       "'node': 'n1'},{'gpus': 1}]}],'expect': {'b': {'running': 3}}}");
    const struct case_job *b = &file.cases[0].jobs[1], *a = &file.cases[0].jobs[0];
    /* GPU 0 is named by the fractions, so that the whole ones take 1 and 2. */
    assert_int_equal(a->piece_count, 2);
    assert_int_equal(a->pieces[0].gpu_mask, 1 << 1);
    assert_int_equal(a->pieces[1].gpu_mask, 1 << 2);
    assert_int_equal(b->piece_count, 3);
    assert_int_equal(b->pieces[1].gpu_mask, 1);
    assert_int_equal(b->pieces[1].gpu_milli, 250);
    assert_int_equal(b->pieces[2].node, 1);
    assert_int_equal(b->pieces[2].gpu_milli, 250); /* 10 of 40 GB */
    assert_int_equal(b->pieces[2].group, 1);
    assert_int_equal(b->started, CASE_NOW - 90 * TIME_NS_PER_S);
    assert_true(b->job.submit <= b->started);
    assert_int_equal(b->job.group_count, 3);
    assert_int_equal(b->job.set_count, 1); /* unequal tasks: one set, all of them */
    assert_int_equal(b->job.sets[0].min_members, 4);
    case_file_release(&file);
}

#define CUT                                                                                                            \
    "{'name': 'c', 'nodes': [{'name': 'n0', 'gpus': 2, 'gpu_model': "                                                  \
    "'h100-80gb', 'gpus_layout': [['1g.10gb', '1g.10gb', '1g.10gb'], ['3g.40gb', "                                     \
    "'1g.10gb', '1g.10gb']]}],\n"
#define MIG_RUNS ", 'state': 'running', 'node': 'n0'"

/* A task of several instances: members in slices of one node, which share its CPUs and memory. */
TEST(several_instances_are_members)
{
    struct case_file file =
        read_good(CUT "'jobs': [{'name': 'a', 'min_members': 3, 'tasks': [{'gpus': 0, "
                      "'name': 'first' " MIG_RUNS "},{'mig': {'1g.10gb': 2}, 'cpus': 3, "
                      "'memory_gb': 1, 'count': 2, 'name': 'pair' " MIG_RUNS "}]}],'expect': {'a': {'running': 3, "
                      "'evicted_tasks': ['first', 2]}}}");
    const struct case_job *a = &file.cases[0].jobs[0];
    assert_int_equal(a->task_count, 3);
    assert_string_equal(a->task_names[2], "pair");
    assert_int_equal(a->job.group_count, 2);
    const struct job_group *pairs = job_group(&a->job, 1);
    assert_int_equal(pairs->count, 4);
    assert_int_equal(pairs->slice_members, 2);
    assert_int_equal(pairs->slice_level, cluster_level_of(file.cases[0].cluster, TEXT("node")));
    assert_int_equal(pairs->request.mig, MIG_1G + 1);
    assert_int_equal(pairs->request.cpu_milli, 1500);
    assert_int_equal(pairs->request.memory_mib, 512);
    assert_int_equal(a->min_members, 5);
    assert_int_equal(a->job.sets[0].min_members, 5);
    assert_int_equal(a->task_members[0], 1);
    assert_int_equal(a->task_members[1], 2);
    assert_int_equal(a->piece_count, 5);
    for (uint32_t i = 1; i < a->piece_count; i++) {
        assert_int_equal(a->piece_tasks[i], (i + 1) / 2);
        assert_int_equal(a->pieces[i].gpu_mask, i < 4 ? 1 : 2); /* three of the first GPU */
    }
    case_file_release(&file);
}

/* Of several profiles: a set of its own, a group for each; the task is counted once. */
TEST(several_profiles_are_a_set)
{
    struct case_file file = read_good(
        CUT "'jobs': [{'name': 'a', 'tasks': [{'mig': {'3g.40gb': 1, '1g.10gb': 2}, 'cpus': 1, 'name': 't0' " MIG_RUNS
            "}, {'mig': '1g.10gb', 'name': 't1'" MIG_RUNS "}, {'mig': {'3g.40gb': 1, '1g.10gb': 1}, 'count': 2}]}],"
            "'expect': {'a': {'evicted_tasks': ['t0', 't1']}}}");
    const struct case_job *a = &file.cases[0].jobs[0];
    const uint8_t node = cluster_level_of(file.cases[0].cluster, TEXT("node"));
    static const uint32_t counts[] = {2, 1, 1, 1, 1, 1, 1}, members[] = {2, 0, 1, 1, 0, 1, 0};
    static const uint16_t sets[] = {0, 0, 3, 1, 1, 2, 2};
    static const uint32_t tasks[] = {0, 0, 0, 1};
    assert_int_equal(a->task_count, 4);
    assert_int_equal(a->job.group_count, 7);
    assert_int_equal(a->job.set_count, 4);
    for (uint32_t g = 0; g < 7; g++) {
        const struct job_group *group = job_group(&a->job, g);
        assert_int_equal(group->count, counts[g]);
        assert_int_equal(group->set, sets[g]);
        assert_int_equal(group->slice_members, 0);
        assert_int_equal(a->task_members[g], members[g]);
        assert_int_equal(group->request.cpu_milli, g < 2 ? 334 : g == 2 ? 1000 : 500);
    }
    for (uint32_t s = 0; s < 4; s++) {
        assert_int_equal(a->job.sets[s].topology.required, s < 3 ? node : 0);
        assert_int_equal(a->job.sets[s].min_members, s == 0 ? 3 : s < 3 ? 2 : 1);
    }
    assert_int_equal(a->piece_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(a->piece_tasks[i], tasks[i]);
    case_file_release(&file);
}

TEST(releasing_tasks_are_a_part_of_their_own)
{
    struct case_file file =
        read_good(HEAD "'jobs': [{'name': 'gone', 'tasks': [{'gpus': 1, 'state': 'releasing', 'node': 'n0'}]},"
                       "{'name': 'shrinks', 'tasks': [{'gpus': 1, 'state': 'running', 'node': 'n0'}, {'gpus': 1, "
                       "'state': 'releasing', 'node': 'n0'}]},{'name': 'replaced', 'min_members': 2, "
                       "'tasks': [{'gpus': 1, 'state': 'running', 'node': 'n1'}, {'gpus': 1, 'state': 'releasing', "
                       "'node': 'n1'}]}],'expect': {'gone': {'status': 'releasing'}}}");
    const struct case_spec *spec = &file.cases[0];
    assert_int_equal(spec->job_count, 5);
    assert_true(spec->jobs[0].is_leaving);
    assert_int_equal(spec->jobs[0].part_of, CASE_NONE);
    assert_int_equal(spec->jobs[1].job.first.count, 1);
    assert_int_equal(spec->jobs[1].min_members, 1);
    assert_int_equal(spec->jobs[2].job.first.count, 2);
    assert_int_equal(spec->jobs[2].piece_count, 1);
    assert_true(spec->jobs[3].is_leaving);
    assert_int_equal(spec->jobs[3].part_of, 1);
    assert_int_equal(spec->jobs[3].piece_count, 1);
    assert_int_equal(spec->jobs[4].part_of, 2);
    case_file_release(&file);
}

TEST(subgroups_become_sets)
{
    struct case_file file =
        read_good(HEAD "'levels': ['rack', 'node'],'jobs': [{'name': 'a', 'min_members': 4, "
                       "'subgroups': [{'name': 'leaf', 'parent': 'top', 'min_members': 1, "
                       "'topology': {'required': 'node'}}, {'name': 'top'}, {'name': 'other', 'parent': 'top'}],"
                       "'tasks': [{'gpus': 1, 'subgroup': 'leaf', 'count': 2}, {'gpus': 1, 'subgroup': 'other', "
                       "'count': 2}, {'gpus': 1}]}],'expect': {'a': {'status': 'pending'}}}");
    const struct job *a = &file.cases[0].jobs[0].job;
    assert_int_equal(a->set_count, 4);
    assert_string_equal(a->sets[0].name, "top");
    assert_int_equal(a->sets[0].min_members, 0);
    assert_int_equal(a->sets[0].parent, SET_NONE);
    assert_string_equal(a->sets[1].name, "other");
    assert_int_equal(a->sets[1].min_members, 2);
    assert_int_equal(a->sets[1].parent, 0);
    assert_string_equal(a->sets[2].name, "leaf");
    assert_int_equal(a->sets[2].min_members, 1);
    assert_int_equal(a->sets[2].parent, 0);
    assert_int_equal(a->sets[2].topology.required, 2);
    assert_string_equal(a->sets[3].name, "");
    assert_int_equal(a->sets[3].min_members, 1);
    assert_int_equal(a->group_count, 3);
    assert_int_equal(job_group(a, 0)->set, 2);
    assert_int_equal(job_group(a, 1)->set, 1);
    assert_int_equal(job_group(a, 2)->set, 3);
    case_file_release(&file);
}

TEST(queues_in_any_order_and_cohorts)
{
    struct case_file file =
        read_good(HEAD "'queues': [{'name': 'leaf', 'parent': 'top', 'quota_gpus': 0.5}, {'name': 'top'}, "
                       "{'name': 'cq', 'cohort': 'all', 'nominal_gpus': 3}],'jobs': [{'name': 'a', 'queue': 'leaf', "
                       "'tasks': [{'gpus': 1}]}],'expect': {'a': {'status': 'pending'}}}");
    const struct queue_table *table = file.cases[0].queues;
    queue_id leaf = queue_table_find(table, TEXT("leaf")), cq = queue_table_find(table, TEXT("cq"));
    queue_id top = queue_table_find(table, TEXT("top")), all = queue_table_find(table, TEXT("all"));
    assert_int_equal(table->queues[leaf].parent, top);
    assert_int_equal(table->queues[leaf].deserved[RESOURCE_GPU], 500);
    assert_int_equal(table->queues[cq].parent, all);
    assert_int_equal(table->queues[cq].deserved[RESOURCE_GPU], 3000);
    assert_int_equal(table->queues[all].parent, QUEUE_ROOT);
    assert_true(table->queues[leaf].created < table->queues[top].created); /* order of the text */
    case_file_release(&file);
}

TEST(policies_are_overridden)
{
    struct case_file file =
        read_good("[" HEAD "'policy': {'preset': 'windtunnel', 'set': {'preemption.grace_s': 7, "
                  "'preemption': {'victims_max': 9}, 'blocking': 'strict', "
                  "'quota': {'saturation_multiplier': 2}}},'jobs': [{'name': 'a', 'tasks': [{'gpus': 1}]}],"
                  "'expect': {'a': {'status': 'running'}}}]");
    const struct policy_config *policy = &file.cases[0].policy;
    assert_int_equal(policy->preempt.grace, 7 * TIME_NS_PER_S);
    assert_int_equal(policy->preempt.victims_max, 9);
    assert_int_equal(policy->quota_config.saturation_milli, 2000);
    assert_true(policy->is_strict);
    assert_non_null(strstr(policy->name, "windtunnel"));
    case_file_release(&file);
}

#define JOB_A  "'jobs': [{'name': 'a', 'tasks': [{'gpus': 1}]}],\n"
#define EXPECT "'expect': {'a': {'status': 'running'}}}"

TEST(bad_frames)
{
    refuse("@[]", "no case");
    refuse("{\"name\": @\"a\\nb\"}", "one line");
    refuse("@{'nodes': []}", "'name' is missing");
    refuse(HEAD JOB_A "@'expct': 1,\n" EXPECT, "did you mean 'expect'");
    refuse(HEAD JOB_A "'events': @[{}],\n" EXPECT, "not supported yet");
    refuse(HEAD JOB_A "'round_s': @0,\n" EXPECT, "positive");
    refuse(HEAD JOB_A "'expect': @{}}", "cannot fail");
    refuse(HEAD JOB_A "'expect': {'b': @{}}}", "no job 'b'");
    refuse(HEAD JOB_A "'expect': {'a': {'status': @'up'}}}", "must be one of");
    refuse(HEAD JOB_A "'expect': {'a': {'reason': @'resources'}}}", "Resources");
    refuse(HEAD JOB_A "'expect': {'a': {'node': @'n2'}}}", "no node 'n2'");
    refuse(HEAD JOB_A "'expect': {'a': {'node': ['n0', @'n0']}}}", "twice");
    refuse(HEAD JOB_A "'expect': {'a': {@'gpu': 1}}}", "did you mean 'gpus'");
}

#define POLICY(text) HEAD JOB_A "'policy': " text ",\n" EXPECT

TEST(bad_policies)
{
    refuse(POLICY("{'preset': @'windtunel'}"), "did you mean 'windtunnel'");
    refuse(POLICY("@{'set': {}}"), "needs a 'preset'");
    refuse(POLICY("{'preset': 'fifo', @'sett': {}}"), "did you mean 'set'");
    refuse(POLICY("{'preset': 'fifo', 'set': @[]}"), "must be an object");
    refuse(POLICY("{'preset': 'fifo', 'set': {'preemption.grase_s': @1}}"), "grase_s");
    refuse(POLICY("{'preset': 'fifo', 'set': {'preemption': {'grace_s': 1, 'nope': @1}}}"), "nope");
    refuse(POLICY("{'preset': 'fifo', 'set': {'preemption.grace_s': @'soon'}}"), "duration");
    refuse(POLICY("{'order': [@'fifi']}"), "fifi");
}

#define TASKS(text)   HEAD "'jobs': [{'name': 'a', 'tasks': [\n" text "]}],\n" EXPECT
#define RUNNING(node) "'state': 'running', 'node': '" node "'"

TEST(bad_tasks)
{
    refuse(TASKS("@{'gpus': 1, 'gpu_fraction': 0.5}"), "in one way");
    refuse(TASKS("{'gpus': 1, @'gpuz': 1}"), "unknown key 'gpuz'");
    refuse(TASKS("{'gpus': @17}"), "from 0 to 16");
    refuse(TASKS("{'gpu_fraction': @1.5}"), "to 1");
    refuse(TASKS("{'gpus': 1, 'node': @'n0'}"), "on no node");
    refuse(TASKS("@{'gpus': 1, 'state': 'running'}"), "'node' is missing");
    refuse(TASKS("{'gpus': 1, 'state': 'running', 'node': @'n9'}"), "no node 'n9'");
    refuse(TASKS("{'gpus': 1, " RUNNING("n1") ", 'gpu_index': [@2]}"), "2 GPUs");
    refuse(TASKS("{'gpus': 2, " RUNNING("n1") ", 'gpu_index': @[0]}"), "names 1 GPU");
    refuse(TASKS("@{'gpus': 2, " RUNNING("n1") ", 'gpu_index': [1, 1]}"), "twice");
    refuse(TASKS("{'gpus': 1, " RUNNING("n1") ", 'gpu_index': 0},\n"
                                              "@{'gpu_fraction': 0.1, " RUNNING("n1") ", 'gpu_index': 0}"),
           "taken by 'a'");
    refuse(TASKS("@{'gpus': 1, " RUNNING("n1") ", 'count': 3}"), "not enough free GPUs");
    refuse(TASKS("@{'gpu_fraction': 0.6, " RUNNING("n1") ", 'count': 3}"), "enough left");
    refuse(TASKS("@{'gpus': 1, 'cpus': 1e6, 'count': 2, " RUNNING("n1") "},\n"
                                                                        "{'gpus': 0, 'cpus': 1}"),
           "more CPUs");
    refuse(TASKS("{'mig': @'9g.1gb'}"), "no GPU of this case");
    refuse(TASKS("@{'mig': '1g.10gb', " RUNNING("n0") "}"), "no free MIG instance");
    refuse(TASKS("{'gpus': 1, 'mig_start': @0, " RUNNING("n0") "}"), "for tasks that ask");
    refuse(TASKS("{'gpus': 1, 'subgroup': @'s'}"), "no subgroup 's'");
}

TEST(bad_instances)
{
    refuse(TASKS("{'mig': @{'1g.10gb': 2, '9g.1gb': 1}}"), "a MIG profile '9g.1gb'");
    refuse(TASKS("{'mig': @{}}"), "names no profile");
    refuse(TASKS("{'mig': {'1g.10gb': @0}}"), "from 1 to");
    refuse(TASKS("{'mig': @2}"), "must be a string");
    refuse(TASKS("{'mig': {'1g.10gb': 2}, 'slice_members': @2, 'slice_level': 'unit'}"),
           "'slice_members': it excludes");
    refuse(TASKS("{'mig': {'1g.10gb': 1, '2g.20gb': 1}, 'gpu_index': @0, " RUNNING("n0") "}"),
           "'gpu_index': it excludes");
    refuse(TASKS("@{'mig': {'1g.10gb': 2}, 'count': 100000}"), "at most");
    refuse(TASKS("@{'mig': {'1g.10gb': 1, '2g.20gb': 1}, 'count': 64}"), "at most 63");
    refuse(HEAD "'levels': ['rack'],\n"
                "'jobs': [{'name': 'a', 'tasks': [{'mig': @{'1g.10gb': 2}}]}],\n" EXPECT,
           "no level is \"node\"");
    refuse("{'name': 'c', 'nodes': [{'name': 'n0', 'gpus': 4, 'gpu_model': 'h100-80gb', 'max_tasks': 3}],\n"
           "'jobs': [{'name': 'a', 'tasks': [{'mig': @{'1g.10gb': 2}}]}],\n" EXPECT,
           "'max_tasks'");
    refuse(HEAD "'jobs': [@{'name': 'a', 'min_members': 1, 'tasks': [{'mig': {'1g.10gb': 2}, 'count': 2}]}],\n" EXPECT,
           "'min_members' is all its tasks");
    refuse(HEAD "'jobs': [@{'name': 'a', 'subgroups': [{'name': 's', 'min_members': 1}], 'tasks': [{'subgroup': 's', "
                "'mig': {'1g.10gb': 2}}]}],\n" EXPECT,
           "its subgroups have no 'min_members'");
    refuse(HEAD "'jobs': [@{'name': 'a', 'min_subgroups': 1, 'subgroups': [{'name': 's'}, {'name': 't'}], "
                "'tasks': [{'subgroup': 's', 'mig': {'1g.10gb': 2}}, {'subgroup': 't', 'gpus': 1}]}],\n" EXPECT,
           "it has no 'min_subgroups'");
}

/* A job of two subgroups with a task each. */
#define SUBGROUPS(job, mark, first)                                                                                    \
    HEAD "'jobs': [{'name': 'a', " job ", 'subgroups': [" mark "{'name': " first                                       \
         "}, {'name': 't'}], 'tasks': [{'gpus': 1, 'subgroup': 's'}, {'gpus': 1, "                                     \
         "'subgroup': 't'}]}],\n" EXPECT

TEST(bad_jobs_and_queues)
{
    refuse(HEAD "'jobs': @[],\n" EXPECT, "from 1 to");
    refuse(HEAD "'jobs': [{'name': 'a', 'tasks': @[]}],\n" EXPECT, "at least one task");
    refuse(HEAD "'jobs': [@{'name': 'a', 'min_members': 3, 'tasks': [{'gpus': 1, 'count': 2}]}],\n" EXPECT,
           "has 2 tasks");
    refuse(HEAD "'jobs': [@{'name': 'a', 'min_members': 2, 'subgroups': [{'name': 's'}], 'tasks': [{'gpus': 1, "
                "'subgroup': 's', 'count': 3}]}],\n" EXPECT,
           "add up to 3");
    refuse(HEAD "'jobs': [{'name': 'a', 'min_subgroups': @1, 'tasks': [{'gpus': 1}]}],\n" EXPECT, "the job has none");
    refuse(SUBGROUPS("'min_subgroups': @0", "", "'s'"), "from 1 to");
    refuse(SUBGROUPS("'min_subgroups': @3", "", "'s'"), "is 3, but 2 subgroups");
    refuse(SUBGROUPS("'min_members': 2, 'min_subgroups': @1", "", "'s'"), "excludes 'min_members'");
    refuse(SUBGROUPS("'age_s': 1", "@", "'s', 'min_subgroups': 1"), "of the subgroups in it");
    refuse(HEAD "'jobs': [{'name': 'a', 'min_subgroups': 1, 'subgroups': [{'name': 's'}], 'tasks': [{'gpus': 1, "
                "'subgroup': 's'}, @{'gpus': 1}]}],\n" EXPECT,
           "names its subgroup");
    refuse(HEAD "'jobs': [{'name': 'a', 'topology': {'required': @'rock'}, 'tasks': [{'gpus': 1}]}],\n" EXPECT,
           "no level 'rock'");
    refuse(HEAD "'jobs': [{'name': 'a', 'age_s': @'401d', 'tasks': [{'gpus': 1}]}],\n" EXPECT, "400 days");
    refuse(HEAD "'queues': [{'name': 'q'}],\n"
                "'jobs': [@{'name': 'a', 'tasks': [{'gpus': 1}]}],\n" EXPECT,
           "'queue' is missing");
    refuse(HEAD "'queues': [{'name': 'q'}],\n"
                "'jobs': [{'name': 'a', 'queue': @'qq', 'tasks': [{'gpus': 1}]}],\n" EXPECT,
           "no queue 'qq'");
    refuse(HEAD "'queues': [{'name': 'q', 'parent': @'p'}],\n" JOB_A EXPECT, "no queue 'p'");
    refuse(HEAD "'queues': [@{'name': 'p', 'parent': 'q'}, {'name': 'q', 'parent': 'p'}],\n" JOB_A EXPECT,
           "below itself");
    refuse(HEAD "'queues': [{'name': 'q', 'over_quota_weight': @-1}],\n" JOB_A EXPECT, "from 0");
}

TEST_GROUP(scratch_make, scratch_remove)
