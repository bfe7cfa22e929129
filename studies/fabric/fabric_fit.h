/* studies/fabric/fabric_fit.h -- the parameters of a cluster's network and NVLink, from measured times of collectives.
 *
 * Words.  A parameter is the step's latency, the part of the NICs' nominal rate (topologies/transport.h), or the ratio
 * of the rates inside NVLink domains (struct fabric).  The deviation of a fit is sqrt(sum of squared errors /
 * (rows - parameters)); the error of a row is the logarithm of modelled over measured seconds.
 *
 * Law.  The parameters are those that make the sum of squared errors of the rows least, for the model of
 * topologies/collective.h; of values that fit equally well, the smallest.  The first two are fitted if a row is of
 * several domains, the third if a row is of one.
 *  - The interval of a parameter holds each value with which the others can be fitted so that the sum grows by no more
 *    than a factor 1 + t^2 / (rows - parameters), with Student's t at 95 % (profile likelihood; Bates and Watts,
 *    Nonlinear Regression Analysis, 1988, chapter 6).  It is right if errors of rows are independent.
 *  - A parameter whose interval spans more than a factor FABRIC_FIT_SPAN_MAX and holds the value that the fit began
 *    with stays at that: these rows do not tell it.
 *  - Small messages go by protocols that the model does not know, so rows below a size are left out: the smallest size
 *    is taken from which the deviation is at most FABRIC_FIT_DEVIATION, or the rows fit no worse than those from any
 *    larger size do, by an F-test at the level FABRIC_FIT_CHANCE (Chow, Econometrica 28, 1960: do further rows follow
 *    the same law?).
 *
 *   struct fabric_fit fit;
 *   TRY(fabric_fit_make(&fit, &tests, &start));
 *   fabric_fit_show(&fit, &tests, &start, &out);
 *   fabric_fit_release(&fit);
 *
 * It does not: know tiers and oversubscription (start.network_bytes_per_s has them), or a network whose rate falls with
 * the number of nodes: then the deviation is large.
 */
#ifndef STUDIES_FABRIC_FABRIC_FIT_H
#define STUDIES_FABRIC_FABRIC_FIT_H

#include "base/buffer.h"
#include "base/error.h"
#include "studies/fabric/nccl_tests.h"

#define FABRIC_FIT_SPAN_MAX  2.0
#define FABRIC_FIT_DEVIATION 0.03 /* about what repeated runs of nccl-tests differ by */
#define FABRIC_FIT_CHANCE    0.001
enum { FABRIC_FIT_ROWS_MAX = 2000, FABRIC_FIT_SPARE_ROWS = 3 }; /* spare: more rows than parameters, at least */

enum fabric_parameter { FABRIC_STEP_S, FABRIC_RATE_RATIO, FABRIC_NVLINK_RATIO, FABRIC_PARAMETER_COUNT };

/* What the fit begins with.  The system has the rates of nvlink_ratio 1, and its nic_bytes_per_s is nominal. */
struct fabric_start {
    struct collective_system system;
    double network_bytes_per_s; /* of one GPU on the tier crossed, nominal (topologies/collective.h) */
    double nvlink_ratio;        /* of the cluster so far; 1 without one */
    bool has_nvls, has_cluster; /* has_cluster: the NICs stand in a cluster file */
};

struct fabric_estimate {
    double value, low, high; /* low to high: the interval */
    bool has_rows, is_told;  /* rows depend on it; and they tell it, else value is that of the start */
};

struct fabric_fit {
    struct fabric_estimate estimates[FABRIC_PARAMETER_COUNT];
    double bytes_min;  /* the smallest size that was used */
    size_t used;       /* rows */
    double *model_s;   /* of each row, owned */
    double rms, worst; /* of modelled over measured bus bandwidth - 1, of the rows used */
    size_t worst_row;
};

/* tests: with rows.  ERROR_DATA: too few rows, too many, or a host has more GPUs than a domain of the system; then *out
 * is empty.  Some milliseconds for 30 rows; the time grows with rows and sizes. */
struct error fabric_fit_make(struct fabric_fit *out, const struct nccl_tests *tests,
                             const struct fabric_start *start) MUST_CHECK;
void fabric_fit_release(struct fabric_fit *fit);

/* Where the GPUs of a row stood: hosts fill as few domains as hold them.  system: borrowed. */
struct collective_place fabric_row_place(const struct nccl_row *row, const struct collective_system *system,
                                         const struct fabric_start *start);

/* Append rows and errors, the parameters with their intervals, and on the last line {"fabric": ...} for a cluster file
 * (topologies/README.md). */
void fabric_fit_show(const struct fabric_fit *fit, const struct nccl_tests *tests, const struct fabric_start *start,
                     struct buffer *out);

#endif
