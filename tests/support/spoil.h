/* tests/support/spoil.h -- do the books' checks tell?  One word of a scheduler is made wrong by one, another hash of
 * the ledger and a complaint of sched_check must be the answer, and it is put back.
 *
 *   spoil_books(sched, &stream);        where all laws hold; draws what is spoilt
 *
 * It covers every word that can be spoilt without an index leaving its array.  Fails the test with the name of the word
 * if no check finds it.
 */
#ifndef TESTS_SUPPORT_SPOIL_H
#define TESTS_SUPPORT_SPOIL_H

#include "base/random.h"
#include "policies/sched.h"

void spoil_books(struct sched *sched, struct random_stream *stream);

#endif
