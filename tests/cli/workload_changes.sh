#!/bin/sh
# Which jobs of a trace come: sample, tenants and growth, and a load by run times, in a scenario and in what is
# converted.
set -u
. tests/support/cli.sh
seconds_max=60

awk 'BEGIN {
    srand(7)
    print "job_id,submit_s,duration_s,gpus,queue,user,limit_s"
    for (i = 1; i <= 1000; i++)
        printf "%d,%d,%d,%d,%s,u%d,%d\n", i, i * 300, 100 + 900 * rand(), 2 ^ int(3 * rand()),
            i % 3 ? "vc-" i % 5 : "prod", i % 17, 2000
}' >trace.csv
cat >changed.json <<'END'
{"cluster": "four.json", "policy": {"preset": "fifo"}, "seed": 5,
 "workload": {"trace": "trace.csv", "load": 0.8, "load_by": "durations", "window": [0, "3d"],
              "sample": {"share": 0.7, "by": "users"}, "tenants": {"queues": {"vc-*": "research"}, "users": {"*": "all"}},
              "growth": {"queues": {"prod": 2.5, "res*": 0.5}, "jitter_s": "10m"}}}
END

# ---- The same jobs in a run, frozen, and converted ----

windtunnel run changed.json --out first
[ "$status" -eq 0 ] || fail "run: $(cat said.err)"
windtunnel trace freeze changed.json --out frozen.jsonl
windtunnel trace convert trace.csv --cluster four.json --seed 5 \
    --set workload.load=0.8 --set workload.load_by=durations \
    --set 'workload.window=[0, "3d"]' --set 'workload.sample={"share": 0.7, "by": "users"}' \
    --set 'workload.tenants={"queues": {"vc-*": "research"}, "users": {"*": "all"}}' \
    --set 'workload.growth={"queues": {"prod": 2.5, "res*": 0.5}, "jitter_s": "10m"}' --out changed.csv
[ "$status" -eq 0 ] || fail "convert: $(cat said.err)"
for trace in frozen.jsonl changed.csv; do
    windtunnel run changed.json --set 'workload={}' --set workload.trace=$trace --set 'workload.window=[0, "4d"]' \
        --out second
    [ "$status" -eq 0 ] || fail "$trace: $(cat said.err)"
    for key in arrivals fingerprint; do
        [ "$(grep "\"$key\"" first/result.json)" = "$(grep "\"$key\"" second/result.json)" ] ||
            fail "$trace: other $key"
    done
done
python3 - <<'END' || fail 'the record tells another workload'
import json
manifest = json.load(open('first/result.json'))['manifest']
workload = manifest['scenario']['workload']
assert workload['sample'] == {'share': 0.7, 'by': 'users'} and workload['growth']['queues']['prod'] == 2.5, workload
told = manifest['workload']
assert told['duration_factor'] > 0 and told['duration_factor'] != 1 and told['arrival_factor'] == 1, told
assert abs(told['gpu_hours_per_day'] - 0.8 * 32 * 24) < 1e-6, told
END
cut -d, -f13,14 changed.csv | sort -u >names
printf 'prod,all\nqueue,user\nresearch,all\n' | cmp - names || fail "tenants: $(cat names)"
windtunnel validate changed.json
grep -q 'arrivals  offered load 80.0 %: .*run times x' said.out || fail "validate: $(cat said.out)"

# A seed changes the sample; without chance in the workload one seed is enough.
windtunnel run changed.json --seed 6 --out second
[ "$(grep '"arrivals"' first/result.json)" != "$(grep '"arrivals"' second/result.json)" ] ||
    fail 'another seed, the same jobs'
windtunnel trace info trace.csv --set workload.sample.share=0.2
jobs=$(sed -n 's/^jobs  *\([0-9]*\) .*/\1/p' said.out)
[ "$jobs" -gt 135 ] && [ "$jobs" -lt 265 ] || fail "a fifth of 1000 jobs: $jobs"

# Attempts that failed are work, too: 2 x (30 + 10 + 20) GPU seconds over 100 s are 0.0375 of 32 GPUs.  Wanted: twice.
cat >failed.csv <<'END'
job_id,submit_s,duration_s,gpus,failed_attempts_s
1,0,30,2,10;20
2,100,0,2,
END
windtunnel trace convert failed.csv --cluster four.json --set workload.load=0.075 --set workload.load_by=durations \
    --out twice.jsonl
grep -q '"duration_s":60,.*"failed_attempts_s":"\?20;40' twice.jsonl || fail "attempts: $(cat said.err twice.jsonl)"

# ---- Recorded waits are compared only where the work is what was recorded ----

