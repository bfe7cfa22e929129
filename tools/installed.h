/* tools/installed.h -- the scenarios, clusters and sample traces that come with the program, found by name.
 *
 * Words: the data folder is PREFIX/share/windtunnel of a program in PREFIX/bin; of one that stands in build/VARIANT of
 * the source tree it is that tree.  It holds scenarios/, topologies/ and workloads/samples/.
 *
 * Law: a file that is there under the name as typed is always taken.  Only else, and only for a relative name, the
 * data folder is looked in: for the name itself (scenarios/h100-500x8.json), and for a name without '/' also in one of
 * its folders, with .json added or not (h100-500x8).
 *
 *   options.path = installed_find(args_operand(args, 0), "scenarios");
 */
#ifndef TOOLS_INSTALLED_H
#define TOOLS_INSTALLED_H

/* The path to open for `name` (NULL: NULL), looked for in this folder of the data folder too; `name` itself if there
 * is no such file.  What is returned lives as long as the program. */
const char *installed_find(const char *name, const char *folder);

/* The data folder, and the folder of the documents; NULL: none is there. */
const char *installed_data(void);
const char *installed_docs(void);

#endif
