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

/* The path to open for `name` (NULL: NULL): the name itself if the file exists, else a file of that name in the data
 * folder or in this folder of it; `name` if there is none.  The text lives as long as the program. */
const char *installed_find(const char *name, const char *folder);

/* The data folder, and the folder of the documents; NULL: it does not exist. */
const char *installed_data(void);
const char *installed_docs(void);

#endif
