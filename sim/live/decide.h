/* sim/live/decide.h -- the scheduler driven by lines of text: facts in, decisions out.
 *
 * Reads a stream in the language of policies/wire.h, passes its facts to the scheduler library, and writes the
 * decisions of each cycle.  Decisions in the input are ignored, or compared with those made here.
 *
 * Laws
 *  - The same facts and cycles give the same lines, byte for byte, as those that a run recorded
 *    (sim/live/event_file.h).  tests/cli/decide.sh replays runs of all kinds.
 *  - Decisions are told with the numbers 1, 2, 3, ... without gaps.  Each number that is written is tested.
 *  - Every line is taken, or answered at once by a line of its own: `unknown` with the id of the job or decision, or
 *    the name of the node, that is not there; `bad_line` with the reason for any other.  A line that is answered so
 *    changes nothing, and the stream goes on (is_strict: the first such line is the error that ends it).  A refusal
 *    with a wrong number once vanished without a word, and the space of the decision that was meant stayed taken for
 *    ever.  tests/property/test_decide_answers.c mixes wrong lines into good streams: each is answered, and the
 *    decisions stay those of the stream without them.
 *
 * Saving writes the state of the scheduler (sched_save) and the queues after the last line read.  After loading, the
 * stream has the same header and the lines after that one.
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
    bool is_checked;  /* compare with the decisions of the input, and write nothing; strict */
    bool is_strict;   /* a line that would be answered as unknown or bad ends the stream with an error */
    /* Called once per cycle, and for each line that is not taken, with the lines of the answer; not if is_checked. */
    struct error (*on_answer)(void *self, struct text lines);
    void *self;
};

struct decide_result {
    uint64_t cycles, decisions;
    uint64_t bad_lines, unknown; /* lines answered as bad, and as about what is not there */
    struct error difference;     /* is_checked: the first place where the input has another decision; else no error */
};

/* Errors: ERROR_DATA in the header, or, if it is strict, of the first line that was not taken, with line and column;
 * ERROR_CONFIG of the options; any error of on_answer. */
struct error decide_run(const struct decide_options *options, struct decide_result *result) MUST_CHECK;

#endif
