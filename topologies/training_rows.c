/* topologies/training_rows.c -- measured training steps on H100, and what they enclose.
 *
 * Sources.  Megatron: NVIDIA/Megatron-LM core_r0.8.0, images/model_table.png.  Llama: arXiv 2407.21783, table 4.
 * llm-foundry: mosaicml/llm-foundry, scripts/train/benchmarking/README.md.  NeMo 24.09 and its FP8: NVIDIA/
 * dgxc-benchmarking, llama3.1/README_*.md, nemo_megatron/README_175b.md, nemotron/README*.md.  NeMo 24.07: NVIDIA/NeMo,
 * docs/source/performance/performance_summary.md.  NeMo 25.09, 25.11: NVIDIA-NeMo/Megatron-Bridge,
 * docs/performance-summary.md.  Mixtures: yanring/Megatron-MoE-ModelZoo, best_practice/ (Qwen3, Mixtral 8x22B);
 * NVIDIA/Megatron-LM, megatron/core/transformer/moe/README.md (Mixtral 8x7B); NeMo AutoModel's performance summary
 * (docs.nvidia.com/nemo/automodel); dgxc-benchmarking grok1/README*.md.
 */
#include "topologies/training_rows.h"

#include <assert.h>
#include <math.h>

#define H100_TFLOPS 989.4 /* DGX H100, dense BF16 */
#define APART       10

enum { ROW_DOMAIN_GPUS = 8 }; /* all rows are of nodes of 8, which their GPUs fill */

/* ---- models ---- */

enum model {
    GPT_2K,
    GPT_4K,
    GPT_6K,
    GPT_7K,
    GPT_8K,
    GPT_10K,
    GPT_12K,
    GPT_16K,
    GPT_18K,
    MPT_760M,
    MPT_1B,
    MPT_3B,
    MPT_7B,
    MPT_13B,
    MPT_30B,
    MPT_70B,
    GPT3_5B,
    GPT3_20B,
    GPT3_175B,
    LLAMA2_7B,
    LLAMA2_13B,
    LLAMA2_70B,
    LLAMA3_8B,
    LLAMA3_70B,
    LLAMA3_405B,
    NEMOTRON_8B,
    NEMOTRON_15B,
    NEMOTRON_22B,
    NEMOTRON_340B,
    MIXTRAL_7B,
    MIXTRAL_22B,
    GROK_314B,
    QWEN3_30B,
    QWEN3_235B,
    DEEPSEEK_V3,
    KIMI_K2,
    GPT_OSS_20B,
    GPT_OSS_120B,
    MODEL_COUNT
};

struct model_shape {
    uint32_t layers, hidden, heads, kv_heads, head_size, ffn;
    bool is_gated;
    uint32_t vocabulary, experts, experts_per_token, shared_ffn;
};

/* Megatron-Core's own: heads of 128, an MLP of 4 h. */
#define GPT(layers, hidden)                                                                                            \
    {                                                                                                                  \
        layers, hidden, (hidden) / 128, (hidden) / 128, 128, 4 * (hidden), false, 131072, 1, 1, 0                      \
    }
/* llm-foundry's MPT: an MLP of 4 h. */
#define MPT(layers, hidden, heads)                                                                                     \
    {                                                                                                                  \
        layers, hidden, heads, heads, (hidden) / (heads), 4 * (hidden), false, 50368, 1, 1, 0                          \
    }
/* Multi-head attention of DeepSeek-V3 and Kimi (MLA) stands as one head of keys and values of about as many parameters;
 * their first, dense layers count as layers of experts. */
