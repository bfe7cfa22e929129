#!/bin/sh
# Comparisons: the same sides are equal, a worse one is caught, a crash is told and loses nothing else, a signal leaves
# what is done; the values are those of the runs alone; every format; baselines; what is refused.
set -u
. tests/support/cli.sh
umask 022

cat >ten.json <<'END'
{"name": "ten", "pools": [{"name": "h100", "nodes": 10, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]}
END
cat >mix.json <<'END'
{"cluster": "ten.json",
 "workload": {"synth": {"duration": "2d", "load_whole_gpu": 0.8, "classes": [
   {"name": "jobs", "class": "training", "share": 0.7, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 5, "gpus": 1, "nodes": 1}, {"weight": 2, "gpus": 8, "nodes": 1}, {"weight": 1, "gpus": 16}],
    "run_time": {"distribution": "lognormal", "median": "30m", "sigma": 1}},
   {"name": "chat", "class": "inference", "share": 0.3, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 1, "gpus": 1, "nodes": 1}],
    "run_time": {"distribution": "lognormal", "median": "1h", "sigma": 0.5}}]}},
 "policy": {"preset": "fifo"},
 "world": {"end": "2d", "warmup": "6h"}}
END

compare() { # expected status, arguments
    expected=$1
    shift
    windtunnel compare "$@"
    [ "$status" -eq "$expected" ] || fail "compare $*: status $status, not $expected: $(cat said.err said.out)"
}
ask() { # a Python expression of d, the comparison in c.json; what it must print
    said=$(python3 -c "import json; d = json.load(open('c.json')); print(($1))") || fail "c.json: $1"
    [ "$said" = "$2" ] || fail "$1 is '$said', not '$2'"
}
gate() { # the gates' array
    printf '{"gates": [%s]}\n' "$1" >gates.json
}

# ---- A trace and a cluster need no scenario; more than three sides are first told in a table. ----

awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"
    for (i = 1; i <= 60; i++) print i "," i * 60 ",3600," (i % 3 ? 8 : 16) }' >jobs.csv
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --policy easy --policy kai --policy windtunnel
awk '/against/ { exit } { print }' said.out >head.out
for side in fifo easy kai windtunnel; do
    grep -q "^  $side  *[0-9]" head.out || fail "no line of '$side' in the table: $(cat head.out)"
