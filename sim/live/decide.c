#include "sim/live/decide.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/output.h"
#include "policies/describe.h"
#include "policies/wire.h"
#include "sim/live/fact_log.h"
#include "sim/scenario/scenario.h"
#include "topologies/cluster_load.h"

/* Memory grows with the largest id, so an id far from all others is a mistake. */
enum { IDS_AHEAD_MAX = 1 << 20 };

struct decider {
    const struct decide_options *options;
    struct decide_result *result;
    struct input *input; /* what is read now: the stream, or the log */
    struct wire_header header;
    char *policy; /* of the header, as canonical JSON; free() */
    struct sched *sched;
    struct wire *wire;
    time_ns now;
    uint64_t numbers;     /* decisions told so far */
    uint64_t ids_max;     /* ids of jobs and arrays are below it */
    struct buffer answer; /* of the last cycle */
    size_t compared;      /* bytes of it that were compared with the input */
    struct buffer theirs; /* scratch */
    uint64_t cycle_line;  /* the line that requested the last cycle */
    struct fact_log *log; /* NULL: none */
    bool is_replaying;
    uint64_t told;   /* lines of the world that the log held */
    char **declared; /* by job_id, where a description is wanted: the line that told of the job; NULL: none */
    size_t declared_count;
    struct buffer line; /* scratch: one line of the log or of an answer */
};

/* ---- the header ---- */

/* A cluster as JSON, from any kind of file. */
static struct error cluster_doc(struct json_doc **doc, const char *path)
{
    struct cluster *cluster;
    struct buffer text = {0};
    TRY(cluster_load(&cluster, path));
    cluster_write(cluster, &text);
    cluster_free(cluster);
    struct error error = json_doc_parse(doc, path, (struct text){text.bytes, text.length}, ERROR_CONFIG);
    buffer_release(&text);
    return error;
}

static struct error override(const struct decide_options *options, struct json_doc *header)
{
    struct json_doc *doc;
    if (options->cluster != NULL) {
        TRY(cluster_doc(&doc, options->cluster));
        TRY(json_doc_graft(header, "cluster", doc));
    }
    if (options->policy != NULL) {
        TRY(scenario_policy_doc(&doc, options->policy));
        TRY(json_doc_graft(header, "policy", doc));
    }
    for (size_t i = 0; i < options->set_count; i++)
        TRY(json_doc_set(header, options->sets[i]));
    return ERROR_OK;
}

/* Read the first line of the input.  *policy: canonical JSON; free(). */
static struct error read_header(struct input *input, const struct decide_options *options, struct wire_header *out,
                                char **policy)
{
    struct text line;
    bool has;
    struct json_doc *doc;
    TRY(input_line(input, &line, &has));
    if (!has)
        return error_at(ERROR_DATA, input_path(input), 1, 1, "the stream is empty: it begins with a header");
    TRY(wire_header_parse(&doc, input_path(input), line));
    struct error error = options != NULL ? override(options, doc) : ERROR_OK;
    if (!error_is(error))
        error = wire_header_read(out, doc);
    if (!error_is(error)) {
        struct json_value root = json_doc_root(doc, &error);
        struct json_object object;
        json_object_open(&object, &root);
        const struct json_value value = json_member(&object, "policy");
        *policy = json_value_canonical_new(&value);
    }
    json_doc_free(doc);
    return error;
}

/* ---- comparing ---- */

static struct text line_without_end(struct text line)
{
    if (line.length > 0 && line.at[line.length - 1] == '\n')
        line.length--;
    return line;
}

/* The next line of the answer that was not compared yet; empty: none is left. */
static struct text next_own(const struct decider *decider)
{
    struct text line = {"", 0};
    if (decider->answer.length == decider->compared)
        return line;
    struct text rest = {decider->answer.bytes + decider->compared, decider->answer.length - decider->compared};
    text_cut(&rest, '\n', &line);
    return line;
}

