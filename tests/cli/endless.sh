#!/bin/sh
# Runs that never end: the world ends them after world.stall_steps steps without progress, with status 5 and a partial
# record; legal runs it leaves alone.  And small scenarios that did not end once: each law that they broke is held by
# one.
set -u
. tests/support/cli.sh

# ---- The guard ----

stalls() { # pattern of the message, arguments of run
    pattern=$1
    shift
    rm -rf stalled
    windtunnel run "$@" --out stalled
    [ "$status" -eq 5 ] || fail "$pattern: status $status: $(cat said.err)"
    grep -q "^error: the run makes no progress at $pattern" said.err ||
        fail "$pattern: the message is another: $(cat said.err)"
    grep -q 'world.stall_steps' said.err || fail "$pattern: the message does not say what sets the bound"
    grep -q '^Partial' said.out || fail "$pattern: the table does not say that it is partial"
    grep -q '"is_partial": true' stalled/result.json || fail "$pattern: the record does not say that it is partial"
    "$program" report stalled 2>&1 | grep -q '^Partial' || fail "$pattern: the report does not say that it is partial"
    [ "$(zstd -dcq stalled/jobs.csv.zst | wc -l)" -ge 2 ] || fail "$pattern: the record is not whole"
}

# A program that starts nobody and asks again a nanosecond later, for ever.
cat >asks.sh <<'END'
read -r header
while read -r line; do
    case $line in
    *'"cycle"'*)
        now=${line#*\"cycle\":}
        now=${now%%[!0-9]*}
        echo "{\"done\":0,\"wake_at\":$((now + 1))}"
        ;;
    esac
done
END
stalls '0.000000100 s of simulated time under the program that decides: 101 cycles since 0.000000000 s .*; '\
'0 jobs run, 1 wait: job 1' \
    small.json --scheduler 'sh asks.sh' --set world.stall_steps=100

# One that starts the first job and evicts it in the next cycle, a nanosecond later.
cat >swaps.sh <<'END'
read -r header
decision=0
while read -r line; do
    case $line in
    *'"cycle"'*)
        decision=$((decision + 1))
        if [ $((decision % 2)) -eq 1 ]; then
            echo "{\"start\":$decision,\"job\":0,\"pieces\":[{\"node\":\"n0\",\"gpus\":\"0-7\",\"members\":8}]}"
        else
            echo "{\"evict\":$decision,\"job\":0,\"reason\":\"Preempted\"}"
        fi
        now=${line#*\"cycle\":}
        echo "{\"done\":1,\"wake_at\":$((${now%%[!0-9]*} + 1))}"
        ;;
    esac
done
END
cat >swaps.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user
first,0,60,8,red,ann
END
stalls '0.0000.* s .*: [0-9]* cycles since 0.000000000 s and [0-9]* evictions .* '\
'evicted last: job .first. (Preempted), job .first.' \
    small.json --set workload.trace=swaps.csv --scheduler 'sh swaps.sh' --set world.stall_steps=100

# Nothing of the world is left to come, and the program asks each minute: that time is no progress.  With an end it is.
sed 's/now + 1)/now + 60000000000)/' asks.sh >minutes.sh
stalls '6000.000000000 s of simulated time under the program that decides: 101 cycles since 0.000000000 s ' \
    small.json --set workload.trace=swaps.csv --scheduler 'sh minutes.sh' --set world.stall_steps=100
windtunnel run small.json --set workload.trace=swaps.csv --scheduler 'sh minutes.sh' --set world.stall_steps=100 \
    --set world.end=1d
[ "$status" -eq 0 ] || fail "a run with an end stalls: $(cat said.err)"
windtunnel run small.json --set world.stall_steps=-1
[ "$status" -eq 2 ] || fail "a negative bound: status $status"

# A quota policy of one's own that wants to be asked each nanosecond, and says each time that all may have moved.
if pkg-config --exists jansson; then
    cat >restless.c <<'END'
#include "policies/plugin.h"
#include "policies/quota/quota.h"
static int compare(struct queue_tree *tree, struct contender a, struct contender b)
{
    return a.queue < b.queue ? -1 : a.queue > b.queue;
}
static queue_id forbids(struct queue_tree *tree, queue_id leaf, const int64_t *ask)
{
    return ask[0] < 8000 ? QUEUE_NONE : leaf;
}
static bool advance(struct queue_tree *tree, time_ns now, time_ns *next)
{
    *next = now + 1;
    return true;
}
static const struct quota_policy policy = {
    .name = "restless", .version = 1, .summary = "never rests", .compare = compare, .forbids = forbids, .advance = advance};
const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(QUOTA), .name = "test", .version = "1", .policy = &policy};
END
    # shellcheck disable=SC2046 # a list of flags
    "${CC:-cc}" -std=gnu11 -w -O1 -I"$repository" $(pkg-config --cflags jansson) -fPIC -shared -o restless.so \
        restless.c ||
        fail 'restless.c does not compile'
    chmod go-w restless.so
    awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; print "small,0,60,1"; print "first,0,60,8" }' >quiet.csv
    stalls '.* under the policy .custom. (order fifo, quota restless, gang all_or_nothing, .*: '\
