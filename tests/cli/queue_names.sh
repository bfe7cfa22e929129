#!/bin/sh
# The queues that a scenario declares are the only ones that its jobs may name (workloads/readers/known_queues.h).
set -u
. tests/support/cli.sh

two='"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]},
 "queues": [{"name": "acct_a", "quota_gpus": 8}, {"name": "acct_b", "quota_gpus": 24}], "policy": {"preset": "slurm"}'
cat >two.csv <<'END2'
job_id,submit_s,duration_s,gpus,queue
0,0,3600,8,acct_a
1,1,3600,8,acct-b
END2

# refused_queue WHAT STATUS PATTERN HINT SCENARIO: run and validate refuse it with this message and this hint.
refused_queue() {
    printf '{%s,\n %s}\n' "$two" "$5" >s.json
    for verb in run validate; do
        windtunnel $verb s.json
        [ "$status" -eq "$2" ] || fail "$1, $verb: status $status: $(cat said.err)"
        grep -q "^error: $3" said.err || fail "$1, $verb: another message: $(cat said.err)"
        grep -q "^  $4" said.err || fail "$1, $verb: another hint: $(cat said.err)"
    done
}

refused_queue 'a misspelt queue' 3 "two.csv:3: job '1' is in the queue 'acct-b', and the scenario does not declare it" \
    "did you mean 'acct_b'?  Its queues are: acct_a, acct_b" '"workload": {"trace": "two.csv"}'
sed 's/acct-b/physics/' two.csv >far.csv
refused_queue 'a name that is far off' 3 "far.csv:3: job '1' is in the queue 'physics'" 'its queues are: acct_a, acct_b' \
    '"workload": {"trace": "far.csv"}'
grep -v acct-b two.csv | cut -d, -f1-4 >none.csv
refused_queue 'a trace without queues' 3 "none.csv: every job names no queue (which means 'default')" 'its queues are: acct_a' \
    '"workload": {"trace": "none.csv"}'
class='"share": 1, "sizes": [{"weight": 1, "gpus": 1}], "run_time": {"distribution": "constant", "mean": "1h"}'
mix() { # a key of the class
    echo '"workload": {"synth": {"duration": "2h", "load_whole_gpu": 0.5, "classes": [{"name": "t", '"$1$class"'}]}}'
}
refused_queue 'a mix without queues' 2 "the class 't' names no queue" 'its queues are: acct_a, acct_b.  "queue" names' "$(mix '')"
refused_queue 'a class of an unknown queue' 2 "the class 't' is in the queue 'acct_c'" "did you mean 'acct_" \
    "$(mix '"queue": "acct_c", ')"
grep -v acct-b two.csv >one.csv
refused_queue 'a part of a merge' 3 "workload: job '.*' is in the queue 'x/acct_a'" "did you mean 'acct_a'?" \
    '"workload": {"merge": [{"trace": "one.csv"}, {"trace": "one.csv", "prefix": "x/"}]}'

# accepted WHAT SCENARIO
accepted() {
    printf '{%s,\n %s}\n' "$two" "$2" >s.json
    windtunnel run s.json --check
    [ "$status" -eq 0 ] || fail "$1: status $status: $(cat said.err)"
}

accepted 'a queue with another name' '"workload": {"trace": "two.csv", "tenants": {"queues": {"acct-b": "acct_b"}}}'
accepted 'a class of a queue' "$(mix '"queue": "acct_b", ')"
grep -q '^  acct_b ' said.out || fail "the class is in another queue: $(cat said.out)"
sed 's/acct-b//' two.csv >some.csv
accepted 'some jobs without a queue' '"workload": {"trace": "some.csv"}'
grep -q "^warning: 1 jobs name no queue: they are in the queue 'default'" said.err || fail "not told: $(cat said.err)"
two='"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]}, "policy": {"preset": "slurm"}'
accepted 'without declared queues each name is a queue' '"workload": {"trace": "two.csv"}'

finish
