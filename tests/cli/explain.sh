#!/bin/sh
# Why jobs wait: at a moment of a run, as text and as JSON, and from a record; node counts and times add up; what is
# asked wrongly is refused.
set -u
. tests/support/cli.sh

# Two nodes are busy until 600 s; then come a gang that must wait, one behind it, one that is held up by nothing but its
# turn, and one that never fits.
cat >waits.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user
11,0,600,16,red,ann
12,10,60,32,red,ann
13,20,60,24,blue,bob
14,30,60,1,blue,bob
15,40,60,64,blue,bob
END
sed 's/small.csv/waits.csv/' small.json >waits.json

expect() { # what ran; the words on stdin must be the table
    cat >expected.out
    if [ "$status" -ne 0 ] || ! diff -u expected.out said.out; then
        fail "$1: status $status"
        cat said.err
    fi
}

windtunnel explain waits.json --at 50 --all --quiet
expect 'explain --at 50 --all' <<'END'
at 50 s: 3 jobs wait
job 12: Resources, queue red, 32 GPUs, waited 40 s
  nodes   4 = 2 with GPUs busy + 2 with room
  needs   2 more nodes with 8 free GPUs are needed; 16 of 32 members fit now, 16 GPUs are free.
  waited  Resources 40 s
job 13: Priority, queue blue, 24 GPUs, waited 30 s
  nodes   4 = 2 with GPUs busy + 2 with room
  needs   1 job of its line goes before it. 1 more node with 8 free GPUs is needed; 16 of 24 members fit now, 16 GPUs are free.
  waited  Priority 30 s
job 14: Priority, queue blue, 1 GPU, waited 20 s
  nodes   4 = 2 with GPUs busy + 2 with room
  needs   2 jobs of its line go before it. It would fit now.
  waited  Priority 20 s
END

windtunnel explain waits.json 11 15 --at 50 --quiet
expect 'explain 11 15' <<'END'
at 50 s: 3 jobs wait
job 15: rejected, queue blue, 64 GPUs, waited 0 s
  waited  never, or the run did not keep it
job 11: does not wait, queue red, 16 GPUs, waited 0 s
  waited  never, or the run did not keep it
END

windtunnel explain waits.json --job 12 --at 50 --json --quiet
expect 'explain --json' <<'END'
{"at_s": 50, "waiting_jobs": 3, "jobs": [
 {"job": "12", "queue": "red", "gpus": 32, "state": "pending", "waited_s": 40, "code": "Resources", "is_never": false, "fits_now": false, "nodes": {"not_up": 0, "taint": 0, "node_affinity": 0, "mismatch": 0, "too_small": 0, "gpus_busy": 2, "fragmented": 0, "cpus": 0, "memory": 0, "tasks": 0, "kept": 0, "cells": 0, "affinity": 0, "domain": 0, "fits": 2}, "members": 32, "members_fitting": 16, "ahead": 0, "short": {"nodes": 2, "gpus": 16, "cpus": 0, "memory_mib": 0}, "needs": "2 more nodes with 8 free GPUs are needed; 16 of 32 members fit now, 16 GPUs are free.", "wait_by_reason_s": {"Resources": 40}}]}
END

# The busiest sample is the first at which all three wait.
windtunnel explain waits.json --all --set world.sample_s=100 --quiet
grep -qx 'at 40 s: 3 jobs wait' said.out || fail "busiest: $(head -n 1 said.out)"

# ---- The main scenario: all that wait, node by node ----

if command -v python3 >/dev/null; then
    windtunnel explain "$repository/scenarios/h100-500x8.json" --set policy.sharing.policy=as_asked --at 172800 --all \
        --json --quiet
    python3 - said.out <<'END' || fail 'the main scenario: nodes or times do not add up'
import json, sys
from decimal import Decimal
text = json.load(open(sys.argv[1]), parse_float=Decimal, parse_int=Decimal)
assert text["jobs"] and len(text["jobs"]) == text["waiting_jobs"]
for job in text["jobs"]:
    assert sum(job["nodes"].values()) == 500, job
    assert sum(job["wait_by_reason_s"].values()) == job["waited_s"], job
    assert job["needs"] and job["code"], job
