/* sim/plugins/load.h -- plug-ins (policies/plugin.h) from files.
 *
 * The code of a file runs as the user's own, so a file or a folder that others may write is refused.  No hook is called
 * before the plug-in's struct sizes are checked; but the dynamic loader runs the shared object's constructors.
 *
 *   struct plugins plugins = {.timeout_s = WATCH_DEFAULT_S};
 *   TRY(plugins_load(&plugins, "mine.so"));
 *   policy_config_read_with(&policy, &value, &plugins.set);
 *   ...
 *   plugins_release(&plugins);              (when nothing uses the policy any more)
 *
 * Law: a file that is loaded twice is there once; all sets together hold at most PLUGINS_MAX files.
 */
#ifndef SIM_PLUGINS_LOAD_H
#define SIM_PLUGINS_LOAD_H

#include "base/json.h"
#include "policies/plugin.h"
#include "sim/plugins/watch.h"

struct plugin_options {       /* of a command line; {0}: none */
    const char *const *paths; /* relative to the present folder */
    size_t count;
    const char *timeout; /* seconds, as typed; NULL: WATCH_DEFAULT_S */
};

struct plugins {
    struct plugin_set set; /* guarded: sim/plugins/guard.h */
    int timeout_s;         /* CPU time in plug-ins without a finished cycle; 0: WATCH_DEFAULT_S */
};

/* Add the plug-in of a file, unless the set has it.  ERROR_IO if it cannot be read, ERROR_CONFIG if it cannot be used;
 * both name the file. */
struct error plugins_load(struct plugins *plugins, const char *path) MUST_CHECK;

/* Take the timeout from the options. */
struct error plugins_take_timeout(struct plugins *plugins, const struct plugin_options *options) MUST_CHECK;

/* Take the timeout from the options, and load all files that they name. */
struct error plugins_load_all(struct plugins *plugins, const struct plugin_options *options) MUST_CHECK;

/* Load the plug-ins that a "plugins" array names (absent: none).  Paths are relative to `folder`, which is "" or ends
 * in '/'.  Fails through the sticky error. */
void plugins_read(struct plugins *plugins, const struct json_value *array, const char *folder);

/* Unload the plug-ins that are in no other set.  {0} is allowed. */
void plugins_release(struct plugins *plugins);

struct plugin_file {
    const char *path, *digest; /* as first named; 32 hex digits */
};
struct plugin_file plugins_file(const struct plugins *plugins, uint32_t index);

#endif
