#!/bin/sh
# The scheduler driven by lines: a recorded run decides the same again, byte for byte, through files, pipes and as
# another program; and what is wrong with a stream is told with its place.
set -u
. tests/support/cli.sh

cat >busy.json <<'END'
{"cluster": {"pools": [
   {"name": "left", "nodes": 3, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512,
    "labels": {"rack": "r1"}},
   {"name": "right", "nodes": 2, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512,
    "labels": {"rack": "r2"}, "node_name": "right-%03u"},
   {"name": "cut", "nodes": 1, "gpus_per_node": 4, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512,
    "labels": {"rack": "r2"}, "max_tasks": 20,
    "gpus_layout": [["3g.40gb", "3g.40gb"], ["1g.10gb", "1g.10gb", "1g.10gb", "2g.20gb"]]}],
   "levels": ["rack", "node"]},
 "workload": {"trace": "busy.jsonl", "format": "jsonl"}, "policy": {"preset": "fifo"}}
END
awk -v jobs=200 -f "$repository/tests/support/busy.awk" >busy.jsonl
cat >tenants.json <<'END'
{"cluster": {"pools": [{"nodes": 10, "gpus_per_node": 8}]},
 "workload": {"synth": {"jobs": 250, "load_whole_gpu": 1.3,
   "tenants": {"organisations": 2, "teams": 4, "projects": 8, "zipf_exponent": 1.5},
   "classes": [
     {"name": "s", "class": "inference", "share": 0.2, "priority": 125, "arrivals": {"process": "poisson"},
      "sizes": [{"weight": 1, "gpus": 1}, {"weight": 1, "gpus": 4, "nodes": 1}],
      "run_time": {"distribution": "exponential", "mean": "30m"}},
     {"name": "t", "class": "training", "share": 0.8, "arrivals": {"process": "poisson"},
      "sizes": [{"weight": 3, "gpus": 1}, {"weight": 2, "gpus": 8, "nodes": 1}, {"weight": 1, "gpus": 32, "nodes": 4},
                {"weight": 2, "gpus": 12, "min_members": 4}],
      "run_time": {"distribution": "exponential", "mean": "1h"},
      "checkpoint": {"interval": "10m", "duration": 20, "restart": "1m"}}]}},
 "policy": {"preset": "fifo"}, "world": {"scheduler_period_s": 1}}
END

fingerprint() { # record folder
    sed -n 's/^ *"fingerprint": "\([0-9a-f]*\)",$/\1/p' "$1/result.json"
}

# The timeline but for what is not known of another program: what free GPUs are good for, and how space is reserved
# between its cycles (reserved_gpu_s).
known() { # record folder
    zstd -dcq "$1/timeline.csv.zst" | cut -d, -f1-15,17-20
}

answers='^{"\(start\|evict\|reserve\|release\|reject\|repartition\|done\)":'

# ---- What was recorded is decided again ----

replays() { # scenario, more arguments
    what="$*"
    rm -rf record other
    "$program" run "$@" --out plain >plain.out 2>/dev/null || fail "$what: does not run"
    "$program" run "$@" --out record --events >said.out 2>/dev/null || fail "$what: does not run with --events"
    cmp -s plain.out said.out || fail "$what: --events changes the table"
    [ -n "$(fingerprint plain)" ] && [ "$(fingerprint plain)" = "$(fingerprint record)" ] ||
        fail "$what: --events changes the fingerprint"
    zstd -dc record/events.jsonl.zst >events.jsonl
    grep "$answers" events.jsonl >expected
    [ "$(wc -l <expected)" -gt 300 ] || fail "$what: hardly anything was decided"
    cat expected >>all
    windtunnel decide record/events.jsonl.zst --strict
    [ "$status" -eq 0 ] || fail "$what: decide: status $status: $(cat said.err)"
    # numbers without gaps
    sed -n 's/^{"[a-z]*":\([0-9]*\),"job":.*/\1/p' expected | awk '$1 != NR { exit 1 }' ||
        fail "$what: the numbers of decisions have gaps"
    cmp expected said.out || fail "$what: decide answers otherwise"
    is_silent said.err "$what: decide"
    grep -v "$answers" events.jsonl | "$program" decide | cmp expected - || fail "$what: decide of facts alone"
    windtunnel decide record/events.jsonl.zst --check
    [ "$status" -eq 0 ] || fail "$what: --check: status $status"
    is_silent said.out "$what: --check"
    "$program" run "$@" --check --out other --events --scheduler "'$program' decide" >said.out 2>said.err ||
        fail "$what: decide as another program: $(cat said.err)"
    [ "$(fingerprint plain)" = "$(fingerprint other)" ] || fail "$what: another fingerprint with --scheduler"
    cmp record/events.jsonl.zst other/events.jsonl.zst || fail "$what: other events with --scheduler"
    known "record" >known
    known "other" | cmp - known || fail "$what: another timeline with --scheduler"
    goes_on
}

