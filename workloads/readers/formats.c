#include "workloads/readers/reader.h"

extern const struct trace_format trace_native, trace_batsim, trace_jsonl, trace_philly, trace_openb, trace_swf;

/* A new format is added to both arrays. */
const char *const trace_format_names[] = {"native", "batsim", "jsonl", "philly", "openb", "swf", NULL};
const struct trace_format *const trace_formats[] = {&trace_native, &trace_batsim, &trace_jsonl, &trace_philly,
                                                    &trace_openb,  &trace_swf,    NULL};
