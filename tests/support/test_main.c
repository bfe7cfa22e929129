/* In a file of its own, so that a program with a main of its own does not get this one too. */
#include "tests/support/test.h"

int main(void)
{
    return test_run();
}