# Killed while it wrote its log, and started again, the scheduler answers what it had not, and its log is that of one
# that was never killed.  It begins with a description of what there is, too.
goes_on() { # the stream is events.jsonl, what it decides in expected
    grep -v "$answers" events.jsonl >facts
    rm -f whole cut state
    "$program" decide --log whole <facts | cmp expected - || fail "$what: --log changes the answers"
    cmp -s whole events.jsonl || "$program" decide whole --check >/dev/null 2>&1 || fail "$what: the log is no stream"
    head -c "$(($(wc -c <whole) * (stops % 7 + 2) / 9))" whole >cut
    told=$(sed '$d' cut | grep -vc "$answers") # the header too; the last line may be torn
    [ -n "$(tail -c 1 cut)" ] || told=$(grep -vc "$answers" cut)
    { head -n 1 facts; tail -n "+$((told + 1))" facts; } >rest
    "$program" decide --log cut <rest >after 2>said.err || fail "$what: does not go on: $(cat said.err)"
    head -n 1 after | grep -q "^{\"replayed\":$((told - 1))," || fail "$what: it says $(head -n 1 after)"
    cmp whole cut || fail "$what: the log of one that was killed is another"
    head -n 1000 facts | "$program" decide --describe state >/dev/null || fail "$what: --describe fails"
    "$program" decide state --strict --describe again || fail "$what: it does not take its own description"
    cmp state again || fail "$what: what was described is described otherwise"
    stops=$((stops + 1))
}
stops=0
: >all
for preset in fifo kai kueue windtunnel easy slurm; do
    replays tenants.json --policy $preset
    [ $preset = kueue ] || replays busy.json --policy $preset
done
replays busy.json --policy windtunnel --set world.decision_latency_s=7
replays busy.json --policy easy --set policy.estimate=history
# Nodes leave and come back: of one pool, and of three, one of which has MIG instances.
sizes='{"time_s": 0, "nodes": 6}, {"time_s": "30m", "nodes": 10}, {"time_s": "1h", "nodes": 3}'
sizes="$sizes, {\"time_s\": \"2h\", \"nodes\": 9}"
replays tenants.json --policy windtunnel --set "world.capacity=[$sizes]"
replays tenants.json --policy kai --set "world.capacity=[$sizes]" --set world.decision_latency_s=7
cat >sizes.csv <<'END'
time_s,pool,nodes
0,cut,0
300,left,1
600,cut,1
900,right,0
1200,left,3
1500,cut,0
1800,cut,1
3600,right,2
END
for preset in windtunnel easy; do
    replays busy.json --policy $preset --set world.capacity=sizes.csv
    grep -q '"state":"draining"' events.jsonl && grep -q '"state":"absent"' events.jsonl &&
        grep -q '"node_changed".*"state":"up"' events.jsonl || fail "$preset: the nodes' states were not told"
done
replays busy.json --policy windtunnel --set policy.geometry=on_demand --set cluster.pools.left.mig_recut=true
for kind in '"evict"' '"reserve"' '"partial":true' '"reject"' DependencyNever '"wake_at"' '"mig_start"' \
    '"milli":[0-9]*,' '"repartition"' '"layout":"whole"' '"members":[2-9]' '"source":"eviction"' '"for_job"'; do
    grep -q "$kind" all || fail "no run decided $kind: a weaker test than meant"
done
grep -q '"after"' events.jsonl && grep -q '"array_max"' events.jsonl || fail 'no dependencies or arrays were told'

