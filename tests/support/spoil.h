/* tests/support/spoil.h -- do the checks of the books find errors?  One word of a scheduler is changed by one.  Then
 * the hash must change and sched_check must complain (for some words only one of both).  The word is restored.
 *
 *   spoil_books(sched, &stream);        where all laws hold; the stream draws the word
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
