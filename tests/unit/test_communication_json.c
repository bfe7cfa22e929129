/* tests/unit/test_communication_json.c -- plans and sensitivities of jobs: read, fitted, written, compared. */
#include "tests/support/test.h"

#include "base/random.h"
#include "tests/support/json_text.h"
#include "topologies/communication.h"

#define MODEL "'layers': 32, 'hidden': 4096, 'sequence': 4096, 'vocabulary': 32000, 'batch': 64"

static struct error read_job(const char *text, uint32_t gpu_count, struct communication *out, bool *has)
{
    struct json_doc *doc = json_text_parse("job", text);
    struct error error = ERROR_OK;
    struct json_object object;
    const struct json_value root = json_doc_root(doc, &error);
    json_object_open(&object, &root);
    *has = communication_read(out, &object, gpu_count);
    json_object_close(&object);
    json_doc_free(doc);
    return error;
}

static struct communication job_of(const char *text, uint32_t gpu_count)
{
    struct communication communication;
    bool has;
    struct error error = read_job(text, gpu_count, &communication, &has);
    assert_string_equal(error_message(&error), "");
    assert_true(has);
    return communication;
}

TEST(nothing_is_declared)
{
    struct communication communication;
    bool has;
    struct error error = read_job("{'plan': null}", 8, &communication, &has);
    assert_false(error_is(error));
    assert_false(has);
}

TEST(sensitivities)
{
    uint32_t count;
    const struct sensitivity *table = sensitivity_table(&count);
    for (uint32_t i = 0; i < count; i++) {
        struct buffer text = {0};
        buffer_format(&text, "{'sensitivity': '%s'}", table[i].name);
        const struct communication named = job_of(buffer_c_string(&text), 8);
        assert_false(named.has_plan);
        assert_true(memcmp(&named.sensitivity, &table[i], sizeof table[i]) == 0);
        assert_string_equal(communication_name(&named), table[i].name);
        buffer_release(&text);
    }
    const struct communication own =
        job_of("{'sensitivity': {'collective': 'all-to-all', 'exposed_ratio': 0.3, 'hidden_ratio': 0.25,"
               " 'bytes': 1e9}}",
               0);
    assert_int_equal(own.sensitivity.kind, COLLECTIVE_ALL_TO_ALL);
    assert_true(own.sensitivity.exposed_ratio == 0.3 && own.sensitivity.hidden_ratio == 0.25);
    assert_true(own.sensitivity.bytes == 1e9);
    assert_string_equal(communication_name(&own), "own");
}

/* Without dp a plan gets the replicas that the job's GPUs make, at once or later. */
TEST(a_plan_fits_its_job)
{
    struct training_complaint why;
    struct communication fitted;
    const char *text = "{'plan': {" MODEL ", 'tp': 4, 'pp': 2}}";
    const struct communication open = job_of(text, 0), at_once = job_of(text, 64);
    assert_string_equal(communication_name(&open), "plan");
    assert_int_equal(open.plan.dp, 0);
    assert_int_equal(at_once.plan.dp, 8);
    assert_true(communication_fit(&open, 64, &fitted, &why));
    assert_true(communication_is_same(&fitted, &at_once));
    assert_false(communication_is_same(&fitted, &open));
    assert_true(communication_fit(&fitted, 64, &fitted, &why));
    const struct communication of_gpus = job_of("{'plan': {" MODEL ", 'tp': 4, 'pp': 2, 'gpus': 64}}", 0);
    assert_true(communication_is_same(&of_gpus, &at_once));
    /* A sensitivity fits jobs of any size. */
    const struct communication named = job_of("{'sensitivity': 'none'}", 0);
    assert_true(communication_fit(&named, 3, &fitted, &why));
    assert_true(communication_is_same(&fitted, &named));
}