static void differ(struct decider *decider, uint64_t number, struct text own, struct text theirs)
{
    decider->result->difference =
        error_at(ERROR_DATA, input_path(decider->input), number, 1, "%s%.*s",
                 theirs.length > 0 ? "another decision: here it is " : "missing: ", (int)own.length, own.at);
    if (own.length == 0) {
        error_release(&decider->result->difference);
        decider->result->difference =
            error_at(ERROR_DATA, input_path(decider->input), number, 1,
                     "this was not decided in the cycle of line %llu", (unsigned long long)decider->cycle_line);
    }
    if (theirs.length > 0)
        error_set_excerpt(&decider->result->difference, theirs.at, theirs.length, theirs.length);
}

/* A decision in the input must be the next one of the answer. */
static void compare(struct decider *decider, const struct wire_line *line)
{
    struct buffer *theirs = &decider->theirs;
    theirs->length = 0;
    if (line->kind == WIRE_DECISION)
        wire_write_decision(theirs, decider->header.cluster, &line->decision);
    else
        wire_write_done(theirs, &line->done);
    struct text own = next_own(decider);
    struct text text = line_without_end((struct text){theirs->bytes, theirs->length});
    if (!text_equal(own, text))
        differ(decider, input_line_number(decider->input), own, text);
    else
        decider->compared += own.length + 1;
}

static bool is_done(struct text line)
{
    static const char done[] = "{\"done\":";
    return line.length >= sizeof done - 1 && memcmp(line.at, done, sizeof done - 1) == 0;
}

/* The next cycle or the end has come: the input must hold the whole answer.  The last line ("done") may be missing. */
static void expect_all(struct decider *decider, uint64_t number)
{
    struct text own = next_own(decider);
    if (own.length > 0 && !is_done(own))
        differ(decider, number, own, (struct text){"", 0});
    decider->compared = decider->answer.length;
}

/* ---- the stream ---- */

/* Does this process compare its decisions with those in the input? */
static bool compares(const struct decider *decider)
{
    return decider->options->is_checked || decider->is_replaying;
}

/* Give what is left of the answer to a cycle.  It is in the log only after it was given: then it is not given again. */
static struct error give_decisions(struct decider *decider)
{
    const struct text lines = {decider->answer.bytes + decider->compared, decider->answer.length - decider->compared};
    if (decider->log != NULL && !is_done(lines)) /* what led to a decision outlives the machine */
        TRY(fact_log_sync(decider->log));
    TRY(decider->options->on_answer(decider->options->self, lines));
    return decider->log != NULL ? fact_log_append(decider->log, lines) : ERROR_OK;
}

static struct error decide(struct decider *decider)
{
    struct buffer *answer = &decider->answer;
    struct wire_done done;
    struct sched_counts counts;
    const struct decision *decisions;
    answer->length = decider->compared = 0;
    done.decision_count = sched_cycle(decider->sched, decider->now, &decisions, &done.wake_at);
    sched_count(decider->sched, &counts);
    done.reserved_gpu_milli = counts.reserved_gpu_milli;
    for (size_t i = 0; i < done.decision_count; i++) {
        const uint64_t number = decision_number(decisions[i].id);
        if (number != decider->numbers + 1 && decider->numbers != 0)
            return error_new(ERROR_INTERNAL, "decision %llu comes after decision %llu", (unsigned long long)number,
                             (unsigned long long)decider->numbers);
        decider->numbers = number;
        wire_write_decision(answer, decider->header.cluster, &decisions[i]);
    }
    wire_write_done(answer, &done);
    decider->result->cycles++;
    decider->result->decisions += done.decision_count;
    decider->cycle_line = input_line_number(decider->input);
    if (compares(decider))
        return ERROR_OK;
    return give_decisions(decider);
}

static struct error refuse(const struct decider *decider, struct text line, const char *what)
{
    struct error error =
        error_at(ERROR_DATA, input_path(decider->input), input_line_number(decider->input), 1, "%s", what);
    error_set_excerpt(&error, line.at, line.length, line.length);
    return error;
}

/* ---- lines that cannot be taken ---- */

static bool is_strict(const struct decider *decider)
{
    return (decider->options->is_strict || decider->options->is_checked) && !decider->is_replaying;
}