'101 cycles since 0.000000000 s .* 1 jobs run, 1 wait: job .first. (QuotaLimit)' \
        --plugin ./restless.so --cluster four.json --trace quiet.csv --set policy.quota=restless \
            --set world.stall_steps=100
    windtunnel explain --plugin ./restless.so --cluster four.json --trace quiet.csv --set policy.quota=restless \
        --set world.stall_steps=100 --all
    [ "$status" -eq 5 ] || fail "explain of a run that stalls: status $status: $(cat said.err)"
fi

# ---- Legal runs that look like it ----

# A program that starts one job in each cycle, many more than the bound, at nearly one instant.
cat >one.sh <<'END'
read -r header
decision=0
while read -r line; do
    case $line in
    *'"cycle"'*)
        if [ $decision -lt 400 ]; then
            decision=$((decision + 1))
            now=${line#*\"cycle\":}
            echo "{\"start\":$decision,\"job\":$((decision - 1)),\"pieces\":[{\"node\":\"n$((decision % 4))\"}]}"
            echo "{\"done\":1,\"wake_at\":$((${now%%[!0-9]*} + 1))}"
        else
            echo '{"done":0}'
        fi
        ;;
    esac
done
END
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,cpus"; for (i = 0; i < 400; i++) print i ",0,5,0,1" }' >one.csv
windtunnel run small.json --set workload.trace=one.csv --scheduler 'sh one.sh' --set world.stall_steps=50
[ "$status" -eq 0 ] || fail "one job started in each cycle: status $status: $(cat said.err)"

# Jobs by the thousand at one instant under policies that evict, rotate and ask often.
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus,priority"
             for (i = 0; i < 2000; i++) print i ",0," (i % 7) * 300 "," 1 + i % 8 "," i % 3 }' >burst.csv
for policy in kai tiresias slurm windtunnel kubernetes; do
    windtunnel run small.json --policy $policy --set workload.trace=burst.csv --set world.stall_steps=1000 --quiet
    [ "$status" -eq 0 ] || fail "a burst under $policy: status $status: $(cat said.err)"
done

# ---- Each law by a run that broke it ----

ends() { # what; the scenario without its trace is on stdin, its jobs are in jobs.jsonl
    cat >endless.json
    windtunnel run endless.json --set workload='{"trace": "jobs.jsonl", "format": "jsonl"}' \
        --set world.stall_steps=2000 --check
    [ "$status" -eq 0 ] || fail "$1: status $status: $(cat said.err)"
}

# A quota policy that says in each cycle that all may have moved: plans that came to nothing were made again in each
# cycle, and those that the attempts of a cycle left over asked for the next one, a nanosecond later.
cat >jobs.jsonl <<'END'
{"job_id": 6, "submit_s": 303, "duration_s": 40000, "gpus": 2}
{"job_id": 18, "submit_s": 5503, "duration_s": 0, "groups": [{"count": 2, "min_members": 2, "gpus": 2, "cpus": 1, "memory_gb": 16}, {"count": 1, "min_members": 1, "gpu_fraction": 0.5, "cpus": 1, "memory_gb": 1}, {"count": 3, "min_members": 3, "gpu_fraction": 0.25, "cpus": 1, "memory_gb": 16}], "preemptible": false}
{"job_id": 52, "submit_s": 19158, "duration_s": 60, "queue": "q1", "groups": [{"count": 5, "min_members": 5, "gpu_fraction": 0.9, "cpus": 4, "memory_gb": 0}, {"count": 6, "min_members": 1, "gpu_memory_gb": 5, "cpus": 1, "memory_gb": 16}]}
{"job_id": 56, "submit_s": 21458, "duration_s": 5000, "groups": [{"count": 4, "min_members": 2, "gpus": 2, "cpus": 4, "memory_gb": 0}]}
{"job_id": 57, "submit_s": 21459, "duration_s": 40000, "groups": [{"count": 2, "min_members": 2, "gpus": 2, "cpus": 1, "memory_gb": 1}, {"count": 3, "min_members": 1, "gpus": 1, "cpus": 4, "memory_gb": 0}, {"count": 3, "min_members": 3, "gpus": 1, "cpus": 1, "memory_gb": 1}]}
{"job_id": 59, "submit_s": 21459, "duration_s": 60, "gpus": 1}
END
ends 'cells, headroom' <<'END'
{"cluster": {"pools": [{"nodes": 7, "gpus_per_node": 2}]}, "queues": [{"name": "q1", "limit_gpus": 2}],
 "policy": {"blocking": "skip", "quota": {"policy": "cells"}, "preemption": {"policy": "checkpoint"}, "headroom": {"gpus_ratio": 0.5}}}
