/* tools/bundle_files.h -- the option --input of bundle and reproduce. */
#ifndef TOOLS_BUNDLE_FILES_H
#define TOOLS_BUNDLE_FILES_H

#include "studies/bundle/bundle.h"
#include "tools/args.h"

enum { BUNDLE_FILES_MAX = 64 };

/* given: room for BUNDLE_FILES_MAX; names are in the arena. */
struct error tool_bundle_files(const struct args *args, struct arena *arena, struct bundle_file *given,
                               size_t *count) MUST_CHECK;

#endif
