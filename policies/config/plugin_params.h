/* policies/config/plugin_params.h -- checks the parameters and the state that a plug-in declares. */
#ifndef POLICIES_CONFIG_PLUGIN_PARAMS_H
#define POLICIES_CONFIG_PLUGIN_PARAMS_H

#include "policies/plugin.h"

/* A part of plugin_check; calls no hook. */
struct error plugin_check_own(const struct windtunnel_plugin *plugin, const char *path) MUST_CHECK;

#endif