END
cat >jobs.jsonl <<'END'
{"job_id": 1, "submit_s": 30, "duration_s": 60, "priority": 100, "gpus": 4}
{"job_id": 2, "submit_s": 31, "duration_s": 5000, "queue": "q0", "gpus": 16}
{"job_id": 11, "submit_s": 4094, "duration_s": 60, "priority": 125, "gpus": 1, "gpu_fraction": 0.1, "array": "a2"}
{"job_id": 12, "submit_s": 4095, "duration_s": 40000, "groups": [{"count": 2, "min_members": 2, "gpus": 4, "cpus": 1, "memory_gb": 0}, {"count": 6, "min_members": 4, "gpu_fraction": 0.25, "cpus": 1, "memory_gb": 1}, {"count": 3, "min_members": 2, "gpus": 2, "cpus": 4, "memory_gb": 0}]}
{"job_id": 13, "submit_s": 4096, "duration_s": 2029.332578041711, "groups": [{"count": 4, "min_members": 4, "gpu_fraction": 0.9, "cpus": 4, "memory_gb": 16}, {"count": 6, "min_members": 6, "gpus": 1, "cpus": 1, "memory_gb": 16}], "array": "a1"}
END
ends 'cells, kubernetes' <<'END'
{"cluster": {"pools": [{"nodes": 2, "gpus_per_node": 8}]}, "queues": [{"name": "q0", "limit_gpus": 2}],
 "policy": {"preset": "kubernetes", "set": {"quota": {"policy": "cells"}, "preemption": {"policy": "checkpoint"}}}, "world": {"end": "3d"}}
END

# Ranks that move with time, where nothing runs and nobody can start: they were computed each minute, for ever.
cat >jobs.jsonl <<'END'
{"job_id": 1, "submit_s": 0, "duration_s": 60, "queue": "red", "gpus": 1}
END
for order in multifactor srtf las fairtree; do
    ends "order $order" <<END
{"cluster": {"pools": [{"nodes": 1, "gpus_per_node": 8}]}, "queues": [{"name": "red", "limit_gpus": 0}],
 "policy": {"order": ["$order"], "quota": "limits", "blocking": "skip"}}
END
done

# An order by what jobs hold: the job that gained a member held more than the one that lost it, which took it back.
cat >jobs.jsonl <<'END'
{"job_id": 3, "submit_s": 3, "duration_s": 712.8906726603078, "gpus": 1}
{"job_id": 9, "submit_s": 2305, "duration_s": 60, "groups": [{"count": 3, "min_members": 1, "mig": "3g.40gb", "cpus": 4, "memory_gb": 16}]}
{"job_id": 16, "submit_s": 5206, "duration_s": 0, "groups": [{"count": 6, "min_members": 4, "gpus": 2, "cpus": 1, "memory_gb": 0}, {"count": 5, "min_members": 1, "mig": "1g.10gb", "cpus": 4, "memory_gb": 16}]}
{"job_id": 24, "submit_s": 7267, "duration_s": 5000, "groups": [{"count": 3, "min_members": 1, "gpu_fraction": 0.25, "cpus": 1, "memory_gb": 0}]}
{"job_id": 25, "submit_s": 7267, "duration_s": 5000, "priority": 100, "gpus": 1}
{"job_id": 31, "submit_s": 9600, "duration_s": 2566.616540876646, "gpus": 8, "nodes": 1}
{"job_id": 33, "submit_s": 11630, "duration_s": 5000, "groups": [{"count": 6, "min_members": 1, "gpu_fraction": 0.1, "cpus": 4, "memory_gb": 0}, {"count": 3, "min_members": 3, "gpus": 0, "cpus": 1, "memory_gb": 16}, {"count": 4, "min_members": 3, "gpus": 2, "cpus": 1, "memory_gb": 16}]}
{"job_id": 34, "submit_s": 11930, "duration_s": 60, "gpus": 14}
{"job_id": 36, "submit_s": 11930, "duration_s": 40000, "class": "inference", "groups": [{"count": 5, "min_members": 3, "gpu_fraction": 0.1, "cpus": 4, "memory_gb": 1}], "preemptible": false}
{"job_id": 40, "submit_s": 12262, "duration_s": 2844.9361394217904, "gpus": 14, "array": "a2"}
{"job_id": 41, "submit_s": 12292, "duration_s": 42.41332363854311, "gpus": 8}
{"job_id": 45, "submit_s": 12653, "duration_s": 1592.0389685084367, "gpus": 56, "nodes": 7, "min_members": 2}
{"job_id": 46, "submit_s": 14653, "duration_s": 762.0550164688296, "groups": [{"count": 5, "min_members": 1, "gpu_fraction": 0.5, "cpus": 1, "memory_gb": 1}, {"count": 1, "min_members": 1, "mig": "3g.40gb", "cpus": 4, "memory_gb": 0}]}
{"job_id": 47, "submit_s": 14683, "duration_s": 5000, "gpus": 1}
{"job_id": 48, "submit_s": 16683, "duration_s": 600, "class": "inference", "gpus": 16, "min_members": 1}
END
ends 'order by shares held' <<'END'
{"cluster": {"pools": [{"nodes": 5, "gpus_per_node": 8, "cpus": 16, "memory_gb": 64}]},
 "policy": {"order": ["drf", "priority"], "preemption": {"policy": "checkpoint", "within_queue": "order", "min_runtime_s": 0, "search": "ordered"},
            "headroom": {"owners_ratio": 0.2}, "actions": ["preempt", "allocate"]},
 "world": {"limits": "ignore"}}
