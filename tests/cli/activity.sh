#!/bin/sh
# SM activity over the lives of jobs: it changes no decision, a constant one is that of sm_active to the last digit, and
# the record tells it by job and by time.
set -u
. tests/support/cli.sh
seconds_max=300

cat >activity.json <<'END'
[{"class": "interactive", "kind": "notebook", "level": 0.4, "level_sd": 0.12, "abandoned": 0.05,
  "burst": {"distribution": "lognormal", "median": "5m", "sigma": 1},
  "gap": {"distribution": "lognormal", "median": "10m", "sigma": 1.2}},
 {"class": "inference", "kind": "inference", "prefill": 0.6, "decode": 0.15, "prefill_share": 0.25,
  "diurnal_peak_to_mean": 2},
 {"workload_class": "large training", "kind": "training", "level": 0.7,
  "work": {"distribution": "exponential", "mean": "10m"}, "stall": {"distribution": "exponential", "mean": "1m"}}]
END
run() { # the record's folder, arguments; prints the fingerprint
    folder=$1
    shift
    windtunnel run "$repository/scenarios/h100-500x8.json" --set world.end=1d --set world.warmup=1h --quiet \
        --out "$folder" "$@"
    [ "$status" -eq 0 ] || echo "$folder: status $status: $(cat said.err)"
    sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' "$folder/result.json"
}

# Shares of GPUs, gangs that communicate and whole GPUs; mps makes the notebooks share too.
for sharing in as_asked mps; do
    steady=$(run steady --set policy.sharing=$sharing --set workload.synth.classes.0.sm_active='[0.3, 0.3]' \
        --set workload.synth.classes.1.sm_active='[0.1, 0.1]' --set workload.synth.classes.2.sm_active='[0.6, 0.6]' \
        --set workload.synth.classes.3.sm_active='[0.8, 0.8]')
    declared=$(run declared --set policy.sharing=$sharing --set workload.synth.classes.0.sm_active='[0.3, 0.3]' \
        --set workload.synth.classes.1.sm_active='[0.1, 0.1]' --set workload.synth.classes.2.sm_active='[0.6, 0.6]' \
        --set workload.synth.classes.3.sm_active='[0.8, 0.8]' \
        --set workload.activity='[{"class": "inference", "kind": "busy", "level": 0.3},
            {"class": "interactive", "kind": "busy", "level": 0.1},
            {"workload_class": "small training", "kind": "busy", "level": 0.6}, {"kind": "busy", "level": 0.8}]')
    [ -n "$steady" ] && [ "$steady" = "$declared" ] || fail "$sharing: fingerprints '$steady', '$declared'"
    cmp steady/timeline.csv.zst declared/timeline.csv.zst || fail "$sharing: another timeline"
    for record in steady declared; do # all but the columns of declared activity; what is unserved to 10 ms
        zstd -dcq $record/jobs.csv.zst | sed 's/,busy,[0-9.]*,0,/,,,,/' | awk -F, -v OFS=, '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "unserved_gpu_s") at = i }
            NR > 1 && $at != "" { $at = sprintf("%.2f", $at) } { print }' >$record.csv
    done
    cmp steady.csv declared.csv || fail "$sharing: other rows of jobs"
    grep -q ',busy,' steady.csv declared.csv && fail 'the comparison compares declarations'
done

# The scheduler is not told of what happens over the lives of jobs.
plain=$(run plain --events)
lively=$(run lively --events --set workload.activity="$(cat activity.json)")
[ -n "$plain" ] && [ "$plain" = "$lively" ] || fail "fingerprints: without '$plain', with '$lively'"
zstd -dcq plain/events.jsonl.zst | tail -n +2 | cksum >plain.sum
zstd -dcq lively/events.jsonl.zst | tail -n +2 | cksum >lively.sum
cmp plain.sum lively.sum || fail 'the scheduler was told of activity'
grep -q idle_held_ratio plain/result.json && fail 'idle_held_ratio without declared activity'
if command -v python3 >/dev/null; then
    python3 "$repository/tests/support/record_means.py" lively >means.txt || fail "lively: $(cat means.txt)"
fi
cp lively/result.json once.json
windtunnel report lively
[ "$status" -eq 0 ] || fail "report: $(cat said.err)"
cmp once.json lively/result.json || fail 'the files give other metrics than the run'
grep -q idle_held_ratio once.json || fail 'no idle_held_ratio'

refused_plainly 2 run small.json --set workload.activity='[{"kind": "busy", "level": 0, "workload_clas": "a"}]' <<'END'
error: --set workload.activity: unknown key 'workload_clas'
  at /workload/activity/0/workload_clas; did you mean 'workload_class'?
END
finish
