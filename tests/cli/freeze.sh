#!/bin/sh
# A frozen workload is replayed as it stands: the same arrivals, and with the same policy, world and seed the same run.
set -u
. tests/support/cli.sh
seconds_max=300

told() { # key, record folder
    sed -n 's/^ *"'"$1"'": "\([0-9a-f]*\)",$/\1/p' "$2/result.json"
}

timeline=timeline # is compared, too
# Run the scenario, freeze it, run the frozen trace in its place: all the same.  Freezing that gives the same file.
same() { # what, scenario, its workload's --set arguments as words, other arguments
    what=$1 scenario=$2 workload=$3
    shift 3
    rm -rf first second jobs.jsonl* again.jsonl
    # shellcheck disable=SC2086 # words
    windtunnel run "$scenario" $workload "$@" --out first
    [ "$status" -eq 0 ] || fail "$what: $(cat said.err)"
    # shellcheck disable=SC2086 # words
    windtunnel trace freeze "$scenario" $workload "$@" --out jobs.jsonl.zst
    [ "$status" -eq 0 ] || fail "$what, freezing: $(cat said.err)"
    cp said.err frozen.err
    windtunnel run "$scenario" "$@" --trace jobs.jsonl.zst --out second
    [ "$status" -eq 0 ] || fail "$what, frozen: $(cat said.err)"
    [ -n "$(told arrivals first)" ] || fail "$what: no arrivals"
    for key in arrivals fingerprint; do
        [ "$(told $key first)" = "$(told $key second)" ] ||
            fail "$what: other $key, $(told $key first) and $(told $key second)"
    done
    for file in jobs attempts $timeline; do
        cmp first/$file.csv.zst second/$file.csv.zst || fail "$what: another $file.csv.zst"
    done
    windtunnel trace freeze "$scenario" "$@" --trace jobs.jsonl.zst --out again.jsonl
    zstd -dcq jobs.jsonl.zst | cmp - again.jsonl || fail "$what: frozen again it is another file"
}

# ---- A synthesized workload with tenants, under each kind of policy ----

main="$repository/scenarios/h100-500x8.json"
short='--set workload.synth.duration=12h'
world='--set world.warmup=1h --set world.end=14h'
# shellcheck disable=SC2086 # words
same 'the main scenario' "$main" "$short" $world
grep -q "arrivals $(told arrivals first)$" frozen.err || fail "freeze tells other arrivals: $(cat frozen.err)"
# shellcheck disable=SC2086 # words
windtunnel run "$main" $world --policy fifo --trace jobs.jsonl.zst --out third
[ "$(told arrivals first)" = "$(told arrivals third)" ] || fail 'another policy, other arrivals'
[ "$(told fingerprint first)" != "$(told fingerprint third)" ] || fail 'another policy, the same run'
# shellcheck disable=SC2086 # words
windtunnel run "$main" $short $world --seed 2 --out third
[ "$(told arrivals first)" != "$(told arrivals third)" ] || fail 'another seed, the same arrivals'
# shellcheck disable=SC2086 # words
same 'fgd looks ahead' "$main" "$short" $world --policy fgd

# ---- All that JSON lines can say ----

awk -v jobs=300 -f "$repository/tests/support/busy.awk" >busy.jsonl
cat >>busy.jsonl <<'END'
{"job_id": "t 1", "submit_s": 9000.123456789, "duration_s": 55.000000001, "gpus": 2, "tags": ["a", "b,\"c\""], "anti_affinity": [{"tag": "a", "level": "node"}], "deadline_s": 9900, "limit_s": 400}
{"job_id": "t2", "submit_s": 9001, "duration_s": 55, "gpus": 1, "tags": ["d"], "affinity": [{"tag": "a", "level": "rack", "mode": "preferred"}], "would_do": 0.5, "memory_bandwidth": 0.25, "sm_active": 0.321, "outcome": "failed"}
{"job_id": "t3", "submit_s": 9002, "duration_s": 5, "gpus": 8, "after": "ok:t 1;t2", "memory_gb": 17.3, "cpus": 3, "min_members": 3, "estimate_s": 7}
{"job_id": "t4", "submit_s": 8000, "duration_s": 5, "gpus": 1, "node_selector": {"rack": "r1"}, "tolerations": ["spot:NoSchedule"], "array": "x", "array_max": 2, "preemptible": false}
{"job_id": "t5", "submit_s": 8001, "duration_s": 5, "groups": [{"gpus": 2, "count": 4, "slice_members": 2, "slice_level": "rack", "one_island": true}], "array": "x", "array_max": 2}
{"job_id": "t6", "submit_s": 8002, "duration_s": 50, "min_sets": 2, "groups": [{"gpus": 2, "count": 2}, {"gpus": 3}, {"gpus": 1, "count": 3, "min_members": 2}]}
{"job_id": "t7", "submit_s": 8003, "duration_s": 50, "min_sets": 1, "sets": [{"name": "a", "min_sets": 1}, {"name": "a1", "parent": "a"}, {"name": "a2", "parent": "a"}, {"name": "b"}], "groups": [{"gpus": 2, "set": "a"}, {"gpus": 2, "set": "a1"}, {"gpus": 2, "set": "a2"}, {"gpus": 6, "set": "b"}]}
{"job_id": "t8", "submit_s": 8004, "duration_s": 50, "gpus": 8, "plan": {"tp": 4, "layers": 4, "hidden": 1024, "sequence": 512, "vocabulary": 5000, "batch": 8, "precision": "fp8"}}
{"job_id": "t9", "submit_s": 8005, "duration_s": 50, "gpus": 2, "sensitivity": "skewed", "preemption_delay_s": 7.5, "stale_after_s": "never"}
{"job_id": "t10", "submit_s": 8006, "duration_s": 50, "gpus": 2, "user": "cy", "sensitivity": {"collective": "all-to-all", "exposed_ratio": 0.1, "bytes": 1e6}, "stale_after_s": 30}
{"job_id": "t11", "submit_s": 8007, "duration_s": 50, "gpus": 2, "user": "cy"}
END
cat >busy.json <<'END'
{"cluster": {"levels": ["rack", "node"], "pools": [
   {"nodes": 3, "gpus_per_node": 8, "cpus": 64, "memory_gb": 512, "labels": {"rack": "r1"}},
   {"name": "cut", "nodes": 1, "gpus_per_node": 4, "gpu_model": "h100-80gb", "max_tasks": 2, "gpus_layout": [["3g.40gb"]],
    "labels": {"rack": "r2"}}]},
 "workload": {"trace": "busy.jsonl", "format": "jsonl", "communication": [
   {"user": "cy", "plan": {"layers": 4, "hidden": 1024, "sequence": 512, "vocabulary": 5000, "batch": 8}}]}, "policy": {"preset": "windtunnel"},
 "queues": [{"name": "c", "quota_gpus": 4}], "world": {"limits": "kill"}}
