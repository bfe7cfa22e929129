#!/bin/sh
# Fields of nodes have an effect under every preset; limits and priorities mean what each scheduler means by them, on
# traces; fields without effect are told once each, and an exit status says nothing of them.  (Fields of queues and jobs
# in random worlds: tests/property/test_fields.c.)
set -u
. tests/support/cli.sh

presets=$(cd "$repository/policies/presets" && ls ./*.json | sed 's,^./,,; s,\.json$,,')
[ "$(echo "$presets" | wc -l)" -ge 14 ] || fail "there are fewer presets than there were: $presets"

# ---- a limit, on a trace: eight jobs of a queue that may hold one of them ----

cat >limited.csv <<'END2'
job_id,submit_s,duration_s,gpus,nodes,queue
0,0,600,8,1,a
1,1,600,8,1,a
2,2,600,8,1,a
3,3,600,8,1,a
4,4,600,8,1,b
5,5,600,8,1,b
END2
cat >limited.json <<'END2'
{"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]}, "workload": {"trace": "limited.csv"}, "policy": {"preset": "fifo"},
 "queues": [{"name": "a", "quota_gpus": 8, "limit_gpus": 8}, {"name": "b", "quota_gpus": 24}]}
END2
for preset in $presets; do
    windtunnel run limited.json --policy "$preset" --check --out rec
    [ "$status" -eq 0 ] || fail "$preset: status $status: $(cat said.err)"
    zstd -dcq rec/attempts.csv.zst >attempts.csv
    # the attempts of a's jobs, 0 to 3, follow one another
    overlaps=$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
        $at["job_id"] < 4 {print $at["start_s"], $at["end_s"]}' attempts.csv | sort -n |
        awk 'NR > 1 && $1 < last {print "early"} {last = $2}')
    [ -z "$overlaps" ] || fail "$preset: queue a holds more than its limit: $(cut -d, -f1-6 attempts.csv)"
    [ "$(wc -l <attempts.csv)" -ge 7 ] || fail "$preset: not all jobs ran"
done

# ---- priorities in thousands: only kai takes them as a word on preemption ----

cat >prio.csv <<'END2'
job_id,submit_s,duration_s,gpus,nodes,queue,user,priority
0,0,36000,8,1,a,x,1000
1,1,36000,8,1,a,x,1000
2,2,36000,8,1,a,x,1000
3,3,36000,8,1,a,x,1000
4,604,3600,8,1,b,y,2000
5,605,3600,8,1,b,y,2000
END2
cat >prio.json <<'END2'
{"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]}, "workload": {"trace": "prio.csv"}, "policy": {"preset": "kueue"},
 "queues": [{"name": "cohort", "quota_gpus": 32}, {"name": "a", "parent": "cohort", "quota_gpus": 16},
            {"name": "b", "parent": "cohort", "quota_gpus": 16}], "world": {"scheduler_period_s": 1}}
END2
sed 's/"quota_gpus": 32/"quota_gpus": 0/' prio.json >cohort.json
evictions() { # scenario, preset, number
    windtunnel run "$1" --policy "$2" --check
    grep -q "^Preemptions  $3 " said.out || fail "$2: not $3 preemptions: $(grep Preemptions said.out)"
}
evictions cohort.json kueue 2
evictions prio.json slurm 2
evictions prio.json kubernetes 2
evictions prio.json windtunnel 2
evictions prio.json kai 0
sed 's/1000$/10/; s/2000$/90/' prio.csv >low.csv
sed 's/prio.csv/low.csv/' prio.json >low.json
evictions low.json kai 2
windtunnel run low.json --policy kai --set policy.preemption.firm_priority=0 --check
grep -q '^Preemptions  0 ' said.out || fail "a threshold of 0 has no effect: $(grep Preemptions said.out) $(cat said.err)"

# ---- fields without effect ----

windtunnel run limited.json --policy slurm
[ "$status" -eq 0 ] || fail "a field without effect gives status $status"
grep -q "^warning: queues\[0\].quota_gpus, and of 1 more queue, has no effect under the policy 'slurm': read by quota policies" \
    said.err || fail "a quota under slurm is not told: $(cat said.err)"
grep -c "quota_gpus" said.err | grep -qx 1 || fail "it is told more than once: $(cat said.err)"
# A shorter warning behind a longer one ends where it ends.
sed 's/"quota_gpus": 24/&, "preempt_min_runtime_s": 5/' limited.json >longer.json
windtunnel run longer.json --policy fifo
grep -q "preempt_min_runtime_s has no effect under the policy 'fifo': read by a policy with the action 'preempt'$" said.err ||
    fail "a warning with another behind it: $(cat said.err)"
windtunnel run limited.json --policy windtunnel
grep -q "no effect" said.err && fail "windtunnel reads quotas: $(cat said.err)"
windtunnel validate prio.json --policy fifo --json
grep -q "'priority' of the jobs has no effect under the policy 'fifo': read by orders" said.out ||
    fail "a priority under fifo is not told: $(cat said.out)"

# ---- nodes: each field keeps a job off, or lets it start, under every preset ----

node='"nodes": 2, "gpus_per_node": 4, "cpus": 8, "memory_gb": 64'
cat >plain.jsonl <<'END2'
{"job_id": "a", "submit_s": 0, "duration_s": 100, "gpus": 4, "cpus": 6, "memory_gb": 40}
{"job_id": "b", "submit_s": 1, "duration_s": 100, "gpus": 4, "cpus": 6, "memory_gb": 40}
{"job_id": "c", "submit_s": 2, "duration_s": 100, "gpus": 1, "cpus": 1, "memory_gb": 4, "gpu_model": "h100-80gb|generic", "node_selector": {"zone": "z"}, "priority": 200}
END2
fingerprint() { # pool, preset
    printf '{"cluster": {"levels": ["rack", "node"], "pools": [{%s}]}, "workload": {"trace": "plain.jsonl"}, "policy": {"preset": "%s"},
 "queues": [{"name": "default", "quota_gpus": 8}]}\n' "$1" "$2" >n.json
    windtunnel run n.json
    [ "$status" -eq 0 ] || fail "$1, $2: status $status: $(cat said.err)"
    sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p' said.err
}
base="$node, \"labels\": {\"rack\": \"r\", \"zone\": \"z\"}"
for preset in $presets; do
    before=$(fingerprint "$base" "$preset")
    [ -n "$before" ] || fail "$preset: no fingerprint"
    while IFS='|' read -r field changed; do
        [ "$(fingerprint "$changed" "$preset")" != "$before" ] || fail "$preset: '$field' of nodes has no effect"
    done <<END2
nodes|$(echo "$base" | sed 's/"nodes": 2/"nodes": 1/')
gpus_per_node|$(echo "$base" | sed 's/"gpus_per_node": 4/"gpus_per_node": 8/')
cpus|$(echo "$base" | sed 's/"cpus": 8/"cpus": 14/; s/"gpus_per_node": 4/"gpus_per_node": 8/')
memory_gb|$(echo "$base" | sed 's/"memory_gb": 64/"memory_gb": 39/')
labels|$(echo "$base" | sed 's/"zone": "z"/"zone": "y"/')
gpu_model|$base, "gpu_model": "a100-80gb"
taints|$base, "taints": [{"key": "k", "effect": "NoSchedule"}]
max_tasks|$base, "max_tasks": 1
END2
done

finish
