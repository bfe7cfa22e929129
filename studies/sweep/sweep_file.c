#include "studies/sweep/sweep_file.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/json_file.h"
#include "studies/sweep/sweep_design.h"
#include "studies/sweep/sweep_exclude.h"

enum { FILE_BYTES_MAX = 64 << 20, RANGE_SIZE = 2 };

enum design_kind { DESIGN_FACTORIAL, DESIGN_LATIN };
static const char *const design_names[] = {"factorial", "latin_hypercube", NULL};
static const char *const scale_names[] = {"linear", "log", NULL};

struct design {
    enum design_kind kind;
    size_t point_count;
    uint64_t seed;
};

struct reading {
    struct sweep_file *file;
    const char *folder; /* of the file: "" or ends in '/' */
    struct design design;
    uint32_t *strata[SWEEP_FACTORS_MAX]; /* Latin hypercube: by point */
    struct arena scratch;
};

/* ---- values ---- */

/* Is the value at the dotted path the path of a file? */
static bool names_file(const char *path, const char *value)
{
    static const char *const files[] = {"cluster", "workload.trace", "policy.file", "policy.typical", NULL};
    for (size_t i = 0; files[i] != NULL; i++)
        if (strcmp(path, files[i]) == 0)
            return true;
    const bool is_part = strncmp(path, "workload.merge.", strlen("workload.merge.")) == 0;
    if (strcmp(path, "workload.model") == 0 || (is_part && strcmp(strrchr(path, '.'), ".model") == 0))
        return text_is_json_path(value);
    if (is_part && strcmp(strrchr(path, '.'), ".trace") == 0)
        return true;
    return strncmp(path, "plugins.", strlen("plugins.")) == 0 ||
           strncmp(path, "policy.plugins.", strlen("policy.plugins.")) == 0;
}

/* A new reference: the value with paths of files relative to the present folder. */
static json_t *rebased(const struct reading *reading, const char *path, json_t *value)
{
    struct buffer text = {0};
    json_t *copy = NULL, *member;
    const char *key, *string = json_string_value(value);
    size_t i;
    if (string != NULL && string[0] != '/' && names_file(path, string)) {
        buffer_format(&text, "%s%s", reading->folder, string);
        copy = json_string(buffer_c_string(&text));
    } else if (json_is_object(value)) {
        copy = json_object();
        json_object_foreach(value, key, member)
        {
            text.length = 0;
            buffer_format(&text, "%s.%s", path, key);
            json_object_set_new(copy, key, rebased(reading, buffer_c_string(&text), member));
        }
    } else if (json_is_array(value)) {
        copy = json_array();
        json_array_foreach(value, i, member)
        {
            text.length = 0;
            buffer_format(&text, "%s.%zu", path, i);
            json_array_append_new(copy, rebased(reading, buffer_c_string(&text), member));
        }
    }
    buffer_release(&text);
    return copy != NULL ? copy : json_incref(value);
}

static const char *set_of(struct reading *reading, const char *path, json_t *node)
{
    struct json_value value = {.node = rebased(reading, path, node)};
    char *json = json_value_canonical_new(&value);
    struct buffer set = {0};
    buffer_format(&set, "%s=%s", path, json);
    const char *copy = arena_copy(&reading->file->arena, (struct text){set.bytes, set.length});
    buffer_release(&set);
    mem_free(json);
    json_decref(value.node);
    return copy;
}

/* An object of paths and values as sets.  value: where a bad path is told. */
static const char *const *read_sets(struct reading *reading, const struct json_value *value, size_t *count)
{
    struct json_object object;
    const char *path;
    json_object_open(&object, value);
    *count = 0;
    if (error_is(*value->error))
        return NULL;
    const char **sets = arena_alloc_array(&reading->file->arena, json_object_size(value->node) + 1, const char *);
    for (size_t i = 0; (path = json_object_key(&object, i)) != NULL; i++) {
        struct json_value member = json_member(&object, path);
        if (member.node == NULL) /* null */
            member.node = json_object_get(value->node, path);
        if (strcmp(path, "seed") == 0) {
            json_fail(&member, "the seed cannot be set: 'seeds' names the seeds");
            return NULL;
        }
        sets[(*count)++] = set_of(reading, path, member.node);
    }
    return sets;
}

