#include "workloads/readers/reader.h"

extern const struct trace_format trace_native, trace_batsim, trace_jsonl, trace_philly, trace_openb, trace_swf,
    trace_helios, trace_seren, trace_kalos, trace_pai, trace_spot, trace_muri, trace_chronus, trace_sacct,
    trace_philly_log, trace_azure_llm, trace_burstgpt, trace_mooncake, trace_gavel, trace_pollux, trace_borg,
    trace_columns;

/* A new format is added to both arrays. */
const char *const trace_format_names[] = {"native",  "batsim", "jsonl",      "philly",    "openb",    "swf",
                                          "helios",  "kalos",  "seren",      "pai",       "spot",     "muri",
                                          "chronus", "sacct",  "philly-log", "azure-llm", "burstgpt", "mooncake",
                                          "gavel",   "pollux", "borg",       "columns",   NULL};
const struct trace_format *const trace_formats[] = {&trace_native,
                                                    &trace_batsim,
                                                    &trace_jsonl,
                                                    &trace_philly,
                                                    &trace_openb,
                                                    &trace_swf,
                                                    &trace_helios,
                                                    &trace_kalos,
                                                    &trace_seren,
                                                    &trace_pai,
                                                    &trace_spot,
                                                    &trace_muri,
                                                    &trace_chronus,
                                                    &trace_sacct,
                                                    &trace_philly_log,
                                                    &trace_azure_llm,
                                                    &trace_burstgpt,
                                                    &trace_mooncake,
                                                    &trace_gavel,
                                                    &trace_pollux,
                                                    &trace_borg,
                                                    &trace_columns,
                                                    NULL};