[ "$stops" -ge 7 ] || fail "stopped only $stops times"

# A log is taken by who can go on with it, and by nobody else.
"$program" run tenants.json --policy kai --quiet --out record --events >/dev/null || fail 'tenants.json does not run'
rm -f log
"$program" decide record/events.jsonl.zst --cycles 99 --log log >/dev/null || fail '--log fails'
for bad in tenants.json record record/events.jsonl.zst; do
    windtunnel decide record/events.jsonl.zst --log $bad
    [ "$status" -eq 3 ] || [ "$status" -eq 4 ] || fail "--log $bad: status $status"
    grep -q "^error: .*$bad\|at $bad" said.err || fail "--log $bad does not name the file: $(cat said.err)"
    is_silent said.out "--log $bad"
done
windtunnel decide record/events.jsonl.zst --log log --policy fifo
[ "$status" -eq 3 ] && grep -q 'of another policy' said.err || fail "--log of another policy: $status, $(cat said.err)"
windtunnel decide record/events.jsonl.zst --log /dev/full
[ "$status" -eq 4 ] || fail "--log on a full disk: status $status"
windtunnel decide record/events.jsonl.zst --describe /dev/full
[ "$status" -eq 4 ] || fail "--describe to a full disk: status $status"

# A later record without events has none of the earlier one.
"$program" run small.json --quiet --out record >/dev/null || fail 'small.json does not run'
[ ! -e record/events.jsonl.zst ] || fail 'events of an earlier run stay in the record'
windtunnel run small.json --events
said 2 'run --events without --out' <<'END'
error: '--events' adds a file to the record: name its folder with --out
END

# ---- Differences ----

"$program" run small.json --quiet --out record --events >/dev/null || fail 'small.json does not run'
zstd -dc record/events.jsonl.zst >small.jsonl

differs() { # line, words of the message; the file is changed.jsonl
    windtunnel decide changed.jsonl --check
    [ "$status" -eq 10 ] || fail "--check of a changed file: status $status"
    grep -q "^error: changed.jsonl:$1:1: $2" said.err || fail "--check does not say '$1:1: $2' but: $(cat said.err)"
}
first=$(grep -n '^{"start"' small.jsonl | head -n 1 | cut -d : -f 1)
sed "${first}s/\"gpus\":\"0-7\"/\"gpus\":\"0-6\"/" small.jsonl >changed.jsonl
differs "$first" 'another decision: here it is {"start"'
sed "${first}d" small.jsonl >changed.jsonl
differs "$first" 'another decision: here it is {"start"'
sed "${first},$((first + 1))d" small.jsonl >changed.jsonl
differs "$first" 'missing: {"start"'
sed "${first}p" small.jsonl >changed.jsonl
differs $((first + 1)) 'another decision: here it is {"done":1}'
{
    cat small.jsonl
    sed -n "${first}p" small.jsonl
} >changed.jsonl
differs "$(wc -l <changed.jsonl)" 'this was not decided in the cycle of line'
sed 's/,/ , /g; s/^{/{ /' small.jsonl >changed.jsonl # another layout says the same
windtunnel decide changed.jsonl --check
[ "$status" -eq 0 ] || fail "--check of another layout: status $status: $(cat said.err)"
grep -v '^{"done"' small.jsonl >changed.jsonl
windtunnel decide changed.jsonl --check
[ "$status" -eq 0 ] || fail "--check without done: status $status: $(cat said.err)"

# ---- Overrides ----

cat >strict.jsonl <<'END'
{"windtunnel_events":1,"cluster":{"pools":[{"name":"p","nodes":1,"gpus_per_node":4}]},"queues":[],"policy":{"blocking":"strict"}}
{"job_submitted":0,"job":{"id":0,"groups":[{"gpus":2}]}}
{"job_submitted":0,"job":{"id":1,"groups":[{"gpus":3}]}}
{"job_submitted":0,"job":{"id":2,"groups":[{"gpus":1}]}}
{"cycle":0}
END
starts() { # number, arguments
    windtunnel decide strict.jsonl $2 $3
    [ "$(grep -c '^{"start"' said.out)" -eq "$1" ] || fail "decide $2 $3: not $1 starts: $(cat said.out said.err)"
}
starts 1 '' ''
starts 2 --set policy.blocking=skip
starts 2 --policy windtunnel
starts 3 --set cluster.pools.p.nodes=2
starts 3 --cluster four.json
refused_plainly 2 decide strict.jsonl --policy nonsense <<'END'
error: --policy:1:1: there is no policy preset 'nonsense'
 1 | "nonsense"
   | ^~~~~~~~~~
  at the root; `windtunnel policy list` lists them; a file's name holds '/' or ends in .json
