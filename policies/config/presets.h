/* policies/config/presets.h -- the policies/presets/<name>.json files, built into the program. */
#ifndef POLICIES_CONFIG_PRESETS_H
#define POLICIES_CONFIG_PRESETS_H

#include <stddef.h>

struct policy_preset_text {
    const char *name;
    const char *text;
    size_t length;
};

extern const struct policy_preset_text policy_preset_texts[]; /* sorted by name; ends with a NULL name */

#endif