static const struct model_shape models[MODEL_COUNT] = {
    [GPT_2K] = GPT(24, 2048),
    [GPT_4K] = GPT(30, 4096),
    [GPT_6K] = GPT(32, 6144),
    [GPT_7K] = GPT(48, 7168),
    [GPT_8K] = GPT(84, 8192),
    [GPT_10K] = GPT(92, 10240),
    [GPT_12K] = GPT(96, 12288),
    [GPT_16K] = GPT(96, 16384),
    [GPT_18K] = GPT(112, 18432),
    [MPT_760M] = MPT(24, 1536, 12),
    [MPT_1B] = MPT(24, 2048, 16),
    [MPT_3B] = MPT(32, 2560, 32),
    [MPT_7B] = MPT(32, 4096, 32),
    [MPT_13B] = MPT(40, 5120, 40),
    [MPT_30B] = MPT(48, 7168, 56),
    [MPT_70B] = MPT(80, 8192, 64),
    [GPT3_5B] = {24, 4096, 32, 32, 128, 16384, false, 51200, 1, 1, 0},
    [GPT3_20B] = {44, 6144, 48, 48, 128, 24576, false, 51200, 1, 1, 0},
    [GPT3_175B] = {96, 12288, 96, 96, 128, 49152, false, 51200, 1, 1, 0},
    [LLAMA2_7B] = {32, 4096, 32, 32, 128, 11008, true, 32000, 1, 1, 0},
    [LLAMA2_13B] = {40, 5120, 40, 40, 128, 13824, true, 32000, 1, 1, 0},
    [LLAMA2_70B] = {80, 8192, 64, 8, 128, 28672, true, 32000, 1, 1, 0},
    [LLAMA3_8B] = {32, 4096, 32, 8, 128, 14336, true, 128256, 1, 1, 0},
    [LLAMA3_70B] = {80, 8192, 64, 8, 128, 28672, true, 128256, 1, 1, 0},
    [LLAMA3_405B] = {126, 16384, 128, 8, 128, 53248, true, 128256, 1, 1, 0},
    [NEMOTRON_8B] = {32, 4096, 32, 32, 128, 16384, false, 256000, 1, 1, 0},
    [NEMOTRON_15B] = {32, 6144, 48, 8, 128, 24576, false, 256000, 1, 1, 0},
    [NEMOTRON_22B] = {40, 6144, 48, 48, 128, 24576, false, 256000, 1, 1, 0},
    [NEMOTRON_340B] = {96, 18432, 96, 8, 192, 73728, false, 256000, 1, 1, 0},
    [MIXTRAL_7B] = {32, 4096, 32, 8, 128, 14336, true, 32000, 8, 2, 0},
    [MIXTRAL_22B] = {56, 6144, 48, 8, 128, 16384, true, 32768, 8, 2, 0},
    [GROK_314B] = {64, 6144, 48, 8, 128, 32768, true, 131072, 8, 2, 0},
    [QWEN3_30B] = {48, 2048, 32, 4, 128, 768, true, 151936, 128, 8, 0},
    [QWEN3_235B] = {94, 4096, 64, 4, 128, 1536, true, 151936, 128, 8, 0},
    [DEEPSEEK_V3] = {61, 7168, 128, 1, 128, 2048, true, 129280, 256, 8, 2048},
    [KIMI_K2] = {61, 7168, 64, 1, 160, 2048, true, 163840, 384, 8, 2048},
    [GPT_OSS_20B] = {24, 2880, 64, 8, 64, 2880, true, 201088, 32, 4, 0},
    [GPT_OSS_120B] = {36, 2880, 64, 8, 64, 2880, true, 201088, 128, 4, 0},
};

/* ---- rows ---- */

/* Percent of the precision's peak; of a GPU; the same with half of the scores, which is what a causal kernel computes;
 * tokens per second of a GPU. */
enum unit { MFU, TFLOPS, CAUSAL, TOKENS };

struct compact_row {
    enum training_table table;
    const char *name;
    enum model model;
    uint32_t sequence, gpus, tp, pp, cp, ep, virtual_stages, micro_batch, batch, zero; /* virtual_stages 0: usual */
    char recompute;                                                                    /* 'n', 's', 'f' */
    char attention;                                                                    /* 'f', 'c' */
    bool is_fp8;
    double value;
    enum unit unit;
    double expert_load;
    bool is_not_tested;
};

/* Megatron-Core r0.8 and Llama 3: by tp, pp. */
#define MEGATRON(name, model, gpus, tp, pp, batch, tflops)                                                             \
    {                                                                                                                  \
        TRAINING_TABLE_MEGATRON, name, model, 4096, gpus, tp, pp, 1, 1, 0, 1, batch, 1, 'n', 'f', false, tflops,       \
            TFLOPS, 1, false                                                                                           \
    }
#define LLAMA(gpus, tflops)                                                                                            \
    {                                                                                                                  \
        TRAINING_TABLE_LLAMA, "405B", LLAMA3_405B, 8192, gpus, 8, 16, 1, 1, 0, 1, 2048, 1, 'n', 'f', false, tflops,    \
            TFLOPS, 1, false                                                                                           \
    }
/* llm-foundry: tp 1; batch: micro_batch x accumulated x GPUs. */
#define SHARDED(name, model, gpus, micro, zero, recompute, mfu)                                                        \
    {                                                                                                                  \
        TRAINING_TABLE_SHARDED, name, model, 2048, gpus, 1, 1, 1, 1, 1, micro, (micro) * (gpus), zero, recompute, 'f', \
            false, mfu, MFU, 1, false                                                                                  \
    }
#define FOUNDRY(name, model, sequence, gpus, micro, accumulated, recompute, mfu)                                       \
    {                                                                                                                  \
        TRAINING_TABLE_FOUNDRY, name, model, sequence, gpus, 1, 1, 1, 1, 1, micro, (micro) * (accumulated) * (gpus),   \
            3, recompute, 'f', false, mfu, MFU, 1, false                                                               \
    }
#define FOUNDRY_FP8(name, model, sequence, micro, accumulated, recompute, mfu)                                         \
    {                                                                                                                  \
        TRAINING_TABLE_FP8, name, model, sequence, 8, 1, 1, 1, 1, 1, micro, (micro) * (accumulated)*8, 3, recompute,   \
            'f', true, mfu, MFU, 1, false                                                                              \
    }
#define NEMO(name, model, sequence, gpus, tp, pp, cp, v, micro, batch, value, unit)                                    \
    {                                                                                                                  \
        TRAINING_TABLE_NEMO, name, model, sequence, gpus, tp, pp, cp, 1, v, micro, batch, 1, 'n', 'c', false, value,   \
            unit, 1, false                                                                                             \
    }
