#!/bin/sh
# Sweeps whose processes are killed at any moment, or whose disk is full: nothing that was recorded is lost, and what is
# resumed gives the bytes of the run that nobody disturbed.
set -u
. tests/support/cli.sh
. "$repository/tests/support/sweep.sh"
moments=4
[ "${WINDTUNNEL_TEST_SIZE:-small}" = full ] && moments=20
seed=$(od -An -N4 -tu4 </dev/urandom | tr -d ' ')
echo "note: seed $seed"

random() { # below
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    echo $((seed / 65536 % $1))
}
pause() { # milliseconds
    sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}
recorded() { # folder: runs that are recorded as done
    "$program" sweep merge "$1" 2>/dev/null | awk -F, '$3 == "done"' | wc -l
}

child_of() { # process: one that it started
    grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | sed -n '1s|/proc/\([0-9]*\)/status|\1|p'
}

wait_for_records() { # folder, count, the process that makes them
    while [ "$(find "$1"/runs -name '*.json.zst' | wc -l)" -lt "$2" ] && kill -0 "$3" 2>/dev/null; do :; done
}

make_serial

# ---- SIGKILL for all, at a random moment; then for a run alone. ----

midway=0
for moment in $(seq $moments); do
    new_plan killed
    "$program" sweep run killed -j $((moment % 2 + 1)) --quiet >said.out 2>said.err &
    worker=$!
    wait_for_records killed "$(random 26)" $worker
    pause "$(random 8)"
    child=$(child_of $worker)
    if [ "$(random 3)" -eq 0 ] && [ -n "$child" ]; then
        kill -9 "$child" 2>/dev/null # of our own worker
        pause "$(random 20)"
    fi
    kill -9 $worker 2>/dev/null
    wait $worker 2>/dev/null
    before=$(recorded killed)
    sleep 0.02 # so that file times differ
    : >before.list
    [ "$before" -gt 0 ] && [ "$before" -lt 32 ] && midway=$((midway + 1))
    sweep 0 resume killed -j 2 --quiet
    [ "$(recorded killed)" -eq 32 ] || fail "moment $moment: not all runs are done"
    [ "$(find killed/runs -name '*.json.zst' -newer before.list | wc -l)" -eq $((32 - before)) ] ||
        fail "moment $moment: runs that were recorded were made again"
    same_as_serial killed "killed at moment $moment, after $before runs"
done
echo "note: $midway of $moments moments hit a sweep midway"

# ---- A run that crashes or is killed fails alone; one that was killed is made again. ----

cat >slow.json <<'END'
{"scenario": "mix.json",
 "factors": [{"name": "days", "path": "world.end", "values": ["1d", "4000d"]}],
 "set": {"workload.synth.duration": "4000d"}}
END
for signal in SEGV KILL; do
    rm -rf slow
    "$program" sweep run slow.json --out slow -j 1 --no-bind --quiet --timeout 60s >said.out 2>said.err &
    worker=$!
    child=
    while [ -z "$child" ] && kill -0 $worker 2>/dev/null; do
        [ "$(recorded slow)" -eq 1 ] && child=$(child_of $worker)
    done
    kill -s $signal "$child" || fail 'no run was there to be killed'
    wait $worker
    status=$?
    [ $status -eq 11 ] || fail "SIG$signal: status $status"
    state=crash
    [ $signal = KILL ] && state=killed
    says said.out "^2 runs of 2 combinations: 1 done, 1 $state$"
    says said.err "^error: $state: run 1 (days=4000d, seed 1): "
done
sweep 11 resume slow --quiet --timeout 0.2s
says said.out '^2 runs of 2 combinations: 1 done, 1 timeout$'

# ---- SIGTERM: what is recorded stays, the signal is raised again. ----

new_plan stopped
"$program" sweep run stopped -j 1 --no-bind --quiet >said.out 2>said.err &
worker=$!
while [ "$(recorded stopped)" -lt 1 ] && kill -0 $worker 2>/dev/null; do :; done
kill -TERM $worker 2>/dev/null
wait $worker
status=$?
if [ $status -ne 0 ]; then
    [ $status -eq 143 ] || fail "SIGTERM: status $status, not 143"
    says said.out '^32 runs of 16 combinations: [0-9]* missing, [0-9]* done$'
fi
sweep 0 run stopped --quiet
same_as_serial stopped 'after SIGTERM'

# ---- A full disk: status 4, nothing recorded is lost, and the rest is made when there is room. ----

new_plan full
(
    ulimit -f 1 # of 512 bytes: less than a result
    exec "$program" sweep run full -j 2 --quiet
) >said.out 2>said.err
status=$?
[ $status -eq 4 ] || fail "a full disk: status $status, not 4: $(cat said.err)"
says said.err '^error: cannot write full/runs/.*: File too large'
[ -z "$(ls -A full/runs)" ] || fail "a full disk left $(ls -A full/runs)"
sweep 0 resume full --quiet
same_as_serial full 'after a full disk'

finish