awk -F, -v OFS=, '{ print $0, NR == 1 ? "wait_s" : NR % 7 }' trace.csv >waited.csv
told() { # how many values the column has
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR > 1 && at && $at != "" { n++ } END { print n + 0 }'
}
waits() { # how many are compared, key, the workload
    printf '{"cluster": "four.json", "policy": {"preset": "fifo"}, "workload": {%s}}' "$3" >waited.json
    windtunnel run waited.json --out waited
    [ "$status" -eq 0 ] || fail "waits under $2: $(cat said.err)"
    compared=$(zstd -dcq waited/jobs.csv.zst | told recorded_wait_s)
    [ "$compared" -eq "$1" ] || fail "waits under $2: $compared are compared, not $1"
    said=$(grep -c "^note: the waits that the trace records are not compared: 'workload.$2'" said.err)
    [ "$said" -eq $(($1 == 0)) ] || fail "waits under $2: $(cat said.err)"
    [ "$(grep -c '^Recorded waits' said.out)" -eq $(($1 > 0)) ] || fail "waits under $2: a table, or none"
}
trace='"trace": "waited.csv"'
waits 1000 duration_scale "$trace, \"duration_scale\": 1"
waits 1000 tenants "$trace, \"tenants\": {\"queues\": {\"*\": \"all\"}}"
waits 1000 shake "$trace, \"shake\": {\"arrivals_s\": 60}"
waits 2000 merge "\"merge\": [{$trace}, {$trace, \"prefix\": \"b/\"}]"
waits 0 load "$trace, \"load\": 0.5"
waits 0 duration_scale "$trace, \"duration_scale\": 2"
waits 0 sample "$trace, \"sample\": {\"share\": 0.9}"
waits 0 growth "$trace, \"growth\": {\"queues\": {\"prod\": 1}}"
waits 0 blocks "$trace, \"blocks\": \"users\""
waits 0 failures "$trace, \"failures\": \"left_out\""
waits 0 merge "\"merge\": [{$trace}, {$trace, \"prefix\": \"b/\", \"load\": 0.1}]"
waits 0 merge "\"merge\": [{$trace, \"load\": 0.1}]"
waits 0 merge "\"merge\": [{$trace}, {\"model\": \"philly\", \"jobs\": 3}]"
windtunnel trace convert waited.csv --set workload.sample.share=0.999 --out less.csv
grep -q '^waits  *[0-9]* that are recorded are left out' said.err said.out || fail "convert: $(cat said.out said.err)"
[ "$(told wait_s <less.csv)" -eq 0 ] || fail 'convert: waits of a sample'
windtunnel trace convert waited.csv --out all.csv
[ "$(told wait_s <all.csv)" -eq 1000 ] || fail 'convert: no waits'

# ---- What is refused ----

refuse() { # place, says; the workload's last keys on standard input
    { printf '{"cluster": "four.json",\n "workload": {"trace": "trace.csv",\n'; cat; } >bad.json
    windtunnel run bad.json
    [ "$status" -eq 2 ] || fail "$2: status $status"
    grep -q "^error: bad.json:$1: .*$2" said.err || fail "$2: $(cat said.err)"
}
echo '"sample": {"share": 0}}}' | refuse 3:21 "'share' must be a number from"
echo '"sample": {"by": "users"}}}' | refuse 3:11 "'share' is missing"
echo '"sample": {"share": 0.5, "by": "queue"}}}' | refuse 3:32 "by"
echo '"sample": {"share": 0.5, "from": 1}}}' | refuse 3:26 "from"
echo '"tenants": {"vc-*": "research"}}}' | refuse 3:13 "vc-"
echo '"tenants": {"queues": {"a": 3}}}}' | refuse 3:29 "a"
echo '"growth": {"jitter_s": 3}}}' | refuse 3:11 "'queues' is missing"
echo '"growth": {"queues": {"a": -1}}}}' | refuse 3:28 "'a' must be a number from 0 to 1000"
echo '"load_by": "sizes", "load": 1}}' | refuse 3:12 "load_by"
echo '"load_by": "durations"}}' | refuse 3:12 "'load_by' needs a 'load'"
echo '"load_by": "durations", "fill": {"load": 1}}}' | refuse 3:12 "'load_by'"
windtunnel run changed.json --set workload.trace=frozen.jsonl
[ "$status" -eq 2 ] || fail "a frozen trace: status $status"
grep -q "^error: frozen.jsonl is frozen and brings its tree of queues, which 'tenants.queues' cannot fold" said.err ||
    fail "a frozen trace: $(cat said.err)"
windtunnel run changed.json --set workload.sample.share=1e-9 --set workload.sample.by=jobs
[ "$status" -eq 3 ] || fail "no jobs: status $status"
grep -q 'holds no jobs in the window that stay' said.err || fail "no jobs: $(cat said.err)"
windtunnel trace convert trace.csv --set sample.share=1 --out x.csv
said 2 'no workload' <<'END'
error: --set changes how a trace is read: it begins with workload., got 'sample.share=1'
END
finish
