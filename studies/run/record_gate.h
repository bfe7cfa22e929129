/* studies/run/record_gate.h -- which files the scenario of a record may open when it is run again.
 *
 *   struct record_gate gate;
 *   record_gate_init(&gate, "out/main", &record, &options);
 *   options.text = record.manifest.scenario_json;
 *   options.gate = &gate.gate;
 *   TRY(scenario_load(&scenario, &options));
 *   record_gate_release(&gate);             (when the scenario is loaded)
 *
 * Laws
 *  - A record opens none of the files that it names, unless the user trusts it (`--trust FOLDER`).
 *  - With the record's own folder trusted, it opens the files that its manifest lists; with another folder, those of
 *    them that lie beneath it, at the path that the record names or by their last name.  Each must be a regular file
 *    with the digest that the manifest gives.
 *  - A plug-in is code: it is loaded only if the user names it (`--plugin`), by the same path or with the same digest.
 *  - Names that are not absolute are relative to the folder in which the run was started.
 */
#ifndef STUDIES_RUN_RECORD_GATE_H
#define STUDIES_RUN_RECORD_GATE_H

#include "reports/result.h"
#include "sim/scenario/scenario.h"

struct record_gate {
    struct json_gate gate; /* of this */
    const char *folder;
    const struct result *record;
    const char *const *trusted;
    size_t trusted_count;
    struct plugin_options plugins;
    struct arena arena; /* owns the paths that were given */
};

/* All is borrowed; of the options the plug-ins and the folders that are trusted. */
void record_gate_init(struct record_gate *gate, const char *folder, const struct result *record,
                      const struct scenario_options *options);
void record_gate_release(struct record_gate *gate);

#endif
