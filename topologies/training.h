/* topologies/training.h -- the step time of a training job, by its parallel plan and by where its groups stand.
 *
 * topologies/training_plan.h defines the words.  MFU (model FLOPs utilization) = FLOPs of a step / seconds of the step
 * / peak FLOPs per second of its GPUs.  Recomputed FLOPs do not count.
 *
 * Law.  A step takes (compute + TP + CP + EP + PP) x (1 + bubble) + DP, where each term is the part that is not hidden:
 *  - compute: the FLOPs of a GPU at 0.57 of the BF16 peak, and for each 440 / h more of that time, for what memory
 *    bandwidth bounds beside the matrix products (norms, activations, casts).  FP8 takes 1 / 1.5 of the first part of
 *    matrix products; the output layer, attention's scores and the second part stay as they are.  Scores take 1.75
 *    (FlashAttention-2) or 0.4 (cuDNN) of what their FLOPs would take.  Experts take `expert_load` times as long;
 *  - recomputation: full repeats the layers' forward pass, a third of their compute, at half of its time, and TP's,
 *    CP's and EP's exchanges of a forward pass; selective repeats the scores' forward pass;
 *  - TP: for each layer and microbatch 4 all-gathers and 4 reduce-scatters of its activations, 2 s h bytes a sequence;
 *    0.65 of that is hidden, but no more than compute takes;
 *  - CP: for each layer and microbatch 2 all-gathers and a reduce-scatter of keys and values; as much is hidden;
 *  - EP: for each layer and microbatch 4 all-to-alls of what a GPU's tokens send to their experts, and 0.4 ms of the
 *    host for each expert on the GPU (it sorts tokens and launches their products); none is hidden.  A token goes over
 *    the network once to each domain that holds an expert of its, so of e copies to k domains 1 - (1 - 1/k)^e of k go;
 *  - PP: for each microbatch and virtual stage a message there and one back, none hidden;
 *  - bubble: (pp - 1) / (microbatches x virtual stages);
 *  - DP, zero 0 or 1: a reduce-scatter of 4 and an all-gather of 2 bytes for each parameter (zero 0: of 4
 *    bytes, which is a ring's all-reduce), once in a step; 0.9 of that is hidden, but no more than 0.9 of compute;
 *  - DP, zero 2 or 3: for each layer a reduce-scatter of 2 bytes for each parameter in each microbatch, and an
 *    all-gather of 2 bytes: zero 3 one in each microbatch, with reshard two; zero 2 one in a step.  Their latency,
 *    which grows with the GPUs, is not hidden: each is a barrier of all GPUs.  Their bytes take 1 + 0.55 log2(n / 8)
 *    times as long over n GPUs of several domains, because each GPU's piece of a layer gets smaller; 0.6 of that is
 *    hidden (none without prefetch), but no more than 0.9 of compute.
 *
 * Fit (docs/network.md has all rows).  0.57, 440, 1.75: nine rows of Megatron-Core r0.8, two of Llama 3, 69 of
 * llm-foundry from 760M to 70B.  0.65 of TP and 0.9 of DP: the first eleven.  0.4 and 0.55 of zero 2 and 3, and the
 * half of a recomputed forward pass: 18 rows of llm-foundry on 128 to 512 GPUs.  0.4 of cuDNN: NeMo 24.09 with BF16.
 * 1.5: NeMo and llm-foundry with FP8, 29 rows.  0.4 ms: mixtures of experts, 12 rows.
 *
 * Units: seconds, FLOPs, TFLOP/s of 1e12.
 *
 *   struct training_links links = training_links_packed(&plan, system, system->nic_bytes_per_s, 1);
 *   struct training_time time = training_time(&plan, &links, training_peak_tflops(system, plan.precision));
 *   time.mfu_ratio
 *
 * It does not model: another rate of the network for each group, memory, stages of unequal load, input, checkpoints,
 * the launches of small dense layers, GPUs other than Hopper's.
 */
#ifndef TOPOLOGIES_TRAINING_H
#define TOPOLOGIES_TRAINING_H

#include "topologies/collective.h"
#include "topologies/training_plan.h"

/* Where the groups of a plan stand.  pp: two stages that follow each other. */
struct training_links {
    struct collective_place tp, pp, cp, ep;
    struct collective_place dp, expert_dp; /* that hold the same layers, the same experts: CP and DP together */
};

/* The GPUs of the job fill domains in order: TP innermost, then CP and DP, then PP; EP over TP, CP and DP.  tp_domains:
 * spread each TP group over that many domains at least, 1 to tp; more than needed shows what a spill costs. */
struct training_links training_links_packed(const struct training_plan *plan, const struct collective_system *system,
                                            double network_bytes_per_s, uint32_t tp_domains);

/* Where the groups stand if the job has the place `all`, where domain_gpus_gcd divides the members of each domain.
 * Ranks follow the order of domains, TP innermost.  So a TP group stays in a domain if tp divides the members of each;
 * else as many of it stand together as divide both.  CP, DP and EP: as if each domain had the fewest members, TP groups
 * not parted.  All groups have the network's rate of the whole job. */
struct training_links training_links_placed(const struct training_plan *plan, const struct collective_place *all,
                                            uint32_t domain_gpus_gcd);

/* Of one GPU, dense; FP8 has twice the rate of BF16 (0 where the GPU has none).  0: not known. */
double training_peak_tflops(const struct collective_system *system, enum training_precision precision);

struct training_time {
    double step_s;                                            /* the sum of those below */
    double compute_s, tp_s, cp_s, ep_s, pp_s, bubble_s, dp_s; /* not hidden */
    double network_s; /* sends between domains, hidden or not; may overlap, so may be more than step_s */
    double tflops_per_gpu;
    double mfu_ratio;
};

/* plan: checked.  peak_tflops: that of the plan's precision, above 0; of FP8, twice that of BF16.  O(1), pure. */
struct training_time training_time(const struct training_plan *plan, const struct training_links *links,
                                   double peak_tflops);

#endif
