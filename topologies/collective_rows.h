/* topologies/collective_rows.h -- collectives that were measured, and the range in which the model meets them.
 *
 * Words.  A row is one published measurement of a bus bandwidth.  A table is rows of one source.  A table with a
 * tolerance is tested: the model is within that of each of its rows (windtunnel validate-model).  A place is validated
 * if it is inside the range (topologies/range.h) of the tested rows of its kind of collective, over the same links
 * (enum collective_links), and as it in one domain, in two, or in more, where the library takes other algorithms.
 * Rows of several domains count for their own transport alone (topologies/transport.h).
 *
 * Law: validate-model prints the same rows that the validated range is computed from.  So every tested row lies inside
 * the range.
 * Test: tests/unit/test_collective_rows.c.
 *
 *   struct range_verdict verdict = collective_validated(COLLECTIVE_ALL_REDUCE, &place, 1e9);
 *   if (!range_is_inside(verdict)) ...        not validated here: verdict.reason, verdict.times
 *
 * It does not: know rates of a network.  The rows are of a transport's own NICs without oversubscription; where a GPU
 * has less, the law is the same, but that was not measured.
 */
#ifndef TOPOLOGIES_COLLECTIVE_ROWS_H
#define TOPOLOGIES_COLLECTIVE_ROWS_H

#include <stddef.h>

#include "topologies/collective.h"
#include "topologies/range.h"

struct collective_row {
    const char *system;
    enum collective_kind kind;
    uint32_t domains, gpus; /* gpus: of each domain */
    bool has_nvls;
    double bytes;
    double gb_per_s; /* measured bus bandwidth */
};

struct collective_table {
    const char *title, *source;
    double tolerance;                    /* of the error; 0: not tested */
    enum collective_algorithm algorithm; /* that was forced; COLLECTIVE_NOTHING: the library chose it */
    const char *transport;               /* of the table of transports; NULL: InfiniBand NDR */
    const struct collective_row *rows;
    size_t count;
};

const struct collective_table *collective_tables(uint32_t *count);

/* The machines and the network of a row. */
struct collective_system collective_row_system(const struct collective_table *table, const struct collective_row *row);

/* Where the members of a row stood.  system: borrowed. */
struct collective_place collective_row_place(const struct collective_row *row, const struct collective_system *system);

/* Seconds of a row by the model, by the algorithm of its table. */
double collective_row_s(const struct collective_table *table, const struct collective_row *row);

/* Was a collective like this one measured, and met?  bytes: not negative; 0, or one GPU: inside.  O(rows), pure. */
struct range_verdict collective_validated(enum collective_kind kind, const struct collective_place *place,
                                          double bytes);

/* What the rows enclose of that kind of collective over such links and domains.  place: of several GPUs.  O(rows). */
struct range collective_range(enum collective_kind kind, const struct collective_place *place);

/* collective_validated, with the range of its kind and place.  O(1). */
struct range_verdict collective_range_test(const struct range *range, const struct collective_place *place,
                                           double bytes);

/* Places of the same class, links and transport have one range. */
enum { COLLECTIVE_PLACE_CLASSES = 4 };
uint32_t collective_place_class(const struct collective_place *place); /* below COLLECTIVE_PLACE_CLASSES */

#endif