#define FP8(name, model, sequence, gpus, tp, pp, cp, v, micro, batch, zero, value, unit)                               \
    {                                                                                                                  \
        TRAINING_TABLE_FP8, name, model, sequence, gpus, tp, pp, cp, 1, v, micro, batch, zero, 'n', 'c', true, value,  \
            unit, 1, false                                                                                             \
    }
#define MIXTURE(name, model, sequence, gpus, tp, pp, cp, ep, v, micro, batch, zero, re, is_fp8, value, unit, load,     \
                is_not_tested)                                                                                         \
    {                                                                                                                  \
        TRAINING_TABLE_MIXTURE, name, model, sequence, gpus, tp, pp, cp, ep, v, micro, batch, zero, re, 'c', is_fp8,   \
            value, unit, load, is_not_tested                                                                           \
    }

/* clang-format off */
static const struct compact_row rows[] = {
    MEGATRON("1.7B", GPT_2K, 48, 1, 1, 192, 408.8),
    MEGATRON("7.1B", GPT_4K, 96, 2, 1, 192, 465.9),
    MEGATRON("16B", GPT_6K, 192, 4, 1, 192, 489.1),
    MEGATRON("32B", GPT_7K, 384, 8, 1, 192, 459.6),
    MEGATRON("70B", GPT_8K, 768, 8, 2, 384, 419.7),
    MEGATRON("119B", GPT_10K, 1536, 8, 4, 768, 420.5),
    MEGATRON("177B", GPT_12K, 2304, 8, 6, 1152, 432.8),
    MEGATRON("314B", GPT_16K, 3072, 8, 8, 1536, 474.4),
    MEGATRON("462B", GPT_18K, 6144, 8, 16, 3072, 459.9),
    LLAMA(8192, 430),
    LLAMA(16384, 400),
    SHARDED("70B", MPT_70B, 128, 8, 3, 'f', 43.36),
    SHARDED("70B", MPT_70B, 256, 8, 3, 'f', 42.42),
    SHARDED("70B", MPT_70B, 512, 8, 3, 'f', 41.25),
    SHARDED("30B", MPT_30B, 128, 8, 3, 'f', 41.85),
    SHARDED("30B", MPT_30B, 256, 8, 3, 'f', 40.89),
    SHARDED("30B", MPT_30B, 512, 8, 3, 'f', 40.27),
    SHARDED("13B", MPT_13B, 128, 16, 3, 'f', 42.18),
    SHARDED("13B", MPT_13B, 256, 16, 3, 'f', 41.42),
    SHARDED("13B", MPT_13B, 512, 16, 3, 'f', 41.12),
    SHARDED("7B", MPT_7B, 128, 6, 3, 'n', 45.71),
    SHARDED("7B", MPT_7B, 256, 6, 3, 'n', 44.15),
    SHARDED("7B", MPT_7B, 512, 6, 3, 'n', 42.20),
    SHARDED("3B", MPT_3B, 128, 8, 2, 'n', 42.43),
    SHARDED("3B", MPT_3B, 256, 8, 2, 'n', 41.25),
    SHARDED("3B", MPT_3B, 512, 8, 2, 'n', 39.24),
    SHARDED("1B", MPT_1B, 128, 12, 2, 'n', 40.60),
    SHARDED("1B", MPT_1B, 256, 12, 2, 'n', 39.15),
    SHARDED("1B", MPT_1B, 512, 12, 2, 'n', 36.65),
    FOUNDRY("70B", MPT_70B, 2048, 64, 8, 4, 'f', 42.57),
    FOUNDRY("70B", MPT_70B, 2048, 32, 2, 16, 'f', 36.15),
    FOUNDRY("30B", MPT_30B, 8192, 8, 1, 21, 'f', 29.92),
    FOUNDRY("30B", MPT_30B, 4096, 8, 1, 21, 'f', 35.86),
    FOUNDRY("30B", MPT_30B, 2048, 32, 14, 3, 'f', 43.92),
    FOUNDRY("30B", MPT_30B, 2048, 16, 10, 3, 'f', 43.07),
    FOUNDRY("30B", MPT_30B, 2048, 8, 3, 21, 'f', 38.11),
    FOUNDRY("30B", MPT_30B, 1024, 8, 6, 21, 'f', 38.76),
    FOUNDRY("13B", MPT_13B, 32768, 8, 1, 3, 'f', 31.68),
    FOUNDRY("13B", MPT_13B, 16384, 8, 3, 3, 'f', 35.55),
    FOUNDRY("13B", MPT_13B, 4096, 8, 10, 3, 'f', 41.60),
    FOUNDRY("13B", MPT_13B, 2048, 64, 2, 1, 'n', 39.86),
    FOUNDRY("13B", MPT_13B, 2048, 32, 2, 1, 'n', 39.95),
    FOUNDRY("13B", MPT_13B, 2048, 16, 2, 1, 'n', 39.58),
    FOUNDRY("13B", MPT_13B, 2048, 8, 2, 1, 'n', 39.79),
    FOUNDRY("13B", MPT_13B, 1024, 8, 40, 3, 'f', 44.27),
    FOUNDRY("7B", MPT_7B, 65536, 8, 1, 2, 'f', 28.59),
    FOUNDRY("7B", MPT_7B, 32768, 8, 2, 2, 'f', 30.94),
    FOUNDRY("7B", MPT_7B, 8192, 8, 8, 2, 'f', 37.14),
    FOUNDRY("7B", MPT_7B, 4096, 8, 16, 2, 'f', 40.42),
    FOUNDRY("7B", MPT_7B, 2048, 8, 6, 1, 'n', 46.44),
    FOUNDRY("7B", MPT_7B, 1024, 8, 64, 2, 'f', 42.83),
    FOUNDRY("3B", MPT_3B, 65536, 8, 1, 2, 'f', 26.81),
    FOUNDRY("3B", MPT_3B, 32768, 8, 3, 6, 'f', 28.84),
    FOUNDRY("3B", MPT_3B, 16384, 8, 1, 6, 'n', 36.34),
    FOUNDRY("3B", MPT_3B, 8192, 8, 3, 6, 'n', 40.31),
    FOUNDRY("3B", MPT_3B, 4096, 8, 5, 6, 'n', 42.31),
    FOUNDRY("3B", MPT_3B, 2048, 64, 6, 3, 'n', 40.80),
    FOUNDRY("3B", MPT_3B, 2048, 32, 6, 3, 'n', 41.70),
    FOUNDRY("3B", MPT_3B, 2048, 16, 10, 3, 'n', 43.73),
    FOUNDRY("3B", MPT_3B, 1024, 8, 20, 6, 'n', 46.20),
    FOUNDRY("3B", MPT_3B, 512, 8, 40, 6, 'n', 46.32),
    FOUNDRY("1B", MPT_1B, 65536, 8, 1, 2, 'f', 26.34),
    FOUNDRY("1B", MPT_1B, 32768, 8, 1, 4, 'n', 33.54),
    FOUNDRY("1B", MPT_1B, 16384, 8, 2, 4, 'n', 35.22),
    FOUNDRY("1B", MPT_1B, 8192, 8, 3, 4, 'n', 37.73),
    FOUNDRY("1B", MPT_1B, 4096, 8, 7, 4, 'n', 40.26),
    FOUNDRY("1B", MPT_1B, 2048, 64, 20, 1, 'n', 40.85),
    FOUNDRY("1B", MPT_1B, 2048, 32, 20, 1, 'n', 41.52),
    FOUNDRY("1B", MPT_1B, 2048, 16, 20, 1, 'n', 42.36),
    FOUNDRY("1B", MPT_1B, 2048, 8, 14, 1, 'n', 41.82),
    FOUNDRY("1B", MPT_1B, 1024, 8, 18, 4, 'n', 41.95),
    FOUNDRY("1B", MPT_1B, 512, 8, 56, 4, 'n', 43.21),
    FOUNDRY("760M", MPT_760M, 32768, 8, 1, 2, 'n', 31.84),
    FOUNDRY("760M", MPT_760M, 16384, 8, 3, 2, 'n', 33.57),
    FOUNDRY("760M", MPT_760M, 8192, 8, 6, 2, 'n', 34.84),
    FOUNDRY("760M", MPT_760M, 4096, 8, 12, 2, 'n', 35.83),
    FOUNDRY("760M", MPT_760M, 2048, 32, 24, 1, 'n', 37.57),
    FOUNDRY("760M", MPT_760M, 2048, 16, 24, 1, 'n', 37.89),
    FOUNDRY("760M", MPT_760M, 1024, 8, 48, 2, 'n', 39.76),
    FOUNDRY("760M", MPT_760M, 512, 8, 96, 2, 'n', 40.42),
    NEMO("8B, 24.09", LLAMA3_8B, 8192, 8, 1, 1, 2, 1, 1, 128, 59.37, MFU),
    NEMO("8B, 24.09", LLAMA3_8B, 8192, 128, 1, 1, 2, 1, 1, 2048, 58.51, MFU),
    NEMO("70B, 24.09", LLAMA3_70B, 8192, 64, 4, 4, 2, 5, 1, 128, 54.10, MFU),
    NEMO("70B, 24.09", LLAMA3_70B, 8192, 2048, 4, 4, 2, 5, 1, 4096, 53.38, MFU),
    NEMO("405B, 24.09", LLAMA3_405B, 8192, 576, 8, 9, 2, 7, 1, 252, 55.78, MFU),
    NEMO("405B, 24.09", LLAMA3_405B, 8192, 1152, 8, 9, 2, 7, 1, 504, 54.76, MFU),
    NEMO("405B, 24.09", LLAMA3_405B, 8192, 2304, 8, 9, 2, 7, 1, 1008, 54.45, MFU),
    NEMO("175B, 24.12", GPT3_175B, 2048, 128, 4, 8, 1, 12, 1, 256, 53.54, MFU),
    NEMO("175B, 24.12", GPT3_175B, 2048, 2048, 4, 8, 1, 12, 1, 4096, 52.40, MFU),
    NEMO("15B, 24.12", NEMOTRON_15B, 4096, 16, 4, 1, 1, 1, 4, 64, 5826, TOKENS),
    NEMO("15B, 24.12", NEMOTRON_15B, 4096, 2048, 4, 1, 1, 1, 4, 8192, 5675, TOKENS),
    NEMO("340B, 25", NEMOTRON_340B, 4096, 256, 8, 8, 1, 12, 1, 64, 47.3, MFU),
    FOUNDRY_FP8("3B", MPT_3B, 32768, 3, 6, 'f', 14.38),
    FOUNDRY_FP8("3B", MPT_3B, 8192, 3, 6, 'n', 23.28),
    FOUNDRY_FP8("3B", MPT_3B, 2048, 10, 6, 'n', 27.70),
    FOUNDRY_FP8("3B", MPT_3B, 512, 40, 6, 'n', 30.25),
    FOUNDRY_FP8("1B", MPT_1B, 32768, 1, 4, 'n', 17.55),
    FOUNDRY_FP8("1B", MPT_1B, 8192, 2, 4, 'n', 20.71),
    FOUNDRY_FP8("1B", MPT_1B, 512, 56, 4, 'n', 29.06),
    FP8("5B, 24.07", GPT3_5B, 2048, 64, 1, 1, 1, 1, 4, 2048, 1, 736, TFLOPS),
    FP8("20B, 24.07", GPT3_20B, 2048, 64, 2, 1, 1, 1, 2, 256, 1, 750, TFLOPS),
    FP8("175B, 24.07", GPT3_175B, 2048, 128, 4, 8, 1, 6, 1, 256, 1, 782, TFLOPS),
    FP8("175B, 24.07", GPT3_175B, 2048, 512, 4, 8, 1, 6, 2, 2048, 1, 842, TFLOPS),
    FP8("175B, 24.12", GPT3_175B, 2048, 128, 4, 8, 1, 12, 1, 256, 1, 39.52, MFU),
    FP8("175B, 24.12", GPT3_175B, 2048, 2048, 4, 8, 1, 12, 1, 4096, 1, 37.30, MFU),
    FP8("L2 7B, 24.07", LLAMA2_7B, 4096, 8, 1, 1, 1, 1, 1, 128, 1, 776, TFLOPS),
    FP8("L2 13B, 24.07", LLAMA2_13B, 4096, 16, 1, 4, 1, 10, 1, 128, 1, 754, TFLOPS),
    FP8("L2 70B, 24.07", LLAMA2_70B, 4096, 64, 4, 4, 1, 20, 1, 128, 1, 759, TFLOPS),
    FP8("8B, 24.07", LLAMA3_8B, 8192, 8, 1, 1, 2, 1, 1, 128, 1, 697, TFLOPS),
    FP8("8B, 24.09", LLAMA3_8B, 8192, 8, 1, 1, 2, 1, 1, 128, 1, 39.63, MFU),
    FP8("8B, 24.09", LLAMA3_8B, 8192, 128, 1, 1, 2, 1, 1, 2048, 1, 39.02, MFU),
    FP8("8B, 25.09", LLAMA3_8B, 8192, 8, 1, 1, 1, 1, 1, 128, 3, 14079, TOKENS),
    FP8("70B, 24.07", LLAMA3_70B, 8192, 64, 4, 4, 2, 5, 1, 128, 1, 738, TFLOPS),
    FP8("70B, 24.09", LLAMA3_70B, 8192, 64, 4, 4, 2, 5, 1, 128, 1, 36.17, MFU),
    FP8("70B, 24.09", LLAMA3_70B, 8192, 2048, 4, 4, 2, 5, 1, 4096, 1, 34.96, MFU),
    FP8("70B, 25.09", LLAMA3_70B, 8192, 64, 4, 8, 1, 5, 1, 128, 1, 1619, TOKENS),
    FP8("405B, 24.09", LLAMA3_405B, 8192, 576, 8, 9, 2, 7, 1, 252, 1, 42.71, MFU),
    FP8("405B, 24.09", LLAMA3_405B, 8192, 2304, 8, 9, 2, 7, 1, 1008, 1, 38.87, MFU),
    FP8("405B, 25.09", LLAMA3_405B, 8192, 1024, 8, 8, 2, 8, 1, 512, 1, 302, TOKENS),
    FP8("N 8B, 24.07", NEMOTRON_8B, 4096, 64, 2, 1, 1, 1, 4, 256, 1, 653, TFLOPS),
    FP8("N 15B, 24.12", NEMOTRON_15B, 4096, 16, 4, 1, 1, 1, 4, 64, 1, 8035, TOKENS),
    FP8("N 22B, 24.07", NEMOTRON_22B, 4096, 64, 2, 4, 1, 10, 2, 256, 1, 554, TFLOPS),
    FP8("N 340B, 25", NEMOTRON_340B, 4096, 256, 8, 8, 1, 12, 1, 64, 1, 35.0, MFU),
    MIXTURE("Mixtral 8x7B", MIXTRAL_7B, 4096, 64, 1, 4, 1, 8, 8, 1, 256, 1, 'n', false, 468, TFLOPS, 1, false),
    MIXTURE("Mixtral 8x22B", MIXTRAL_22B, 4096, 128, 2, 8, 1, 8, 7, 1, 256, 1, 'n', false, 455, TFLOPS, 1, false),
    MIXTURE("Qwen3 235B", QWEN3_235B, 4096, 256, 2, 8, 1, 32, 4, 1, 2048, 1, 'n', false, 1663, TOKENS, 1, false),
    /* Three virtual stages were run, where the embedding and the loss are layers of the pipeline too: 94 + 2. */
    MIXTURE("Qwen3 235B", QWEN3_235B, 4096, 256, 2, 32, 1, 8, 2, 1, 2048, 1, 'n', false, 1354, TOKENS, 1, false),
    MIXTURE("Qwen3 235B", QWEN3_235B, 4096, 256, 4, 8, 1, 8, 4, 1, 2048, 1, 'n', false, 1130, TOKENS, 1, false),
    MIXTURE("Qwen3 235B", QWEN3_235B, 16384, 256, 4, 8, 1, 8, 4, 1, 256, 1, 'f', false, 295, CAUSAL, 1, false),
    MIXTURE("Qwen3 235B", QWEN3_235B, 32768, 256, 4, 8, 2, 8, 4, 1, 256, 1, 'f', false, 335, CAUSAL, 1, false),
    MIXTURE("Qwen3 235B", QWEN3_235B, 65536, 256, 4, 8, 4, 8, 4, 1, 256, 1, 'f', false, 368, CAUSAL, 1, false),
    MIXTURE("Qwen3 235B", QWEN3_235B, 131072, 256, 4, 8, 8, 8, 4, 1, 256, 1, 'f', false, 389, CAUSAL, 1, false),
    /* The same, not balanced: the load is fitted to these four. */
    MIXTURE("Qwen3 235B, 1.7", QWEN3_235B, 16384, 256, 4, 8, 1, 8, 4, 1, 256, 1, 'f', false, 237, CAUSAL, 1.7, false),
    MIXTURE("Qwen3 235B, 1.7", QWEN3_235B, 32768, 256, 4, 8, 2, 8, 4, 1, 256, 1, 'f', false, 277, CAUSAL, 1.7, false),
    MIXTURE("Qwen3 235B, 1.7", QWEN3_235B, 65536, 256, 4, 8, 4, 8, 4, 1, 256, 1, 'f', false, 320, CAUSAL, 1.7, false),
    MIXTURE("Qwen3 235B, 1.7", QWEN3_235B, 131072, 256, 4, 8, 8, 8, 4, 1, 256, 1, 'f', false, 357, CAUSAL, 1.7, false),
    MIXTURE("Qwen3 30B", QWEN3_30B, 4096, 8, 1, 1, 1, 8, 1, 4, 512, 1, 'n', false, 12040, TOKENS, 1, false),
    MIXTURE("DeepSeek-V3", DEEPSEEK_V3, 4096, 256, 1, 4, 1, 64, 8, 1, 512, 1, 'n', false, 1002, TOKENS, 1, false),
    MIXTURE("DeepSeek-V3", DEEPSEEK_V3, 4096, 1024, 1, 4, 1, 64, 8, 1, 8192, 1, 'n', false, 865, TOKENS, 1, true),
    MIXTURE("Kimi K2", KIMI_K2, 4096, 256, 1, 8, 1, 32, 4, 1, 512, 1, 'n', false, 924, TOKENS, 1, true),
    MIXTURE("Grok-1, 24", GROK_314B, 8192, 512, 4, 8, 2, 8, 8, 1, 1024, 1, 'n', false, 786, TOKENS, 1, false),
    MIXTURE("Grok-1, 24", GROK_314B, 8192, 2048, 4, 8, 2, 8, 8, 1, 4096, 1, 'n', false, 777, TOKENS, 1, false),
    MIXTURE("Grok-1, 25", GROK_314B, 8192, 512, 4, 8, 2, 8, 8, 1, 1024, 1, 'n', false, 1028, TOKENS, 1, false),
    MIXTURE("GPT-OSS 20B", GPT_OSS_20B, 4096, 8, 1, 1, 1, 8, 1, 2, 256, 1, 'n', false, 13058, TOKENS, 1, true),
    MIXTURE("GPT-OSS 120B", GPT_OSS_120B, 4096, 64, 1, 4, 1, 8, 1, 4, 512, 1, 'n', false, 5630, TOKENS, 1, true),
    MIXTURE("DeepSeek-V3", DEEPSEEK_V3, 4096, 1024, 2, 8, 1, 64, 4, 1, 8192, 1, 'n', true, 1297, TOKENS, 1, false),
    MIXTURE("Grok-1, 24", GROK_314B, 8192, 512, 4, 8, 2, 8, 8, 1, 1024, 1, 'n', true, 982, TOKENS, 1, true),
    MIXTURE("Grok-1, 25", GROK_314B, 8192, 512, 4, 8, 2, 8, 8, 1, 1024, 1, 'n', true, 1220, TOKENS, 1, false),
    MIXTURE("Qwen3 30B, 25.09", QWEN3_30B, 4096, 16, 1, 2, 1, 8, 24, 2, 512, 1, 'n', true, 10494, TOKENS, 1, true),
    MIXTURE("Qwen3 30B, 25.11", QWEN3_30B, 4096, 16, 1, 2, 1, 8, 24, 2, 512, 1, 'n', true, 5275, TOKENS, 1, true),
    MIXTURE("Qwen3 235B, 25.09", QWEN3_235B, 4096, 256, 2, 8, 1, 32, 4, 1, 2048, 1, 'n', true, 1204, TOKENS, 1, true),
    MIXTURE("Qwen3 235B, 25.11", QWEN3_235B, 4096, 256, 2, 8, 1, 32, 4, 1, 2048, 1, 'n', true, 1575, TOKENS, 1, true),
};
/* clang-format on */

