#!/bin/sh
# compare --rerun-base: the base run by another windtunnel.  By this one it gives the same to the last bit, with every
# option of the side; another version is told and warned of; a program that fails is told with its side, seed and words.
set -u
. tests/support/cli.sh
umask 022

mkdir tmp
TMPDIR=$PWD/tmp
export TMPDIR
cat >mix.json <<'END'
{"cluster": "four.json",
 "workload": {"synth": {"duration": "1d", "load_whole_gpu": 0.9, "classes": [
   {"name": "jobs", "class": "training", "share": 1, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 3, "gpus": 1}, {"weight": 1, "gpus": 8, "nodes": 1}],
    "run_time": {"distribution": "lognormal", "median": "20m", "sigma": 1}}]}},
 "policy": {"preset": "fifo"},
 "world": {"end": "1d"}}
END

compare() { # expected status, arguments
    expected=$1
    shift
    windtunnel compare --jobs 2 --no-why "$@"
    [ "$status" -eq "$expected" ] || fail "compare $*: status $status, not $expected: $(cat said.err said.out)"
    [ -z "$(ls -A tmp)" ] || fail "compare $*: left $(find tmp)"
}
wrapper() { # name; commands that come before the program is called with the same arguments
    printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$2" "$program" >"$1"
    chmod 755 "$1"
}

# ---- This program as PROGRAM: the same values, fingerprints and arrivals. ----

same() { # arguments of both comparisons
    compare 0 "$@" --seeds 3 --write json=here.json
    is_silent said.err "$*"
    compare 0 "$@" --seeds 3 --write json=there.json --rerun-base "$program"
    is_silent said.err "$* --rerun-base"
    python3 - "$program" <<'END' || fail "another result: $*"
import json, sys
here, there = json.load(open('here.json')), json.load(open('there.json'))
path, version = sys.argv[1], there['version']
if there['sides'][0].pop('program') != {'path': path, 'version': version}:
    raise SystemExit('another program')
if len(here['metrics']) < 60 or all(r['state'] != 'done' for r in here['sides'][0]['runs']):
    raise SystemExit('nothing was compared')
for name in here:
    if here[name] != there[name]:
        raise SystemExit('%s differs' % name)
END
}

same --scenario mix.json -p fifo -p windtunnel
says said.out "^2 sides, 3 seeds (1 to 3); the base is fifo, run by windtunnel [0-9.]*\$"
says said.out "^($program)\$"
# A caller that ignores SIGCHLD would have the kernel drop the ends of processes.
env --ignore-signal=CHLD "$program" compare --scenario mix.json -p fifo -p windtunnel --seeds 1 --no-why --quiet \
    --rerun-base "$program" >said.out 2>said.err || fail "a caller ignores SIGCHLD: $(cat said.err)"
same --scenario mix.json --side a:world.scheduler_period_s=90 --side b --set workload.synth.load_whole_gpu=1.1 --seed 7
"$program" policy show windtunnel >mine.json || fail 'no policy'
sed 's/four/five/; s/"nodes": 4/"nodes": 5/' four.json >five.json
same --scenario small.json -p ./mine.json -p fifo --trace small.csv --cluster five.json --shake 5m,0.2
same ./mix.json other=mix.json
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 2 --rerun-base "$program" --format markdown
says said.out "^2 sides, 2 seeds (1 to 2); the base is fifo, run by windtunnel [0-9.]* ("
# Of one run a name in PATH will do, and a baseline can be kept.
wrapper older ''
PATH=$PWD:$PATH compare 0 --scenario mix.json -p fifo --seeds 2 --rerun-base older --save-baseline base.json
compare 0 --scenario mix.json -p fifo --baseline base.json --seeds 2
is_silent said.err 'against the baseline'

# ---- All that the side has is passed on. ----

wrapper logs "for word in \"\$@\"; do printf '%s\\n' \"\$word\"; done >>$PWD/words"
compare 0 --scenario small.json -p fifo -p windtunnel --trace small.csv --cluster five.json --seeds 1 --seed 5 \
    --set 'world.end=2d' --set 'title=a "b" c' --plugin-timeout 7 --rerun-base ./logs
sed "s|^--out=$TMPDIR/windtunnel-rerun-[^/]*/|--out=|" words >words.now
diff -u - words.now <<'END' || fail 'other words'
--version
run
--quiet
--out=5
--seed=5
--trace=small.csv
--cluster=five.json
--policy=fifo
--set=world.end=2d
--set=title=a "b" c
--plugin-timeout=7
--
small.json
END

if pkg-config --exists jansson; then
    cat >mine.c <<'END'
#include "policies/plugin.h"
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{
    (void)c;
    return UINT64_MAX - (uint64_t)v->submit;
}
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};
const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(ORDER), .name = "test", .version = "1",
                                                    .policy = &policy};
END
    # shellcheck disable=SC2046 # a list of flags
    "${CC:-cc}" -std=gnu11 -w -O1 -I"$repository" $(pkg-config --cflags jansson) -fPIC -shared -o mine.so mine.c ||
        fail 'mine.c does not compile'
    same --scenario mix.json --plugin mine.so --side 'last:policy.order=["mine"]' --side first
fi

# ---- Another version. ----

# It makes the record, then writes another version into it, as it would stand there.
cat >old <<END
#!/bin/sh
if [ "\$1" = --version ]; then
    echo 'windtunnel 0.0.9'
    exit
