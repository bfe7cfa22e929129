
#include "tests/support/test.h"

#include "topologies/cluster_load.h"
#include "topologies/gpu_model.h"
#include "topologies/mig.h"
#include "workloads/job.h"
#include "workloads/request/ask.h"

TEST(test_default_asks_nothing)
{
    struct job job = job_default();
    assert_int_equal(job.priority, 50);
    assert_true(job.is_preemptible);
    assert_true(job.limit == TIME_NEVER);
    assert_int_equal(job_gpu_milli(&job), 0);
    assert_null(job_complaint(&job)); /* a member may ask nothing: it is a task of its node */
    job.first.request.cpu_milli = 1;
    assert_null(job_complaint(&job));
}

static void check_request_class(uint32_t gpus, uint16_t per_node, uint32_t members, uint16_t each)
{
    struct job job = job_default();
    job_shape_gpus(&job, gpus, per_node);
    assert_int_equal(job.first.count, members);
    assert_int_equal(job.first.min_count, members);
    assert_int_equal(job.first.request.gpus, each);
    assert_int_equal(job_gpu_milli(&job), (int64_t)gpus * GPU_MILLI);
}

TEST(test_shapes)
{
    check_request_class(1, 8, 1, 1);
    check_request_class(5, 8, 1, 5);
    check_request_class(8, 8, 1, 8);
    check_request_class(16, 8, 2, 8);
    check_request_class(12, 8, 2, 6);
    check_request_class(11, 8, 11, 1); /* 2 nodes do not divide it */
    check_request_class(4, 0, 4, 1);
    check_request_class(1000000, 8, 125000, 8);
    check_request_class(0, 8, 1, 0);
    check_request_class(0, 0, 1, 0);
}

TEST(test_sizes_in_milli_gpus)
{
    const struct gpu_model *h100 = gpu_model_find(TEXT("h100-80gb"));
    struct request share = {.gpu_milli = 142};
    struct request memory = {.gpu_memory_mib = h100->memory_mib / 4};
    struct request third = {.gpu_memory_mib = h100->memory_mib / 3 + 1};
    struct request mig_1g = {.mig = MIG_1G + 1}, mig_3g = {.mig = MIG_3G + 1};
    struct request mig_7g = {.mig = MIG_7G + 1}, whole = {.gpus = 8};
    assert_int_equal(request_gpu_milli(&whole, h100), 8000);
    assert_int_equal(request_gpu_milli(&share, h100), 142);
    assert_int_equal(request_gpu_milli(&share, NULL), 142);
    assert_int_equal(request_gpu_milli(&memory, h100), 250);
    assert_int_equal(request_gpu_milli(&third, h100), 333); /* rounded down: the ledger counts the rest */
    assert_int_equal(request_gpu_milli(&memory, NULL), 1000);
    assert_int_equal(request_gpu_milli(&mig_1g, h100), 142);
    assert_int_equal(request_gpu_milli(&mig_3g, h100), 500); /* two fill the memory */
    assert_int_equal(request_gpu_milli(&mig_7g, h100), 1000);
    assert_int_equal(request_gpu_milli(&mig_1g, NULL), 1000);
}

TEST(test_groups_sum_their_members)
{
    struct job_group more[] = {{.request = {.gpu_milli = 250}, .count = 8, .min_count = 4},
                               {.request = {.cpu_milli = 1000}, .count = 3, .min_count = 3}};
    struct job job = job_default();
    job.group_count = 3;
    job.first = (struct job_group){.request = {.gpus = 2}, .count = 5, .min_count = 2};
    job.more = more;
    assert_null(job_complaint(&job));
    assert_ptr_equal(job_group(&job, 0), &job.first);
    assert_ptr_equal(job_group(&job, 2), &more[1]);
    assert_int_equal(job_gpu_milli(&job), 5 * 2000 + 8 * 250);
}

/* One change that breaks the law, and a word of the complaint. */
static void check_complaint(struct job job, const char *word)
{
    const char *complaint = job_complaint(&job);
    assert_non_null(complaint);
    if (strstr(complaint, word) == NULL)
        fail_msg("'%s' not in '%s'", word, complaint);
}

