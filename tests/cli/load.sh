#!/bin/sh
# What a planner's question rests on: more nodes bring no more work, unless the scenario says so with a word of its own;
# classes keep their names; service levels are told met or not.
set -u
. tests/support/cli.sh

cat >mix.json <<'EOF'
{"cluster": "four.json",
 "workload": {"synth": {"duration": "2d", "load_whole_gpu": 1.0, "classes": [
   {"name": "notebooks", "class": "interactive", "share": 0.6, "sizes": [{"weight": 3, "gpus": 1}, {"weight": 1, "gpu_milli": 500}],
    "run_time": {"distribution": "lognormal", "median": "20m", "sigma": 1, "max": "12h"}},
   {"name": "gangs", "share": 0.4, "sizes": [{"gpus": 16, "nodes": 2}],
    "run_time": {"distribution": "exponential", "mean": "40m"}}]}},
 "policy": {"preset": "fifo"}, "world": {"end": "2d"}, "seed": 3}
EOF

run() { # folder, arguments
    folder=$1
    shift
    windtunnel run "$@" --quiet --out "$folder"
    [ "$status" -eq 0 ] || fail "$*: $(cat said.err)"
}
value() { # record folder, metric: of the whole run
    sed -n '/^"metrics"/,/^"by"/p' "$1/result.json" | sed -n "s/^.*\"$2\": {\"value\": \([^,]*\),.*\$/\1/p" | head -n 1
}
arrivals() { # record folder: what comes, when, how large it is and how much work it brings
    zstd -dcq "$1/jobs.csv.zst" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { run = $at["run_s"]; if (run == "") run = $at["end_s"] - $at["start_s"]
          work = $at["work_s"]; if (work == "") work = run
          asked = $at["work_asked_s"]; if (asked == "") asked = work
          printf "%d %s %s %.9g\n", $at["job_id"], $at["submit_s"], $at["gpus"], asked }' | sort -n
}
same_work() { # record folders
    arrivals "$1" >"$1.work"
    arrivals "$2" >"$2.work"
    [ -s "$1.work" ] && cmp "$1.work" "$2.work" || fail "$1 and $2 do not get the same work"
}
more_work() { # record folder, than the other
    [ "$(arrivals "$1" | wc -l)" -gt "$(arrivals "$2" | wc -l)" ] || fail "$1 gets no more jobs than $2"
}
less() { # metric, record folder, than the other
    awk -v a="$(value "$2" "$1")" -v b="$(value "$3" "$1")" 'BEGIN { exit !(a != "" && a < b) }' ||
        fail "$1: $(value "$2" "$1") of $2 is not below $(value "$3" "$1") of $3"
}

# ---- The what-if of the README ----

run four mix.json
run six mix.json --set cluster.pools.h100.nodes=6
same_work four six
less queue_time_p95_s six four
less offered_load_ratio six four
grep -q '^four: 6 nodes, 48 GPUs' said.out || fail "the head does not tell nodes and GPUs: $(head -n 1 said.out)"
grep -q '^offered load .* GPU h asked in 1d 23h$' said.out || fail 'the head does not tell the offered load'
grep -q '"workload": {"format": "synth", "load_gpus": 32, "gpu_hours_per_day": 710.4,' six/result.json ||
    fail "the manifest does not tell the work, 32 x 24 x (0.6 x 0.875 + 0.4): \
$(grep -o '"workload": {"f[^}]*}' six/result.json)"
"$program" report six | head -n 2 | cmp - /dev/fd/3 3<<EOF || fail 'report prints another head'
$(head -n 2 said.out)
EOF

# The classes of the mix have rows of their own, in the record, in result.json and in the table; sizes within them.
zstd -dcq six/jobs.csv.zst | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { count[$at["class"] " " $at["workload_class"] " " $at["gpus"]]++ }
    END { for (k in count) print k }' | sort | diff - /dev/fd/3 3<<'EOF' || fail 'the record tells other classes'
interactive notebooks 0.5
interactive notebooks 1
training gangs 16
EOF
python3 - six/result.json <<'EOF' || fail 'result.json has other cuts'
import json, sys
by = json.load(open(sys.argv[1]))["by"]
jobs = lambda cut: {key: value["jobs_submitted"]["value"] for key, value in by[cut].items()}
kinds, sizes = jobs("workload_class"), jobs("class_size")
assert list(kinds) == ["gangs", "notebooks"] and list(sizes) == ["gangs/9-16", "notebooks/<1", "notebooks/1"], (kinds, sizes)
assert kinds["gangs"] == jobs("class")["training"] and kinds["notebooks"] == sizes["notebooks/<1"] + sizes["notebooks/1"]
EOF
grep -q '^  gangs  ' said.out && grep -q '^  notebooks  ' said.out ||
    fail "the table has no row per class: $(cat said.out)"

