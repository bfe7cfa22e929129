/* topologies/mig_show.c -- MIG of a model and of one layout, as text and as JSON. */
#include "topologies/mig_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "topologies/mig_arrange.h"

enum { MIB_PER_GIB = 1024, SLICE_COLUMNS = 3 };

static const char slice_numbers[] = " 0  1  2  3  4  5  6  7";

/* ---- For both text and JSON ---- */

/* Counts of media engines are 0 if no listing is known; a whole GPU has some. */
static bool has_media(const struct mig_profile *profiles)
{
    return profiles[MIG_7G].decoders != 0;
}

static void put_profile_names(const struct gpu_model *model, uint8_t set, const char *separator, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    const char *before = "";
    for (int p = 0; p < MIG_PROFILE_COUNT; p++)
        if (set >> p & 1) {
            buffer_format(out, "%s%s", before, profiles[p].name);
            before = separator;
        }
}

/* The resources that the instances of a layout use. */
struct used {
    uint32_t compute, slices;
    uint32_t memory_mib;
    uint32_t sm_count;
    bool has_sm_count; /* known for all of them and for the GPU */
};

static struct used used_by(const struct gpu_model *model, const struct gpu_layout *layout)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    struct used used = {.compute = mig_layout_compute(layout),
                        .slices = (uint32_t)__builtin_popcount(mig_layout_mask(layout)),
                        .has_sm_count = model->sm_count != 0};
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        uint32_t count = mig_layout_count(layout, (enum mig_profile_id)p);
        used.memory_mib += count * profiles[p].memory_mib;
        used.sm_count += count * profiles[p].sm_count;
        used.has_sm_count &= count == 0 || profiles[p].sm_count != 0;
    }
    return used;
}

/* ---- Layouts, counted and sorted ---- */

/* Sets whose layouts are counted; each set contains the one before it. */
static const uint8_t counted_sets[] = {MIG_SET_BASE, MIG_SET_COMPUTE, MIG_SET_ALL};
enum { COUNTED_SETS = sizeof counted_sets / sizeof *counted_sets };

struct maximal {
    uint32_t holds; /* number of each profile, one octal digit each, the 7g first */
    mig_layout_id id;
};

/* The layouts of a set of profiles. */
struct census {
    struct maximal *maximal; /* the largest profiles first; layouts with equal instances are adjacent */
    uint32_t maximal_count;
    uint32_t kinds; /* maximal layouts that differ in their instances, not only in the starts */
    uint32_t legal; /* number of legal layouts, including the empty one */
};

static uint32_t holds_of(const struct gpu_layout *layout)
{
    uint32_t holds = 0;
    for (int p = 0; p < MIG_PROFILE_COUNT; p++)
        holds |= mig_layout_count(layout, (enum mig_profile_id)p) << (3 * p);
    return holds;
}

static int compare_maximal(const void *a, const void *b)
{
    const struct maximal *one = a, *other = b;
    if (one->holds != other->holds)
        return one->holds > other->holds ? -1 : 1;
    return one->id > other->id ? -1 : one->id < other->id;
}

/* The caller frees it with mem_free(maximal). */
static struct census census_new(uint8_t profiles)
{
    struct census census = {.maximal = mem_alloc(MIG_LAYOUT_COUNT * sizeof(struct maximal))};
    for (uint32_t id = 0; id < MIG_LAYOUT_COUNT; id++) {
        struct gpu_layout layout = mig_layout_get((mig_layout_id)id);
        if (mig_layout_profiles(&layout) & ~profiles)
            continue;
        census.legal++;
        if (mig_layout_is_maximal(&layout, profiles))
            census.maximal[census.maximal_count++] = (struct maximal){holds_of(&layout), (mig_layout_id)id};
    }
    qsort(census.maximal, census.maximal_count, sizeof *census.maximal, compare_maximal);
    for (uint32_t i = 0; i < census.maximal_count; i++)
        census.kinds += i == 0 || census.maximal[i].holds != census.maximal[i - 1].holds;
    return census;
}

