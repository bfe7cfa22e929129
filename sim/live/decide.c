#include "sim/live/decide.h"

#include <string.h>

#include "base/input.h"
#include "base/output.h"
#include "policies/wire.h"
#include "sim/scenario/scenario.h"
#include "topologies/cluster_load.h"

/* Memory grows with the largest id, so an id far from all others is a mistake. */
enum { IDS_AHEAD_MAX = 1 << 20 };

struct decider {
    const struct decide_options *options;
    struct decide_result *result;
    struct input *input;
    struct wire_header header;
    struct sched *sched;
    struct wire *wire;
    time_ns now;
    uint64_t numbers;     /* decisions told so far */
    uint64_t ids_max;     /* ids of jobs and arrays are below it */
    struct buffer answer; /* of the last cycle */
    size_t compared;      /* bytes of it that were compared with the input */
    struct buffer theirs; /* scratch */
    uint64_t cycle_line;  /* the line that requested the last cycle */
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

/* ---- what was saved: the queues as a line of the stream, then the scheduler ---- */

static struct error load_state(struct decider *decider, struct text rest)
{
    const char *path = decider->options->load;
    struct error error = ERROR_OK;
    struct wire_line queues;
    struct text line;
    if (!text_cut(&rest, '\n', &line))
        return error_at(ERROR_DATA, path, 1, 1, "this is nothing that 'decide --save' wrote");
    TRY(wire_read(decider->wire, path, 1, line, WIRE_TOLD, &queues));
    if (queues.kind != WIRE_FACT || queues.fact.kind != FACT_QUEUES_CHANGED)
        return error_at(ERROR_DATA, path, 1, 1, "this is nothing that 'decide --save' wrote");
    decider->now = queues.fact.now;
    decider->ids_max = UINT64_MAX;
    decider->sched = sched_load(decider->header.cluster, decider->header.queues, &decider->header.policy, rest, &error);
    if (decider->sched == NULL)
        error_set_where(&error, path);
    return error;
}

static struct error load(struct decider *decider)
{
    enum { STATE_MAX = 1 << 30 };
    char *bytes;
    size_t length;
    TRY(input_read_all(decider->options->load, STATE_MAX, &bytes, &length));
    struct error error = load_state(decider, (struct text){bytes, length});
    mem_free(bytes);
    return error;
}

static struct error save(const struct decider *decider)
{
    const struct fact queues = {.kind = FACT_QUEUES_CHANGED,
                                .now = decider->now,
                                .queues = decider->header.queues,
                                .first_queue = QUEUE_ROOT + 1};
    struct output *out;
    TRY(output_open(&out, decider->options->save, OUTPUT_PLAIN));
    wire_write_fact(output_buffer(out), decider->header.cluster, decider->header.queues, &queues);
    struct error error = sched_save(decider->sched, output_buffer(out));
    if (!error_is(error))
        return output_commit(&out);
    output_discard(&out);
    return error;
}

static struct error make_scheduler(struct decider *decider, struct json_doc *header)
{
    struct error error = ERROR_OK;
    TRY(override(decider->options, header));
    TRY(wire_header_read(&decider->header, header));
    decider->wire = wire_new(decider->header.cluster, decider->header.queues);
    if (decider->options->load != NULL)
        return load(decider);
    decider->sched = sched_new(decider->header.cluster, decider->header.queues, &decider->header.policy, &error);
    TRY(error);
    decider->ids_max = IDS_AHEAD_MAX;
    return ERROR_OK;
}

static struct error begin(struct decider *decider)
{
    struct text line;
    bool has;
    struct json_doc *header;
    TRY(input_line(decider->input, &line, &has));
    if (!has)
        return error_at(ERROR_DATA, input_path(decider->input), 1, 1, "the stream is empty: it begins with a header");
    TRY(wire_header_parse(&header, input_path(decider->input), line));
    struct error error = make_scheduler(decider, header);
    json_doc_free(header);
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

/* The next cycle or the end has come: the input must hold the whole answer.  The last line ("done") may be missing. */
static void expect_all(struct decider *decider, uint64_t number)
{
    struct text own = next_own(decider);
    static const char done[] = "{\"done\":";
    bool is_done = own.length >= sizeof done - 1 && memcmp(own.at, done, sizeof done - 1) == 0;
    if (own.length > 0 && !is_done)
        differ(decider, number, own, (struct text){"", 0});
    decider->compared = decider->answer.length;
}

/* ---- the stream ---- */

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
    if (decider->options->is_checked)
        return ERROR_OK;
    return decider->options->on_answer(decider->options->self, (struct text){answer->bytes, answer->length});
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
    return decider->options->is_strict || decider->options->is_checked;
}

/* Write the one line in `answer`. */
static struct error say(struct decider *decider)
{
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
    if (fact->job != NULL && decider->ids_max != UINT64_MAX)
        decider->ids_max++;
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

static struct error take_line(struct decider *decider, struct text text)
{
    struct wire_line line;
    unsigned wanted = WIRE_TOLD | WIRE_PASSED | (decider->options->is_checked ? WIRE_ANSWERED : 0);
    wire_forget(decider->wire);
    struct error error =
        wire_read(decider->wire, input_path(decider->input), input_line_number(decider->input), text, wanted, &line);
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
    if (decider->options->is_checked)
        expect_all(decider, input_line_number(decider->input));
    time_ns now = line.kind == WIRE_FACT ? line.fact.now : line.now;
    if (now < decider->now || now > SCHED_TIME_MAX)
        return bad_line(decider, refuse(decider, text,
                                        now < decider->now ? "time goes back: the line before is later"
                                                           : "its time is too far away: more than 146 years"));
    decider->now = now;
    return line.kind == WIRE_CYCLE ? decide(decider) : take_fact(decider, text, &line.fact);
}

static struct error go_on(struct decider *decider)
{
    TRY(begin(decider));
    const uint64_t cycles = decider->options->cycles;
    while (!error_is(decider->result->difference) && (cycles == 0 || decider->result->cycles < cycles)) {
        struct text line;
        bool has;
        TRY(input_line(decider->input, &line, &has));
        if (!has)
            break;
        TRY(take_line(decider, line));
    }
    if (decider->options->is_checked && !error_is(decider->result->difference))
        expect_all(decider, input_line_number(decider->input) + 1);
    if (decider->options->save != NULL)
        TRY(save(decider));
    return ERROR_OK;
}

struct error decide_run(const struct decide_options *options, struct decide_result *result)
{
    struct decider decider = {.options = options, .result = result};
    *result = (struct decide_result){0};
    TRY(input_open(&decider.input, options->path, NULL));
    struct error error = go_on(&decider);
    wire_free(decider.wire);
    sched_free(decider.sched);
    wire_header_release(&decider.header);
    buffer_release(&decider.answer);
    buffer_release(&decider.theirs);
    input_close(decider.input);
    return error;
}