# ---- Service levels and the page ----

cat >levels.json <<'EOF'
[{"metric": "queue_time_p95_s", "workload_class": "gangs", "max": "10m"},
 {"metric": "queue_time_max_s", "class_size": "notebooks/1", "max": 1e9, "min": 0},
 {"metric": "allocation_ratio", "min": 0.999},
 {"metric": "queue_time_p95_s", "queue": "nobody", "max": 1}]
EOF
run kept mix.json --title 'Six & more <nodes>' --set "service_levels=$(tr -d '\n' <levels.json)"
grep -q '^  queue_time_p95_s of gangs  *not met .* at most 10m 00s$' said.out ||
    fail "the table: $(sed -n 4,9p said.out)"
mv said.out kept.table
python3 - kept/result.json <<'EOF' || fail 'result.json has other service levels'
import json, sys
result = json.load(open(sys.argv[1]))
levels, by = result["service_levels"], result["by"]
assert [level["is_met"] for level in levels] == [False, True, False, None], levels
assert levels[0]["value"] == by["workload_class"]["gangs"]["queue_time_p95_s"]["value"] > levels[0]["max"] == 600
assert levels[1]["value"] == by["class_size"]["notebooks/1"]["queue_time_max_s"]["value"] and levels[1]["min"] == 0
assert levels[2]["value"] == result["metrics"]["allocation_ratio"]["value"] and levels[3]["value"] is None
EOF
for text in '<title>Six &amp; more &lt;nodes&gt;</title>' '<span class="unmet">not met<' '<span class="met">met<' \
    '<span class="unknown">not defined<' 'p95; median' '<h2>GPU time in 2d 00h</h2>'; do
    grep -qF "$text" kept/report.html || fail "the page has no $text"
done
"$program" report kept | cmp - kept.table || fail 'report prints other service levels'
"$program" report kept --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["service_levels"]) == 4' \
    || fail 'report --json tells no levels'
cp kept/report.html first.html
"$program" report kept --html >/dev/null && cmp first.html kept/report.html || fail 'report --html makes another page'
"$program" report kept --html --title Other >/dev/null && grep -q '<h1>Other</h1>' kept/report.html ||
    fail '--title of report'
run busy mix.json --set 'workload.synth.classes.notebooks.sm_active=[0.1,0.2]' \
    --set 'workload.synth.classes.gangs.sm_active=[0.5,0.8]'
grep -q '^  SM-active, assumed ' said.out && grep -q 'as the workload assumes: not measured' busy/report.html ||
    fail 'SM activity is not said to be assumed'
refused 2 run mix.json --set 'service_levels=[{"metric": "queue_time_p59_s", "max": 1}]' <<'EOF'
error: --set service_levels: there is no metric 'queue_time_p59_s'
  at /service_levels/0/metric; did you mean 'queue_time_p50_s'? `windtunnel metrics` lists them
EOF
refused 2 run mix.json --set 'service_levels=[{"metric": "allocation_ratio", "class": "training", "min": 1}]' <<'EOF'
error: --set service_levels: 'allocation_ratio' is of the whole run only: it has no cuts
  at /service_levels/0/metric
EOF
refused 2 run mix.json --set 'service_levels=[{"metric": "queue_time_p95_s"}]' <<'EOF'
error: --set service_levels: a service level has a bound: 'max' or 'min'
  at /service_levels/0
EOF

# ---- Gates are for comparisons: a run and validate only refuse what cannot be read ----

gates='[{"metric": "queue_time_p95_s", "class": "training", "max_increase": "5%"}]'
"$program" run mix.json --quiet --set "gates=$gates" || fail 'run does not take a scenario with gates'
"$program" validate mix.json --set "gates=$gates" >/dev/null || fail 'validate does not take a scenario with gates'
refused 2 run mix.json --set 'gates=[{"metric": "queue_time_p95_s", "max_increase": "5 percent"}]' <<'EOF'
error: --set gates: 'max_increase' must be a part of the base's value such as "5%", or a duration such as 90 or "15m"
  at /gates/0/max_increase
EOF
"$program" validate mix.json --set 'gates=[{"metric": "cost_usd"}]' >said.out 2>said.err &&
    fail 'validate takes a gate without a bound'
grep -q "^error: --set gates: a gate has a bound: 'max_increase', 'max_decrease', 'max' or 'min'$" said.err ||
    fail "validate: $(cat said.err)"

