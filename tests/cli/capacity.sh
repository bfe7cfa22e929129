#!/bin/sh
# The recorded size of a cluster: all forms of world.capacity, what a record, a bundle, a fork and a sweep keep of it,
# and errors that name the place.
set -u
. tests/support/cli.sh

fingerprint() { # of said.err
    sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p' said.err
}
metric() { # name, record
    sed -n "s/^ \"$1\": {\"value\": \([-0-9.e+]*\),.*/\1/p" "$2/result.json"
}
runs() { # arguments
    windtunnel run "$@" --check --quiet
    [ "$status" -eq 0 ] || fail "run $*: status $status: $(cat said.err)"
}

cat >helios.csv <<'EOF'
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,u1,vcA,16,32,2,COMPLETED,2020-05-04 12:00:00,2020-05-04 12:00:00,2020-05-04 13:00:00,3600,0
2,u2,vcB,8,64,1,COMPLETED,2020-05-04 12:00:00,2020-05-04 12:00:00,2020-05-05 12:00:00,86400,0
3,u2,vcB,32,64,4,COMPLETED,2020-05-04 13:00:00,2020-05-06 00:00:00,2020-05-06 06:00:00,21600,126000
4,u2,vcB,8,64,1,COMPLETED,2020-05-07 12:00:00,2020-05-07 12:00:00,2020-05-07 13:00:00,3600,0
EOF
cat >days.csv <<'EOF'
date,vcA,vcB,total
2020-05-03,0,0,0
2020-05-04,16,16,32
2020-05-05,8,4.0,12
2020-05-06,16,16,32
2020-05-07,8,8,16
EOF
cat >helios.json <<'EOF'
{"cluster": "four.json", "workload": {"trace": "helios.csv"}, "policy": {"preset": "fifo"},
 "world": {"capacity": "days.csv"}}
EOF
cat >virtual.json <<'EOF'
{"name": "virtual", "pools": [{"name": "vcA", "nodes": 2, "gpus_per_node": 8, "gpu_model": "h100-80gb"},
   {"name": "vcB", "nodes": 2, "gpus_per_node": 8, "gpu_model": "h100-80gb", "node_name": "b%03u"}]}
EOF

# Helios' form.  Time 0 is 12:00 of May 4.  From 12 h to 36 h two nodes are in service (12 GPUs are 1.5 nodes), and
# job 2 runs on a third until 24 h; from 60 h two are.  The job of four nodes starts at 36 h.  GPU time is measured to
# the last submission, at 72 h.
runs helios.json --out rec
zstd -dqc rec/jobs.csv.zst | grep -q '^3600,2,3600,3,129600,' || fail "job 3 did not wait for nodes"
absent=$(metric spent_absent_gpu_h rec)
[ "$absent" = 480 ] || fail "GPU hours out of service: $absent, not 16 x 24 - 8 x 12 + 16 x 12"
in_service=$((72 * 32 - 480))
allocated=$(awk -v all=$in_service 'BEGIN { printf "%.12g", (16 + 8 * 24 + 32 * 6) / all }')
[ "$(printf '%.12g' "$(metric allocation_ratio rec)")" = "$allocated" ] ||
    fail "allocation is not of the GPUs in service"
recorded=$(metric recorded_allocation_ratio rec)
[ "$(printf '%.12g' "$recorded")" = "$allocated" ] || fail "recorded allocation: $recorded, not $allocated"
windtunnel report rec --json
[ "$status" -eq 0 ] || fail "report: $(cat said.err)"
grep -q '{"role": "capacity", "name": "days.csv", "digest": "[0-9a-f]*"}' rec/result.json ||
    fail "no digest of the file"
# A pool for each virtual cluster: 4 GPUs of vcB are half a node, which is rounded up.
runs helios.json --cluster virtual.json
by_pool=$(fingerprint)
runs helios.json --cluster virtual.json --set 'world.capacity=[{"time_s": 0, "pool": "vcA", "nodes": 2},
    {"time_s": "12h", "pool": "vcA", "nodes": 1}, {"time_s": "12h", "pool": "vcB", "nodes": 1},
    {"time_s": "36h", "pool": "vcA", "nodes": 2}, {"time_s": "36h", "pool": "vcB", "nodes": 2},
    {"time_s": "60h", "pool": "vcA", "nodes": 1}, {"time_s": "60h", "pool": "vcB", "nodes": 1}]'
