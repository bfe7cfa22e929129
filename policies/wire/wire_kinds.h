/* policies/wire/wire_kinds.h -- the keys that begin lines, and the values of enumerations, for policies/wire/. */
#ifndef POLICIES_WIRE_WIRE_KINDS_H
#define POLICIES_WIRE_WIRE_KINDS_H

#include "policies/wire/wire_fields.h"

extern const char *const wire_fact_keys[];     /* by enum fact_kind, NULL-terminated, as are all here */
extern const char *const wire_decision_keys[]; /* by enum decision_kind */
extern const char *const wire_sources[];       /* enum source */
extern const char *const wire_job_ends[];      /* enum job_end */
extern const char *const wire_evict_ends[];    /* enum evict_end */
extern const char *const wire_refusals[];      /* enum refusal */
extern const char *const wire_node_states[];   /* enum node_state */

extern const struct wire_field wire_decision_fields[]; /* all but the id and the reason */
extern const struct wire_field wire_done_fields[];
#define WIRE_CYCLE_KEY    "cycle"
#define WIRE_DONE_KEY     "done"
#define WIRE_UNKNOWN_KEY  "unknown"
#define WIRE_BAD_LINE_KEY "bad_line"
#define WIRE_REPLAYED_KEY "replayed"
#define WIRE_HEADER_KEY   "windtunnel_events"

#endif