fi
"$program" "\$@" || exit
for word in "\$@"; do
    case \$word in
    --out=*) sed -i 's/"version": "[^"]*"/"version": "0.0.9"/' "\${word#--out=}/result.json" ;;
    esac
done
END
chmod 755 old
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 2 --rerun-base ./old --write json=c.json
says said.out '; the base is fifo, run by windtunnel 0\.0\.9 (\./old)$'
says said.err "^warning: 'fifo' was made by version 0\.0\.9, and this is [0-9.]*: a difference may be the program's$"
says c.json '"program": {"path": "./old", "version": "0.0.9"}'
"$program" compare --scenario mix.json -p fifo -p windtunnel --seeds 2 --rerun-base ./old >said.out 2>&1
says said.out '^ *first decision that differs: not known; fifo: another program makes its runs$'
# A baseline that it made says so too.
compare 0 --scenario mix.json -p fifo --seeds 2 --rerun-base ./old --save-baseline base.json
compare 0 --scenario mix.json -p fifo --seeds 2 --baseline base.json
says said.err "^warning: 'baseline' was made by version 0\.0\.9, and this is "

# ---- A program that fails. ----

# In the runs of one seed: an option that it does not know.
wrapper refuses "case \"\$*\" in *--seed=2*)
    echo \"error: unknown option '--plugin-timeout'\" >&2
    echo \"  'run --help' lists the options\" >&2
    exit 2 ;;
esac"
compare 11 --scenario mix.json -p fifo -p windtunnel --seeds 3 --plugin-timeout 9 --rerun-base ./refuses
cat >expected.err <<'END'
error: the run of 'fifo' with seed 2 failed: './refuses' ended with exit status 2: unknown option '--plugin-timeout'
  | error: unknown option '--plugin-timeout'
  |   'run --help' lists the options
END
diff -u expected.err said.err || fail 'another message'
says said.out '^windtunnel against fifo (2 pairs)$'
says said.out '^Verdict: no gates; incomplete: 1 of 6 runs failed$'
wrapper dies "case \"\$*\" in *--seed=1*) kill -9 \$\$ ;; esac"
compare 11 --scenario mix.json -p fifo -p windtunnel --seeds 2 --rerun-base ./dies
says said.err "^error: the run of 'fifo' with seed 1 failed: './dies' was ended by signal 9 (Killed)$"
wrapper lazy 'case "$*" in *--seed=*) exit 0 ;; esac'
compare 11 --scenario mix.json -p fifo -p windtunnel --seeds 1 --rerun-base ./lazy
says said.err "^error: the run of 'fifo' with seed 1 failed: cannot open .*/1/result.json: No such file or directory$"
# A scenario that is wrong for this program too is told before any run.
compare 2 --scenario mix.json -p fifo -p windtunnel --set world.ende=1 --rerun-base ./dies
says said.err "unknown key 'ende'"

# ---- What is no program, or not one of ours. ----

base() { # arguments; the message on standard input
    windtunnel compare --scenario mix.json -p fifo -p windtunnel --seeds 2 "$@"
    said 2 "$*"
}
base --rerun-base ./absent <<'END'
error: cannot start './absent': No such file or directory
END
base --rerun-base ./mix.json <<'END'
error: cannot start './mix.json': Permission denied
END
base --rerun-base '' <<'END'
error: '--rerun-base' must name a program, got an empty name
END
printf '#!/bin/sh\necho "cat 9.1"\n' >cat91
printf '#!/bin/sh\necho "error: what is $1?" >&2\nexit 7\n' >asks
chmod 755 cat91 asks
base --rerun-base ./cat91 <<'END'
error: './cat91' is no windtunnel: to --version it says 'cat 9.1'
END
base --rerun-base ./asks <<'END'
error: './asks' ended with exit status 7: what is --version?
END
base --baseline base.json --rerun-base ./old <<'END'
error: '--rerun-base' runs the base again, and '--baseline' takes what was kept of it: leave out one of them
END
"$program" run mix.json --quiet --out rec >/dev/null || fail 'no record'
refused_plainly 2 compare rec mix.json --rerun-base ./old <<'END'
error: '--rerun-base' runs the base again, and 'rec' is a record: name its scenario
END
TMPDIR=$PWD/gone refused_plainly 4 compare --scenario mix.json -p fifo -p windtunnel --rerun-base ./old <<END
error: cannot make a folder in $PWD/gone: No such file or directory
END

# ---- A signal ends the program, what it started, and its records. ----

wrapper slow "case \"\$*\" in *--seed=*)
    echo \$\$ >>$PWD/pids
    sleep 300 &
    echo \$! >>$PWD/pids
    wait ;;
esac"
"$program" compare --scenario mix.json -p fifo -p windtunnel --seeds 2 --rerun-base ./slow >said.out 2>said.err &
pid=$!
tries=0
while [ "$(cat pids 2>/dev/null | wc -l)" -lt 2 ] && [ $tries -lt 200 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $pid
wait $pid
[ $? -eq 143 ] || fail 'a stopped comparison does not end by its signal'
[ "$(wc -l <pids)" -ge 2 ] || fail 'the program was not started'
sleep 0.2
while read -r left; do
    # A process that was ended may still be there as a zombie.
    state=$(sed 's/.*) //; s/ .*//' "/proc/$left/stat" 2>/dev/null)
    case $state in
    '' | Z) ;;
    *) fail "the process $left is left" ;;
    esac
done <pids
[ -z "$(ls -A tmp)" ] || fail "left $(find tmp)"

finish
