#!/bin/sh
# `run RECORD --fork-at` makes the run of a record again up to a moment, and goes on from there: the fingerprint and the
# rows of the whole run under the same policy, others under another; clear errors where that cannot be.
set -u
. tests/support/cli.sh

fingerprint() { # of said.err
    sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p' said.err
}

cat >week.json <<END
{"cluster": "four.json", "seed": 3, "policy": {"preset": "windtunnel"},
 "workload": {"synth": {"duration": "4d", "load_whole_gpu": 1.3, "classes": [
   {"name": "small", "class": "training", "share": 0.7, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 3, "gpus": 1, "nodes": 1}, {"weight": 1, "gpus": 8, "nodes": 1}],
    "run_time": {"distribution": "exponential", "mean": "2h"}, "sm_active": [0.5, 0.8]},
   {"name": "gang", "class": "training", "share": 0.3, "priority": 10, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 1, "gpus": 16, "nodes": 2}], "checkpoint": {"interval": "30m", "duration": 60, "restart": "5m"},
    "run_time": {"distribution": "exponential", "mean": "5h"}, "sm_active": [0.7, 0.8]}]}},
 "world": {"end": "5d", "scheduler_period_s": 1}}
END

# The same policy, from several moments.
windtunnel run week.json --out whole
whole=$(fingerprint)
for at in 3d 36h; do
    windtunnel run whole --fork-at $at --out same
    [ "$status" -eq 0 ] && [ "$(fingerprint)" = "$whole" ] || fail "fork at $at: $(cat said.err)"
    zstd -dqc same/jobs.csv.zst | tail -n +2 >same.csv
    zstd -dqc whole/jobs.csv.zst | tail -n "$(wc -l <same.csv)" | cmp -s - same.csv || fail "fork at $at: other rows"
    grep -q '"fork": {' same/result.json || fail "the manifest does not say where the run was forked"
    windtunnel report same
    [ "$status" -eq 0 ] || fail "report of a fork: $(cat said.err)"
done

# A fork of a fork, under its policy and after a switch.
windtunnel run whole --fork-at 36h --out half
windtunnel run half --fork-at 3d
[ "$status" -eq 0 ] && [ "$(fingerprint)" = "$whole" ] || fail "fork of a fork: $(cat said.err)"
windtunnel run whole --fork-at 36h --policy fifo --set policy.sharing.policy=trust --out switched
switched=$(fingerprint)
windtunnel run switched --fork-at 3d --out again
[ "$status" -eq 0 ] && [ "$(fingerprint)" = "$switched" ] || fail "fork of a switched fork: $(cat said.err)"
windtunnel run again --fork-at 4d
[ "$status" -eq 0 ] && [ "$(fingerprint)" = "$switched" ] || fail "fork of its fork: $(cat said.err)"
refused 3 run half --fork-at 1d <<'END'
error: the record half is a fork, and begins at 36h
  fork it at that time or later, or fork the record that it was forked from
END

# Another program decided.
windtunnel run small.json --scheduler "'$program' decide" --events --out outside
outside=$(fingerprint)
windtunnel run outside --trust outside --fork-at 15s
[ "$status" -eq 0 ] && [ "$(fingerprint)" = "$outside" ] || fail "fork of recorded decisions: $(cat said.err)"
windtunnel run outside --trust outside --fork-at 15s --policy easy --check --out taken
[ "$status" -eq 0 ] || fail "another policy after recorded decisions: $(cat said.err)"
windtunnel run small.json --scheduler "'$program' decide" --out untold
refused 3 run untold --trust untold --fork-at 15s <<'END'
error: another program decided in the record untold, and its decisions are not recorded
  run it again with --events
END

# A trace.
windtunnel run small.json --out traced
whole_trace=$(fingerprint)
windtunnel run traced --trust traced --fork-at 15s
[ "$status" -eq 0 ] && [ "$(fingerprint)" = "$whole_trace" ] || fail "fork of a trace: $(cat said.err)"
windtunnel run traced --trust traced --fork-at 15s --policy easy --check
[ "$status" -eq 0 ] || fail "another policy on a trace: $(cat said.err)"
sed 's/^3,20,/3,21,/' small.csv >other.csv
mv other.csv small.csv
windtunnel run traced --trust traced --fork-at 15s
[ "$status" -eq 3 ] && grep -q "no file with the digest of 'small.csv' (trace: " said.err ||
    fail "a changed trace: $(cat said.err)"

