#include "sim/live/decide.h"

#include <string.h>

#include "base/input.h"
#include "base/output.h"
#include "policies/wire.h"
#include "sim/referee/referee.h"
#include "sim/scenario/scenario.h"
#include "topologies/cluster_load.h"

struct decider {
    const struct decide_options *options;
    struct decide_result *result;
    struct input *input;
    struct wire_header header;
    struct sched *sched;
    struct wire *wire;
    struct referee *referee; /* keeps impossible facts from the scheduler; NULL: it has not seen all facts */
    time_ns now;
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
    decider->referee = referee_new(decider->header.cluster, false);
    referee_share(decider->referee, &decider->header.policy, decider->header.queues);
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
        wire_write_decision(answer, decider->header.cluster, &decisions[i]);
        if (decider->referee != NULL)
            referee_allows(decider->referee, &decisions[i]);
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

static struct error take_line(struct decider *decider, struct text text)
{
    struct wire_line line;
    unsigned wanted = WIRE_TOLD | (decider->options->is_checked ? WIRE_ANSWERED : WIRE_PASSED);
    wire_forget(decider->wire);
    TRY(wire_read(decider->wire, input_path(decider->input), input_line_number(decider->input), text, wanted, &line));
    bool is_told = line.kind == WIRE_FACT || line.kind == WIRE_CYCLE;
    if (!is_told) {
        if (decider->options->is_checked)
            compare(decider, &line);
        return ERROR_OK;
    }
    if (decider->options->is_checked)
        expect_all(decider, input_line_number(decider->input));
    time_ns now = line.kind == WIRE_FACT ? line.fact.now : line.now;
    if (now < decider->now)
        return refuse(decider, text, "time goes back: the line before is later");
    decider->now = now;
    if (line.kind == WIRE_CYCLE)
        return decide(decider);
    if (decider->referee != NULL && !referee_told(decider->referee, &line.fact))
        return refuse(decider, text, referee_complaint(decider->referee));
    const uint64_t refused = sched_refused(decider->sched)->count;
    fact_tell(decider->sched, &line.fact);
    if (sched_refused(decider->sched)->count != refused)
        return refuse(decider, text, wrong_fact_text(sched_refused(decider->sched)->last));
    return ERROR_OK;
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
    referee_free(decider.referee);
    wire_free(decider.wire);
    sched_free(decider.sched);
    wire_header_release(&decider.header);
    buffer_release(&decider.answer);
    buffer_release(&decider.theirs);
    input_close(decider.input);
    return error;
}
