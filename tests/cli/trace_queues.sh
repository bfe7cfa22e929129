#!/bin/sh
# Queues of a scenario that the jobs of a trace name: the jobs belong to them, with their quotas and parents.
set -u
. tests/support/cli.sh

printf 'job_id,submit_s,duration_s,gpus,queue\n1,0,100,1,inner\n2,0,100,1,inner\n3,50,100,1,free\n' >jobs.csv
cat >queues.json <<'END'
{"cluster": {"pools": [{"nodes": 1, "gpus_per_node": 4}]}, "workload": {"trace": "jobs.csv"},
 "queues": [{"name": "outer", "quota_gpus": 3}, {"name": "inner", "parent": "outer", "quota_gpus": 1},
            {"name": "free", "parent": "outer", "quota_gpus": 2}], "policy": {"quota": "limits"}}
END
windtunnel run queues.json --out record --quiet
[ "$status" -eq 0 ] || fail "a trace that names queues of the scenario: $(cat said.err)"
zstd -dcq record/jobs.csv.zst | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { wait[$at["job_id"]] = $at["wait_s"] + 0 }
    END { exit !(wait[0] == 0 && wait[1] == 100 && wait[2] == 0) }' ||
    fail "the limit of a queue does not hold its jobs: $(zstd -dcq record/jobs.csv.zst)"

# Twice in the scenario it is still an error.
sed 's/"name": "free"/"name": "inner"/' queues.json >twice.json
windtunnel validate twice.json
if [ "$status" -ne 2 ] || ! grep -q "there is a queue named 'inner' already" said.err; then
    fail "a queue that stands twice: status $status, $(cat said.err)"
fi
finish
