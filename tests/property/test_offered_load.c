/* The offered load (workloads/offered_load.h) is one number, whatever command tells it: random scenarios, with closed
 * loops, nodes out of service, warm-ups, ends and loads that are set, against a recomputation from the texts of the
 * scenario and its jobs.  The program itself is run: trace info, validate, run under two policies, report, its page,
 * and plan. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "studies/run/trial.h"
#include "tests/support/interval.h"
#include "tests/support/random_policy.h"
#include "tests/support/scratch.h"

enum { SCENARIOS_SMALL = 100, SCENARIOS_FULL = 2000, WHOLE_EVERY = 25, JOBS_MAX = 64, USERS = 4 };

struct expected {
    const char *kind;
    double ratio, bound_s, users;
    bool is_whole; /* no job comes after world.end, and rounding of times to microseconds is small */
};

static const char *set = ""; /* of the present scenario: what is set beside its files */

/* Run the program; its output, of which the caller frees the JSON; NULL: it refused the scenario. */
static json_t *told(const char *arguments, struct buffer *text)
{
    struct buffer command = {0};
    char bytes[4096];
    size_t length;
    char *program = realpath(getenv("WINDTUNNEL"), NULL);
    buffer_format(&command, "cd '%s' && '%s' %s 2>said.err", scratch_path(""), program, arguments);
    free(program);
    FILE *pipe = popen(buffer_c_string(&command), "r");
    assert_non_null(pipe);
    text->length = 0;
    while ((length = fread(bytes, 1, sizeof bytes, pipe)) > 0)
        buffer_bytes(text, bytes, length);
    const int status = pclose(pipe) >> 8;
    buffer_release(&command);
    if (status != 0 && status != 2 && status != 3 && status != 10 && status != 11)
        fail_msg("'%s' ended with status %d: see seed", arguments, status);
    return status == 2 || status == 3 ? NULL : json_loadb(text->bytes, text->length, 0, NULL);
}

/* ---- The recomputation ---- */

static double number(const json_t *object, const char *name, double otherwise)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

struct models {
    bool has_mig;       /* some pool can be partitioned: such requests are of its model */
    bool is_v100_first; /* requests for memory are parts of the first model */
};

/* GPUs of a member, in thousandths rounded down. */
static double member_gpus(const json_t *ask, struct models models)
{
    static const struct {
        const char *profile;
        double gpus;
    } shares[] = {{"1g.10gb", 0.142}, {"2g.20gb", 0.285}, {"3g.40gb", 0.5}, {"7g.80gb", 1}};
    const char *mig = json_string_value(json_object_get(ask, "mig"));
    for (size_t p = 0; mig != NULL && p < sizeof shares / sizeof *shares; p++)
        if (strcmp(mig, shares[p].profile) == 0)
            return models.has_mig ? shares[p].gpus : 1;
    if (json_object_get(ask, "gpu_memory_gb") != NULL)
        return models.is_v100_first ? 0.156 : 0.062; /* 5 of 32 or of 80 GB */
    return number(ask, "gpu_fraction", number(ask, "gpus", 0));
}

static double job_gpus(const json_t *job, struct models models)
{
    double sum = 0;
    size_t i;
    json_t *group;
    if (json_object_get(job, "groups") == NULL)
        return member_gpus(job, models);
    json_array_foreach(json_object_get(job, "groups"), i, group) sum +=
        json_number_value(json_object_get(group, "count")) * member_gpus(group, models);
    return sum;
}

/* GPU seconds in service; is_whole: no node is out of service. */
static double in_service(const json_t *scenario, double from, double to, bool is_whole)
{
    const json_t *pools = json_object_get(json_object_get(scenario, "cluster"), "pools");
    const json_t *steps = json_object_get(json_object_get(scenario, "world"), "capacity");
    double sum = 0;
    size_t i;
    json_t *pool;
    json_array_foreach(pools, i, pool)
    {
        double nodes = json_number_value(json_object_get(pool, "nodes")), at = from, node_s = 0;
        for (size_t s = 0; i == 0 && !is_whole && s < json_array_size(steps); s++) { /* all steps are of the first */
            const json_t *step = json_array_get(steps, s);
            const double next = fmin(to, fmax(from, number(step, "time_s", 0)));
            node_s += nodes * (next - at);
            at = next;
            nodes = number(step, "nodes", 0);
        }
        sum += (node_s + nodes * (to - at)) * number(pool, "gpus_per_node", 0);
    }
    return sum;
}