# The main scenario says of how many GPUs its load is.
for scenario in h100-500x8 bench bench-windtunnel gangs mig-inference; do
    grep -q '"load_gpus": [0-9]' "$repository/scenarios/$scenario.json" ||
        fail "$scenario.json does not say what its load is of"
done

# ---- The order of overrides says nothing; a number, another cluster, the explicit word ----

run again mix.json --set cluster.pools.h100.nodes=6 --set workload.synth.load_whole_gpu=0.9
run before mix.json --set workload.synth.load_whole_gpu=0.9 --set cluster.pools.h100.nodes=6
same_work again before
run named mix.json --set workload.load_gpus=32 --set cluster.pools.h100.nodes=6
same_work named six
run relative mix.json --set cluster.pools.h100.nodes=6 --set workload.load_gpus=cluster
more_work relative six
sed 's/"nodes": 4/"nodes": 6/' four.json >six.json
run other mix.json --cluster six.json
same_work other relative
run other mix.json --set cluster.pools.h100.nodes=4 --set cluster=six.json
same_work other relative

# The resolved scenario asks the same work again.
"$program" validate mix.json --set cluster.pools.h100.nodes=6 --resolved >resolved.json
run resolved resolved.json
same_work resolved six
run resolved resolved.json --set cluster.pools.h100.nodes=9
same_work resolved six

# ---- Traces ----

awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"
             for (i = 0; i < 200; i++)
                 print i "," i * 50 + i * i % 37 "," 300 + i * 7919 % 900 "," 1 + i % 8 }' >trace.csv
sed 's/small.csv/trace.csv/' small.json >trace.json
run t4 trace.json --set workload.load=1.2
run t6 trace.json --set workload.load=1.2 --set cluster.pools.h100.nodes=6
same_work t4 t6
less queue_time_p95_s t6 t4
awk -v offered="$(value t4 offered_load_ratio)" 'BEGIN { exit !(offered > 1.1999 && offered < 1.2001) }' ||
    fail "load 1.2 is offered as $(value t4 offered_load_ratio)"
run t6r trace.json --set workload.load=1.2 --set workload.load_gpus=cluster --set cluster.pools.h100.nodes=6
awk -v offered="$(value t6r offered_load_ratio)" 'BEGIN { exit !(offered > 1.1999 && offered < 1.2001) }' ||
    fail "load 1.2 of six nodes is offered as $(value t6r offered_load_ratio)"
# ---- A batch: 60 jobs of an hour within a minute, on 32 GPUs ----

awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"
             for (i = 0; i < 60; i++) print i "," i ",3600,1" }' >trace.csv
for end in none 2d; do
    run batch trace.json $([ $end = none ] || echo --set world.end=$end)
    grep -q '^makespan 2h 00m, 1.07 times its lower bound$' said.out || fail "the batch: $(sed -n 1,6p said.out)"
    grep -q '^a batch: 60 jobs come in 59 s and run 1h 00m on average; they ask 60 GPU h' said.out &&
        grep -q '^GPU time in 2h 00m$' said.out || fail "the batch until $end: $(sed -n 1,8p said.out)"
    grep -q 'offered load' said.out && fail "a batch has a load: $(sed -n 1,6p said.out)"
    grep -q '"measured_until_s": 7227,' batch/result.json || fail "$end: $(grep measured batch/result.json)"
    [ "$(value batch makespan_s)" = 7227 ] && [ "$(value batch makespan_bound_s)" = 6750 ] ||
        fail "makespan $(value batch makespan_s), bound $(value batch makespan_bound_s)"
    [ -z "$(value batch offered_load_ratio)" ] || fail "a batch of load $(value batch offered_load_ratio)"
    grep -q '>Makespan<' batch/report.html || fail 'the page does not begin with the makespan'
done
run batch trace.json --set world.end=90m
grep -q '^the makespan is not known: 28 jobs have not ended$' said.out || fail "cut off: $(sed -n 1,6p said.out)"
run batch trace.json --set workload.load=0.9 --set world.end=1d
grep -q '^offered load 90.0 %: 60 GPU h asked in 2h 05m$' said.out &&
    grep -q '^no job came after 2h 05m, but GPU time is measured until the end, at 1d 00h$' said.out ||
    fail "spread to a load: $(sed -n 1,6p said.out)"

# ---- What cannot be ----

refused 2 run mix.json --set workload.load_gpus=fleet <<'EOF'
error: --set workload.load_gpus: 'load_gpus' must be a number of GPUs, or "cluster": those of the cluster that runs
  at /workload/load_gpus
EOF
finish
