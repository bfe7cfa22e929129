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
 * The log.  A scheduler that was killed goes on where it was: its log holds the stream, that is the header, each line
 * of the world before it is taken, and each answer after it was given.  Opened again, the log is replayed, and standard
 * input goes on behind it.
 *  - What stands in the log as a whole line is not answered again.  The answer to a last cycle is given as far as it
 *    does not stand there: so it may be given twice, with the same numbers, but never not at all.
 *  - The first answer says how many lines of the world the log holds: {"replayed":N,"now":T}.  The world goes on with
 *    the one after these.
 *  - Whenever the process was killed: the log at the end, the answers in it included, is byte for byte that of a
 *    process that never was.  tests/property/test_fact_log.c cuts logs anywhere.
 *  - The replay makes each decision of the log once more.  If it makes another one, the program ends with an error that
 *    names the first difference, and leaves the log as it is.
 *
 * The description (sched_describe) is a shorter stream, of what there is at the end.  It is the log to begin with where
 * the old one has become too long.
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
    const char *log;      /* file of the log, which is replayed if it is there; NULL: none */
    const char *describe; /* file for a description of what there is at the end; NULL: none */
    uint64_t cycles;      /* stop after this many, without those of the log; 0: at the end of the stream */
    bool is_checked;      /* compare with the decisions of the input, and write nothing; strict */
    bool is_strict;       /* a line that would be answered as unknown or bad ends the stream with an error */
    /* Called once per cycle, and for each line that is not taken, with the lines of the answer; not if is_checked. */
    struct error (*on_answer)(void *self, struct text lines);
    void *self;
};

struct decide_result {
    uint64_t cycles, decisions;
    uint64_t bad_lines, unknown; /* lines answered as bad, and as about what is not there */
    uint64_t torn_bytes;         /* of a last line of the log that was not whole, and was cut off */
    struct error difference;     /* is_checked: the first place where the input has another decision; else no error */
};

/* Errors: ERROR_DATA in the header, or, if it is strict, of the first line that was not taken, with line and column;
 * ERROR_CONFIG of the options; any error of on_answer. */
struct error decide_run(const struct decide_options *options, struct decide_result *result) MUST_CHECK;

#endif