[ "$(fingerprint)" = "$by_pool" ] || fail "dates and simulated times differ"
# A zone moves both clocks.
runs helios.json --cluster virtual.json --set workload.tz_offset=8h
[ "$(fingerprint)" = "$by_pool" ] || fail "a zone moves the dates of sizes against those of jobs"

# Dates that a trace without dates never reaches.
runs small.json --set world.capacity=days.csv
grep -q '^warning: the first date of days.csv is after the run' said.err || fail "no warning: $(cat said.err)"

# Constant, it changes nothing.
runs small.json
plain=$(fingerprint)
printf 'time_s,gpus\n0,32\n30,32\n' | zstd -q >all.csv.zst
runs small.json --set world.capacity=all.csv.zst --out all
[ "$(fingerprint)" = "$plain" ] || fail "a constant size changes the run"
[ -z "$(metric spent_absent_gpu_h all)" ] || fail "GPUs are out of service in a cluster of constant size"

# A bundle holds the file; forks begin with the nodes as they are.
windtunnel bundle rec --trust rec --out rec.bundle.json
[ "$status" -eq 0 ] || fail "bundle: $(cat said.err)"
mkdir elsewhere
cp rec.bundle.json elsewhere/
(cd elsewhere && timeout $seconds_max "$program" reproduce rec.bundle.json >said.out 2>&1) ||
    fail "reproduce: $(cat elsewhere/said.out)"
runs helios.json --out whole
whole=$(fingerprint)
for at in 12h 13h 2160m; do
    runs whole --trust whole --fork-at $at
    [ "$(fingerprint)" = "$whole" ] || fail "fork at $at: another fingerprint"
    runs whole --trust whole --fork-at $at --policy easy
done
cp days.csv kept.csv
sed -i 's/^2020-05-07,8/2020-05-07,16/; s/16$/32/' days.csv
windtunnel run whole --trust whole --fork-at 2160m
[ "$status" -eq 3 ] && grep -q "no file with the digest of 'days.csv' (capacity: " said.err ||
    fail "a changed capacity: $(cat said.err)"
mv kept.csv days.csv

# GPUs on nodes that drain are not free, and those on nodes in service are: job 4 starts beside the headroom.
cat >drain.csv <<'EOF'
job_id,submit_s,duration_s,gpus,nodes,user
1,0,100,8,1,ann
2,0,100,8,1,ann
3,0,10000,8,1,ann
4,200,100,8,1,bob
5,250,100,32,4,bob
EOF
cat >drain.json <<'EOF'
{"cluster": "four.json", "workload": {"trace": "drain.csv"},
 "policy": {"preset": "windtunnel", "set": {"headroom": {"gpus": 4}}},
 "world": {"capacity": [{"time_s": 50, "nodes": 2}, {"time_s": 20000, "nodes": 4}]}}
EOF
runs drain.json --out drain
zstd -dqc drain/jobs.csv.zst | grep -q '^200,3,200,4,200,' || fail "GPUs that drain are taken from those in service"
windtunnel explain drain.json 5 --at 400
grep -q ' 16 GPUs are free\.' said.out || fail "free GPUs: $(cat said.out)"

# A sweep reads it in each run.
echo '{"scenario": "helios.json", "factors": [{"name": "policy", "path": "policy.preset", "values": ["fifo", "easy"]}],
  "seeds": 1}' >sweep.json
windtunnel sweep run sweep.json --out swept
[ "$status" -eq 0 ] || fail "sweep: $(cat said.err)"
grep -q "days.csv" swept/plan.json || fail "the plan of a sweep does not know the file"

# ---- Errors ----