/* Sets: a parent before its children, no group outside, no minimum that cannot be. */
TEST(test_set_complaints)
{
    struct job_set sets[] = {{.name = "a", .parent = SET_NONE, .min_members = 2},
                             {.name = "b", .parent = 0, .min_members = 0}};
    const struct job_group more = {.request = {.gpus = 1}, .count = 3, .set = 1};
    struct job sound = job_default(), job;
    sound.first = (struct job_group){.request = {.gpus = 1}, .count = 2};
    sound.group_count = 2;
    sound.more = &more;
    sound.set_count = 2;
    sound.sets = sets;
    assert_null(job_complaint(&sound)); /* groups have no minimum of their own then */
    job = sound, job.set_count = 1;
    check_complaint(job, "set that does not exist");
    sets[1].parent = 1;
    check_complaint(sound, "before its parent");
    sets[1].parent = 0;
    sets[0].min_members = 3;
    check_complaint(sound, "exceeds its members");
    sets[0].min_members = 0;
    check_complaint(sound, "no set must");
}

/* A number of the sets that are in no other, and of those in a set; without sets of the groups. */
TEST(test_needed_sets)
{
    struct job_set sets[] = {{.name = "a", .parent = SET_NONE, .min_members = 1},
                             {.name = "b", .parent = SET_NONE, .min_members = 1},
                             {.name = "c", .parent = 1, .min_members = 1},
                             {.name = "d", .parent = 1, .min_members = 1}};
    struct job_group more[3];
    for (uint16_t g = 0; g < 3; g++)
        more[g] = (struct job_group){.request = {.gpus = 1}, .count = 1, .min_count = 1};
    struct job sound = job_default(), job;
    sound.group_count = 4;
    sound.more = more;
    job = sound, job.min_sets = 4, assert_null(job_complaint(&job));
    job = sound, job.min_sets = 5, check_complaint(job, "more sets than it has");
    for (uint16_t g = 0; g < 3; g++)
        more[g].set = (uint16_t)(g + 1);
    sound.set_count = 4;
    sound.sets = sets;
    sound.min_sets = 2;
    sets[1].min_sets = 2;
    assert_null(job_complaint(&sound));
    job = sound, job.min_sets = 3, check_complaint(job, "more sets than it has");
    sets[1].min_sets = 3;
    check_complaint(sound, "more sets than are in it");
    sets[1].min_sets = 1;
    sets[0].min_members = 0;
    sound.min_sets = 1;
    check_complaint(sound, "no set must"); /* the first would be satisfied by nothing */
    sound.min_sets = 2;
    assert_null(job_complaint(&sound));
    assert_int_equal(sets_in(sets, 4, SET_NONE), 2);
    assert_int_equal(sets_in(sets, 4, 1), 2);
    assert_true(sets_may_lack(sets, 4, 2));
    sets[1].min_sets = 2;
    assert_false(sets_may_lack(sets, 4, 2));
    assert_true(sets_may_lack(NULL, 3, 2));
    assert_false(sets_may_lack(NULL, 3, 0));
}

/* A set in another counts for that one alone; what is not satisfied does not count, whatever it holds. */
TEST(test_satisfied_sets)
{
    const struct job_set sets[] = {
        {.parent = SET_NONE}, {.parent = SET_NONE, .min_sets = 1}, {.parent = 1}, {.parent = 1}};
    bool all[] = {true, true, false, true};
    assert_true(sets_settle(sets, 4, 0, all));
    assert_true(all[0] && all[1] && !all[2] && all[3]);
    bool none_in_1[] = {true, true, false, false};
    assert_false(sets_settle(sets, 4, 2, none_in_1));
    assert_false(none_in_1[1]);
    bool enough[] = {true, true, false, false};
    assert_true(sets_settle(sets, 4, 1, enough));
    bool groups[] = {false, true, true};
    assert_true(sets_settle(NULL, 3, 2, groups));
    assert_false(sets_settle(NULL, 3, 0, groups));
}

