#!/bin/sh
# A closed loop of users in a run: what it reports, its record, its forks; and what it cannot be combined with.
set -u
. tests/support/cli.sh

fingerprint() { # of said.err
    sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p' said.err
}

awk 'BEGIN {
    srand(5)
    print "job_id,submit_s,duration_s,gpus,user,wait_s"
    for (i = 1; i <= 600; i++)
        printf "%d,%d,%d,%d,u%d,%d\n", i, i * 200, 500 + 9000 * rand() ^ 3, 2 ^ int(4 * rand()), i % 23, 60 * rand()
}' >trace.csv
cat >closed.json <<'END'
{"cluster": "four.json", "policy": {"preset": "easy"}, "world": {"monitor": {"period_s": 300}},
 "workload": {"trace": "trace.csv", "loop": "closed", "think_max_s": "1h", "load": 1.3, "load_by": "durations"}}
END
sed 's/"loop": "closed", "think_max_s": "1h", //' closed.json >open.json

# ---- What a run reports ----

windtunnel run open.json --out open --check
[ "$status" -eq 0 ] || fail "open: $(cat said.err)"
grep -q 'closed_loop' open/result.json && fail 'an open loop tells of a closed one'
windtunnel run closed.json --out closed --check
[ "$status" -eq 0 ] || fail "closed: $(cat said.err)"
grep -q '^Closed loop: [0-9]* jobs followed another one; submissions moved by' said.out ||
    fail "closed: $(cat said.out)"
sed '/^record in/d' said.out >closed.table
whole=$(fingerprint)
windtunnel report closed
grep '^Closed loop' closed.table >one
grep '^Closed loop' said.out | cmp -s - one || fail 'a report of the record tells another closed loop'
for loop in open closed; do # recorded waits mean something only at the recorded load
    sed 's/, "load": 1.3, "load_by": "durations"//' $loop.json >as_$loop.json
    windtunnel run as_$loop.json --out as_$loop
done
python3 - <<'END' || fail 'the closed loop differs from what it must be'
import json
def result(name):
    return json.load(open(name + '/result.json'))
def metric(name, key):
    return result(name)['metrics'][key]['value']
loop = {key: metric('closed', key) for key in result('closed')['metrics'] if key.startswith('closed_loop')}
assert loop['closed_loop_jobs'] > 100 and loop['closed_loop_held_jobs'] == 0, loop
assert loop['closed_loop_shift_mean_s'] > 0 and metric('closed', 'queue_length_mean') < metric('open', 'queue_length_mean'), loop
assert 'recorded_allocation_ratio' in result('as_open')['metrics']
assert 'recorded_wait_mean_s' in result('as_closed')['metrics']
assert 'recorded_allocation_ratio' not in result('as_closed')['metrics']
assert result('closed')['manifest']['scenario']['workload']['loop'] == 'closed'
END

# Its events replay, and a job that was not submitted yet is not known.
windtunnel run closed.json --out told --events
windtunnel decide --check told/events.jsonl.zst
[ "$status" -eq 0 ] || fail "decide: $(cat said.err)"
last=$(zstd -dqc closed/jobs.csv.zst | tail -n +2 | sort -n | tail -n 1 | cut -d, -f4)
windtunnel explain closed.json "$last" --at 60
grep -q "no job '$last' was submitted until 60 s" said.err || fail "explain: $(cat said.err)"

# ---- Forks ----

windtunnel run closed.json --out saved
for at in 3h 30000 1d; do
    windtunnel run saved --trust saved --fork-at $at --check --out fork
    [ "$status" -eq 0 ] && [ "$(fingerprint)" = "$whole" ] || fail "fork at $at: $(cat said.err)"
    zstd -dqc fork/jobs.csv.zst | tail -n +2 >fork.csv
    zstd -dqc saved/jobs.csv.zst | tail -n "$(wc -l <fork.csv)" | cmp -s - fork.csv || fail "fork at $at: other rows"
    grep '"closed_loop_shift_mean_s"' fork/result.json | head -1 >one
    grep '"closed_loop_shift_mean_s"' saved/result.json | head -1 | cmp -s - one || fail "fork at $at: other shifts"
    windtunnel run saved --trust saved --fork-at $at --policy conservative --check
    [ "$status" -eq 0 ] || fail "another policy from $at: $(cat said.err)"
done

# ---- Jobs that are held back to the end ----

windtunnel run closed.json --set world.end=5h --out cut --check
[ "$status" -eq 0 ] || fail "cut: $(cat said.err)"
python3 - <<'END' || fail 'jobs that did not come are not counted'
import json, subprocess
told = json.load(open('cut/result.json'))['metrics']['closed_loop_held_jobs']['value']
rows = subprocess.run(['zstd', '-dqc', 'cut/jobs.csv.zst'], capture_output=True, text=True, check=True).stdout
assert told + rows.count('\n') - 1 == 600 and told > 0, (told, rows.count('\n'))
END

