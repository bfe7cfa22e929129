#!/bin/sh
# Jobs that are rejected, refused by another program, killed at their limit, or that still wait: the table, the page,
# result.json and stderr say the same of them.
set -u
. tests/support/cli.sh

value() { # metric, cut and key ("" of the whole run); of record/result.json
    python3 - "$1" "${2:-}" "${3:-}" <<'END'
import json, sys
result, (name, cut, key) = json.load(open("record/result.json")), sys.argv[1:]
group = result["by"][cut][key] if cut else result["metrics"]
print(group[name]["value"] if name in group else "none")
END
}

is_value() { # expected, metric, cut, key
    found=$(value "$2" "${3:-}" "${4:-}")
    [ "$found" = "$1" ] || fail "$2 ${3:-} ${4:-}: $found, not $1"
}

everywhere() { # text that the table, the page, the report and stderr must hold
    for file in said.out said.err record/report.html again.table; do
        grep -q -e "$1" $file || fail "$file does not say '$1'"
    done
}

# ---- Half of a class is rejected ----

cat >two.json <<'END'
{"cluster": {"name": "two", "pools": [{"name": "a", "nodes": 1, "gpus_per_node": 8, "gpu_model": "h100-80gb"},
                       {"name": "b", "nodes": 1, "gpus_per_node": 4, "gpu_model": "a100-40gb"}]},
 "workload": {"trace": "two.jsonl"}, "policy": {"preset": "fifo"},
 "world": {"end": "1000s", "limits": "kill"}}
END
# Of training two run, two can never fit; of inference four wait until the end: for h100 alone, for a100 alone, for any,
# for no GPU.
cat >two.jsonl <<'END'
{"job_id": 1, "submit_s": 0, "duration_s": 5000, "gpus": 8, "nodes": 1, "class": "training"}
{"job_id": 2, "submit_s": 0, "duration_s": 5000, "gpus": 4, "nodes": 1, "class": "training", "gpu_model": "a100-40gb"}
{"job_id": 3, "submit_s": 10, "duration_s": 50, "gpus": 64, "class": "training"}
{"job_id": 4, "submit_s": 10, "duration_s": 50, "gpus": 64, "class": "training"}
{"job_id": 5, "submit_s": 100, "duration_s": 50, "gpus": 8, "nodes": 1, "class": "inference"}
{"job_id": 6, "submit_s": 200, "duration_s": 50, "gpus": 2, "class": "inference", "gpu_model": "a100-40gb"}
{"job_id": 7, "submit_s": 300, "duration_s": 50, "gpus": 2, "class": "inference"}
{"job_id": 8, "submit_s": 400, "duration_s": 50, "gpus": 0, "cpus": 1, "class": "inference"}
END
windtunnel run two.json --out record
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
"$program" report record >again.table
cmp said.out again.table || fail 'report prints another table'
everywhere '50.0 % of the training jobs were rejected (2 of 4): queue times are of the others'
grep -q '^  training  *2  *0 s .* 0  *2$' said.out || fail "the table: $(grep training said.out)"
is_value 4 jobs_submitted class training
is_value 2 jobs_accepted class training
is_value 2 jobs_rejected class training
is_value 0.5 rejected_ratio class training
is_value 0 jobs_rejected class inference
grep -q 'inference jobs were rejected' said.out said.err record/report.html && fail 'inference is said to be rejected'

# ---- Jobs that wait are counted under the model that they can have ----

is_value 2 jobs_accepted gpu_model h100-80gb
is_value 900 queue_time_max_s gpu_model h100-80gb
is_value 2 jobs_accepted gpu_model a100-40gb
is_value 800 queue_time_max_s gpu_model a100-40gb
is_value 2 jobs_pending gpu_model any
is_value 700 queue_time_max_s gpu_model any
zstd -dcq record/jobs.csv.zst | python3 -c '
import csv, sys
print(*(row["name"] + " " + row["gpu_model"] for row in csv.DictReader(sys.stdin)
        if row["state"] == "pending"))' >models.txt
grep -qx '5 h100-80gb 6 a100-40gb 7 any 8 any' models.txt || fail "the rows: $(cat models.txt)"

# ---- No more than a hundredth is rejected: nothing is said beside the column ----

awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"
             for (i = 0; i < 200; i++) print i "," i * 10 ",5," (i % 100 == 7 ? 1000 : 1) }' >few.csv
windtunnel run small.json --trace few.csv --out record
grep -q 'of the training jobs were rejected' said.out said.err record/report.html && fail 'one in a hundred is told'
grep -q '^  training  *198 .* 2$' said.out || fail "one in a hundred: $(grep training said.out)"

# ---- Killed at the limit: no goodput ----

cat >limit.csv <<'END'
job_id,submit_s,duration_s,gpus,limit_s
1,0,3600,8,7200
2,0,7200,4,3600
END
windtunnel run small.json --trace limit.csv --set world.limits=kill --out record
[ "$status" -eq 0 ] || fail "limits: $(cat said.err)"
is_value 12 allocated_gpu_h
is_value 4 limit_gpu_h
[ "$(value goodput_ratio | cut -c1-6)" = 0.6666 ] || fail "goodput: $(value goodput_ratio)"
grep -q '^Over limit  *1 job.* killed .* 4.0 GPU h of theirs' said.out || fail "the table: $(grep Over said.out)"
grep -q '<th scope="col">over limit GPU h</th>' record/report.html || fail 'the page does not tell it'

# ---- Refused by another program ----

cat >refuse.sh <<'END'
read -r header
while read -r line; do
    case $line in
    *'"job_submitted"'*) jobs="$jobs $(printf '%s' "$line" | sed 's/.*"id": *\([0-9]*\).*/\1/')" ;;
    *'"cycle"'*)
        count=0
        for job in $jobs; do
            count=$((count + 1))
            id=$((id + 1))
            echo "{\"reject\":$id,\"job\":$job$1}"
        done
        jobs=
        echo "{\"done\":$count}"
        ;;
    esac
done
END
for reason in '' ',"reason":"NeverFits"'; do
    windtunnel run small.json --out record --scheduler "sh refuse.sh '$reason'"
    [ "$status" -eq 0 ] || fail "--scheduler: status $status: $(cat said.err)"
    grep -q "^warning: 3 jobs refused by the scheduler 'sh refuse.sh" said.err || fail "refused: $(cat said.err)"
    grep -q 'no state of this cluster' said.err && fail 'the cluster is said to be too small'
    words=NeverFits
    [ -n "$reason" ] || words='without a reason'
    "$program" report record >again.table
    grep -v '^[^ ].*policy' said.out >said.table
    for file in said.table again.table; do
        grep -q "^Refused  *3 $words, by the program that decides$" $file || fail "$file: $(grep Refused $file)"
    done
    grep -q "Refused by the program that decides: 3 jobs, $words" record/report.html || fail 'the page says otherwise'
    is_value 3 jobs_rejected
    windtunnel run small.json --strict --scheduler "sh refuse.sh '$reason'"
    [ "$status" -eq 3 ] || fail "--strict: status $status"
done
finish