TEST(a_plan_that_does_not_fit)
{
    static const struct {
        const char *members;
        uint64_t gpu_count;
        const char *key, *why;
    } cases[] = {
        {"'tp': 8, 'dp': 4", 64, "dp", "tp x pp x dp = 8 x 1 x 4 = 32 GPUs, not 64"},
        {"'gpus': 32", 31, "dp", "tp x pp x dp = 1 x 1 x 32 = 32 GPUs, not 31"},
        {"'tp': 8", 4, "tp", "4 GPUs are not a multiple of tp x pp = 8 x 1"},
        {"'tp': 8", 0, "tp", "0 GPUs are not a multiple of tp x pp = 8 x 1"},
        {"'tp': 4, 'pp': 2", 12, "tp", "12 GPUs are not a multiple of tp x pp = 4 x 2"},
        {"'tp': 8", 24, "batch", "batch = 64 is not a multiple of dp x micro_batch = 3 x 1"},
        {"'ep': 4, 'experts': 4", 2, "ep", "ep = 4 does not divide dp = 2"},
        {"'tp': 1", 1000001, "dp", "1000001 GPUs would be more than 1000000 replicas"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        struct training_complaint why;
        struct communication fitted;
        buffer_format(&text, "{'plan': {" MODEL ", %s}}", cases[i].members);
        const struct communication declared = job_of(buffer_c_string(&text), 0);
        assert_false(communication_fit(&declared, cases[i].gpu_count, &fitted, &why));
        assert_string_equal(why.what, cases[i].why);
        assert_string_equal(why.key, cases[i].key);
        buffer_release(&text);
    }
}

TEST(refusals_have_their_places)
{
    static const struct {
        const char *text;
        uint32_t gpu_count;
        const char *line;
    } cases[] = {
        {"{'sensitivity': 'all_reduce'}", 8,
         "job:1:17: 'sensitivity' must be one of 'none', 'compute_bound', 'all_reduce_bound', 'skewed', "
         "'bandwidth_bound'; got \"all_reduce\""},
        {"{\n 'sensitivity': 0.3}", 8,
         "job:2:17: 'sensitivity' must be a name, or an object with 'collective', 'exposed_ratio' and 'bytes'"},
        {"{'sensitivity': 'none',\n 'plan': {" MODEL "}}", 8,
         "job:1:17: there is a 'plan' or a 'sensitivity', not both"},
        {"{'sensitivity': {'collective': 'all-reduce', 'exposed_ratio': 0.96, 'bytes': 1}}", 8,
         "job:1:63: 'exposed_ratio' must be a number from 0 to 0.95, got 0.96"},
        {"{'sensitivity': {'collective': 'all-reduce', 'exposed_ratio': 0.3,\n 'hidden_ratio': 1, 'bytes': 1}}", 8,
         "job:2:18: 'hidden_ratio' must be a number from 0 to 0.95, got 1"},
        {"{'sensitivity': {'collective': 'all-reduce', 'exposed_ratio': 0.3,\n 'bytes': 0}}", 8,
         "job:2:11: 'bytes' must be a number from 1 to 1e+15, got 0"},
        {"{'sensitivity':\n {'collective': 'gossip', 'exposed_ratio': 0.3, 'bytes': 1}}", 8,
         "job:2:17: 'collective' must be one of 'all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all', "
         "'point-to-point'; got \"gossip\""},
        {"{'sensitivity':\n {'exposed_ratio': 0.3, 'bytes': 1}}", 8, "job:2:2: 'collective' is missing"},
        {"{'sensitivity':\n {'collective': 'all-reduce', 'bytes': 1}}", 8, "job:2:2: 'exposed_ratio' is missing"},
        {"{'sensitivity':\n {'collective': 'all-reduce', 'exposed_ratio': 0}}", 8, "job:2:2: 'bytes' is missing"},
        {"{'sensitivity':\n {'collective': 'all-reduce', 'exposed_ratio': 0, 'bytes': 1, 'size': 2}}", 8,
         "job:2:63: unknown key 'size'; known here: 'collective', 'exposed_ratio', 'hidden_ratio', 'bytes'"},
        {"{'plan': 'dense'}", 8, "job:1:10: 'plan' must be an object, got \"dense\""},
        {"{'plan': {" MODEL ",\n 'tp': 3}}", 8, "job:2:8: tp = 3 does not divide hidden = 4096"},
        {"{'plan': {" MODEL ",\n 'tp': 8}}", 12, "job:2:8: 12 GPUs are not a multiple of tp x pp = 8 x 1"},
        {"{'plan': {" MODEL ",\n 'dp': 8}}", 16, "job:2:8: tp x pp x dp = 1 x 1 x 8 = 8 GPUs, not 16"},
        {"{'plan':\n {" MODEL ", 'gpus': 8}}", 16, "job:2:2: tp x pp x dp = 1 x 1 x 8 = 8 GPUs, not 16"},
        {"{'plan': {" MODEL ",\n 'micro_batch': 3}}", 0, "job:2:17: micro_batch = 3 does not divide batch = 64"},
        {"{'plan':\n {'batch': 7, 'layers': 1, 'hidden': 8, 'sequence': 1, 'vocabulary': 1}}", 2,
         "job:2:12: batch = 7 is not a multiple of dp x micro_batch = 2 x 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct communication communication;
        bool has;
        struct error error = read_job(cases[i].text, cases[i].gpu_count, &communication, &has);
        char *line = error_line_new(&error);
        assert_string_equal(line, cases[i].line);
        assert_true(has);
        free(line);
        error_release(&error);
    }
}

/* ---- written ---- */

static struct training_plan random_plan(struct random_stream *random)
{
    const uint32_t tp = 1u << random_below(random, 4), replicas = 1u << random_below(random, 4);
    const bool is_expert = random_below(random, 2) == 1;
    const uint32_t hidden = 1024 * (1 + random_below(random, 16));
    return (struct training_plan){
        .cp = 1u << random_below(random, 3),
        .head_size = random_below(random, 2) == 1 ? 128 : hidden / 32,
        .shared_ffn = is_expert ? 1024 * random_below(random, 3) : 0,
        .expert_load = random_below(random, 2) == 1 ? 1 + random_uniform(random) : 1,
        .zero = random_below(random, 4),
        .has_reshard = random_below(random, 2) == 1,
        .has_prefetch = random_below(random, 2) == 1,
        .recompute = (enum training_recompute)random_below(random, 3),
        .attention = (enum training_attention)random_below(random, 2),
        .tp = tp,
        .pp = 1 + random_below(random, 4),
        .dp = random_below(random, 3) == 0 ? 0 : replicas,
        .ep = is_expert ? replicas : 1,
        .layers = 32 + random_below(random, 96),
        .hidden = hidden,
        .heads = 32,
        .kv_heads = 8u << random_below(random, 2),
        .ffn = 1024 * (1 + random_below(random, 64)),
        .sequence = 4 * (1 + random_below(random, 100000)),
        .vocabulary = 1 + random_below(random, 200000),
        .experts = is_expert ? 64 : 1,
        .experts_per_token = is_expert ? 1 + random_below(random, 8) : 1,
        .batch = 128 * (1 + random_below(random, 100)),
        .micro_batch = 1u << random_below(random, 3),
        .virtual_stages = 1 + random_below(random, 8),
        .is_gated = random_below(random, 2) == 1,
        .precision = random_below(random, 2) == 1 ? TRAINING_FP8 : TRAINING_BF16,
    };
}

static struct communication random_communication(struct random_stream *random)
{
    uint32_t count;
    const struct sensitivity *table = sensitivity_table(&count);
    switch (random_below(random, 3)) {
    case 0:
        return (struct communication){.has_plan = true, .plan = random_plan(random), .sensitivity = {.name = ""}};
    case 1:
        return (struct communication){.sensitivity = table[random_below(random, count)]};
    default:
        break;
    }
    return (struct communication){
        .sensitivity = {.name = "",
                        .kind = (enum collective_kind)random_below(random, COLLECTIVE_KIND_COUNT),
                        .exposed_ratio = random_uniform(random) * 0.95,
                        .hidden_ratio = random_uniform(random) * 0.95,
                        .bytes = 1 + random_uniform(random) * 1e12}};
}

TEST(what_is_written_is_read_again)
{
    struct random_stream random;
    random_stream_init(&random, 5, "communication", 0);
    for (int i = 0; i < 2000; i++) {
        const struct communication written = random_communication(&random);
        struct buffer text = {0}, again = {0};
        buffer_char(&text, '{');
        communication_write(&written, &text);
        buffer_char(&text, '}');
        const struct communication read = job_of(buffer_c_string(&text), 0);
        if (!communication_is_same(&written, &read))
            fail_msg("run %d: read otherwise: %s", i, buffer_c_string(&text));
        assert_int_equal(communication_hash(&written), communication_hash(&read));
        buffer_char(&again, '{');
        communication_write(&read, &again);
        buffer_char(&again, '}');
        assert_string_equal(buffer_c_string(&text), buffer_c_string(&again));
        buffer_release(&text);
        buffer_release(&again);
    }
}

/* One that differs in any field is another one, with another hash. */
TEST(each_field_counts)
{
    const struct communication base = job_of("{'plan': {" MODEL "}}", 8);
    static const size_t fields[] = {
        offsetof(struct training_plan, tp),          offsetof(struct training_plan, pp),
        offsetof(struct training_plan, dp),          offsetof(struct training_plan, ep),
        offsetof(struct training_plan, layers),      offsetof(struct training_plan, hidden),
        offsetof(struct training_plan, heads),       offsetof(struct training_plan, kv_heads),
        offsetof(struct training_plan, ffn),         offsetof(struct training_plan, sequence),
        offsetof(struct training_plan, vocabulary),  offsetof(struct training_plan, experts),
        offsetof(struct training_plan, batch),       offsetof(struct training_plan, experts_per_token),
        offsetof(struct training_plan, micro_batch), offsetof(struct training_plan, virtual_stages),
        offsetof(struct training_plan, cp),          offsetof(struct training_plan, head_size),
        offsetof(struct training_plan, shared_ffn),  offsetof(struct training_plan, zero),
    };
    enum { COUNT = sizeof fields / sizeof *fields };
    for (size_t i = 0; i < COUNT + 7; i++) {
        struct communication other = base;
        if (i < COUNT)
            ++*(uint32_t *)((char *)&other.plan + fields[i]);
        other.plan.is_gated ^= i == COUNT;
        other.plan.has_reshard ^= i == COUNT + 1;
        other.plan.has_prefetch ^= i == COUNT + 2;
        if (i == COUNT + 3)
            other.plan.precision = TRAINING_FP8;
        if (i == COUNT + 4)
            other.plan.recompute = TRAINING_RECOMPUTE_FULL;
        if (i == COUNT + 5)
            other.plan.attention = TRAINING_CUDNN;
        if (i == COUNT + 6)
            other.plan.expert_load = 1.5;
        assert_false(communication_is_same(&base, &other));
        assert_true(communication_hash(&base) != communication_hash(&other));
    }
    const struct sensitivity own = {"", COLLECTIVE_ALL_REDUCE, 0.3, 0.5, 1e9};
    const struct sensitivity others[] = {{"x", own.kind, 0.3, 0.5, 1e9},
                                         {"", COLLECTIVE_ALL_TO_ALL, 0.3, 0.5, 1e9},
                                         {"", own.kind, 0.4, 0.5, 1e9},
                                         {"", own.kind, 0.3, 0.6, 1e9},
                                         {"", own.kind, 0.3, 0.5, 2e9}};
    const struct communication first = {.sensitivity = own};
    assert_false(communication_is_same(&base, &first));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct communication other = {.sensitivity = others[i]};
        assert_false(communication_is_same(&first, &other));
        assert_true(communication_hash(&first) != communication_hash(&other));
    }
}