uint32_t training_row_count(void)
{
    return sizeof rows / sizeof *rows;
}

static struct training_plan plan_of(const struct compact_row *row)
{
    const struct model_shape *model = &models[row->model];
    const double stages = row->pp > 1 ? fmax(1, round((double)model->layers / row->pp / 2)) : 1;
    return (struct training_plan){
        .tp = row->tp,
        .pp = row->pp,
        .cp = row->cp,
        .ep = row->ep,
        .dp = row->gpus / (row->tp * row->pp * row->cp),
        .layers = model->layers,
        .hidden = model->hidden,
        .heads = model->heads,
        .kv_heads = model->kv_heads,
        .head_size = model->head_size,
        .ffn = model->ffn,
        .is_gated = model->is_gated,
        .vocabulary = model->vocabulary,
        .experts = model->experts,
        .experts_per_token = model->experts_per_token,
        .shared_ffn = model->shared_ffn,
        .sequence = row->sequence,
        .batch = row->batch,
        .micro_batch = row->micro_batch,
        .virtual_stages = row->virtual_stages > 0 ? row->virtual_stages : (uint32_t)stages,
        .zero = row->zero,
        .has_reshard = true,
        .has_prefetch = true,
        .precision = row->is_fp8 ? TRAINING_FP8 : TRAINING_BF16,
        .recompute = row->recompute == 'f'   ? TRAINING_RECOMPUTE_FULL
                     : row->recompute == 's' ? TRAINING_RECOMPUTE_SELECTIVE
                                             : TRAINING_RECOMPUTE_NONE,
        .attention = row->attention == 'c' ? TRAINING_CUDNN : TRAINING_FLASH2,
        .expert_load = row->expert_load,
    };
}

