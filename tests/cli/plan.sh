#!/bin/sh
# Plans: the answer of a queue whose answer is known by counting, the same for any number of workers; cases; a replay,
# shaken and as it is; a signal; what is refused; a question of what if.
set -u
. tests/support/cli.sh
umask 022

# Jobs of a minute come one at a time on 4 nodes of a GPU, so that each is busy a quarter of the time.
cat >mmc.json <<'END'
{"cluster": {"name": "c", "pools": [{"name": "p", "nodes": 4, "gpus_per_node": 1, "gpu_model": "generic",
                                     "price_usd_per_gpu_h": 2},
                                    {"name": "q", "nodes": 1, "gpus_per_node": 1, "gpu_model": "generic",
                                     "price_usd_per_gpu_h": 1}]},
 "workload": {"load_gpus": 1, "synth": {"duration": "1d", "load_whole_gpu": 1, "classes": [
   {"name": "jobs", "class": "training", "share": 1, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 1, "gpus": 1, "nodes": 1}], "run_time": {"distribution": "exponential", "mean": "1m"}}]}},
 "policy": {"preset": "fifo"},
 "world": {"end": "1d", "warmup": "1h"},
 "service_levels": [{"metric": "queue_time_mean_s", "max": 20}]}
END

plan() { # expected status, arguments
    expected=$1
    shift
    windtunnel plan "$@"
    [ "$status" -eq "$expected" ] || fail "plan $*: status $status, not $expected: $(cat said.err said.out)"
}
ask() { # a Python expression of d, the object on standard output; what it must print
    said=$(python3 -c "import json; d = json.load(open('said.out')); print(($1))") || fail "$1"
    [ "$said" = "$2" ] || fail "$1 is '$said', not '$2'"
}

# ---- The answer, and the same from one worker and from three. ----

# Erlang: with 1.2 servers busy, jobs of a minute wait for 34 s on 2 and for 5 s on 3.
plan_nodes() { # expected status, arguments
    expected=$1
    shift
    plan "$expected" mmc.json --nodes p=1..40 --set cluster.pools.q.nodes=0 --set workload.synth.load_whole_gpu=1.2 "$@"
}
plan_nodes 0 -j 1
says said.out '^The least number of nodes of the pool p that meets the service levels is 3. Sure to 95 %.$'
says said.out '^  windtunnel run mmc.json .*--set cluster.pools.p.nodes=3 --seed 1$'
mv said.out one.out
plan_nodes 0 -j 3
cmp -s one.out said.out || fail 'the number of workers changes the answer'
plan_nodes 0 --json
ask '[d["cases"][0][key] for key in ("answer", "needed", "enough", "is_sure")]' '[3, 3, 3, True]'
ask '[len(p["seeds"]) == len(l["values"]) for p in d["cases"][0]["points"] for l in p["levels"]].count(False)' 0

# What it prints for a run is what the run says, and each run has a seed of its own.
ask '[len({v for v in l["values"] if v}) == len([v for v in l["values"] if v])
      for p in d["cases"][0]["points"] for l in p["levels"]].count(False)' 0
