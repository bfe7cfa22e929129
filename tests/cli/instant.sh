#!/bin/sh
# A run that is over in one instant has a record and a page, without curves over time.
set -u
. tests/support/cli.sh

printf 'job_id,submit_s,duration_s,gpus\n1,0,100,1\n' >never.csv
cat >instant.json <<'END'
{"cluster": {"pools": [{"nodes": 1, "gpus_per_node": 4}]}, "workload": {"trace": "never.csv"},
 "queues": [{"name": "default"}], "policy": {"quota": "limits"}}
END
windtunnel run instant.json --out record --quiet
[ "$status" -eq 0 ] || fail "a run of one instant: status $status, $(cat said.err)"
grep -q "Queue time" record/report.html || fail "its page tells no queue times"
windtunnel report record
[ "$status" -eq 0 ] || fail "its report: status $status, $(cat said.err)"
finish