static double tflops_of(const struct compact_row *row, const struct training_plan *plan)
{
    if (row->unit == MFU)
        return row->value / 100 * H100_TFLOPS * (row->is_fp8 ? 2 : 1);
    if (row->unit == TFLOPS)
        return row->value;
    const struct training_flops flops = training_plan_flops_by_part(plan);
    const double all = training_plan_flops(plan);
    if (row->unit == CAUSAL)
        return row->value * all / (all - flops.scores / 2);
    return row->value * all / ((double)plan->batch * plan->sequence) / 1e12;
}

struct training_row training_row_at(uint32_t index)
{
    assert(index < training_row_count());
    const struct compact_row *row = &rows[index];
    const struct training_plan plan = plan_of(row);
    return (struct training_row){.table = row->table,
                                 .name = row->name,
                                 .plan = plan,
                                 .tflops = tflops_of(row, &plan),
                                 .is_tested = !row->is_not_tested};
}

/* ---- what is validated ---- */

enum kind { DENSE, SHARDED_DENSE, MIXTURE_OF_EXPERTS, SHARDED_MIXTURE };
static const char *const kind_names[] = {"dense plans", "plans with zero 2 or 3", "mixtures of experts",
                                         "mixtures of experts with zero 2 or 3"};

static const char *const kind_names_by_precision[TRAINING_PRECISION_COUNT][4] = {
    [TRAINING_BF16] = {"dense plans in bf16", "plans with zero 2 or 3 in bf16", "mixtures of experts in bf16",
                       "mixtures of experts with zero 2 or 3 in bf16"},
    [TRAINING_FP8] = {"dense plans in fp8", "plans with zero 2 or 3 in fp8", "mixtures of experts in fp8",
                      "mixtures of experts with zero 2 or 3 in fp8"}};

