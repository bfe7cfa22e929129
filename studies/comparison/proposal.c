#include "studies/comparison/proposal.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "sim/scenario/scenario_files.h"
#include "studies/comparison/settings.h"
#include "studies/run/run.h"

enum { BASE, CHANGED, GATES_BYTES_MAX = 16 << 20, DIGEST_SHOWN = 16 };

/* A side while it is read. */
struct opened {
    const char *folder; /* "" or ends in '/' */
    struct scenario_options options;
    struct scenario scenario;
    struct gates gates;
    char *settings; /* its scenario with digests in place of files; owned */
};

static const char *format_copy(struct proposal *proposal, const char *first, const char *second)
{
    struct buffer text = {0};
    buffer_format(&text, "%s%s", first, second);
    const char *copy = arena_copy(&proposal->arena, (struct text){buffer_c_string(&text), text.length});
    buffer_release(&text);
    return copy;
}

static struct proposal_line *add_line(struct proposal *proposal, enum proposal_kind kind, const char *path,
                                      const char *before, const char *after)
{
    MEM_GROW(proposal->lines, proposal->line_capacity, proposal->line_count + 1);
    struct proposal_line *line = &proposal->lines[proposal->line_count++];
    *line = (struct proposal_line){.kind = kind, .path = arena_copy(&proposal->arena, text_of(path))};
    line->before = before != NULL ? arena_copy(&proposal->arena, text_of(before)) : NULL;
    line->after = after != NULL ? arena_copy(&proposal->arena, text_of(after)) : NULL;
    return line;
}

/* ---- inputs ---- */

/* The name of a file in both folders. */
static const char *name_in(const char *folder, const char *path)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 ? path + length : path;
}

static struct proposal_input *find_input(struct proposal *proposal, const char *role, const char *path)
{
    for (size_t i = 0; i < proposal->input_count; i++)
        if (strcmp(proposal->inputs[i].role, role) == 0 && strcmp(proposal->inputs[i].path, path) == 0)
            return &proposal->inputs[i];
    MEM_GROW(proposal->inputs, proposal->input_capacity, proposal->input_count + 1);
    struct proposal_input *input = &proposal->inputs[proposal->input_count++];
    *input = (struct proposal_input){.role = arena_copy(&proposal->arena, text_of(role)),
                                     .path = arena_copy(&proposal->arena, text_of(path))};
    return input;
}

static struct error add_input(struct proposal *proposal, const struct opened *side, int index, const char *role,
                              const char *path)
{
    char digest[33];
    if (input_is_once(path))
        return error_new(ERROR_USAGE, "a change is read more than once, so '%s' (%s) must be a file", path, role);
    TRY(input_digest(path, digest));
    find_input(proposal, role, name_in(side->folder, path))->digests[index] =
        arena_copy(&proposal->arena, text_of(digest));
    return ERROR_OK;
}

static struct error add_inputs(struct proposal *proposal, const struct opened *side, int index)
{
    const struct scenario *scenario = &side->scenario;
    TRY(add_input(proposal, side, index, "scenario", side->options.path));
    for (size_t i = 0; i < scenario->opened_count; i++)
        TRY(add_input(proposal, side, index, scenario->opened[i].role, scenario->opened[i].path));
    return ERROR_OK;
}

/* ---- settings ---- */

struct describing {
    const struct opened *side;
    struct json_doc *doc;
};

/* "turns.so" -> "turns.so (digest 0123456789abcdef)" */
static struct error describe(void *self, const struct scenario_file *file)
{
    const struct describing *describing = self;
    struct buffer text = {0};
    char digest[33];
    TRY(input_digest(file->path, digest));
    buffer_format(&text, "%s (digest %.*s)", name_in(describing->side->folder, file->path), DIGEST_SHOWN, digest);
    struct error error = scenario_files_set(describing->doc, file->field, buffer_c_string(&text));
    buffer_release(&text);
    return error;
}

