/* workloads/load_model/load_model.h -- a model of a workload as JSON: fitted to a trace, written by hand, drawn from.
 *
 * Words: a model is one or more independent streams of jobs.  A job of a stream is of one of its kinds; a kind says
 * what the job asks for, how it ends and how long it runs.  So run times depend on sizes and outcomes as the kinds do.
 *
 *   {"workload_model": 1,
 *    "streams": [
 *      {"name": "training", "queue": "default", "class": "training",
 *       "arrivals": {"jobs_per_day": 755, "gaps": {"distribution": "weibull", "shape": 0.5},
 *                    "gap_memory": {"strength": 0.2, "jobs": 10},
 *                    "cycle": {"period": "1d", "factors": [0.5, 1.5]}, "days": {"factors": [1, 2], "run": "7d"},
 *                    "clients": {"count": 20, "zipf_exponent": 1}},
 *       "memory": {"repeat": 0.3, "strength": 0.5, "jobs": 25},
 *       "users": {"count": 100, "zipf_exponent": 1},
 *       "request": {"share": 0.9, "factor": {"distribution": "lognormal", "median": 3, "sigma": 1},
 *                   "values": ["1h", "1d", "7d"]},
 *       "kinds": [{"weight": 60, "gpus": 1, "outcome": "completed",
 *                  "run_time": {"distribution": "lognormal", "median": "10m", "sigma": 2}},
 *                 {"weight": 5, "gpus": 16, "nodes": 2, "outcome": "failed",
 *                  "run_time": {"distribution": "exponential", "mean": "5m"}}]}]}
 *
 * In place of "kinds" a stream may have "sizes" and "run_time": the sizes of Lublin and Feitelson's model
 * (load_sizes.h), which become one kind for each size.
 *
 * Laws of a stream: the mean number of jobs per day is jobs_per_day over whole cycles, all days and the states' long
 * run; the share of a kind is its weight's; memory changes neither.  Arrivals: load_arrivals.h.  Memory, users and
 * requests: load_draw.h.
 *
 *   struct load_model *model;
 *   TRY(load_model_open(&model, "workloads/models/philly.json", &scratch));
 *
 * It does not: model GPU types, topology, dependencies, or what jobs exchange.
 */
#ifndef WORKLOADS_LOAD_MODEL_LOAD_MODEL_H
#define WORKLOADS_LOAD_MODEL_LOAD_MODEL_H

#include "base/embedded.h"
#include "workloads/distribution/distribution.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"
#include "workloads/request/ask.h"

enum {
    LOAD_MODEL_VERSION = 1,
    LOAD_STREAMS_MAX = 1024,
    LOAD_KINDS_MAX = 65536,
    LOAD_FACTORS_MAX = 10000,
    LOAD_STATES_MAX = 64,
    LOAD_CLIENTS_MAX = 10000,
    LOAD_VALUES_MAX = 256,
    LOAD_JOBS_PER_DAY_MAX = 10000000
};
#define LOAD_MODEL_KEY "workload_model"

extern const struct embedded_text load_model_texts[]; /* the ready models by name; ends with a NULL name */

struct load_kind {
    double weight;
    struct ask ask;
    uint8_t outcome; /* enum job_outcome */
    struct distribution run_time;
};

struct load_state {
    double factor, mean_s, weight; /* weight: of the chance to be the next state, among the others */
};

struct load_zipf {
    uint32_t count;       /* 0: there are none */
    double exponent, sum; /* sum: of r^-exponent over the ranks r = 1..count */
};

/* How numbers are like those before them: load_rank.h. */
struct load_memory {
    double repeat;   /* chance that a job is of the kind of the one before; not of gaps */
    double strength; /* share of the variance of normal scores that a session has in common */
    uint32_t jobs;   /* of a session */
};

struct load_arrivals_plan {
    double jobs_per_day; /* as given, or as the gaps say */
    struct distribution gaps;
    struct load_memory memory; /* of gaps */
    time_ns period;            /* of the cycle */
    const double *cycle;
    uint32_t cycle_count; /* 0: no cycle */
    const double *days;
    uint32_t day_count; /* 0: all days are equal */
    time_ns run;        /* mean length of a run of days; TIME_NEVER: as listed */
    const struct load_state *states;
    uint32_t state_count; /* 0: none, else at least 2 */
    struct load_zipf clients;
};

struct load_request {
    double share; /* of the jobs that declare a limit; 0: none */
    struct distribution factor;
    const time_ns *values; /* ascending; the limit is rounded up to the next, beyond the last it stays */
    uint32_t value_count;
};

struct load_stream {
    const char *name, *queue;
    uint8_t class; /* enum job_class */
    struct load_arrivals_plan arrivals;
    struct load_memory memory;
    struct load_zipf users;
    struct load_request request;
    const struct load_kind *kinds;
    uint32_t kind_count;
};

struct load_model {
    const struct load_stream *streams;
    uint32_t stream_count;
};

/* The object of a document; lives in the arena; NULL after an error, which is the sticky one. */
const struct load_model *load_model_read(const struct json_value *value, struct arena *arena);

/* The document that a string names: a file if it holds '/' or ends in .json, else a ready model.  On error *out is
 * NULL; an error of the name is told at the string. */
struct error load_model_doc(struct json_doc **out, const struct json_value *name) MUST_CHECK;

/* Read the file.  ERROR_CONFIG with file, line and column. */
struct error load_model_open(const struct load_model **out, const char *path, struct arena *arena) MUST_CHECK;

/* As JSON that load_model_read reads back.  comment: "" or the text of its "$comment". */
void load_model_write(const struct load_model *model, const char *comment, struct buffer *out);

/* ---- Closed forms over all jobs of all streams ---- */

struct load_moments {
    double jobs_per_day, gpus, gpus_squared, run_time_s, gpu_s; /* means of a job but for the first */
    double outcome[OUTCOME_COUNT];                              /* shares */
};

/* GPUs of a job of the kind: a part of one counts as that. */
double load_kind_gpus(const struct load_kind *kind);
struct load_moments load_model_moments(const struct load_model *model);

#endif