/* ---- levels ---- */

static void start_level(struct sweep_level *level, const struct json_value *place, const char *name)
{
    *level = (struct sweep_level){.name = name};
    json_value_place(place, &level->line, &level->column);
}

static void read_value_level(struct reading *reading, const char *path, const struct json_value *value,
                             struct sweep_level *level)
{
    const char **sets = arena_alloc_array(&reading->file->arena, 1, const char *);
    sets[0] = set_of(reading, path, value->node);
    start_level(level, value, sweep_value_name(value->node, &reading->file->arena));
    level->is_number = json_is_number(value->node);
    level->number = json_number_value(value->node);
    level->sets = sets;
    level->set_count = 1;
}

static void check_distinct(const struct json_value *place, const struct sweep_factor *factor)
{
    const struct sweep_level *last = &factor->levels[factor->level_count - 1];
    for (const struct sweep_level *level = factor->levels; level < last; level++)
        if (strcmp(level->name, last->name) == 0 && !error_is(*place->error))
            json_fail(place, "the level '%s' stands here twice", last->name);
}

static void read_values(struct reading *reading, const char *path, const struct json_value *values,
                        struct sweep_factor *factor)
{
    const size_t count = json_array_count(values);
    struct sweep_level *levels = arena_alloc_array(&reading->file->arena, count + 1, struct sweep_level);
    factor->levels = levels;
    if (count == 0)
        json_fail(values, "a factor needs a value");
    else if (count > SWEEP_LEVELS_MAX)
        json_fail(values, "a factor has at most %d values", SWEEP_LEVELS_MAX);
    for (size_t i = 0; i < count && !error_is(*values->error); i++) {
        struct json_value value = json_array_item(values, i);
        read_value_level(reading, path, &value, &levels[i]);
        factor->level_count = i + 1;
        check_distinct(&value, factor);
    }
}

static void read_named_levels(struct reading *reading, const struct json_value *value, struct sweep_factor *factor)
{
    struct json_object object;
    const char *name;
    json_object_open(&object, value);
    if (error_is(*value->error))
        return;
    const size_t count = json_object_size(value->node);
    struct sweep_level *levels = arena_alloc_array(&reading->file->arena, count + 1, struct sweep_level);
    factor->levels = levels;
    if (count == 0)
        json_fail(value, "a factor needs a level");
    for (size_t i = 0; (name = json_object_key(&object, i)) != NULL && !error_is(*value->error); i++) {
        struct json_value sets = json_member(&object, name);
        start_level(&levels[i], &sets, arena_copy(&reading->file->arena, text_of(name)));
        levels[i].is_number = text_to_double(text_of(name), &levels[i].number);
        levels[i].sets = read_sets(reading, &sets, &levels[i].set_count);
        factor->level_count = i + 1;
    }
}

static struct sweep_range read_range(const struct json_value *value, struct json_object *factor)
{
    struct sweep_range range = {.is_log = json_get_choice(factor, "scale", scale_names, 0) == 1,
                                .is_integer = json_get_bool(factor, "integer", false)};
    if (json_array_count(value) != RANGE_SIZE) {
        json_fail(value, "a range is [LOW, HIGH]");
        return range;
    }
    const struct json_value low = json_array_item(value, 0), high = json_array_item(value, 1);
    range.low = json_value_real(&low, -1e15, 1e15);
    range.high = json_value_real(&high, -1e15, 1e15);
    if (!(range.low < range.high))
        json_fail(value, "the first number of a range must be below the second");
    if (range.is_log && range.low <= 0)
        json_fail(&low, "a logarithmic range must begin above 0");
    if (range.is_integer && (!json_is_integer(low.node) || !json_is_integer(high.node)))
        json_fail(value, "the ends of a range of integers must be integers");
    return range;
}

