/* topologies/mig_arrange.c -- instances checked one by one, loose ones placed by search, and the spelling of layouts.
 */
#include "topologies/mig_arrange.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char empty_name[] = "empty";

/* ---- Instances one by one ---- */

/* "0", "0 or 4", "0, 2 or 4" */
static void list_starts(uint8_t starts, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (; starts != 0 && length < size; starts &= (uint8_t)(starts - 1)) {
        const char *separator = length == 0 ? "" : (starts & (starts - 1)) == 0 ? " or " : ", ";
        length += (size_t)snprintf(text + length, size - length, "%s%d", separator, __builtin_ctz(starts));
    }
}

static bool complain(struct mig_complaint *why, const struct mig_profile *shape, enum mig_misfit misfit, int64_t start)
{
    char starts[32];
    why->hint[0] = '\0';
    if (misfit == MIG_TOO_MANY) {
        snprintf(why->what, sizeof why->what, "a GPU has at most %u of %s", shape->max_count, shape->name);
    } else if (misfit == MIG_NO_START) {
        list_starts(shape->starts, starts, sizeof starts);
        snprintf(why->what, sizeof why->what, "an instance of %s cannot start at slice %lld", shape->name,
                 (long long)start);
        snprintf(why->hint, sizeof why->hint, "%s may start at %s", shape->name, starts);
    } else {
        snprintf(why->what, sizeof why->what, "this instance of %s overlaps one before it", shape->name);
    }
    return false;
}

bool mig_arrangement_add(struct mig_arrangement *arrangement, enum mig_family family, enum mig_profile_id profile,
                         int64_t start, struct mig_complaint *why)
{
    const struct mig_profile *shape = &mig_profiles(family)[profile];
    if (arrangement->counts[profile] == shape->max_count)
        return complain(why, shape, MIG_TOO_MANY, start);
    if (arrangement->count == MIG_INSTANCES_MAX) {
        *why = (struct mig_complaint){.hint = ""};
        snprintf(why->what, sizeof why->what, "a GPU has at most %d instances", MIG_INSTANCES_MAX);
        return false;
    }
    if (start < 0) {
        arrangement->loose[arrangement->loose_count++] = (uint8_t)profile;
    } else {
        enum mig_misfit misfit =
            mig_layout_misfit(&arrangement->layout, profile, (unsigned)(start < MIG_SLICES ? start : MIG_SLICES));
        if (misfit != MIG_FITS)
            return complain(why, shape, misfit, start);
        arrangement->layout.profile[start] = (uint8_t)(profile + 1);
    }
    arrangement->counts[profile]++;
    arrangement->count++;
    return true;
}

/* ---- Loose instances ---- */

/* Find starts for the loose instances from `next` on: the lowest that leave room for those after them. */
static bool place(struct mig_arrangement *arrangement, uint32_t next)
{
    if (next == arrangement->loose_count)
        return true;
    enum mig_profile_id profile = (enum mig_profile_id)arrangement->loose[next];
    uint8_t starts = mig_fit(mig_layout_mask(&arrangement->layout), profile);
    for (; starts != 0; starts &= (uint8_t)(starts - 1)) {
        int start = __builtin_ctz(starts);
        arrangement->layout.profile[start] = (uint8_t)(profile + 1);
        if (place(arrangement, next + 1))
            return true;
        arrangement->layout.profile[start] = 0;
    }
    return false;
}

bool mig_arrangement_finish(struct mig_arrangement *arrangement, struct mig_complaint *why)
{
    if (place(arrangement, 0))
        return true;
    *why = (struct mig_complaint){.what = "these instances do not fit one GPU together"};
    return false;
}

/* ---- The spelling ---- */

void mig_layout_write(const struct gpu_layout *layout, enum mig_family family, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(family);
    const char *separator = "";
    assert(profiles != NULL);
    for (unsigned s = 0; s < MIG_SLICES; s++) {
        if (layout->profile[s] == 0)
            continue;
        buffer_format(out, "%s%s@%u", separator, profiles[layout->profile[s] - 1].name, s);
        separator = "+";
    }
    if (separator[0] == '\0')
        buffer_string(out, empty_name);
}