static struct error find_settings(struct opened *side)
{
    struct describing describing = {.side = side};
    TRY(json_doc_parse(&describing.doc, "scenario", text_of(side->scenario.resolved), ERROR_CONFIG));
    struct error error = scenario_files_each(describing.doc, describe, &describing);
    if (!error_is(error))
        side->settings = json_doc_canonical_new(describing.doc);
    json_doc_free(describing.doc);
    return error;
}

static bool is_below(const char *path, const char *member)
{
    const size_t length = strlen(member);
    return strncmp(path, member, length) == 0 && (path[length] == '\0' || path[length] == '.');
}

static void find_lines(struct proposal *proposal, const struct opened *sides)
{
    struct settings settings;
    settings_compare(&settings, sides[BASE].settings, sides[CHANGED].settings);
    for (size_t i = 0; i < settings.count; i++) {
        const struct setting *setting = &settings.list[i];
        if (is_below(setting->path, "gates") || is_below(setting->path, "service_levels"))
            continue;
        add_line(proposal, is_below(setting->path, "workload") ? PROPOSAL_OF_JOBS : PROPOSAL_OF_SIDES, setting->path,
                 setting->base, setting->side);
    }
    settings_release(&settings);
    const uint32_t before = scenario_open_load_gpus(&sides[BASE].scenario);
    const uint32_t after = scenario_open_load_gpus(&sides[CHANGED].scenario);
    if (before > 0 && after > 0 && before != after) {
        char texts[2][40];
        snprintf(texts[0], sizeof texts[0], "%u, of the cluster", before);
        snprintf(texts[1], sizeof texts[1], "%u, of the cluster", after);
        add_line(proposal, PROPOSAL_OF_JOBS, "workload.load_gpus", texts[0], texts[1]);
    }
}

/* Nothing that is read differs, and yet the bytes of a file do. */
static void find_form(struct proposal *proposal)
{
    if (proposal->line_count > 0)
        return;
    for (size_t i = 0; i < proposal->input_count; i++) {
        const struct proposal_input *input = &proposal->inputs[i];
        if (input->digests[BASE] != NULL && input->digests[CHANGED] != NULL &&
            strcmp(input->digests[BASE], input->digests[CHANGED]) != 0)
            add_line(proposal, PROPOSAL_OF_FORM, input->path, input->digests[BASE], input->digests[CHANGED]);
    }
}

/* ---- the same jobs ---- */

static void add_set(struct proposal *proposal, struct scenario_options *options, const char **sets,
                    const char *assignment)
{
    if (assignment != NULL)
        sets[options->set_count++] = arena_copy(&proposal->arena, text_of(assignment));
}

/* Overrides of the user come last: they hold for both sides. */
static void give_jobs(struct proposal *proposal, struct comparison_side_options *side, const struct opened *own,
                      const struct scenario *jobs)
{
    struct scenario_options *options = &side->scenario;
    const uint32_t gpus = scenario_open_load_gpus(jobs);
    const char **sets = arena_alloc_array(&proposal->arena, own->options.set_count + 2, const char *);
    *options = own->options;
    options->path = arena_copy(&proposal->arena, text_of(own->options.path));
    options->set_count = 0;
    if (&own->scenario != jobs) {
        json_t *root = json_loads(jobs->resolved, 0, NULL);
        char *text = json_dumps(json_object_get(root, "workload"), JSON_COMPACT);
        add_set(proposal, options, sets, format_copy(proposal, "workload=", text != NULL ? text : "{}"));
        mem_free(text);
        json_decref(root);
    }
    for (size_t i = 0; i < own->options.set_count; i++)
        add_set(proposal, options, sets, own->options.sets[i]);
    if (gpus > 0) {
        struct buffer text = {0};
        buffer_format(&text, "workload.load_gpus=%u", gpus);
        add_set(proposal, options, sets, buffer_c_string(&text));
        buffer_release(&text);
    }
    options->sets = sets;
}

/* ---- who judges ---- */

