#!/bin/sh
# A model as the workload of a scenario: its jobs are those of the trace that is drawn from it, a load is reached, the
# scenario of the record holds the model, and every command that runs scenarios takes it.
set -u
. tests/support/cli.sh
seconds_max=120

told() { # key, record folder
    sed -n 's/^ *"'"$1"'": "\{0,1\}\([0-9a-f.]*\)"\{0,1\},$/\1/p' "$2/result.json" | head -n 1
}

# ---- The jobs are those of the drawn trace ----

cat >model.json <<'END'
{"cluster": "four.json", "policy": {"preset": "easy"}, "seed": 3,
 "workload": {"model": "models/two.json", "duration": "3d"}}
END
mkdir models
cat >models/two.json <<'END'
{"workload_model": 1,
 "streams": [
   {"name": "a", "queue": "red", "arrivals": {"jobs_per_day": 200, "clients": {"count": 5}},
    "request": {"share": 0.5, "factor": {"distribution": "constant", "mean": 2}},
    "kinds": [{"gpus": 1, "run_time": {"distribution": "lognormal", "median": "10m", "sigma": 1}},
              {"gpus": 16, "nodes": 2, "outcome": "failed", "run_time": {"distribution": "exponential", "mean": "1h"}}]},
   {"name": "b", "queue": "blue", "class": "inference", "arrivals": {"jobs_per_day": 50}, "users": {"count": 3},
    "kinds": [{"gpu_fraction": 0.5, "cpus": 3, "memory_gb": 7, "outcome": "cancelled",
               "run_time": {"distribution": "constant", "mean": 1000}}, {"gpus": 6, "run_time": {"distribution": "constant", "mean": 10}}]}]}
END
windtunnel run model.json --out drawn
[ "$status" -eq 0 ] || fail "run: $(cat said.err)"
windtunnel trace synth models/two.json --days 3 --seed 3 -o jobs.csv
windtunnel run model.json --set 'workload={"trace": "jobs.csv", "window": [0, "3d"]}' --out read
[ "$status" -eq 0 ] || fail "run of the drawn trace: $(cat said.err)"
for key in arrivals fingerprint; do
    [ -n "$(told $key drawn)" ] || fail "the record has no $key"
    [ "$(told $key drawn)" = "$(told $key read)" ] || fail "model and drawn trace: other $key"
done
windtunnel trace synth models/two.json --days 3 --seed 3 -o jobs.jsonl
windtunnel run model.json --set 'workload={"trace": "jobs.jsonl", "window": [0, "3d"]}' --out read
[ "$(told arrivals drawn)" = "$(told arrivals read)" ] || fail 'model and JSON lines: other arrivals'
windtunnel trace freeze model.json --out frozen.jsonl
windtunnel run model.json --set 'workload={"trace": "frozen.jsonl"}' --out read
[ "$(told fingerprint drawn)" = "$(told fingerprint read)" ] || fail 'model and frozen trace: another fingerprint'
windtunnel run model.json --seed 4 --out other
[ "$(told arrivals drawn)" != "$(told arrivals other)" ] || fail 'another seed, the same arrivals'
windtunnel run model.json --set workload.jobs=100 --out other
[ "$(zstd -dcq other/jobs.csv.zst | wc -l)" -eq 101 ] || fail "100 jobs: $(zstd -dcq other/jobs.csv.zst | wc -l)"

# The scenario in the record needs no file, and gives the same run.
python3 - <<'END' || fail 'the scenario of the record is another one'
import json
json.dump(json.load(open('drawn/result.json'))['manifest']['scenario'], open('again.json', 'w'))
END
mkdir elsewhere
mv again.json elsewhere
windtunnel run elsewhere/again.json --out read
[ "$(told fingerprint drawn)" = "$(told fingerprint read)" ] || fail "the scenario of the record: $(cat said.err)"

# ---- Loads ----

# Jobs of 2 GPUs and an hour, Poisson: half of 32 GPUs are 8 jobs an hour.  19,200 in 100 days, within five standard
# deviations of 139.
cat >load.json <<'END'
{"cluster": "four.json", "policy": {"preset": "fifo"},
 "workload": {"duration": "100d", "load": 0.5,
              "model": {"workload_model": 1, "streams": [{"name": "a", "arrivals": {"jobs_per_day": 3},
                "kinds": [{"gpus": 2, "nodes": 1, "run_time": {"distribution": "constant", "mean": "1h"}}]}]}}}