/* Of two groups that are needed one has succeeded as a whole: one more is needed, of those that are left. */
TEST(test_needed_sets_that_succeeded)
{
    struct job_group more[] = {{.request = {.gpus = 1}, .count = 2, .min_count = 2},
                               {.request = {.gpus = 1}, .count = 2, .min_count = 2}};
    struct job job = job_default();
    uint16_t new_index[3];
    job.first = more[0];
    job.group_count = 3;
    job.more = more;
    job.min_sets = 2;
    job_leave_out(&job, more, NULL, (uint32_t[]){0, 2, 0}, new_index);
    assert_int_equal(job.group_count, 2);
    assert_int_equal(job.min_sets, 1);
    job_leave_out(&job, more, NULL, (uint32_t[]){2, 0}, new_index);
    assert_int_equal(job.min_sets, 1); /* any will do */
    assert_null(job_complaint(&job));
}

TEST(test_closeness_complaints)
{
    struct job sound = job_default(), job;
    struct job_set sets[1] = {{.name = "", .parent = SET_NONE, .min_members = 6}};
    sound.first = (struct job_group){
        .request = {.gpus = 4, .one_island = true}, .count = 6, .min_count = 6, .slice_level = 1, .slice_members = 3};
    assert_null(job_complaint(&sound));
    job = sound, job.first.slice_members = 4, check_complaint(job, "divide");
    job = sound, job.first.slice_members = 0, check_complaint(job, "size and a level");
    job = sound, job.first.slice_level = 0, check_complaint(job, "size and a level");
    job = sound, job.first.min_count = 3, check_complaint(job, "start together");
    job = sound, job.first.request = (struct request){.gpu_milli = 500, .one_island = true};
    check_complaint(job, "only whole GPUs");
    job = sound, job.set_count = 1, job.sets = sets;
    assert_null(job_complaint(&job));
    sets[0].min_members = 3;
    check_complaint(job, "start together");
}

static void check_tensor_parallel(struct cluster *cluster, struct ask ask, uint32_t count, uint32_t gpus,
                                  uint32_t slice)
{
    struct job job = job_default();
    assert_null(ask_tensor_parallel(&ask, cluster, &job));
    assert_null(job_complaint(&job));
    assert_int_equal(job.first.count, count);
    assert_int_equal(job.first.request.gpus, gpus);
    assert_int_equal(job.first.request.one_island, gpus > 1);
    assert_int_equal(job.first.slice_members, slice);
    assert_int_equal(job.first.slice_level, slice == 0 ? 0 : cluster_level_of(cluster, TEXT("nvlink")));
}

TEST(test_tensor_parallel_groups)
{
    struct cluster *rack, *node = cluster_uniform_new(4, 8);
    struct ask ask = {.gpus = 64, .tensor_parallel = 8, .cpu_milli = 64000};
    struct job job = job_default();
    struct error error = cluster_load(&rack, "topologies/nvl72-8.json");
    assert_string_equal(error_message(&error), "");
    check_tensor_parallel(node, ask, 8, 8, 0);
    check_tensor_parallel(rack, ask, 16, 4, 2);
    ask.tensor_parallel = 2;
    check_tensor_parallel(node, ask, 32, 2, 0);
    check_tensor_parallel(rack, ask, 32, 2, 0);
    ask = (struct ask){.gpus = 144, .tensor_parallel = 72};
    check_tensor_parallel(rack, ask, 36, 4, 18);
    assert_non_null(strstr(ask_tensor_parallel(&ask, node, &job), "no NVLink domain"));
    ask = (struct ask){.gpus = 12, .tensor_parallel = 6};
    assert_non_null(strstr(ask_tensor_parallel(&ask, rack, &job), "does not fill"));
    rack->level_count = 1;
    ask = (struct ask){.gpus = 16, .tensor_parallel = 8};
    assert_non_null(strstr(ask_tensor_parallel(&ask, rack, &job), "no level"));
    ask.gpu_models = 2;
    assert_non_null(strstr(ask_tensor_parallel(&ask, rack, &job), "no node has GPUs"));
    cluster_free(rack);
    cluster_free(node);
}

