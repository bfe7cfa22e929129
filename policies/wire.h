/* policies/wire.h -- facts and decisions as text: the lines by which another program drives a scheduler.
 *
 * Words: a stream is lines of JSON, one object each: a header, then facts and cycles from the world and, after each
 * cycle, the scheduler's answer (decisions, and a line that ends them).  docs/decide.md names every field.
 *
 * Laws
 *  - A written line reads back as the same value, and writes again as the same bytes.
 *  - Times are integer nanoseconds; amounts exact decimals; nodes and queues go by name, jobs by number.
 *  - Decisions go by their number: 1, 2, 3, ... over the stream of this library's scheduler, without gaps
 *    (policies/booking/decide.h); those of another program rise.
 *  - Bad lines are ERROR_DATA with file, line and column.  They have no effect, except that queues before the first
 *    bad one of a queues_changed line may have been changed.
 *  - Each line of the world is taken or answered: a fact about a job, a node or a decision that is not there gets a
 *    line `unknown`, another bad line gets `bad_line` (sim/live/decide.h).  A refusal whose decision was not open was
 *    once dropped, and the space of the decision that was meant stayed taken for ever.
 *
 *   struct wire *wire = wire_new(cluster, queues);
 *   TRY(wire_read(wire, "events.jsonl", 7, line, WIRE_TOLD, &out));
 *   if (out.kind == WIRE_FACT) fact_tell(sched, &out.fact);
 *
 * It does not: read or write files, or judge whether a decision makes sense.
 */
#ifndef POLICIES_WIRE_H
#define POLICIES_WIRE_H

#include "base/buffer.h"
#include "policies/policy_config.h"
#include "policies/sched.h"

enum { WIRE_VERSION = 1 }; /* of the stream; the header carries it */

/* ---- facts as values ---- */

enum fact_kind { /* policies/sched.h has a function for each */
                 FACT_JOB_SUBMITTED,
                 FACT_JOB_RELEASED,
                 FACT_JOB_CANCELLED,
                 FACT_JOB_ADOPTED,
                 FACT_JOB_STARTED,
                 FACT_JOB_LEAVING,
                 FACT_JOB_EVICTED,
                 FACT_JOB_ENDED,
                 FACT_JOB_CHECKPOINTED,
                 FACT_JOB_OBSERVED,
                 FACT_DECISION_REFUSED,
                 FACT_NODE_CHANGED,
                 FACT_GPU_CHANGED,
                 FACT_QUEUES_CHANGED,
                 FACT_TYPICAL_TOLD,
                 FACT_JOB_HISTORY_TOLD,
                 FACT_USER_USAGE_TOLD,
                 FACT_COUNT
};

struct fact { /* fields that do not belong to the kind are 0 */
    enum fact_kind kind;
    time_ns now;
    job_id id;                   /* of the job, if the fact has one */
    const struct job *job;       /* SUBMITTED, ADOPTED; borrowed */
    decision_id decision;        /* STARTED, REFUSED; REFUSED of a job that is not named: that half is JOB_NONE */
    struct members which;        /* LEAVING, EVICTED */
    enum evict_end evicted;      /* EVICTED */
    enum job_end end;            /* ENDED */
    bool will_retry;             /* ENDED */
    struct observation observed; /* OBSERVED */
    enum refusal refusal;        /* REFUSED */
    node_id node;                /* NODE_CHANGED, GPU_CHANGED */
    enum node_state state;       /* NODE_CHANGED */
    uint32_t gpu;                /* GPU_CHANGED: its index on the node */
    mig_layout_id layout;        /* GPU_CHANGED */
    const struct piece *pieces;  /* ADOPTED; borrowed */
    uint32_t piece_count;
    time_ns started;                  /* ADOPTED */
    const struct queue_table *queues; /* QUEUES_CHANGED: the whole table, of which */
    queue_id first_queue;             /* those from here on are written: they are new or changed */
    const struct job_group *kinds;    /* TYPICAL_TOLD; borrowed */
    uint32_t kind_count;
    struct job_history history; /* JOB_HISTORY_TOLD */
    queue_id queue;             /* USER_USAGE_TOLD */
    uint32_t user;
    int64_t usage_milli;
};