static enum kind kind_of(const struct training_plan *plan)
{
    const bool is_sharded = plan->zero >= 2;
    if (plan->experts > 1)
        return is_sharded ? SHARDED_MIXTURE : MIXTURE_OF_EXPERTS;
    return is_sharded ? SHARDED_DENSE : DENSE;
}

double training_row_model_tflops(const struct training_row *row)
{
    const struct collective_system *system = collective_system_find(TEXT("h100"));
    const struct training_links links = training_links_packed(&row->plan, system, system->nic_bytes_per_s, 1);
    return training_time(&row->plan, &links, training_peak_tflops(system, row->plan.precision)).tflops_per_gpu;
}

static bool is_of(const struct training_row *row, const struct training_plan *plan)
{
    return row->is_tested && kind_of(&row->plan) == kind_of(plan) && row->plan.precision == plan->precision;
}

static const char *const axes[] = {"GPUs", "parameters", "sequence"};
enum { AXES = sizeof axes / sizeof *axes };

static void values_of(const struct training_plan *plan, uint64_t gpus, double values[static AXES])
{
    values[0] = (double)gpus;
    values[1] = training_plan_parameters(plan);
    values[2] = plan->sequence;
}

/* A kind that was measured in another precision alone is told by its precision. */
struct range training_range(const struct training_plan *plan, const struct collective_system *system)
{
    const enum kind kind = kind_of(plan);
    struct range range = {.what = kind_names[kind], .what_axis = "kind of plan", .axes = axes, .axis_count = AXES};
    double values[AXES];
    if (system->links != LINKS_NVLINK4_NODE) {
        range.what = system->name;
        range.what_axis = "system";
        return range;
    }
    if (!transport_is_same(system->transport, transports)) { /* all rows are of InfiniBand, most of several nodes */
        range.what = transport_known_name(system->transport);
        range.what_axis = "network";
        return range;
    }
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        if (!row.is_tested || kind_of(&row.plan) != kind)
            continue;
        values_of(&row.plan, training_plan_gpus(&row.plan), values);
        if (row.plan.precision == plan->precision)
            range_add(&range, values);
        range.what = kind_names_by_precision[plan->precision][kind];
        range.what_axis = "precision";
    }
    return range;
}

