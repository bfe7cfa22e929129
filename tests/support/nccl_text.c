#include "tests/support/nccl_text.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static const char *const programs[] = {"all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf"};

void nccl_text_run(struct buffer *out, const struct nccl_text *text)
{
    struct collective_place place =
        collective_place_even(text->system, text->hosts, text->gpus, text->system->nic_bytes_per_s);
    buffer_format(out,
                  "# Collective test starting: %s\n# nThread 1 nGpus 1 minBytes %.0f maxBytes %.0f\n#\n"
                  "# Using devices\n",
                  programs[text->kind], text->bytes_low, text->bytes_high);
    for (uint32_t r = 0; r < place.gpu_count; r++)
        buffer_format(out, "#  Rank %2u Group  0 Pid %6u on node-%u device %2u [0000:04:00] NVIDIA H100 80GB HBM3\n", r,
                      1000 + r, r / text->gpus, r % text->gpus);
    buffer_string(out, "#\n#                                  out-of-place               in-place\n"
                       "#       size         count      type   redop    root     time   algbw   busbw #wrong     time"
                       "   algbw   busbw #wrong\n"
                       "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)"
                       "  (GB/s)  (GB/s)\n");
    for (double bytes = text->bytes_low; bytes <= text->bytes_high; bytes *= 2) {
        double us = collective_time(text->kind, &place, bytes).s * 1e6;
        if (text->random != NULL)
            us *= exp(text->noise * gsl_ran_gaussian(random_gsl(text->random), 1));
        const double gb_per_s = bytes / us / 1e3, bus = gb_per_s * collective_bus_factor(text->kind, place.gpu_count);
        buffer_format(out, "%12.0f  %12.0f     float     sum      -1  %7.*f  %6.2f  %6.2f      0", bytes, bytes / 4,
                      us < 10000 ? (int)fmin(2, fmax(0, 3 - floor(log10(us)))) : 0, us, gb_per_s, bus);
        buffer_format(out, "  %7.1f  %6.2f  %6.2f    N/A\n", us * 1.1, gb_per_s / 1.1, bus / 1.1);
    }
    buffer_string(out, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 100\n#\n");
}
