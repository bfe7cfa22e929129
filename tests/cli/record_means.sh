#!/bin/sh
# The files of a record say everything: whoever reads them without knowing a rule finds the numbers of result.json.
set -u
. tests/support/cli.sh
command -v python3 >/dev/null || exit 77

means() { # what, folder
    python3 "$repository/tests/support/record_means.py" "$2" >means.txt || fail "$1: $(cat means.txt)"
}

# The main mix under every kind of policy: waits, evictions, resizes, rejections, jobs that still wait and run.
seconds_max=300
for preset in fifo windtunnel; do
    windtunnel run "$repository/scenarios/h100-500x8.json" --policy $preset --set world.end=12h --set world.warmup=1h \
        --set workload.synth.load_whole_gpu=1.4 --set world.queue_limit=2000 --quiet --out record
    [ "$status" -eq 0 ] || fail "$preset: $(cat said.err)"
    means "$preset" record
done

# Each odd end at once: a dependency that never comes, a share of a GPU, a limit, a job that never fits, a name of its
# own.
cat >odd.json <<'END'
{"cluster": "four.json", "workload": {"trace": "odd.jsonl", "format": "jsonl"}, "policy": {"preset": "fifo"},
 "world": {"end": "1h", "limits": "kill"}}
END
cat >odd.jsonl <<'END'
{"job_id": "first, \"quoted\"", "submit_s": 0, "duration_s": 100.123456789, "gpus": 1, "gpu_fraction": 0.137}
{"job_id": "over", "submit_s": 1, "duration_s": 500, "gpus": 8, "limit_s": 200}
{"job_id": "large", "submit_s": 2, "duration_s": 500, "gpus": 1000}
{"job_id": "fails", "submit_s": 3, "duration_s": 50, "gpus": 2, "outcome": "failed"}
{"job_id": "never", "submit_s": 4, "duration_s": 50, "gpus": 2, "after": "ok:fails"}
{"job_id": "long", "submit_s": 5, "duration_s": 90000, "gpus": 32}
{"job_id": "last", "submit_s": 6, "duration_s": 50, "gpus": 2, "after": "long"}
END
# A tree of queues of unequal depth below one organisation; a service level of a tenant.
cat >tree.json <<'END'
{"cluster": "four.json", "workload": {"trace": "tree.jsonl", "format": "jsonl"}, "policy": {"preset": "kai"},
 "queues": [{"name": "org"}, {"name": "north", "parent": "org", "quota_gpus": 8},
            {"name": "south", "parent": "org", "quota_gpus": 24}, {"name": "lab", "parent": "north", "quota_gpus": 8},
            {"name": "deep", "parent": "lab", "quota_gpus": 4}, {"name": "flat", "parent": "lab", "quota_gpus": 4}],
 "service_levels": [{"metric": "queue_time_max_s", "tenant": "north", "max": 700}]}
END
for job in 1 2 3 4 5 6 7 8 9; do
    queue=$(echo deep south flat | cut -d ' ' -f $((job % 3 + 1)))
    echo "{\"job_id\": $job, \"submit_s\": $job, \"duration_s\": ${job}00, \"gpus\": 16, \"queue\": \"$queue\"}"
done >tree.jsonl
windtunnel run tree.json --quiet --out record
[ "$status" -eq 0 ] || fail "a tree of queues: $(cat said.err)"
means 'a tree of queues' record
python3 - <<'END' || fail 'other tenants'
import json
result = json.load(open("record/result.json"))
jobs = {key: group["jobs_submitted"]["value"] for key, group in result["by"]["tenant"].items()}
assert jobs == {"north": 6, "south": 3}, jobs
level = result["service_levels"][0]
assert level["tenant"] == "north"
assert level["value"] == result["by"]["tenant"]["north"]["queue_time_max_s"]["value"]
END

windtunnel run odd.json --quiet --out record
[ "$status" -eq 0 ] || fail "odd ends: $(cat said.err)"
means 'odd ends' record
zstd -dcq record/jobs.csv.zst | python3 -c '
import csv, sys
print(*sorted(row["name"] + " " + row["state"] for row in csv.DictReader(sys.stdin)), sep="\n")' >states.txt
diff -u - states.txt <<'STATES' || fail 'odd ends: other states'
fails failed
first, "quoted" completed
large rejected
last pending
long running
never rejected
over limit
STATES
finish