END
fi

# ---- A record ----

"$program" run waits.json --quiet --out waits >/dev/null 2>&1 || fail 'the scenario does not run'
columns() { # record folder, names
    zstd -dcq "$1/jobs.csv.zst" | awk -F, -v names="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; count = split(names, name, ",") }
        { for (i = 1; i <= count; i++) printf "%s%s", $at[name[i]], i < count ? "," : "\n" }'
}
columns waits job_id,wait_s,state,wait_by_reason_s >columns
diff -u - columns <<'END' || fail 'the record holds other times'
job_id,wait_s,state,wait_by_reason_s
4,,rejected,
0,0,completed,
1,590,completed,Resources:590
2,640,completed,Resources:60;Priority:580
3,630,completed,Priority:630
END
windtunnel explain waits 12 14
expect 'explain a record' <<'END'
job 12: completed, queue red, 32 GPUs, waited 9m 50s
  waited  Resources 590 s
job 14: completed, queue blue, 1 GPU, waited 10m 30s
  waited  Priority 630 s
END
# The run of a record is made again up to a time, and so is that of a fork.
windtunnel run waits --trust waits --fork-at 15 --out again
for at in 50 650 busiest; do
    "$program" explain waits.json --at $at --all --quiet >expected.out
    windtunnel explain waits --trust waits --at $at --all --quiet
    [ "$status" -eq 0 ] && cmp -s expected.out said.out || fail "explain a record at $at: $(cat said.out said.err)"
    windtunnel explain again --trust again --at $at --all --quiet
    [ "$status" -eq 0 ] && cmp -s expected.out said.out || fail "explain a fork at $at: $(cat said.out said.err)"
done
"$program" report waits >report.txt
grep -A1 '^Wait by reason' report.txt | grep -q 'job h  *share$' && grep -q '^  Priority  *0.34  *65.1 %$' report.txt ||
    fail "the report does not tell what jobs waited for: $(cat report.txt)"
grep -q 'wait_quota_limit_job_h' waits/result.json && fail 'a wait that nobody had is told'
grep -q '"wait_resources_job_h": {"value": 0.18' waits/result.json || fail 'no metric of waits'

# Without the times nothing else changes.
"$program" run waits.json --quiet --set world.wait_times=false --out plain >/dev/null 2>&1 || fail 'wait_times=false'
columns plain wait_by_reason_s | sort -u | tr '\n' ' ' | grep -qx ' wait_by_reason_s ' ||
    fail 'times are told that nobody wants'
without_reasons() { # FOLDER
    zstd -dcq "$1/jobs.csv.zst" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "wait_by_reason_s") at = i }
        { $at = ""; print }'
}
without_reasons plain >plain.csv
without_reasons waits | cmp - plain.csv || fail 'wait_times changes more than it should'

# Nor where another program decides, which is not asked why.
"$program" run waits.json --quiet --scheduler "$program decide" --events --out outside >outside.txt 2>&1 ||
    fail "--scheduler: $(cat outside.txt)"
columns outside wait_by_reason_s | sort -u | tr '\n' ' ' | grep -qx ' wait_by_reason_s ' ||
    fail 'times are told that nobody knows'
without_reasons outside | cmp - plain.csv || fail 'another program decides otherwise'
"$program" report outside | grep -q 'Wait by reason' && fail 'the report tells of times that nobody knows'

# ---- One decision ----

# best_fit: the score is -(1000 milli x 17 + free GPUs), so the fuller node is better.
windtunnel explain waits.json --decision 1
expect 'explain --decision 1' <<'END'
decision 1 at 0 s: start job 11 (training, queue red, 16 GPUs) on n[0-1]:0-7
  it is the first decision of its cycle