/* Call the function of policies/sched.h for the fact. */
void fact_tell(struct sched *sched, const struct fact *fact);

/* ---- lines ---- */

enum wire_kind { WIRE_FACT, WIRE_CYCLE, WIRE_DECISION, WIRE_DONE, WIRE_ANSWER, WIRE_HEADER };

/* The kinds of lines that a reader accepts, as bits of enum wire_kind. */
enum {
    WIRE_TOLD = 1 << WIRE_FACT | 1 << WIRE_CYCLE,
    WIRE_ANSWERED = 1 << WIRE_DECISION | 1 << WIRE_DONE,
    WIRE_PASSED = 1 << 8, /* lines of answers are accepted and not read: WIRE_ANSWER */
};

/* The end of the answer to a cycle. */
struct wire_done {
    uint64_t decision_count;    /* lines of decisions before it */
    time_ns wake_at;            /* when the next cycle is due; TIME_NEVER: not before a fact */
    int64_t reserved_gpu_milli; /* free space that is kept for reservations; for the timeline of a run */
};

struct wire_line {
    enum wire_kind kind;      /* never WIRE_HEADER */
    time_ns now;              /* CYCLE */
    const char *unknown_node; /* on error: the line names this node, which the cluster does not have; else NULL */
    struct fact fact;
    struct decision decision;
    struct wire_done done;
};

struct wire; /* opaque: names to numbers, and the memory of lines that were read */

/* Kinds of members, `count` of each, as an array of their requests: the output of `windtunnel trace info --shapes`. */
enum { WIRE_KINDS_MAX = 1 << 16 };
void wire_write_kinds(struct buffer *out, const struct cluster *cluster, const struct job_group *kinds, uint32_t count);
/* Borrowed until wire_forget.  Fails through the sticky error. */
const struct job_group *wire_read_kinds(struct wire *wire, const struct json_value *array, uint32_t *count);

/* queues: a line of FACT_QUEUES_CHANGED changes it.  Both are borrowed. */
struct wire *wire_new(const struct cluster *cluster, struct queue_table *queues);
void wire_free(struct wire *wire);

/* Read one line.  file and number: for messages.  wanted: bits of the accepted kinds.  *out points to memory that is
 * valid until wire_forget.  Cost: the length of the line. */
struct error wire_read(struct wire *wire, const char *file, uint64_t number, struct text line, unsigned wanted,
                       struct wire_line *out) MUST_CHECK;
void wire_forget(struct wire *wire);

/* Append a line with its newline. */
void wire_write_fact(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                     const struct fact *fact);
void wire_write_cycle(struct buffer *out, time_ns now);
void wire_write_decision(struct buffer *out, const struct cluster *cluster, const struct decision *decision);
void wire_write_done(struct buffer *out, const struct wire_done *done);
/* The answer to a fact about what is not there, on line `line`.  what: "job", "decision". */
void wire_write_unknown(struct buffer *out, uint64_t line, const char *what, uint64_t id);
void wire_write_unknown_node(struct buffer *out, uint64_t line, const char *name);
/* The first answer of a process that went on from a log with that many lines of the world, the last at `now`. */
void wire_write_replayed(struct buffer *out, uint64_t lines, time_ns now);
/* The answer to a line that could not be taken. */
void wire_write_bad_line(struct buffer *out, uint64_t line, const char *why);

/* ---- the header ---- */

/* The inputs of a scheduler. */
struct wire_header {
    struct cluster *cluster;    /* owned */
    struct queue_table *queues; /* owned */
    struct policy_config policy;
};

/* policy: the JSON object that policy_config_read takes, on one line. */
void wire_write_header(struct buffer *out, const struct cluster *cluster, const struct queue_table *queues,
                       struct text policy);

/* Parse the first line, so that overrides can be set in it: "cluster", "queues" and "policy" are top-level keys of the
 * document.  ERROR_DATA if it is not a header.  Caller: json_doc_free. */
struct error wire_header_parse(struct json_doc **doc, const char *file, struct text line) MUST_CHECK;

/* On error *out holds nothing.  Caller: wire_header_release; names in the table of queues do not need the document. */
struct error wire_header_read(struct wire_header *out, struct json_doc *doc) MUST_CHECK;
void wire_header_release(struct wire_header *header);

#endif