/* The end of the layouts with the same instances as that at `first`. */
static uint32_t end_of_kind(const struct census *census, uint32_t first)
{
    uint32_t end = first;
    while (end < census->maximal_count && census->maximal[end].holds == census->maximal[first].holds)
        end++;
    return end;
}

/* ---- As text ---- */

/* Cut to two digits, like nvidia-smi's output. */
static const char *gib_text(char text[16], uint32_t memory_mib)
{
    uint32_t hundredths = memory_mib * 100 / MIB_PER_GIB;
    snprintf(text, 16, "%u.%02u", hundredths / 100, hundredths % 100);
    return text;
}

static void put_head(const struct gpu_model *model, struct buffer *out)
{
    buffer_format(out, "%s: ", model->name);
    buffer_scaled(out, model->memory_mib / MIB_PER_GIB, 1);
    buffer_string(out, " GiB, ");
    if (model->sm_count != 0)
        buffer_format(out, "%u SMs, ", model->sm_count);
    buffer_format(out, "%d compute slices, %d memory slices\n", MIG_COMPUTE_SLICES, MIG_SLICES);
}

static void put_profile_row(const struct mig_profile *profile, bool is_media_known, struct buffer *out)
{
    char sm_count[16] = "unknown", media[24] = "unknown", gib[16];
    if (profile->sm_count != 0)
        snprintf(sm_count, sizeof sm_count, "%u", profile->sm_count);
    if (is_media_known)
        snprintf(media, sizeof media, "%u/%u/%u", profile->decoders, profile->jpeg, profile->ofa);
    buffer_format(out, "%-12s %7u %7u %8s %8s %5u %13s %5u  ", profile->name, profile->compute_slices,
                  profile->memory_slices, gib_text(gib, profile->memory_mib), sm_count, profile->copy_engines, media,
                  profile->max_count);
    buffer_indices(out, profile->starts);
    buffer_char(out, '\n');
}

static void put_profiles(const struct mig_profile *profiles, struct buffer *out)
{
    buffer_format(out, "\n%-12s %7s %7s %8s %8s %5s %13s %5s  %s\n", "profile", "compute", "memory", "GiB", "SMs",
                  "copy", "dec/jpeg/ofa", "most", "starts");
    for (int p = 0; p < MIG_PROFILE_COUNT; p++)
        put_profile_row(&profiles[p], has_media(profiles), out);
}

static void put_counts(const struct gpu_model *model, struct buffer *out)
{
    buffer_string(out, "\n legal  maximal  kinds  layouts of\n");
    for (int i = 0; i < COUNTED_SETS; i++) {
        struct census census = census_new(counted_sets[i]);
        buffer_format(out, "%6u %8u %6u  ", census.legal, census.maximal_count, census.kinds);
        uint8_t before = i == 0 ? 0 : counted_sets[i - 1];
        buffer_string(out, i == 0 ? "" : "the same and ");
        put_profile_names(model, (uint8_t)(counted_sets[i] & ~before), ", ", out);
        buffer_char(out, '\n');
        mem_free(census.maximal);
    }
}

/* See the header. */
static void put_drawing(const struct gpu_layout *layout, struct buffer *out)
{
    for (unsigned s = 0; s < MIG_SLICES;) {
        if (layout->profile[s] == 0) {
            buffer_string(out, " . ");
            s++;
            continue;
        }
        enum mig_profile_id profile = (enum mig_profile_id)(layout->profile[s] - 1);
        struct gpu_layout alone = {{[0] = (uint8_t)(profile + 1)}};
        uint32_t slices = mig_slices(profile);
        buffer_char(out, '[');
        buffer_char(out, profile == MIG_1G_ME ? 'm' : (char)('0' + mig_layout_compute(&alone)));
        for (uint32_t i = 0; i < slices * SLICE_COLUMNS - 3; i++)
            buffer_char(out, '-');
        buffer_char(out, ']');
        s += slices;
    }
    while (out->bytes[out->length - 1] == ' ')
        out->length--;
}