END
same 'a busy trace' busy.json ''
same 'a load' busy.json '--set workload.load=1.7'
same 'a window' busy.json '--set workload.window=[500,9001.5]'
same 'fifo' busy.json '--set workload.duration_scale=1.37' --policy fifo
grep -q '"min_sets":2,"groups"' again.jsonl || fail "groups needed: $(grep t6 again.jsonl)"
grep -q '"min_sets":1,"sets":\[{"name":"a","min_members":1,"min_sets":1}' again.jsonl ||
    fail "sets needed: $(grep t7 again.jsonl)"
grep '"t8"' again.jsonl | grep -q '"plan":{"tp":4,"pp":1,"dp":2,.*"precision":"fp8"}' ||
    fail "a plan: $(grep t8 again.jsonl)"
grep '"t9"' again.jsonl | grep -q '"preemption_delay_s":7.5,"stale_after_s":"never",.*"sensitivity":"skewed"' ||
    fail "a sensitivity: $(grep t9 again.jsonl)"
grep '"t10"' again.jsonl | grep -q '"stale_after_s":30,.*"sensitivity":{"collective":"all-to-all",.*"bytes":1000000}' ||
    fail "its own sensitivity: $(grep t10 again.jsonl)"
grep '"t11"' again.jsonl | grep -q '"plan":{"tp":1,"pp":1,"dp":2,' || fail "by the table: $(grep t11 again.jsonl)"
grep -q '"communication": {"by_job": 3, "by_row": \[1\]}' first/result.json ||
    fail "the manifest: $(grep -o '"workload": {.*' first/result.json)"
# A job's start in the frozen trace is what it was to the nanosecond.
grep -q '"after":"ok:t 1;any:t2"' again.jsonl || fail "dependencies: $(grep t3 again.jsonl)"

# ---- Other formats, and a cluster that is filled ----

# What free GPUs are good for is judged by all jobs of that trace before it is frozen, by those that come afterwards.
timeline=
same 'openb' "$repository/scenarios/openb.json" \
    "--set workload.trace=$repository/workloads/samples/openb_pods.csv --set workload.fill.load=0.3" \
    --set cluster="$repository/topologies/philly-352.json" --set policy.typical=null
grep -q '^note: .*fill the cluster' frozen.err || fail 'what is lost is not told'
timeline=timeline
for sample in philly.csv:philly native.csv:native; do
    cat >sample.json <<END
{"cluster": "$repository/topologies/dgx-h100-500.json", "policy": {"preset": "kai"},
 "workload": {"trace": "$repository/workloads/samples/${sample%:*}", "format": "${sample#*:}"}}
END
    same "$sample" sample.json ''
done

# ---- A record ----

windtunnel run busy.json --set workload.load=1.7 --out record
cp record/result.json result.json
windtunnel trace freeze record --trust . --out jobs.jsonl
[ "$status" -eq 0 ] && grep -q "arrivals $(told arrivals record)$" said.err || fail "a record: $(cat said.err)"
"$program" trace freeze record --trust . 2>/dev/null | cmp - jobs.jsonl || fail 'standard output holds another trace'
sed -i 's/"t5"/"t6"/' busy.jsonl
windtunnel trace freeze record --trust .
[ "$status" -eq 3 ] && grep -q "no file with the digest of 'busy.jsonl' (trace: " said.err ||
    fail "a record of another trace: $(cat said.err)"
refused_plainly 2 trace freeze busy.json --out jobs.csv <<'END'
error: a frozen trace is JSON lines, since columns cannot say all of a job: let '--out' end in .jsonl or .jsonl.zst
END

# ---- A record's jobs are no trace ----

for format in '' '--format native'; do
    # shellcheck disable=SC2086 # two words
    windtunnel run small.json --trace record/jobs.csv.zst $format
    said 3 'jobs of a record' <<'END'
error: record/jobs.csv.zst is the jobs of a record: what became of them, not all of what was submitted
  type 'windtunnel trace freeze record --out jobs.jsonl.zst' and replay that
END
done
finish
