/* studies/comparison/settings.h -- the settings in which two scenarios differ, by path and value.
 *
 *   {"queues": [{"name": "research", "quota_gpus": 48}]} and the same with 32:
 *
 *   path                         base   side
 *   queues.research.quota_gpus   48     32
 *
 * Both scenarios are resolved (struct scenario, `resolved`).  An element of an array is named as `--set` names it: by
 * its `name`, if each element of both arrays has one of its own, else by its index.  Arrays of plain values, and those
 * without names and of different lengths, differ as a whole.
 *
 * Law: without a line the two scenarios make the same runs with the same seed.  So all is compared but what no run
 * depends on: seed, title, name and $comment; name, summary and guarantees of the policy.  tests/unit/test_settings.c
 * compares with an oracle.
 *
 *   struct settings settings;
 *   settings_compare(&settings, base_json, side_json);
 *   for (size_t i = 0; i < settings.count; i++) ... settings.list[i].path ...
 *   settings_release(&settings);
 *
 * It does not: read the files that a scenario names; proposal.h puts their digests in the place of their names.
 */
#ifndef STUDIES_COMPARISON_SETTINGS_H
#define STUDIES_COMPARISON_SETTINGS_H

#include "base/mem.h"

struct setting {
    const char *path;        /* dotted */
    const char *base, *side; /* JSON in one line; NULL: not set */
};

struct settings {
    struct setting *list;
    size_t count, capacity;
    struct arena arena; /* owns the texts */
};

/* Cost: the size of both. */
void settings_compare(struct settings *settings, const char *base_json, const char *side_json);
void settings_release(struct settings *settings);

#endif
