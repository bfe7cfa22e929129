#!/bin/bash
# Twice as many queues, levels of queues or steps of growth cost about twice the instructions, not four times.
# Instructions are counted, so the machine does not matter; what a run costs without them is counted too and taken off.
set -u
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

most_percent=210 # of the cost of half as many

case ${WINDTUNNEL_BUILD-} in
*sanitized* | *coverage*) counts='a build that is watched' ;;
*) counts=$(command -v valgrind >/dev/null || echo 'no valgrind') ;;
esac
if [ -n "$counts" ]; then
    echo "note: $counts: nothing was counted"
    finish
fi

cat >make_scenario.py <<'END'
import json
import sys

kind, size = sys.argv[1], int(sys.argv[2])


def job(number, **more):
    return {"job_id": number + 1, "submit_s": number, "duration_s": 600, **more}


queues, jobs = None, [job(0, gpus=1)]
if kind == "listed":
    queues = [{"name": f"q{q}"} for q in range(size)]
elif kind == "added":
    jobs = [job(q, gpus=1, queue=f"q{q}") for q in range(size)]
elif kind == "deep":
    queues = [{"name": f"q{q}", "parent": f"q{q - 1}" if q > 0 else None} for q in range(size)]
    jobs = [job(j, gpus=1, queue=f"q{size - 1}") for j in range(20)]
elif kind == "elastic":
    group = {"count": size, "min_members": 1, "gpu_fraction": 0.1, "cpus": 1, "memory_gb": 1}
    jobs = [job(0, groups=[group])]
with open(f"{size}.jsonl", "w", encoding="utf-8") as trace:
    for one in jobs:
        trace.write(json.dumps(one) + "\n")
pool = {"name": "h100", "nodes": 100, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 192, "memory_gb": 2048}
scenario = {"cluster": {"name": "c", "pools": [pool]}, "workload": {"trace": f"{size}.jsonl", "format": "jsonl"}}
if queues is not None:
    scenario["queues"] = queues
with open(f"{size}.json", "w", encoding="utf-8") as file:
    json.dump(scenario, file)
END

# Instructions of a run of SIZE.json.
count() { # size, policy
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=count.log "$program" run --quiet "$1.json" \
        --policy "$2" >said.out 2>&1 || echo "$1, $2: $(cat said.out)" >&2
    sed -n 's/.*Collected : //p' count.log
}

near_linear() { # kind, size, policy
    local counted=() size once twice
    for size in 1 "$2" $((2 * $2)); do
        python3 make_scenario.py "$1" "$size"
        counted[size]=$(count "$size" "$3")
    done
    once=$((counted[$2] - counted[1]))
    twice=$((counted[2 * $2] - counted[1]))
    echo "$1, $2, under $3: $once instructions; twice as many: $twice"
    [ $((twice * 100)) -le $((once * most_percent)) ] ||
        fail "$1 under $3: $2 cost $once instructions, twice as many $twice"
}

near_linear listed 2000 fifo
near_linear added 2000 fifo
near_linear deep 200 hived
near_linear elastic 1000 fifo
near_linear elastic 1000 kai
finish
