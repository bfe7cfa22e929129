/* sim/plugins/watch.h -- handles crashes and endless loops in the code of a plug-in.
 *
 * After a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) it names the plug-in on standard error and raises the signal
 * again.  If plug-ins and cycles use too much CPU time without the end of a scheduling cycle, it does the same
 * and ends the program with the status of a bad policy, because a loop in foreign code cannot be interrupted.  Neither
 * leaves a file under a final name (base/output.h).  A plug-in that waits without using the CPU is not detected.
 *
 * Law: no handler is installed while no plug-in is loaded.
 */
#ifndef SIM_PLUGINS_WATCH_H
#define SIM_PLUGINS_WATCH_H

enum { WATCH_DEFAULT_S = 60, WATCH_MAX_S = 86400 };

/* Install the watch before the first plug-in is loaded.  A later call only changes the allowed CPU time. */
void watch_begin(int cpu_s);

/* Restore the earlier handlers after the last plug-in was unloaded. */
void watch_end(void);

#endif