/* A file that is not there holds no gates. */
static struct error read_gates(struct proposal *proposal, struct opened *side, int index, const char *name)
{
    const char *path = format_copy(proposal, side->folder, name);
    char *bytes;
    size_t length;
    if (access(path, F_OK) != 0)
        return ERROR_OK;
    TRY(input_read_all(path, GATES_BYTES_MAX, &bytes, &length));
    struct error error = gates_of_file(path, (struct text){bytes, length}, &proposal->arena, &side->gates);
    mem_free(bytes);
    TRY(error);
    return add_input(proposal, side, index, "gates", path);
}

static struct error find_gates(struct proposal *proposal, struct opened *side, int index, const char *name)
{
    return name != NULL ? read_gates(proposal, side, index, name)
                        : run_gates(&side->scenario, &proposal->arena, &side->gates);
}

/* The same gate among others; else one that differs in its amount alone; else NULL. */
static const struct gate *find_alike(const struct gates *gates, const struct gate *gate)
{
    const struct gate *alike = NULL;
    for (size_t i = 0; i < gates->count; i++) {
        const struct gate *other = &gates->gates[i];
        if (!gate_is_alike(other, gate))
            continue;
        if (other->amount == gate->amount && other->is_relative == gate->is_relative)
            return other;
        alike = other;
    }
    return alike;
}

static void add_rule(struct proposal *proposal, const struct gate *before, const struct gate *after)
{
    struct buffer name = {0}, bounds[2] = {{0}, {0}};
    const struct gate *const gates[2] = {before, after}, *any = after != NULL ? after : before;
    buffer_string(&name, "gate of ");
    metric_selector_write(&any->of, &name);
    if (any->side != NULL)
        buffer_format(&name, " for %s", any->side);
    for (int i = 0; i < 2; i++)
        if (gates[i] != NULL)
            gate_write_bound(gates[i], &bounds[i]);
    add_line(proposal, PROPOSAL_OF_RULES, buffer_c_string(&name), before != NULL ? buffer_c_string(&bounds[0]) : NULL,
             after != NULL ? buffer_c_string(&bounds[1]) : NULL)
        ->gate = after;
    buffer_release(&name);
    buffer_release(&bounds[0]);
    buffer_release(&bounds[1]);
}

/* zero: not given. */
static void compare_numbers(struct proposal *proposal, const char *name, double before, double after)
{
    char texts[2][32];
    snprintf(texts[0], sizeof texts[0], "%.9g", before);
    snprintf(texts[1], sizeof texts[1], "%.9g", after);
    if (before != after)
        add_line(proposal, PROPOSAL_OF_RULES, name, before != 0 ? texts[0] : NULL, after != 0 ? texts[1] : NULL);
}

static void judge_by_base(struct proposal *proposal, const struct opened *sides)
{
    const struct gates *base = &sides[BASE].gates, *changed = &sides[CHANGED].gates;
    struct gate *gates = arena_alloc_array(&proposal->arena, base->count + 1, struct gate);
    struct gate *more = arena_alloc_array(&proposal->arena, changed->count + 1, struct gate);
    proposal->gates =
        (struct gates){.gates = gates, .count = base->count, .alpha = base->alpha, .seed_count = base->seed_count};
    for (size_t i = 0; i < base->count; i++) {
        const struct gate *now = find_alike(changed, &base->gates[i]);
        gates[i] = base->gates[i];
        gates[i].file = now != NULL ? now->file : gates[i].file;
        gates[i].line = now != NULL ? now->line : 0;
        gates[i].column = now != NULL ? now->column : 0;
        if (now == NULL || now->amount != gates[i].amount || now->is_relative != gates[i].is_relative)
            add_rule(proposal, &base->gates[i], now);
    }
    for (size_t i = 0; i < changed->count; i++)
        if (find_alike(base, &changed->gates[i]) == NULL) {
            more[proposal->new_gates.count++] = changed->gates[i];
            add_rule(proposal, NULL, &changed->gates[i]);
        }
    proposal->new_gates.gates = more;
    compare_numbers(proposal, "alpha", base->alpha, changed->alpha);
    compare_numbers(proposal, "seeds", (double)base->seed_count, (double)changed->seed_count);
    compare_numbers(proposal, "seed", (double)sides[BASE].scenario.seed, (double)sides[CHANGED].scenario.seed);
}

