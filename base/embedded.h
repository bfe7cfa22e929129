/* base/embedded.h -- texts of files of the project, built into the program by tools/embed. */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded_text {
    const char *name; /* of the file, without folder and ending */
    const char *text;
    size_t length;
};

#endif
