/* policies/config/plugin_params.h -- is what a plug-in declares of its own fit for use? */
#ifndef POLICIES_CONFIG_PLUGIN_PARAMS_H
#define POLICIES_CONFIG_PLUGIN_PARAMS_H

#include "policies/plugin.h"

/* Its parameters and its state.  A part of plugin_check; calls no hook. */
struct error plugin_check_own(const struct windtunnel_plugin *plugin, const char *path) MUST_CHECK;

#endif
