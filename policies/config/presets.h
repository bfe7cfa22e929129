/* policies/config/presets.h -- the policies/presets/<name>.json files, built into the program. */
#ifndef POLICIES_CONFIG_PRESETS_H
#define POLICIES_CONFIG_PRESETS_H

#include "base/embedded.h"

extern const struct embedded_text policy_preset_texts[]; /* sorted by name; ends with a NULL name */

#endif