struct range_verdict training_range_test(const struct range *range, const struct training_plan *plan, uint32_t gpus,
                                         uint32_t domains)
{
    const uint32_t packed = (gpus - 1) / ROW_DOMAIN_GPUS + 1;
    double values[AXES];
    values_of(plan, gpus, values);
    const struct range_verdict verdict = range_test(range, values);
    if (domains <= packed)
        return verdict;
    return range_farther(verdict, (struct range_verdict){.reason = "domains",
                                                         .times = (double)domains / packed,
                                                         .axis = "domains",
                                                         .asked = domains,
                                                         .measured = packed});
}

struct range_verdict training_validated(const struct training_plan *plan, const struct collective_system *system)
{
    const struct range range = training_range(plan, system);
    return training_range_test(&range, plan, (uint32_t)training_plan_gpus(plan), 1);
}

/* ---- how far the model is off ---- */

static double error_of(const struct training_row *row)
{
    return training_row_model_tflops(row) / row->tflops - 1;
}

struct training_errors training_errors_of(const struct training_plan *plan)
{
    struct training_errors errors = {0};
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        if (!is_of(&row, plan))
            continue;
        const double error = error_of(&row);
        errors.least = errors.row_count == 0 ? error : fmin(errors.least, error);
        errors.most = errors.row_count == 0 ? error : fmax(errors.most, error);
        errors.row_count++;
    }
    return errors;
}