/* ---- both sides ---- */

static struct error check_folder(const struct proposal_options *options)
{
    struct stat base, own;
    if (options->scenario.path == NULL || options->scenario.path[0] == '/' || options->scenario.path[0] == '\0')
        return error_new(ERROR_USAGE, "'--base-dir' needs a scenario whose path is relative to both folders");
    if (options->gates != NULL && options->gates[0] == '/')
        return error_new(ERROR_USAGE, "with '--base-dir' the file of the gates is relative to both folders");
    if (stat(options->folder, &base) != 0 || stat(".", &own) != 0 || !S_ISDIR(base.st_mode))
        return error_new(ERROR_USAGE, "there is no folder '%s'", options->folder);
    if (base.st_dev != own.st_dev || base.st_ino != own.st_ino)
        return ERROR_OK;
    struct error error = error_new(ERROR_USAGE, "the folder of the base, '%s', is that of the change", options->folder);
    error_set_hint(&error, "check the merge base out elsewhere: git worktree add base \"$(git merge-base main HEAD)\"");
    return error;
}

static struct error open_side(struct proposal *proposal, struct opened *side, int index,
                              const struct proposal_options *options)
{
    side->options = options->scenario;
    side->options.path = format_copy(proposal, side->folder, options->scenario.path);
    TRY(scenario_load(&side->scenario, &side->options));
    TRY(add_inputs(proposal, side, index));
    TRY(find_gates(proposal, side, index, options->gates));
    return find_settings(side);
}

static struct error open_sides(struct proposal *proposal, struct opened *sides, const struct proposal_options *options)
{
    const size_t length = strlen(options->folder);
    const bool has_slash = length > 0 && options->folder[length - 1] == '/';
    sides[BASE].folder = format_copy(proposal, options->folder, has_slash ? "" : "/");
    sides[CHANGED].folder = "";
    for (int index = BASE; index <= CHANGED; index++)
        TRY(open_side(proposal, &sides[index], index, options));
    find_lines(proposal, sides);
    judge_by_base(proposal, sides);
    find_form(proposal);
    proposal->sides[BASE].name = "base";
    proposal->sides[CHANGED].name = "change";
    proposal->runs_base_jobs = options->runs_base_jobs;
    for (int index = BASE; index <= CHANGED; index++)
        give_jobs(proposal, &proposal->sides[index], &sides[index],
                  &sides[options->runs_base_jobs ? BASE : CHANGED].scenario);
    return ERROR_OK;
}

struct error proposal_open(struct proposal *proposal, const struct proposal_options *options)
{
    struct opened sides[PROPOSAL_SIDES] = {{0}};
    *proposal = (struct proposal){0};
    TRY(check_folder(options));
    struct error error = open_sides(proposal, sides, options);
    for (int index = BASE; index <= CHANGED; index++) {
        scenario_release(&sides[index].scenario);
        mem_free(sides[index].settings);
    }
    return error;
}

void proposal_release(struct proposal *proposal)
{
    mem_free(proposal->lines);
    mem_free(proposal->inputs);
    arena_release(&proposal->arena);
    *proposal = (struct proposal){0};
}

size_t proposal_count(const struct proposal *proposal, enum proposal_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < proposal->line_count; i++)
        count += proposal->lines[i].kind == kind;
    return count;
}

void proposal_write(const struct proposal_line *line, struct buffer *out)
{
    buffer_format(out, "%s: ", line->path);
    if (line->kind == PROPOSAL_OF_FORM)
        buffer_string(out, "comments or form alone");
    else
        buffer_format(out, "%s \xe2\x86\x92 %s", line->before != NULL ? line->before : "not set", /* U+2192 */
                      line->after != NULL ? line->after : "not set");
}
