/* Policies as they are read (docs/policies.md): what becomes of each preset, and of texts that say all that can be
 * said, when one thing in it is other than it was, against policy_edits.txt: for each text and kind of edit how many
 * are refused, how many mean the same as before, and a hash of how all of them are judged and refused.
 *
 * policy_trails.txt (tests/support/golden.h) says where: a run is a text, named preset/NAME or text/NAME, and a step of
 * it is an edit.  Of the first text that differs the test prints the edit.  With the name of a text as its argument the
 * program prints all edits of that text. */
#include <stdio.h>

#include "tests/support/test.h"

#include "base/hash.h"
#include "policies/config/presets.h"
#include "policies/policy_config.h"
#include "tests/support/golden.h"
#include "tests/support/json_edits.h"
#include "tests/support/json_text.h"

static const struct {
    const char *name, *text;
} rich[] = {
    {"orders and quotas", "{'order': ['multifactor', 'las', 'priority', 'elastic', 'fifo'], "
                          "'order_config': {'period_s': 60, 'las_limits_gpu_s': [10, 20], 'las_promote': 2, "
                          "'weight_age': 1, 'weight_fair_share': 2, 'weight_size': 3, 'weight_priority': 4, "
                          "'weight_tres': {'gpus': 8, 'cpus': 9, 'memory_gb': 10}, 'age_max_s': '2d', "
                          "'favors_small': true, 'half_life_s': '1h', 'decay': 'slurm', 'fair_share': 'classic', "
                          "'billing': {'gpus': 1, 'cpus': 2, 'memory_gb': 0.5}}, 'blocking': 'skip', "
                          "'quota': {'policy': 'fairshare', 'firm_needs_quota': true, 'saturation_multiplier': 1.5, "
                          "'usage_weight': 0.5, 'half_life_s': 600, 'share_period_s': 30}}"},
    {"cohorts", "{'quota': {'policy': 'cohort', 'fair_sharing': true, 'reclaim_within_cohort': 'lower_priority', "
                "'borrow_within_cohort': 'lower_priority', 'borrow_max_priority': 40, 'strategies': ['final_share', "
                "'initial_share']}}"},
    {"windows", "{'quota': {'policy': 'fairshare', 'usage_weight': 1, 'window_s': 60}}"},
    {"victims", "{'preemption': {'policy': 'checkpoint', 'victims': ['queue', 'borrowers', 'class', 'cost'], "
                "'search': 'node', 'within_queue': 'lower_or_newer', 'replaces_victims': true, "
                "'victims_of_this_cycle': true, 'resolve': 'lca', 'grace_s': 1, 'min_runtime_s': 2, "
                "'preempt_min_runtime_s': 3, 'reclaim_min_runtime_s': 4, 'delay_s': 2, 'attempts_per_cycle': 5, "
                "'victims_max': 6, 'rematch_cycles': 7, 'evictions_per_job_max': 8, "
                "'loss_ratio': 0.5}, 'actions': ['allocate', "
                "'preempt', 'reclaim'], 'reservation_expiry_s': 60, 'headroom': {'gpus': 1, 'whole_nodes': 2, "
                "'owners_gpus': 3, 'gpus_ratio': 0.1, 'nodes_ratio': 0.2, 'owners_ratio': 0.3}, "
                "'guarantees': ['gang', 'no_loop']}"},
    {"places", "{'placement': 'weighted_binpack', 'placement_firm': 'gather', 'gpu_choice': 'near', "
               "'placement_weights': {'gpu': 3, 'cpu': 2, 'memory': 1}, 'topology': {'mode': 'required', "
               "'domains': 'balanced'}, 'gang': {'policy': 'hoard', 'stale_after_s': 60}, 'estimate': 'history'}"},
    {"slurm's backfill", "{'backfill': {'policy': 'slurm', 'depth': 10, 'per_user': 2, 'window_s': 600, "
                         "'resolution_s': 5, 'interval_s': 30}}"},
    {"easy backfill", "{'backfill': {'policy': 'easy', 'reservations': 2, 'interval_s': 30}}"},
    {"moves",
     "{'defrag': {'policy': 'consolidation', 'moves_per_plan': 4, 'spares_ending': true, 'holds_places': true}}"},
    {"cuts", "{'geometry': {'policy': 'on_demand', 'rest_s': 3, 'needs': 'node'}}"},
    {"mps", "{'sharing': {'policy': 'mps', 'clients_max': 7, 'trust': 'parent', 'isolation': 'container', "
            "'gangs_on_slices': 'refuse', 'awaits_shared': true}}"},
    {"slices of time", "{'sharing': {'policy': 'timeslice', 'clients_max': 3}}"},
    {"trust", "{'sharing': {'policy': 'trust', 'clients_max': 7, 'slice_clients_max': 3}}"},
    /* What does not go together, until one of the two is another. */
    {"cuts in cells", "{'quota': 'cells', 'geometry': {'policy': 'on_demand'}}"},
    {"shares in cells", "{'quota': 'cells', 'sharing': {'policy': 'mps'}}"},
    {"shares in cells, by name", "{'quota': 'cells', 'sharing': 'mps'}"},
    {"cuts and promises", "{'backfill': {'policy': 'conservative'}, 'geometry': {'policy': 'on_demand'}}"},
    {"backfill of many lines", "{'blocking': 'skip', 'quota': 'fairshare', 'backfill': {'policy': 'slurm'}}"},
    {"too many actions", "{'actions': ['allocate', 'reclaim', 'preempt', 'allocate', 'reclaim', 'preempt', "
                         "'allocate', 'reclaim', 'preempt']}"},
};

