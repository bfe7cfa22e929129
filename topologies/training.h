/* topologies/training.h -- the step time of a training job, by its parallel plan and by where its groups stand.
 *
 * Words.  A plan splits a transformer over tp x pp x dp GPUs: each layer over TP (tensor parallel) GPUs, the layers
 * over PP stages, the batch over DP replicas.  EP (expert parallel) is a part of DP: the experts of a layer are spread
 * over ep replicas.  A microbatch is what passes the pipeline at once.  FLOPs are those of the model, without
 * recomputation; MFU (model FLOPs utilization) is their rate over the peak rate of the GPU.
 *
 * Law.  A step takes (compute + TP + EP + PP) x (1 + bubble) + DP, where each term is the part that is not hidden:
 *  - FLOPs of a step: 6 B s (L (A + M + 2 s h) + V h) with batch B, sequence s, L layers, hidden size h, vocabulary V,
 *    and for each layer A parameters of its attention and M of its MLP that a token uses.  With A + M = 12 h^2 this is
 *    equation 3 of Megatron-LM, arXiv 2104.04473;
 *  - compute: FLOPs of a GPU over 0.56 h / (h + 600) of the peak;
 *  - TP: for each layer and microbatch 4 all-gathers and 4 reduce-scatters of its activations, 2 s h bytes a sequence;
 *    0.6 of that is hidden, but no more than compute takes;
 *  - EP: for each layer and microbatch 4 all-to-alls of what a GPU's tokens send to their experts, none hidden;
 *  - PP: for each microbatch and virtual stage a message there and one back, none hidden;
 *  - bubble: (pp - 1) / (microbatches x virtual stages);
 *  - DP: a reduce-scatter of 4 and an all-gather of 2 bytes for each parameter; 0.9 of that is hidden, but no more than
 *    0.9 of compute.
 *
 * Fit: 0.56, 600, 0.6 of TP and 0.9 of DP, together to eleven rows: nine of Megatron-Core, two of Llama 3
 * (docs/network.md).  The 600 rests mostly on the one row with a hidden size below 4096.
 *
 * Units: seconds, FLOPs, TFLOP/s of 1e12, parameters as a count.
 *
 *   struct training_links links = training_links_packed(&plan, system, system->nic_bytes_per_s, 1);
 *   struct training_time time = training_time(&plan, &links, training_peak_tflops(system, plan.precision));
 *   time.mfu_ratio
 *
 * It does not model: another rate of the network for each group, context parallelism, sharded parameters that are
 * gathered for each microbatch (FSDP, ZeRO-3), recomputation, memory, stages or experts of unequal load, input,
 * checkpoints, another efficiency of FP8 than of BF16.
 */
#ifndef TOPOLOGIES_TRAINING_H
#define TOPOLOGIES_TRAINING_H

#include "base/buffer.h"
#include "base/json.h"
#include "topologies/collective.h"

enum training_precision { TRAINING_BF16, TRAINING_FP8, TRAINING_PRECISION_COUNT };
extern const char *const training_precision_names[]; /* "bf16", "fp8", NULL */

struct training_plan {
    uint32_t tp, pp, dp, ep; /* GPUs: tp * pp * dp; ep divides dp; dp 0: not known yet (training_plan_fit) */
    uint32_t layers, hidden, heads, kv_heads, ffn, sequence, vocabulary;
    uint32_t experts, experts_per_token; /* 1, 1: a dense model */
    uint32_t batch, micro_batch;         /* sequences of a step; of a microbatch of a replica */
    uint32_t virtual_stages;             /* of each pipeline stage */
    bool is_gated;                       /* three matrices in an MLP (SwiGLU), not two */
    enum training_precision precision;
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

uint64_t training_plan_gpus(const struct training_plan *plan);
double training_plan_parameters(const struct training_plan *plan);
double training_plan_flops(const struct training_plan *plan); /* of a step, on all GPUs */

/* Where the groups of a plan stand.  pp: two stages that follow each other. */
struct training_links {
    struct collective_place tp, pp, dp, ep, expert_dp;
};

/* The GPUs of the job fill domains in order: TP innermost, then EP and DP, then PP.  tp_domains: spread each TP group
 * over that many domains at least, 1 to tp; more than needed shows what a spill costs. */
struct training_links training_links_packed(const struct training_plan *plan, const struct collective_system *system,
                                            double network_bytes_per_s, uint32_t tp_domains);

/* Where the groups stand if the job has the place `all`, where domain_gpus_gcd divides the members of each domain.
 * Ranks follow the order of domains, TP innermost.  So a TP group stays in a domain if tp divides the members of each;
 * else as many of it stand together as divide both.  DP and EP: as if each domain had the fewest members, TP groups
 * not parted.  All groups have the network's rate of the whole job. */
struct training_links training_links_placed(const struct training_plan *plan, const struct collective_place *all,
                                            uint32_t domain_gpus_gcd);

/* Of one GPU, dense; FP8 has twice the rate of BF16 (0 where the GPU has none).  0: not known. */
double training_peak_tflops(const struct collective_system *system, enum training_precision precision);

struct training_time {
    double step_s;                                      /* the sum of those below */
    double compute_s, tp_s, ep_s, pp_s, bubble_s, dp_s; /* not hidden */
    double network_s; /* sends between domains, hidden or not; may overlap, so may be more than step_s */
    double tflops_per_gpu;
    double mfu_ratio;
};

/* plan: checked.  peak_tflops: above 0.  O(1), pure. */
struct training_time training_time(const struct training_plan *plan, const struct training_links *links,
                                   double peak_tflops);

#endif
