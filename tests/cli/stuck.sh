#!/bin/sh
# Runs that end with jobs that wait while nothing runs or comes say so, everywhere (sim/engine/engine_stuck.c), and
# validate says it before; a side of a comparison that completed fewer jobs is not called better in queue time before
# that is said (studies/comparison/comparison_judge.c).
set -u
. tests/support/cli.sh

cat >three.csv <<'END2'
job_id,submit_s,duration_s,gpus
a,0,100,1
b,0,100,1
c,50,100,1
END2
cat >starved.json <<'END2'
{"cluster": {"pools": [{"nodes": 1, "gpus_per_node": 8}]}, "workload": {"trace": "three.csv"}, "policy": {"preset": "kueue"}}
END2
cat >gangs.jsonl <<'END2'
{"job_id": "a", "submit_s": 0, "duration_s": 300, "gpus": 12}
{"job_id": "b", "submit_s": 0, "duration_s": 300, "gpus": 12}
END2
cat >gangs.json <<'END2'
{"cluster": {"pools": [{"nodes": 2, "gpus_per_node": 8}]}, "workload": {"trace": "gangs.jsonl"},
 "policy": {"preset": "kubernetes", "set": {"order": ["drf", "fifo"]}}}
END2
cat >over.csv <<'END2'
job_id,submit_s,duration_s,gpus,queue
small,0,100,4,a
large,1,100,16,a
other,2,100,16,b
END2
cat >over.json <<'END2'
{"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]}, "workload": {"trace": "over.csv"}, "policy": {"preset": "slurm"},
 "queues": [{"name": "a", "limit_gpus": 8}, {"name": "b"}]}
END2

# stuck WHAT SCENARIO PATTERN: standard error, table, record, report and page say it.
stuck() {
    windtunnel run "$2" --out rec
    [ "$status" -eq 0 ] || fail "$1: status $status"
    grep -q "^warning: $3" said.err || fail "$1: not on standard error: $(cat said.err)"
    grep -q "^$3" said.out || fail "$1: not in the table: $(cat said.out)"
    grep -q '"stuck_jobs": [1-9]' rec/result.json && grep -q '"stuck": "' rec/result.json || fail "$1: not in the record"
    grep -q "warn\">$4" rec/report.html || fail "$1: not on the page"
    windtunnel report rec
    grep -q "^$3" said.out || fail "$1: not in the report: $(cat said.out)"
}

stuck 'no quotas' starved.json \
    '3 jobs wait at the end, and nothing runs or comes .*: a, b, c (3 QuotaLimit). Job a: 1 GPU of queue default' '3 jobs wait'
windtunnel validate starved.json
grep -q '^warning: 3 of 3 jobs would wait for ever, even alone on this cluster.  Job a: .* quota of 0 GPUs' said.err ||
    fail "validate does not say it: $(cat said.err)"
windtunnel validate starved.json --json
grep -q '"wait_for_ever": 3' said.out || fail "validate --json does not say it: $(cat said.out)"

stuck 'two halves of gangs' gangs.json \
    '2 jobs wait at the end, .*: a, b .*; 2 of them hold 16 GPUs for a part of their members' '2 jobs wait'

stuck 'a job above its limit' over.json \
    '1 job waits at the end, .* let it start: large (1 QuotaLimit). Job large: 8 GPUs of queue a must end, or its limit' \
    '1 job waits'
windtunnel validate over.json
grep -q '^warning: 1 of 3 jobs would wait for ever, .*Job large: 8 GPUs of queue a' said.err ||
    fail "validate does not say it of a limit: $(cat said.err)"

windtunnel run small.json --out rec
grep -q 'Stuck' said.out && fail 'a run in which all jobs end is said to be stuck'
grep -q 'stuck' rec/result.json && fail 'its record says it too'

# ---- comparisons: kueue starts nothing, its run ends with the last submission, and its queue times are shorter ----

cat >compared.json <<'END2'
{"cluster": {"pools": [{"nodes": 1, "gpus_per_node": 1}]}, "workload": {"trace": "three.csv"}}
END2
said="'kueue' completed fewer jobs than 'fifo' (0, not 3): "
windtunnel compare --exact --scenario compared.json -p fifo -p kueue --out page --write json=c.json \
    --write junit=c.xml --write markdown=c.md --write github=c.github
grep -q '^    + queue_time' said.out || fail "kueue does not win: the test shows nothing: $(cat said.out said.err)"
head -1 said.out | grep -q "^Mind: $said" || fail "the text does not say it first: $(head -3 said.out)"
grep -q "^warning: $said" said.err || fail "not on standard error: $(cat said.err)"
grep -q "\"warnings\": \[\"$said" c.json || fail "not in JSON: $(grep warnings c.json)"
grep -q 'property name="warning" value=".*kueue.* completed fewer jobs' c.xml || fail "not in JUnit: $(cat c.xml)"
grep -q 'completed fewer jobs' c.md || fail 'not in Markdown'
grep -q '^::warning .*completed fewer jobs' c.github || fail 'not in the annotations'
grep -q 'completed fewer jobs' page/report.html || fail 'not on the page'
grep -q "'kueue', seed 1: 3 jobs wait at the end" said.err || fail "why is not told: $(cat said.err)"
windtunnel compare --exact --scenario compared.json -p kueue -p fifo
head -1 said.out | grep -q "^Mind: $said" || fail "the text does not say it of the base: $(head -3 said.out)"
windtunnel compare --exact --scenario compared.json -p fifo -p priority
grep -q 'completed fewer' said.out && fail 'it is said of sides that completed the same jobs'

finish