struct sums {
    uint64_t hash;
    uint32_t edits, refused, same;
};

struct reading { /* of one text */
    struct policy_config before;
    struct sums sums[JSON_EDIT_COUNT];
    struct golden_trails *trails;
    uint64_t hash; /* of all edits so far */
    bool is_printed;
    uint32_t wanted_step; /* to be printed; 0: none */
};

/* What it means; `complaint`, if it is refused, which the caller releases. */
static void read_text(const char *text, struct policy_config *config, struct error *complaint)
{
    struct json_doc *doc;
    memset(config, 0, sizeof *config); /* so that configurations can be compared byte by byte */
    *complaint = json_doc_parse(&doc, "policy", text_of(text), ERROR_CONFIG);
    if (error_is(*complaint))
        return;
    struct json_value root = json_doc_root(doc, complaint);
    policy_config_read(config, &root);
    json_doc_free(doc);
}

static void judge(void *self, enum json_edit edit, const char *text)
{
    struct reading *reading = self;
    struct sums *sums = &reading->sums[edit];
    struct error error;
    static struct policy_config config;
    read_text(text, &config, &error);
    const bool is_refused = error_is(error);
    const bool is_same = !is_refused && memcmp(&config, &reading->before, sizeof config) == 0;
    const char *said = is_refused ? error_message(&error) : "";
    sums->edits++;
    sums->refused += is_refused;
    sums->same += is_same;
    sums->hash = hash_mix(hash_bytes(said, strlen(said), sums->hash), is_same);
    reading->hash = hash_mix(hash_bytes(said, strlen(said), reading->hash), is_same);
    golden_trails_step(reading->trails, reading->hash);
    if (!is_refused)
        said = is_same ? "the same" : "another";
    if (reading->is_printed)
        printf("%s %s    %s\n", json_edit_names[edit], text, said);
    if (reading->trails->steps == reading->wanted_step)
        print_error("Now that step is: %s %s    %s\n", json_edit_names[edit], text, said);
    error_release(&error);
}