/* Write the one line in `answer`. */
static struct error say(struct decider *decider)
{
    if (decider->is_replaying)
        return ERROR_OK;
    const struct text line = {decider->answer.bytes, decider->answer.length};
    return decider->options->on_answer(decider->options->self, line);
}

/* Answer a bad line, unless it ends the stream. */
static struct error bad_line(struct decider *decider, struct error error)
{
    if (is_strict(decider))
        return error;
    char *why = error_line_new(&error);
    decider->answer.length = 0;
    wire_write_bad_line(&decider->answer, input_line_number(decider->input), why);
    mem_free(why);
    error_release(&error);
    decider->result->bad_lines++;
    return say(decider);
}

/* The line named a node that the cluster does not have. */
static struct error unknown_node(struct decider *decider, const char *name, struct error error)
{
    if (is_strict(decider))
        return error;
    error_release(&error);
    decider->answer.length = 0;
    wire_write_unknown_node(&decider->answer, input_line_number(decider->input), name);
    decider->result->unknown++;
    return say(decider);
}

/* The scheduler did not take the fact. */
static struct error refused_fact(struct decider *decider, struct text line, const struct fact *fact,
                                 enum wrong_fact wrong)
{
    const bool is_job = wrong == WRONG_UNKNOWN_JOB;
    const decision_id decision = fact->which.decision != 0 ? fact->which.decision : fact->decision;
    if ((!is_job && wrong != WRONG_DECISION) || is_strict(decider))
        return bad_line(decider, refuse(decider, line, wrong_fact_text(wrong)));
    decider->answer.length = 0;
    wire_write_unknown(&decider->answer, input_line_number(decider->input), is_job ? "job" : "decision",
                       is_job ? fact->id : decision_number(decision));
    decider->result->unknown++;
    return say(decider);
}

/* ---- what jobs declared, and the description ---- */

/* The line of a job is kept until the job has ended. */
static void note_declared(struct decider *decider, struct text line, const struct fact *fact)
{
    const bool is_over = (fact->kind == FACT_JOB_ENDED && !fact->will_retry) || fact->kind == FACT_JOB_CANCELLED;
    if (fact->job == NULL && !is_over)
        return;
    MEM_GROW(decider->declared, decider->declared_count, (size_t)fact->id + 1);
    mem_free(decider->declared[fact->id]);
    decider->declared[fact->id] = NULL;
    if (is_over)
        return;
    decider->declared[fact->id] = mem_zalloc(line.length + 1, 1);
    memcpy(decider->declared[fact->id], line.at, line.length);
}

static const struct job *declared_of(void *self, job_id job)
{
    struct decider *decider = self;
    struct wire_line line;
    wire_forget(decider->wire);
    struct error error =
        wire_read(decider->wire, decider->options->path, 1, text_of(decider->declared[job]), WIRE_TOLD, &line);
    assert(!error_is(error) && "it was read before");
    error_release(&error);
    return line.fact.job;
}

static struct error describe(struct decider *decider)
{
    struct output *out;
    TRY(output_open(&out, decider->options->describe, OUTPUT_PLAIN));
    sched_describe(decider->sched, text_of(decider->policy), declared_of, decider, output_buffer(out));
    return output_commit(&out);
}

/* ---- lines ---- */

static struct error take_fact(struct decider *decider, struct text text, struct fact *fact)
{
    const struct refused_facts *refused = sched_refused(decider->sched);
    const uint64_t count = refused->count;
    if (fact->job != NULL && (fact->job->id >= decider->ids_max || fact->job->array >= decider->ids_max))
        return bad_line(decider, refuse(decider, text, "ids of jobs and arrays count from 0 without gaps"));
    if (fact->kind == FACT_DECISION_REFUSED && (job_id)fact->decision == JOB_NONE) {
        const decision_id open = sched_open_decision(decider->sched, decision_number(fact->decision));
        fact->decision = open != 0 ? open : fact->decision;
    }
    fact_tell(decider->sched, fact);
    if (refused->count != count)
        return refused_fact(decider, text, fact, refused->last);
    if (fact->job != NULL)
        decider->ids_max++;
    if (decider->options->describe != NULL)
        note_declared(decider, text, fact);
    return ERROR_OK;
}