/* "3g.40gb, 4 x 1g.10gb" */
static void put_holdings(const struct mig_profile *profiles, const struct gpu_layout *layout, struct buffer *out)
{
    const char *separator = "";
    for (int p = MIG_PROFILE_COUNT; p-- > 0;) {
        uint32_t count = mig_layout_count(layout, (enum mig_profile_id)p);
        if (count == 0)
            continue;
        buffer_string(out, separator);
        if (count > 1)
            buffer_format(out, "%u x ", count);
        buffer_string(out, profiles[p].name);
        separator = ", ";
    }
}

static int holdings_width(const struct mig_profile *profiles, const struct census *census)
{
    size_t width = 0;
    struct buffer text = {0};
    for (uint32_t i = 0; i < census->maximal_count; i++) {
        struct gpu_layout layout = mig_layout_get(census->maximal[i].id);
        text.length = 0;
        put_holdings(profiles, &layout, &text);
        width = text.length > width ? text.length : width;
    }
    buffer_release(&text);
    return (int)width;
}

/* The instances of the layouts from `first` on, and their starts in each. */
static void put_kind(const struct mig_profile *profiles, const struct census *census, uint32_t first, int width,
                     struct buffer *out)
{
    struct buffer holdings = {0};
    struct gpu_layout layout = mig_layout_get(census->maximal[first].id);
    put_holdings(profiles, &layout, &holdings);
    for (uint32_t i = first; i < end_of_kind(census, first); i++) {
        layout = mig_layout_get(census->maximal[i].id);
        buffer_format(out, "%-*s  ", width, i == first ? buffer_c_string(&holdings) : "");
        put_drawing(&layout, out);
        buffer_char(out, '\n');
    }
    buffer_release(&holdings);
}

/* The maximal layouts of a set that contain one of `needed` (0: all). */
static void put_maximal(const struct gpu_model *model, uint8_t set, uint8_t needed, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    struct census census = census_new(set);
    int width = holdings_width(profiles, &census);
    buffer_string(out, "\nmaximal layouts ");
    buffer_string(out, needed == 0 ? "of " : "with ");
    put_profile_names(model, needed == 0 ? set : needed, ", ", out);
    buffer_format(out, "\n%-*s  %s\n", width, "", slice_numbers);
    for (uint32_t i = 0; i < census.maximal_count; i = end_of_kind(&census, i)) {
        struct gpu_layout layout = mig_layout_get(census.maximal[i].id);
        if (needed == 0 || (mig_layout_profiles(&layout) & needed))
            put_kind(profiles, &census, i, width, out);
    }
    mem_free(census.maximal);
}

void mig_show_model(const struct gpu_model *model, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    put_head(model, out);
    put_profiles(profiles, out);
    put_counts(model, out);
    put_maximal(model, MIG_SET_BASE, 0, out);
    put_maximal(model, MIG_SET_COMPUTE, 1 << MIG_1G_2MEM, out);
    buffer_format(out, "\n%s may take the place of one %s in any of them.\n", profiles[MIG_1G_ME].name,
                  profiles[MIG_1G].name);
}

static void put_share(struct buffer *out, double part, double whole)
{
    buffer_format(out, " (%.1f %%)\n", 100 * part / whole);
}

static void put_used(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out)
{
    struct used used = used_by(model, layout);
    char part[16], whole[16];
    buffer_format(out, "compute        %u of %d slices", used.compute, MIG_COMPUTE_SLICES);
    put_share(out, used.compute, MIG_COMPUTE_SLICES);
    buffer_format(out, "memory slices  %u of %d", used.slices, MIG_SLICES);
    put_share(out, used.slices, MIG_SLICES);
    buffer_format(out, "memory         %s of %s GiB", gib_text(part, used.memory_mib),
                  gib_text(whole, model->memory_mib));
    put_share(out, used.memory_mib, model->memory_mib);
    if (used.has_sm_count) {
        buffer_format(out, "SMs            %u of %u", used.sm_count, model->sm_count);
        put_share(out, used.sm_count, model->sm_count);
    } else {
        buffer_string(out, "SMs            unknown\n");
    }
}

