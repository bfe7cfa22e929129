/* tests/support/nccl_text.h -- text in the form of nccl-tests, made from the model.
 *
 *   nccl_text_run(&out, &(struct nccl_text){.kind = COLLECTIVE_ALL_REDUCE, .hosts = 4, .gpus = 8, ...});
 *
 * Law: the rows are times of collective_time to four digits, each times exp(noise x a standard normal). */
#ifndef TESTS_SUPPORT_NCCL_TEXT_H
#define TESTS_SUPPORT_NCCL_TEXT_H

#include "base/buffer.h"
#include "base/random.h"
#include "topologies/collective.h"

struct nccl_text {
    enum collective_kind kind; /* not point to point */
    uint32_t hosts, gpus;      /* gpus: of each host, at most those of a domain, which is one host */
    const struct collective_system *system;
    double bytes_low, bytes_high; /* each size is twice the one before */
    double noise;
    struct random_stream *random; /* NULL: no noise */
};

/* Append one run. */
void nccl_text_run(struct buffer *out, const struct nccl_text *text);

#endif