/* load: that is set, 0: none; is_recorded: of the trace alone, as `trace info` tells it. */
static struct expected expect(const json_t *scenario, const char *lines, double load, bool is_recorded)
{
    const json_t *pools = json_object_get(json_object_get(scenario, "cluster"), "pools"),
                 *end_text = json_object_get(json_object_get(scenario, "world"), "end");
    struct models models = {.has_mig = false};
    for (size_t p = json_array_size(pools); p-- > 0;) {
        models.is_v100_first =
            strcmp(json_string_value(json_object_get(json_array_get(pools, p), "gpu_model")), "v100-32gb") == 0;
        models.has_mig |= !models.is_v100_first;
    }
    const bool is_closed = json_object_get(json_object_get(scenario, "workload"), "loop") != NULL && !is_recorded;
    const double end = end_text == NULL || is_recorded ? INFINITY : atof(json_string_value(end_text)) * 86400;
    double submit[JOBS_MAX] = {0}, run[JOBS_MAX], gpus[JOBS_MAX], asked = 0, runs = 0, alone = 0;
    bool has_user[USERS] = {false};
    size_t jobs = 0, count = 0;
    for (const char *line = lines; *line != '\0'; line += strcspn(line, "\n") + 1, jobs++) {
        json_t *job = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
        assert_true(job != NULL && jobs < JOBS_MAX);
        submit[jobs] = number(job, "submit_s", 0);
        run[jobs] = number(job, "duration_s", 0);
        gpus[jobs] = job_gpus(job, models);
        asked += gpus[jobs] * run[jobs];
        has_user[json_string_value(json_object_get(job, "user"))[1] - '0'] = true;
        json_decref(job);
    }
    const double first = submit[0], all = in_service(scenario, 0, 1, true);
    const double factor = load > 0 ? asked / ((submit[jobs - 1] - first) * all) / load : 1;
    asked = 0;
    for (size_t j = 0; j < jobs; j++)
        submit[j] = rint((submit[j] - first) * factor * 1e6) / 1e6;
    while (count < jobs && (submit[count] <= end || is_closed)) {
        asked += gpus[count] * run[count];
        runs += run[count];
        alone = fmax(alone, submit[count] + run[count]);
        count++;
    }
    if (is_closed)
        return (struct expected){"closed_loop", NAN, 0, has_user[0] + has_user[1] + has_user[2] + has_user[3], false};
    const double span = submit[count - 1];
    if (count == jobs && span * (double)count < runs)
        return (struct expected){"batch", NAN, fmax(alone, asked / all), 0, false};
    return (struct expected){"stream", asked / in_service(scenario, 0, span, is_recorded), 0, 0,
                             count == jobs && span > 10};
}

/* ---- Comparison ---- */

static bool is_near(double a, double b)
{
    return (!isfinite(a) && !isfinite(b)) || fabs(a - b) <= 1e-6 * fmax(1e-3, fabs(b));
}

static void check(const char *verb, uint64_t seed, const json_t *load, const struct expected *expected)
{
    const char *kind = json_string_value(json_object_get(load, "kind"));
    if (kind == NULL || strcmp(kind, expected->kind) != 0 || !is_near(number(load, "ratio", NAN), expected->ratio) ||
        !is_near(number(load, "makespan_bound_s", 0), expected->bound_s) || number(load, "users", 0) != expected->users)
        fail_msg("%s, seed %llu%s: a %s of ratio %.9g, bound %.9g s and %g users, and not a %s of %.9g, %.9g s and %g",
                 verb, (unsigned long long)seed, set, kind, number(load, "ratio", NAN),
                 number(load, "makespan_bound_s", 0), number(load, "users", 0), expected->kind, expected->ratio,
                 expected->bound_s, expected->users);
}

