#!/bin/sh
# Small runs of which the table, the record and its metrics once told different numbers.
set -u
. tests/support/cli.sh
command -v python3 >/dev/null || exit 77

succeeds() { # arguments of the program
    windtunnel "$@"
    [ "$status" -eq 0 ] || fail "$*: exit status $status: $(cat said.err)"
}

# Print the value of a metric of the record `out`.
metric() { # name
    python3 -c 'import json, sys; print(json.load(open("out/result.json"))["metrics"][sys.argv[1]]["value"])' "$1"
}

# A line of the timeline's columns that are integrals, at the end.
last_row() {
    zstd -dcq out/timeline.csv.zst | tail -n 1
}

# ---- An elastic job that gets fewer members than it asks for, from its start to its end. ----

cat >elastic.jsonl <<'END'
{"job_id": "e", "submit_s": 0, "duration_s": 100, "groups": [{"count": 3, "min_members": 1, "gpus": 8}]}
{"job_id": "z", "submit_s": 1000, "duration_s": 10, "gpus": 1}
END
echo '{"cluster": {"pools": [{"name": "p", "nodes": 1, "gpus_per_node": 8}]}, "workload": {"trace": "elastic.jsonl"},
 "policy": {"preset": "fifo"}}' >elastic.json
succeeds run elastic.json --quiet --out out
says said.out 'goodput 100.0 %'
says said.out '^  default  *2  *100.0 %  *100.0 % '
zstd -dcq out/jobs.csv.zst | grep -q '^0,0,0,e,0,300,100,100,2400,24,' || fail 'the job does not hold 2400 GPU s'

# Its queue is served what it asked for, as the other one.
awk 'BEGIN {
    for (i = 0; i < 20; i++) {
        printf "{\"job_id\": \"a%d\", \"submit_s\": %d, \"duration_s\": 200, \"queue\": \"a\", ", i, i * 100
        print "\"groups\": [{\"count\": 4, \"min_members\": 1, \"gpus\": 4}]}"
        printf "{\"job_id\": \"b%d\", \"submit_s\": %d, \"duration_s\": 200, \"queue\": \"b\", ", i, i * 100 + 1
        print "\"gpus\": 4, \"nodes\": 1}"
    }
}' >queues.jsonl
echo '{"cluster": {"pools": [{"name": "p", "nodes": 2, "gpus_per_node": 8}]}, "workload": {"trace": "queues.jsonl"},
 "policy": {"preset": "volcano"},
 "queues": [{"name": "a", "parent": null, "quota_gpus": 8},
   {"name": "b", "parent": null, "quota_gpus": 8}]}' >queues.json
succeeds run queues.json --quiet --out out
says said.out '^  a  *20  *80.0 %  *100.0 % '
[ "$(metric jain_fairness)" = 1 ] || fail "both queues got all, and the fairness is $(metric jain_fairness)"

# ---- The SM activity of a job whose speed changes after its warm-up, with and without a look in between. ----

cat >active.jsonl <<'END'
{"job_id": 1, "submit_s": 0, "duration_s": 5000, "checkpoint_interval_s": 600, "checkpoint_duration_s": 5, "restart_s": 30, "sm_active": 0.159, "gpus": 1}
{"job_id": 2, "submit_s": 11320, "duration_s": 40000, "class": "inference", "gpus": 1, "gpu_fraction": 0.3, "checkpoint_interval_s": 60, "checkpoint_duration_s": 5, "restart_s": 0, "sm_active": 0.679, "would_do": 0.1}
END
echo '{"cluster": {"pools": [{"nodes": 6, "gpus_per_node": 4}]}, "workload": {"trace": "active.jsonl"},
 "world": {"faults": {"runaway_per_job_h": 100}, "end": "3d", "checkpoints": {"node_gb_per_s": 2,
   "plans": [{"interval": 60, "mode": "asynchronous", "slowdown": 0.99}]}}, "seed": 2}' >active.json
for look in '' --check --events '--set world.sample_s=10' '--set world.sample_s=3600'; do
    succeeds run active.json --set world.end=3600 $look --quiet --out out
    echo "$(metric sm_active_ratio) $(last_row)" >>active.told
done
[ "$(sort -u active.told | wc -l)" -eq 1 ] || fail "the look changes the numbers: $(cat active.told)"

# ---- Space that is reserved, while a monitor reports to nobody but a listener. ----

cat >reserved.jsonl <<'END'
{"job_id": 0, "submit_s": 0, "duration_s": 0.001, "gpus": 1}
{"job_id": 1, "submit_s": 2000, "duration_s": 336.399, "user": "u0", "groups": [{"count": 5, "min_members": 2, "gpus": 4, "cpus": 4, "memory_gb": 1}]}
{"job_id": 3, "submit_s": 2031, "duration_s": 1, "priority": 0, "gpus": 16}
{"job_id": 16, "submit_s": 4722, "duration_s": 600, "user": "u0", "groups": [{"count": 2, "min_members": 2, "gpu_fraction": 0.9, "cpus": 4, "memory_gb": 16}]}
{"job_id": 18, "submit_s": 6722, "duration_s": 1, "groups": [{"count": 5, "min_members": 5, "gpu_fraction": 0.9, "cpus": 1, "memory_gb": 1}, {"count": 4, "min_members": 3, "gpus": 2, "cpus": 4, "memory_gb": 16}]}
END
slices='["1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"]'
cat >reserved.json <<END
{"cluster": {"pools": [{"nodes": 2, "gpus_per_node": 16, "gpu_model": "a100-80gb",
   "gpus_layout": [$slices, ["1g.10gb"], $slices, ["1g.10gb"], $slices]}]},
 "workload": {"trace": "reserved.jsonl", "loop": "closed", "think_max_s": "10d", "activity": [{"kind": "training",
   "level": 0.4, "work": {"distribution": "exponential", "mean": "5m"},
   "stall": {"distribution": "exponential", "mean": "5m"}}]},
 "policy": {"preset": "kubernetes"},
 "world": {"scheduler_period_s": 60, "monitor": {"delay_s": 1000}, "capacity": [{"time_s": 600, "nodes": 1}]}}
END
for look in '' --check --events '--set world.sample_s=10'; do
    succeeds run reserved.json $look --quiet --out out
    last_row >>reserved.told
done
[ "$(sort -u reserved.told | wc -l)" -eq 1 ] || fail "the look changes the numbers: $(cat reserved.told)"

# ---- Deadlines, limits and estimates are kept. ----

cat >due.csv <<'END'
job_id,submit_s,duration_s,gpus,limit_s,estimate_s,deadline_s
1,0,60,8,100,50,60
2,10,60,8,,,100
3,20,60,8,30,,
END
succeeds run --trace due.csv --cluster four.json --policy fifo --set cluster.pools.h100.nodes=1 --quiet --out out
zstd -dcq out/jobs.csv.zst | grep -q ',100,50,60,60$' || fail 'the first job has lost a declaration'
zstd -dcq out/jobs.csv.zst | grep -q ',,,100,120$' || fail 'the second job has lost its deadline'
[ "$(metric deadline_jobs) $(metric deadlines_missed) $(metric deadlines_missed_ratio) $(metric tardiness_mean_s)" = \
    '2 1 0.5 10' ] || fail 'not one deadline of two missed, by 20 s'
succeeds export out --to batsim
says said.out '^1,default,training,0,8,100,1,COMPLETED_SUCCESSFULLY'
says said.out '^2,default,training,10,8,-1,1,COMPLETED_SUCCESSFULLY'
finish