order before the cycle: its class queue is number 1
    1  job 11 (training, queue red, 16 GPUs): WaitingForScheduling
place: best_fit, 4 of 4 nodes with room for the first of 16 members
     -17008  n0, n1, n2 and 1 more: 8 GPUs free; chosen: n0
END
cat >few.csv <<'END'
job_id,submit_s,duration_s,gpus,nodes
a,0,600,8,1
b,10,600,3,1
c,20,600,1,1
d,20,600,2,1
e,30,600,9,
f,40,600,8,1
END
sed 's/small.csv/few.csv/' small.json >few.json
windtunnel explain few.json --decision 3
expect 'best_fit' <<'END'
decision 3 at 20 s: start job c (training, queue default, 1 GPU) on n1:3
  it is the first decision of its cycle
order before the cycle: its class queue is number 1
    1  job c (training, queue default, 1 GPU): WaitingForScheduling
place: best_fit, 3 of 4 nodes with room
     -17005  n1: 5 GPUs free; chosen: n1
     -17008  n2, n3: 8 GPUs free
  refused: 1 with GPUs busy
END
# The start of c comes first in the same cycle.
windtunnel explain few.json --decision 4
expect 'the second decision of a cycle' <<'END'
decision 4 at 20 s: start job d (training, queue default, 2 GPUs) on n1:4-5
  1 decision came before it in its cycle; the nodes are as after 1 start among them
order before the cycle: its class queue is number 2
    1  job c (training, queue default, 1 GPU): WaitingForScheduling
    2  job d (training, queue default, 2 GPUs): WaitingForScheduling; behind the one above by job id
place: best_fit, 3 of 4 nodes with room
     -17004  n1: 4 GPUs free; chosen: n1
     -17008  n2, n3: 8 GPUs free
  refused: 1 with GPUs busy
END
# spread: as best_fit, less 65536 for each member of the job that is on the node; e begins with none.
windtunnel explain few.json --set policy.placement=spread --decision 5
expect 'spread' <<'END'
decision 5 at 30 s: start job e (training, queue default, 9 GPUs) on n1:6 n[2-3]:0 n1:7 n[2-3]:1 n[2-3]:2 n2:3
  it is the first decision of its cycle
order before the cycle: its class queue is number 1
    1  job e (training, queue default, 9 GPUs): WaitingForScheduling
place: spread, 3 of 4 nodes with room for the first of 9 members
     -17002  n1: 2 GPUs free; chosen: n1
     -17008  n2, n3: 8 GPUs free; chosen: n2
  refused: 1 with GPUs busy
END
# fgd, where jobs of 8, 3 and 1 GPUs are typical.  n1 has 5 free GPUs that jobs of 8 cannot use; one of them less: the
# fragmentation falls by 1/3, and 100 / (1 + exp(-1/3)) = 58.25.  On n2 the 7 that are left become useless to jobs of 8:
# 100 / (1 + exp(7/3)) = 8.84.
head -n 4 few.csv >three.csv
sed 's/small.csv/three.csv/' small.json >three.json
windtunnel explain three.json --policy fgd --decision 3
expect 'fgd' <<'END'
decision 3 at 20 s: start job c (training, queue default, 1 GPU) on n1:3
  it is the first decision of its cycle
order before the cycle: its class queue is number 1
    1  job c (training, queue default, 1 GPU): WaitingForScheduling
place: fgd, 3 of 4 nodes with room
         58  n1: 5 GPUs free; chosen: n1
          8  n2, n3: 8 GPUs free
  refused: 1 with GPUs busy
