/* The first difference of two runs is that of their event files, read as texts, on random worlds.
 *
 * Both sides write events.jsonl.zst.  The files are compared line by line, without the numbers of decisions and without
 * cycles; that is the oracle. */
#include <errno.h>
#include <sys/stat.h>

#include "tests/support/test.h"

#include "base/input.h"
#include "sim/live/event_file.h"
#include "studies/divergence/divergence.h"
#include "tests/support/random_policy.h"
#include "tests/support/scratch.h"

enum { SEEDS_SMALL = 140, SEEDS_FULL = 1400, DRAWS_MAX = 200, STALL_STEPS = 4000 };

/* ---- The oracle ---- */

struct entry { /* a fact or a decision */
    time_ns at;
    bool is_decision;
    uint64_t after;  /* cycles that decided something before it; UINT64_MAX: a fact behind an empty cycle of its time */
    uint64_t number; /* of a decision */
    char *text;      /* without numbers of decisions */
};

struct story {
    struct entry *entries;
    size_t count, capacity;
    /* while it is read */
    time_ns cycle; /* the time of the last one */
    uint64_t deciding;
    bool was_empty;
};

/* Run the scenario and write its events.  False: it cannot be run. */
static bool write_events(const struct scenario_options *options, const char *name)
{
    struct scenario scenario;
    struct job_source *source = NULL;
    struct event_file *file = NULL;
    struct engine_result result = {0};
    struct error error = scenario_load(&scenario, options);
    if (error_is(error)) {
        error_release(&error);
        return false;
    }
    error = scenario_open(&scenario, &source);
    if (!error_is(error)) {
        assert_true(mkdir(scratch_path(name), 0777) == 0 || errno == EEXIST);
        error = event_file_open(&file, scratch_path(name), scenario.cluster, job_source_queues(source),
                                text_of(scenario.policy_text));
        assert_false(error_is(error));
        struct engine_config config = scenario_engine(&scenario, source);
        config.listener = event_file_listener(file);
        error = engine_run(&config, &result);
    }
    const bool is_run = !error_is(error) && !error_is(result.stall);
    if (is_run) {
        struct error commit = event_file_commit(&file);
        assert_false(error_is(commit));
    } else {
        event_file_discard(&file);
    }
    error_release(&error);
    error_release(&result.stall);
    job_source_close(source);
    scenario_release(&scenario);
    return is_run;
}