END

# ---- Through pipes, a cycle at a time ----

mkfifo to from
"$program" decide <to >from &
child=$!
exec 3>to 4<from
sed -n 1p strict.jsonl >&3
sed -n 2,5p strict.jsonl >&3
answer=$(timeout 20 head -n 1 <&4)
[ "$answer" = '{"start":1,"job":0,"pieces":[{"node":"n0","gpus":"0-1"}]}' ] ||
    fail "no answer while the pipe is open: $answer"
exec 3>&- 4<&-
wait $child || [ $? -eq 4 ] || fail 'decide at the end of its input'

# ---- Streams that lack lines or repeat them: an answer or an error, never a crash ----

grep -v "$answers" events.jsonl >facts
for seed in 1 2 3 4 5 6 7 8 9 10; do
    awk -v seed=$seed 'BEGIN { srand(seed) }
        NR > 1 && rand() < 0.02 { next }
        NR > 1 && rand() < 0.02 && !/job_submitted/ { print }
        NR > 1 && rand() < 0.02 && /job_started/ { sub(/job_started/, "job_leaving"); sub(/,"decision":[0-9]*/, "") }
        { print }' facts >mangled.jsonl
    windtunnel decide mangled.jsonl --policy kai
    [ "$(grep -c '^{"done":' said.out)" -eq "$(grep -c '^{"cycle":' mangled.jsonl)" ] ||
        fail "mangled with seed $seed: it does not answer to its end"
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || fail "mangled with seed $seed: status $status: $(cat said.err)"
done

# ---- Lines that cannot be taken are answered, and the stream goes on ----

cat >wrong.jsonl <<'END'
{"windtunnel_events":1,"cluster":{"pools":[{"name":"p","nodes":1,"gpus_per_node":4}]},"queues":[{"name":"q"}],"policy":{}}
{"job_submitted":0,"job":{"id":0,"groups":[{"gpus":4}]}}
{"job_ended":0,"job":7,"end":"completed"}
{"cycle":0}
{"decision_refused":1,"decision":9,"why":"busy"}
{"decision_refused":1,"decision":1,"job":3,"why":"busy"}
{"job_started":1,"job":0,"decision":2}
{"job_evicted":1,"job":0,"decision":2,"end":"lost"}
{"node_changed":1,"node":"n7","state":"down"}
{"job_leaving":1,"job":0,"node":"n7"}
nonsense
{"job_submitted":1,"job":{"id":99999999,"groups":[{"gpus":1}]}}
{"queues_changed":1,"queues":[{"name":"r"},{"name":"s","quota_gpus":"all"}]}
{"job_submitted":1,"job":{"id":1,"queue":"r","groups":[{"gpus":4}]}}
{"cycle":0}
{"decision_refused":2,"decision":1,"why":"busy"}
{"job_cancelled":2,"job":0}
{"cycle":2}
END
windtunnel decide wrong.jsonl
[ "$status" -eq 3 ] || fail "a stream with bad lines: status $status, not 3"
sed 's/^\({"bad_line":[0-9]*\),.*/\1}/' said.out >answers
diff -u - answers <<'END' || fail 'wrong lines are answered otherwise'
{"unknown":"job","id":7,"line":3}
{"start":1,"job":0,"pieces":[{"node":"n0","gpus":"0-3"}]}
{"done":1}
{"unknown":"decision","id":9,"line":5}
{"unknown":"decision","id":1,"line":6}
{"unknown":"decision","id":2,"line":7}
{"unknown":"decision","id":2,"line":8}
{"unknown":"node","id":"n7","line":9}
{"unknown":"node","id":"n7","line":10}
{"bad_line":11}
{"bad_line":12}
{"bad_line":13}
{"bad_line":15}
{"start":2,"job":1,"pieces":[{"node":"n0","gpus":"0-3"}]}
{"done":1}
END
grep -q "bad_line\":13,\"why\":\"wrong.jsonl:13:69: 'quota_gpus'" said.out ||
    fail "a bad line is not told with its place: $(grep 'bad_line":13' said.out)"