/* How far apart two plans are: the most factor on an axis.  Another precision or sharding counts as a tenfold. */
static double distance_of(const struct training_plan *a, const struct training_plan *b)
{
    double x[AXES], y[AXES], most = 1;
    values_of(a, training_plan_gpus(a), x);
    values_of(b, training_plan_gpus(b), y);
    for (int i = 0; i < AXES; i++)
        most = fmax(most, fmax(x[i] / y[i], y[i] / x[i]));
    return most * (a->precision != b->precision ? APART : 1) * (kind_of(a) != kind_of(b) ? APART : 1);
}

struct training_row training_row_nearest(const struct training_plan *plan)
{
    struct training_row nearest = {.name = NULL};
    double least = INFINITY;
    for (uint32_t i = 0; i < training_row_count(); i++) {
        const struct training_row row = training_row_at(i);
        const double distance = distance_of(plan, &row.plan);
        if ((row.plan.experts > 1) == (plan->experts > 1) && distance < least) {
            nearest = row;
            least = distance;
        }
    }
    assert(nearest.name != NULL);
    return nearest;
}

void training_rows_tell(const struct training_plan *plan, struct range_verdict verdict, const char *between,
                        struct buffer *out)
{
    const struct training_errors errors = training_errors_of(plan);
    buffer_format(out, "%u rows of %s in %s", errors.row_count, kind_names[kind_of(plan)],
                  training_precision_names[plan->precision]);
    if (errors.row_count > 0)
        buffer_format(out, ", where the model is off by %+.0f to %+.0f %%", 100 * errors.least, 100 * errors.most);
    if (range_is_inside(verdict))
        return;
    const struct training_row nearest = training_row_nearest(plan);
    buffer_string(out, between);
    range_tell(verdict, out);
    buffer_format(out, "%sthe nearest row: %s on %llu GPUs in %s, where the model is off by %+.0f %%%s", between,
                  nearest.name, (unsigned long long)training_plan_gpus(&nearest.plan),
                  training_precision_names[nearest.plan.precision], 100 * error_of(&nearest),
                  nearest.is_tested ? "" : " (not tested)");
}