static void check_metric(const char *verb, uint64_t seed, const json_t *result, const char *name, double expected)
{
    const double value = number(json_object_get(json_object_get(result, "metrics"), name), "value", NAN);
    if (!is_near(value, expected))
        fail_msg("%s, seed %llu%s: %s is %.9g, and not %.9g", verb, (unsigned long long)seed, set, name, value,
                 expected);
}

/* The head of the page tells it too. */
static void check_page(uint64_t seed, const struct expected *expected)
{
    struct buffer page = scratch_read("out/report.html"), words = {0};
    if (isfinite(expected->ratio) && (expected->ratio >= 0.0005 || expected->ratio == 0))
        buffer_format(&words, "offered load %.1f %%:", 100 * expected->ratio);
    else
        buffer_string(&words, strcmp(expected->kind, "batch") == 0 ? ">Makespan<" : "");
    if (strstr(buffer_c_string(&page), buffer_c_string(&words)) == NULL)
        fail_msg("seed %llu%s: the page has no '%s'", (unsigned long long)seed, set, words.bytes);
    buffer_release(&words);
    buffer_release(&page);
}

static void check_result(const char *verb, uint64_t seed, const json_t *result, const struct expected *expected)
{
    check(verb, seed, json_object_get(json_object_get(result, "facts"), "offered_load"), expected);
    check_metric(verb, seed, result, "offered_load_ratio", expected->ratio);
    check_metric(verb, seed, result, "makespan_bound_s", expected->bound_s > 0 ? expected->bound_s : NAN);
}

/* The run itself, without a record.  policy NULL: that of the scenario. */
static void check_trial(const char *policy, uint64_t seed, const struct expected *expected)
{
    const char *const sets[] = {"workload.load=0.7"};
    const struct trial trial = {
        .version = "test",
        .seed = seed & 0xffff,
        .scenario = {
            .path = scratch_path("s.json"), .policy = policy, .sets = sets, .set_count = set[0] != '\0' ? 1 : 0}};
    struct buffer text = {0};
    struct error error = trial_run(&trial, &text);
    const bool is_config = error_is(error) && error.kind == ERROR_CONFIG; /* of queues that fifo cannot have */
    if (error_is(error) && !is_config)
        fail_msg("seed %llu%s: %s", (unsigned long long)seed, set, error_message(&error));
    error_release(&error);
    if (!is_config) {
        json_t *result = json_loadb(text.bytes, text.length, 0, NULL);
        check_result("run", seed, result, expected);
        json_decref(result);
    }
    buffer_release(&text);
}

/* What a run writes, and a report made of it. */
static void check_record(uint64_t seed, const struct expected *expected)
{
    struct buffer text = {0}, command = {0};
    buffer_format(&command, "run s.json --quiet --out out%s", set);
    json_decref(told(buffer_c_string(&command), &text));
    struct buffer bytes = scratch_read("out/result.json");
    json_t *result = json_loadb(bytes.bytes, bytes.length, 0, NULL);
    check_result("run --out", seed, result, expected);
    check_page(seed, expected);
    json_decref(result);
    result = told("report out --json", &text);
    check_metric("report", seed, result, "offered_load_ratio", expected->ratio);
    json_decref(result);
    buffer_release(&bytes);
    buffer_release(&command);
    buffer_release(&text);
}

/* One run of it, at the nodes that the first pool has. */
static void check_plan(uint64_t seed, const json_t *scenario, const struct expected *expected)
{
    struct buffer text = {0}, command = {0};
    const json_t *pools = json_object_get(json_object_get(scenario, "cluster"), "pools");
    const int nodes = (int)number(json_array_get(pools, 0), "nodes", 0);
    buffer_format(&command,
                  "plan s.json%s --nodes p0=%d..%d --level 'jobs_rejected<=1000' --runs 1 --seeds 1 --jobs 1 --json",
                  set, nodes, nodes);
    json_t *plan = told(buffer_c_string(&command), &text);
    const json_t *cases = json_object_get(plan, "cases");
    const json_t *points = json_object_get(json_array_get(cases, 0), "points");
    if (plan != NULL && !is_near(number(json_array_get(points, 0), "offered_load_ratio", NAN), expected->ratio))
        fail_msg("plan, seed %llu%s: %.400s", (unsigned long long)seed, set, buffer_c_string(&text));
    json_decref(plan);
    buffer_release(&command);
    buffer_release(&text);
}

