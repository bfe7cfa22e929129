/* studies/bundle/bundle.h -- one file with all that a run was made from, so that others can run it again.
 *
 *   {"bundle_version": 1,
 *    "version": "0.1.0", "fingerprint": "ac9a...", "arrivals": "6682...",
 *    "inputs": [{"role": "trace", "name": "jobs.csv.zst", "digest": "8ac5...", "text": "job_id,submit_s..."}, ...],
 *    "metrics": {...},       of the whole run, as result.json has them
 *    "scenario": {...}}      resolved: cluster and policy stand in it; its fields name inputs
 *
 * A bundle of a comparison or a sweep has "runs": [{"name", "fingerprint", "arrivals", "metrics", "scenario"}, ...] in
 * place of the fields of one run: all runs that are done, of each side with each seed, or of each combination.  Metrics
 * stand there of the runs that have a record.  Of a run in which another program decided, the decisions are an input.
 *
 * Inputs that are text, and not too long, stand in the file; of others it has the digest, and who runs it again names
 * the file.  A plug-in, which is a program, never comes from a bundle.
 *
 * Law: a bundle names no path of the machine that made it.  What the scenario opens is an input of the bundle: a bundle
 * from strangers reads no file that its user did not name, and writes none.  A file that has another digest than the
 * record says is not put in, and not taken.
 *
 *   TRY(bundle_make(&bundle, &(struct bundle_source){.record = "out/main", .text_max = BUNDLE_TEXT_MAX}));
 *   bundle_text(&bundle, output_buffer(out));
 *
 *   TRY(bundle_read(&bundle, "main.bundle.json.zst"));
 *   TRY(bundle_give(&bundle, given, given_count));
 *   options = bundle_scenario(&bundle, 0);                              (then run it)
 *   bundle_release(&bundle);
 */
#ifndef STUDIES_BUNDLE_BUNDLE_H
#define STUDIES_BUNDLE_BUNDLE_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "sim/scenario/scenario.h"

enum { BUNDLE_VERSION = 1, BUNDLE_TEXT_MAX = 16 << 20 /* bytes of an input that stands in a bundle, by default */ };

struct bundle_input {
    const char *role, *name, *digest;
    struct text text;        /* not compressed; at NULL: it is not in the bundle */
    const char *source;      /* its name in the record; after bundle_make */
    const char *why_missing; /* after bundle_make, in few words; NULL: nothing is missing */
    bool is_used;            /* the scenario names it: it is needed to run it */
    int file;                /* descriptor of the text as a file of its own; -1: none */
    char path[32];           /* of that file */
    const char *given;       /* by the user, in its place; NULL: nothing */
};

struct bundle_run {
    const char *name; /* "": it is the only one */
    const char *fingerprint;
    const char *arrivals;      /* NULL: not known */
    json_t *metrics;           /* of the whole run; owned; NULL: not known */
    struct json_doc *scenario; /* owned */
    char *scenario_text;       /* owned; after bundle_open */
};

struct bundle {
    const char *version;
    struct bundle_input *inputs;
    size_t input_count, input_capacity;
    struct bundle_run *runs;
    size_t run_count, run_capacity;
    struct json_gate gate; /* what the scenarios may open */
    struct arena arena;    /* owns the texts */
};

/* A file that the user names for one of the inputs.  It is read even if the bundle holds the text of that input. */
struct bundle_file {
    const char *name, *path;
};

/* What a bundle is made of.  All is borrowed. */
struct bundle_source {
    const char *record;         /* folder of a record, a comparison or a sweep */
    uint64_t text_max;          /* inputs that are longer are left out; 0: no input is opened */
    const char *const *trusted; /* folders whose data files the record may open: studies/run/record_gate.h */
    size_t trusted_count;
    const struct bundle_file *given; /* inputs that are elsewhere now */
    size_t given_count;
};

/* ERROR_DATA: the record is none that could be run again (it is partial, a fork, or another program decided and its
 * decisions were not recorded), or an input is gone or changed.  ERROR_CONFIG: the record names a file, and is not
 * trusted.  On error nothing needs to be released. */
struct error bundle_make(struct bundle *out, const struct bundle_source *source) MUST_CHECK;
void bundle_text(const struct bundle *bundle, struct buffer *out);

/* ERROR_DATA with line and column if it is no bundle. */
struct error bundle_read(struct bundle *out, const char *path) MUST_CHECK;

/* What runs a scenario of the bundle: its text, and a gate that opens the inputs of the bundle and the given files
 * alone.  Both live as long as the bundle.  ERROR_USAGE: a given file is for no input; ERROR_DATA: it is another file
 * than the record's. */
struct error bundle_give(struct bundle *bundle, const struct bundle_file *given, size_t count) MUST_CHECK;
struct scenario_options bundle_scenario(struct bundle *bundle, size_t run);

/* The decisions that another program made in the run, for struct run_options; at NULL: there are none. */
struct text bundle_decisions(const struct bundle *bundle);

void bundle_release(struct bundle *bundle);

#endif
