#!/bin/sh
# Law: a run that did not say that it is done has failed.  A plug-in that ends the program, in whatever way and
# whenever, is named, the exit status is 5, nothing is printed as a result, and no record is written or touched.
set -u
. tests/support/cli.sh

if ! pkg-config --exists jansson; then
    echo 'skipped: no pkg-config, or no jansson'
    exit 77
fi
umask 022

# A placement that ends the program at `when` by `how`.
make_plugin() { # when, how
    cat >"ends.c" <<END
#include "policies/plugin.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void quit(void) { _exit(0); }
static void end(void) { $2; }
#ifdef AT_LOAD
__attribute__((constructor)) static void loaded(void) { end(); }
#endif
#ifdef AT_UNLOAD
__attribute__((destructor)) static void unloaded(void) { end(); }
#endif
static int64_t score(const struct spot *spot)
{
#ifdef AT_HOOK
    end();
#endif
    return spot->node_free;
}
static const struct placement_policy policy = {
    .name = "ends", .version = 1, .summary = "ends the program", .score = score};
const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(PLACEMENT),
    .name = "test", .version = "1", .policy = &policy};
END
    # shellcheck disable=SC2046 # a list of flags
    "${CC:-cc}" -std=gnu11 -w -O1 -D"AT_$1" -I"$repository" $(pkg-config --cflags jansson) -fPIC -shared -pthread \
        -o ends.so ends.c || fail "the plug-in does not compile: $1 $2"
}

make_record old
tries=0
for when in LOAD HOOK; do
    for how in 'exit(0)' '_exit(0)' '_Exit(0)' 'quick_exit(0)' 'exit(10)' 'atexit(quit), exit(0)'; do
        make_plugin $when "$how"
        for verb in 'run small.json --out old' 'run small.json --out new --events' 'validate small.json' \
            'compare --scenario small.json --side a --side b --seeds 1'; do
            # shellcheck disable=SC2086 # a list of words
            windtunnel $verb --plugin ends.so --set policy.placement=ends
            tries=$((tries + 1))
            case "$when $verb" in
            *compare*) [ "$status" -ne 0 ] && [ "$status" -ne 10 ] || fail "$when $how: $verb: status $status" ;;
            *)
                [ "$status" -eq 5 ] || fail "$when $how: $verb: status $status: $(cat said.err)"
                says said.err '^error: plug-in .*ends.so.* ended the program '
                says said.err '^  no output was written$'
                [ ! -s said.out ] || fail "$when $how: $verb: a result was printed: $(cat said.out)"
                ;;
            esac
            record_is_untouched old "$when $how: $verb"
            [ -z "$(find new -type f 2>/dev/null)" ] || fail "$when $how: $verb: files were left"
        done
    done
done
# When it is unloaded, the record is whole, and the status says that something is wrong all the same.
make_plugin UNLOAD 'exit(0)'
windtunnel run small.json --plugin ends.so --set policy.placement=ends --out whole
[ "$status" -eq 5 ] || fail "at its unloading: status $status: $(cat said.err)"
# A plug-in that does nothing of this is not blamed.
make_plugin NEVER 'exit(0)'
windtunnel run small.json --plugin ends.so --set policy.placement=ends --out whole
[ "$status" -eq 0 ] || fail "a good plug-in: $(cat said.err)"
echo "note: $tries commands with a plug-in that ends the program"
finish
