/* sim/plugins/watch.h -- handles crashes and endless loops in the code of a plug-in.
 *
 * After a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) it names the plug-in on standard error and raises the signal
 * again.  If plug-ins and cycles use too much CPU time without the end of a scheduling cycle, it does the same
 * and ends the program with the status of a bad policy, because a loop in foreign code cannot be interrupted.  Neither
 * leaves a file under a final name (base/output.h).  A plug-in that waits without using the CPU is not detected.
 *
 * The end of the program is watched, too: it once looked like success when a plug-in called exit(0), and the record of
 * an earlier run was then taken for the one of this run.  While a plug-in is loaded, exit() names it and the status is
 * that of an internal error, unless main() has said with watch_end that the verb is done.  _exit, _Exit and
 * quick_exit, called by a plug-in, lead here, since the program defines these functions.  Not noticed is a plug-in that
 * enters the kernel itself (SYS_exit_group); SIGKILL is no success for the caller.
 *
 * Laws
 *  - No handler is installed while no plug-in is loaded.
 *  - A run that did not say that it is done has failed (tests/cli/plugin_ends.sh).
 */
#ifndef SIM_PLUGINS_WATCH_H
#define SIM_PLUGINS_WATCH_H

enum { WATCH_DEFAULT_S = 60, WATCH_MAX_S = 86400 };

/* Install the watch before the first plug-in is loaded.  A later call only changes the allowed CPU time. */
void watch_begin(int cpu_s);

/* Restore the earlier handlers after the last plug-in was unloaded, or when the program is about to end as it should.
 * */
void watch_end(void);

#endif
