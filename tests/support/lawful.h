/* Asserts that a state keeps its laws; a failure names the broken law. */
#ifndef TESTS_SUPPORT_LAWFUL_H
#define TESTS_SUPPORT_LAWFUL_H

#include <stddef.h>

/* `check`: a call that returns the text of a broken law, or NULL (sched_check, ledger_check and similar ones);
 * evaluated once.  A failure prints the call, the law, and the file and line of the assertion.  Needs <cmocka.h>. */
#define assert_lawful(check)                                                                                           \
    do {                                                                                                               \
        const char *const broken_law = (check);                                                                        \
        if (broken_law != NULL)                                                                                        \
            fail_msg("%s: %s", #check, broken_law);                                                                    \
    } while (0)

#endif