done
grep -q ' allocated .* slowdown .* goodput .* completed' head.out || fail "the table has no headings: $(cat head.out)"
"$program" run --trace jobs.csv --cluster ten.json --policy easy --quiet --out easy >/dev/null ||
    fail 'the trace does not run'
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --policy easy --write json=c.json
! grep -q 'mean wait' said.out || fail 'two sides are told in a table'
mean=$(python3 -c 'import json
print(round(json.load(open("easy/result.json"))["metrics"]["queue_time_mean_s"]["value"], 6))')
ask 'round([m["replays"][1]["value"] for m in d["metrics"] if m["metric"] == "queue_time_mean_s"][0], 6)' "$mean"
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --policy easy --write json=c.json --exact
ask 'round([m["values"][1][0] for m in d["metrics"] if m["metric"] == "queue_time_mean_s"][0], 6)' "$mean"
compare 0 --trace jobs.csv --cluster ten.json --side a --side b:policy.preset=easy
compare 2 --trace jobs.csv --policy fifo --policy easy
grep -q "needs a cluster: name it with --cluster" said.err || fail "a trace without a cluster: $(cat said.err)"

# ---- Equal sides: every value of every seed, so all marks are =, and gates of no tolerance pass at once. ----

compare 0 --scenario mix.json --side a --side b --seeds 10 --write json=c.json
says said.out 'Of [0-9]* metrics of the whole run: [0-9]* equal (=)$'
is_silent said.err 'equal sides'
ask 'sorted({x["mark"] for m in d["metrics"] for x in m["differences"]})' "['=']"
ask 'len(d["metrics"]) > 400, d["seeds"], d["is_complete"], d["verdict"]' '(True, 10, True, None)'
ask 'all(m["values"][0] == m["values"][1] for m in d["metrics"])' True
gate '{"metric": "queue_time_p95_s", "max_increase": "0%"}, {"metric": "jain_fairness", "max_decrease": 0}'
compare 0 --scenario mix.json --side a --side b --gates gates.json
says said.out '^Verdict: passed: all gates$'
says said.out '5 seeds (1 to 5), look 1 of at most 4'

# ---- The values are those of `run`, whatever the number of workers. ----

compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 3 --seed 7 --write json=c.json --jobs 1
mv c.json one.json
mv said.out one.out
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 3 --seed 7 --write json=c.json --jobs 5
cmp -s one.json c.json || fail 'the number of workers changes the result'
cmp -s one.out said.out || fail 'the number of workers changes the table'
"$program" run mix.json -p windtunnel --seed 8 --quiet --out rec >/dev/null || fail 'no record'
python3 - <<'END' || fail 'the values are not those of the run'
import json
run = json.load(open('rec/result.json'))
compared = json.load(open('c.json'))
cuts = list(run['by'])
count = 0
for metric in compared['metrics']:
    value = metric['values'][1][1]  # windtunnel, seed 8
    group = run['metrics']
    for cut in cuts:
        if cut in metric:
            group = run['by'][cut].get(metric[cut], {})
    alone = group.get(metric['metric'], {}).get('value')
    if value != alone:
        raise SystemExit('%s: %s, not %s' % (metric, value, alone))
    count += value is not None
written = sum(len(g) for groups in run['by'].values() for g in groups.values()) + len(run['metrics'])
if count != written or count < 400:
    raise SystemExit('%d values, and the run has %d' % (count, written))
if compared['sides'][1]['runs'][1]['fingerprint'] != run['manifest']['fingerprint']:
    raise SystemExit('another fingerprint')
END
# Records give the same as the runs.
"$program" run mix.json -p fifo --seed 8 --quiet --out rec0 >/dev/null
compare 0 rec0 rec --write json=r.json
compare 0 --scenario mix.json -p fifo -p windtunnel --seeds 1 --seed 8 --write json=c.json
python3 - <<'END' || fail 'records and runs differ'
import json
a, b = json.load(open('r.json')), json.load(open('c.json'))
raise SystemExit(a['metrics'] != b['metrics'])
END
says said.out 'One pair has no interval'

# ---- A tenth of the nodes is gone: caught, and by how much is said. ----

gate '{"metric": "queue_time_p95_s", "class": "training", "max_increase": "5%"}'
compare 10 --scenario mix.json --side good --side worse:cluster.pools.h100.nodes=9 --gates gates.json
says said.out '^Verdict: failed: 1 of 1 gates$'
says said.out '^  worse: queue_time_p95_s of training: +[0-9.]* % (interval +.*at most +5 % allowed: failed$'
compare 0 --scenario mix.json --side worse:cluster.pools.h100.nodes=9 --side good --gates gates.json
says said.out 'good: queue_time_p95_s of training: -.*passed$'
# Gates of the scenario itself; a side of its own; several sides.
python3 -c '
import json
s = json.load(open("mix.json"))
s["gates"] = [{"metric": "queue_time_p95_s", "max_increase": "5%", "side": "worse"}]
json.dump(s, open("gated.json", "w"))'
compare 10 --scenario gated.json --side good --side same --side worse:cluster.pools.h100.nodes=9
says said.out '^Verdict: failed: 1 of 1 gates$'
says said.out '^same against good'
says said.out '^worse against good'

# ---- Not decided: two seeds tell little. ----

gate '{"metric": "queue_time_p95_s", "class": "training", "max_increase": "1%"}'
compare 11 --scenario mix.json -p fifo -p windtunnel --seeds 2 --gates gates.json
says said.out '^Verdict: inconclusive: 1 of 1 gates; queue_time_p95_s of training holds it up: '
says said.out 'seeds would '
! grep -q -e '--seeds-max' said.out || fail 'so many seeds were asked for, and yet more are offered'
compare 2 --scenario mix.json -p fifo -p windtunnel --seeds 2 --seeds-max 5 --gates gates.json
says said.err "'--seeds-max' bounds the looks of '--seeds auto'"

# ---- An inconclusive gate names the seeds that decide, and is decided with them. ----

gate '{"metric": "queue_time_p95_s", "class": "training", "max_increase": "5%"}'
compare 11 --scenario mix.json --side a --side b:cluster.pools.h100.nodes=11 --seeds-max 3 --gates gates.json \
    --format json
mv said.out c.json
ask 'd["seeds"], d["gates"][0]["seeds_needed"] > 3' '(3, True)'
named=$(python3 -c 'import json; print(int(json.load(open("c.json"))["gates"][0]["seeds_needed"]))')
compare 11 --scenario mix.json --side a --side b:cluster.pools.h100.nodes=11 --seeds-max 3 --gates gates.json
tr '\n' ' ' <said.out | tr -s ' ' >line.out
says line.out "holds it up: $named seeds would decide it, four times in five (--seeds-max $named) b: "
compare 0 --scenario mix.json --side a --side b:cluster.pools.h100.nodes=11 --seeds-max "$named" --gates gates.json
says said.out '^Verdict: passed: the gate$'

# ---- A bound that the base breaks already: no change passes, and one for the worse fails. ----

gate '{"metric": "queue_time_p95_s", "class": "training", "max": 1}'
compare 0 --scenario mix.json --side a --side b --gates gates.json
tr '\n' ' ' <said.out | tr -s ' ' >line.out
says line.out "(the base's values in all 5 seeds), at most 1.0 s allowed: passed, the base already breaks it ("
compare 10 --scenario mix.json --side good --side worse:cluster.pools.h100.nodes=8 --gates gates.json
tr '\n' ' ' <said.out | tr -s ' ' >line.out
says line.out 'failed, worse than the base ([^)]*), which breaks it too '

gate '{"metric": "queue_time_p95_s", "class": "interactive", "max_increase": "1%"}'
compare 11 --scenario mix.json -p fifo -p windtunnel --seeds 2 --gates gates.json
says said.out 'not defined$'

# ---- Two scenarios with other jobs. ----

sed 's/0.8,/0.7,/' mix.json >less.json
compare 0 mix.json less.json --seeds 2
says said.err "^warning: 'less' gets other jobs than 'mix' (first with seed 1, in 2 of 2 seeds)"

# ---- A replay is one draw: it is shaken with each seed, and the replay as it is stands beside that. ----

compare 0 --trace jobs.csv --cluster ten.json --policy fifo --policy easy --seeds 4 --write json=c.json --out shaken
says said.out '^2 sides, 4 seeds (1 to 4) of a shaken trace (arrivals by up to 1m 00s, run times by sigma 0.01); the'
says said.out '^This replay, beside the shaken ones$'
says said.out '^  queue_time_mean_s  *fifo  *[0-9hms ]*  *[0-9hms ]*  *\([0-9.]* deviations [ab]\|on their mean\)'
says said.out 'Where they part, in the replay as it is'
"$program" run --trace jobs.csv --cluster ten.json --policy easy --seed 3 --quiet --out third \
    --set 'workload.shake={"arrivals_s": 60, "run_time_sigma": 0.01}' >/dev/null || fail 'a shaken run'
python3 - <<'END' || fail 'the replay and the shaken runs are not those of `run`'
import json, statistics
d, third, easy = (json.load(open(f)) for f in ('c.json', 'third/result.json', 'easy/result.json'))
assert [r['fingerprint'] for r in d['sides'][1]['runs']][2] == third['manifest']['fingerprint']
assert d['sides'][1]['replay']['fingerprint'] == easy['manifest']['fingerprint']
assert json.load(open('shaken/easy/result.json'))['manifest']['fingerprint'] == easy['manifest']['fingerprint']
assert not d['is_exact'] and d['is_replay_shaken'] and d['seeds'] == 4
spread = 0
for m in d['metrics']:
    for values, replay in zip(m['values'], m['replays']):
        if replay['deviations'] is None or None in values:
            continue
        deviation = statistics.stdev(values)
        lies = (replay['value'] - statistics.mean(values)) / deviation if deviation > 0 else 0
        assert abs(lies - replay['deviations']) < 1e-6 * max(1, abs(lies)), (m['metric'], values, replay)
        assert replay['below'] == sum(v < replay['value'] for v in values)
        spread += deviation > 0
assert spread > 20, spread
END
# The same scenario with shaking of its own keeps it, and has no replay as it is.
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --policy easy --seeds 2 --shake 30s --write json=c.json
says said.out '2 seeds (1 to 2) of a shaken trace (arrivals by up to 30 s); the'
ask 'd["is_replay_shaken"], "replay" in d["sides"][0], "replays" in d["metrics"][0]' '(False, False, False)'
# A baseline says how its replays were shaken, and is taken for such alone.
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --seeds 3 --save-baseline shaken.json
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --exact --save-baseline plain.json
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --baseline shaken.json --seeds 3
says said.out 'Of [0-9]* metrics of the whole run: [0-9]* equal (=)'
compare 0 --trace jobs.csv --cluster ten.json --policy fifo --baseline plain.json --exact
refused_plainly 2 compare --trace jobs.csv --cluster ten.json --policy fifo --baseline plain.json <<'END'
error: the baseline plain.json is of a replay as it is, and here it is shaken
  make it again with --save-baseline, or compare with --exact
END
refused_plainly 2 compare --trace jobs.csv --cluster ten.json --policy fifo --baseline shaken.json --exact <<'END'
error: the baseline shaken.json is of a replay that was shaken, and here it is not shaken
  leave out --exact, or ask for more than one seed
END
# A run says the same of itself.
"$program" run --trace jobs.csv --cluster ten.json --policy easy --shakes 4 >said.out 2>said.err || fail 'run --shakes'
says said.out '^This replay, beside shaken ones$'
"$program" run mix.json --shakes 2 --quiet >said.out 2>said.err || fail 'run --shakes of a mix'
says said.out '^This run, beside others by chance$'

# ---- With --exact one run of each decides, however many seeds are asked for. ----

gate '{"metric": "makespan_s", "max_increase": "1%"}'
compare 10 --scenario small.json --side fewer:cluster.pools.h100.nodes=2 --side all --gates gates.json --seeds 10 \
    --exact
# The job of 32 GPUs does not fit 16.
says said.err "^warning: 'fewer' completed fewer jobs than 'all' (2, not 3): "
[ "$(wc -l <said.err)" -eq 1 ] || fail "a replay: $(cat said.err)"
gate '{"metric": "makespan_s", "max_increase": "0%"}'
compare 0 --scenario small.json --side all --side more:policy.blocking=skip --gates gates.json --seeds 10 \
    --write json=c.json --exact
says said.out 'this replay alone, n = 1'
ask 'd["is_exact"], d["seeds"], len(d["sides"][0]["runs"])' '(True, 1, 1)'
# Estimates that are drawn are chance.
compare 0 --scenario small.json --side a --side b --set 'world.estimates={"kind": "noisy"}' --seeds 3
says said.out '2 sides, 3 seeds (1 to 3)'

# A shaken one has seeds, the same jobs on both sides, and equal sides stay equal.
compare 0 --scenario small.json --side a --side b --shake 30s,0.1 --seeds 4 --write json=c.json
says said.out '^2 sides, 4 seeds (1 to 4) of a shaken trace (arrivals by up to 30 s, run times by sigma 0.1); the'
is_silent said.err 'a shaken trace'
ask 'len({r["arrivals"] for r in d["sides"][0]["runs"]})' 4
ask '[r["arrivals"] for r in d["sides"][0]["runs"]] == [r["arrivals"] for r in d["sides"][1]["runs"]]' True
ask 'sorted({x["mark"] for m in d["metrics"] for x in m["differences"]})' "['=']"
compare 2 --scenario mix.json --side a --side b --shake 30s
says said.err "'shake' belongs to a trace; a synthesized workload has no such thing"
compare 2 --scenario small.json --side a --side b --shake 0
says said.err "'shake' needs 'arrivals_s' or 'run_time_sigma' above 0"
compare 0 --scenario small.json --side a --side b --shake 30s --set workload.fill.load=1 --seeds 2
says said.out '2 seeds (1 to 2) of a shaken trace'
compare 2 --scenario small.json --side a --side b --shake soon
says said.err "^error: '--shake' wants ARRIVALS or ARRIVALS,SIGMA such as 5m,0.1, got 'soon'$"

# ---- A run that crashes. ----

if pkg-config --exists jansson; then
    compile() { # name; the statement at each rank
        cat >"$1.c" <<END
#include "policies/plugin.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int count;
static uint64_t rank(const struct order_view *v, const struct order_config *c)
{
    (void)v, (void)c;
    count++;
    $2;
    return 0;
}
static const struct order_policy policy = {.name = "mine", .version = 1, .summary = "s", .rank = rank};
const struct windtunnel_plugin windtunnel_plugin = {PLUGIN_FOR(ORDER), .name = "test", .version = "1",
                                                    .policy = &policy};
END
        # shellcheck disable=SC2046 # a list of flags
        "${CC:-cc}" -std=gnu11 -w -O1 -I"$repository" $(pkg-config --cflags jansson) -fPIC -shared -o "$1.so" "$1.c" ||
            fail "$1.c does not compile"
    }
    mine='policy.order=["mine"]'
    # The run of one seed alone: at the rank of a job that no other seed has.
    "$program" run mix.json --seed 3 --quiet --out three >/dev/null || fail 'seed 3 does not run'
    submit=$(zstd -dc three/jobs.csv.zst | python3 -c '
import csv, decimal, sys
row = list(csv.DictReader(sys.stdin))[50]
print(int(decimal.Decimal(row["submit_s"]) * 1000000000))')
    compile some "if (v->submit == INT64_C($submit)) abort()"
    compare 10 --scenario mix.json --plugin some.so --side good --side "bad:$mine" --seeds 4 --write json=c.json
    says said.err "^error: the run of 'bad' with seed 3 failed: signal 6 (Aborted)$"
    says said.err "^  | error: plug-in some.so (order policy 'mine') crashed in its hook 'rank': SIGABRT"
    says said.out '^Verdict: failed: 1 of 4 runs of bad failed, and none of good$'
    says said.out '^  bad, seed 3: signal 6 (Aborted)$'
    says said.out '^bad against good (3 pairs)$'
    ask '[[r["state"] for r in s["runs"]] for s in d["sides"]]' \
        "[['done', 'done', 'done', 'done'], ['done', 'done', 'failed', 'done']]"
    # All runs of a side, and all runs.
    compile all 'abort()'
    compare 10 --scenario mix.json --plugin all.so --side good --side "bad:$mine" --seeds 2
    says said.out 'There is no seed that both sides have run'
    compare 5 --scenario mix.json --plugin all.so --side a --side b --set "$mine" --seeds 2
    says said.err '^error: no run succeeded; the first, .a. with seed 1: signal 6 (Aborted)$'
    gate '{"metric": "queue_time_p95_s", "max_increase": "50%"}'
    compare 10 --scenario mix.json --plugin all.so --side good --side same --side "bad:$mine" --gates gates.json \
        --seeds 5 --write junit=c.xml --write github=c.txt
    says c.xml '<error type="run" message="signal 6 (Aborted)">'
    says c.txt '^::error title=windtunnel compare::the run of .bad. with seed 1 failed: signal 6 (Aborted)%0A'
    # The base that crashes says nothing of the other side, and a machine that kills nothing of the policy.
    compare 11 --scenario mix.json --plugin all.so --side "bad:$mine" --side good --seeds 2
    says said.out '^Verdict: no gates; incomplete: 2 of 4 runs failed$'
    compile killed 'raise(9)'
    compare 11 --scenario mix.json --plugin killed.so --side good --side "bad:$mine" --seeds 2
    says said.out '^Verdict: no gates; incomplete: 2 of 4 runs failed$'
    # Auto stops at the first look: more seeds would crash as well.
    compare 10 --scenario mix.json --plugin all.so --side good --side "bad:$mine" --gates gates.json --write json=c.json
    ask 'd["seeds"]' 5
    # A side that waits for ever has failed when the time is up.
    compile hangs 'pause()'
    compare 10 --scenario mix.json --plugin hangs.so --side good --side "bad:$mine" --side late --seeds 1 --no-why \
        --time 10s --jobs 1
    says said.err "^error: the run of 'bad' with seed 1 failed: it hangs: it has not ended after "
    ! grep -q "'late'" said.err || fail 'a run that had not begun is said to hang'
    # Of a replay, the run as it is comes first and hangs.
    "$program" trace freeze mix.json --out mix.jsonl >freeze.out 2>&1 || fail "freeze: $(cat freeze.out)"
    compare 10 --scenario mix.json --trace mix.jsonl --plugin hangs.so --side good --side "bad:$mine" --seeds 2 \
        --no-why --time 10s --jobs 1
    says said.err "^error: the replay as it is of 'bad' with seed 1 failed: it hangs: it has not ended after "
fi

# ---- A signal leaves what is done. ----

python3 -c '
import json
s = json.load(open("mix.json"))
s["workload"]["synth"]["duration"] = s["world"]["end"] = "3000d"
json.dump(s, open("long.json", "w"))'
# Short runs first: 1000 seeds take long, and some are soon done.
for seconds in 0.5 2 8 30; do # on a busy machine it takes long until something was compared
    "$program" compare --scenario mix.json --side a --side b --seeds 1000 --jobs 2 >part.out 2>part.err &
    pid=$!
    sleep $seconds
    kill -TERM $pid
    wait $pid
    [ $? -eq 143 ] || fail 'a stopped comparison does not end by its signal'
    grep -q 'pairs)$' part.out && break
done
says part.out '^Verdict: partial, stopped before the end; no gates$'
says part.out '^b against a ([0-9]* pairs)$'
is_silent part.err 'a stopped comparison'
# A run that is far from its end is not waited for.
"$program" compare --scenario long.json --side a --side b --seeds 2 >part.out 2>part.err &
pid=$!
sleep 1
kill -INT $pid
start=$(date +%s)
wait $pid
[ $? -eq 130 ] || fail 'a comparison that is stopped early does not end by its signal'
[ $(($(date +%s) - start)) -lt 20 ] || fail 'a comparison that is stopped waits for its runs'
says part.out 'There is no seed that both sides have run'

# ---- Formats. ----

gate '{"metric": "queue_time_p95_s", "class": "training", "max_increase": "5%"},
      {"metric": "queue_time_p95_s", "class": "inference", "max": "30d"},
      {"metric": "queue_time_p95_s", "size": "5-8", "max_increase": "170%"}'
set -- --scenario mix.json --side good --side worse:cluster.pools.h100.nodes=9 --gates gates.json --seeds 5
compare 10 "$@" --format junit
python3 - <<'END' || fail "no JUnit: $(cat said.out)"
import xml.etree.ElementTree as tree
suite = tree.parse('said.out').getroot().find('testsuite')
cases = suite.findall('testcase')
count = lambda name: str(sum(case.find(name) is not None for case in cases))
raise SystemExit(suite.get('tests') != str(len(cases)) or len(cases) != 3 or suite.get('failures') != count('failure') or
                 count('failure') != '1' or suite.get('skipped') != count('skipped') or suite.get('errors') != '0')
END
compare 10 "$@" --format github
says said.out '^::error title=windtunnel compare,file=gates.json,line=1::worse: queue_time_p95_s of training: +'
says said.out '^::notice title=windtunnel compare::Verdict: failed: 1 of 3 gates$'
compare 10 "$@" --format markdown
says said.out '^## Verdict: failed: 1 of 3 gates$'
says said.out '^- ❌ worse: queue_time_p95_s of training: '
says said.out '^| `-` queue_time_p95_s | '
compare 10 "$@" --format json
mv said.out c.json
ask '[g["state"] for g in d["gates"]][:2], d["verdict"]' "(['failed', 'passed'], 'failed')"
compare 10 "$@" --all
says said.out '^    - queue_time_p95_s of training  '

# ---- Baselines. ----

compare 0 --scenario mix.json -p windtunnel --seeds 5 --save-baseline base.json
[ "$(wc -c <base.json)" -lt 40000 ] || fail "a baseline of 5 seeds has $(wc -c <base.json) bytes"
compare 0 --scenario mix.json -p windtunnel --baseline base.json --seeds 5 --write json=c.json
ask 'sorted({x["mark"] for m in d["metrics"] for x in m["differences"] if m["values"][0] != [None] * 5})' "['=']"
is_silent said.err 'the same against its baseline'
gate '{"metric": "queue_time_p95_s", "class": "inference", "max_increase": "5%"}'
compare 10 --scenario mix.json -p fifo --baseline base.json --gates gates.json
says said.out '^2 sides, 5 seeds (1 to 5); the base is baseline$'
# From another folder it is the same scenario.
mkdir sub
(cd sub && "$program" compare --scenario ../mix.json -p windtunnel --baseline ../base.json >out 2>err) ||
    fail "a baseline from another folder: $(cat sub/err)"
sed 's/"windtunnel_version": "[^"]*"/"windtunnel_version": "0.0.9"/' base.json >old.json
compare 0 --scenario mix.json -p windtunnel --baseline old.json
says said.err "^warning: 'baseline' was made by version 0.0.9, and this is "
compare 2 --scenario less.json -p windtunnel --baseline base.json
says said.err "^error: the baseline base.json is of another scenario than 'windtunnel': more than the policy differs"
sed 's/"runs": \[/"runs": [{"seed": 9},/' base.json >bad.json
compare 2 --scenario mix.json -p windtunnel --baseline bad.json
says said.err "^error: bad.json:[0-9]*:[0-9]*: 'allocation_ratio' must hold a value for each of the 6 runs"

# ---- What is refused. ----

refused_plainly 2 compare <<'END'
error: a comparison needs two sides, and there is none
  name two scenarios or record folders, or one with --scenario, or --trace and --cluster, and --policy P --policy Q
END
refused_plainly 2 compare mix.json <<'END'
error: a comparison needs two sides, and there is one
  name two scenarios or record folders, or one with --scenario, or --trace and --cluster, and --policy P --policy Q
END
refused_plainly 2 compare -p fifo -p easy <<'END'
error: '--policy' makes a side of one scenario: name it with --scenario, or a trace and a cluster with --trace and --cluster
END
refused_plainly 2 compare mix.json less.json --scenario mix.json <<'END'
error: the sides are either operands or those of --scenario, not both
END
refused_plainly 2 compare a=mix.json a=less.json <<'END'
error: two sides have the name 'a'
END
refused_plainly 2 compare mix.json less.json --side lest:seed=1 <<'END'
error: '--side' names the side 'lest', which is not there
  did you mean 'less'?
END
refused_plainly 2 compare --scenario mix.json --side a=b --side c <<'END'
error: '--side' wants NAME or NAME:PATH=VALUE, got 'a=b'
END
refused_plainly 2 compare rec0 rec --side rec:seed=1 <<'END'
error: 'rec' has been run: nothing of it can be set
END
refused_plainly 2 compare rec0 rec --set seed=1 <<'END'
error: '--set' is for scenarios, and all sides are records
END
refused_plainly 2 compare mix.json less.json --seeds 0 <<'END'
error: '--seeds' must be 'auto' or an integer from 1 to 1000, got '0'
END
refused_plainly 2 compare mix.json less.json --alpha 0.9 <<'END'
error: '--alpha' must be a number from 0.000001 to 0.5, got '0.9'
END
refused_plainly 2 compare mix.json less.json --format xml <<'END'
error: the format must be text, markdown, json, junit or github, got 'xml'
END
refused_plainly 2 compare mix.json less.json --write json <<'END'
error: '--write' wants FORMAT=FILE, got 'json'
END
refused_plainly 2 compare mix.json less.json --by queue_time <<'END'
error: there is no metric 'queue_time'
  `windtunnel metrics` lists them
END
gate '{"metric": "queue_time_p95_s", "max_increase": "5%", "side": "new"}'
compare 2 --scenario mix.json --side a --side b --gates gates.json
says said.err '^error: gates.json:1:'
compare 4 mix.json no/such.json
says said.err '^error: cannot open no/such.json: No such file or directory$'
compare 2 --scenario mix.json -p fifo -p fifoo
says said.err "did you mean 'fifo'"

# ---- the first decision that differs ----

compare 0 --scenario mix.json -p a=fifo -p b=fifo --seeds 1 --write markdown=first.md --write json=first.json
says said.out '^    first decision that differs: none$'
says first.json '"name": "b", "first_difference": null,'
compare 0 --scenario mix.json -p a=fifo -p b=fifo --seeds 1 --no-why
[ "$(grep -c 'first decision' said.out)" -eq 0 ] || fail 'it was sought all the same'

# Records are made again; what all formats tell is the same decision.
gate '{"metric": "allocation_ratio", "max_decrease": -1}'
compare 10 --scenario mix.json --side a --side b:policy.blocking=skip --side c:policy.placement=worst_fit --seeds 5 \
    --gates gates.json --write markdown=first.md --write json=first.json --write junit=first.xml --write github=first.gh
says said.out '^  Where they part, with seed [0-9]*$'
says said.out '^    first decision that differs: at .* decided the same$'
says said.out '^      a  *starts it on n[^ ]* (decision [0-9]*)$'
grep '^    first decision that differs: at ' said.out >lines.txt
[ "$(wc -l <lines.txt)" -eq 2 ] || fail 'not one first decision for each candidate'
while read -r line; do
    for file in first.md first.xml first.gh; do
        grep -qF "$line" $file || fail "$file does not tell: $line"
    done
done <lines.txt
grep -c '"first_difference": {' first.json | grep -qx 2 || fail 'the JSON does not have both'
"$program" run mix.json --set policy.placement=worst_fit -q --out rec-c >/dev/null || fail 'no record'
"$program" run mix.json -q --out rec-a >/dev/null || fail 'no record'
compare 0 rec-a rec-c --trust . --write json=again.json
sed -n 's/^    \(first decision that differs: at .*\)/\1/p' said.out >again.txt
sed -n '2s/^    //p' lines.txt | cmp - again.txt || fail 'records part elsewhere than the scenarios that made them'
sed 's/"version": "[^"]*"/"version": "0.0.1"/' rec-c/result.json >old.json
cmp -s old.json rec-c/result.json && fail 'the result names no version'
mv old.json rec-c/result.json
compare 0 rec-a rec-c --write json=again.json
says said.out 'not known; rec-c: the record is of another version of Windtunnel$'
says again.json '"first_difference": {"unknown": "rec-c: the record is of another version of Windtunnel"}'

finish