value=$(python3 -c 'import json; d = json.load(open("said.out"))["cases"][0]["points"]
print(next(p["levels"][0]["values"][0] for p in d if p["number"] == 3))')
windtunnel run mmc.json --quiet --set cluster.pools.q.nodes=0 --set workload.synth.load_whole_gpu=1.2 \
    --set cluster.pools.p.nodes=3 --seed 1 --out run
python3 -c "import json, sys
sys.exit(json.load(open('run/result.json'))['metrics']['queue_time_mean_s']['value'] != $value)" ||
    fail 'a run of the plan is not the run'

# No number of the range will do; one that ran out of runs is not sure.
plan 10 mmc.json --nodes p=1..2 --set cluster.pools.q.nodes=0 --set workload.synth.load_whole_gpu=2.5
says said.out '^No number of nodes of the pool p from 1 to 2 meets the service levels.$'
plan_nodes 11 --runs 3
says said.out '^With 4 nodes of the pool p the service levels are met in 2 of 2 seeds, not sure. The least that does$'
says said.out '^was not found in 2 runs\.$'

# Five seeds cannot prove anything at a probability of a millionth.
plan_nodes 11 --alpha 0.000001 --seeds 5
says said.out '^With 3 nodes of the pool p the service levels are met in 5 of 5 seeds, not sure; with 2 they are met$'
says said.out '^in 0 of 5 seeds, not sure\.'
plan_nodes 11 --alpha 0.000001 --seeds 5 --json
ask '[p["meets"] for p in d["cases"][0]["points"] if p["number"] == 3]' '[None]'

# One seed alone proves nothing either.
plan_nodes 11 --seeds 1
says said.out 'met in 1 of 1 seed, not sure'

# ---- Levels of the command line, growth, other values, a budget. ----

plan_nodes 0 --level 'queue_time_p99_s:class=training<=10m' --json
ask 'd["cases"][0]["points"][0]["levels"][0]["metric"], d["cases"][0]["points"][0]["levels"][0]["max"]' \
    "('queue_time_p99_s', 600)"
plan_nodes 0 --growth 100% --quarters 2 --runs 200 --lead-time 6mo
ask_growth=$(grep -c '^== ' said.out)
[ "$ask_growth" -eq 3 ] || fail "growth: $ask_growth cases"
says said.out '^  in 2 quarters (load 4.8)  *7 '
says said.out '^What there is, 4 nodes of the pool p, suffices for about 1\.0 quarters (3\.0 months), while the need$'
says said.out 'the order is 3\.0 months late\.$'
plan 0 mmc.json --nodes p=1..40 --set workload.synth.load_whole_gpu=2.4 --with pools.q.nodes=0,2 --runs 200 --json
ask '[c["case"] for c in d["cases"]]' "['cluster.pools.q.nodes=0', 'cluster.pools.q.nodes=2']"
ask 'd["cases"][0]["answer"] - d["cases"][1]["answer"]' 2
plan 0 mmc.json --nodes p=1..40 --set cluster.pools.q.nodes=0 --runs 300 --set workload.synth.load_whole_gpu=2.4 \
    --tornado workload.synth.classes.jobs.arrivals.diurnal_peak_to_mean=1..1.1 \
    --tornado workload.synth.load_whole_gpu=2..3
says said.out '^  workload.synth.load_whole_gpu  *2  *3  *4  *5  *1$'
sed -n '2p' said.out >second
says second load_whole_gpu # what moves it most comes first
windtunnel plan mmc.json --budget 6 --pool p --pool q --runs 40 --json
ask '[c["case"] for c in d["cases"]]' "['0 p, 6 q', '0 p, 6 q', '1 p, 4 q', '2 p, 2 q', '3 p, 0 q']"

# ---- A replay is shaken with each seed, and stands beside the answer; with --exact one run of a number decides. ----

plan 0 small.json --level 'queue_time_max_s<=30m' --nodes h100=4..9
says said.out 'Sure to 95 %'
says said.out '^  A replay is one of many that could have been'
plan 0 small.json --level 'queue_time_max_s<=30s' --nodes h100=4..9 --exact
says said.out '^The least number of nodes of the pool h100 that meets the service levels is 6\. One run '
says said.out '^  5  *1 '

# A sixth node makes jobs wait longer: small jobs spread over more nodes, and a gang finds fewer whole ones.  Found by
# search among random traces.
cat >anomaly.csv <<'END'
job_id,submit_s,duration_s,gpus,nodes
0,276,3060,3,1
1,567,1320,5,1
2,626,540,24,3
3,897,3360,5,1
4,1022,3120,6,1
5,1170,1020,6,1
6,1347,3060,1,1
7,1562,420,6,1
8,1594,2040,4,1
9,1715,300,5,1
10,1868,3180,16,2
11,2129,720,1,1
12,2139,1980,5,1
13,2264,840,1,1
END
cat >anomaly.json <<'END'
{"cluster": {"name": "c", "pools": [{"name": "p", "nodes": 5, "gpus_per_node": 8, "gpu_model": "generic"}]},
 "workload": {"trace": "anomaly.csv"}, "policy": {"preset": "fifo"}}
END
plan 0 anomaly.json --exact --level 'queue_time_mean_s<=350'
says said.out '^The least number of nodes of the pool p that meets the service levels is 7\. One run of each number'
says said.out '^More is not always better here: queue_time_mean_s is worse with 6 than with 5, by 28 s\.'
says said.out 'The levels are met with 5 too, but not with some between'

# Growth of a trace begins at the load that its jobs have, as `validate` tells it.
python3 - >trace.csv <<'END'
import random
draw, at = random.Random(3), 0
print("job_id,submit_s,duration_s,gpus")
for job in range(300):
    at += draw.expovariate(1 / 120)
    print("%d,%d,%d,%d" % (job, at, draw.expovariate(1 / 1500) + 60, draw.choice([1, 2, 4, 8])))
END
sed 's/"nodes": 5/"nodes": 8/; s/anomaly.csv/trace.csv/' anomaly.json >trace.json
windtunnel validate trace.json --json
ask '"%.4g" % d["workload"]["offered_load"]["ratio"]' 0.8533
plan 0 trace.json --exact --level 'queue_time_mean_s<=60' --growth 10% --quarters 1 --json
ask 'd["cases"][0]["case"], d["cases"][0]["sets"]' "('now (load 0.8533)', [])"
ask 'd["cases"][1]["sets"][0][:22]' workload.load=0.938661
ask 'd["growth"]["state"], d["growth"]["breaks_quarters"]' "('broken', 0)"

# ---- What if. ----

windtunnel plan mmc.json --what-if pools.p.nodes=+50% --what-if workload.synth.load_whole_gpu=x2 --html what.html
[ "$status" -eq 0 ] || fail "what if: $(cat said.err)"
says said.out '^What if cluster.pools.p.nodes=6, workload.synth.load_whole_gpu=2?$'
says said.out '^Service levels: as it is 1 of 1 met for sure; what if 1 of 1 met for sure\.$'
says said.out '^The cluster costs 13 USD/h, 4\.0 more than now\.$'
says said.out '^  queue_time_mean_s  *at most 20 s  *'
says said.out '^what if against as it is (5 pairs)$'

# ---- A signal leaves what is done. ----

"$program" plan mmc.json --nodes p=1..40 --set cluster.pools.q.nodes=0 --set workload.synth.duration=2000d \
    --set world.end=2000d >said.out 2>said.err &
waiting=$!
sleep 0.3
kill -TERM $waiting
wait $waiting 2>/dev/null
status=$?
[ $status -ge 128 ] || fail "a signal: status $status"
says said.out '^Partial: the plan was stopped.$'

# ---- A plan that keeps its runs goes on where it was, wherever it is killed. ----

kept() {
    before=$1
    shift
    $before "$program" plan mmc.json -j 2 --nodes p=1..40 --set cluster.pools.q.nodes=0 \
        --set workload.synth.load_whole_gpu=1.2 --set workload.synth.duration=4d --set world.end=4d "$@"
}
kept "" >whole.out 2>said.err || fail "kept: $(cat said.err)"
made=0
for kill in 1 2 3 4 5 6; do
    kept exec --keep kept --json >said.out 2>said.err & # exec: the signal is for the program
    waiting=$!
    sleep "$(awk -v seed="$kill" 'BEGIN { srand(seed); print 1.5 * rand() }')"
    kill -TERM $waiting 2>/dev/null
    wait $waiting 2>/dev/null
    status=$?
    runs=$(find kept -name '*.json.zst' | wc -l)
    [ "$runs" -ge $made ] || fail 'runs that were kept are gone'
    # It says nothing only if it had not begun, or had not yet heard of the runs that its two workers were keeping.
    [ -s said.out ] || [ "$runs" -le $((made + 2)) ] || fail 'a plan that was killed says nothing of its runs'
    made=$runs
    [ -s said.out ] || continue
    # All that ended is told, but for runs of a number that was judged by fewer.
    ask 'all(sum(len(p["seeds"]) for p in c["points"]) <= c["runs"] for c in d["cases"])' True
    ask 'all(len(p["seeds"]) > 0 for c in d["cases"] for p in c["points"]) or d["cases"][0]["runs"] == 0' True
done
kept "" --keep kept >said.out 2>said.err || fail "kept: $(cat said.err)"
cmp -s whole.out said.out || fail "kept runs change the answer: $(diff whole.out said.out)"
made=$(find kept -name '*.json.zst' | wc -l)
kept "" --keep kept >said.out 2>said.err
[ "$(find kept -name '*.json.zst' | wc -l)" -eq "$made" ] || fail 'a run that is kept is made again'
[ "$made" -eq "$(sed -n 's/^\([0-9]*\) runs, of at most .*/\1/p' whole.out)" ] || fail "$made runs are kept"

# A comparison of the same scenario makes no run again that the plan made.
windtunnel compare --scenario mmc.json --set cluster.pools.q.nodes=0 --set workload.synth.load_whole_gpu=1.2 \
    --set workload.synth.duration=4d --set world.end=4d --side three --set cluster.pools.p.nodes=3 --side four \
    --seeds 2 --no-why --keep kept --quiet
[ "$status" -eq 0 ] || fail "compare: $(cat said.err)"
[ "$(find kept -name '*.json.zst' | wc -l)" -eq "$made" ] || fail 'a comparison makes runs that are kept'

# ---- What is refused. ----

refused_plainly 2 plan small.json <<'END'
error: there are no service levels to be met
  give some with --level 'queue_time_p95_s:class=training<=1h', or as service_levels of the scenario
END
refused_plainly 2 plan mmc.json --nodes p --capacity <<'END'
error: one question at a time: --nodes, --capacity, --budget, --smallest or --largest
END
refused_plainly 2 plan mmc.json <<'END'
error: the cluster has several pools: name one with --nodes POOL
END
refused_plainly 2 plan mmc.json --nodes p=9..3 <<'END'
error: '--nodes' has no range that can be searched: 'p=9..3'
  a range is LOW..HIGH or LOW..HIGH/STEP, such as 1..800 or 0.5..1.5/0.01
END
refused_plainly 2 plan mmc.json --nodes x <<'END'
error: the cluster has no pool 'x'
END
refused_plainly 2 plan mmc.json --nodes p --level 'queue_time_p95_s<10' <<'END'
error: '--level' wants METRIC[:CUT=KEY]<=BOUND or >=BOUND, got 'queue_time_p95_s<10'
  for example 'queue_time_p95_s:class=training<=1h'; `windtunnel metrics` lists the names
END
refused_plainly 2 plan mmc.json --nodes p --level 'queue_time_mean_s:class=inference<=10' <<'END'
error: queue_time_mean_s of inference is not defined in the runs: no job is meant
  the report of one run lists the keys that a metric has
END
refused_plainly 2 plan mmc.json --nodes p --quarters 2 <<'END'
error: '--quarters' counts quarters of growth: give --growth too
END
refused_plainly 2 plan mmc.json --nodes p --pool q <<'END'
error: '--pool' names a pool of a budget: give --budget too
END
refused_plainly 2 plan mmc.json --what-if pools.p.nodes=+1 --growth 10% <<'END'
error: --what-if seeks nothing: it goes without --growth
END
refused_plainly 2 plan mmc.json --what-if pools.z.nodes=+1 <<'END'
error: the scenario has no value 'cluster.pools.z.nodes'
  a path is as for --set, such as cluster.pools.h100.nodes; `windtunnel schema` lists them
END
finish
