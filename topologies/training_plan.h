/* topologies/training_plan.h -- the parallel plan of a training job: its model, how it is split, what a step computes.
 *
 * Words.  A plan splits a transformer over tp x pp x cp x dp GPUs: each layer over TP (tensor parallel) GPUs, the
 * layers over PP stages, each sequence over CP (context parallel) GPUs, the batch over DP replicas.  EP (expert
 * parallel) is a part of TP x CP x DP: the experts of a layer are spread over ep GPUs, each whole (MoE parallel
 * folding, arXiv 2504.14960).  A microbatch is what passes the pipeline at once; more than one for each replica are
 * gradient accumulation.
 *
 * Sharding.  `zero` says what the GPUs that hold the same layers share out: 0 nothing, 1 the state of the optimizer
 * (Megatron-Core's distributed optimizer), 2 gradients too, 3 parameters too (FSDP).  From 2 on, each layer's
 * parameters are gathered and its gradients scattered in each microbatch.  With `reshard` a layer is given back after
 * its forward pass and gathered again (PyTorch's FULL_SHARD); without, it is kept (SHARD_GRAD_OP).
 *
 * Laws.
 *  - FLOPs of a step, without recomputation: 6 B s (L (A + M + 2 s a) + V h) with batch B, sequence s, L layers, hidden
 *    size h, vocabulary V, width a of all attention heads, and for each layer A parameters of its attention and M of
 *    its MLP that a token uses.  With A + M = 12 h^2 and a = h it is equation 3 of Megatron-LM, arXiv 2104.04473.
 *    Attention is counted in full; a causal kernel computes half of it.
 *  - A plan that is read has been checked; what it leaves out has the default that docs/network.md names.
 *
 * FLOPs, parameters: as double, not rounded.
 *
 *   struct training_plan plan = training_plan_read(&value);      sets the sticky error of `value` where it is wrong
 *   double tera = training_plan_flops(&plan) / 1e12;
 */
#ifndef TOPOLOGIES_TRAINING_PLAN_H
#define TOPOLOGIES_TRAINING_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/json.h"

enum training_precision { TRAINING_BF16, TRAINING_FP8, TRAINING_PRECISION_COUNT };
extern const char *const training_precision_names[]; /* "bf16", "fp8", NULL */

enum training_recompute { TRAINING_RECOMPUTE_NONE, TRAINING_RECOMPUTE_SELECTIVE, TRAINING_RECOMPUTE_FULL };
extern const char *const training_recompute_names[]; /* "none", "selective", "full", NULL */

/* The kernel of attention's scores: FlashAttention-2, or cuDNN's on Hopper and later. */
enum training_attention { TRAINING_FLASH2, TRAINING_CUDNN };
extern const char *const training_attention_names[]; /* "flash2", "cudnn", NULL */

struct training_plan {
    uint32_t tp, pp, dp, ep; /* ep divides tp * cp * dp; dp 0: not known yet (training_plan_fit) */
    uint32_t cp;             /* divides sequence */
    uint32_t layers, hidden, heads, kv_heads, ffn, sequence, vocabulary;
    uint32_t head_size;                  /* of one head */
    uint32_t experts, experts_per_token; /* 1, 1: a dense model */
    uint32_t shared_ffn;                 /* of an MLP beside the experts that each token uses; 0: none */
    uint32_t batch, micro_batch;         /* sequences of a step; of a microbatch of a replica */
    uint32_t virtual_stages;             /* of each pipeline stage */
    uint32_t zero;                       /* 0 to 3 */
    bool is_gated;                       /* three matrices in an MLP (SwiGLU), not two */
    bool has_reshard, has_prefetch;      /* zero 3: gathered again; the next layer is gathered beside compute */
    enum training_precision precision;
    enum training_recompute recompute;
    enum training_attention attention;
    double expert_load; /* of the GPU whose experts have most tokens, over the mean; 1: balanced */
};

/* Read a plan from a JSON object; docs/network.md names its keys.  Without `dp` and `gpus` it has one replica.  A plan
 * that does not hold together sets the value's sticky error at the key that is wrong. */
struct training_plan training_plan_read(const struct json_value *value);

/* As above, of a job of gpu_count GPUs: without `dp` it has the replicas that they make, and one that is for other
 * GPUs is refused.  gpu_count 0: not known yet; without `dp` and `gpus` its dp is 0. */
struct training_plan training_plan_read_for(const struct json_value *value, uint64_t gpu_count);

/* Append the JSON object of which training_plan_read_for makes an equal plan. */
void training_plan_write(const struct training_plan *plan, struct buffer *out);

struct training_complaint {
    const char *key; /* of the plan's JSON */
    char what[160];
};

/* Does the plan hold together?  Reading asks this; code that fills a plan otherwise must ask it too.  False: *why is
 * set.  dp 0: for some number of replicas it may. */
bool training_plan_check(const struct training_plan *plan, struct training_complaint *why);

/* The plan of a job of gpu_count GPUs: dp 0 becomes the replicas that they make.  False: the plan is for other GPUs,
 * or does not hold together with these replicas, and *why is set. */
bool training_plan_fit(const struct training_plan *declared, uint64_t gpu_count, struct training_plan *fitted,
                       struct training_complaint *why);

bool training_plan_is_same(const struct training_plan *a, const struct training_plan *b);
uint64_t training_plan_hash(const struct training_plan *plan);

uint64_t training_plan_gpus(const struct training_plan *plan);
uint64_t training_plan_replica_gpus(const struct training_plan *plan); /* tp * pp * cp */
double training_plan_parameters(const struct training_plan *plan);
double training_plan_expert_parameters(const struct training_plan *plan); /* of all experts; 0: a dense model */
double training_plan_microbatches(const struct training_plan *plan);      /* of a replica, in a step */

/* FLOPs of a step on all GPUs, without recomputation. */
struct training_flops {
    double products; /* matrix products of attention, MLPs and shared experts */
    double experts;  /* matrix products of the experts that tokens use */
    double scores;   /* attention's scores and their product with the values */
    double head;     /* the output layer */
};
struct training_flops training_plan_flops_by_part(const struct training_plan *plan);
double training_plan_flops(const struct training_plan *plan); /* their sum */

#endif
