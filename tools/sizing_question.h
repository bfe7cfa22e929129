/* tools/sizing_question.h -- what `windtunnel plan` is asked: its options, as a question, levels and cases.
 *
 *   windtunnel plan main.json --nodes h100 --level 'queue_time_p95_s:class=training<=1h' --growth 10% --quarters 4
 *
 * The question: --nodes POOL[=LOW..HIGH], --capacity, --smallest or --largest PATH=LOW..HIGH[/STEP]; by default the
 * nodes of the only pool.  The levels: of --level, else the service levels of the scenario.  The cases: the quarters of
 * growth, the values of --with, the mixes of --budget, the alternatives of
 * --assumptions, or the one case of the scenario as it is.
 *
 *   struct sizing_asked asked;
 *   struct error error = sizing_asked_read(&asked, args);
 *   ... asked.options ...
 *   sizing_asked_release(&asked);                              (on error too)
 *
 * It does not: run anything.
 */
#ifndef TOOLS_SIZING_QUESTION_H
#define TOOLS_SIZING_QUESTION_H

#include "studies/sizing/setting.h"
#include "studies/sizing/sizing.h"
#include "tools/args.h"

struct sizing_asked {
    const struct args *args;
    struct sizing_options options; /* but for workers, stop and progress, which the verb sets */
    struct setting_doc scenario;
    struct sizing_case cases[SIZING_CASES_MAX];
    struct arena arena;
};

/* The scenario alone, for its levels and its numbers. */
struct error sizing_asked_open(struct sizing_asked *asked, const struct args *args) MUST_CHECK;

/* All of it. */
struct error sizing_asked_read(struct sizing_asked *asked, const struct args *args) MUST_CHECK;
void sizing_asked_release(struct sizing_asked *asked);

/* The service levels of --level, else the service levels of the scenario. */
struct error sizing_asked_levels(struct sizing_asked *asked, struct service_levels *out) MUST_CHECK;

#endif