END

# A reservation that ran out before its victims could leave: they took their place back.
cat >jobs.jsonl <<'END'
{"job_id": 31, "submit_s": 7116, "duration_s": 60, "gpus": 1}
{"job_id": 32, "submit_s": 7117, "duration_s": 40000, "gpus": 8, "limit_s": 1}
{"job_id": 45, "submit_s": 7839, "duration_s": 40000, "priority": 10, "groups": [{"count": 5, "min_members": 2, "gpus": 1, "cpus": 1, "memory_gb": 1}, {"count": 1, "min_members": 1, "gpus": 4, "cpus": 1, "memory_gb": 16}]}
{"job_id": 59, "submit_s": 11132, "duration_s": 5000, "groups": [{"count": 2, "min_members": 2, "gpus": 4, "cpus": 1, "memory_gb": 1}]}
END
ends 'reservation_expiry_s 0' <<'END'
{"cluster": {"pools": [{"nodes": 8, "gpus_per_node": 8}]},
 "policy": {"preset": "kueue", "set": {"quota": {}, "backfill": {"policy": "conservative"}, "blocking": "strict",
            "headroom": {"gpus_ratio": 0.5, "owners_ratio": 0.2}, "reservation_expiry_s": 0}},
 "world": {"limits": "ignore"}}
END

# A gang that is built member by member, of which no more members fit, with no time to become whole.
cat >jobs.jsonl <<'END'
{"job_id": 21, "submit_s": 9353, "duration_s": 5000, "groups": [{"count": 6, "min_members": 2, "gpus": 0, "cpus": 4, "memory_gb": 1}, {"count": 6, "min_members": 4, "gpus": 1, "cpus": 4, "memory_gb": 1}, {"count": 1, "min_members": 1, "mig": "1g.10gb", "cpus": 4, "memory_gb": 16}]}
{"job_id": 57, "submit_s": 35006, "duration_s": 0, "queue": "q2", "priority": 100, "groups": [{"count": 5, "min_members": 1, "gpu_fraction": 0.5, "cpus": 1, "memory_gb": 1}, {"count": 4, "min_members": 4, "gpus": 4, "cpus": 1, "memory_gb": 16}, {"count": 3, "min_members": 3, "gpu_fraction": 0.5, "cpus": 4, "memory_gb": 0}]}
END
for stale in 0 0.000001 60; do
    ends "stale_after_s $stale" <<END
{"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8}]}, "queues": [{"name": "q2"}, {"name": "q3", "quota_gpus": 8, "parent": "q2"}],
 "policy": {"quota": {"policy": "capacity", "firm_needs_quota": true}, "gang": {"policy": "hoard", "stale_after_s": $stale}, "guarantees": []}}
END
done

# A promise of space that the headroom keeps: it was due in the next nanosecond, again and again.
cat >jobs.jsonl <<'END'
{"job_id": 10, "submit_s": 4032, "duration_s": 5000, "gpus": 28}
{"job_id": 13, "submit_s": 6033, "duration_s": 5000, "gpus": 4}
{"job_id": 18, "submit_s": 6363, "duration_s": 0, "groups": [{"count": 1, "min_members": 1, "gpus": 8, "cpus": 1, "memory_gb": 1}, {"count": 2, "min_members": 1, "gpus": 2, "cpus": 1, "memory_gb": 1}]}
END
ends "promises beside a headroom" <<END
{"cluster": {"pools": [{"nodes": 6, "gpus_per_node": 8}]}, "world": {"estimates": {"kind": "noisy"}},
 "policy": {"preset": "slurm", "set": {"backfill": {"policy": "conservative"}, "headroom": {"owners_ratio": 0.2}}}}
END

finish
