/* topologies/gpu_model.c -- the table of GPU models.
 *
 * Memory is the board's nominal size with 1 GB counted as 1024 MiB, so that what a user calls an
 * 80 GB GPU holds a request for 80 GB.  Data sheets give NVLink in both directions together and
 * tensor rates with sparsity; here stand one direction and the dense rate.
 */
#include "topologies/gpu_model.h"

#include "base/text.h"

/* A name without a memory size ("a100", "v100") is no alias if there are two sizes. */
#define ALIASES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define GB_IN_MIB    1024u

static const struct gpu_model models[] = {
    {
        .name = "generic",
        .memory_mib = 80 * GB_IN_MIB,
        .source = "a stand-in without a vendor: 80 GB, nothing else known",
    },
    {
        .name = "h100-80gb",
        .aliases = ALIASES("h100", "h100-80", "h100-sxm5-80gb", "H100 SXM5 80GB", "NVIDIA H100 80GB HBM3",
                           "nvidia-h100-80gb-hbm3"),
        .memory_mib = 80 * GB_IN_MIB,
        .sm_count = 132,               /* nvidia-smi mig -lgip, profile 7g.80gb */
        .power_w = 700,                /* NVIDIA H100 data sheet, SXM */
        .bf16_tflops = 989.4,          /* NVIDIA H100 architecture white paper, dense */
        .memory_bytes_per_s = 3.35e12, /* NVIDIA H100 data sheet, SXM */
        .nvlink_bytes_per_s = 450e9,   /* NVIDIA H100 data sheet: 900 GB/s both ways */
        .mig = MIG_H100_80,
        .source = "NVIDIA H100 data sheet (SXM)",
    },
    {
        .name = "h200-141gb",
        .aliases = ALIASES("h200", "h200-141", "h200-sxm-141gb", "NVIDIA H200"),
        .memory_mib = 141 * GB_IN_MIB,
        .sm_count = 132,              /* assumed: the die of the H100; the data sheet does not give it */
        .power_w = 700,               /* NVIDIA H200 data sheet, SXM */
        .bf16_tflops = 989.4,         /* NVIDIA H200 data sheet: 1,979 with sparsity, as the H100 */
        .memory_bytes_per_s = 4.8e12, /* NVIDIA H200 data sheet */
        .nvlink_bytes_per_s = 450e9,  /* NVIDIA H200 data sheet: 900 GB/s both ways */
        .mig = MIG_H200_141,
        .source = "NVIDIA H200 data sheet (SXM)",
    },
    {
        .name = "a100-40gb",
        .aliases = ALIASES("a100-40", "a100-sxm4-40gb", "A100 SXM4 40GB", "NVIDIA A100-SXM4-40GB"),
        .memory_mib = 40 * GB_IN_MIB,
        .sm_count = 108,                /* NVIDIA A100 architecture white paper */
        .power_w = 400,                 /* NVIDIA A100 data sheet, SXM */
        .bf16_tflops = 312,             /* NVIDIA A100 data sheet, dense */
        .memory_bytes_per_s = 1.555e12, /* NVIDIA A100 data sheet, 40 GB */
        .nvlink_bytes_per_s = 300e9,    /* NVIDIA A100 data sheet: 600 GB/s both ways */
        .mig = MIG_A100_40,
        .source = "NVIDIA A100 data sheet (SXM, 40 GB)",
    },
    {
        .name = "a100-80gb",
        .aliases = ALIASES("a100-80", "a100-sxm4-80gb", "A100 SXM4 80GB", "NVIDIA A100-SXM4-80GB"),
        .memory_mib = 80 * GB_IN_MIB,
        .sm_count = 108,                /* NVIDIA A100 architecture white paper */
        .power_w = 400,                 /* NVIDIA A100 data sheet, SXM */
        .bf16_tflops = 312,             /* NVIDIA A100 data sheet, dense */
        .memory_bytes_per_s = 2.039e12, /* NVIDIA A100 data sheet, 80 GB SXM */
        .nvlink_bytes_per_s = 300e9,    /* NVIDIA A100 data sheet: 600 GB/s both ways */
        .mig = MIG_A100_80,
        .source = "NVIDIA A100 data sheet (SXM, 80 GB)",
    },
    {
        .name = "b200-180gb",
        .aliases = ALIASES("b200", "b200-180", "NVIDIA B200"),
        .memory_mib = 180 * GB_IN_MIB, /* NVIDIA DGX B200 data sheet: 1,440 GB in 8 GPUs */
        .sm_count = 148,               /* secondary sources; the data sheet does not give it */
        .power_w = 1000,               /* NVIDIA HGX B200 data sheet, SXM */
        .bf16_tflops = 2250,           /* NVIDIA HGX B200 data sheet: 36 PFLOPS sparse in 8 GPUs */
        .memory_bytes_per_s = 8e12,    /* NVIDIA DGX B200 data sheet: 64 TB/s in 8 GPUs */
        .nvlink_bytes_per_s = 900e9,   /* NVIDIA DGX B200 data sheet: 14.4 TB/s both ways in 8 */
        .mig = MIG_B200_180,
        .source = "NVIDIA DGX B200 and HGX B200 data sheets",
    },
    {
        .name = "v100-16gb",
        .aliases = ALIASES("v100-16", "V100M16", "Tesla V100-SXM2-16GB"),
        .memory_mib = 16 * GB_IN_MIB,
        .sm_count = 80,              /* NVIDIA V100 architecture white paper */
        .power_w = 300,              /* NVIDIA V100 data sheet, SXM2 */
        .memory_bytes_per_s = 900e9, /* NVIDIA V100 data sheet */
        .nvlink_bytes_per_s = 150e9, /* NVIDIA V100 data sheet: 300 GB/s both ways */
        .source = "NVIDIA V100 data sheet (SXM2, 16 GB)",
    },
    {
        .name = "v100-32gb",
        .aliases = ALIASES("v100-32", "V100M32", "Tesla V100-SXM2-32GB"),
        .memory_mib = 32 * GB_IN_MIB,
        .sm_count = 80,              /* NVIDIA V100 architecture white paper */
        .power_w = 300,              /* NVIDIA V100 data sheet, SXM2 */
        .memory_bytes_per_s = 900e9, /* NVIDIA V100 data sheet */
        .nvlink_bytes_per_s = 150e9, /* NVIDIA V100 data sheet: 300 GB/s both ways */
        .source = "NVIDIA V100 data sheet (SXM2, 32 GB)",
    },
    {
        .name = "t4-16gb",
        .aliases = ALIASES("t4", "t4-16", "Tesla T4", "NVIDIA T4"),
        .memory_mib = 16 * GB_IN_MIB,
        .sm_count = 40,              /* NVIDIA Turing architecture white paper */
        .power_w = 70,               /* NVIDIA T4 data sheet */
        .memory_bytes_per_s = 300e9, /* NVIDIA T4 data sheet */
        .source = "NVIDIA T4 data sheet",
    },
    {
        .name = "p100-16gb",
        .aliases = ALIASES("p100", "p100-16", "Tesla P100-PCIE-16GB"),
        .memory_mib = 16 * GB_IN_MIB,
        .sm_count = 56,              /* NVIDIA Pascal architecture white paper */
        .power_w = 250,              /* NVIDIA P100 data sheet, PCIe */
        .memory_bytes_per_s = 732e9, /* NVIDIA P100 data sheet, PCIe 16 GB */
        .source = "NVIDIA P100 data sheet (PCIe, 16 GB)",
    },
    {
        .name = "a10-24gb",
        .aliases = ALIASES("a10", "a10-24", "NVIDIA A10"),
        .memory_mib = 24 * GB_IN_MIB,
        .sm_count = 72,              /* NVIDIA A10 product brief: 9,216 CUDA cores, 128 per SM */
        .power_w = 150,              /* NVIDIA A10 data sheet */
        .bf16_tflops = 125,          /* NVIDIA A10 data sheet, dense */
        .memory_bytes_per_s = 600e9, /* NVIDIA A10 data sheet */
        .source = "NVIDIA A10 data sheet",
    },
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool equal_ignoring_case(struct text a, const char *b)
{
    for (size_t i = 0; i < a.length; i++)
        if (lower(a.at[i]) != lower(b[i])) /* the NUL of b differs from any byte of a name */
            return false;
    return b[a.length] == '\0';
}

bool gpu_model_is(const struct gpu_model *model, struct text name)
{
    if (equal_ignoring_case(name, model->name))
        return true;
    for (const char *const *alias = model->aliases; alias != NULL && *alias != NULL; alias++)
        if (equal_ignoring_case(name, *alias))
            return true;
    return false;
}

const struct gpu_model *gpu_model_table(uint32_t *count)
{
    *count = sizeof models / sizeof *models;
    return models;
}

const struct gpu_model *gpu_model_find(struct text name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (gpu_model_is(&models[i], name))
            return &models[i];
    return NULL;
}