# Another policy.
windtunnel run whole --fork-at 3d --policy kai --set policy.sharing.policy=trust --check --out kai
[ "$status" -eq 0 ] && [ "$(fingerprint)" != "$whole" ] || fail "another policy: $(cat said.err)"
python3 - <<'END' || fail 'the record of a fork is wrong'
import json
whole, kai = (json.load(open(f'{name}/result.json')) for name in ('whole', 'kai'))
fork = kai['manifest']['fork']
before = [{'until_s': 259200, 'policy': whole['manifest']['scenario']['policy']}]
assert fork == {'fingerprint': whole['manifest']['fingerprint'], 'at_s': 259200, 'is_adopted': True,
                'before': before}, fork
assert kai['facts']['warmup_s'] == 259200
assert kai['manifest']['arrivals'] == whole['manifest']['arrivals']
assert any(i['role'] == 'record' and i['name'] == 'whole' for i in kai['manifest']['inputs']), kai['manifest']['inputs']
END

# Many go on from one moment of a trace that is read as the run goes on: each is the straight run.
windtunnel trace synth seren --jobs 3000 -o long.csv
cat >long.json <<END
{"cluster": "four.json", "workload": {"trace": "long.csv"}, "policy": {"preset": "easy"},
 "world": {"end": "1d", "scheduler_period_s": 30}}
END
windtunnel run long.json --out long
long=$(fingerprint)
windtunnel compare --scenario long --trust long --fork-at 9h --side fifo:policy.backfill.policy=none --side twin \
    --jobs 3 --out many
[ "$status" -eq 0 ] || fail "many from one moment: $(cat said.err)"
for side in long twin; do
    grep -q "\"fingerprint\": \"$long\"" many/$side/result.json || fail "$side is not the straight run"
done
windtunnel run long --trust long --fork-at 9h --set policy.backfill.policy=none
grep -q "\"fingerprint\": \"$(fingerprint)\"" many/fifo/result.json || fail 'a child is not the fork alone'
windtunnel compare --scenario long --trust long --fork-at 9h --side twin --seeds 3
grep -q "'--seeds' cannot be used with --fork-at: all sides go on from one run" said.err ||
    fail "seeds: $(cat said.err)"

# What cannot be.
refused 2 run whole --fork-at 3d --policy kai <<'END'
error: a fork cannot change how GPUs are shared ('policy.sharing'): jobs run on pieces of the other kind
  run the whole scenario, or set policy.sharing as in the record
END
refused 2 run whole --fork-at 3d --set world.end=6d <<'END'
error: a fork cannot change 'world' of its record: its policy alone may differ
  leave out options other than --policy and '--set policy....'; to change the rest, run the whole scenario
END
refused 2 run whole --fork-at 3d --set policy.sharing.policy=mps <<'END'
error: a fork cannot change how GPUs are shared ('policy.sharing'): jobs run on pieces of the other kind
  run the whole scenario, or set policy.sharing as in the record
END
refused 3 run whole --fork-at 9d <<'END'
error: the run is over at 432000 s, before the moment at 777600 s
END
refused 2 run whole --fork-at soon <<'END'
error: '--fork-at' must be a time of the run, got 'soon'
  a number of seconds, or one with a unit: 90s, 15m, 36h, 12d
END
refused 2 run whole --fork-at 3d --scheduler cat <<'END'
error: '--scheduler' cannot be used with --fork-at: another program cannot take over
END
windtunnel run whole --fork-at 3d --out whole/../whole
grep -q "'--out' must not be the folder of the record that is forked" said.err || fail "into itself: $(cat said.err)"

# The run cannot be made again: another version decides otherwise.
sed 's/"seed":3,/"seed":4,/' whole/result.json >other.json
mv other.json whole/result.json
windtunnel run whole --fork-at 3d
[ "$status" -eq 3 ] && grep -q 'the run of the record whole cannot be made again' said.err ||
    fail "another run: status $status: $(cat said.err)"

finish