/* A level for each stratum; equal ones are one level, and `level_of` tells which. */
static void draw_levels(struct reading *reading, const char *path, const struct json_value *place,
                        const struct sweep_range *range, struct sweep_factor *factor, uint32_t *level_of)
{
    const size_t index = (size_t)(factor - reading->file->factors), count = reading->design.point_count;
    double *places = arena_alloc_array(&reading->scratch, count, double), last = NAN;
    struct sweep_level *levels = arena_alloc_array(&reading->file->arena, count, struct sweep_level);
    sweep_design_places(reading->design.seed, index, count, places);
    factor->levels = levels;
    for (size_t s = 0; s < count; s++) {
        const double number = sweep_range_at(range, places[s]);
        json_t *node = range->is_integer ? json_integer((json_int_t)number) : json_real(number);
        struct json_value value = *place;
        value.node = node;
        if (factor->level_count == 0 || number > last) {
            read_value_level(reading, path, &value, &levels[factor->level_count]);
            json_value_place(place, &levels[factor->level_count].line, &levels[factor->level_count].column);
            factor->level_count++;
        }
        last = number;
        level_of[s] = (uint32_t)factor->level_count - 1;
        json_decref(node);
    }
}

/* From strata to levels, for a factor with a list of levels: each gets an equal share of the strata. */
static void spread_levels(const struct reading *reading, const struct sweep_factor *factor, uint32_t *level_of)
{
    for (size_t s = 0; s < reading->design.point_count; s++)
        level_of[s] = (uint32_t)(s * factor->level_count / reading->design.point_count);
}

/* ---- factors ---- */

static const char *path_of_set(const char *set, size_t *length)
{
    *length = strcspn(set, "=");
    return set;
}

static bool is_same_path(const char *set, const char *other)
{
    size_t length, other_length;
    path_of_set(set, &length);
    path_of_set(other, &other_length);
    return length == other_length && memcmp(set, other, length) == 0;
}

static bool sets_path(const struct sweep_factor *factor, const char *set)
{
    for (size_t l = 0; l < factor->level_count; l++)
        for (size_t s = 0; s < factor->levels[l].set_count; s++)
            if (is_same_path(factor->levels[l].sets[s], set))
                return true;
    return false;
}

static void check_factor(const struct reading *reading, const struct json_value *value,
                         const struct sweep_factor *factor)
{
    for (const struct sweep_factor *other = reading->file->factors; other < factor; other++) {
        if (strcmp(other->name, factor->name) == 0 && !error_is(*value->error))
            json_fail(value, "there are two factors '%s'", factor->name);
        for (size_t l = 0; l < factor->level_count && !error_is(*value->error); l++)
            for (size_t s = 0; s < factor->levels[l].set_count; s++)
                if (sets_path(other, factor->levels[l].sets[s])) {
                    size_t length;
                    const char *path = path_of_set(factor->levels[l].sets[s], &length);
                    json_fail(value, "the factors '%s' and '%s' both set '%.*s'", other->name, factor->name,
                              (int)length, path);
                    return;
                }
    }
}

static void read_kind(struct reading *reading, struct json_object *object, struct sweep_factor *factor,
                      uint32_t *level_of)
{
    const bool is_latin = reading->design.kind == DESIGN_LATIN;
    const char *path = json_get_string(object, "path", NULL);
    struct json_value values = json_member(object, "values"), levels = json_member(object, "levels"),
                      range = json_member(object, "range"), place = json_member(object, "path");
    if ((values.node != NULL) + (levels.node != NULL) + (range.node != NULL) != 1) {
        json_fail(&object->value, "a factor has 'values', 'levels' or 'range', and just one of them");
        return;
    }
    if (levels.node == NULL)
        json_need(object, "path");
    else if (path != NULL)
        json_fail(&place, "named levels hold their paths themselves");
    if (path != NULL && strcmp(path, "seed") == 0)
        json_fail(&place, "the seed is no factor: 'seeds' names the seeds");
    factor->name = json_get_string(object, "name", path);
    if (error_is(*object->value.error))
        return;
    if (factor->name == NULL) {
        json_need(object, "name");
        return;
    }
    factor->name = arena_copy(&reading->file->arena, text_of(factor->name));
    if (range.node != NULL && !is_latin) {
        json_fail(&range, "a range needs the design 'latin_hypercube'");
        error_set_hint(range.error, "or list its values with 'values'");
        return;
    }
    if (range.node != NULL) {
        const struct sweep_range read = read_range(&range, object);
        if (!error_is(*range.error))
            draw_levels(reading, path, &range, &read, factor, level_of);
    } else if (values.node != NULL) {
        read_values(reading, path, &values, factor);
    } else {
        read_named_levels(reading, &levels, factor);
    }
    if (range.node == NULL && is_latin && !error_is(*object->value.error))
        spread_levels(reading, factor, level_of);
}

