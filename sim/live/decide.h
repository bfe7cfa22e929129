/* sim/live/decide.h -- the scheduler driven by lines of text: facts in, decisions out.
 *
 * Reads a stream in the language of policies/wire.h, passes its facts to the scheduler library, and writes the
 * decisions of each cycle.  Decisions in the input are ignored, or compared with those made here.
 *
 * Law: the same facts and cycles give the same lines, byte for byte, as those that a run recorded
 * (sim/live/event_file.h).
 *
 * Saving writes the state of the scheduler (sched_save) and the queues after the last line read.  After loading, the
 * stream has the same header and the lines after that one.  Impossible facts are detected only if the whole stream was
 * read: after loading, facts are trusted.
 *
 * It does not: buffer.  The decisions of a cycle are written before the next line is read.
 */
#ifndef SIM_LIVE_DECIDE_H
#define SIM_LIVE_DECIDE_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct decide_options {
    const char *path;        /* of the stream, plain or zstd; "-": standard input */
    const char *policy;      /* replaces the header's policy: a preset or a file; NULL: the header's */
    const char *cluster;     /* replaces the header's cluster: a file; NULL: the header's */
    const char *const *sets; /* "path=value", applied to the header; paths begin with cluster, queues or policy */
    size_t set_count;
    const char *load; /* a state saved before; NULL: none */
    const char *save; /* file for the state at the end, which a later run may load; NULL: none */
    uint64_t cycles;  /* stop after this many; 0: at the end of the stream */
    bool is_checked;  /* compare with the decisions of the input, and write nothing */
    /* Called once per cycle with the lines of the answer; not if is_checked. */
    struct error (*on_answer)(void *self, struct text lines);
    void *self;
};

struct decide_result {
    uint64_t cycles, decisions;
    struct error difference; /* is_checked: the first place where the input has another decision; else no error */
};

/* Errors: ERROR_DATA in the stream, with line and column; ERROR_CONFIG of the options; any error of on_answer. */
struct error decide_run(const struct decide_options *options, struct decide_result *result) MUST_CHECK;

#endif
