/* topologies/training_rows.h -- training steps that were measured, and the range in which the model meets them.
 *
 * Words.  A row is a plan on H100 with what was measured of it.  A row that is not tested is printed alone.  A kind is
 * dense (zero 0 or 1), sharded (zero 2 or 3), or a mixture of experts, sharded or not.  A plan is validated if it is
 * inside the range (topologies/range.h) of the tested rows of its kind and precision, by GPUs, parameters and sequence,
 * and stands in no more NVLink domains than nodes of 8 that its GPUs fill, as those of all rows do.
 *
 * Law: the rows that validate-model prints and those that give the range are the same, so a tested row is inside.
 * Test: tests/unit/test_training_rows.c.
 *
 *   struct range_verdict verdict = training_validated(&plan, system);
 *   if (!range_is_inside(verdict)) ...        not validated here: verdict.reason, verdict.times
 *
 * It does not: know other GPUs than Hopper's, nor rates of a network.
 */
#ifndef TOPOLOGIES_TRAINING_ROWS_H
#define TOPOLOGIES_TRAINING_ROWS_H

#include "topologies/range.h"
#include "topologies/training.h"

/* The measured rows by where they were published. */
enum training_table {
    TRAINING_TABLE_MEGATRON, /* Megatron-Core r0.8, weak scaling */
    TRAINING_TABLE_LLAMA,    /* Llama 3 405B */
    TRAINING_TABLE_SHARDED,  /* llm-foundry, 128 to 512 GPUs */
    TRAINING_TABLE_FOUNDRY,  /* llm-foundry, 8 to 64 GPUs */
    TRAINING_TABLE_NEMO,     /* NeMo, BF16 */
    TRAINING_TABLE_FP8,
    TRAINING_TABLE_MIXTURE,
    TRAINING_TABLE_COUNT
};

struct training_row {
    enum training_table table;
    const char *name;
    struct training_plan plan;
    double tflops;  /* measured, of a GPU, by training_plan_flops */
    bool is_tested; /* else printed alone: rows of one plan contradict each other, or its kernels were not those */
};

uint32_t training_row_count(void);
struct training_row training_row_at(uint32_t index); /* below the count; rows of a table follow each other */

/* Was a plan like this one measured, and met?  plan: checked, its dp is known.  O(rows), pure. */
struct range_verdict training_validated(const struct training_plan *plan, const struct collective_system *system);

/* What the tested rows of its kind and precision enclose on that system; empty, with the reason: no row is of that
 * system, kind or precision.  O(rows), pure. */
struct range training_range(const struct training_plan *plan, const struct collective_system *system);

/* The plan, scaled to that many GPUs in that many domains, against the range of its kind, precision and system. */
struct range_verdict training_range_test(const struct range *range, const struct training_plan *plan, uint32_t gpus,
                                         uint32_t domains);

/* The tested rows of a plan's kind and precision, and the errors of the model's speed there, relative. */
struct training_errors {
    uint32_t row_count; /* 0: the others are 0 too */
    double least, most;
};
struct training_errors training_errors_of(const struct training_plan *plan); /* O(rows) */

/* The row nearest to it, tested or not: of mixtures for a mixture, else of dense models.  By the most factor between
 * GPUs, parameters or sequences; another precision or kind counts as a factor of ten.  O(rows). */
struct training_row training_row_nearest(const struct training_plan *plan);

/* Append how many rows of its kind and precision there are and how far the model is off there; outside, also how far
 * outside, and how far the model is off in the nearest row.  between: before each of the latter. */
void training_rows_tell(const struct training_plan *plan, struct range_verdict verdict, const char *between,
                        struct buffer *out);

/* The model's TFLOP/s of a GPU, on DGX H100 with its groups packed. */
double training_row_model_tflops(const struct training_row *row);

#endif