END
windtunnel explain three.json --decision 3 --json
expect 'explain --decision --json' <<'END'
{"decision": 3, "at_s": 20, "kind": "start", "job": {"id": 2, "job": "c", "queue": "default", "class": "training", "gpus": 1}, "place": "n1:3", "before_in_cycle": 0, "code": "WaitingForScheduling", "needs": "No cycle has looked at it yet. It fits now: the next cycle decides.", "ahead_in_class_queue": 0, "heads": [
  {"head": {"id": 2, "job": "c", "queue": "default", "class": "training", "gpus": 1}, "waiting": 1, "reason": "WaitingForScheduling"}], "placement": "best_fit", "nodes": [
  {"node": "n1", "score": -17005, "free_gpus": 5, "cause": "fits", "is_chosen": true},
  {"node": "n2", "score": -17008, "free_gpus": 8, "cause": "fits", "is_chosen": false},
  {"node": "n3", "score": -17008, "free_gpus": 8, "cause": "fits", "is_chosen": false}], "refused": {"not_up": 0, "taint": 0, "node_affinity": 0, "mismatch": 0, "too_small": 0, "gpus_busy": 1, "fragmented": 0, "cpus": 0, "memory": 0, "tasks": 0, "kept": 0, "cells": 0, "affinity": 0, "domain": 0, "policy": 0}}
END
# Of a record; its events have the same number.
"$program" run three.json --quiet --events --out three >/dev/null 2>&1 || fail 'three.json does not run'
zstd -dcq three/events.jsonl.zst | grep -q '"start":3,"job":2' || fail 'the events have another number of decision 3'
windtunnel explain three --trust three --decision 3
grep -qx 'decision 3 at 20 s: start job c (training, queue default, 1 GPU) on n1:3' said.out ||
    fail "explain a record --decision: $(cat said.out said.err)"
# An eviction tells why the preemptor waited, and a start after it where its space was held.
cat >evict.csv <<'END'
job_id,submit_s,duration_s,gpus,nodes,priority
low,0,6000,8,1,10
high,100,600,8,1,90
END
sed 's/small.csv/evict.csv/; s/fifo/kubernetes/' small.json >evict.json
windtunnel explain evict.json --set cluster.pools.h100.nodes=1 --decision 2
cat >expected.start <<'END'
decision 2 at 100 s: evict job low (training, queue default, 8 GPUs) from n0:0-7 for job high (training, queue default, 8 GPUs): Preempted
  it is the first decision of its cycle
END
head -n 2 said.out | diff -u expected.start - || fail 'explain an eviction'
grep -q '^job high (training, queue default, 8 GPUs) waits: WaitingForScheduling. No cycle has looked at it yet. 1' \
    said.out ||
    fail "an eviction does not say why: $(cat said.out)"
windtunnel explain evict.json --set cluster.pools.h100.nodes=1 --decision 4
grep -qx 'place: its space was held for it before, by decision 3' said.out || fail "a reserved start: $(cat said.out)"

# ---- Refusals ----

refused_plainly 3 explain three.json --decision 4 <<'END'
error: the run has no decision 4
  its last decision is 3
END
refused_plainly 2 explain three.json --decision 0 <<'END'
error: '--decision' must be the number of a decision, from 1, got '0'
END
refused_plainly 2 explain three.json c --decision 3 <<'END'
error: '--decision' explains one decision: name no jobs, '--all' or '--at' besides
END
"$program" run three.json --quiet --scheduler "$program decide" --out strange >/dev/null 2>&1 || fail '--scheduler'
refused_plainly 2 explain strange --decision 3 <<'END'
error: another program decided in this record: its decisions cannot be made again
END
refused_plainly 2 explain waits.json --at 50 <<'END'
error: name the jobs to explain, or give '--all'
END
refused_plainly 2 explain waits.json 12 --all <<'END'
error: '--all' explains every job: name none besides
END
refused_plainly 2 explain waits.json 12 --at soon <<'END'
error: '--at' must be a time from the start of the run, such as 3600, 36h or 2d, or 'busiest', got 'soon'
END
refused_plainly 2 explain outside --trust outside 12 --at 50 <<'END'
error: another program decided in this record, and does not say why jobs wait
END
refused_plainly 3 explain waits.json 12 99 --at 50 --quiet <<'END'
error: no job '99' was submitted until 50 s
END
refused_plainly 3 explain waits 99 <<'END'
error: the record has no job '99'
END
finish