END
count() { # expected, arguments
    wanted=$1
    shift
    windtunnel trace freeze load.json "$@" --out jobs.jsonl
    [ "$status" -eq 0 ] || fail "$*: $(cat said.err)"
    jobs=$(($(wc -l <jobs.jsonl) - 1))
    [ $((jobs - wanted)) -lt 700 ] && [ $((wanted - jobs)) -lt 700 ] || fail "$*: $jobs jobs, not $wanted"
}
count 19200
count 19200 --set 'workload.load_gpus=32' --set 'cluster.pools.h100.nodes=8'
count 38400 --set 'workload.load_gpus=cluster' --set 'cluster.pools.h100.nodes=8'
sed 's/"load": 0.5/"rate": 2/' load.json >rate.json
windtunnel trace freeze rate.json --set workload.duration=1000d --out jobs.jsonl
jobs=$(($(wc -l <jobs.jsonl) - 1))
[ $jobs -gt 5600 ] && [ $jobs -lt 6400 ] || fail "twice the rate: $jobs jobs, not 6000"
windtunnel run load.json --set workload.duration=1d --out read
grep -q '"load_gpus": 32, "gpu_hours_per_day": 384}' read/result.json ||
    fail "GPU hours per day: $(grep gpu_hours read/result.json)"

# ---- Other commands ----

windtunnel validate model.json
[ "$status" -eq 0 ] || fail "validate: $(cat said.err)"
grep -q 'drawn from a model' said.out || fail "validate: $(cat said.out)"
windtunnel plan load.json --capacity --set workload.duration=1d --level 'queue_time_p95_s<=3600'
[ "$status" -ne 2 ] || fail "plan: $(cat said.err)"
cat >sweep.json <<'END'
{"scenario": "model.json", "seeds": 1, "factors": [{"path": "workload.model", "values": ["philly", "models/two.json"]}]}
END
windtunnel sweep plan sweep.json --out sweep
[ "$status" -eq 0 ] || fail "sweep: $(cat said.err)"

# ---- What is refused ----

windtunnel run model.json --set workload.model=phily
said 2 'an unknown model' <<'END'
error: --set workload.model: there is no ready model 'phily'
  at /workload/model; did you mean 'philly'? The name of a file holds '/' or ends in .json
END
windtunnel run load.json --set workload.rate=2
grep -q "error: --set workload.rate: the rates of a model are multiplied by 'rate' or scaled" said.err ||
    fail "rate and load: $(cat said.err)"
windtunnel run load.json --set workload.shake.arrivals_s=2
grep -q "error: --set workload.shake.*'shake' belongs to a trace; a model has no such thing" said.err ||
    fail "shake: $(cat said.err)"
windtunnel run load.json --set workload.load=1e9
[ "$status" -eq 2 ] || fail "too large a load: status $status"
windtunnel run load.json --set workload.load=1000 --set workload.load_gpus=4000000
grep -q 'error: the model would have .* jobs per day; at most 10000000 are possible' said.err ||
    fail "too many jobs: $(cat said.err)"
windtunnel run load.json --set workload.model.streams.a.kinds.0.gpus=0 --set workload.model.streams.a.kinds.0.cpus=1
grep -q 'error: the rates of the model cannot be scaled to a load' said.err || fail "no GPU time: $(cat said.err)"
cat >endless.json <<'END'
{"cluster": "four.json",
 "workload": {"model": "philly", "load": 0.5}}
END
windtunnel run endless.json
[ "$status" -eq 2 ] || fail "an endless model: status $status"
grep -q "^error: endless.json:2:14: a model goes on for ever: give 'jobs' or 'duration'" said.err ||
    fail "an endless model: $(cat said.err)"
sed -i 's/"mean": 10}/"mean": 10, "meen": 3}/' models/two.json
windtunnel run model.json
grep -q '^error: models/two.json:9:' said.err || fail "a bad model: $(cat said.err)"
finish
