/* tests/support/in_child.h -- what would happen, found out in a copy of the process (fork).
 *
 * The copy may change whatever it wants; this process stays as it is.  Fails the test if the copy crashes.
 */
#ifndef TESTS_SUPPORT_IN_CHILD_H
#define TESTS_SUPPORT_IN_CHILD_H

#include <stddef.h>

/* Call run(self, result) in a copy of this process; what it wrote to the `bytes` of its result, zeroed before, is
 * copied to *result here. */
void in_child(void (*run)(void *self, void *result), void *self, void *result, size_t bytes);

#endif
