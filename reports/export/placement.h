/* reports/export/placement.h -- the placement of an attempt, node by node.
 *
 * The record has it as "n[0-7]:0-7 n9:2@142" (sim/record/record.h): runs of nodes whose names count up, GPU indices,
 * and behind '@' the milli-GPUs of each of them if it is a share.
 *
 *   struct placement_reader reader;
 *   placement_begin(&reader, row.placement, row.gpu_milli > 0);
 *   struct placement_piece piece;
 *   while (placement_next(&reader, &piece))
 *       use(piece.node, piece.gpu_mask);
 *   if (reader.is_bad) ...
 *   placement_release(&reader);
 *
 * It does not: know a node whose name holds a blank.
 */
#ifndef REPORTS_EXPORT_PLACEMENT_H
#define REPORTS_EXPORT_PLACEMENT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/text.h"
#include "sim/record/record.h"

struct placement_piece {
    const char *node;  /* borrowed until the next call */
    uint16_t gpu_mask; /* indices on the node; 0: no GPU */
    int32_t gpu_milli; /* of each of these GPUs */
    struct text gpus;  /* "0-3,6", as in the text; "" without GPUs */
};

struct placement_reader {
    struct text rest; /* not yet read */
    bool has_gpus;
    bool is_bad; /* the text is no placement; nothing more is read */
    /* the run of nodes that is being read */
    struct placement_piece piece;
    struct text prefix;
    int64_t number, last; /* last < number: the run is over */
    bool is_run;          /* the nodes are prefix + number; else the node is prefix */
    struct buffer node;
};

/* text: borrowed.  has_gpus: the attempt holds GPUs. */
void placement_begin(struct placement_reader *reader, const char *text, bool has_gpus);
bool placement_next(struct placement_reader *reader, struct placement_piece *out);
void placement_release(struct placement_reader *reader);

/* ERROR_DATA: the placement of this attempt cannot be read. */
struct error placement_error(const struct attempt_row *row) MUST_CHECK;

#endif
