/* studies/bundle/bundle.h -- one file with all that a run was made from, so that others can run it again.
 *
 *   {"bundle_version": 1,
 *    "version": "0.1.0", "fingerprint": "ac9a...", "arrivals": "6682...",
 *    "inputs": [{"role": "trace", "name": "jobs.csv.zst", "digest": "8ac5...", "text": "job_id,submit_s..."}, ...],
 *    "metrics": {...},       of the whole run, as result.json has them
 *    "scenario": {...}}      resolved: cluster and policy stand in it; its fields name inputs
 *
 * Inputs that are text, and not too long, stand in the file; of others it has the digest, and who runs it again names
 * the file.  A plug-in, which is a program, never comes from a bundle.
 *
 * Law: a bundle names no path of the machine that made it.  What the scenario opens is an input of the bundle: a bundle
 * from strangers reads no file that its user did not name, and writes none.  A file that has another digest than the
 * record says is not put in, and not taken.
 *
 *   TRY(bundle_make(&bundle, "out/main", BUNDLE_TEXT_MAX));
 *   bundle_text(&bundle, output_buffer(out));
 *
 *   TRY(bundle_read(&bundle, "main.bundle.json.zst"));
 *   TRY(bundle_scenario(&bundle, given, given_count, &scenario));     (then run it)
 *   bundle_release(&bundle);
 */
#ifndef STUDIES_BUNDLE_BUNDLE_H
#define STUDIES_BUNDLE_BUNDLE_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"

enum { BUNDLE_VERSION = 1, BUNDLE_TEXT_MAX = 16 << 20 /* bytes of an input that stands in a bundle, by default */ };

struct bundle_input {
    const char *role, *name, *digest;
    struct text text;        /* not compressed; at NULL: it is not in the bundle */
    const char *why_missing; /* after bundle_make, in few words; NULL: nothing is missing */
    bool is_used;            /* the scenario names it: it is needed to run it */
    int file;                /* descriptor of the text as a file of its own; -1: none */
};

struct bundle {
    const char *version, *fingerprint, *arrivals;
    struct bundle_input *inputs;
    size_t input_count;
    json_t *metrics;           /* owned */
    struct json_doc *scenario; /* owned */
    struct arena arena;        /* owns the texts */
};

/* Of a record.  text_max: inputs that are longer are left out.  ERROR_DATA: the record is none that could be run again:
 * it is partial, a fork, or another program decided.  On error nothing needs to be released. */
struct error bundle_make(struct bundle *out, const char *record, uint64_t text_max) MUST_CHECK;
void bundle_text(const struct bundle *bundle, struct buffer *out);

/* ERROR_DATA with line and column if it is no bundle, or names a file that it does not list. */
struct error bundle_read(struct bundle *out, const char *path) MUST_CHECK;

/* A file that the user of a bundle names for one of its inputs.  It is read even if the bundle holds the text of that
 * input. */
struct bundle_file {
    const char *name, *path;
};

/* Append the scenario with paths of this machine: given ones, and those of files in memory that live as long as the
 * bundle.  ERROR_USAGE: one is missing, or is no input; ERROR_DATA: it is another file than the record's. */
struct error bundle_scenario(struct bundle *bundle, const struct bundle_file *given, size_t count,
                             struct buffer *scenario) MUST_CHECK;

void bundle_release(struct bundle *bundle);

#endif