static void tell_text(const char *name, const char *text, struct reading *reading, struct buffer *out)
{
    struct error error;
    read_text(text, &reading->before, &error);
    if (error_is(error)) /* nothing is the same */
        memset(&reading->before, -1, sizeof reading->before);
    json_edits_all(&(struct json_edits){.text = text, .self = reading, .judge = judge});
    buffer_format(out, "%s%s%s\n", name, error_is(error) ? ": " : "", error_is(error) ? error_message(&error) : "");
    error_release(&error);
    for (int edit = 0; edit < JSON_EDIT_COUNT; edit++) {
        const struct sums *sums = &reading->sums[edit];
        if (sums->edits > 0)
            buffer_format(out, "    %-8s %5u, %5u refused, %5u the same %016llx\n", json_edit_names[edit], sums->edits,
                          sums->refused, sums->same, (unsigned long long)sums->hash);
    }
}

/* Without the blanks between its words. */
static void squeeze(struct text text, struct buffer *out)
{
    bool is_inside = false;
    for (size_t i = 0; i < text.length; i++) {
        is_inside ^= text.at[i] == '"';
        if (is_inside || (text.at[i] != ' ' && text.at[i] != '\n'))
            buffer_char(out, text.at[i]);
    }
}

/* ---- All texts, or one by its name ---- */

/* Reads the text if it is the one wanted, or if all are; says whether it did.  start: a reading at its beginning. */
static bool tell_one(const char *group, const char *name, struct text text, const char *wanted,
                     const struct reading *start, struct buffer *out)
{
    struct reading reading = *start;
    struct buffer run = {0}, squeezed = {0};
    buffer_format(&run, "%s/%s", group, name);
    bool is_wanted = wanted == NULL || strcmp(wanted, buffer_c_string(&run)) == 0;
    if (is_wanted) {
        squeeze(text, &squeezed);
        golden_trails_begin(reading.trails, group, name);
        tell_text(name, buffer_c_string(&squeezed), &reading, out);
    }
    buffer_release(&run);
    buffer_release(&squeezed);
    return is_wanted;
}

/* How many texts were told.  wanted: the name of a run; NULL: all. */
static uint32_t tell(const char *wanted, const struct reading *start, struct buffer *out)
{
    uint32_t told = 0;
    for (size_t i = 0; policy_preset_texts[i].name != NULL; i++) {
        const struct embedded_text *preset = &policy_preset_texts[i];
        struct text text = {preset->text, preset->length};
        told += tell_one("preset", preset->name, text, wanted, start, out);
    }
    for (size_t i = 0; i < sizeof rich / sizeof *rich; i++) {
        char *text = json_text_new(rich[i].text);
        told += tell_one("text", rich[i].name, text_of(text), wanted, start, out);
        free(text);
    }
    return told;
}

/* One text once more.  False: there is none of this name. */
static bool tell_again(const char *run, struct reading start)
{
    struct golden_trails trails = {0};
    struct buffer out = {0};
    start.trails = &trails;
    bool is_known = tell(run, &start, &out) == 1;
    golden_trails_release(&trails);
    buffer_release(&out);
    return is_known;
}

TEST(every_edit_means_what_it_meant)
{
    struct buffer told = {0};
    struct golden_trails trails = {0};
    struct golden_difference first;
    tell(NULL, &(struct reading){.trails = &trails}, &told);
    bool differs = golden_differs("tests/golden/policy_edits.txt", &told);
    if (golden_trails_differ("tests/golden/policy_trails.txt", &trails, &first)) {
        tell_again(first.run, (struct reading){.wanted_step = first.step});
        golden_print_replay(first.run);
        differs = true;
    }
    assert_false(differs);
}

static int print_text(const char *run)
{
    if (tell_again(run, (struct reading){.is_printed = true}))
        return 0;
    fprintf(stderr, "no text '%s': preset/NAME or text/NAME, as in preset/kai\n", run);
    return 2;
}

int main(int argc, char **argv)
{
    return argc > 1 ? print_text(argv[1]) : test_run();
}