# A job that is rejected has ended: what follows it comes.
printf 'job_id,submit_s,duration_s,gpus,nodes,user\n1,0,60,64,8,ann\n2,70,60,1,1,ann\n' >wide.csv
windtunnel run closed.json --set 'workload={"trace": "wide.csv", "loop": "closed"}' --out wide --check
[ "$status" -eq 0 ] || fail "wide: $(cat said.err)"
zstd -dqc wide/jobs.csv.zst | grep -q '^10,1,' || fail "wide: $(zstd -dqc wide/jobs.csv.zst)"

# A deadline stays as long after the submission: that of 2 is 600 s when it comes at 410 s, after that of 4.
cat >due.csv <<'END'
job_id,submit_s,duration_s,gpus,nodes,user,deadline_s
1,0,100,32,4,ann,
2,110,50,32,4,ann,300
3,400,200,32,4,,450
4,500,50,32,4,,550
END
windtunnel run closed.json --policy fifo --set 'policy.order=["deadline"]' --out due \
    --set 'workload={"trace": "due.csv", "loop": "closed", "duration_scale": 4}'
zstd -dqc due/jobs.csv.zst | tail -n +2 | cut -d, -f1,4 >came
printf '0,1\n400,3\n500,4\n410,2\n' | cmp -s - came || fail "deadlines: $(cat came said.err)"

# ---- What becomes of the trace elsewhere ----

windtunnel trace convert trace.csv --cluster four.json --set workload.loop=closed --out kept.csv
windtunnel trace convert trace.csv --cluster four.json --out plain.csv
cmp -s kept.csv plain.csv || fail 'a converted trace lost its recorded times'
windtunnel trace freeze closed.json --out frozen.jsonl
[ "$status" -eq 2 ] && grep -q '^error: a closed loop cannot be frozen' said.err && [ ! -e frozen.jsonl ] ||
    fail "freeze: status $status, $(cat said.err)"

# ---- What it cannot be combined with ----

no() { # words of the message, then options
    words=$1
    shift
    windtunnel run closed.json "$@"
    [ "$status" -eq 2 ] && grep -q "$words" said.err || fail "$*: status $status, $(cat said.err)"
}
no "'workload.loop' or --scheduler" --scheduler 'cat'
no "a closed loop is one of persons" --set 'workload.tenants={"users": {"*": "all"}}'
no "users make the gaps between arrivals" --set workload.load_by=arrivals
no "users make the gaps between arrivals" \
    --set 'workload={"trace": "trace.csv", "loop": "closed", "load": 0.9}'
no "beside 'fill'" --set 'workload={"trace": "trace.csv", "loop": "closed", "fill": {"load": 1}}'
no "'think_max_s' needs 'loop'" --set workload.loop=open
no "'loop' cannot stand in a part" --set 'workload={"merge": [{"trace": "trace.csv", "loop": "closed"}]}'
no "'loop' belongs to a trace" --set 'workload={"merge": [{"trace": "trace.csv"}], "loop": "closed"}'

# With what it can.
windtunnel run closed.json --set 'workload.growth={"queues": {"*": 1.5}}' --set workload.blocks=users \
    --set 'workload.shake={"arrivals_s": "5m", "run_time_sigma": 0.2}' --set workload.duration_scale=0.5 \
    --set 'workload.sample={"share": 0.8}' --check
[ "$status" -eq 0 ] || fail "all changes at once: $(cat said.err)"

# ---- Fields 17 and 18 of SWF ----

cat >users.swf <<'END'
; job 2 follows 1 after 7 s, though its user is another one; 3 names a job that is not there; 4 has no think time
1 0 -1 100 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1
2 500 -1 100 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 1 7
3 600 -1 100 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 99 7
4 900 -1 100 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 2 -1
END
windtunnel run closed.json --set 'workload={"trace": "users.swf", "loop": "closed"}' --set workload.duration_scale=2 \
    --out swf
zstd -dqc swf/jobs.csv.zst | tail -n +2 | cut -d, -f1,4 | sort -n >came
printf '0,1\n207,2\n600,3\n707,4\n' | cmp -s - came || fail "SWF: $(cat came)"
sed 's/ 1 7$/ x 7/' users.swf >bad.swf
refused 3 run closed.json --set 'workload={"trace": "bad.swf", "loop": "closed"}' <<'END'
error: bad.swf:3:46: 'preceding job' must be an integer from -1 to 9223372036854775806, got "x"
 3 | 2 500 -1 100 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 x 7
   |                                              ^
END
windtunnel run closed.json --set 'workload={"trace": "bad.swf"}'
[ "$status" -eq 0 ] || fail "an open loop reads think times: $(cat said.err)"
finish
