/* workloads/readers/job_pack.h -- a job as a few bytes, with all that it points to, so that many can wait elsewhere
 * than where they were read.
 *
 *   struct buffer bytes = {0};
 *   job_pack(&job, &truth, &bytes);                          about 100 bytes
 *   job_unpack(bytes.bytes, &arena, &job, &truth);           later; the first job may be gone by then
 *
 * Laws
 *  - What is unpacked equals what was packed.  What it points to lives in the arena, except for its constraints on
 *    nodes, its communication and its failed attempts, which their owner keeps.
 *  - The length is a multiple of 8; the bytes are read from any place in memory.
 */
#ifndef WORKLOADS_READERS_JOB_PACK_H
#define WORKLOADS_READERS_JOB_PACK_H

#include "base/buffer.h"
#include "base/mem.h"
#include "workloads/job.h"
#include "workloads/job_truth.h"

/* Append the job. */
void job_pack(const struct job *job, const struct job_truth *truth, struct buffer *out);
void job_unpack(const char *bytes, struct arena *arena, struct job *job, struct job_truth *truth);

#endif