/* ---- Scenarios ---- */

/* Can the arrivals be scaled? */
static bool has_load(const json_t *scenario, const char *lines)
{
    const struct expected recorded = expect(scenario, lines, 0, true);
    return json_object_get(json_object_get(scenario, "workload"), "loop") == NULL && recorded.ratio > 0;
}

/* True if the program took the scenario. */
static bool play(uint64_t seed, uint32_t draw, uint64_t *kinds)
{
    struct random_scenario made;
    struct buffer text = {0}, command = {0};
    random_policy_rich_scenario(&made, seed, draw, 2000);
    scratch_write("s.json", made.text.bytes, made.text.length);
    scratch_write("j.jsonl", made.jobs.bytes, made.jobs.length);
    json_t *scenario = json_loads(buffer_c_string(&made.text), 0, NULL);
    const char *lines = buffer_c_string(&made.jobs);
    assert_int_equal(json_dump_file(json_object_get(scenario, "cluster"), scratch_path("c.json"), 0), 0);
    const double load = seed % 3 == 0 && has_load(scenario, lines) ? 0.7 : 0;
    set = load > 0 ? " --set workload.load=0.7" : "";
    const struct expected expected = expect(scenario, lines, load, false), recorded = expect(scenario, lines, 0, true);
    buffer_format(&command, "validate s.json --json%s", set);
    json_t *plan = told(buffer_c_string(&command), &text);
    const bool is_legal = plan != NULL;
    if (is_legal) {
        check("validate", seed, json_object_get(json_object_get(plan, "workload"), "offered_load"), &expected);
        json_decref(plan);
        plan = told("trace info j.jsonl --json --cluster c.json", &text);
        check("trace info", seed, json_object_get(plan, "offered_load"), &recorded);
        const bool has_all = json_object_get(json_object_get(scenario, "world"), "capacity") == NULL;
        if (load > 0 && expected.is_whole && has_all && !is_near(expected.ratio, load))
            fail_msg("seed %llu: workload.load=%g gives %.9g", (unsigned long long)seed, load, expected.ratio);
        check_trial(NULL, seed, &expected);
        check_trial("fifo", seed, &expected);
        if (seed % WHOLE_EVERY == 0) {
            check_record(seed, &expected);
            check_plan(seed, scenario, &expected);
        }
        kinds[expected.kind[0] == 'b' ? 0 : expected.kind[0] == 'c' ? 1 : load > 0 ? 2 : 3]++;
    }
    json_decref(plan);
    json_decref(scenario);
    buffer_release(&command);
    buffer_release(&text);
    random_scenario_release(&made);
    scratch_empty();
    return is_legal;
}

TEST(every_command_tells_the_load_of_the_jobs)
{
    const struct test_seeds seeds = test_seeds(SCENARIOS_SMALL, SCENARIOS_FULL);
    uint64_t kinds[4] = {0};
    if (getenv("WINDTUNNEL") == NULL) {
        print_message("skipped: $WINDTUNNEL is not the program\n");
        skip();
    }
    for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; seed++)
        for (uint32_t draw = 0; !play(seed, draw, kinds); draw++)
            assert_true(draw < 200);
    print_message("%llu batches, %llu closed loops, %llu streams whose load is set, %llu others\n",
                  (unsigned long long)kinds[0], (unsigned long long)kinds[1], (unsigned long long)kinds[2],
                  (unsigned long long)kinds[3]);
    for (int k = 0; k < 4; k++)
        assert_true(kinds[k] > 0);
}

TEST_GROUP(scratch_make, scratch_remove)