TEST(test_tie_complaints)
{
    struct job_after after = {.job = 3, .kind = AFTER_NOT_OK};
    struct job sound = job_default(), job;
    sound.first.request.gpus = 1;
    sound.after = &after;
    sound.after_count = 1;
    sound.array = 1;
    sound.array_max = 2;
    assert_null(job_complaint(&sound));
    job = sound, job.after = NULL;
    check_complaint(job, "dependencies");
    job = sound, job.after_count = JOB_AFTER_MAX + 1;
    check_complaint(job, "more than 64");
    job = sound, job.array = 0;
    check_complaint(job, "array");
    after.kind = AFTER_NOT_OK + 1;
    check_complaint(sound, "unknown way");
}

TEST(test_complaints)
{
    struct job sound = job_default(), job;
    sound.first.request.gpus = 1;
    assert_null(job_complaint(&sound));
    job = sound, job.class = JOB_CLASS_COUNT, check_complaint(job, "class");
    job = sound, job.group_count = 0, check_complaint(job, "groups");
    job = sound, job.group_count = 2, check_complaint(job, "further groups");
    job = sound, job.first.count = 0, check_complaint(job, "no members");
    job = sound, job.first.min_count = 0, check_complaint(job, "minimum");
    job = sound, job.first.min_count = 2, check_complaint(job, "minimum");
    job = sound, job.first.request.gpu_milli = 100, check_complaint(job, "more than one way");
    job = sound, job.first.request.mig = 1, check_complaint(job, "more than one way");
    job = sound, job.submit = -1, check_complaint(job, "before the start");
    job = sound, job.limit = 0, check_complaint(job, "limit");
    job = sound, job.checkpoint.restart = -1, check_complaint(job, "checkpoint");
    job = sound, job.first.request = (struct request){.gpu_milli = 1000};
    check_complaint(job, "less than the whole");
    job = sound, job.first.request = (struct request){.mig = MIG_PROFILE_COUNT + 1};
    check_complaint(job, "MIG");
}

TEST(test_class_names)
{
    for (int i = 0; i < JOB_CLASS_COUNT; i++)
        assert_string_equal(job_class_name((enum job_class)i), job_class_names[i]);
    assert_null(job_class_names[JOB_CLASS_COUNT]);
    assert_string_equal(job_class_name(JOB_INFERENCE), "inference");
}

TEST(test_asks_are_split_over_members)
{
    struct job job = job_default();
    enum ask_field culprit;
    struct ask ask = {.gpus = 32, .nodes = 4, .cpu_milli = 10001, .memory_mib = 9, .min_members = 2};
    assert_null(ask_shape(&ask, &job, &culprit));
    assert_int_equal(job.first.count, 4);
    assert_int_equal(job.first.min_count, 2);
    assert_int_equal(job.first.request.gpus, 8);
    assert_int_equal(job.first.request.cpu_milli, 2501); /* rounded up */
    assert_int_equal(job.first.request.memory_mib, 3);
    ask = (struct ask){.gpus = 3, .nodes = 2};
    assert_non_null(ask_shape(&ask, &job, &culprit));
    assert_int_equal(culprit, ASK_NODES);
    assert_int_equal(job.first.count, 4); /* as before */
    ask = (struct ask){.gpus = 3, .min_members = 4};
    assert_non_null(ask_shape(&ask, &job, &culprit));
    assert_int_equal(culprit, ASK_MIN_MEMBERS);
}

TEST(test_model_masks)
{
    struct cluster *cluster = cluster_uniform_new(1, 8);
    uint64_t absent = UINT64_C(1) << CLUSTER_MODELS_MAX, models;
    struct text own = text_of(cluster->models[0].name);
    assert_true(ask_models(cluster, TEXT("")) == 0);
    assert_true(ask_models(cluster, own) == 1);
    assert_true(ask_models(cluster, TEXT("no-such-gpu")) == absent);
    assert_true(ask_models(cluster, TEXT("no-such-gpu|no-other")) == absent);
    assert_true(ask_both_models(0, 6) == 6);
    assert_true(ask_both_models(3, 6) == 2);
    assert_true(ask_both_models(1, 6) == absent);
    assert_int_equal(ask_mig(cluster, TEXT("1g.10gb"), &models), MIG_1G + 1);
    assert_true(models == absent); /* the generic model has no MIG */
    assert_int_equal(ask_mig(cluster, TEXT("9g.1gb"), &models), 0);
    cluster_free(cluster);
}