/* Queues that stand before the bad one have changed. */
static void tell_changed_queues(struct decider *decider, const struct wire_line *line)
{
    const struct fact queues = {.kind = FACT_QUEUES_CHANGED,
                                .now = decider->now,
                                .queues = decider->header.queues,
                                .first_queue = QUEUE_ROOT + 1};
    if (line->kind == WIRE_FACT && line->fact.kind == FACT_QUEUES_CHANGED)
        fact_tell(decider->sched, &queues);
}

/* A line of the world came: it stands in the log before it has an effect. */
static struct error note_told(struct decider *decider, struct text line)
{
    if (decider->log == NULL)
        return ERROR_OK;
    if (decider->is_replaying) {
        decider->told++;
        return ERROR_OK;
    }
    decider->line.length = 0;
    buffer_text(&decider->line, line);
    buffer_char(&decider->line, '\n');
    return fact_log_append(decider->log, (struct text){decider->line.bytes, decider->line.length});
}

static struct error take_line(struct decider *decider, struct text text)
{
    struct wire_line line;
    unsigned wanted = WIRE_TOLD | WIRE_PASSED | (compares(decider) ? WIRE_ANSWERED : 0);
    wire_forget(decider->wire);
    struct error error =
        wire_read(decider->wire, input_path(decider->input), input_line_number(decider->input), text, wanted, &line);
    if (error_is(error) || line.kind == WIRE_FACT || line.kind == WIRE_CYCLE) {
        struct error unwritten = note_told(decider, text);
        if (error_is(unwritten))
            error_release(&error);
        TRY(unwritten);
    }
    if (error_is(error)) {
        tell_changed_queues(decider, &line);
        return line.unknown_node != NULL ? unknown_node(decider, line.unknown_node, error) : bad_line(decider, error);
    }
    bool is_told = line.kind == WIRE_FACT || line.kind == WIRE_CYCLE;
    if (!is_told) {
        if (line.kind != WIRE_ANSWER)
            compare(decider, &line);
        return ERROR_OK;
    }
    if (compares(decider))
        expect_all(decider, input_line_number(decider->input));
    time_ns now = line.kind == WIRE_FACT ? line.fact.now : line.now;
    if (now < decider->now || now > SCHED_TIME_MAX)
        return bad_line(decider, refuse(decider, text,
                                        now < decider->now ? "time goes back: the line before is later"
                                                           : "its time is too far away: more than 146 years"));
    decider->now = now;
    return line.kind == WIRE_CYCLE ? decide(decider) : take_fact(decider, text, &line.fact);
}

/* Take the lines of the input, until its end or the first difference. */
static struct error take_lines(struct decider *decider)
{
    const uint64_t cycles = decider->is_replaying ? 0 : decider->options->cycles;
    while (!error_is(decider->result->difference) && (cycles == 0 || decider->result->cycles < cycles)) {
        struct text line;
        bool has;
        TRY(input_line(decider->input, &line, &has));
        if (!has)
            break;
        TRY(take_line(decider, line));
    }
    return ERROR_OK;
}

/* ---- the log ---- */

static bool is_same_cluster(const struct cluster *a, const struct cluster *b)
{
    struct buffer left = {0}, right = {0};
    cluster_write(a, &left);
    cluster_write(b, &right);
    const bool is = left.length == right.length && memcmp(left.bytes, right.bytes, left.length) == 0;
    buffer_release(&left);
    buffer_release(&right);
    return is;
}

/* Read the header of the log, which is used in place of the header on standard input.  It holds the queues as they were
 * when the log began. */