static void read_factor(struct reading *reading, const struct json_value *value)
{
    struct sweep_file *file = reading->file;
    struct sweep_factor *factor = &file->factors[file->factor_count];
    const size_t index = file->factor_count, points = reading->design.point_count;
    struct json_object object;
    uint32_t *level_of = arena_alloc_array(&reading->scratch, points + 1, uint32_t);
    json_object_open(&object, value);
    if (error_is(*value->error))
        return;
    read_kind(reading, &object, factor, level_of);
    json_object_close(&object);
    if (error_is(*value->error))
        return;
    check_factor(reading, value, factor);
    file->factor_count++;
    if (reading->design.kind != DESIGN_LATIN)
        return;
    reading->strata[index] = arena_alloc_array(&reading->scratch, points, uint32_t);
    sweep_design_strata(reading->design.seed, index, points, reading->strata[index]);
    for (size_t p = 0; p < points; p++)
        reading->strata[index][p] = level_of[reading->strata[index][p]];
}

static void read_factors(struct reading *reading, const struct json_value *value)
{
    const size_t count = value->node != NULL ? json_array_count(value) : 0;
    if (count > SWEEP_FACTORS_MAX)
        json_fail(value, "there are at most %d factors", SWEEP_FACTORS_MAX);
    reading->file->factors = arena_alloc_array(&reading->file->arena, SWEEP_FACTORS_MAX, struct sweep_factor);
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        struct json_value item = json_array_item(value, i);
        read_factor(reading, &item);
    }
}

/* ---- combinations ---- */

static void make_factorial(struct reading *reading, const struct json_value *place)
{
    struct sweep_file *file = reading->file;
    size_t counts[SWEEP_FACTORS_MAX];
    for (size_t f = 0; f < file->factor_count; f++)
        counts[f] = file->factors[f].level_count;
    file->combination_count = sweep_design_factorial_count(counts, file->factor_count, SWEEP_COMBINATIONS_MAX);
    if (file->combination_count == 0) {
        json_fail(place, "the levels of the factors have more than %d combinations", SWEEP_COMBINATIONS_MAX);
        error_set_hint(place->error, "a Latin hypercube has as many as you say: \"design\": {\"kind\": "
                                     "\"latin_hypercube\", \"points\": 100}");
        return;
    }
    file->levels = arena_alloc_array(&file->arena, file->combination_count * file->factor_count + 1, uint32_t);
    sweep_design_factorial(counts, file->factor_count, file->levels);
}

static void make_latin(struct reading *reading)
{
    struct sweep_file *file = reading->file;
    file->combination_count = reading->design.point_count;
    file->levels = arena_alloc_array(&file->arena, file->combination_count * file->factor_count + 1, uint32_t);
    for (size_t c = 0; c < file->combination_count; c++)
        for (size_t f = 0; f < file->factor_count; f++)
            file->levels[c * file->factor_count + f] = reading->strata[f][c];
}

static struct design read_design(const struct json_value *value)
{
    struct design design = {.kind = DESIGN_FACTORIAL};
    struct json_object object;
    if (value->node == NULL)
        return design;
    json_object_open(&object, value);
    design.kind = (enum design_kind)json_get_choice(&object, "kind", design_names, DESIGN_FACTORIAL);
    if (design.kind == DESIGN_LATIN) {
        json_need(&object, "points");
        design.point_count = (size_t)json_get_int(&object, "points", 1, SWEEP_COMBINATIONS_MAX, 1);
        design.seed = (uint64_t)json_get_int(&object, "seed", 0, INT64_MAX, 1);
    }
    json_object_close(&object);
    return design;
}