wrong() { # file, more arguments; the message is read
    file=$1
    shift
    cat >wanted
    refused 3 run helios.json --set world.capacity="$file" "$@" <wanted
}
sed 's/^2020-05-05,8/2020-05-05,40/' days.csv >bad.csv
wrong bad.csv --cluster virtual.json <<'EOF'
error: bad.csv:4:12: 'vcA' would have 5 nodes of pool 'vcA', which has 2
 4 | 2020-05-05,40,4.0,12
   |            ^~
  model the cluster at its largest: give the pool as many nodes as it ever had
EOF
sed 's/^2020-05-05,8/2020-05-05,/' days.csv >bad.csv
wrong bad.csv --cluster virtual.json <<'EOF'
error: bad.csv:4:12: 'vcA' must be a number of GPUs, but is missing
 4 | 2020-05-05,,4.0,12
   |            ^
EOF
sed 's/^2020-05-05/2020-05-02/' days.csv >bad.csv
wrong bad.csv <<'EOF'
error: bad.csv:4:1: 'date' goes back: the row before is later
 4 | 2020-05-02,8,4.0,12
   | ^~~~~~~~~~
EOF
sed 's/^2020-05-05/may 5/' days.csv >bad.csv
wrong bad.csv <<'EOF'
error: bad.csv:4:1: 'date' must be a date such as 2020-04-01, got "may 5"
 4 | may 5,8,4.0,12
   | ^~~~~
EOF
sed 's/vcB/vcC/' days.csv >bad.csv
wrong bad.csv --cluster virtual.json <<'EOF'
error: bad.csv:1: the header has no column 'vcB'
 1 | date,vcA,vcC,total
  each pool of the cluster needs a column of its name; of one pool 'total' will do
EOF
printf 'time_s,pool,nodes\n0,h100,4\n60,h101,3\n' >bad.csv
wrong bad.csv <<'EOF'
error: bad.csv:3:4: the cluster has no pool 'h101'
 3 | 60,h101,3
   |    ^~~~
EOF
printf 'time_s,nodes\n0,1\n' >bad.csv
wrong bad.csv --cluster virtual.json <<'EOF'
error: bad.csv:2: the row names no pool, and the cluster has 2: 'pool' must say which
 2 | 0,1
EOF
printf 'time_s,nodes,gpus\n0,1,8\n' >bad.csv
wrong bad.csv <<'EOF'
error: bad.csv:2: a row must have either 'nodes' or 'gpus'
 2 | 0,1,8
EOF
printf 'time_s,nodes\n0,5\n' >bad.csv
wrong bad.csv <<'EOF'
error: bad.csv:2:3: 'nodes' would have 5 nodes of pool 'h100', which has 4
 2 | 0,5
   |   ^
  model the cluster at its largest: give the pool as many nodes as it ever had
EOF
: >bad.csv
wrong bad.csv <<'EOF'
error: bad.csv is empty
EOF
cat >drawn.json <<'EOF'
{"cluster": "four.json", "world": {"capacity": "days.csv"}, "workload": {"model": "philly", "jobs": 10}}
EOF
refused 3 run drawn.json <<'EOF'
error: days.csv:1: the sizes have dates, but the jobs are of no trace
 1 | date,vcA,vcB,total
  write rows with the columns time_s, pool and nodes
EOF
refused 4 run helios.json --set world.capacity=nowhere.csv <<'EOF'
error: cannot open nowhere.csv: No such file or directory
EOF
refused 2 run helios.json --set 'world.capacity=[{"time_s": 0, "nodes": 5}]' <<'EOF'
error: --set world.capacity: pool 'h100' has 4 nodes, not 5
  at /world/capacity/0; model the cluster at its largest: give the pool as many nodes as it ever had
EOF
refused 2 run helios.json --set 'world.capacity=[{"time_s": 9, "nodes": 3}, {"time_s": 8, "nodes": 3}]' <<'EOF'
error: --set world.capacity: 'time_s' goes back: the entry before is later
  at /world/capacity/1
EOF
refused 2 run helios.json --set world.capacity=5 <<'EOF'
error: --set world.capacity: 'capacity' must be the path of a file or a list of sizes
  at /world/capacity
EOF
finish