windtunnel decide wrong.jsonl --strict
[ "$status" -eq 3 ] && grep -q '^error: wrong.jsonl:3:1: its job is not known' said.err ||
    fail "--strict goes on behind a job that is not there: $status, $(cat said.err)"

# ---- Bad streams ----

bad() { # status; the stream is bad.jsonl, the message on stdin
    windtunnel decide --strict bad.jsonl
    cat >expected.err
    [ "$status" -eq "$1" ] || fail "a bad stream: status $status, not $1"
    diff -u expected.err said.err || fail 'a bad stream: another message'
}
: >bad.jsonl
bad 3 <<'END'
error: bad.jsonl:1:1: the stream is empty: it begins with a header
END
echo '{"cycle":0}' >bad.jsonl
bad 3 <<'END'
error: bad.jsonl:1:1: the first line is no header of events
 1 | {"cycle":0}
   | ^~~~~~~~~~~
  at the root; it begins with {"windtunnel_events":1
END
{
    cat strict.jsonl
    echo '{"job_ended":1,"job":0,"end":"won"}'
} >bad.jsonl
bad 3 <<'END'
error: bad.jsonl:6:30: 'end' must be one of 'completed', 'failed', 'cancelled', 'limit'; got "won"
 6 | {"job_ended":1,"job":0,"end":"won"}
   |                              ^~~~~
  at /end
END
{
    sed 's/:0/:5/' strict.jsonl
    echo '{"cycle":4}'
} >bad.jsonl
bad 3 <<'END'
error: bad.jsonl:6:1: time goes back: the line before is later
 6 | {"cycle":4}
   | ^~~~~~~~~~~
END
{
    cat strict.jsonl
    sed -n 2p strict.jsonl
} >bad.jsonl
bad 3 <<'END'
error: bad.jsonl:6:1: its job was told before, or its number is too large
 6 | {"job_submitted":0,"job":{"id":0,"groups":[{"gpus":2}]}}
   | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
END
{
    cat strict.jsonl
    echo '{"job_adopted":0,"job":{"id":3,"groups":[{"gpus":1}]},"started_ns":0,"pieces":[{"node":"n0","gpus":"1"}]}'
} >bad.jsonl
windtunnel decide --strict bad.jsonl
[ "$status" -eq 3 ] && grep -q '^error: bad.jsonl:6:1: its pieces do not match the job, or are not free' said.err ||
    fail "a job adopted where another runs: status $status: $(cat said.err)"
# A fact that can be read, and that the scheduler refuses: the answers before it stand.
{
    cat strict.jsonl
    echo '{"job_adopted":1,"job":{"id":3,"groups":[{"gpus":1}]},"started_ns":5,"pieces":[{"node":"n0","gpus":"3"}]}'
} >bad.jsonl
windtunnel decide --strict bad.jsonl
[ "$status" -eq 3 ] && grep -q '^error: bad.jsonl:6:1: its time is before the last fact' said.err ||
    fail "a fact that the scheduler refuses: status $status: $(cat said.err)"
grep -q '^{"start":' said.out || fail 'a wrong fact: the answers before it are lost'
printf '{"windtunnel_events":1,"cluster":{"pools":[]},"queues":[],"policy":{}}\n' >bad.jsonl
bad 3 <<'END'
error: bad.jsonl:1:43: a cluster needs at least one pool
 1 | {"windtunnel_events":1,"cluster":{"pools":[]},"queues":[],"policy":{}}
   |                                           ^~
  at /cluster/pools
END
head -c 300 record/events.jsonl.zst >bad.jsonl
windtunnel decide bad.jsonl
[ "$status" -eq 3 ] || fail "a stream cut off: status $status"
"$program" decide strict.jsonl >/dev/full 2>said.err
[ $? -eq 4 ] || fail 'a full disk'
finish
