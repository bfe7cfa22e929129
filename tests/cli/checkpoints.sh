#!/bin/sh
# Checkpoints from a scenario to the record: world.checkpoints charges them or not; what is lost is told by cause; a
# record is decided again; plans that do not hold together are refused where they stand.
set -u
. tests/support/cli.sh

# Gangs of two queues on four nodes, and jobs of higher priority that evict them.
awk 'BEGIN {
    printf "job_id,submit_s,duration_s,gpus,nodes,queue,class,priority,"
    print "checkpoint_interval_s,checkpoint_duration_s,restart_s"
    for (i = 0; i < 60; i++)
        printf "%d,%d,%d,%d,%d,q%d,training,%d,%d,20,60\n", i, 300 * i, 1200 + 600 * (i % 5), 8 * (1 + i % 3),
            1 + i % 3, i % 2, i % 4 == 3 ? 90 : 50, i % 3 ? 900 : 0 }' >gangs.csv
cat >plans.json <<'END'
{"cluster": "four.json", "workload": {"trace": "gangs.csv"},
 "policy": {"preset": "kai", "set": {"preemption.grace_s": 30}},
 "world": {"checkpoints": {"storage_gb_per_s": 3, "node_gb_per_s": 2, "plans": [
   {"gpus_min": 24, "interval": "daly", "mtbf": "2h", "size_gib_per_gpu": 2, "warmup_s": 90},
   {"gpus_min": 16, "interval": "10m", "mode": "asynchronous", "slowdown": 0.2, "write_s": 40}]}}}
END

run() { # the record's folder, arguments; prints the fingerprint
    folder=$1
    shift
    windtunnel run plans.json --quiet --check --out "$folder" "$@"
    [ "$status" -eq 0 ] || echo "$folder: status $status: $(cat said.err)"
    sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' "$folder/result.json"
}
metric() { # record, name
    sed -n "s/^ *\"$2\": {\"value\": \([0-9.e-]*\),.*/\1/p" "$1/result.json" | head -n 1
}
charged=$(run charged --events)
again=$(run again)
free=$(run free --set world.checkpoints.cost=free)
without=$(run without --set world.checkpoints=null)
[ -n "$charged" ] && [ "$charged" = "$again" ] || fail "charged: fingerprint '$charged', then '$again'"
[ -n "$free" ] && [ "$free" = "$without" ] || fail "free: fingerprint '$free', without checkpoints '$without'"
[ "$charged" != "$free" ] || fail 'charged runs as free does'
[ -z "$(metric free lost_to_write_gpu_h)" ] || fail 'free: result.json has losses by cause'
"$program" metrics >metrics.txt || fail "metrics"
for name in lost_to_write_gpu_h lost_to_leave_gpu_h lost_to_load_gpu_h lost_to_warmup_gpu_h \
    lost_work_preempted_gpu_h; do
    awk -v value="$(metric charged $name)" 'BEGIN { exit !(value > 0) }' ||
        fail "$name is '$(metric charged $name)', but should be above 0"
    grep -q "$name" metrics.txt || fail "metrics does not define $name"
done
awk -v lost="$(metric charged lost_gpu_h)" -v a="$(metric charged lost_to_write_gpu_h)" \
    -v b="$(metric charged lost_to_leave_gpu_h)" -v c="$(metric charged lost_to_load_gpu_h)" \
    -v d="$(metric charged lost_to_warmup_gpu_h)" -v e="$(metric charged lost_work_preempted_gpu_h)" \
    -v f="$(metric charged lost_work_node_gpu_h)" -v g="$(metric charged lost_work_other_gpu_h)" \
    'BEGIN { sum = a + b + c + d + e + f + g; exit !(sum > 0 && sum - lost < 1e-6 && lost - sum < 1e-6) }' ||
    fail 'the causes do not add up to lost_gpu_h'

# The files say what result.json says, and what was decided is decided again.
if command -v python3 >/dev/null; then
    python3 "$repository/tests/support/record_means.py" charged >means.txt || fail "the record: $(cat means.txt)"
fi
windtunnel decide charged/events.jsonl.zst --check
[ "$status" -eq 0 ] || fail "decide --check: $(cat said.out said.err)"
[ "$(run outside --scheduler "'$program' decide")" = "$charged" ] || fail 'another program decides otherwise'

# By hand: 1000 s of work, a write of 10 s after each 100 s of it but the last; the trace has the plan.
cat >one.csv <<'END'
job_id,submit_s,duration_s,gpus,checkpoint_interval_s,checkpoint_duration_s
1,0,1000,4,100,10
END
windtunnel run small.json --trace one.csv --set 'world.checkpoints={}' --quiet --out one
[ "$status" -eq 0 ] || fail "one job: $(cat said.err)"
[ "$(zstd -dcq one/jobs.csv.zst | tail -n 1 | sed 's/.*,//')" = 1090 ] || fail "one job: $(zstd -dcq one/jobs.csv.zst)"
writes=$(metric one lost_to_write_gpu_h)
[ "$writes" = 0.1 ] || fail "one job: $writes GPU h of writes, not 0.1"

# ---- Refusals ----

cat >bad.json <<'END'
{"cluster": "four.json", "workload": {"trace": "small.csv"},
 "world": {"checkpoints": {"plans": [
   {"interval": "young", "write_s": 20}]}}}
END
refused 2 run bad.json <<'END'
error: bad.json:3:17: 'young' needs the job's interruptions: 'mtbf' or 'interruptions_per_node_day'
 3 |    {"interval": "young", "write_s": 20}]}}}
   |                 ^~~~~~~
  at /world/checkpoints/plans/0/interval
END
sed -i 's/"young"/"youngs"/' bad.json
refused 2 run bad.json <<'END'
error: bad.json:3:17: 'interval' must be a duration, "young" or "daly", got "youngs"
 3 |    {"interval": "youngs", "write_s": 20}]}}}
   |                 ^~~~~~~~
  at /world/checkpoints/plans/0/interval
END
refused_plainly 2 run small.json --set world.checkpoints.cost=cheap <<'END'
error: --set world.checkpoints.cost: 'cost' must be one of 'free', 'charged'; got "cheap"
  at /world/checkpoints/cost
END
finish
