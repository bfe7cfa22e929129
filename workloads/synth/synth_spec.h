/* workloads/synth/synth_spec.h -- the parameters of a synthesized workload, as read from JSON (synth.h).
 *
 * Law: only values that synth_new can make a stream of; made by synth_read, then const.
 */
#ifndef WORKLOADS_SYNTH_SYNTH_SPEC_H
#define WORKLOADS_SYNTH_SYNTH_SPEC_H

#include "workloads/request/ask.h"
#include "workloads/request/claim.h"
#include "workloads/synth/arrivals.h"
#include "workloads/synth/run_time.h"
#include "workloads/synth/synth.h"

enum { SYNTH_CLASSES_MAX = 64, SYNTH_SIZES_MAX = 1024 };

struct synth_size {
    double weight;
    double whole_gpus; /* GPUs of a job if every member had whole GPUs */
    struct ask ask;
    const char *mig; /* the profile's name; NULL: none */
    const char *gpu_model;
    struct node_ask nodes;            /* not made for a cluster yet */
    const char *gpu_class;            /* name; NULL: none */
    const struct claim *claim;        /* replaces all other GPU fields; NULL: none */
    const char *required, *preferred; /* levels' names, for all members; NULL: no constraint */
};

struct synth_class {
    const char *name;
    enum job_class class;
    double share; /* of the whole-GPU load */
    int32_t priority;
    const char *queue;                        /* NULL: of the tenants */
    bool is_preemptible, is_firm_by_priority; /* as of struct job */
    struct arrivals_shape arrivals;
    struct synth_size *sizes;
    uint32_t size_count;
    struct distribution run_time;
    double fail_early, cancelled;           /* probabilities */
    uint16_t sm_active_low, sm_active_high; /* milli */
    uint16_t bandwidth_low, bandwidth_high; /* milli */
    uint16_t would_do_milli;
    struct checkpoint_plan checkpoint;
    time_ns limit;
};

struct synth_tenancy {
    uint32_t organisations, teams, projects; /* 0 projects: one queue without tenants */
    double zipf_exponent;
};

struct synth_spec {
    time_ns duration;      /* TIME_NEVER: job_count ends it */
    uint64_t job_count;    /* UINT64_MAX: duration ends it */
    double load_whole_gpu; /* of all classes */
    uint32_t load_gpus;    /* the GPUs to which the load is relative; 0: those of the cluster */
    struct synth_tenancy tenants;
    struct synth_class *classes;
    uint32_t class_count;
};

/* A job that fails early ends at a uniform time within the first tenth of its run time, a cancelled job within all of
 * it.  Mean parts of the run time that they use: */
#define SYNTH_FAIL_WITHIN    0.1
#define SYNTH_FAILED_MEAN    (SYNTH_FAIL_WITHIN / 2)
#define SYNTH_CANCELLED_MEAN 0.5

/* Mean whole GPUs of a class, and mean seconds of its jobs, early ends included. */
double synth_class_whole_gpus(const struct synth_class *class);
double synth_class_mean_s(const struct synth_class *class);

#endif