static struct error take_log_header(struct decider *decider, struct input *log)
{
    struct wire_header header = {0};
    char *policy = NULL;
    struct error error = read_header(log, NULL, &header, &policy);
    if (!error_is(error) &&
        (strcmp(policy, decider->policy) != 0 || !is_same_cluster(header.cluster, decider->header.cluster))) {
        error = error_at(ERROR_DATA, input_path(log), 1, 1, "the log is of another %s than the stream",
                         strcmp(policy, decider->policy) != 0 ? "policy" : "cluster");
        error_set_hint(&error, "describe what there is with the old one (--describe), and begin a log with that");
    }
    free(policy);
    if (error_is(error)) {
        wire_header_release(&header);
        return error;
    }
    wire_header_release(&decider->header);
    decider->header = header;
    return ERROR_OK;
}

static struct error make_scheduler(struct decider *decider)
{
    struct error error = ERROR_OK;
    decider->wire = wire_new(decider->header.cluster, decider->header.queues);
    decider->sched = sched_new(decider->header.cluster, decider->header.queues, &decider->header.policy, &error);
    decider->ids_max = IDS_AHEAD_MAX;
    return error;
}

static struct error begin_log(struct decider *decider)
{
    struct buffer line = {0};
    wire_write_header(&line, decider->header.cluster, decider->header.queues, text_of(decider->policy));
    struct error error = fact_log_append(decider->log, (struct text){line.bytes, line.length});
    buffer_release(&line);
    return error;
}

/* Take all lines of the log, and say where the world goes on. */
static struct error replay(struct decider *decider)
{
    decider->is_replaying = true;
    TRY(take_lines(decider));
    decider->is_replaying = false;
    struct error error = decider->result->difference;
    decider->result->difference = ERROR_OK;
    if (error_is(error)) {
        error_set_hint(&error,
                       "replay the log with the program that wrote it, describe what there is (--describe), and "
                       "begin a log with that");
        return error;
    }
    decider->result->cycles = decider->result->decisions = 0;
    decider->result->bad_lines = decider->result->unknown = 0;
    decider->line.length = 0;
    wire_write_replayed(&decider->line, decider->told, decider->now);
    TRY(decider->options->on_answer(decider->options->self, (struct text){decider->line.bytes, decider->line.length}));
    return decider->compared < decider->answer.length ? give_decisions(decider) : ERROR_OK;
}

static struct error go_on_from_log(struct decider *decider)
{
    struct input *stream = decider->input;
    struct input *log;
    TRY(input_open(&log, decider->options->log, NULL));
    struct error error = take_log_header(decider, log);
    if (!error_is(error))
        error = make_scheduler(decider);
    decider->input = log;
    if (!error_is(error))
        error = replay(decider);
    decider->input = stream;
    input_close(log);
    return error;
}

static struct error begin(struct decider *decider)
{
    TRY(read_header(decider->input, decider->options, &decider->header, &decider->policy));
    if (decider->options->log == NULL)
        return make_scheduler(decider);
    TRY(fact_log_open(&decider->log, decider->options->log));
    decider->result->torn_bytes = fact_log_torn(decider->log);
    if (!fact_log_is_empty(decider->log))
        return go_on_from_log(decider);
    TRY(make_scheduler(decider));
    return begin_log(decider);
}

static struct error go_on(struct decider *decider)
{
    TRY(begin(decider));
    TRY(take_lines(decider));
    if (decider->options->is_checked && !error_is(decider->result->difference))
        expect_all(decider, input_line_number(decider->input) + 1);
    return decider->options->describe != NULL ? describe(decider) : ERROR_OK;
}

struct error decide_run(const struct decide_options *options, struct decide_result *result)
{
    struct decider decider = {.options = options, .result = result};
    *result = (struct decide_result){0};
    TRY(input_open(&decider.input, options->path, NULL));
    struct error error = go_on(&decider);
    fact_log_close(decider.log);
    wire_free(decider.wire);
    sched_free(decider.sched);
    wire_header_release(&decider.header);
    free(decider.policy);
    for (size_t i = 0; i < decider.declared_count; i++)
        mem_free(decider.declared[i]);
    mem_free(decider.declared);
    buffer_release(&decider.answer);
    buffer_release(&decider.theirs);
    buffer_release(&decider.line);
    input_close(decider.input);
    return error;
}