static void put_room(const struct mig_profile *profiles, const struct gpu_layout *layout, struct buffer *out)
{
    struct mig_room room = mig_layout_room(layout);
    buffer_string(out, "\nprofile       more  starts\n");
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        buffer_format(out, "%-12s %5u  ", profiles[p].name, room.most[p]);
        if (room.starts[p] != 0)
            buffer_indices(out, room.starts[p]);
        else
            buffer_char(out, '-');
        buffer_char(out, '\n');
    }
}

void mig_show_layout(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    uint8_t mask = mig_layout_mask(layout);
    int largest = mig_largest(mask);
    put_head(model, out);
    buffer_format(out, "\n               %s\nlayout         ", slice_numbers);
    put_drawing(layout, out);
    buffer_string(out, "\n               ");
    mig_layout_write(layout, model->mig, out);
    buffer_format(out, ", number %u\n", mig_layout_of(layout));
    put_used(model, layout, out);
    buffer_format(out, "largest        %s\n", largest < 0 ? "none fits" : profiles[largest].name);
    buffer_format(out, "fragmentation  %.3f", mig_fragmentation(mask));
    buffer_format(out, " (compute slices that could be handed out: %u)\n", mig_free_compute(mask));
    put_room(profiles, layout, out);
}

/* ---- As JSON ---- */

static void json_text(struct buffer *out, const char *key, const char *text)
{
    buffer_format(out, "\"%s\": ", key);
    buffer_json(out, text_of(text));
}

static void json_number(struct buffer *out, const char *key, uint32_t value, bool is_known)
{
    buffer_format(out, ", \"%s\": ", key);
    if (is_known)
        buffer_int(out, value);
    else
        buffer_string(out, "null");
}

static void json_starts(struct buffer *out, uint8_t starts)
{
    const char *separator = ", \"starts\": [";
    if (starts == 0)
        buffer_string(out, separator);
    for (; starts != 0; starts &= (uint8_t)(starts - 1)) {
        buffer_format(out, "%s%d", separator, __builtin_ctz(starts));
        separator = ", ";
    }
    buffer_char(out, ']');
}

static void json_head(const struct gpu_model *model, struct buffer *out)
{
    buffer_char(out, '{');
    json_text(out, "model", model->name);
    json_number(out, "memory_mib", model->memory_mib, true);
    json_number(out, "sm_count", model->sm_count, model->sm_count != 0);
    json_number(out, "compute_slices", MIG_COMPUTE_SLICES, true);
    json_number(out, "memory_slices", MIG_SLICES, true);
}

static void json_profiles(const struct mig_profile *profiles, struct buffer *out)
{
    bool is_media_known = has_media(profiles);
    buffer_string(out, ",\n\"profiles\": [");
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        const struct mig_profile *profile = &profiles[p];
        buffer_string(out, p > 0 ? ",\n {" : "\n {");
        json_text(out, "profile", profile->name);
        json_number(out, "compute_slices", profile->compute_slices, true);
        json_number(out, "memory_slices", profile->memory_slices, true);
        json_number(out, "memory_mib", profile->memory_mib, true);
        json_number(out, "sm_count", profile->sm_count, profile->sm_count != 0);
        json_number(out, "copy_engines", profile->copy_engines, true);
        json_number(out, "decoders", profile->decoders, is_media_known);
        json_number(out, "jpeg", profile->jpeg, is_media_known);
        json_number(out, "ofa", profile->ofa, is_media_known);
        json_number(out, "most", profile->max_count, true);
        json_starts(out, profile->starts);
        buffer_char(out, '}');
    }
    buffer_char(out, ']');
}

static void json_counts(const struct gpu_model *model, struct buffer *out)
{
    buffer_string(out, ",\n\"counts\": [");
    for (int i = 0; i < COUNTED_SETS; i++) {
        struct census census = census_new(counted_sets[i]);
        buffer_string(out, i > 0 ? ",\n {\"profiles\": [\"" : "\n {\"profiles\": [\"");
        put_profile_names(model, counted_sets[i], "\", \"", out);
        buffer_string(out, "\"]");
        json_number(out, "legal", census.legal, true);
        json_number(out, "maximal", census.maximal_count, true);
        json_number(out, "kinds", census.kinds, true);
        buffer_char(out, '}');
        mem_free(census.maximal);
    }
    buffer_char(out, ']');
}