static bool ends_name(struct text text, size_t at)
{
    return at == text.length || text.at[at] == '@' || text.at[at] == '+';
}

/* The profile at the front, up to '@', '+' or the end; a name may contain a '+', "1g.10gb+me". */
static struct text leading_name(struct text text)
{
    static const char media[] = "+me";
    size_t length = 0, longer;
    while (!ends_name(text, length))
        length++;
    longer = length + strlen(media);
    if (longer <= text.length && memcmp(text.at + length, media, strlen(media)) == 0 && ends_name(text, longer))
        length = longer;
    return (struct text){text.at, length};
}

static struct text behind(struct text text, size_t length)
{
    return (struct text){text.at + length, text.length - length};
}

/* The error for `name`, at the front of `text`, which is no profile. */
static struct error no_profile(const struct gpu_model *model, struct text name, struct text text)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    if (name.length == 0) {
        struct error error =
            text.length == 0 ? error_new(ERROR_CONFIG, "a profile is missing at the end")
                             : error_new(ERROR_CONFIG, "a profile is missing before '%.*s'", (int)text.length, text.at);
        error_set_hint(&error, "a layout is written as '%s@0+%s@4'; without instances it is '%s'",
                       profiles[MIG_3G].name, profiles[MIG_1G].name, empty_name);
        return error;
    }
    struct error error =
        error_new(ERROR_CONFIG, "GPU model '%s' has no MIG profile '%.*s'", model->name, (int)name.length, name.at);
    const char *nearest = mig_profile_nearest(model->mig, name);
    if (nearest != NULL)
        error_set_hint(&error, "did you mean '%s'?", nearest);
    else
        error_set_hint(&error, "`windtunnel topology mig %s` lists them", model->name);
    return error;
}

static struct error of_complaint(const struct mig_complaint *why, struct text instance)
{
    struct error error = instance.length == 0
                             ? error_new(ERROR_CONFIG, "%s", why->what)
                             : error_new(ERROR_CONFIG, "'%.*s': %s", (int)instance.length, instance.at, why->what);
    if (why->hint[0] != '\0')
        error_set_hint(&error, "%s", why->hint);
    return error;
}

/* Read one instance and cut it off *rest. */
static struct error read_instance(struct mig_arrangement *arrangement, const struct gpu_model *model, struct text *rest)
{
    struct mig_complaint why;
    struct text all = *rest, name = leading_name(all);
    int64_t start = -1;
    size_t length = name.length;
    int profile = mig_profile_find(model->mig, name);
    if (profile < 0)
        return no_profile(model, name, all);
    if (length < all.length && all.at[length] == '@') {
        struct text place = behind(all, length + 1);
        const char *end = memchr(place.at, '+', place.length);
        place.length = end != NULL ? (size_t)(end - place.at) : place.length;
        length += 1 + place.length;
        if (!text_to_int64(place, 0, MIG_SLICES - 1, &start)) {
            struct error error = error_new(ERROR_CONFIG, "'%.*s': the start must be a memory slice, 0 to %d",
                                           (int)length, all.at, MIG_SLICES - 1);
            error_set_hint(&error, "leave '@' and it out for the lowest that fits");
            return error;
        }
    }
    *rest = behind(all, length);
    if (!mig_arrangement_add(arrangement, model->mig, (enum mig_profile_id)profile, start, &why))
        return of_complaint(&why, (struct text){all.at, length});
    return ERROR_OK;
}

struct error mig_layout_read(struct gpu_layout *out, const struct gpu_model *model, struct text text)
{
    struct mig_arrangement arrangement = {.count = 0};
    struct mig_complaint why;
    if (mig_profiles(model->mig) == NULL)
        return error_new(ERROR_CONFIG, "GPU model '%s' has no MIG", model->name);
    struct text rest = text;
    bool is_last = text_is(text, empty_name);
    while (!is_last) {
        TRY(read_instance(&arrangement, model, &rest));
        is_last = rest.length == 0;
        if (!is_last)
            rest = behind(rest, 1); /* skip the '+' after the instance */
    }
    if (!mig_arrangement_finish(&arrangement, &why))
        return of_complaint(&why, (struct text){text.at, 0});
    *out = arrangement.layout;
    return ERROR_OK;
}