/* Copy the line without the digits behind `key`; *number: what they say. */
static char *without_number(const char *line, const char *key, uint64_t *number)
{
    char *copy = malloc(strlen(line) + 1);
    assert_non_null(copy);
    const char *found = strstr(line, key);
    if (found == NULL)
        return strcpy(copy, line);
    const size_t head = (size_t)(found - line) + strlen(key);
    char *rest;
    *number = strtoull(line + head, &rest, 10);
    memcpy(copy, line, head);
    strcpy(copy + head, rest);
    return copy;
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static void add_line(struct story *story, const char *line)
{
    static const char *const kinds[] = {
        "{\"start\":", "{\"evict\":", "{\"reserve\":", "{\"release\":", "{\"reject\":", "{\"repartition\":"};
    const char *colon = strchr(line, ':');
    assert_non_null(colon);
    if (begins(line, "{\"windtunnel"))
        return;
    if (begins(line, "{\"done\"")) {
        story->was_empty = strtoll(colon + 1, NULL, 10) == 0;
        story->deciding += !story->was_empty;
        return;
    }
    if (begins(line, "{\"cycle\"")) {
        story->cycle = strtoll(colon + 1, NULL, 10);
        return;
    }
    struct entry entry = {.after = story->deciding};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (begins(line, kinds[k])) {
            entry.is_decision = true;
            entry.at = story->cycle;
            entry.text = without_number(line, kinds[k], &entry.number);
        }
    if (!entry.is_decision) {
        uint64_t ignored;
        entry.at = strtoll(colon + 1, NULL, 10);
        if (story->was_empty && entry.at == story->cycle)
            entry.after = UINT64_MAX;
        entry.text = without_number(line, "\"decision\":", &ignored);
    }
    MEM_GROW(story->entries, story->capacity, story->count + 1);
    story->entries[story->count++] = entry;
}

static struct story read_events(const char *name)
{
    struct story story = {.cycle = -1};
    struct input *input;
    struct text line;
    bool has;
    struct buffer path = {0};
    buffer_format(&path, "%s/" EVENT_FILE, scratch_path(name));
    struct error error = input_open(&input, buffer_c_string(&path), NULL);
    buffer_release(&path);
    while (!error_is(error = input_line(input, &line, &has)) && has) {
        char *copy = strndup(line.at, line.length);
        add_line(&story, copy);
        free(copy);
    }
    assert_false(error_is(error));
    input_close(input);
    return story;
}

static void story_release(struct story *story)
{
    for (size_t i = 0; i < story->count; i++)
        free(story->entries[i].text);
    mem_free(story->entries);
}

/* Index i of the entries, or of those of decisions; NULL: there are fewer. */
static const struct entry *entry_at(const struct story *story, size_t *i, bool decisions_only)
{
    while (decisions_only && *i < story->count && !story->entries[*i].is_decision)
        (*i)++;
    return *i < story->count ? &story->entries[*i] : NULL;
}

/* The first entries that differ; both NULL: none does. */
static void first_other(const struct story stories[2], bool decisions_only, const struct entry *found[2])
{
    size_t a = 0, b = 0;
    for (;; a++, b++) {
        found[0] = entry_at(&stories[0], &a, decisions_only);
        found[1] = entry_at(&stories[1], &b, decisions_only);
        if (found[0] == NULL || found[1] == NULL)
            return;
        if (found[0]->at != found[1]->at || (found[0]->is_decision && found[0]->after != found[1]->after) ||
            strcmp(found[0]->text, found[1]->text) != 0)
            return;
    }
}

static time_ns time_of(const struct entry *const found[2])
{
    const time_ns a = found[0] != NULL ? found[0]->at : TIME_NEVER, b = found[1] != NULL ? found[1]->at : TIME_NEVER;
    return a < b ? a : b;
}

/* The first cycles whose decisions differ. */
struct cycles {
    time_ns at;    /* TIME_NEVER: none */
    uint64_t same; /* before it */
};

static struct cycles cycles_of(const struct entry *const decided[2])
{
    struct cycles cycles = {time_of(decided), UINT64_MAX};
    for (int who = 0; who < 2; who++)
        if (decided[who] != NULL && decided[who]->after < cycles.same)
            cycles.same = decided[who]->after;
    return cycles;
}

/* Is this entry a fact that no decision that differs can have caused? */
static bool is_fact(const struct entry *entry, struct cycles other)
{
    return !entry->is_decision && (entry->at < other.at || entry->after <= other.same);
}

/* Is one of these first entries such a fact? */
static bool is_fact_first(const struct entry *const any[2], struct cycles other)
{
    for (int who = 0; who < 2; who++)
        if (any[who] != NULL && any[who]->at == time_of(any) && is_fact(any[who], other))
            return true;
    return false;
}

/* ---- Two sides ---- */

struct pair {
    struct scenario_options sides[2];
    const char *sets[1];
};

enum { WAYS = 7 };

/* Side A is the seed's scenario; side B differs in one thing, or in none. */
static void pair_make(struct pair *pair, uint64_t seed, uint32_t draw)
{
    static const char *const presets[] = {"fifo", "easy", "kai", "kubernetes", "windtunnel", "slurm", "volcano"};
    struct random_scenario text, other;
    random_policy_scenario(&text, seed, draw, STALL_STEPS);
    random_policy_scenario(&other, seed + 1, draw, STALL_STEPS);
    scratch_write("s.json", text.text.bytes, text.text.length);
    scratch_write("j.jsonl", text.jobs.bytes, text.jobs.length);
    scratch_write("other.jsonl", other.jobs.bytes, other.jobs.length);
    size_t length = text.jobs.length; /* without the last job */
    while (length > 1 && text.jobs.bytes[length - 2] != '\n')
        length--;
    scratch_write("fewer.jsonl", text.jobs.bytes, length - 1);
    random_scenario_release(&text);
    random_scenario_release(&other);
    *pair = (struct pair){{{.path = scratch_path("s.json")}, {.path = scratch_path("s.json")}}, {NULL}};
    struct scenario_options *b = &pair->sides[1];
    switch (seed % WAYS) {
    case 1:
        b->policy = presets[seed / WAYS % (sizeof presets / sizeof *presets)];
        break;
    case 2:
        pair->sets[0] = "policy.placement=worst_fit";
        break;
    case 3:
        b->trace = scratch_path("other.jsonl");
        break;
    case 4:
        pair->sets[0] = "world.scheduler_period_s=7";
        break;
    case 5:
        b->trace = scratch_path("fewer.jsonl");
        break;
    case 6:
        pair->sets[0] = "world.decision_latency_s=13";
        break;
    default:
        break;
    }
    if (pair->sets[0] != NULL) {
        b->sets = pair->sets;
        b->set_count = 1;
    }
}

static uint64_t number_of(const struct entry *entry, struct cycles other)
{
    return entry != NULL && entry->at == other.at && entry->after == other.same ? entry->number : 0;
}

struct tally {
    uint32_t runs, with_fact, with_decision, equal;
};

/* Are the lines of the first facts that differ those of the entries?  A side whose next fact comes behind a cycle has
 * none. */
static bool is_told(const struct divergence *found, const struct entry *const any[2], struct cycles other)
{
    bool has_line = false;
    for (int who = 0; who < 2; who++) {
        uint64_t ignored;
        char *line = without_number(found->fact_line[who], "\"decision\":", &ignored);
        const bool is_empty = line[0] == '\0';
        const bool is_same = any[who] != NULL && strcmp(line, any[who]->text) == 0;
        free(line);
        if (!is_empty && (!is_same || any[who]->at != found->fact_at || !is_fact(any[who], other)))
            return false;
        has_line |= !is_empty;
    }
    return has_line;
}

static void compare(const struct pair *pair, uint64_t seed, struct tally *tally)
{
    struct story stories[2] = {read_events("a"), read_events("b")};
    const struct entry *any[2], *decided[2];
    struct divergence found;
    const struct divergence_options few = {.marks_max = 2 + 2 * (seed % 5)};
    first_other(stories, false, any);
    first_other(stories, true, decided);
    struct error error = divergence_find(&pair->sides[0], &pair->sides[1], seed % 3 == 0 ? NULL : &few, &found);
    if (error_is(error))
        fail_msg("seed %d: %s", (int)seed, error_message(&error));
    const struct cycles other = cycles_of(decided);
    const bool is_right = found.has_decision == (other.at != TIME_NEVER) &&
                          found.has_fact == is_fact_first(any, other) &&
                          (!found.has_decision || (found.at == other.at && found.same_count == other.same &&
                                                   found.number[SIDE_A] == number_of(decided[0], other) &&
                                                   found.number[SIDE_B] == number_of(decided[1], other))) &&
                          (!found.has_fact || found.fact_at == time_of(any));
    if (!is_right)
        fail_msg("seed %d: the first decision differs at %lld ns (%d), not %lld (fact %d, not %d)\n A %s\n B %s",
                 (int)seed, (long long)found.at, found.has_decision, (long long)other.at, found.has_fact,
                 is_fact_first(any, other), any[0] != NULL ? any[0]->text : "", any[1] != NULL ? any[1]->text : "");
    if (found.has_fact && !is_told(&found, any, other))
        fail_msg("seed %d: the first fact that differs is\n A %s\n B %s\nnot\n A %s\n B %s", (int)seed,
                 found.fact_line[SIDE_A], found.fact_line[SIDE_B], any[0] != NULL ? any[0]->text : "",
                 any[1] != NULL ? any[1]->text : "");
    tally->runs++;
    tally->with_fact += found.has_fact;
    tally->with_decision += found.has_decision;
    tally->equal += !found.has_fact && !found.has_decision;
    divergence_release(&found);
    story_release(&stories[0]);
    story_release(&stories[1]);
}

TEST(the_first_difference_is_that_of_the_texts)
{
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    const uint64_t seeds = size != NULL && strcmp(size, "full") == 0 ? SEEDS_FULL : SEEDS_SMALL;
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct pair pair;
        for (uint32_t draw = 0; draw < DRAWS_MAX; draw++) {
            pair_make(&pair, seed, draw);
            if (!write_events(&pair.sides[0], "a") || !write_events(&pair.sides[1], "b"))
                continue;
            compare(&pair, seed, &tally);
            break;
        }
    }
    print_message("%u pairs: %u differ in a fact, %u in a decision, %u in nothing\n", tally.runs, tally.with_fact,
                  tally.with_decision, tally.equal);
    assert_true(tally.runs > seeds * 3 / 4);
    assert_true(tally.with_fact > seeds / 10 && tally.with_decision > seeds / 3 && tally.equal >= seeds / WAYS / 2);
}

TEST_GROUP(scratch_make, scratch_remove)