static void json_layout(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out)
{
    buffer_string(out, "\"layout\": \"");
    mig_layout_write(layout, model->mig, out);
    buffer_char(out, '"');
    json_number(out, "number", mig_layout_of(layout), true);
}

static void json_kind(const struct gpu_model *model, const struct census *census, uint32_t first, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    struct gpu_layout layout = mig_layout_get(census->maximal[first].id);
    const char *separator = "{\"instances\": {";
    for (int p = MIG_PROFILE_COUNT; p-- > 0;) {
        uint32_t count = mig_layout_count(&layout, (enum mig_profile_id)p);
        if (count == 0)
            continue;
        buffer_format(out, "%s\"%s\": %u", separator, profiles[p].name, count);
        separator = ", ";
    }
    buffer_string(out, "}, \"layouts\": [");
    for (uint32_t i = first; i < end_of_kind(census, first); i++) {
        layout = mig_layout_get(census->maximal[i].id);
        buffer_string(out, i == first ? "{" : ", {");
        json_layout(model, &layout, out);
        buffer_char(out, '}');
    }
    buffer_string(out, "]}");
}

void mig_show_model_json(const struct gpu_model *model, struct buffer *out)
{
    struct census census = census_new(MIG_SET_COMPUTE);
    json_head(model, out);
    json_profiles(mig_profiles(model->mig), out);
    json_counts(model, out);
    buffer_string(out, ",\n\"maximal\": [");
    for (uint32_t i = 0; i < census.maximal_count; i = end_of_kind(&census, i)) {
        buffer_string(out, i == 0 ? "\n " : ",\n ");
        json_kind(model, &census, i, out);
    }
    buffer_string(out, "]}\n");
    mem_free(census.maximal);
}

static void json_ratio(struct buffer *out, const char *key, double part, double whole, bool is_known)
{
    buffer_format(out, ", \"%s\": ", key);
    if (is_known)
        buffer_double(out, part / whole);
    else
        buffer_string(out, "null");
}

static void json_used(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out)
{
    struct used used = used_by(model, layout);
    buffer_format(out, ",\n\"used\": {\"compute_slices\": %u", used.compute);
    json_number(out, "memory_slices", used.slices, true);
    json_number(out, "memory_mib", used.memory_mib, true);
    json_number(out, "sm_count", used.sm_count, used.has_sm_count);
    json_ratio(out, "memory_ratio", used.memory_mib, model->memory_mib, true);
    json_ratio(out, "sm_ratio", used.sm_count, model->sm_count, used.has_sm_count);
    buffer_char(out, '}');
}

void mig_show_layout_json(const struct gpu_model *model, const struct gpu_layout *layout, struct buffer *out)
{
    const struct mig_profile *profiles = mig_profiles(model->mig);
    struct mig_room room = mig_layout_room(layout);
    uint8_t mask = mig_layout_mask(layout);
    int largest = mig_largest(mask);
    json_head(model, out);
    buffer_string(out, ",\n");
    json_layout(model, layout, out);
    json_used(model, layout, out);
    buffer_string(out, ",\n\"largest\": ");
    if (largest >= 0)
        buffer_json(out, text_of(profiles[largest].name));
    else
        buffer_string(out, "null");
    json_number(out, "free_compute_slices", mig_free_compute(mask), true);
    buffer_string(out, ", \"fragmentation_ratio\": ");
    buffer_double(out, mig_fragmentation(mask));
    buffer_string(out, ",\n\"room\": [");
    for (int p = 0; p < MIG_PROFILE_COUNT; p++) {
        buffer_string(out, p > 0 ? ",\n {" : "\n {");
        json_text(out, "profile", profiles[p].name);
        json_number(out, "more", room.most[p], true);
        json_starts(out, room.starts[p]);
        buffer_char(out, '}');
    }
    buffer_string(out, "]}\n");
}
