/* sim/plugins/watch.h -- what happens when the code of a plug-in crashes, or does not come back.
 *
 * A crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) says on standard error whose code ran, and the signal is raised
 * again. Too much CPU time in plug-ins and cycles without a cycle of the scheduler coming to its end is told likewise
 * and ends the program with the status of a bad policy; there is no way back out of a foreign loop.  Neither leaves a
 * file under a final name (base/output.h).  What a plug-in waits for without using the CPU is not noticed.
 *
 * Law: nothing is installed while no plug-in is loaded.
 */
#ifndef SIM_PLUGINS_WATCH_H
#define SIM_PLUGINS_WATCH_H

enum { WATCH_DEFAULT_S = 60, WATCH_MAX_S = 86400 };

/* Before the first plug-in is loaded: install; a later call changes the allowed CPU time. */
void watch_begin(int cpu_s);

/* After the last is gone: what was installed before is so again. */
void watch_end(void);

#endif
