/* tools/installed.h -- the scenarios, clusters and sample traces that come with the program, found by name.
 *
 * Words: the data folder of a program in PREFIX/bin is PREFIX/share/windtunnel; that of a program in build/VARIANT of
 * the source tree is the tree.  It holds scenarios/ (and scenarios/sweeps/), topologies/, workloads/samples/ and
 * workloads/models/.
 *
 * Law: a file that exists under the typed name is always taken.  Otherwise a relative name is searched in the data
 * folder (scenarios/h100-500x8.json), and a name without '/' also in one of its folders, with or without .json added
 * (h100-500x8).
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