/* ---- the whole ---- */

static void read_seeds(struct sweep_file *file, const struct json_value *value)
{
    file->seed_count = 1;
    if (value->node == NULL)
        return;
    if (!json_is_array(value->node)) {
        file->seed_count = (size_t)json_value_int(value, 1, SWEEP_SEEDS_MAX);
        return;
    }
    const size_t count = json_array_count(value);
    if (count == 0 || count > SWEEP_SEEDS_MAX)
        json_fail(value, "a list of seeds has 1 to %d entries", SWEEP_SEEDS_MAX);
    uint64_t *seeds = arena_alloc_array(&file->arena, count + 1, uint64_t);
    for (size_t i = 0; i < count && !error_is(*value->error); i++) {
        const struct json_value item = json_array_item(value, i);
        seeds[i] = (uint64_t)json_value_int(&item, 0, INT64_MAX);
        for (size_t other = 0; other < i; other++)
            if (seeds[other] == seeds[i] && !error_is(*item.error))
                json_fail(&item, "the seed %llu stands here twice", (unsigned long long)seeds[i]);
    }
    file->seeds = seeds;
    file->seed_count = count;
}

static void read_scenario(struct reading *reading, struct json_object *object)
{
    struct buffer path = {0};
    json_need(object, "scenario");
    const char *name = json_get_string(object, "scenario", "");
    buffer_format(&path, "%s%s", name[0] == '/' ? "" : reading->folder, name);
    reading->file->scenario = arena_copy(&reading->file->arena, (struct text){path.bytes, path.length});
    buffer_release(&path);
}

static void read_root(struct reading *reading, const struct json_value *root)
{
    struct sweep_file *file = reading->file;
    struct json_object object;
    json_object_open(&object, root);
    read_scenario(reading, &object);
    struct json_value set = json_member(&object, "set"), factors = json_member(&object, "factors"),
                      design = json_member(&object, "design"), exclude = json_member(&object, "exclude"),
                      seeds = json_member(&object, "seeds");
    if (set.node != NULL)
        file->sets = read_sets(reading, &set, &file->set_count);
    read_seeds(file, &seeds);
    reading->design = read_design(&design);
    read_factors(reading, &factors);
    if (!error_is(*root->error) && reading->design.kind == DESIGN_LATIN)
        make_latin(reading);
    else if (!error_is(*root->error))
        make_factorial(reading, &factors);
    if (!error_is(*root->error))
        sweep_exclude(file, &exclude);
    if (!error_is(*root->error) && file->combination_count > SWEEP_RUNS_MAX / file->seed_count)
        json_fail(&seeds, "%zu combinations with %zu seeds are more than %d runs", file->combination_count,
                  file->seed_count, SWEEP_RUNS_MAX);
    json_object_close(&object);
}

static struct error read_doc(struct sweep_file *file, struct json_doc *doc)
{
    struct error error = ERROR_OK;
    const char *slash = strrchr(file->path, '/');
    struct reading reading = {.file = file};
    reading.folder =
        arena_copy(&file->arena, (struct text){file->path, slash != NULL ? (size_t)(slash - file->path) + 1 : 0});
    struct json_value root = json_doc_root(doc, &error);
    read_root(&reading, &root);
    arena_release(&reading.scratch);
    return error;
}

struct error sweep_file_read(struct sweep_file *out, const char *path)
{
    struct json_doc *doc;
    *out = (struct sweep_file){0};
    TRY(json_file_read(&doc, path, FILE_BYTES_MAX, ERROR_CONFIG, out->digest));
    out->path = arena_copy(&out->arena, text_of(path));
    struct error error = read_doc(out, doc);
    json_doc_free(doc);
    if (error_is(error))
        sweep_file_release(out);
    return error;
}

void sweep_file_release(struct sweep_file *file)
{
    arena_release(&file->arena);
    *file = (struct sweep_file){0};
}
